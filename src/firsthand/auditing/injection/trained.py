"""The trained detector: a LoRA adapter on the same base model that learned to tell that a thought was injected.

It is the strongest known answer: a real model with a real readout. It is judged on concepts that it was not trained on,
in its own short wording, layer and dose, by the path that judges the model; and run only where the model is its base.
"""

from pathlib import Path

import pandas as pd

from firsthand.auditing.injection.batches import run_batch
from firsthand.auditing.injection.detecting import judge_detection
from firsthand.auditing.injection.plan import Pick, Step
from firsthand.auditing.injection.probing import probed
from firsthand.auditing.shipped import ShippedAdapter
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.injection import InjectionClaim, Question
from firsthand.engine import LoadedModel, load_adapter
from firsthand.progress import Progress
from firsthand.report.document import KnownAnswer
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import prepare
from firsthand.studies.injection.concepts import CONCEPTS
from firsthand.studies.injection.files import read_wordings
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.trials import COLUMNS
from firsthand.trials.keeping import kept
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Capability, Condition, Verdict


class TrainedDetector(ShippedAdapter):
    """An adapter and the claim that it is judged on."""

    def claim(self, spec: AnalysisSpec) -> InjectionClaim:
        """A claim in the adapter's own wording, layer and dose, on concepts that it never saw."""
        wordings = read_wordings(self.folder / "wordings.yaml")
        return InjectionClaim(
            title="The trained detector tells injections of concepts that it never saw.",
            model=str(self.card["base"]),
            concepts=CONCEPTS,
            layers=(int(self.card["layer"]),),
            doses=(float(self.card["dose"]),),
            options=(2,),
            framings=("instruction",),
            wordings=tuple(wording.model_dump(mode="json", exclude_none=True) for wording in wordings),
            questions=(Question.DETECTION,),
            analysis=spec,
        )


def shipped_detector() -> TrainedDetector | None:
    """The adapter that comes with the package; ``None`` in a checkout where it has not been trained."""
    return TrainedDetector.named("smollm2-detector")


def judge_trained(
    detector: TrainedDetector, loaded: LoadedModel, spec: AnalysisSpec, folder: Path, progress: Progress
) -> KnownAnswer:
    """Run and judge the trained detector; it must be ``privileged`` for detection.

    Args:
        detector: The adapter.
        loaded: Its base model, which is left as it was.
        spec: The rules.
        folder: Where its trace is kept.
        progress: Who is told.
    """
    adapted = load_adapter(loaded, detector.folder)
    try:
        bench = prepare(adapted, detector.claim(spec))
        picks = {"detection-2": Pick(Cell(bench.layers[0], bench.claim.doses[0]), Setting())}
        steps = [Step("trace", "detection-2", concept, i) for i, concept in enumerate(bench.judging)]
        trace = Trace(folder)
        progress.say("asking the trained detector")
        units = [step.unit for step in steps]
        frames = kept(trace, units, lambda: run_batch(bench, steps, picks), COLUMNS)
    finally:
        adapted.unload()
    trace.finish(units, {"study": "injection", "reporter": "smollm2-detector"})
    result = judge_detection(probed(pd.concat(frames, ignore_index=True), "detection-2"), spec).result
    return KnownAnswer(
        reporter="LoRA detector",
        description="A small adapter on this model, trained on other concepts to tell injections. Asked: detection-2.",
        capability=Capability.DETECTION,
        condition=Condition.Y_WITHHELD,
        expected=Verdict.PRIVILEGED,
        obtained=result.verdict,
        passed=result.verdict is Verdict.PRIVILEGED,
        reasons=result.reasons,
        result=result,
    )
