"""What each verdict means, in words for a reader who has never seen the statistics.

Every verdict has a title, a sentence and a warning for every capability. The wording says what the evidence allows and
stops there: none of it speaks of experience, and no capability borrows from another. Here stand the words of the
register study, and what is said alike of every study.
"""

from firsthand.report.formats import Unit
from firsthand.report.wording import Metric, Phrases, Wording, Words
from firsthand.vocabulary import Capability, Condition, Kind, Verdict

PHRASES: dict[Capability, Phrases] = {
    Capability.DETECTION: Phrases(
        question="Can the model tell that its hidden state was overwritten?",
        act="telling that the hidden state was overwritten",
        thing="whether the hidden state was overwritten",
    ),
    Capability.LOCALISATION: Phrases(
        question="Can the model tell where its hidden state was changed?",
        act="telling where the change was made",
        thing="the place of the change",
    ),
    Capability.IDENTIFICATION: Phrases(
        question="Can the model name the hidden state that it holds?",
        act="naming the hidden state",
        thing="the hidden state",
    ),
    Capability.CHARACTERISATION: Phrases(
        question="Can the model tell what kind of change was made, or how strong it was?",
        act="telling the kind or strength of the change",
        thing="the kind or strength of the change",
    ),
    Capability.CONFIDENCE: Phrases(
        question="Does the model know when its own report is right?",
        act="telling its right reports from its wrong ones",
        thing="whether its report was right",
    ),
    Capability.RECONSTRUCTION: Phrases(
        question="Can the model reproduce the content of its hidden state?",
        act="reproducing the content of the hidden state",
        thing="the content of the hidden state",
    ),
}

TITLES: dict[Verdict, str] = {
    Verdict.PRIVILEGED: "It reports what no observer could",
    Verdict.PUBLIC_INFERENCE: "Right, but an outsider does as well",
    Verdict.ANOMALY_ONLY: "A smoke alarm: it reacts to any disturbance",
    Verdict.AVAILABLE_NOT_REPORTED: "Present inside, absent from the report",
    Verdict.INVERTED: "A steady signal that points the wrong way",
    Verdict.NO_ACCESS: "No access, within the stated margin",
    Verdict.INSUFFICIENT: "The evidence does not settle it",
}

SENTENCES: dict[Verdict, str] = {
    Verdict.PRIVILEGED: (
        "In {act}, the report beat every observer that saw the public evidence, followed the change that was made "
        "inside the model, and stayed unmoved by every control."
    ),
    Verdict.PUBLIC_INFERENCE: (
        "In {act}, the report is better than chance, but at least one observer that sees nothing private does as well. "
        "Nothing here needs a private channel to explain it."
    ),
    Verdict.ANOMALY_ONLY: (
        "The report reacts when the hidden state is changed, and reacts to at least one control that leaves the state "
        "alone. It registers that something is unusual; it does not show access to {thing}."
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
        "that was first shown able to see such a state."
    ),
    Verdict.INSUFFICIENT: (
        "About {thing}, these trials support no conclusion in either direction: too few valid answers, too little "
        "power, or a test whose sensitivity was not shown."
    ),
}

WARNINGS: dict[Verdict, str] = {
    Verdict.PRIVILEGED: (
        "It does not show that the model reads its ordinary, untouched states in this way, nor states at other layers, "
        "doses or times. A stronger observer may still close the gap, and nothing follows about experience."
    ),
    Verdict.PUBLIC_INFERENCE: (
        "It does not mean that the answers are wrong or useless, nor that the model has no private access at all; only "
        "that this report does not demonstrate any."
    ),
    Verdict.ANOMALY_ONLY: (
        "It does not mean that the reaction is worthless: a general alarm can be useful. It does mean that a yes must "
        "not be read as knowledge of this particular state."
    ),
    Verdict.AVAILABLE_NOT_REPORTED: (
        "It does not mean that the model hides anything on purpose. The information may never reach the part that "
        "produces answers, or training may hold it back; this test cannot tell which."
    ),
    Verdict.INVERTED: (
        "It does not mean that the model lies. A flipped convention or a bias towards one answer under pressure would "
        "look the same, and the signal itself is real."
    ),
    Verdict.NO_ACCESS: (
        "It does not mean that the model could never learn to report this, nor that other states, doses, layers or "
        "ways of asking would come out the same."
    ),
    Verdict.INSUFFICIENT: (
        "It is not a finding of no access. An absence of evidence at this size, or a report that cannot be scored, "
        "says nothing about what is inside."
    ),
}

SPECIAL: dict[tuple[Verdict, Capability], tuple[str, str]] = {
    (Verdict.PRIVILEGED, Capability.IDENTIFICATION): (
        "It names the hidden state better than any observer",
        "The report named the hidden state more often than every observer that saw the public evidence, also on the "
        "trials where the state was covertly flipped, and kept its answer under every control.",
    ),
    (Verdict.PRIVILEGED, Capability.DETECTION): (
        "It notices this change, and only this change",
        "The report said “overwritten” when the hidden state was flipped and held back when it was not, even where "
        "something else was disturbed as strongly. No observer could match that from public evidence.",
    ),
    (Verdict.PRIVILEGED, Capability.CONFIDENCE): (
        "It knows when its report is right",
        "Its stated confidence separates its right reports from its wrong ones better than any observer can from "
        "public evidence.",
    ),
    (Verdict.ANOMALY_ONLY, Capability.IDENTIFICATION): (
        "Disturbed rather than informed",
        "The named state moves when the hidden state is flipped, and moves as well under a control that leaves the "
        "state alone. The report follows disturbance, not the state.",
    ),
    (Verdict.ANOMALY_ONLY, Capability.DETECTION): (
        "A smoke alarm: it reacts to any disturbance",
        "The report says “overwritten” when the hidden state is flipped, and also when only something else was "
        "disturbed. Something is noticed, but not what the question asked about.",
    ),
    (Verdict.AVAILABLE_NOT_REPORTED, Capability.DETECTION): (
        "Present inside, absent from the report",
        "A direct reading of the activations tells flipped states from untouched ones. Asked whether its state was "
        "overwritten, the model gives an answer that does not carry this.",
    ),
    (Verdict.PUBLIC_INFERENCE, Capability.CONFIDENCE): (
        "Well judged, but from the outside",
        "The stated confidence does separate right reports from wrong ones, but an observer can predict that as well "
        "from what everyone can see.",
    ),
    (Verdict.INVERTED, Capability.CONFIDENCE): (
        "Surest when it is wrong",
        "The stated confidence is reliably higher on wrong reports than on right ones.",
    ),
    (Verdict.NO_ACCESS, Capability.CONFIDENCE): (
        "Its confidence says nothing about its reports",
        "The stated confidence is no better than the best observer in telling right reports from wrong ones, to within "
        "the margin fixed in the claim.",
    ),
}

CONFIDENCE: dict[tuple[Verdict, Capability], str] = {
    (verdict, Capability.CONFIDENCE): SPECIAL[verdict, Capability.CONFIDENCE][1]
    for verdict in (Verdict.PRIVILEGED, Verdict.PUBLIC_INFERENCE, Verdict.INVERTED, Verdict.NO_ACCESS)
}
"""Verdicts on confidence whose words are the same whatever the state is."""

METRICS: dict[Capability, Metric] = {
    Capability.IDENTIFICATION: Metric(
        "states named correctly", "each of the two states counts half", Unit.PERCENT, Unit.POINTS
    ),
    Capability.DETECTION: Metric(
        "balanced accuracy", "flipped and untouched trials count half each", Unit.PERCENT, Unit.POINTS
    ),
    Capability.CONFIDENCE: Metric(
        "right reports ranked above wrong ones",
        "area under the type-2 ROC curve; 1 is perfect, 0.5 is chance",
        Unit.NUMBER,
        Unit.NUMBER,
        target_unit=Unit.NUMBER,
    ),
}
PLAIN_METRIC = Metric("share correct", "of all trials", Unit.PERCENT, Unit.POINTS)
_MARGIN = Metric(
    "specificity margin",
    "yes on flipped trials minus yes on the worst control",
    Unit.POINTS,
    Unit.POINTS,
    on_target="yes on flipped trials",
)


CONDITIONS: dict[Condition, str] = {
    Condition.Y_WITHHELD: "Visible answer withheld from observers",
    Condition.Y_SHOWN: "Visible answer shown to observers",
}

CONDITIONS_SHORT: dict[Condition, str] = {Condition.Y_WITHHELD: "Y withheld", Condition.Y_SHOWN: "Y shown"}

KINDS: dict[Kind, str] = {
    Kind.BASELINE: "Baseline: nothing done",
    Kind.TARGET: "Target: state flipped",
    Kind.SHAM: "Sham: same state rewritten",
    Kind.INPUT_CONTROL: "Input control: odd text",
    Kind.IMPACT_CONTROL: "Impact control: other change",
}

KINDS_LONG: dict[Kind, str] = {
    Kind.BASELINE: "Nothing was done after the public evidence was frozen.",
    Kind.TARGET: "The hidden state was flipped after the public evidence was frozen.",
    Kind.SHAM: "The same machinery ran and wrote the same state again, bit for bit.",
    Kind.INPUT_CONTROL: "Visible text was made odd; the hidden state stayed.",
    Kind.IMPACT_CONTROL: "Something else inside was disturbed, as strongly in its effect; the hidden state stayed.",
}


REGISTER = Words(
    said="overwritten",
    site="at the edited site",
    phrases=PHRASES,
    titles=TITLES,
    special_titles={key: title for key, (title, _) in SPECIAL.items()},
    sentences=SENTENCES,
    special_sentences={key: sentence for key, (_, sentence) in SPECIAL.items()},
    warnings=WARNINGS,
    metrics=METRICS,
    plain_metric=PLAIN_METRIC,
    margin=_MARGIN,
    kinds=KINDS,
    kinds_long=KINDS_LONG,
    detected=(
        "Flipped trials against each control",
        "A report that knows the change says yes on the target alone.",
    ),
)
"""The words of a register that is overwritten."""


def wording(verdict: Verdict, capability: Capability) -> Wording:
    """Give the words for a verdict on a capability."""
    return REGISTER.wording(verdict, capability)


def question(capability: Capability) -> str:
    """Give the question that a capability answers."""
    return REGISTER.question(capability)


def metric(capability: Capability, chance: float) -> Metric:
    """Give the name and the units of a capability's score; see :meth:`Words.metric`."""
    return REGISTER.metric(capability, chance)


def kinds_axis(capability: Capability) -> str:
    """Say what the rate by trial kind counts."""
    return REGISTER.kinds_axis(capability)


def kinds_title(capability: Capability) -> tuple[str, str]:
    """Give the title of the rates by trial kind, and what to look for in them."""
    return REGISTER.kinds_title(capability)
