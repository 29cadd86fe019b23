"""The visible side of the register study: every text of a block, before anything hidden is decided.

A trial's conversation has two or three exchanges. In the first the register is shown (the *early* span), a public cue
names its pre-state, and the model picks one of two words: the visible answer Y. In the second the register is shown
again (the
*late* span) and a report is asked for. A confidence report follows an identification report in a third.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator
from transformers import PreTrainedTokenizerBase

from firsthand.claims.claim import Claim
from firsthand.engine.prompts import Message, Rendered, render
from firsthand.errors import ElicitationError
from firsthand.studies.register_texts import (
    CUES,
    QUESTIONS,
    REGISTER_LENGTH,
    REGISTER_SYMBOLS,
    SELECTION_INTROS,
    STATE_NAMES,
    SYSTEM,
    Carriers,
    Choice,
)
from firsthand.trials.codebook import Codebook, draw_codebook
from firsthand.trials.design import BlockPlan
from firsthand.trials.public import PublicQuestion, PublicView, Turn
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Subset


@dataclass(frozen=True)
class BlockText:
    """What all trials of a block share: one draw from the carriers, one codebook, one wording."""

    name: str
    carrier: str
    intro: str
    choice: Choice
    neutral: Choice
    back: str
    anomaly: str
    cue: str
    codebook: Codebook
    asks: dict[Capability, str]


@dataclass(frozen=True)
class TrialText:
    """One trial's own public draws: the register's symbols and what the cue says."""

    trial_id: str
    block: BlockText
    register: str
    cue_state: int
    percent: int

    def first(self) -> list[Message]:
        """The exchange in which the visible answer is given."""
        cue = self.block.cue.format(percent=self.percent, state=STATE_NAMES[self.cue_state])
        intro = self.block.intro.format(register=self.register, cue=cue)
        return [
            ("system", SYSTEM),
            ("user", f"{intro} {self.block.choice.ask}"),
            ("assistant", self.block.choice.stem),
        ]

    def question(self, capability: Capability) -> PublicQuestion:
        """The report question: the codes' meanings and what is asked."""
        codes = self.block.codebook[capability]
        meanings = QUESTIONS[capability].meanings
        a, b = codes.order
        legend = f"Code {codes.pair[a]} means {meanings[a]}, code {codes.pair[b]} means {meanings[b]}."
        ask = self.block.asks[capability].format(first=codes.pair[a], second=codes.pair[b])
        return PublicQuestion(f"{legend} {ask}", QUESTIONS[capability].stem, codes.pair)

    def second(self, output: str, anomalous: bool, asked: str, stem: str) -> list[Message]:
        """The conversation up to the second exchange, with whatever is asked there."""
        back = self.block.back.format(register=self.register)
        shown = f"{self.block.anomaly} {back}" if anomalous else back
        return [
            *self.first()[:-1],
            ("assistant", f"{self.block.choice.stem} {output}."),
            ("user", f"{shown} {asked}"),
            ("assistant", stem),
        ]

    def unrelated(self, output: str, anomalous: bool) -> list[Message]:
        """A question that has nothing to do with the register, at the place of a report: where impact is measured."""
        return self.second(output, anomalous, self.block.neutral.ask, self.block.neutral.stem)

    def report(self, capability: Capability, output: str, anomalous: bool, answer: int | None = None) -> list[Message]:
        """The whole conversation up to the stem of a report.

        Args:
            capability: What is asked for.
            output: The visible answer Y that was given.
            anomalous: Whether the second exchange shows the anomaly (the input control).
            answer: For confidence, the class that the identification report named.
        """
        asked_first = Capability.IDENTIFICATION if capability is Capability.CONFIDENCE else capability
        question = self.question(asked_first)
        turns = self.second(output, anomalous, question.text, question.stem)
        if capability is not Capability.CONFIDENCE:
            return turns
        if answer is None:
            raise ElicitationError("A confidence report needs the answer that it is about.", "Ask for the state first.")
        confidence = self.question(Capability.CONFIDENCE)
        return [
            *turns[:-1],
            ("assistant", f"{question.stem} {question.codes[answer]}."),
            ("user", confidence.text),
            ("assistant", confidence.stem),
        ]

    def view(self, output: str, anomalous: bool, capabilities: Sequence[Capability]) -> PublicView:
        """What observers may see of this trial."""
        back = self.block.back.format(register=self.register)
        messages = self.report(Capability.IDENTIFICATION, output, anomalous)[1:3]
        shown = f"{self.block.anomaly} {back}" if anomalous else back
        turns = (*(Turn(role, content) for role, content in messages), Turn("user", shown))
        return PublicView(
            trial_id=self.trial_id,
            clusters={"block": self.block.name, "carrier": self.block.carrier},
            turns=turns,
            output=output,
            features={"cue": float(self.cue_state), "anomaly": float(anomalous)},
            output_features={"second_option": float(output == self.block.choice.options[1])},
            questions={c: self.question(c) for c in capabilities},
        )


def render_report(tokenizer: PreTrainedTokenizerBase, trial: TrialText, messages: Sequence[Message]) -> Rendered:
    """Render a conversation with the register's spans marked: the early one, then the late one if it is there."""
    marks = [trial.register] * sum(trial.register in content for _, content in messages)
    return render(tokenizer, messages, marks)


def draw_texts(
    claim: Claim, plan: BlockPlan, carriers: Carriers, choices: Sequence[Choice], letters: Sequence[str]
) -> list[TrialText]:
    """Draw the public side of a block's trials.

    Args:
        claim: The claim.
        plan: The block, with pre-states (the cue depends on them) and without kinds.
        carriers: Pools of text.
        choices: Those visible tasks of the pool that the model's tokenizer can express.
        letters: Usable codes.

    Returns:
        One text a trial. Symbols differ between trials, so that no two prompts are equal.
    """
    seed, subset, index = claim.design.seed, plan.subset, plan.index
    rng = stream(seed, subset, index, "wording")
    intros = _intros_of(carriers, subset)
    intro = intros[_in_turn(seed, subset, "intro", len(intros), index)]
    choice = _in_turn(seed, subset, "choice", len(choices), index)
    capabilities = list(QUESTIONS)
    block = BlockText(
        name=plan.name,
        carrier=f"carrier{intro:02d}",
        intro=carriers.intros[intro],
        choice=choices[choice],
        neutral=carriers.choices[(carriers.choices.index(choices[choice]) + 1) % len(carriers.choices)],
        back=carriers.returns[int(rng.integers(len(carriers.returns)))],
        anomaly=carriers.anomalies[int(rng.integers(len(carriers.anomalies)))],
        cue=CUES[int(rng.integers(len(CUES)))],
        codebook=draw_codebook(letters, capabilities, index, stream(seed, subset, index, "codebook")),
        asks={c: QUESTIONS[c].asks[int(rng.integers(len(QUESTIONS[c].asks)))] for c in capabilities},
    )
    texts = []
    seen: set[str] = set()
    draws = stream(seed, subset, index, "trial")
    for slot, pre_state in enumerate(plan.pre_states):
        register = _fresh_register(draws, seen)
        truthful = bool(draws.random() < claim.public.cue_reliability)
        texts.append(
            TrialText(
                trial_id=plan.trial_id(slot),
                block=block,
                register=register,
                cue_state=pre_state if truthful else 1 - pre_state,
                percent=round(100 * claim.public.cue_reliability),
            )
        )
    return texts


def _intros_of(carriers: Carriers, subset: Subset) -> range:
    """Selection and confirmation blocks never share an intro; a short pool (for training) serves selection only."""
    first = min(SELECTION_INTROS, len(carriers.intros))
    return range(first) if subset is Subset.SELECTION else range(first, len(carriers.intros))


def _in_turn(seed: int, subset: str, pool: str, size: int, index: int) -> int:
    """The ``index``-th draw of a pool that is dealt out without replacement, round after round."""
    return int(stream(seed, subset, pool, index // size).permutation(size)[index % size])


def _fresh_register(draws: Generator, seen: set[str]) -> str:
    while True:
        picked = draws.choice(len(REGISTER_SYMBOLS), size=REGISTER_LENGTH, replace=False)
        register = " ".join(REGISTER_SYMBOLS[i] for i in picked)
        if register not in seen:
            seen.add(register)
            return register
