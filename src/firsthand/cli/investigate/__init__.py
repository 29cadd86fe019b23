"""The commands ``investigate ...``."""
