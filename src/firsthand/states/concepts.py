"""Concept vectors: the state of a word in a prompt, less the mean state of other words in the same prompt.

Two ways of making them are common, and both are recipes here. Lindsey ("Emergent Introspective Awareness in Large
Language Models", 2025) reads the last token of a prompt that asks about the word, and takes off the mean over a list of
words. "Can LLMs introspect? A reality check" (arXiv 2605.26242, appendix F) reads the mean over the word's own tokens
and takes off the mean over all concepts, the word itself included. Here a word is never part of its own baseline:
``h - mean(all n) = (n - 1) / n * (h - mean(others))``, so the direction is the same and the raw norm is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.loading import LoadedModel
from firsthand.engine.sites import Site, parse_site
from firsthand.errors import StatesError
from firsthand.states.placing import WORD, Pool, Template, check_template
from firsthand.states.reading import Readings, read_states
from firsthand.states.vectors import ModelIdentity, Origin, Vectors

Baseline = Literal["others", "words"]
Scale = Literal["unit", "raw", "residual"]

ABOUT: Final[Template] = (("user", f"Let us talk about {WORD} for a while."),)
"""The default prompt."""
_LEAST: Final = 1e-6  # a difference of fewer residual norms than this is rounding


@dataclass(frozen=True)
class Recipe:
    """How concept vectors are made.

    ``Recipe(**vectors.origin.recipe)`` is the recipe of vectors that were stored.

    Attributes:
        sites: Where the states are read; text like ``resid_post[12]`` is understood.
        template: Text, or turns of a chat, with ``{word}`` once.
        pool: ``"span"``: mean over the tokens of the word. ``"last"``: the last token of the whole prompt.
        baseline: ``"others"``: mean over the other concepts. ``"words"``: mean over ``baseline_words``.
        baseline_words: The words of that baseline; none of them may be a concept.
        scale: ``"unit"``: norm 1. ``"raw"``: the difference as it is. ``"residual"``: the norm is the mean norm of the
            residuals that were read at the site, over all words; an edit of strength 1 then adds as much as is there.

    Raises:
        StatesError: If a setting is unknown, or settings do not fit together.
    """

    sites: tuple[Site, ...]
    template: Template = ABOUT
    pool: Pool = "span"
    baseline: Baseline = "others"
    baseline_words: tuple[str, ...] = ()
    scale: Scale = "unit"

    def __post_init__(self) -> None:
        sites = tuple(parse_site(site) if isinstance(site, str) else site for site in self.sites)
        object.__setattr__(self, "sites", sites)
        object.__setattr__(self, "baseline_words", tuple(self.baseline_words))
        if not isinstance(self.template, str):
            object.__setattr__(self, "template", tuple((role, content) for role, content in self.template))
        check_template(self.template)
        for name, choices in (("pool", Pool), ("baseline", Baseline), ("scale", Scale)):
            if getattr(self, name) not in get_args(choices):
                raise StatesError(
                    f"A recipe has no {name} {getattr(self, name)!r}.", f"Choose one of {', '.join(get_args(choices))}."
                )
        if (self.baseline == "words") is not (len(self.baseline_words) >= 2):
            raise StatesError(
                f"The baseline is {self.baseline!r}, and {len(self.baseline_words)} baseline words are given.",
                "Give at least two words for the baseline 'words', and none for 'others'.",
            )

    def as_json(self) -> dict[str, Any]:
        """The settings as plain JSON values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        template = self.template if isinstance(self.template, str) else [list(turn) for turn in self.template]
        sites, words = [str(site) for site in self.sites], list(self.baseline_words)
        return values | {"sites": sites, "template": template, "baseline_words": words}


def concept_vectors(loaded: LoadedModel, anatomy: Anatomy, words: Sequence[str], recipe: Recipe) -> Vectors:
    """Make one vector for each concept and site, from one batched run.

    With each vector are recorded, in residual units, ``raw_norm`` (of the difference, before scaling), ``norm`` (after
    it: the absolute strength of an edit of strength 1) and ``residual_norm`` (mean norm of the residuals read at the
    site, over all words), and ``tokens``, the number of tokens that were read of the word.

    Args:
        loaded: The model and its tokenizer.
        anatomy: The same model's parts.
        words: The concepts.
        recipe: How.

    Returns:
        The vectors, site after site, concepts in the order given.

    Raises:
        EngineError: If a prompt cannot be rendered or run, or a residual is not finite.
        StatesError: If a concept is given twice (in whatever case) or is in its own baseline, there are fewer than two
            of them for the baseline ``"others"``, a word has no tokens of its own or is read at position 0, somebody
            else's hooks are active, or a vector is zero or not finite.
    """
    _check_words(words, recipe)
    readings = read_states(
        loaded, anatomy, [*words, *recipe.baseline_words], recipe.sites, recipe.template, recipe.pool
    )
    parts = [_at_site(words, recipe, readings, site) for site in recipe.sites]
    return Vectors(
        tuple(words) * len(recipe.sites),
        tuple(site for site in recipe.sites for _ in words),
        torch.cat([vectors_CH for vectors_CH, _ in parts]),
        tuple(measures for _, measured in parts for measures in measured),
        Origin(
            kind="concepts",
            source=f"{len(words)} concepts",
            recipe=recipe.as_json(),
            model=ModelIdentity.of(loaded),
        ),
    )


def _at_site(
    words: Sequence[str], recipe: Recipe, readings: Readings, site: Site
) -> tuple[Tensor, list[dict[str, float]]]:
    """Scaled vectors of one site, ``[concepts, hidden]`` float32, and what was measured of each."""
    states_WH, residual_norm = readings.states[site], float(readings.norms[site].mean())
    own_CH = states_WH[: len(words)]
    if recipe.baseline == "words":
        base_CH = states_WH[len(words) :].mean(0, keepdim=True)
    else:
        base_CH = (own_CH.sum(0, keepdim=True) - own_CH) / (len(words) - 1)
    raw_CH = own_CH - base_CH
    raw_norms_C = raw_CH.norm(dim=-1)
    for word, raw_norm in zip(words, raw_norms_C.tolist(), strict=True):
        if not raw_norm > _LEAST * residual_norm:  # also true of a norm that is not a number
            raise StatesError(
                f"The state of {word!r} at {site} does not differ from its baseline (by {raw_norm:.2g} where residuals "
                f"have norm {residual_norm:.4g}).",
                "Read a site or a token that depends on the word.",
            )
    length = {"unit": 1.0, "raw": None, "residual": residual_norm}[recipe.scale]
    vectors_CH = raw_CH if length is None else raw_CH / raw_norms_C[:, None] * length
    measures = [
        {"raw_norm": raw, "norm": norm, "residual_norm": residual_norm, "tokens": float(tokens)}
        for raw, norm, tokens in zip(
            raw_norms_C.tolist(), vectors_CH.norm(dim=-1).tolist(), readings.tokens, strict=False
        )
    ]
    return vectors_CH.float(), measures


def _check_words(words: Sequence[str], recipe: Recipe) -> None:
    least = 2 if recipe.baseline == "others" else 1
    if isinstance(words, str) or len(words) < least:
        raise StatesError(
            f"{words!r} are too few concepts for the baseline {recipe.baseline!r}.", f"Give a list of {least} or more."
        )
    for what, given in (("concepts", words), ("baseline words", recipe.baseline_words)):
        folded = [_folded(word) for word in given]
        twice = sorted({word for word, key in zip(given, folded, strict=True) if folded.count(key) > 1})
        if twice:
            raise StatesError(f"There are duplicates among the {what}: {', '.join(twice)}.", "Give each once.")
    own = sorted({_folded(word) for word in words} & {_folded(word) for word in recipe.baseline_words})
    if own:
        raise StatesError(
            f"These concepts are in their own baseline: {', '.join(own)}.", "Take them out of the baseline words."
        )


def _folded(word: str) -> str:
    return " ".join(word.split()).casefold()
