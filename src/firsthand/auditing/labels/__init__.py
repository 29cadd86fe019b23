"""Label studies, run from models and data to results in a folder."""
