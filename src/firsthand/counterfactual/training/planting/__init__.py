"""Targets of a known rule that are real models: one that a reader can see, and one that only their weights hold."""
