"""From drafts to tokens: spans, clean part, question and answers, each proved by decoding.

Answers are tokenised behind the whole rendered prompt, so that what is scored is what the model would continue with.
Whatever a tokenizer cannot express exactly is refused, with the name of the wording.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from transformers import PreTrainedTokenizerBase

from firsthand.engine.candidates import Tokens, candidate_tokens, check_candidates
from firsthand.engine.prompts import Rendered, render
from firsthand.errors import ElicitationError, FirsthandError
from firsthand.studies.injection.concepts import surface_forms
from firsthand.studies.injection.drafts import Draft, joint

_OPENING: Final = "Well"  # begins an answer without a stem while it is rendered, and is cut off again


@dataclass(frozen=True)
class Prompt:
    """A conversation as tokens.

    Attributes:
        draft: Its text and what is known about it.
        text: The rendered text, up to the answer.
        tokens: Token ids of all of it.
        spans: Absolute positions of each marked text.
        answers: The tokens of each answer, in the order of ``draft.labels``.
        until: First position after the marked turn's text, if the question comes later (``lifted``, ``delayed``).
        question: First position of the question's turn, in that case.
    """

    draft: Draft
    text: str
    tokens: tuple[int, ...]
    spans: tuple[tuple[int, ...], ...]
    answers: tuple[Tokens, ...]
    until: int | None = None
    question: int | None = None

    @property
    def span(self) -> tuple[int, ...]:
        """Positions of the one marked text.

        Raises:
            ElicitationError: If several texts are marked.
        """
        if len(self.spans) != 1:
            raise ElicitationError(f"{len(self.spans)} texts are marked.", "Choose one of 'spans'.")
        return self.spans[0]

    @property
    def meanings(self) -> tuple[str, ...]:
        """What each answer means."""
        return self.draft.meanings

    def answer(self, meaning: str) -> int:
        """The number of the answer with a meaning.

        Raises:
            ElicitationError: If there is none.
        """
        if meaning not in self.draft.meanings:
            raise ElicitationError(
                f"No answer means {meaning!r}.", f"Ask for one of {', '.join(self.draft.meanings) or 'no meanings'}."
            )
        return self.draft.meanings.index(meaning)


def make_prompt(tokenizer: PreTrainedTokenizerBase, draft: Draft) -> Prompt:
    """Turn a draft into tokens.

    Args:
        tokenizer: The model's tokenizer.
        draft: The conversation.

    Raises:
        ElicitationError: If this tokenizer or its chat template cannot express the conversation exactly: content is
            lost, a marked text is not unique or has no tokens of its own, a character is unknown, or answers cannot be
            told apart. The wording is named.
    """
    try:
        _check_known(tokenizer, draft)
        rendered = _rendered(tokenizer, draft)
        return _prompt(tokenizer, draft, rendered)
    except FirsthandError as error:
        raise ElicitationError(
            f"The wording {draft.wording!r} ({draft.task}) cannot be used with this tokenizer: {error.problem}",
            error.remedy,
        ) from error


def expressible(tokenizer: PreTrainedTokenizerBase, drafts: Sequence[Draft]) -> tuple[list[Prompt], list[str]]:
    """The prompts of those drafts that a tokenizer can express, and for each of the others what is wrong."""
    prompts, problems = [], []
    for draft in drafts:
        try:
            prompts.append(make_prompt(tokenizer, draft))
        except ElicitationError as error:
            problems.append(error.problem)
    return prompts, problems


def naming_tokens(
    tokenizer: PreTrainedTokenizerBase, prompt: Prompt, concepts: Sequence[str]
) -> dict[str, tuple[Tokens, ...]]:
    """For each concept, the tokens of its surface forms behind the prompt: for token promotion and reconstruction.

    Forms that this tokenizer cannot write there are left out; forms may begin with one another, so they are for
    first-token ranks or for scoring one by one.

    Raises:
        ElicitationError: If no form of a concept can be written.
    """
    before = joint(prompt.draft.stem)
    found: dict[str, tuple[Tokens, ...]] = {}
    for concept in concepts:
        forms, why = [], ""
        for form in surface_forms(concept):
            try:
                forms += candidate_tokens(tokenizer, prompt.text, [f"{before}{form}"])
            except ElicitationError as error:
                why = error.problem
        if not forms:
            raise ElicitationError(f"The concept {concept!r} cannot be named: {why}", "Leave it out for this model.")
        found[concept] = tuple(dict.fromkeys(forms))
    return found


def _check_known(tokenizer: PreTrainedTokenizerBase, draft: Draft) -> None:
    """Every character of the text must be one that the tokenizer can write."""
    if tokenizer.unk_token_id is None:
        return
    for _, content in draft.messages:
        if tokenizer.unk_token_id in tokenizer.encode(content, add_special_tokens=False):
            raise ElicitationError(f"It cannot write all of {content[:60]!r}.", "Use another model or other words.")


def _rendered(tokenizer: PreTrainedTokenizerBase, draft: Draft) -> Rendered:
    """The rendered prompt, its spans, and last, where it is asked later, the span of the question's turn."""
    marks = list(draft.marks)
    contents = "\n".join(content for _, content in draft.messages)
    for mark in dict.fromkeys(marks):
        if contents.count(mark) != marks.count(mark):
            raise ElicitationError(f"The marked text {mark!r} stands there more than once.", "Use unique texts.")
    if draft.later is not None:
        marks.append(draft.messages[draft.later][1])
    if draft.stem:
        return render(tokenizer, draft.messages, marks)
    opened = render(tokenizer, [*draft.messages[:-1], ("assistant", _OPENING)], marks)
    return _cut(tokenizer, opened)


def _cut(tokenizer: PreTrainedTokenizerBase, opened: Rendered) -> Rendered:
    """A prompt without its opening, so that the answer begins the model's turn."""
    text = opened.text.removesuffix(_OPENING)
    text = text if tokenizer.chat_template is not None else text.rstrip(" ")
    tokens = tuple(int(token) for token in tokenizer.encode(text, add_special_tokens=False))
    if opened.tokens[: len(tokens)] != tokens:
        raise ElicitationError("An answer without a stem merges with what is before it.", "Give the wording a stem.")
    return Rendered(text, tokens, opened.spans)


def _prompt(tokenizer: PreTrainedTokenizerBase, draft: Draft, rendered: Rendered) -> Prompt:
    spans = rendered.spans[: len(draft.marks)]
    before = joint(draft.stem)
    if not draft.stem and tokenizer.chat_template is None:
        before = " "
    answers: tuple[Tokens, ...] = ()
    if draft.labels:
        answers = tuple(candidate_tokens(tokenizer, rendered.text, [f"{before}{label}" for label in draft.labels]))
        check_candidates(answers)
    later = draft.later is not None
    return Prompt(
        draft=draft,
        text=rendered.text,
        tokens=rendered.tokens,
        spans=spans,
        answers=answers,
        until=max(spans[-1]) + 1 if later else None,
        question=rendered.spans[-1][0] if later else None,
    )
