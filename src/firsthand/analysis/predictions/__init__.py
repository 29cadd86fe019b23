"""Who foretold what edits do: measures of predictions of claims that are true or false.

================  ==================================================================================
:mod:`.panel`     the table that is judged, checked
:mod:`.results`   what is found, as the documented schema of ``firsthand predict --json``
:mod:`.scores`    one predictor: accuracy, areas, rates, calibration, invalid answers, coverage
:mod:`.uplift`    one predictor against another on the same claims
:mod:`.delong`    DeLong's test of two areas, for independent claims
:mod:`.flips`     claims of which one predictor answers otherwise than another
:mod:`.subsets`   the same within parts of the claims
:mod:`.wordings`  what the wording of the question and the order of the answers do
:mod:`.judging`   everything of a panel
================  ==================================================================================

Nothing here concludes that anything is privileged: that takes training of a model on itself and on another, and
controls that predictions alone do not have.
"""

from firsthand.analysis.predictions.judging import judged_predictions
from firsthand.analysis.predictions.panel import Panel
from firsthand.analysis.predictions.results import PredictionResults

__all__ = ["Panel", "PredictionResults", "judged_predictions"]
