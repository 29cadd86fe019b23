"""What is run, step by step: every question of the claim, first on the concepts that choose, then on those that judge.

A step is one question put to one concept; it is the unit in which a study is kept and resumed
(:mod:`~firsthand.auditing.injection.batches` runs several together). What a step needs is known before it is run,
except for the settings that the first phase chooses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import pandas as pd

from firsthand.claims.injection import Question
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import JUDGED, Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.questions import detection, identification, localisation, naming, strength
from firsthand.studies.injection.questions import open as open_question
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.trials import Trial
from firsthand.vocabulary import Timing

Phase = Literal["selection", "trace"]

LATER: Final[Mapping[str, Timing]] = {
    "live": Timing.LIVE,
    "lifted": Timing.LIFTED,
    "delayed": Timing.DELAYED,
}
"""Names of the detection question at other timings."""


@dataclass(frozen=True)
class Pick:
    """A setting that was chosen."""

    cell: Cell
    setting: Setting


Picks = Mapping[str, Pick]
"""By what chose it: ``detection-2``, ``detection-3``, ``localisation``, ``strength``, ``identification``."""


@dataclass(frozen=True)
class Step:
    """One question put to one concept.

    Attributes:
        phase: The trace that keeps it.
        name: The question, e.g. ``detection-3``; in the selection with its framing, ``detection-3-conversation``.
        concept: The concept.
        number: Its number among the concepts of the phase.
    """

    phase: Phase
    name: str
    concept: str
    number: int

    @property
    def unit(self) -> str:
        """Name of the unit in the trace."""
        return f"{self.name}.{self.number:02d}"


def selection_steps(bench: InjectionBench) -> list[Step]:
    """What the choosing concepts are asked."""
    claim, names = bench.claim, []
    asked = set(claim.questions)
    for framing in claim.framings:
        names += [f"detection-{n}-{framing}" for n in claim.options if Question.DETECTION in asked]
        if asked & {Question.CHOICE, Question.CODES, Question.NAMING}:
            names.append(f"identification-{framing}")
    names += [str(q) for q in (Question.LOCALISATION, Question.STRENGTH) if q in asked]
    return [Step("selection", name, c, i) for i, c in enumerate(bench.choosing) for name in names]


def selection_trials(bench: InjectionBench, step: Step) -> list[Trial]:
    """The trials of a step of the selection: clean and target, in every cell."""
    kind, _, rest = step.name.partition("-")
    if kind == "detection":
        options, _, framing = rest.partition("-")
        return detection.choosing_trials(bench, step.concept, bench.cells, Setting(framing, int(options)))
    if kind == "identification":
        return identification.trials(bench, step.concept, bench.coarse, Setting(rest), coded=False)
    made = localisation.trials if kind == "localisation" else strength.trials
    return made(bench, step.concept, bench.coarse)


def trace_steps(bench: InjectionBench) -> list[Step]:
    """What the judging concepts are asked, and what the choosing ones are asked again for a probe."""
    claim, asked = bench.claim, set(bench.claim.questions)
    names = [f"detection-{n}" for n in claim.options if Question.DETECTION in asked]
    if Question.LIFTED in asked and 2 in claim.options:
        names += LATER
    names += [str(q) for q in (Question.LOCALISATION, Question.STRENGTH, Question.CHOICE, Question.CODES) if q in asked]
    names += [str(Question.NAMING)] if Question.NAMING in asked else []
    visible = Question.VISIBLE in asked
    names += ["visible-detection"] if visible and "detection-2" in names else []
    # Naming is held against it, too: the same conversation without a word of injections.
    wanted = Question.NAMING in asked or (visible and Question.CHOICE in asked)
    names += ["visible-identification"] if wanted else []
    names += [str(Question.OPEN)] if Question.OPEN in asked and "detection-2" in names else []
    if Question.CONFIDENCE in asked:
        names += [f"confidence-{name}" for name in CONFIDED if name in names]
    transfer = Question.TRANSFER in asked and "detection-2" in names
    names += [f"transfer-{name}" for name in TRANSFER if _new(bench, name)] if transfer else []
    steps = [Step("trace", name, c, i) for i, c in enumerate(bench.judging) for name in names]
    if transfer:
        steps += [Step("trace", "training", c, i) for i, c in enumerate(bench.choosing)]
    return steps


def source_of(step: Step) -> Step | None:
    """The step whose answers this one goes on from."""
    if not step.name.startswith("confidence-"):
        return None
    return replace(step, name=step.name.removeprefix("confidence-"))


CONFIDED: Final = ("detection-2", "localisation", "strength", "choice")
"""Reports whose confidence is asked for."""

TRANSFER: Final = ("layer-below", "layer-above", "half-dose", "double-dose", "recipe", "labels", "framing", "voice")
"""What is new to a report or probe in the steps ``transfer-...``; see :mod:`firsthand.auditing.injection.transfer`."""


def _new(bench: InjectionBench, name: str) -> bool:
    """Whether the claim's wordings hold something new of a kind."""
    of = [w for w in bench.wordings if len(w.meanings) == 2]
    if name.startswith("layer-"):
        return len(bench.layers) > 1
    if name == "labels":
        return {w.labels for w in of} == {"digits", "letters"}
    if name == "framing":
        return len({w.framing for w in of}) > 1
    return name != "voice" or len({w.cluster for w in of}) > bench.claim.voices


def trace_trials(bench: InjectionBench, step: Step, picks: Picks) -> list[Trial]:
    """The trials of a step of the confirmation that does not go on from another."""
    name, concept = step.name, step.concept
    if name == "training" or name.startswith("transfer-"):
        return transfer_trials(bench, concept, name.removeprefix("transfer-"), picks["detection-2"])
    if name.startswith("detection-"):
        pick = picks[name]
        return detection.trials(bench, concept, _cells(bench, pick, bench.cells), pick.setting, read=pick.cell)
    if name in LATER:
        pick = picks["detection-2"]
        setting = replace(pick.setting, timing=LATER[name])
        return detection.trials(bench, concept, [pick.cell], setting, JUDGED, read=pick.cell)
    if name in (Question.LOCALISATION, Question.STRENGTH):
        pick = picks[name]
        made = localisation.trials if name == Question.LOCALISATION else strength.trials
        return made(bench, concept, _cells(bench, pick, bench.coarse), full=True, read=pick.cell)
    if name == Question.OPEN:
        pick = picks["detection-2"]
        return open_question.trials(bench, concept, [pick.cell], pick.setting)
    if name == "visible-detection":
        pick = picks["detection-2"]
        return naming.visible_trials(bench, concept, [pick.cell], pick.setting)
    pick = picks["identification"]
    if name == "visible-identification":
        return naming.visible_trials(bench, concept, [pick.cell], pick.setting)
    if name == Question.NAMING:
        return naming.trials(bench, concept, [pick.cell], pick.setting)
    cells, coded = _cells(bench, pick, bench.coarse), name == Question.CODES
    return identification.trials(bench, concept, cells, pick.setting, coded=coded, full=True, read=pick.cell)


def transfer_trials(bench: InjectionBench, concept: str, name: str, pick: Pick) -> list[Trial]:
    """The two-answer question with one thing changed, clean and target; ``training`` changes nothing.

    The probe reads the same layer throughout, that of the chosen cell.
    """
    cell, setting, at = pick.cell, pick.setting, bench.layers.index(pick.cell.layer)
    shift = {"layer-below": max(at - 1, 0), "layer-above": min(at + 1, len(bench.layers) - 1)}
    there = Cell(bench.layers[shift.get(name, at)], cell.dose * {"half-dose": 0.5, "double-dose": 2.0}.get(name, 1.0))
    if name == "recipe":
        setting = replace(setting, other_recipe=True)
    if name == "labels":
        setting = replace(setting, labels="letters")
    if name == "framing":
        others: list[str] = [framing for framing in bench.claim.framings if framing != setting.framing]
        setting = replace(setting, framing=[*others, setting.framing][0])
    voices = bench.claim.voices if name == "voice" else 0
    return detection.trials(
        bench, concept, [there], setting, detection.PRIMARY, ask_unrelated=False, read=cell, skip_voices=voices
    )


def confided_trials(bench: InjectionBench, step: Step, picks: Picks) -> list[Trial]:
    """The reports whose confidence a step asks for: those of the target arm, and for detection also without a vector
    and with a direction without content.
    """
    source, concept = step.name.removeprefix("confidence-"), step.concept
    if source == "detection-2":
        pick = picks[source]
        arms = (*detection.PRIMARY, Arm.CONTENT_FREE)
        return detection.trials(bench, concept, [pick.cell], pick.setting, arms, ask_unrelated=False)
    if source == Question.CHOICE:
        pick = picks["identification"]
        made = identification.trials(bench, concept, [pick.cell], pick.setting, coded=False)
    elif source == Question.LOCALISATION:
        made = localisation.trials(bench, concept, [picks[source].cell])
    else:
        made = strength.trials(bench, concept, [picks[source].cell])
    return [trial for trial in made if trial.arm is Arm.TARGET]


def trials_of(bench: InjectionBench, step: Step, picks: Picks) -> list[Trial]:
    """The trials of any step."""
    if step.phase == "selection":
        return selection_trials(bench, step)
    return trace_trials(bench, step, picks) if source_of(step) is None else confided_trials(bench, step, picks)


def _cells(bench: InjectionBench, pick: Pick, every: Sequence[Cell]) -> Sequence[Cell]:
    return every if bench.claim.full_grid else [pick.cell]


def judged_rows(table: pd.DataFrame, cell: Cell | None) -> pd.DataFrame:
    """The rows of a cell, with those in which nothing was added at any; all rows without one."""
    if cell is None or not len(table):
        return table
    here = (table["layer"] == cell.layer) & (table["dose"] == cell.dose)
    return table[here | (table["layer"] < 0)].reset_index(drop=True)


TARGETS: Final = (str(Arm.CLEAN), str(Arm.TARGET))
