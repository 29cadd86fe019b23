"""What verdicts, scores and arms mean where the state is a thought that was put into the activations.

The counterpart of :mod:`firsthand.report.words`, whose register is overwritten where here something is injected.
"""

from firsthand.report.formats import Unit
from firsthand.report.wording import Metric, Phrases, Words
from firsthand.report.words import CONFIDENCE, PLAIN_METRIC, REGISTER
from firsthand.vocabulary import Capability, Kind, Verdict

KINDS: dict[Kind, str] = {
    Kind.TARGET: "Target: the concept injected",
    Kind.BASELINE: "Baseline: nothing done",
    Kind.SHAM: "Sham: the same edit, nothing added",
    Kind.INPUT_CONTROL: "Input control: a text that pushes",
    Kind.IMPACT_CONTROL: "Impact control: no content",
}

_PHRASES: dict[Capability, Phrases] = {
    Capability.DETECTION: Phrases(
        question="Can the model tell that a thought was injected?",
        act="telling that a thought was injected",
        thing="whether a thought was injected",
    ),
    Capability.LOCALISATION: Phrases(
        question="Can the model tell where a thought was injected?",
        act="telling where a thought was injected",
        thing="the place of the injection",
    ),
    Capability.IDENTIFICATION: Phrases(
        question="Can the model tell which thought was injected?",
        act="telling which thought was injected",
        thing="which thought was injected",
    ),
    Capability.CHARACTERISATION: Phrases(
        question="Can the model tell how strong an injection was?",
        act="telling which injection was stronger",
        thing="the strength of the injection",
    ),
    Capability.CONFIDENCE: Phrases(
        question="Does the model know when its own report is right?",
        act="telling its right reports from its wrong ones",
        thing="whether its report was right",
    ),
    Capability.RECONSTRUCTION: Phrases(
        question="Can the model bring the injected thought into words?",
        act="bringing the injected thought into words",
        thing="the content of the injection",
    ),
}

_SENTENCES: dict[Verdict, str] = {
    Verdict.PRIVILEGED: (
        "In {act}, the report beat every observer that saw the public evidence, and nothing else that was done to the "
        "model or asked of it gave the same answers."
    ),
    Verdict.PUBLIC_INFERENCE: (
        "In {act}, the report is better than chance, but at least one observer that sees nothing private does as well. "
        "Nothing here needs a private channel to explain it."
    ),
    Verdict.ANOMALY_ONLY: (
        "The answers move with the injection, and move as well under at least one control in which there was nothing "
        "of the kind to report. Something is disturbed; it does not show access to {thing}."
    ),
    Verdict.AVAILABLE_NOT_REPORTED: (
        "A direct reading of the activations finds {thing}, on the same model and the same trials. What the model says "
        "does not carry it."
    ),
    Verdict.INVERTED: (
        "The report depends on {thing}, reliably and the wrong way round: it answers the opposite of what is so, more "
        "often than chance allows."
    ),
    Verdict.NO_ACCESS: (
        "In {act}, the report is no better than the best observer, to within the margin fixed in the claim, in a test "
        "that was first shown able to see the injection."
    ),
    Verdict.INSUFFICIENT: (
        "About {thing}, these trials support no conclusion in either direction: too few valid answers, too little "
        "power, or a test whose sensitivity was not shown."
    ),
}

_PLACED = (
    "In {act}, the report beat every observer that saw the public evidence, and the same injection under another "
    "question did not give the same answers. It may rest on how far the stream was disturbed there, not on what was "
    "put in: the arms without content say which."
)
"""A privileged report of a place or a strength, which needs no content."""

_TITLES: dict[tuple[Verdict, Capability], str] = {
    (Verdict.PRIVILEGED, Capability.DETECTION): "It notices the injection, and only the injection",
    (Verdict.PRIVILEGED, Capability.IDENTIFICATION): "It names the thought better than any observer",
    (Verdict.ANOMALY_ONLY, Capability.IDENTIFICATION): "It says the word, whatever was asked",
    (Verdict.ANOMALY_ONLY, Capability.RECONSTRUCTION): "The word comes up, whatever was asked",
    (Verdict.ANOMALY_ONLY, Capability.LOCALISATION): "It picks that sentence, whatever was asked",
    (Verdict.ANOMALY_ONLY, Capability.CHARACTERISATION): "It picks that copy, whatever was asked",
}

_CHOICE = "every true answer counts alike, so a constant one is worth chance"
_METRICS: dict[Capability, Metric] = {
    Capability.LOCALISATION: Metric("places named correctly", _CHOICE, Unit.PERCENT, Unit.POINTS),
    Capability.CHARACTERISATION: Metric("pairs ordered correctly", _CHOICE, Unit.PERCENT, Unit.POINTS),
    Capability.IDENTIFICATION: Metric(
        "concepts named correctly", "share of trials on which it was the right one", Unit.PERCENT, Unit.POINTS
    ),
    Capability.RECONSTRUCTION: Metric(
        "rank of the concept among all", "100% is first, 50% is chance", Unit.PERCENT, Unit.POINTS
    ),
}
_BALANCED = Metric("balanced accuracy", "injected and other trials count half each", Unit.PERCENT, Unit.POINTS)
_MARGIN = Metric(
    "specificity margin",
    "“injected” on target trials minus “injected” in the worst control",
    Unit.POINTS,
    Unit.POINTS,
    on_target="“injected” on target trials",
)


INJECTION = Words(
    said="injected",
    site="at the site of the injection",
    phrases=_PHRASES,
    titles=REGISTER.titles,
    special_titles={**REGISTER.special_titles, **_TITLES},
    sentences=_SENTENCES,
    special_sentences={
        **CONFIDENCE,
        (Verdict.PRIVILEGED, Capability.LOCALISATION): _PLACED,
        (Verdict.PRIVILEGED, Capability.CHARACTERISATION): _PLACED,
    },
    warnings=REGISTER.warnings,
    metrics={**REGISTER.metrics, **_METRICS, Capability.DETECTION: _BALANCED},
    plain_metric=PLAIN_METRIC,
    margin=_MARGIN,
    kinds=KINDS,
    kinds_long=REGISTER.kinds_long,
    detected=("Injected trials against each control", "A report that knows says yes on the target alone."),
)
"""The words of a thought that is injected."""
