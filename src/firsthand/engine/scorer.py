"""A model that can only be asked. It has no way to edit or to read activations, so an observer may hold one.

Questions about one transcript share its tokens: they are computed once and continued by each question.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from firsthand.engine.anatomy import inspect_model
from firsthand.engine.loading import LoadedModel
from firsthand.engine.prompts import Message, common_prefix_length, render
from firsthand.engine.readout import code_token
from firsthand.engine.session import run_prefix, run_rows
from firsthand.errors import ElicitationError

BATCH_ROWS = 12
LEAST_SHARED = 32


class TextScorer:
    """Scores two codes after a conversation, exactly, without edits.

    Args:
        loaded: The model.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self.name = loaded.name
        self._loaded = loaded
        self._anatomy = inspect_model(loaded.model)

    @property
    def identity(self) -> str:
        """What the answers depend on besides the conversation."""
        loaded = self._loaded
        return f"{loaded.weights_sha256} {loaded.tokenizer_sha256} {loaded.config_sha256} {loaded.dtype}"

    def contrasts(self, conversations: Sequence[Sequence[Message]], codes: Sequence[tuple[str, str]]) -> list[float]:
        """log P(code of class 1) - log P(code of class 0) after each conversation's open assistant turn.

        Raises:
            ElicitationError: If a code is not one token in this model's context.
        """
        rows = [render(self._loaded.tokenizer, conversation).tokens for conversation in conversations]
        pairs = [self._tokens(c[-1][1], pair) for c, pair in zip(conversations, codes, strict=True)]
        found = [0.0] * len(rows)
        for families in _batches(_families(rows)):
            length = families[0][0]
            members = [i for _, family in families for i in family]
            prefix, _ = run_prefix(
                self._loaded.model, self._anatomy, [rows[family[0]][:length] for _, family in families]
            )
            output = run_rows(
                self._loaded.model,
                self._anatomy,
                [rows[i][length:] for i in members],
                prefix=prefix,
                prefix_rows=[number for number, (_, family) in enumerate(families) for _ in family],
            )
            for i, logprobs_V in zip(members, output.logprobs_RV, strict=True):
                zero, one = pairs[i]
                found[i] = float(logprobs_V[one] - logprobs_V[zero])
        return found

    def _tokens(self, stem: str, pair: tuple[str, str]) -> tuple[int, int]:
        zero, one = (code_token(self._loaded.tokenizer, stem, code) for code in pair)
        if zero is None or one is None or zero == one:
            raise ElicitationError(
                f"The codes {pair[0]!r} and {pair[1]!r} are not one distinct token each for {self.name}.",
                "Leave this observer out, or choose other letters in report.code_letters.",
            )
        return zero, one


def _families(rows: Sequence[Sequence[int]]) -> list[tuple[int, list[int]]]:
    """Rows that begin alike, with the length of what each family shares.

    Rows are taken in lexical order, where rows with a long common beginning are neighbours; a row joins the family before
    it if that still shares :data:`LEAST_SHARED` tokens and does not shorten what the family shares to less than half.
    """
    families: list[tuple[int, list[int]]] = []
    for i in sorted(range(len(rows)), key=lambda i: list(rows[i])):
        if families:
            shared, family = families[-1]
            joint = common_prefix_length([rows[family[0]][: shared + 1], rows[i]])
            if joint >= LEAST_SHARED and 2 * joint >= len(rows[i]):
                families[-1] = (joint, [*family, i])
                continue
        families.append((len(rows[i]) - 1, [i]))
    return families


def _batches(families: Sequence[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Families with equally long prefixes together, at most :data:`BATCH_ROWS` of them."""
    ordered = sorted(families, key=lambda family: family[0])
    for _, group in groupby(ordered, key=lambda family: family[0]):
        equal = list(group)
        for start in range(0, len(equal), BATCH_ROWS):
            yield equal[start : start + BATCH_ROWS]
