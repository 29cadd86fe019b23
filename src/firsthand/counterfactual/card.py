"""The card of a set of claims: what it is, how its labels came to be, how many are wrong, and what was left out.

Whatever comes from elsewhere (names of sets, licences, reasons, claims) is spelled out so that it can end neither a
line, a cell of a table nor a block of code, and starts no markup.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, TypeAlias

import yaml
from pydantic import ConfigDict

from firsthand.analysis.floor import Floor
from firsthand.analysis.units import units_of
from firsthand.analysis.wrong_labels import SetErrors
from firsthand.counterfactual.card_trust import errors_text, floor_text
from firsthand.counterfactual.changes import FIXED, FixedLabels, LabelRule
from firsthand.counterfactual.claims import POINTS, Claim
from firsthand.counterfactual.funnel import Funnel, Step
from firsthand.counterfactual.markdown import plain, table
from firsthand.counterfactual.matching import mostly
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rows import COLUMNS

_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))


class Card(Part):
    """What a card says besides what the claims say themselves.

    Attributes:
        name: Name of the set.
        labels: How labels were made.
        errors: Estimated errors of the labels of each set, by its name; empty where they were not estimated.
        floors: How far the labels of each set can be told without prompt and model, by its name.
        funnel: Counts at every stage.
        licences: Licence of each source of prompts, by its name.
        licence: Licence of the set, as the hub spells it, such as ``cc-by-4.0``; ``other`` if it is none of these.
        notes: Sentences for whoever uses it, such as who investigated and judged.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    name: str
    labels: LabelRule = FIXED
    errors: Mapping[str, SetErrors] = {}
    floors: Mapping[str, Floor] = {}
    funnel: Funnel = Funnel()
    licences: Mapping[str, str] = {}
    licence: str = "other"
    notes: tuple[str, ...] = ()


Sets: TypeAlias = Mapping[str, Sequence[Claim]]
"""Claims of each set, by its name, the one before which others are looked for first at the beginning."""


def default_of(sets: Sets) -> tuple[str, str]:
    """The set that stands for all, and why.

    The matched one, if matching loses less than half of the filtered one; else the filtered one, if it holds anything.
    """
    filtered, matched = sets.get("filtered", ()), sets.get("matched", ())
    lost = f"matching keeps {len(matched)} of {len(filtered)} filtered claims"
    if filtered and mostly(filtered, matched):
        return "matched", f"{lost}, which is more than half"
    if filtered:
        return "filtered", f"{lost}, which is not more than half" if "matched" in sets else "no matching was made"
    return "unfiltered", "the filtered set is empty"


def card_text(card: Card, sets: Sets, digests: Mapping[str, str]) -> str:
    """The card as Markdown with a YAML header that ``datasets`` reads.

    Args:
        card: What it says.
        sets: All sets.
        digests: SHA-256 of each file.
    """
    parts = [
        _header(card, sets),
        f"# {plain(card.name)}\n",
        "Counterfactual claims: would this edit of the prompt change how often the model does that? Each label was "
        "measured by sampling the model's responses again, before and after the edit; none is anybody's judgement.\n",
        _sets(sets),
        _loading(sets),
        _labels(card),
        errors_text(card.errors, card.labels, sets["unfiltered"]),
        floor_text(card.floors, default_of(sets)[0]),
        _funnel(card.funnel),
        _sources(card, sets["unfiltered"]),
        _columns(),
        _files(digests),
    ]
    if card.notes:
        parts.append("## Notes\n\n" + "\n".join(f"- {plain(note)}" for note in card.notes) + "\n")
    return "\n".join(parts)


def card_json(card: Card, sets: Sets) -> dict[str, Any]:
    """The card as plain values."""
    default, why = default_of(sets)
    return {
        "name": card.name,
        "default": default,
        "default_because": why,
        "sets": {name: _counts(claims) for name, claims in sets.items()},
        "labels": card.labels.model_dump(mode="json"),
        "label_errors": {name: asdict(found) for name, found in card.errors.items()},
        "floors": {
            name: {**found.model_dump(mode="json"), "sentence": found.sentence} for name, found in card.floors.items()
        },
        "funnel": [one.model_dump(mode="json") for one in card.funnel.steps],
        "targets": sorted({one.target for one in sets["unfiltered"]}),
        "sources": dict(sorted(Counter(one.prompt.source for one in sets["unfiltered"]).items())),
        "licences": dict(card.licences),
        "licence": card.licence,
        "notes": list(card.notes),
        "columns": {name: {"type": str(kind), "holds": text} for name, (kind, text) in COLUMNS.items()},
    }


def _counts(claims: Sequence[Claim]) -> dict[str, int]:
    return {
        "claims": len(claims),
        "true": sum(one.label for one in claims),
        "false": sum(not one.label for one in claims),
        "clusters": len({one.cluster for one in claims}),
        "investigations": len({one.investigation for one in claims}),
        "independent units": len(set(units_of([one.ties for one in claims]).tolist())),
    }


def _header(card: Card, sets: Sets) -> str:
    default = default_of(sets)[0]
    shown = [default, *(name for name, claims in sets.items() if name != default and claims)]
    configs: list[dict[str, Any]] = [
        {"config_name": name, "data_files": [{"split": "train", "path": f"data/{name}.parquet"}]} for name in shown
    ]
    configs[0]["default"] = True
    size = next((words for most, words in _SIZES if len(sets["unfiltered"]) < most), "n>100K")
    header = {
        "pretty_name": card.name,
        "license": card.licence,
        "size_categories": [size],
        "tags": ["counterfactual", "self-explanation", "interpretability"],
        "configs": configs,
    }
    return f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=False)}---\n"


def _sets(sets: Sets) -> str:
    counts = {name: _counts(claims) for name, claims in sets.items()}
    head = ("set", *next(iter(counts.values())))
    return (
        table(head, [(f"`{name}`", *found.values()) for name, found in counts.items()])
        + "\nClaims of one cluster share a prompt, a task or a template: split by `cluster`. Independent units take "
        "together what shares a cluster, a prompt or a template family.\n"
    )


def _loading(sets: Sets) -> str:
    default, why = default_of(sets)
    lines = [
        "from datasets import load_dataset",
        "",
        f'claims = load_dataset("path/to/this/folder", split="train")  # the {default} set',
        *(
            f'{name} = load_dataset("path/to/this/folder", "{name}", split="train")'
            for name, claims in sets.items()
            if name != default and claims
        ),
    ]
    empty = "".join(
        f"The {name} set is empty, and `datasets` is not told of it. "
        for name, claims in sets.items()
        if name != default and not claims
    )
    return (
        f"## Loading\n\n```python\n{chr(10).join(lines)}\n```\n\nThe {default} set is the default: {why}. {empty}\n"
    ).replace(" \n", "\n")


def _labels(card: Card) -> str:
    rule = card.labels
    if isinstance(rule, FixedLabels):
        how = (
            f"A claim is true if the measured rate changed by at least {rule.true_from} points, in either direction, "
            f"and false if it changed by at most {rule.false_to}; what lies between makes no claim."
        )
    else:
        how = (
            "Responses were drawn until a test that may be looked at after each of them decided: a claim is true where "
            f"a change of at most {100 * rule.above:g} points was refuted, and false where one of at least "
            f"{100 * rule.below:g} points was, with a probability of at most {rule.alpha:g} of a wrong label for any "
            "one edit."
        )
    return (
        f"## Labels\n\nA claim says that the rate changes by at least {POINTS} points. {how} The baseline was drawn "
        "after the behaviour had been chosen, and the responses to the edited prompt after the edit had been. Invalid "
        "responses (missing, withheld, not to be judged) are never counted as a no; where any assignment of them could "
        "have changed the label, no claim was made.\n"
    )


def _funnel(funnel: Funnel) -> str:
    if not funnel.steps:
        return "## What was left out\n\nNot counted.\n"
    rows = [(plain(s.name), s.unit, s.given, s.kept, _of_claims(s), _reasons(s)) for s in funnel.steps]
    return "## What was left out\n\n" + table(("stage", "of", "in", "kept", "true / clusters", "left out"), rows)


def _of_claims(step: Step) -> str:
    return "" if step.true is None else f"{step.true} / {step.clusters}"


def _reasons(step: Step) -> str:
    return "; ".join(f"{plain(reason)}: {count}" for reason, count in step.dropped.items())


def _sources(card: Card, unfiltered: Sequence[Claim]) -> str:
    counted = Counter(one.prompt.source for one in unfiltered)
    rows = [
        (plain(source or "not stated"), count, plain(card.licences.get(source, "not stated")))
        for source, count in sorted(counted.items())
    ]
    targets = ", ".join(plain(one) for one in sorted({one.target for one in unfiltered}))
    return (
        f"## Sources\n\n{table(('prompts from', 'claims', 'licence'), rows)}\n"
        f"Responses were drawn from: {targets or 'none'}. What prompts say is quoted from these sources and is "
        "nobody's instruction to whoever reads it.\n"
    )


def _columns() -> str:
    return "## Columns\n\n" + table(
        ("column", "type", "holds"), [(f"`{name}`", f"`{kind}`", text) for name, (kind, text) in COLUMNS.items()]
    )


def _files(digests: Mapping[str, str]) -> str:
    rows = [(f"`{path}`", f"`{digest}`") for path, digest in sorted(digests.items())]
    return f"## Files\n\n{table(('file', 'SHA-256'), rows)}\n`sha256sum -c SHA256SUMS` checks all of them.\n"
