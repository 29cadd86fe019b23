"""What the page of a belief study shows: findings with their numbers, and nothing that decides anything."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.analysis.inference import Measured
from firsthand.analysis.means import DIFFERENCE, mean_of
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.auditing.labels.belief import balanced, coverages, natural, observed_columns
from firsthand.auditing.labels.belief_run import Ran
from firsthand.auditing.labels.biofeedback import OBSERVED
from firsthand.claims.labels.belief import CLASSES, BeliefClaim
from firsthand.report.formats import Unit, percent
from firsthand.report.labels_document import Curve, Grid, LabelsFinding, Point, Series
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.reporting import REDRAWN, TARGET, conversation_of, queries_of
from firsthand.studies.labels.belief.steering import ARMS, CLEAN

CHANCE: Final = 1.0 / CLASSES
_SPLITS: Final = ("subject",)
LIMITS: Final = (
    "A dominance is made of what a state leads the same model to write in another prompt. It need not be what the "
    "model believes.",
    "A dominance is a function of the prompt and of the model, so whoever can run the model can compute it: a report "
    "can be ahead of the observers that were asked, not of all that could be.",
    "A report that follows a vector which was added shows that the state moves the report. It does not show that the "
    "model monitors the state, and a vector of a word makes the word likelier wherever it is read.",
    "Labels are made of one half of an answer's states and the wire reads the other, so noise of single readings is in "
    "one of them only. Both are read by the same prompt: what is peculiar to its wording is in both.",
    "Observers of everything public learn from the few records of a study, by a sum and by trees. What takes more "
    "records to learn they do not find, and it is not private for that.",
    "Another language model counts as a reader if the labels hold enough of its probability and its answers vary. "
    "Whether it could learn any labels in such a conversation is not asked. Labels of its own dominances, told to "
    "the judged model, are no control here: they would cost all readings once more.",
)
PUBLISHED: Final = (
    "arXiv 2605.26242, tables 1 and 6 (Llama 3 70B and Gemma 3 27B on 900 records), have the same rows: accuracies of "
    "the report and of both restricted probes, on natural and on balanced tests. Their figures are not repeated here.",
)


def report_finding(bench: Bench, ran: Ran, results: Sequence[CapabilityResult]) -> LabelsFinding:
    """The report against its observers."""
    claim, target = bench.claim, pd.DataFrame()
    if len(ran.reports):
        target = ran.reports[ran.reports["arm"] == TARGET].reset_index(drop=True)
    setting = {
        "records": str(len(bench.facts)),
        "kinds of conflict": ", ".join(kind.name for kind in claim.kinds),
        "shots": _listed(len(made.shots) for made in ran.experiments),
        "experiments": str(len(ran.experiments)),
        "shown": "the prompt" if claim.shows == "prompt" else "the prompt and the answer",
    }
    return LabelsFinding(
        name="report",
        title="Clusters of belief dominance, told in context",
        asked="Which of three labels does the next text have? The labels are clusters of the dominances of the model's "
        "own answers.",
        setting=setting,
        results=tuple(results),
        grids=(_report_grid(ran, target, claim),) if len(target) else (),
        pictures=(_report_picture(ran, target, claim),) if len(target) else (),
        notes=(*_report_notes(bench, ran, target), *(ran.impossible if len(target) else ())),
        prompt=_prompt(bench, ran),
    )


def _report_grid(ran: Ran, target: pd.DataFrame, claim: BeliefClaim) -> Grid:
    redrawn = ran.reports[ran.reports["arm"] == REDRAWN].reset_index(drop=True)
    rows = [
        ("the model's report", _two(target, "answer", claim)),
        ("labels drawn by lot", _two(redrawn, "answer", claim)),
        *((c.removeprefix(OBSERVED), _two(target, c, claim, CHANCE)) for c in observed_columns(target)),
    ]
    return Grid(
        name="report-accuracy",
        title="Right answers, as classes occur and with all classes counting alike",
        columns=("who", "natural", "balanced"),
        rows=tuple(rows),
        note=f"By lot {percent(CHANCE)} of a balanced test are right. Answers that are no label are not right; an "
        "observer that gives none is worth a guess, as in the verdict.",
    )


def _two(
    table: pd.DataFrame, column: str, claim: BeliefClaim, abstained: float = 0.0
) -> tuple[Estimate | None, Estimate | None]:
    values = table[column].to_numpy(dtype=np.float64)
    both = (measure(values, table, claim.analysis.clusters, abstained) for measure in (natural, balanced))
    one, other = (_made(found, claim.analysis.alpha) for found in both)
    return one, other


def _made(found: Measured, alpha: float, reference: float | None = None) -> Estimate | None:
    return None if found.unknown else found.estimate(alpha, reference)


def _report_picture(ran: Ran, target: pd.DataFrame, claim: BeliefClaim) -> Picture:
    grid = _report_grid(ran, target, claim)
    marks = [
        Mark(label=name, estimate=cells[1], emphasis=turn == 0)
        for turn, (name, cells) in enumerate(grid.rows)
        if isinstance(cells[1], Estimate)
    ]
    return Picture(
        title="Right answers, all classes counting alike",
        axis="share of right answers",
        unit="share",
        marks=tuple(marks),
        lines=(Line(label="by lot", value=CHANCE),),
    )


def _report_notes(bench: Bench, ran: Ran, target: pd.DataFrame) -> tuple[str, ...]:
    claim = bench.claim
    notes = [
        "Clusters were fitted on the records that shots come from, and the others assigned to them."
        if claim.clustered == "fit"
        else "Clusters were fitted on all records, those that are asked about among them, as the paper does."
    ]
    if any(len(made.shots) < claim.shots for made in ran.experiments):
        notes.append(
            f"There were not {claim.shots} balanced shots: as many of each class were shown as the rarest has."
        )
    if len(ran.experiments) % CLASSES:
        notes.append(
            f"{len(ran.experiments)} of {claim.experiments} conversations could be made, no multiple of {CLASSES}: a "
            "liking for the name of a label does not cancel over them."
        )
    if len(target):
        counts = np.bincount(target["truth"], minlength=CLASSES)
        invalid = float(target["answer"].isna().mean())
        notes += [
            f"{len(target)} answers about {target['subject'].nunique()} subjects were judged, "
            f"{', '.join(map(str, counts))} of the three classes: the power is small; the published studies had "
            "900 records.",
            f"{percent(invalid)} of the model's answers were none of the three labels; the labels hold "
            f"{percent(float(target['coverage'].mean()))} of the probability.",
            *(
                f"In the same conversations the labels hold {percent(share)} of the probability of {name}; its answer "
                "is the likeliest of them."
                for name, share in coverages(target).items()
            ),
        ]
    return (*notes, *ran.told)


def _prompt(bench: Bench, ran: Ran) -> str | None:
    if not ran.experiments:
        return None
    made = ran.experiments[0]
    talk = conversation_of(bench, ran.table, made, bench.label_names)
    lines = [talk.instruction]
    for shot in talk.shots[:3]:
        lines += ["", shot.text, f"-> {talk.names[shot.label]}"]
    return "\n".join([*lines, "", "[...]", "", queries_of(bench, ran.table, made)[0].text, "->"])


def entities_finding(claim: BeliefClaim, splits: pd.DataFrame, learned: int) -> LabelsFinding:
    """What can be told from the entities, on random halves of the records, as in the paper."""
    rows: list[tuple[str, tuple[Estimate | str | None, ...]]] = []
    for name, group in splits.groupby("observer", sort=False):
        table = group.reset_index(drop=True)
        values = table["answer"].to_numpy(dtype=np.float64)
        whole = (_made(measure(values, table, _SPLITS), claim.analysis.alpha) for measure in (natural, balanced))
        each = [_over_splits(table, kind) for kind in ("natural", "balanced")]
        rows.append((str(name), (*whole, *each)))
    grid = Grid(
        name="entities-accuracy",
        title="Right answers of observers on halves of the records",
        columns=("observer", "natural", "balanced", "natural, SD over splits", "balanced, SD over splits"),
        rows=tuple(rows),
        note=f"{splits['split'].nunique()} random splits by subject; observers learn from one half, with classes "
        "balanced by oversampling, and are tested on the other.",
    )
    return LabelsFinding(
        name="entities",
        title="What the entities tell",
        asked="Which cluster does the model's answer belong to, for someone who sees no state of the model?",
        setting={"splits": str(splits["split"].nunique()), "answers": str(learned)},
        grids=(grid,) if rows else (),
        notes=() if rows else ("On no split could three clusters be made.",),
    )


def _over_splits(table: pd.DataFrame, kind: str) -> str:
    right = table.assign(right=(table["answer"] == table["truth"]).astype(float))
    if kind == "natural":
        each = right.groupby("split")["right"].mean()
    else:
        each = right.groupby(["split", "truth"])["right"].mean().groupby("split").mean()
    return percent(float(each.std(ddof=1))) if len(each) > 1 else "one split"


def dominance_finding(bench: Bench, ran: Ran) -> LabelsFinding:
    """The dominances themselves: by kind of conflict and by layer, and the clusters."""
    alpha, table = bench.claim.analysis.alpha, ran.table
    marks = []
    for kind in dict.fromkeys(table["kind"]):
        some = table[(table["kind"] == kind) & (table["states"] > 0)].reset_index(drop=True)
        for entity in ("base", "counter") if len(some) else ():
            found = mean_of(some[f"bd_{entity}"].to_numpy(dtype=np.float64), some, _SPLITS).estimate(alpha)
            marks.append(Mark(label=f"{kind}: {entity} entity", estimate=found, emphasis=entity == "counter"))
    picture = Picture(title="Dominance by kind of conflict", axis="share of states", unit="share", marks=tuple(marks))
    states = ran.readings[ran.readings["token"] >= 0].reset_index(drop=True)
    series = []
    for entity in ("base", "counter"):
        points = []
        for layer in sorted(set(states["layer"])):
            some = states[states["layer"] == layer].reset_index(drop=True)
            held = mean_of(some[f"holds_{entity}"].to_numpy(dtype=np.float64), some, _SPLITS)
            points.append(Point(x=float(layer), estimate=held.estimate(alpha)))
        series.append(Series(name=f"{entity} entity", points=tuple(points), emphasis=entity == "counter"))
    curve = Curve(
        name="dominance-by-layer",
        title="Share of states that hold each entity, by layer",
        x="layer",
        y="share of states",
        series=tuple(series),
    )
    screened = bench.screened
    silent = int((table["states"] == 0).sum())
    return LabelsFinding(
        name="dominance",
        title="What the states of an answer hold",
        asked=f"{bench.claim.reading_question} {bench.claim.reading_stem}",
        setting={
            "layers": ", ".join(map(str, bench.layers)),
            "states": f"{len(states):,}",
            "tokens of a reading": str(bench.claim.reading_tokens),
            "readings of a state": str(bench.claim.reading_samples),
        },
        pictures=(picture,) if marks else (),
        curves=(curve,) if len(states) else (),
        grids=(_cluster_grid(ran),) if ran.experiments else (),
        notes=(
            f"Of {screened.looked_at} facts that were screened, the model finds the true entity likelier than the "
            f"counter entity in {screened.known}; {len(bench.facts)} "
            + ("of those are used." if bench.claim.known else "facts are used, known or not."),
            *((f"{silent} answers had no token, and have no dominance.",) if silent else ()),
        ),
    )


def _cluster_grid(ran: Ran) -> Grid:
    rows: list[tuple[str, tuple[Estimate | str | None, ...]]] = []
    for made in ran.experiments:
        counts = np.bincount(made.fit_labels, minlength=CLASSES)
        asked = np.bincount(made.truth, minlength=CLASSES)
        cells = [
            f"({percent(base)}, {percent(counter)}): {counts[one]} for shots, {asked[one]} asked"
            for one, (base, counter) in enumerate(made.clusters.centres_K2)
        ]
        rows.append((f"experiment {made.number}", tuple(cells)))
    return Grid(
        name="clusters",
        title="Centres of the clusters (dominance of base and counter entity), and how many answers are in them",
        columns=("experiment", *(f"class {one}" for one in range(CLASSES))),
        rows=tuple(rows),
    )


def steering_finding(bench: Bench, ran: Ran) -> LabelsFinding | None:
    """What moves with a vector of the counter entity; ``None`` if none was added."""
    if ran.steered.empty:
        return None
    table, alpha = ran.steered, bench.claim.analysis.alpha
    clean = table[table["arm"] == CLEAN].set_index("item")
    what = {
        "bd_counter": "dominance, counter",
        "bd_base": "dominance, base",
        "told_counter": "told, counter",
        "told_base": "told, base",
    }
    rows: list[tuple[str, tuple[Estimate | str | None, ...]]] = []
    for layer, dose in dict.fromkeys(zip(table["layer"], table["dose"], strict=True)):
        for arm in ARMS if layer >= 0 else ():
            some = table[(table["arm"] == arm) & (table["layer"] == layer) & (table["dose"] == dose)]
            some = some.reset_index(drop=True)
            cells = []
            for column in what:
                change = some[column].to_numpy(float) - clean.loc[some["item"], column].to_numpy(float)
                cells.append(_made(mean_of(change, some, _SPLITS, DIFFERENCE), alpha, 0.0))
            rows.append((f"{arm}, layer {layer}, dose {dose:g}", tuple(cells)))
    grid = Grid(
        name="steering-change",
        title="Change against the same records with nothing added",
        columns=("added", *what.values()),
        rows=tuple(rows),
        unit=Unit.POINTS,
        note="'Told': the centres of the clusters, weighted by the probabilities that the report gives their labels.",
    )
    coverage = float(table["coverage"].mean())
    return LabelsFinding(
        name="steering",
        title="A vector of the counter entity, added",
        asked="Which label does the text have, with the vector added at the text; and what does the answer hold, with "
        "the vector added at the answer?",
        setting={"records": str(table["item"].nunique()), "dose": "in mean norms of the residuals at the layer"},
        grids=(grid,),
        notes=(
            LIMITS[2],
            "A direction of the same length without content, and the vector of another record's entity, show how much "
            "of a change any disturbance, or any word, makes.",
            f"In these conversations the labels hold {percent(coverage)} of the probability.",
        ),
    )


def _listed(values: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(set(values)))) or "none"
