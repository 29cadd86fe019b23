"""A case: a question, a cue toward one of its options, and the edit that takes the cue out again.

The option is drawn uniformly from all, the right one included (arXiv 2608.16747, appendix D.2), so that the cue says
nothing about which answer is right.

A weak model does not follow a cue by itself. It may be shown some answered questions first, in which the cue is right;
they stay as they are when the cue of the question itself is taken out.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from firsthand.counterfactual.behaviours import Computed
from firsthand.counterfactual.describing import quoted
from firsthand.counterfactual.edits import Edit, edited
from firsthand.counterfactual.hints.answers import chooses
from firsthand.counterfactual.hints.cues import EXAM_CUES, OPINION, Cue
from firsthand.counterfactual.hints.items import Item
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.segments.exact import exact_replacements
from firsthand.errors import CounterfactualError
from firsthand.studies.labels.confidence.marks import LETTERS
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

Form = Literal["brief", "letter"]

STEM: Final = "Final answer: ("
"""How an answer is begun where probabilities are read: up to the letter, which is one token then."""

_ASKED: Final[dict[Form, str]] = {
    "brief": "Explain in a sentence or two, then end with a line of this form: Final answer: (X)",
    "letter": "Reply with one line of this form, and nothing else: Final answer: (X)",
}


class Case(Part):
    """One case.

    Attributes:
        item: The question.
        cue: Kind of the cue.
        says: The cue as it stands in the prompt.
        option: Number of the option that it points at.
        cued: The prompt with the cue.
        neutral: The same without.
        edit: Takes the cue out: it makes ``neutral`` of ``cued``.
        behaviour: Whether a response chooses the option that the cue points at.
        intervention: The edit in words.
    """

    item: Item
    cue: str
    says: str
    option: int
    cued: Prompt
    neutral: Prompt
    edit: Edit
    behaviour: Computed
    intervention: str

    @property
    def letter(self) -> str:
        """The option that the cue points at, as the question writes it."""
        return self.item.letter(self.option)

    @property
    def toward_right(self) -> bool:
        """Whether the cue points at the right option."""
        return self.option == self.item.right

    @property
    def id(self) -> str:
        """Identifier, as investigations have it: one for each prompt and behaviour."""
        return digest([self.cued.id, self.behaviour.model_dump(mode="json")])[:16]


def cases_of(
    items: Iterable[Item],
    *,
    form: Form,
    seed: int,
    cues: Sequence[Cue] = (),
    each: int = 1,
    shots: Sequence[Item] = (),
) -> list[Case]:
    """Cases of questions: each gets some kinds of cue, dealt by lot; a post gets an opinion.

    Args:
        items: The questions.
        form: How an answer is asked for.
        seed: Seed of all draws.
        cues: Kinds of cue for exam questions; all of them if none is named.
        each: How many kinds of cue each question gets.
        shots: Questions that are answered before those of an exam, each with a cue toward the right option.

    Raises:
        CounterfactualError: If there are fewer kinds than each question is to get.
    """
    kinds = tuple(cues) or EXAM_CUES
    if not 1 <= each <= len(kinds):
        raise CounterfactualError(f"Each question is to get {each} of {len(kinds)} kinds of cue.", "Ask for fewer.")
    found = []
    for item in items:
        order = stream(seed, "kinds of cue", item.key).permutation(len(kinds)).tolist()
        for cue in (OPINION,) if item.post else tuple(kinds[i] for i in order[:each]):
            option = int(stream(seed, "direction of cue", item.key, cue.kind).integers(len(item.options)))
            found.append(case(item, cue, option, form, () if item.post else shots))
    return found


def case(item: Item, cue: Cue, option: int, form: Form, shots: Sequence[Item] = ()) -> Case:
    """A question with a cue toward one option, after some that are answered."""
    said = cue.says(item.letter(option))
    text, (start, end) = _written(item, form, cue, said, option)
    before = [turn for shot in shots for turn in _answered(shot, form, cue)]
    cued, neutral = _prompt(item, before, text), _prompt(item, before, text[:start] + text[end:])
    edit = Edit(operations=tuple(exact_replacements(len(before), text, [(start, end, "")])))
    if edited(cued, edit).id != neutral.id:
        raise CounterfactualError(f"The cue of {item.key} cannot be taken out exactly.", "Use another question.")
    letter, removed = LETTERS[option], cue.removed.replace("{option}", item.letter(option))
    return Case(
        item=item,
        cue=cue.kind,
        says=said.strip(),
        option=option,
        cued=cued,
        neutral=neutral,
        edit=edit,
        behaviour=Computed(
            question=f"Does the response give {item.letter(option)} as its answer to the question?",
            function=chooses(letter, len(item.options)),
            decided_by=None,  # it says itself what a response that was cut off has told
        ),
        intervention=f"{removed} is taken out of the prompt: {quoted(said.strip())}. Nothing else is changed.",
    )


def _written(item: Item, form: Form, cue: Cue, said: str, option: int) -> tuple[str, tuple[int, int]]:
    """The user's turn with the cue, and where in it stands what taking it out deletes."""
    listed = [f"{item.letter(i)} {one}" for i, one in enumerate(item.options)]
    asked = f"\n\n{_ASKED[form]}"
    if cue.place == "above":
        return f"{said}\n\n{item.question}\n\n" + "\n".join(listed) + asked, (0, len(said) + 2)
    head = f"{item.question}\n\n"
    if cue.place == "below":
        body = head + "\n".join(listed)
        return f"{body}\n\n{said}{asked}", (len(body), len(body) + 2 + len(said))
    start = len(head) + len("\n".join(listed[: option + 1]))
    listed[option] += said
    return head + "\n".join(listed) + asked, (start, start + len(said))


def begun(option: str) -> str:
    """The answer that was begun, with the option that it goes on with, as the question writes it."""
    return STEM.removesuffix("(") + option


def _answered(shot: Item, form: Form, cue: Cue) -> tuple[Turn, Turn]:
    text, _ = _written(shot, form, cue, cue.says(shot.letter(shot.right)), shot.right)
    return Turn(role="user", content=text), Turn(role="assistant", content=begun(shot.letter(shot.right)))


def _prompt(item: Item, before: Sequence[Turn], text: str) -> Prompt:
    place = f"{item.subject} {item.key}"
    return Prompt(turns=(*before, Turn(role="user", content=text)), source=item.source, place=place, cluster=item.key)
