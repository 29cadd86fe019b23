"""What a belief study costs before it is run."""

import time
from dataclasses import dataclass

from firsthand.claims.labels.belief import CLASSES, BeliefClaim
from firsthand.engine import LoadedModel
from firsthand.studies.labels.belief.bench import Bench, prepare
from firsthand.studies.labels.belief.readings import read_items
from firsthand.studies.labels.belief.records import Facts
from firsthand.studies.labels.belief.reporting import INSTRUCTIONS, ask
from firsthand.studies.labels.belief.steering import ARMS
from firsthand.studies.labels.conversations import Conversation, Shot, draw_wording, lay_out

_TRIED = 3


@dataclass(frozen=True)
class Price:
    """The cost of a study.

    Attributes:
        answers: Answers that are read, without steering.
        states: States of those, as many as there were on average in the answers that were tried.
        readings: Tokens that are generated from states.
        conversations: Conversations, those with labels drawn by lot and those of another reader included.
        length: Tokens of the shots of a conversation and of all that is asked after them.
        steered: Answers that are read with something added.
        answer_seconds: Time of one answer and its states, as measured.
        rate: Tokens a second in a conversation, as measured.
    """

    answers: int
    states: int
    readings: int
    conversations: int
    length: int
    steered: int
    answer_seconds: float
    rate: float

    @property
    def tokens(self) -> int:
        """Tokens of all readings and conversations."""
        share = 1 + self.steered / max(self.answers, 1)
        return round(self.readings * share) + self.conversations * self.length

    @property
    def seconds(self) -> float:
        """Time."""
        return (self.answers + self.steered) * self.answer_seconds + self.conversations * self.length / self.rate


def price_of(loaded: LoadedModel, facts: Facts, claim: BeliefClaim) -> Price:
    """Price a study by a few of its own answers and a few shots.

    Raises:
        LabelsError: If the data are too few.
        ElicitationError: If a conversation cannot be expressed.
    """
    bench = prepare(loaded, facts, claim)
    tried = bench.items[:_TRIED]
    begun = time.perf_counter()
    frames = read_items(loaded, bench.anatomy, bench.target, tried, bench.layers, claim)
    each = (time.perf_counter() - begun) / len(tried)
    states = sum(int((rows["token"] >= 0).sum()) for rows in frames) / len(tried)
    length, rate = _conversation(bench)
    total = round(states * len(bench.items))
    spec = claim.steering
    cells = 0 if spec is None else len(spec.doses) * len(spec.layers or (0,)) * len(ARMS) + 1
    return Price(
        answers=len(bench.items),
        states=total,
        readings=total * claim.reading_tokens * claim.reading_samples,
        conversations=claim.experiments * (2 if claim.reader is None else 3),
        length=length,
        steered=0 if spec is None else spec.records * cells,
        answer_seconds=each,
        rate=rate,
    )


def _conversation(bench: Bench) -> tuple[int, float]:
    """Tokens of a conversation with what is asked after it, and tokens a second of a short one."""
    claim = bench.claim
    instruction, names = draw_wording(bench.label_names, claim.seed, 0, CLASSES, INSTRUCTIONS)
    some = bench.items[: min(8, len(bench.items) - 1)]
    talk = Conversation(instruction, names, tuple(Shot(item.text, i % CLASSES) for i, item in enumerate(some)))
    length = len(lay_out(bench.loaded.tokenizer, talk).tokens)
    begun = time.perf_counter()
    ask(bench.loaded, bench.anatomy, talk, [Shot(bench.items[len(some)].text, 0)])
    rate = length / (time.perf_counter() - begun)
    asked = len(bench.items) / claim.folds
    return round(length / len(some) * (claim.shots + asked)), rate
