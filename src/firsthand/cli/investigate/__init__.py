"""The commands ``firsthand investigate ...``."""
