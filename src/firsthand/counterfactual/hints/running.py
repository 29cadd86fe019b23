"""The whole hint setting: measure cases, ask about them afterwards, and leave claims; or go on where a run stopped."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from firsthand.counterfactual.asking import Bench
from firsthand.counterfactual.card import Card
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.export import export
from firsthand.counterfactual.funnel import Funnel, sieved, step
from firsthand.counterfactual.hints.asking import Said, ask_whether, ask_whether_exactly, ask_why
from firsthand.counterfactual.hints.attribution import Attribution, attributions
from firsthand.counterfactual.hints.cases import Case, Form, cases_of
from firsthand.counterfactual.hints.claiming import balanced_claims, claims_of, transcripts_of
from firsthand.counterfactual.hints.cues import CUES, EXAM_CUES, Cue
from firsthand.counterfactual.hints.exact import Chooser
from firsthand.counterfactual.hints.items import Item
from firsthand.counterfactual.hints.measuring import Measured, Outcome, measure, measure_exactly
from firsthand.counterfactual.hints.naming import AttributionJudge
from firsthand.counterfactual.hints.rules import HintRule
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress
from firsthand.trials.files import write_atomic
from firsthand.version import __version__


class HintSettings(Part):
    """How the hint setting is run.

    Attributes:
        rule: What makes a case.
        cues: Kinds of cue for exam questions; all of them if none is named.
        each: How many kinds of cue each exam question gets.
        form: How an answer is asked for: with a brief explanation, or as a letter alone.
        shots: Questions that are answered before each of an exam, with a cue toward the right option, so that weak
            models follow cues at all. Answers are letters then.
        explanations: Answers to each "why"; 0: it is not asked.
        seed: Seed of all draws.
    """

    rule: HintRule = HintRule()
    cues: tuple[str, ...] = ()
    each: Annotated[int, Field(ge=1)] = 1
    form: Form = "brief"
    shots: Annotated[int, Field(ge=0)] = 0
    explanations: Annotated[int, Field(ge=0)] = 1
    seed: Annotated[int, Field(ge=0)] = 0

    @property
    def kinds(self) -> tuple[Cue, ...]:
        """The kinds of cue for exam questions.

        Raises:
            CounterfactualError: If there is none of a name.
        """
        own = {cue.kind: cue for cue in EXAM_CUES}
        unknown = [name for name in self.cues if name not in own]
        if unknown:
            raise CounterfactualError(f"There is no kind of cue {unknown[0]!r}.", f"Use some of: {', '.join(own)}.")
        return tuple(own[name] for name in dict.fromkeys(self.cues)) or EXAM_CUES

    def cases(self, items: Sequence[Item], shots: Sequence[Item] = ()) -> list[Case]:
        """The cases that questions make.

        Args:
            items: The questions.
            shots: Questions that are answered before each.

        Raises:
            CounterfactualError: If a question is among those that are answered, or answers are explained.
        """
        if shots and self.form != "letter":
            raise CounterfactualError("Answered questions have no explanation.", "Ask for letters, or leave them out.")
        if {one.key for one in items} & {one.key for one in shots}:
            raise CounterfactualError("A question stands among those that are answered before it.", "Take others.")
        return cases_of(items, form=self.form, seed=self.seed, cues=self.kinds, each=self.each, shots=shots)


class CueCount(Part):
    """What became of the cases of one kind of cue.

    Attributes:
        cue: The kind.
        cases: Cases.
        agree: Those whose answer agrees with the cue often enough.
        influenced: Those that the cue influenced.
        not_influenced: Those that it did not.
        toward_right: Of those that were kept, how many point at the right option.
    """

    cue: str
    cases: int
    agree: int
    influenced: int
    not_influenced: int
    toward_right: int


class HintsDocument(Part):
    """Everything that a run found.

    Attributes:
        title: What was done.
        target: Identity of the target.
        model: What identifies the model, for a reader.
        settings: How it was run.
        exact: Whether rates are probabilities.
        dropped: Questions that could not be used, by reason.
        funnel: How many cases there were at every stage.
        by_cue: The same for each kind of cue.
        attributions: How often answers were attributed to the cue.
        claims: Number of claims, and of those in the balanced set.
        said: Every answer to a follow-up question.
        limits: What these numbers do not show.
        reproduce: Commands that repeat the run.
    """

    title: str
    target: str
    model: dict[str, Any] = Field(default_factory=dict)
    settings: HintSettings
    exact: bool
    dropped: dict[str, int]
    funnel: Funnel
    by_cue: tuple[CueCount, ...]
    attributions: tuple[Attribution, ...]
    claims: tuple[int, int]
    said: tuple[Said, ...]
    limits: tuple[str, ...]
    reproduce: tuple[str, ...] = ()
    package_version: str = __version__


@dataclass(frozen=True, eq=False)
class HintsRan:
    """What a run found.

    Attributes:
        outcome: What became of every case.
        said: Every answer to a follow-up question.
        attributions: Rates of attribution.
        claims: All claims.
        balanced: As many true ones as false ones, of each kind of cue.
        responses: For each claim a response of the target's own that agrees with the cue.
        funnel: How many there were at every stage, claims included.
        exact: Whether rates are probabilities.
        target: Identity of the target.
    """

    outcome: Outcome
    said: tuple[Said, ...]
    attributions: tuple[Attribution, ...]
    claims: tuple[Claim, ...]
    balanced: tuple[Claim, ...]
    responses: dict[str, Response]
    funnel: Funnel
    exact: bool
    target: str


LIMITS: Final = (
    "A cue that is taken out is one known part of a prompt, and the answer is a letter: what holds here need not hold "
    "for other behaviours (arXiv 2608.16747, section 4.1).",
    "Cues are directed by lot, so some point at the right option; where the answer is kept without the cue, it is more "
    "often right, and who knows the subject can tell labels by that.",
    "The cue stands in the prompt for anyone to read: naming it is no sign of anything that only the model knows.",
    "The program that looks for words of the cue misses paraphrases; where a question holds such words itself, it does "
    "not tell.",
)


def run_hints(
    items: Sequence[Item],
    bench: Bench,
    settings: HintSettings,
    progress: Progress,
    *,
    chooser: Chooser | None = None,
    talker: Bench | None = None,
    judge: AttributionJudge | None = None,
    shots: Sequence[Item] = (),
) -> HintsRan:
    """Measure and ask.

    Args:
        items: The questions.
        bench: Where responses come from; its store keeps everything.
        settings: How.
        progress: Who is told.
        chooser: The target as one that gives probabilities; without it responses are sampled.
        talker: Where answers to follow-up questions come from: the same model, which may speak longer there.
        judge: Who judges explanations besides the program.
        shots: Questions that are answered before each.

    Raises:
        CounterfactualError: If there is no question, or shots do not fit.
    """
    if not items:
        raise CounterfactualError("There is no question to put a cue into.", "Give at least one.")
    cases = settings.cases(items, shots)
    if chooser is not None:
        outcome = measure_exactly(cases, chooser, bench.store, settings.rule, progress)
    else:
        outcome = measure(cases, bench, settings.rule, progress)
    target, kept = (chooser or bench).identity, outcome.kept
    said = _asked(kept, bench, settings, progress, chooser, talker or bench, judge)
    claims = claims_of(kept, target)
    stage = balanced_claims(kept, target, settings.seed)
    all_claims = step("all claims", "claims", len(claims), {}).model_copy(update={"true": sum(c.label for c in claims)})
    return HintsRan(
        outcome=outcome,
        said=tuple(said),
        attributions=tuple(attributions(said)),
        claims=claims,
        balanced=stage.claims,
        responses=transcripts_of(kept, target),
        funnel=outcome.funnel + Funnel(steps=(all_claims,)) + sieved([stage]),
        exact=chooser is not None,
        target=target,
    )


def _asked(
    kept: Sequence[Measured],
    bench: Bench,
    settings: HintSettings,
    progress: Progress,
    chooser: Chooser | None,
    talker: Bench,
    judge: AttributionJudge | None,
) -> list[Said]:
    if not kept:
        return []
    if chooser is not None:
        said = ask_whether_exactly(kept, chooser, bench.store, progress)
    else:
        said = ask_whether(kept, bench, 1, progress)
    return said + (ask_why(kept, talker, settings.explanations, progress, judge) if settings.explanations else [])


def counts_by_cue(measured: Sequence[Measured]) -> tuple[CueCount, ...]:
    """What became of the cases of each kind of cue, in the order of the kinds."""
    found = []
    for kind in CUES:
        of = [one for one in measured if one.case.cue == kind]
        kept = Counter(one.kept for one in of if one.kept is not None)
        if of:
            found.append(
                CueCount(
                    cue=kind,
                    cases=len(of),
                    agree=sum(one.follows for one in of),
                    influenced=kept["influenced"],
                    not_influenced=kept["not influenced"],
                    toward_right=sum(one.case.toward_right for one in of if one.kept is not None),
                )
            )
    return tuple(found)


def hints_document(
    ran: HintsRan,
    settings: HintSettings,
    dropped: dict[str, int],
    model: dict[str, Any],
    reproduce: tuple[str, ...] = (),
) -> HintsDocument:
    """What a run found, as one document; the same for the same store."""
    return HintsDocument(
        title=f"Hints put to {model.get('name', 'the target')}",
        target=ran.target,
        model=model,
        settings=settings,
        exact=ran.exact,
        dropped=dropped,
        funnel=ran.funnel,
        by_cue=counts_by_cue(ran.outcome.measured),
        attributions=ran.attributions,
        claims=(len(ran.claims), len(ran.balanced)),
        said=ran.said,
        limits=LIMITS,
        reproduce=reproduce,
    )


def leave(ran: HintsRan, document: HintsDocument, folder: Path) -> tuple[Path, ...]:
    """Write the document, every case, the claims and their transcripts.

    Returns:
        Where they are.
    """
    result, cases, claims, transcripts = (
        folder / name for name in ("hints.json", "cases.jsonl", "claims", "claims/transcripts.jsonl")
    )
    write_atomic(result, (document.model_dump_json(indent=1) + "\n").encode())
    write_atomic(cases, "".join(f"{one.model_dump_json()}\n" for one in ran.outcome.measured).encode())
    how = "Rates are probabilities that the target gave, in parts of a thousand." if ran.exact else ""
    notes = ("A cue toward an option drawn by lot is taken out of a question.", how)
    card = Card(name=document.title, funnel=ran.funnel, notes=tuple(note for note in notes if note))
    export(claims, ran.claims, ran.balanced, card)
    lines = [Transcript(claim=key, response=one).model_dump_json() for key, one in sorted(ran.responses.items())]
    write_atomic(transcripts, "".join(f"{line}\n" for line in lines).encode())
    return result, cases, claims, transcripts


class Transcript(Part):
    """One of the target's own responses beside a claim.

    Attributes:
        claim: Identifier of the claim.
        response: The response.
    """

    claim: str
    response: Response
