"""What verdicts and scores mean where the state occurs by itself, and whoever reads the text may tell it.

The counterpart of :mod:`firsthand.report.words`, whose register is overwritten where here nothing is done.
"""

from firsthand.report.formats import Unit
from firsthand.report.wording import Metric, Phrases, Words
from firsthand.report.words import CONFIDENCE, PLAIN_METRIC, REGISTER
from firsthand.vocabulary import Capability, Kind, Verdict

KINDS: dict[Kind, str] = {
    Kind.TARGET: "Target",
    Kind.BASELINE: "Baseline",
    Kind.SHAM: "Sham",
    Kind.INPUT_CONTROL: "Input control",
    Kind.IMPACT_CONTROL: "Impact control",
}

_PHRASES: dict[Capability, Phrases] = {
    Capability.DETECTION: Phrases(
        question="Can the model tell whether it is in this state?",
        act="telling whether it is in this state",
        thing="whether the model is in this state",
    ),
    Capability.LOCALISATION: Phrases(
        question="Can the model tell where this state is?",
        act="telling where this state is",
        thing="the place of the state",
    ),
    Capability.IDENTIFICATION: Phrases(
        question="Can the model tell what its own state is, beyond what the text tells?",
        act="telling its own state",
        thing="the model's own state",
    ),
    Capability.CHARACTERISATION: Phrases(
        question="Can the model tell how strong its own state is?",
        act="telling how strong its own state is",
        thing="the strength of the model's own state",
    ),
    Capability.CONFIDENCE: Phrases(
        question="Does the model know when its own answer is right?",
        act="telling its right answers from its wrong ones",
        thing="whether its answer was right",
    ),
    Capability.RECONSTRUCTION: Phrases(
        question="Can the model bring its own state into words?",
        act="bringing its own state into words",
        thing="the content of the model's own state",
    ),
}

_SENTENCES: dict[Verdict, str] = {
    **REGISTER.sentences,
    Verdict.PRIVILEGED: (
        "In {act}, the report beat every observer of the same public evidence, and did better than under every "
        "control in which there was nothing of the kind to go by."
    ),
    Verdict.PUBLIC_INFERENCE: (
        "In {act}, the report is better than chance, but at least one observer that is given the same public evidence, "
        "and nothing private, does as well. Nothing here needs a private channel to explain it."
    ),
    Verdict.ANOMALY_ONLY: (
        "In {act}, the report does as well under at least one control in which there was nothing of the kind to go "
        "by. It does not show access to {thing}."
    ),
}

_TITLES: dict[Verdict, str] = {**REGISTER.titles, Verdict.ANOMALY_ONLY: "As good where there is nothing to know"}

_WARNINGS: dict[Verdict, str] = {
    **REGISTER.warnings,
    Verdict.PRIVILEGED: (
        "It does not show access to other states, layers or texts. What a model's state is follows from the text, so "
        "an observer that knows the model better may still close the gap, and nothing follows about experience."
    ),
    Verdict.ANOMALY_ONLY: (
        "It does not mean that the answers are useless. It does mean that they must not be read as knowledge of this "
        "particular state."
    ),
}

_METRICS: dict[Capability, Metric] = {
    **REGISTER.metrics,
    Capability.IDENTIFICATION: Metric(
        "right answers", "every true answer counts alike, so a constant one is worth chance", Unit.PERCENT, Unit.POINTS
    ),
    Capability.DETECTION: Metric(
        "balanced accuracy", "trials with and without the state count half each", Unit.PERCENT, Unit.POINTS
    ),
}

LABELS = Words(
    said="yes",
    site="where the state is",
    phrases=_PHRASES,
    titles=_TITLES,
    special_titles={key: title for key, title in REGISTER.special_titles.items() if key[1] is Capability.CONFIDENCE},
    sentences=_SENTENCES,
    special_sentences=CONFIDENCE,
    warnings=_WARNINGS,
    metrics=_METRICS,
    plain_metric=PLAIN_METRIC,
    margin=REGISTER.margin,
    kinds=KINDS,
    kinds_long=REGISTER.kinds_long,
    detected=("Yes by kind of trial", "A report that knows says yes on the target alone."),
)
"""The words of a state that occurs by itself."""
