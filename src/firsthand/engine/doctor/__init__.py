"""Examines a model before anything is concluded from it: are edits exact, and can its tokens carry an answer?

Each check measures something on the user's own model and says what that means for results. A *failed* check makes
results wrong; a *warning* limits them; a *note* only informs.
"""

from firsthand.engine.doctor.checks import Check, Diagnosis, Finding
from firsthand.engine.doctor.diagnose import diagnose

__all__ = ["Check", "Diagnosis", "Finding", "diagnose"]
