"""The card of a set of claims: what it is, how its labels came to be, how many are wrong, and what was left out.

Whatever comes from elsewhere (names of sets, licences, reasons, claims) is spelled out so that it can end neither a
line, a cell of a table nor a block of code, and starts no markup.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import yaml
from pydantic import ConfigDict

from firsthand.analysis.label_errors import Estimated, SetErrors, label_chances
from firsthand.counterfactual.changes import FIXED, FixedLabels, LabelRule
from firsthand.counterfactual.claims import POINTS, Claim
from firsthand.counterfactual.describing import quoted
from firsthand.counterfactual.funnel import Funnel, Step
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rows import COLUMNS

_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$^=:])")


class Card(Part):
    """What a card says besides what the claims say themselves.

    Attributes:
        name: Name of the set.
        labels: How labels were made.
        errors: Estimated errors of the labels; ``None`` where they were not estimated.
        funnel: Counts at every stage.
        licences: Licence of each source of prompts, by its name.
        licence: Licence of the set, as the hub spells it, such as ``cc-by-4.0``; ``other`` if it is none of these.
        notes: Sentences for whoever uses it, such as who investigated and judged.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    name: str
    labels: LabelRule = FIXED
    errors: SetErrors | None = None
    funnel: Funnel = Funnel()
    licences: Mapping[str, str] = {}
    licence: str = "other"
    notes: tuple[str, ...] = ()


def card_text(card: Card, filtered: Sequence[Claim], unfiltered: Sequence[Claim], digests: Mapping[str, str]) -> str:
    """The card as Markdown with a YAML header that ``datasets`` reads.

    Args:
        card: What it says.
        filtered: Filtered claims.
        unfiltered: All claims.
        digests: SHA-256 of each file.
    """
    parts = [
        _header(card, filtered, unfiltered),
        f"# {plain(card.name)}\n",
        "Counterfactual claims: would this edit of the prompt change how often the model does that? Each label was "
        "measured by sampling the model's responses again, before and after the edit; none is anybody's judgement.\n",
        _sets(filtered, unfiltered),
        _loading(filtered, unfiltered),
        _labels(card),
        _errors(card, unfiltered),
        _funnel(card.funnel),
        _sources(card, unfiltered),
        _columns(),
        _files(digests),
    ]
    if card.notes:
        parts.append("## Notes\n\n" + "\n".join(f"- {plain(note)}" for note in card.notes) + "\n")
    return "\n".join(parts)


def plain(text: str) -> str:
    """A text on one line that is nothing but text: no markup, no cell and no line ends in it."""
    spelled = quoted(text, max(len(text), 1))[1:-1].replace('\\"', '"')
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", spelled)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; what stands in the cells is taken as it is."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines) + "\n"


def _header(card: Card, filtered: Sequence[Claim], unfiltered: Sequence[Claim]) -> str:
    sets = {"filtered": filtered, "unfiltered": unfiltered}
    shown = [name for name, claims in sets.items() if claims] or ["unfiltered"]
    configs: list[dict[str, Any]] = [
        {"config_name": name, "data_files": [{"split": "train", "path": f"data/{name}.parquet"}]} for name in shown
    ]
    configs[0]["default"] = True
    size = next((words for most, words in _SIZES if len(unfiltered) < most), "n>100K")
    header = {
        "pretty_name": card.name,
        "license": card.licence,
        "size_categories": [size],
        "tags": ["counterfactual", "self-explanation", "interpretability"],
        "configs": configs,
    }
    return f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=False)}---\n"


def _sets(filtered: Sequence[Claim], unfiltered: Sequence[Claim]) -> str:
    rows = [
        (
            f"`{name}`",
            len(claims),
            sum(one.label for one in claims),
            sum(not one.label for one in claims),
            len({one.cluster for one in claims}),
            len({one.investigation for one in claims}),
        )
        for name, claims in (("filtered", filtered), ("unfiltered", unfiltered))
    ]
    return (
        table(("set", "claims", "true", "false", "clusters", "investigations"), rows)
        + "\nClaims of one cluster share a prompt, a task or a template: split by `cluster`, and take clusters for the "
        "independent units.\n"
    )


def _loading(filtered: Sequence[Claim], unfiltered: Sequence[Claim]) -> str:
    first = "filtered" if filtered else "unfiltered"
    lines = [
        "from datasets import load_dataset",
        "",
        f'claims = load_dataset("path/to/this/folder", split="train")  # the {first} set',
    ]
    if filtered and unfiltered:
        lines.append('everything = load_dataset("path/to/this/folder", "unfiltered", split="train")')
    empty = "" if filtered else "\nThe filtered set is empty, and `datasets` is not told of it.\n"
    return "## Loading\n\n```python\n" + "\n".join(lines) + "\n```\n" + empty


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


def _errors(card: Card, unfiltered: Sequence[Claim]) -> str:
    text = "## Errors of the labels\n\n"
    if card.errors is not None:
        found = card.errors
        text += (
            "Expected share of wrong labels, from all measured edits by empirical Bayes (nonparametric maximum "
            f"likelihood), with 95% intervals over {found.clusters} investigations. A label is wrong if the true "
            f"change is on the other side of {POINTS} points.\n\n"
        )
        rows = (
            ("true", found.true, found.wrong_true),
            ("false", found.false, found.wrong_false),
            ("all", found.true + found.false, found.wrong),
        )
        text += table(("labels", "number", "wrong"), [(name, n, _share(one)) for name, n, one in rows]) + "\n"
    sizes = Counter((one.baseline.valid, one.rate.valid) for one in unfiltered)
    if isinstance(card.labels, FixedLabels) and sizes:
        (before, after), _ = max(sizes.items(), key=lambda item: (item[1], item[0]))
        thresholds = card.labels.thresholds
        text += (
            f"One edit, with {before} valid responses before and {after} after it (the commonest sizes here), is "
            "called true or false this often, rates lying evenly about one half (where chance does most):\n\n"
        )
        rows_of = []
        for points in (0, 15, 30, 40, 50, 70):
            low, high = 0.5 - points / 200, 0.5 + points / 200
            chances = label_chances(low, high, before, after, thresholds)
            rows_of.append((points, *(f"{100 * one:.1f}%" for one in chances)))
        text += table(("true change, points", "true", "false", "no claim"), rows_of)
    return text


def _share(estimate: Estimated | None) -> str:
    if estimate is None:
        return "none"
    return f"{100 * estimate.value:.1f}% ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


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
