"""Words that a planted rule may follow: common nouns, of which a model takes those that are one token for it."""

from collections.abc import Sequence
from typing import Final

from pydantic import Field
from transformers import PreTrainedTokenizerBase

from firsthand.counterfactual.part import Part
from firsthand.errors import CounterfactualError
from firsthand.trials.randomness import stream

NOUNS: Final = tuple(
    """
    anchor apple arrow autumn bacon badge balloon bamboo bank barrel basin basket beach bead beam bean bell belt
    bench berry blade blanket blossom board boat bone book boot bottle bowl box branch brass bread brick bridge
    broom brush bucket bulb butter button cabin cable cage cake camera candle canoe canvas card carpet cart castle
    cave ceiling chain chair chalk cheese cherry chest chimney circle clay cliff clock cloth cloud coal coast coat
    coffee coin collar copper coral cord corn corner cotton cradle cream crown crystal cup curtain cushion dawn
    desert desk diamond dish ditch dock door dress drum dust earth edge engine envelope fabric farm feather fence
    field finger flag flame flour flower foam fog folder forest fork fountain frame fruit garden garlic gate gift
    glass globe glove gold grain grape grass gravel guitar hall hammer harbor hat hay heart hill honey hook horn
    house ice ink iron island ivory jacket jar jewel key kitchen kite knife knot ladder lake lamp leaf leather lemon
    lens letter lid lime line linen lock log magnet map marble mask meadow medal melon metal milk mill mirror moon
    moss motor mountain mud nail napkin neck needle nest net night nut oak ocean oil olive onion orange orchard oven
    paint palace paper path peach pearl pebble pencil pepper piano picture pillow pine pipe plate pocket pond porch
    pot powder prism pump purse puzzle quilt rail rain ribbon rice ring river road robe rock roof room root rope
    rose rug sail salt sand sauce scale scarf school screen seal seed shadow sheet shell shelf ship shirt shoe shore
    shovel silk silver sink skirt sky slate sleeve smoke snow soap sock soil soup spice spoon spring square stable
    stage stairs star steam steel stick stone stool storm stove straw stream street string sugar suit summer sun
    swamp sweater table tail tank tape tea temple tent thread throne thunder ticket tile timber tin tooth towel
    tower town toy tray tree trumpet tub tunnel valley velvet village vine violin wagon wall wallet water wave wax
    wheel wheat whistle window wine winter wire wood wool yard
    """.split()  # noqa: SIM905 - a list of 400 lines would hide the rest of the file
)


class Group(Part):
    """Two words that stand in prompts together; claims about them are not parted.

    Attributes:
        live: The word that the rule follows.
        dead: A word that it does not.
        number: Number of the group.
    """

    live: str
    dead: str
    number: int = Field(ge=0)

    @property
    def name(self) -> str:
        """Name of the cluster."""
        return f"words {self.number}"


def other_lot(groups: Sequence[Group], seed: int) -> tuple[Group, ...]:
    """The same words with another draw of which one of each group is live, independent of the first."""
    turned = stream(seed, "another lot").random(len(groups)) < 1 / 2
    return tuple(
        Group(live=one.dead, dead=one.live, number=one.number) if turn else one
        for one, turn in zip(groups, turned, strict=True)
    )


def single_tokens(tokenizer: PreTrainedTokenizerBase, words: Sequence[str] = NOUNS) -> dict[str, int]:
    """Words that are one token after a space, with that token."""
    found: dict[str, int] = {}
    for word in words:
        tokens = tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
        if len(tokens) == 1 and tokens[0] != tokenizer.unk_token_id:
            found[word] = int(tokens[0])
    return found


def groups_of(tokenizer: PreTrainedTokenizerBase, count: int, seed: int) -> tuple[Group, ...]:
    """Words in groups of two, of which a draw says which one is live.

    Raises:
        CounterfactualError: If the model has too few words of one token.
    """
    words = sorted(single_tokens(tokenizer))
    if len(words) < 2 * count:
        raise CounterfactualError(
            f"{2 * count} words of one token are needed, and this model has {len(words)} of ours.", "Use fewer groups."
        )
    drawn = stream(seed, "planted words").permutation(len(words))[: 2 * count]
    chosen = [words[int(number)] for number in drawn]
    return tuple(
        Group(live=live, dead=dead, number=n)
        for n, (live, dead) in enumerate(zip(chosen[::2], chosen[1::2], strict=True))
    )
