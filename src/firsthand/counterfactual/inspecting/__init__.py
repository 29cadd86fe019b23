"""Counterfactual investigations through Inspect AI: the only place that imports it, and only when it is used."""
