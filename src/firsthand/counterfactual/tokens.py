"""How many tokens a prompt has: an estimate that needs no tokenizer, or a count by one."""

import math
from collections.abc import Callable, Sized
from typing import Final, TypeAlias

from firsthand.counterfactual.prompts import Prompt
from firsthand.trials.canonical import canonical_json

TokenCounter: TypeAlias = Callable[[Prompt], int]
"""Says how many tokens a prompt has."""

BYTES_A_TOKEN: Final = 4
TOKENS_A_TURN: Final = 4


def estimated_tokens(prompt: Prompt) -> int:
    """An estimate: a token for every four bytes of UTF-8, and four for every turn.

    English has 4 to 5 characters a token in today's tokenizers; code, and scripts of three bytes a character, have
    four bytes a token or fewer, so that they are underestimated. Tool calls and declared tools count as the JSON that
    they are. Use :func:`counted_by` where a limit has to hold exactly.
    """
    return math.ceil(sum(len(text.encode()) for text in texts(prompt)) / BYTES_A_TOKEN) + TOKENS_A_TURN * len(
        prompt.turns
    )


def counted_by(tokenize: Callable[[str], Sized]) -> TokenCounter:
    """A counter that adds up the tokens of each text of a prompt, and four for every turn.

    What a chat template puts between turns is not known here. A counter that renders the whole prompt with the target's
    template is any function of a prompt.

    Args:
        tokenize: Gives a text's tokens, without special tokens.
    """

    def count(prompt: Prompt) -> int:
        return sum(len(tokenize(text)) for text in texts(prompt)) + TOKENS_A_TURN * len(prompt.turns)

    return count


def texts(prompt: Prompt) -> list[str]:
    """Every text that a target is given: turns, calls with their arguments, and declared tools."""
    calls = [canonical_json(call.model_dump()).decode() for turn in prompt.turns for call in turn.calls]
    tools = [canonical_json(tool.model_dump()).decode() for tool in prompt.tools]
    return [turn.content for turn in prompt.turns if turn.content] + calls + tools
