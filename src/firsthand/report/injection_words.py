"""What verdicts, scores and arms mean where the state is a thought that was put into the activations.

The counterpart of :mod:`firsthand.report.words`, whose register is overwritten where here something is injected.
"""

from firsthand.report import words
from firsthand.report.formats import Unit
from firsthand.report.words import Metric, Wording
from firsthand.vocabulary import Capability, Kind, Verdict

KINDS: dict[Kind, str] = {
    Kind.TARGET: "Target: the concept injected",
    Kind.BASELINE: "Baseline: nothing done",
    Kind.SHAM: "Sham: the same edit, nothing added",
    Kind.INPUT_CONTROL: "Input control: a text that pushes",
    Kind.IMPACT_CONTROL: "Impact control: no content",
}

KIND_ORDER = tuple(KINDS)

_QUESTIONS: dict[Capability, str] = {
    Capability.DETECTION: "Can the model tell that a thought was injected?",
    Capability.LOCALISATION: "Can the model tell where a thought was injected?",
    Capability.IDENTIFICATION: "Can the model tell which thought was injected?",
    Capability.CHARACTERISATION: "Can the model tell how strong an injection was?",
    Capability.CONFIDENCE: "Does the model know when its own report is right?",
    Capability.RECONSTRUCTION: "Can the model bring the injected thought into words?",
}

_ACTS: dict[Capability, tuple[str, str]] = {
    Capability.DETECTION: ("telling that a thought was injected", "whether a thought was injected"),
    Capability.LOCALISATION: ("telling where a thought was injected", "the place of the injection"),
    Capability.IDENTIFICATION: ("telling which thought was injected", "which thought was injected"),
    Capability.CHARACTERISATION: ("telling which injection was stronger", "the strength of the injection"),
    Capability.CONFIDENCE: ("telling its right reports from its wrong ones", "whether its report was right"),
    Capability.RECONSTRUCTION: ("bringing the injected thought into words", "the content of the injection"),
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

_INWARD = (Verdict.PRIVILEGED, Verdict.PUBLIC_INFERENCE, Verdict.INVERTED, Verdict.NO_ACCESS)
"""Verdicts on confidence whose words are the same whatever the state is."""

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


def wording(verdict: Verdict, capability: Capability) -> Wording:
    """Give the words for a verdict on a capability."""
    act, thing = _ACTS[capability]
    general = words.wording(verdict, capability)
    inward = capability is Capability.CONFIDENCE and verdict in _INWARD
    placed = verdict is Verdict.PRIVILEGED and capability in (Capability.LOCALISATION, Capability.CHARACTERISATION)
    own = _PLACED if placed else _SENTENCES[verdict]
    sentence = general.sentence if inward else own.format(act=act, thing=thing)
    title = _TITLES.get((verdict, capability), general.title)
    return Wording(title=title, sentence=sentence, not_meaning=general.not_meaning)


def question(capability: Capability) -> str:
    """Give the question that a capability answers."""
    return _QUESTIONS[capability]


def metric(capability: Capability, chance: float) -> Metric:
    """Give the name and the units of a capability's score.

    Args:
        capability: What was judged.
        chance: The score of a report that knows nothing. For detection it tells a margin (0) from an accuracy (0.5).
    """
    if capability is Capability.DETECTION:
        return _MARGIN if chance < 0.25 else _BALANCED
    return _METRICS.get(capability) or words.metric(capability, chance)


def kinds_axis(capability: Capability) -> str:
    """Say what the rate by trial kind counts."""
    if capability is Capability.DETECTION:
        return "Share of trials on which the report said “injected”"
    return words.kinds_axis(capability)
