"""Trials, kinds, codebooks, public evidence, sealed state, and the trace on disk."""
