"""The commands ``firsthand train ...``."""
