"""Chance: what a responder that ignores the state scores on these truths, with these answers."""

import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked, Signal
from firsthand.analysis.findings import Finding
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.analysis.inference import Measured
from firsthand.analysis.means import bare, mean_of, number, pct, points_text, share_text, units_of, units_text
from firsthand.analysis.options import Chance, balanced_excess, chance_of, excess_over_ignoring
from firsthand.vocabulary import Capability


def check_chance(study: ImportedStudy) -> Checked:
    """Compare accuracy with what the same answers would score without the state."""
    if not study.has("truth", "correct") or study.main_arm is not None or study.control or study.pair:
        return NOTHING
    if study.capability is Capability.DETECTION:
        return NOTHING  # judged by rates on target and controls, since all target rows have one truth
    rows = study.judged.dropna(subset=["truth"])
    if rows.empty:
        return NOTHING
    if rows["truth"].nunique() < 2:
        only = str(rows["truth"].iloc[0])
        return Checked(missing=(f"the right answer is always {only!r}, so accuracy says nothing",))
    answered = study.has("answer")
    given = [None if pd.isna(value) else str(value) for value in rows["answer"]] if answered else None
    chance = chance_of(rows["truth"].astype(str).to_list(), given)
    accuracy = mean_of(rows["correct"].to_numpy(dtype=float), rows, study.clusters)
    if answered:
        excess = excess_over_ignoring(rows, study.clusters)
        signal = Signal("accuracy beyond the same answers dealt without the state", excess)
    else:
        excess = balanced_excess(rows, study.clusters)
        signal = Signal("accuracy balanced over the true answers, beyond a constant answer", excess)
    return Checked((_finding(study, chance, accuracy, signal),), signal)


def _finding(study: ImportedStudy, chance: Chance, accuracy: Measured, signal: Signal) -> Finding:
    options = study.options or tuple(chance.truths)
    truths = ", ".join(f"{name} {pct(share)}" for name, share in chance.truths.items())
    numbers = [bare("accuracy of the best constant answer", chance.best_constant)]
    menu = 1.0 / len(options)
    if len(chance.truths) < len(options):
        sentence = (
            f"Only {len(chance.truths)} of the {len(options)} possible answers occur as truth ({truths}), so chance is "
            f"not {pct(menu)}: "
        )
    elif abs(chance.best_constant - menu) > 0.005:
        sentence = f"The {len(options)} answers are not equally often true ({truths}), so chance is not {pct(menu)}: "
    else:
        sentence = f"All {len(options)} answers are equally often true ({truths}): "
    shares = list(chance.truths.values())
    best = repr(next(iter(chance.truths)))
    if len(shares) > 1 and shares[0] - shares[-1] < 1e-9:
        best = "any one of them"
    sentence += f"always answering {best} would be right in {pct(chance.best_constant)}"
    if study.chance is not None:
        sentence += f" (the file says chance is {pct(study.chance)})"
        numbers.append(bare("chance as stated in the file", study.chance))
    if chance.ignoring is not None:
        dealt = ", ".join(f"{name} {pct(share)}" for name, share in chance.answers.items())
        none = 1.0 - sum(chance.answers.values())
        sentence += (
            f"; the answers as they are distributed ({dealt}, none of them {pct(none)}), dealt without regard to the "
            f"state, would be right in {pct(chance.ignoring)}"
        )
        numbers += [bare("accuracy of the same answers without the state", chance.ignoring), bare("no answer", none)]
    excess = signal.found
    sentence += f". Observed is {share_text(accuracy)}: {signal.name}, {points_text(excess)} ({units_text(excess)})."
    numbers += [number("accuracy", accuracy), number(signal.name, excess, "points", 0.0)]
    units, cluster = units_of(excess)
    return Finding(
        name="chance", tone="caution", sentence=sentence, numbers=tuple(numbers), units=units, cluster=cluster
    )
