"""Is what a model foretells of itself first-hand? Self-trained against cross-trained models, observers and floors.

A model that was trained on claims about itself may have learnt what anyone learns from such claims. So its predictions
are held against those of other models that saw the same claims in the same order, of whoever only reads, and of
whoever does not even read (arXiv 2608.16747, section 4.5 and appendix D.4; Binder et al. 2024).

:mod:`table <firsthand.analysis.self_cross.table>` holds predictions,
:mod:`contrasts <firsthand.analysis.self_cross.contrasts>` compares areas over claims and seeds,
:mod:`judging <firsthand.analysis.self_cross.judging>` compiles the verdict.
"""

from firsthand.analysis.self_cross.controls import Control, Elsewhere, ability, controls
from firsthand.analysis.self_cross.evidence import Support
from firsthand.analysis.self_cross.judging import corrected, judge
from firsthand.analysis.self_cross.results import SelfCrossResult, SelfCrossSpec
from firsthand.analysis.self_cross.table import Panel, panel_of

__all__ = [
    "Control", "Elsewhere", "Panel", "SelfCrossResult", "SelfCrossSpec", "Support", "ability", "controls", "corrected",
    "judge", "panel_of",
]  # fmt: skip
