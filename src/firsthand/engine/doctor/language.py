"""Can the model's tokens and template carry a question and its answer?"""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from firsthand.engine.doctor.checks import Check, Finding
from firsthand.engine.loading import LoadedModel
from firsthand.engine.prompts import Message, render
from firsthand.engine.readout import code_token
from firsthand.errors import EngineError

_STEM = "Answer:"
_SYSTEM: tuple[Message, ...] = (("system", "Answer in one word."),)
_FIRST: tuple[Message, ...] = (("user", "Is the sky blue?"), ("assistant", "Answer: yes"))
_SECOND: tuple[Message, ...] = (("user", "Is grass red?"), ("assistant", _STEM))
_PAIRS = (("1", "2"), ("yes", "no"), ("A", "B"))
_LETTERS = tuple("ABCDEFGHJKLMNPQRSTUVWXYZ")


def language(loaded: LoadedModel, *, answers: bool = True) -> list[Check]:
    """Looks at the beginning of text, the template, and, if asked, the tokens of usual answers."""
    tokenizer = loaded.tokenizer
    checks = [_template(tokenizer)]
    try:
        tokens = render(tokenizer, (*_FIRST, *_SECOND)).tokens
    except EngineError as error:
        return [*checks, Check("conversation", Finding.FAILED, error.problem, error.remedy)]
    checks += [_beginning(tokenizer, tokens), _system(tokenizer), _stable(tokenizer)]
    return [*checks, *_answers(tokenizer)] if answers else checks


def _template(tokenizer: PreTrainedTokenizerBase) -> Check:
    if tokenizer.chat_template is None:
        return Check("chat template", Finding.NOTE, "none", "a base model: conversations are written out plainly")
    return Check("chat template", Finding.OK, "present", "conversations are rendered as the model was trained")


def _beginning(tokenizer: PreTrainedTokenizerBase, tokens: Sequence[int]) -> Check:
    begins = tokenizer.bos_token_id
    count = 0 if begins is None else sum(token == begins for token in tokens[:3])
    wanted = begins is not None and tokenizer("a")["input_ids"][:1] == [begins]
    if count > 1:
        return Check(
            "beginning of text", Finding.FAILED, f"{count} tokens", "the model has never seen a text begin twice"
        )
    if wanted and count == 0:
        return Check(
            "beginning of text", Finding.WARNING, "the tokenizer adds one, the template none", "text may look truncated"
        )
    return Check("beginning of text", Finding.OK, f"{count} tokens", "added once where the model has one")


def _system(tokenizer: PreTrainedTokenizerBase) -> Check:
    text = render(tokenizer, (*_SYSTEM, *_SECOND)).text
    if tokenizer.chat_template is None:
        return Check("system turn", Finding.NOTE, "written out plainly", "a base model may not follow it")
    before_user = text.find(_SYSTEM[0][1]) < text.find(_SECOND[0][1])
    merged = f"{_SYSTEM[0][1]}\n{_SECOND[0][1]}" in text
    return Check(
        "system turn",
        Finding.NOTE if merged or not before_user else Finding.OK,
        "put before the first user turn" if merged else "kept",
        "the template has no system role" if merged else "instructions stand where the model expects them",
    )


def _stable(tokenizer: PreTrainedTokenizerBase) -> Check:
    """Earlier turns must stay as they were when a conversation goes on, or a prefix could not be shared."""
    short, long = render(tokenizer, _FIRST).tokens, render(tokenizer, (*_FIRST, *_SECOND)).tokens
    same = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), min(len(short), len(long)))
    kept = same >= len(short) - 1  # the last token may be the end of an open word
    return Check(
        "earlier turns",
        Finding.OK if kept else Finding.WARNING,
        f"{same} of {len(short)} tokens stay when the conversation goes on",
        "a conversation can be continued from its prefix"
        if kept
        else "the template rewrites history (e.g. drops thoughts): edits of earlier turns do not carry over",
    )


def _answers(tokenizer: PreTrainedTokenizerBase) -> list[Check]:
    checks = []
    for pair in _PAIRS:
        one, other = (code_token(tokenizer, _STEM, word) for word in pair)
        good = one is not None and other is not None and one != other
        checks.append(
            Check(
                f"answers {pair[0]} / {pair[1]}",
                Finding.OK if good else Finding.WARNING,
                f"tokens {one} and {other}" if good else "not one distinct token each after 'Answer:'",
                "can be read exactly"
                if good
                else "use other words, let the stem end in a space, or score sequences of tokens",
            )
        )
    usable = sum(code_token(tokenizer, _STEM, letter) is not None for letter in _LETTERS)
    checks.append(
        Check(
            "letters as codes",
            Finding.OK if usable >= 8 else Finding.WARNING,
            f"{usable} of {len(_LETTERS)} are one token",
            "opaque codes can be drawn anew for each block" if usable >= 8 else "too few for opaque codes",
        )
    )
    return checks
