"""The command ``firsthand predict``."""
