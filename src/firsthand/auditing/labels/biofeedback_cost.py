"""What a biofeedback study costs before it is run."""

import time
from dataclasses import dataclass

from firsthand.claims.labels import BiofeedbackClaim
from firsthand.engine import LoadedModel, inspect_model
from firsthand.studies.injection.bench import usual_layers
from firsthand.studies.labels.conversations import NAMES, Conversation, Shot, draw_wording, lay_out, usable_names
from firsthand.studies.labels.examples import Examples, split
from firsthand.studies.labels.incontext import teacher_forced


@dataclass(frozen=True)
class Price:
    """The cost of a study.

    Attributes:
        conversations: Conversations over all layers.
        passes: Passes: one a conversation for every kind of axis, and one with labels drawn by lot; for every reader
            three more for every kind of axis.
        length: Tokens of a conversation.
        texts: Tokens of the texts whose states are read, in every model.
        regulation: Tokens of the control task.
        rate: Tokens a second of one measured conversation.
    """

    conversations: int
    passes: int
    length: int
    texts: int
    regulation: int
    rate: float

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.passes * self.length + self.texts + self.regulation

    @property
    def seconds(self) -> float:
        """Time."""
        return self.tokens / self.rate


def price_of(loaded: LoadedModel, examples: Examples, claim: BiofeedbackClaim) -> Price:
    """Price a study by one conversation of its own length; a reader is taken to be as large as the judged model.

    Raises:
        LabelsError: If the data are too few, or a conversation is too long.
    """
    anatomy = inspect_model(loaded.model)
    held_out = split(examples, {"fit": claim.fit, "held_out": claim.held_out}, claim.seed)["held_out"]
    names = usable_names(loaded.tokenizer, NAMES["digits"])
    instruction, pair = draw_wording(names, claim.seed, 0)
    shots = tuple(Shot(text, place % 2) for place, text in enumerate(held_out.texts[: claim.shots]))
    conversation = Conversation(instruction, pair, shots)
    length = len(lay_out(loaded.tokenizer, conversation).tokens)
    begun = time.perf_counter()
    teacher_forced(loaded, anatomy, conversation)
    rate = length / (time.perf_counter() - begun)
    layers = len(claim.layers or usual_layers(anatomy.n_layers, 5))
    conversations, readers, axes = layers * claim.experiments, len(claim.readers), len(claim.referents)
    each = length // claim.shots
    texts = each * (claim.fit + claim.held_out) * (1 + readers)
    each_time = len(claim.counts) if claim.protocol == "independent" else 1
    passes = conversations * (axes + 1 + 3 * axes * readers) * each_time
    asked = each * (claim.regulated_after + 2 * 2 * 2) if claim.regulated_after else 0  # two sentences, two requests
    shown = 1 + sum(name != "permuted" for name in claim.referents)
    return Price(conversations, passes, length, texts, conversations * shown * asked, rate)
