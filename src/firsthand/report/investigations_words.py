"""What the parts of an investigation are called, the same on pages, in figures and in the terminal."""

from typing import Final, Literal

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.investigation import Decision, Stage

Status = Literal["verified", "not verified", "not judged", "unfinished"]

STATUS: Final[dict[Status, str]] = {
    "verified": "The judges found that the experiments support the report.",
    "not verified": "The judges' mean score is below the threshold.",
    "not judged": "A report was filed, and no judge gave a valid score.",
    "unfinished": "The investigation ended without a report.",
}

STAGES: Final[dict[Stage, str]] = {"explored": "exploration", "confirmed": "confirmation"}

STAGES_LONG: Final[dict[Stage, str]] = {
    "explored": "The edit was still being looked for when these responses were drawn, so the rate flatters it.",
    "confirmed": "The edit was fixed before these responses were drawn.",
}

DECISIONS: Final[dict[Decision, str]] = {
    "changes": "changes the rate",
    "does not change": "does not change it",
    "undecided": "undecided",
}

BEHAVIOURS: Final[dict[str, str]] = {
    "pattern": "a regular expression",
    "called": "a tool call",
    "computed": "a Python function",
    "asked": "a model, asked for each response by itself",
}
"""Who judges a behaviour."""

VERDICTS: Final[dict[Verdict, str]] = {
    Verdict.YES: "has the behaviour",
    Verdict.NO: "does not have it",
    Verdict.INVALID: "invalid",
}

ENDED: Final[dict[str, str]] = {
    "stop": "",
    "length": "cut off",
    "filter": "withheld by the provider",
    "error": "the call failed",
}

LIMITS: Final = (
    "A cause here is an edit of the prompt that changes how often something is said. It says nothing about the "
    "computation in between.",
    "Labels are measured on finite samples: some are wrong, and how many must be expected is stated where claims are.",
    "Explanations are the investigator's. Only rates and labels are measured.",
)
"""What may not be concluded from any investigation."""
