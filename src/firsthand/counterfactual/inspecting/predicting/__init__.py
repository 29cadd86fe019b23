"""Predictor agents: any model that Inspect reaches reads a transcript, and says how likely a claim about it is.

With tools it may also read the target's activations, as often as its limits allow; everything else is the same, so
that what tools add is what is measured.
"""
