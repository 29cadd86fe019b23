"""The tokens of a transcript, numbered, so that a predictor can point at some of them.

A transcript is what the target was given, up to where it speaks, and what it said: the tokens of its prompt as it is
given them (:func:`~firsthand.counterfactual.targets.rendering.opened`), followed by those of the response. Where each
token lies in the text is looked up, and proved: the text that belongs to the tokens gives these very tokens again. A
response that calls tools is read as far as it is text.
"""

from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.targets.rendering import opened
from firsthand.errors import CounterfactualError


@dataclass(frozen=True)
class Transcript:
    """A transcript as tokens.

    Attributes:
        tokens: Token ids, prompt and response.
        texts: The text of each token. Of a character that takes several tokens, the first has it and the others none.
        response: Number of the first token of the response.
    """

    tokens: tuple[int, ...]
    texts: tuple[str, ...]
    response: int

    def text(self, first: int, last: int) -> str:
        """The text of a run of tokens, both ends included."""
        return "".join(self.texts[first : last + 1])

    def listed(self) -> str:
        """Every token with its number, as a predictor is shown them: ``12:' word'``, the response apart."""
        pieces = [f"{number}:{text!r}" for number, text in enumerate(self.texts)]
        said = self.response
        return f"PROMPT\n{' '.join(pieces[:said])}\nRESPONSE\n{' '.join(pieces[said:])}"


def transcript_of(tokenizer: PreTrainedTokenizerBase, question: Question) -> Transcript:
    """The transcript of a question.

    Args:
        tokenizer: The target's tokenizer.
        question: The question.

    Raises:
        CounterfactualError: If the target cannot be given the prompt, or a token cannot be found in the text again.
    """
    if question.response.missing and not question.response.calls:
        raise CounterfactualError(
            f"The question {question.claim} has no response ({question.response.ended}).",
            "Ask about one of the target's responses.",
        )
    prompt = opened(tokenizer, question.prompt)
    said = question.response.text
    special = [token for token in tokenizer.all_special_tokens if token in said]
    if special:
        raise CounterfactualError(
            f"The response of the question {question.claim} holds {', '.join(special)}, which this model's tokenizer "
            "would read as part of the template.",
            "Leave the question out.",
        )
    response = tuple(int(token) for token in tokenizer(said, add_special_tokens=False)["input_ids"]) if said else ()
    return Transcript(
        tokens=(*prompt, *response),
        texts=(*_texts(tokenizer, prompt), *_texts(tokenizer, response)),
        response=len(prompt),
    )


def _texts(tokenizer: Any, tokens: tuple[int, ...]) -> tuple[str, ...]:
    """The text of each token, proved by taking the whole text apart again."""
    if not tokens:
        return ()
    text = tokenizer.decode(list(tokens), skip_special_tokens=False, clean_up_tokenization_spaces=False)
    again = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    if tuple(again["input_ids"]) == tokens:
        return _cut(text, [(int(a), int(b)) for a, b in again["offset_mapping"]])
    singly = tuple(
        tokenizer.decode([token], skip_special_tokens=False, clean_up_tokenization_spaces=False) for token in tokens
    )
    if "".join(singly) == text:  # a tokenizer that drops the blank before a text, say
        return singly
    raise CounterfactualError(
        f"The tokens of a transcript cannot be found in its text, which begins {text[:60]!r}.",
        "Leave the question out, or use a model whose tokenizer gives a text's own tokens back.",
    )


def _cut(text: str, offsets: list[tuple[int, int]]) -> tuple[str, ...]:
    """The text between offsets; what several tokens share, or what lies between two, belongs to the first of them."""
    pieces, end = [], 0
    starts = [begin for begin, _ in offsets[1:]] + [len(text)]
    for (_, own), following in zip(offsets, starts, strict=True):
        until = max(end, own, min(following, len(text)))
        pieces.append(text[end:until])
        end = until
    return tuple(pieces)
