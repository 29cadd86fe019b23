"""What a card says of how far its labels can be trusted, and of how far they can be guessed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from firsthand.analysis.floor import Floor
from firsthand.analysis.label_errors import label_chances
from firsthand.analysis.wrong_labels import Estimated, SetErrors
from firsthand.counterfactual.changes import FixedLabels, SequentialLabels
from firsthand.counterfactual.claims import POINTS, Claim
from firsthand.counterfactual.markdown import table

LEAST_CLUSTERS: Final = 5
"""Independent units below which a bootstrap gives no interval worth the name."""


def errors_text(
    errors: Mapping[str, SetErrors], labels: FixedLabels | SequentialLabels, unfiltered: Sequence[Claim]
) -> str:
    """How often labels are wrong: of each set, and of one edit whose true change is known."""
    text = "## Errors of the labels\n\n"
    if errors:
        units = next(iter(errors.values())).clusters
        interval = "too few for an interval" if units < LEAST_CLUSTERS else "over which the 95% intervals are taken"
        text += (
            "Expected share of wrong labels, from all measured edits by empirical Bayes (nonparametric maximum "
            f"likelihood). They come from {units} independent units, {interval}. A label is wrong if the true change "
            f"is on the other side of {POINTS} points. What the filters found of a claim is not made use of.\n\n"
        )
        rows = [
            (f"`{name}`", which, number, _share(share, one.clusters))
            for name, one in errors.items()
            for which, number, share in (
                ("true", one.true, one.wrong_true),
                ("false", one.false, one.wrong_false),
                ("all", one.true + one.false, one.wrong),
            )
        ]
        text += table(("set", "labels", "number", "wrong"), rows) + "\n"
    sizes = Counter((one.baseline.valid, one.rate.valid) for one in unfiltered)
    return text + (_of_one_edit(labels, sizes) if isinstance(labels, FixedLabels) and sizes else "")


def floor_text(floors: Mapping[str, Floor], default: str) -> str:
    """How far the labels can be told by whoever sees neither prompt nor model."""
    text = (
        "## What can be guessed\n\nKind and size of an edit, its place, its wording and the baseline may tell true "
        "claims from false ones without any knowledge of the model. Learners that see these alone, or the words of the "
        "claim alone, were tried with whole independent units held out. The matched set holds, for each kind of edit, "
        "size (bins a factor of four wide) and baseline rate, as many true as false claims.\n\n"
    )
    if not floors:
        return f"{text}It was not measured.\n"
    rows = [
        (f"`{name}`", guess.learner, f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})", found.units)
        for name, found in floors.items()
        for guess in found.guesses
        for one in (guess.auroc,)
    ]
    shown = table(("set", "learner", "AUROC", "independent units"), rows) + "\n" if rows else ""
    said = "".join(
        f"- `{name}`{', the default' if name == default else ''}: {found.sentence}\n" for name, found in floors.items()
    )
    return f"{text}{shown}{said}"


def _share(estimate: Estimated | None, clusters: int) -> str:
    if estimate is None:
        return "none"
    interval = f" ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})" if clusters >= LEAST_CLUSTERS else ""
    return f"{100 * estimate.value:.1f}%{interval}"


def _of_one_edit(labels: FixedLabels, sizes: Counter[tuple[int, int]]) -> str:
    (before, after), _ = max(sizes.items(), key=lambda item: (item[1], item[0]))
    rows = []
    for points in (0, 15, 30, 40, 50, 70):
        low, high = 0.5 - points / 200, 0.5 + points / 200
        chances = label_chances(low, high, before, after, labels.thresholds)
        rows.append((points, *(f"{100 * one:.1f}%" for one in chances)))
    return (
        f"One edit, with {before} valid responses before and {after} after it (the commonest sizes here), is "
        "called true or false this often, rates lying evenly about one half (where chance does most):\n\n"
        + table(("true change, points", "true", "false", "no claim"), rows)
    )
