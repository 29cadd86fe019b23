"""How often it was said, by setting and by unit, with what is missing counted as missing."""

import numpy as np
import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked
from firsthand.analysis.checks.shares import (
    Mask,
    Shares,
    constant,
    crossed_units,
    cued,
    numbers_of,
    settings,
    share_words,
)
from firsthand.analysis.findings import Finding, Mark, Picture
from firsthand.analysis.imported_study import ImportedStudy, flags
from firsthand.analysis.means import bare, pct, plural
from firsthand.vocabulary import Kind

MOST_MARKS = 9


def check_rates(study: ImportedStudy) -> Checked:
    """Rates of the first option in rows with a cue, by setting and by the second crossed unit."""
    rows = cued(study)
    if crossed_units(study) is None or not study.has("answer") or rows.empty or len(study.options) != 2:
        return NOTHING
    yes = flags(rows["answer"].eq(study.options[0]))
    known = rows["answer"].notna().to_numpy()
    if not known.any():
        return Checked(missing=("no row has an answer",))
    coarse, fine = settings(rows, study.cells[:1]), settings(rows, study.cells)
    groups = {name: (yes, inside & known) for name, inside in {**coarse, **fine}.items()}
    shares = Shares(study, rows, groups)
    findings = [_by_setting(study, shares, coarse, fine, known)]
    findings += _constant(study, shares, coarse)
    findings.append(_by_unit(study, rows, yes, known, next(iter(coarse))))
    findings += _in_prompt(study)
    picture = _picture(study, shares, coarse, fine)
    missing = () if study.in_prompt is None else (_visible(study.in_prompt),)
    return Checked(tuple(findings), picture=picture, missing=missing)


def _picture(study: ImportedStudy, shares: Shares, coarse: dict[str, Mask], fine: dict[str, Mask]) -> Picture:
    """Settings, whole where they would be too many, and beside them the rows in which there was no cue."""
    first = next(iter(coarse))
    shown = fine if len(fine) < MOST_MARKS else coarse
    marks = {_short(name, study): (shares.of(name), name.startswith(first)) for name in shown}
    quiet = study.table[study.table["kind"].eq(Kind.BASELINE.value) & study.table["answer"].notna()]
    if not quiet.empty:
        yes = flags(quiet["answer"].eq(study.options[0]))
        alone = Shares(study, quiet, {"quiet": (yes, np.ones(len(quiet), dtype=bool))})
        settled = ", ".join(settings(quiet, study.cells[:1]))
        marks[f"{study.words.quiet} ({_short(settled, study)})"] = (alone.of("quiet"), True)
    return Picture(
        title=f"How often it says {study.options[0]}",
        axis=f"Share of {study.options[0]}",
        unit="share",
        marks=tuple(
            Mark(label=name, estimate=made, emphasis=emphasis)
            for name, (made, emphasis) in marks.items()
            if made is not None
        ),
    )


def _short(name: str, study: ImportedStudy) -> str:
    for cell in study.cells:
        name = name.replace(f"{cell.replace('_', ' ')} ", "")
    return name


def _visible(what: str) -> str:
    return f"{what} stands in the visible prompt: whoever reads it could say as much, so nothing private is asked about"


def _by_setting(
    study: ImportedStudy, shares: Shares, coarse: dict[str, Mask], fine: dict[str, Mask], known: Mask
) -> Finding:
    yes = study.options[0]
    parts, numbers = [], []
    for name, inside in coarse.items():
        said, answered, rows = int(shares.total[name]), shares.count[name], int(inside.sum())
        if not answered:
            parts.append(f"no answer in any of {rows:,} rows ({name})")
            continue
        text = f"{said:,} of {rows:,} rows" if answered == rows else f"{said:,} of {answered:,} answers"
        text += f", {share_words(shares.of(name), said / answered)} ({name}"
        if answered < rows:
            text += f"; {plural(rows - answered, 'row')} without an answer, {pct(said / rows)} if they were all no, "
            text += f"{pct((said + rows - answered) / rows)} if all {yes}"
        parts.append(f"{text})")
        numbers += [
            bare(f"{yes}, {name}", said, "count"),
            bare(f"rows, {name}", rows, "count"),
            bare(f"rows without an answer, {name}", rows - answered, "count"),
            bare(f"rate if no answer is no, {name}", said / rows),
            bare(f"rate if no answer is {yes}, {name}", (said + rows - answered) / rows),
        ]
    numbers += numbers_of(shares, {name: f"rate of {yes}, {name}" for name in {**coarse, **fine}})
    units, cluster = study.units(study.clusters[-1]), study.clusters[-1]
    return Finding(
        name="rates",
        tone="result",
        sentence=f"It says {yes} in {'; in '.join(parts)}. These are {shares.how}.",
        numbers=tuple(numbers),
        units=units,
        cluster=cluster,
    )


def _constant(study: ImportedStudy, shares: Shares, coarse: dict[str, Mask]) -> list[Finding]:
    """Settings in which one answer is (nearly) always given, whatever else was so."""
    found = {
        name: shares.total[name] / shares.count[name]
        for name in coarse
        if shares.count[name] and constant(shares.total[name] / shares.count[name])
    }
    if not found:
        return []
    words = ", ".join(f"{name} {pct(rate)}" for name, rate in found.items())
    return [
        Finding(
            name="constant-answer",
            tone="caution",
            sentence=f"The answer is nearly constant ({words}): it cannot tell one row from another, and says as much "
            f"as a rule that always answers so.",
            numbers=tuple(bare(f"rate of {study.options[0]}, {name}", rate) for name, rate in found.items()),
        )
    ]


def _by_unit(study: ImportedStudy, rows: pd.DataFrame, yes: np.ndarray, known: Mask, first: str) -> Finding:
    """The first setting by the second crossed unit, each resampled over the first unit alone."""
    assert study.crossed is not None
    unit = study.crossed[1]
    inside = settings(rows, study.cells[:1])[first] & known
    made = []
    for name in sorted(set(rows[unit].astype(str))):
        use = inside & rows[unit].astype(str).eq(name).to_numpy()
        if use.any():
            one = Shares(study, rows[use], {name: (yes[use], np.ones(int(use.sum()), dtype=bool))})
            made.append((name, one))
    ranked = sorted(made, key=lambda pair: -pair[1].total[pair[0]] / pair[1].count[pair[0]])
    words = "; ".join(f"{name} {pct(one.total[name] / one.count[name])} of {one.count[name]}" for name, one in ranked)
    return Finding(
        name=f"rates-by-{unit}",
        tone="result",
        sentence=f"By {unit} ({first}): {words}. Each interval is over the {study.crossed[0]}s of that {unit}.",
        numbers=tuple(number for name, one in ranked for number in numbers_of(one, {name: name})),
        units=len(ranked),
        cluster=unit,
    )


def _in_prompt(study: ImportedStudy) -> list[Finding]:
    if study.in_prompt is None:
        return []
    return [
        Finding(
            name="in-the-prompt",
            tone="caution",
            sentence=f"{_visible(study.in_prompt)[0].upper()}{_visible(study.in_prompt)[1:]}.",
        )
    ]
