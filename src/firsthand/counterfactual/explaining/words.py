"""Words of an edited text that tell it from everything else, by which an explanation can be seen to name it."""

import re
from typing import Final

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.factors import changed

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?", re.UNICODE)


def words(text: str) -> set[str]:
    """Words that carry meaning, in lower case: no stop words, and nothing of one character."""
    found = {word.casefold() for word in _WORD.findall(text)}
    return {word for word in found if len(word) > 1 and word not in ENGLISH_STOP_WORDS}


def edited_words(claim: Claim) -> set[str]:
    """Words of what the edit takes out and puts in, without those that say what the behaviour is.

    Words that the behaviour's question holds are in any explanation of it, so they tell nothing.
    """
    parts = [text for span in changed(claim.prompt, claim.edit) for text in (span.gone, span.new)]
    return set[str]().union(*map(words, parts)) - words(claim.behaviour.question)
