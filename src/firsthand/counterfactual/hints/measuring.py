"""Rates with the cue and without, and a count of what became of every case."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firsthand.counterfactual.asking import Bench, sample
from firsthand.counterfactual.behaviours import Verdict, judged
from firsthand.counterfactual.funnel import Funnel, Step, step
from firsthand.counterfactual.hints.cases import STEM, Case, begun
from firsthand.counterfactual.hints.exact import Choice, Chooser, Chosen, choose
from firsthand.counterfactual.hints.rules import HintRule, Kept, follows, ruled
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response
from firsthand.counterfactual.store import Store
from firsthand.progress import Progress
from firsthand.studies.labels.confidence.marks import LETTERS

SCREEN: Final = "hint.screen"
CUED: Final = "hint.cued"
NEUTRAL: Final = "hint.neutral"
"""Names of the batches: cued to see whether the cue is followed, cued anew, and without the cue."""

_NO_BUDGET: Final = "the budget was spent"


class Measured(Part):
    """What was measured of a case.

    Attributes:
        case: The case.
        screen: Counts in the cued batch that it was chosen in; ``None`` if it was not drawn.
        cued: Counts on the cued prompt that labels rest on; ``None`` if they were not wanted or not drawn.
        neutral: Counts on the prompt without the cue.
        follows: Whether the answer agreed with the cue often enough, so that it was measured without it.
        kept: What it is; ``None`` if it is none.
        why: Why it is none.
        cued_response: The first response of the cued batch that agrees with the cue.
        neutral_response: The first one without the cue whose answer can be read, whatever it is.
        exact: Whether rates are probabilities, in parts of a thousand.
    """

    case: Case
    screen: Rate | None = None
    cued: Rate | None = None
    neutral: Rate | None = None
    follows: bool = False
    kept: Kept | None = None
    why: str = ""
    cued_response: Response | None = None
    neutral_response: Response | None = None
    exact: bool = False

    @property
    def influenced(self) -> bool | None:
        """Whether the cue changed the answer; ``None`` if nothing can be said."""
        return None if self.kept is None else self.kept == "influenced"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of all cases.

    Attributes:
        measured: Each case, in the order in which they were given.
        funnel: How many there were at every stage, and why the others went no further.
    """

    measured: tuple[Measured, ...]
    funnel: Funnel

    @property
    def kept(self) -> tuple[Measured, ...]:
        """Cases that were kept."""
        return tuple(one for one in self.measured if one.kept is not None)


def measure(cases: Sequence[Case], bench: Bench, rule: HintRule, progress: Progress) -> Outcome:
    """Sample cases with the cue; those that follow it anew, and without it.

    Args:
        cases: The cases.
        bench: Where responses come from and are judged.
        rule: What makes a case.
        progress: Who is told.
    """
    found = {place: Measured(case=case) for place, case in enumerate(cases)}
    for place, rate in _rates(bench, dict(enumerate(cases)), SCREEN, rule, progress).items():
        why = _NO_BUDGET if rate is None else follows(rate, rule)
        found[place] = found[place].model_copy(update={"screen": rate, "follows": not why, "why": why})
    left = {place: one.case for place, one in found.items() if one.follows}
    neutral = _rates(bench, left, NEUTRAL, rule, progress)
    cued = _rates(bench, left, CUED if rule.fresh else SCREEN, rule, progress)
    for place in left:
        found[place] = _judged(found[place], cued[place], neutral[place], bench, rule)
    return _outcome(tuple(found.values()))


def _request(case: Case, batch: str, rule: HintRule) -> Request:
    return Request(prompt=case.neutral if batch == NEUTRAL else case.cued, batch=batch, samples=rule.samples)


def _rates(
    bench: Bench, cases: dict[int, Case], batch: str, rule: HintRule, progress: Progress
) -> dict[int, Rate | None]:
    """Counts of a batch for each case; ``None`` where the budget did not allow for it. A prompt is asked once."""
    wanted = {place: _request(case, batch, rule) for place, case in cases.items()}
    unique = {bench.key(request): request for request in wanted.values()}
    stage = {SCREEN: "with the cue", CUED: "with the cue, anew", NEUTRAL: "without the cue"}[batch]
    drawn = sample(bench, list(unique.values()), stage, progress)
    known = {key for key, responses in zip(unique, drawn, strict=True) if responses is not None}
    able = [place for place, request in wanted.items() if bench.key(request) in known]
    rates = bench.rates([(cases[place].behaviour, wanted[place]) for place in able])
    return dict.fromkeys(wanted) | dict(zip(able, rates, strict=True))


def _judged(one: Measured, cued: Rate | None, neutral: Rate | None, bench: Bench, rule: HintRule) -> Measured:
    if cued is None or neutral is None:
        return one.model_copy(update={"cued": cued, "neutral": neutral, "why": _NO_BUDGET})
    found = ruled(cued, neutral, rule)
    made = one.model_copy(update={"cued": cued, "neutral": neutral, "kept": found.kept, "why": found.why})
    if found.kept is None:
        return made
    behaviour = one.case.behaviour
    agreeing = bench.responses(_request(one.case, CUED if rule.fresh else SCREEN, rule))
    readable = bench.responses(_request(one.case, NEUTRAL, rule))
    shown = next((r for r in agreeing if judged(behaviour, r) is Verdict.YES), None)
    plain = next((r for r in readable if judged(behaviour, r) is not Verdict.INVALID), None)
    if shown is None or plain is None:
        return made.model_copy(update={"kept": None, "why": "no response to show"})
    return made.model_copy(update={"cued_response": shown, "neutral_response": plain})


def measure_exactly(
    cases: Sequence[Case], chooser: Chooser, store: Store, rule: HintRule, progress: Progress
) -> Outcome:
    """The same by probabilities: the answer is begun, and each option's probability is read.

    No case is chosen by luck here, so nothing is drawn anew.

    Args:
        cases: The cases.
        chooser: The target.
        store: Where probabilities are kept.
        rule: What makes a case.
        progress: Who is told.
    """
    # Cases of one kind of cue stand together, since what their prompts begin with is then computed once.
    ordered = sorted(cases, key=lambda one: one.cue)
    found: dict[str, Chosen] = {}
    for cued, stage in ((True, "with the cue"), (False, "without the cue")):
        unique = list({one.prompt.id: one for one in exact_choices(ordered, cued=cued)}.values())
        given = choose(chooser, store, unique, stage, progress)
        found |= {one.prompt.id: chosen.at(rule.temperature) for one, chosen in zip(unique, given, strict=True)}
    return _outcome(tuple(_exactly(case, found[case.cued.id], found[case.neutral.id], rule) for case in cases))


def exact_choices(cases: Sequence[Case], *, cued: bool) -> list[Choice]:
    """What is asked of a target that gives probabilities: the letter of each option."""
    return [_choice(one, cued) for one in cases]


def _choice(case: Case, cued: bool) -> Choice:
    ways = tuple((letter,) for letter in LETTERS[: len(case.item.options)])
    return Choice(prompt=case.cued if cued else case.neutral, stem=STEM, options=ways)


def _exactly(case: Case, with_cue: Chosen, without: Chosen, rule: HintRule) -> Measured:
    cued, neutral = with_cue.rate(case.option), without.rate(case.option)
    made = Measured(case=case, screen=cued, exact=True)
    if with_cue.why or without.why:
        return made.model_copy(update={"why": "the prompt could not be given"})
    if why := follows(cued, rule, exact=True):
        return made.model_copy(update={"why": why})
    found = ruled(cued, neutral, rule, exact=True)
    made = made.model_copy(
        update={"follows": True, "cued": cued, "neutral": neutral, "kept": found.kept, "why": found.why}
    )
    if found.kept is None or without.best is None:
        return made
    said = {"cued_response": case.option, "neutral_response": without.best}
    return made.model_copy(update={name: Response(text=begun(case.item.letter(o))) for name, o in said.items()})


def _outcome(measured: tuple[Measured, ...]) -> Outcome:
    following = [one for one in measured if one.follows]
    kept = [one for one in following if one.kept is not None]
    first = Counter(one.why for one in measured if not one.follows)
    second = Counter(one.why for one in following if one.kept is None)
    steps = (
        step("the answer agrees with the cue", "cases", len(following), first),
        _of_labels(step("with the cue against without it", "cases", len(kept), second), kept),
    )
    return Outcome(measured, Funnel(steps=steps))


def _of_labels(made: Step, kept: Sequence[Measured]) -> Step:
    true, clusters = sum(bool(one.influenced) for one in kept), len({one.case.item.key for one in kept})
    return made.model_copy(update={"true": true, "clusters": clusters})
