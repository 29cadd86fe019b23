"""Texts as data, where the stages quote them; see :mod:`firsthand.counterfactual.quoting`."""

from firsthand.counterfactual.quoting import RULE, fence_key, quoted

__all__ = ["RULE", "fence_key", "quoted"]
