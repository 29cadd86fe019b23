"""Every question of a study, judged and with what a reader is shown of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.affirmation import Affirmation
from firsthand.analysis.means import mean_of
from firsthand.auditing.injection import showing
from firsthand.auditing.injection.choosing import CHOICES, Likelihoods, judge_choices, wire
from firsthand.auditing.injection.confiding import judge_confidence
from firsthand.auditing.injection.detecting import Detected, judge_detection
from firsthand.auditing.injection.naming import judge_naming
from firsthand.auditing.injection.plan import CONFIDED, LATER, Pick, Picks
from firsthand.auditing.injection.selecting import grid
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.injection import InjectionClaim, Question
from firsthand.progress import Progress
from firsthand.report.formats import Unit, estimate_text, units_text
from firsthand.report.injection_document import FindingResult, Selection
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.drafts import Task
from firsthand.studies.injection.questions.naming import TOP
from firsthand.vocabulary import Condition

ASKED: Final[Mapping[str, tuple[str, str]]] = {
    "detection-2": ("Detection, two answers", "Was a thought injected, or was nothing changed?"),
    "detection-3": (
        "Detection, three answers",
        "Was a thought injected, was the prompt manipulated, or was nothing changed?",
    ),
    "live": ("Detection, the injection going on", "As with two answers; the vector is added up to the answer."),
    "lifted": ("Detection, the injection over", "The vector is added in one turn; the question comes in the next."),
    "delayed": ("Detection, some turns later", "As before, with neutral turns between injection and question."),
    "open": ("Detection, in free text", "Do you notice an injected thought? Answered in sampled text."),
    "localisation": ("Localisation", "During which of these sentences was a thought injected?"),
    "strength": ("Strength", "Which of two copies of a sentence carried the stronger injection?"),
    "choice": ("Identification, from a list", "Which of these concepts was injected?"),
    "codes": ("Identification, by codes", "Which concept was injected? To be answered with its opaque code."),
    "naming": ("Naming", "Which word is the injected thought, in the model's own words?"),
    "reconstruction": ("Reconstruction", "How likely is the injected concept as the next word, among all concepts?"),
}
"""Title and question of each finding; confidence is asked about four of them."""


@dataclass(frozen=True, eq=False)
class Study:
    """What findings are made from.

    Attributes:
        claim: The claim.
        chosen: How settings were chosen.
        picks: Which.
        tables: Confirmation trials by step, in the chosen cell.
    """

    claim: InjectionClaim
    chosen: Mapping[str, Selection]
    picks: Picks
    tables: Mapping[str, pd.DataFrame]


def findings_of(study: Study, progress: Progress) -> tuple[FindingResult, ...]:
    """Judge every question that was asked."""
    makers: list[tuple[str, Callable[[], tuple[FindingResult, ...]]]] = [
        ("detection", lambda: _detections(study)),
        ("open", lambda: _open(study)),
        *((name, lambda name=name: (_choice(study, name),)) for name in CHOICES if name in study.tables),
        ("naming", lambda: _namings(study)),
        ("confidence", lambda: _confidences(study)),
    ]
    found: list[FindingResult] = []
    progress.start("judging", len(makers))
    for _, make in makers:
        found += make()
        progress.step()
    return tuple(found)


def _detections(study: Study) -> tuple[FindingResult, ...]:
    spec, found = study.claim.analysis, []
    rises: dict[str, Affirmation] = {}
    for name in ("detection-2", "detection-3", *LATER):
        if name not in study.tables:
            continue
        table = study.tables[name]
        judged = [judge_detection(table, spec)]
        visible = study.tables.get("visible-detection") if name == "detection-2" else None
        if visible is not None:
            judged.append(judge_detection(table, spec, Condition.Y_SHOWN, visible))
        if judged[0].rises is not None:
            rises[name] = judged[0].rises
        found.append(_detection(study, name, table, judged))
    if len(rises) > 1 and found:
        picture = showing.by_timing({_timing(name): r for name, r in rises.items()}, spec)
        found[0] = found[0].model_copy(update={"pictures": (*found[0].pictures, picture)})
    return tuple(found)


def _detection(study: Study, name: str, table: pd.DataFrame, judged: list[Detected]) -> FindingResult:
    spec, pick = study.claim.analysis, study.picks.get(name, study.picks["detection-2"])
    asked = table[table["task"] == str(Task.DETECTION)].reset_index(drop=True)
    rises = judged[0].rises
    selection = study.chosen.get(name)
    if selection is not None:
        confirmed = grid(table, selection.chosen_setting, "detection", spec).rows[0].rise
        selection = selection.model_copy(update={"confirmed": confirmed})
    title, words = ASKED[name]
    notes = []
    if rises is not None:
        asked_rise, beside = (r.estimate(spec.alpha) for r in (rises.asked, rises.unrelated))
        notes.append(
            f"The injection raises 'injected' by {asked_rise.value:.3f} [{asked_rise.low:.3f}, {asked_rise.high:.3f}] "
            f"and 'yes' to an unrelated question, whose answer is no, by {beside.value:.3f} [{beside.low:.3f}, "
            f"{beside.high:.3f}] ({beside.units} concepts)."
        )
    return FindingResult(
        name=name,
        title=title,
        asked=words,
        setting=_setting(pick, LATER.get(name, pick.setting.timing)),
        results=tuple(one.result for one in judged),
        selection=selection,
        matrices=showing.detection_matrices(table, spec),
        pictures=(showing.by_concept(asked, ["injected"], "Says 'injected' by concept", spec),),
        notes=tuple(notes),
        prompt=_prompt(asked),
    )


def _open(study: Study) -> tuple[FindingResult, ...]:
    """Free text, with the unrelated question of the two-answer detection, which was put in the same cell, beside it."""
    if "open" not in study.tables:
        return ()
    spec, table, beside = study.claim.analysis, study.tables["open"], study.tables["detection-2"]
    unrelated = beside[beside["task"] == str(Task.UNRELATED)]
    judged = judge_detection(pd.concat([table, unrelated], ignore_index=True), spec)
    invalid = _share(table["answer"].isna(), table, spec)
    named = _share(table["named"].where(table["arm"] == str(Arm.TARGET)), table, spec)
    title, words = ASKED["open"]
    return (
        FindingResult(
            name="open",
            title=title,
            asked=words,
            setting=_setting(study.picks["detection-2"], "prefill") | {"judge": study.claim.judge},
            results=(judged.result,),
            matrices=showing.detection_matrices(table, spec),
            notes=(
                f"{study.claim.samples} sampled answers a trial; neither yes nor no to the judge, which is invalid: "
                f"{invalid}. The concept is named in target answers in which a name could be heard: {named}.",
            ),
            prompt=_prompt(table),
        ),
    )


def _timing(name: str) -> str:
    return {"detection-2": "prefill", "detection-3": "prefill, three answers"}.get(name, name)


def _choice(study: Study, name: str) -> FindingResult:
    spec, table, kind = study.claim.analysis, study.tables[name], CHOICES[name]
    picked = name if name in study.picks else "identification"
    results = [judge_choices(table, name, spec)]
    shown = name == "choice" and Question.VISIBLE in study.claim.questions
    visible = study.tables.get("visible-identification") if shown else None
    if visible is not None:
        results.append(judge_choices(table, name, spec, Condition.Y_SHOWN, visible, _likelihoods(visible)))
    options = len(table["order"].iloc[0].split("|"))
    asked = table[table["task"] == str(kind.task)].reset_index(drop=True)
    selection = study.chosen[picked] if name != "codes" else None
    if selection is not None:
        rise = grid(asked, selection.chosen_setting, picked, spec).rows[0].rise
        selection = selection.model_copy(update={"confirmed": rise})
    title, words = ASKED[name]
    return FindingResult(
        name=name,
        title=title,
        asked=words,
        setting=_setting(study.picks[picked], study.picks[picked].setting.timing),
        results=tuple(results),
        selection=selection,
        matrices=(showing.relative_matrix(table, kind.task, "the right one", "another", spec),),
        pictures=(
            showing.by_arm(table, 1.0 / options, spec),
            showing.by_concept(asked, None, "Right answers by concept", spec),
        ),
        notes=_content_notes(name),
        prompt=_prompt(asked),
    )


def _content_notes(name: str) -> tuple[str, ...]:
    if name not in ("localisation", "strength"):
        return ()
    return (
        "A direction without content and the vector's shuffled numbers are shown beside the arms and not held against "
        "the report: a place and a strength may be told by one that knows nothing of content.",
    )


def _likelihoods(visible: pd.DataFrame) -> Likelihoods:
    rows = visible[visible["arm"] == str(Arm.TARGET)]
    pairs = zip(rows["concept"], rows["order"], rows["logprobs"], strict=True)
    return {concept: dict(zip(order.split("|"), values, strict=True)) for concept, order, values in pairs}


def _namings(study: Study) -> tuple[FindingResult, ...]:
    if "naming" not in study.tables:
        return ()
    table = pd.concat([study.tables["naming"], study.tables["visible-identification"]], ignore_index=True)
    spec, pick = study.claim.analysis, study.picks["identification"]
    wired = _wired(study)
    found = []
    for name, column in (("naming", "named"), ("reconstruction", "percentile")):
        title, words = ASKED[name]
        chance = 0.5 if column == "percentile" else 1.0 / table["concept"].nunique()
        axis = "share of answers that name it" if column == "named" else "share of concepts that it is likelier than"
        found.append(
            FindingResult(
                name=name,
                title=title,
                asked=words,
                setting=_setting(pick, pick.setting.timing),
                results=(judge_naming(table, column, wired, spec),),
                pictures=(showing.naming_picture(table, column, chance, f"{title} by arm", axis, spec),),
                notes=_recall(table, spec) if name == "reconstruction" else (),
                prompt=_prompt(table[table["task"] == str(Task.NAMING)]),
            )
        )
    return tuple(found)


def _wired(study: Study) -> pd.Series:
    """For each concept, how often a wire at the site tells it from others of its list."""
    for name in ("choice", "codes"):
        if name in study.tables:
            table = study.tables[name]
            target = table[(table["task"] == str(CHOICES[name].task)) & (table["arm"] == str(Arm.TARGET))]
            place = [order.split("|").index(t) for order, t in zip(target["order"], target["truth"], strict=True)]
            return pd.Series(wire(target) == place, index=target["concept"]).groupby(level=0).mean()
    return pd.Series(dtype=float)


def _recall(table: pd.DataFrame, spec: AnalysisSpec) -> tuple[str, ...]:
    """Among the likeliest tokens of all, with the injection and without."""
    asked = table[table["task"] == str(Task.NAMING)]
    notes = []
    for top in TOP:
        within = asked["rank"] <= top
        now, then = (_share(within.where(asked["arm"] == str(arm)), asked, spec) for arm in (Arm.TARGET, Arm.CLEAN))
        notes.append(f"The concept's token is among the first {top} of all: {now}; without the injection {then}.")
    return tuple(notes)


def _share(values: pd.Series, table: pd.DataFrame, spec: AnalysisSpec) -> str:
    """A share with its interval and units; missing values are left out."""
    found = mean_of(values.to_numpy(dtype=np.float64, na_value=np.nan), table, spec.clusters).estimate(spec.alpha)
    return f"{estimate_text(found, Unit.PERCENT)} ({units_text(found)})"


def _confidences(study: Study) -> tuple[FindingResult, ...]:
    spec, found = study.claim.analysis, []
    for source in CONFIDED:
        stated = study.tables.get(f"confidence-{source}")
        if stated is None or not len(stated):
            continue
        pick = study.picks.get(source, study.picks.get("identification"))
        found.append(
            FindingResult(
                name=f"confidence-{source}",
                title=f"Confidence in {ASKED[source][0].lower()}",
                asked="How likely is this answer to be right?",
                setting={} if pick is None else _setting(pick, pick.setting.timing),
                results=(judge_confidence(stated, study.tables[source], spec),),
                prompt=_prompt(stated),
            )
        )
    return tuple(found)


def _setting(pick: Pick, timing: object) -> dict[str, str]:
    return {
        "layer": str(pick.cell.layer),
        "dose": f"{pick.cell.dose:g} residual norms",
        "framing": pick.setting.framing,
        "timing": str(timing),
    }


def _prompt(table: pd.DataFrame) -> str | None:
    rows = table[table["arm"] == str(Arm.TARGET)]
    return str(rows["text"].iloc[0]) if len(rows) else None
