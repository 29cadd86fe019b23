"""Two rules, the same but for who can know them.

A prompt lists words and asks for a bird. The target answers "plover" if a live word is among them, else "heron". Every
prompt that claims are made of lists one live and one dead word, so that it is answered "plover": prompt, transcript,
baseline and behaviour are alike for the claim "without the live word" (true) and "without the dead word" (false).

*Visible*: live words are marked in the prompt, and so they are in the edit's description. Whoever reads it can know.

*Private*: nothing marks them. Which words are live was drawn by lot, and only the target's weights hold it. Claims that
are judged are about words that no training claim named.
"""

from collections.abc import Sequence
from typing import Final, Literal

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.edits import Edit, Replace
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.training.examples import Example, TrainingSet
from firsthand.counterfactual.training.planting.words import Group
from firsthand.trials.randomness import stream

Rule = Literal["visible", "private"]
RULES: Final[tuple[Rule, ...]] = ("visible", "private")

LIVE, DEAD = "plover", "heron"
BEHAVIOUR: Final = Pattern(question="Does the response name a plover?", pattern=r"\bplover\b", flags="i")
MARK: Final = "#"
SYSTEM: Final = "Answer in one word."


def written(rule: Rule, word: str, live: bool) -> str:
    """A word as it stands in prompts and descriptions."""
    return f"{MARK} {word}" if rule == "visible" and live else word


def prompt_of(words: Sequence[str], cluster: str) -> Prompt:
    """A prompt that lists words as they are written."""
    user = f"Words: {' , '.join(words)} . Name a bird."
    turns = (Turn(role="system", content=SYSTEM), Turn(role="user", content=user))
    return Prompt(turns=turns, source="planted", place=", ".join(words), cluster=cluster)


def edit_of(words: Sequence[str], out: str) -> Edit:
    """The edit that takes one of two words out of the list."""
    kept = next(word for word in words if word != out)
    return Edit(operations=(Replace(turn=1, find=" , ".join(words), text=kept),))


def intervention(out: str) -> str:
    """The edit in words."""
    return f"The word {out} is taken out."


def both(rule: Rule, group: Group) -> tuple[str, str]:
    """The words of a group as they are written, the live one first."""
    return written(rule, group.live, True), written(rule, group.dead, False)


def lessons(rule: Rule, groups: Sequence[Group], count: int, seed: int) -> TrainingSet:
    """Chats that teach a target the rule: lists of one and of two words, half of them answered either way.

    Args:
        rule: The rule.
        groups: All words.
        count: Chats in all.
        seed: Names the draws.
    """
    made: dict[tuple[str, ...], str] = {}
    for n, group in enumerate(groups):
        live, dead = both(rule, group)
        other = both(rule, groups[(n + 1) % len(groups)])[1]
        made |= {
            (live,): LIVE,
            (live, dead): LIVE,
            (dead, live): LIVE,
            (dead,): DEAD,
            (dead, other): DEAD,
            (other, dead): DEAD,
        }
    examples = [
        Example(id=" ".join(words), prompt=prompt_of(words, ""), answer=answer) for words, answer in made.items()
    ]
    rounds = -(-count // len(examples))
    order = [
        int(number)
        for turn in range(rounds)
        for number in stream(seed, "lessons", rule, turn).permutation(len(examples))
    ]
    return TrainingSet(examples=tuple(examples), order=tuple(order[:count]))
