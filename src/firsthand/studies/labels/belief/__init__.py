"""Belief dominance: which of two answers a model's states hold, and whether the model can tell."""
