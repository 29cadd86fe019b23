"""How a study words its verdicts and scores: the sentences differ with the state, the rules for choosing one do not."""

from collections.abc import Mapping
from dataclasses import dataclass

from firsthand.report.formats import Unit
from firsthand.vocabulary import Capability, Kind, Verdict

SMALL_CHANCE = 0.25
"""Below this, the score of a detection is a margin (chance 0) and no accuracy (chance 0.5)."""


@dataclass(frozen=True)
class Wording:
    """Words for one verdict on one capability.

    Attributes:
        title: A headline of a few words.
        sentence: What was found.
        not_meaning: What must not be read into it.
    """

    title: str
    sentence: str
    not_meaning: str


@dataclass(frozen=True)
class Metric:
    """How the score of a capability is called, explained and written."""

    name: str
    explained: str
    unit: Unit
    gap_unit: Unit
    on_target: str = "the same, flipped trials only"
    target_unit: Unit = Unit.PERCENT


SIGNED = Metric("difference", "0 is what a report that knows nothing gives", Unit.NUMBER, Unit.NUMBER)
"""A score that may have either sign, such as a difference of correlations."""


@dataclass(frozen=True)
class Phrases:
    """A capability in words.

    Attributes:
        question: The question that it answers.
        act: What a report does that has it, e.g. "naming the hidden state".
        thing: What such a report is about, e.g. "the hidden state".
    """

    question: str
    act: str
    thing: str


@dataclass(frozen=True, kw_only=True)
class Words:
    """All words of a study.

    Attributes:
        said: What a report says that detects, e.g. "injected".
        site: Where a reader reads that shows that the state landed.
        phrases: The capabilities.
        titles: Headline of each verdict.
        special_titles: Other headlines for some capabilities.
        sentences: What each verdict says, with ``{act}`` and ``{thing}``.
        special_sentences: The same for some capabilities.
        warnings: What must not be read into each verdict.
        metrics: The scores.
        plain_metric: The score of a capability that is not among them.
        margin: The score of a detection that is a margin.
        kinds: Trial kinds, in the order in which they are shown.
        kinds_long: The same in a sentence, where trials are shown one by one.
        detected: Title of the rates by trial kind of a detection, and what to look for in them.
    """

    said: str
    site: str
    phrases: Mapping[Capability, Phrases]
    titles: Mapping[Verdict, str]
    special_titles: Mapping[tuple[Verdict, Capability], str]
    sentences: Mapping[Verdict, str]
    special_sentences: Mapping[tuple[Verdict, Capability], str]
    warnings: Mapping[Verdict, str]
    metrics: Mapping[Capability, Metric]
    plain_metric: Metric
    margin: Metric
    kinds: Mapping[Kind, str]
    kinds_long: Mapping[Kind, str]
    detected: tuple[str, str]

    def wording(self, verdict: Verdict, capability: Capability) -> Wording:
        """Give the words for a verdict on a capability."""
        phrases, key = self.phrases[capability], (verdict, capability)
        sentence = self.special_sentences.get(key, self.sentences[verdict])
        return Wording(
            title=self.special_titles.get(key, self.titles[verdict]),
            sentence=sentence.format(act=phrases.act, thing=phrases.thing),
            not_meaning=self.warnings[verdict],
        )

    def question(self, capability: Capability) -> str:
        """Give the question that a capability answers."""
        return self.phrases[capability].question

    def metric(self, capability: Capability, chance: float) -> Metric:
        """Give the name and the units of a capability's score.

        Args:
            capability: What was judged.
            chance: The score of a report that knows nothing. For detection it tells a margin (0) from an accuracy
                (0.5); elsewhere 0 tells a difference or correlation from a share.
        """
        if capability is Capability.DETECTION and chance < SMALL_CHANCE:
            return self.margin
        if chance == 0.0:
            return SIGNED
        return self.metrics.get(capability, self.plain_metric)

    def kinds_axis(self, capability: Capability) -> str:
        """Say what the rate by trial kind counts."""
        match capability:
            case Capability.DETECTION:
                return f"Share of trials on which the report said “{self.said}”"
            case Capability.CONFIDENCE:
                return "Mean stated confidence"
            case _:
                return "Share of trials on which the report was right"

    def kinds_title(self, capability: Capability) -> tuple[str, str]:
        """Give the title of the rates by trial kind, and what to look for in them."""
        match capability:
            case Capability.DETECTION:
                return self.detected
            case Capability.CONFIDENCE:
                return "Stated confidence by what was done", "Confidence is judged within each kind, never across them."
            case _:
                return (
                    "By what was done to the trial",
                    "A report that knows the state is as right after a covert flip as without one.",
                )
