"""The trained reporter: a LoRA adapter on the same base model, judged on its own trials with held-out texts and codes.

It is the strongest known answer: a real model that learned to report the register. It is run only where the audited
model is the one that the adapter was trained on.
"""

from pathlib import Path

from firsthand.auditing.evidence import load_evidence, report_probe, site_reading
from firsthand.auditing.judgement import Panel, ask_observers, judge_capability
from firsthand.auditing.shipped import ShippedAdapter
from firsthand.claims.claim import Claim
from firsthand.engine import LoadedModel, load_adapter
from firsthand.progress import Progress
from firsthand.report.document import KnownAnswer
from firsthand.studies.register import run_confirmation
from firsthand.studies.register_bench import prepare
from firsthand.vocabulary import Capability, Condition, Verdict

BLOCKS = 8


class TrainedReporter(ShippedAdapter):
    """An adapter and the claim that it is judged on."""

    def claim(self, claim: Claim) -> Claim:
        """The audit's claim, at the layer, dose and direction of the adapter, asking for the state only."""
        state = claim.state.model_copy(
            update={
                "layers": (int(self.card["layer"]),),
                "doses": (float(self.card["dose"]),),
                "direction_seed": int(self.card["direction_seed"]),
            }
        )
        design = claim.design.model_copy(update={"confirmation_blocks": BLOCKS})
        return claim.model_copy(
            update={
                "title": "The trained reporter names the state in codes and texts that it never saw.",
                "state": state,
                "design": design,
                "capabilities": (Capability.IDENTIFICATION, Capability.DETECTION),
                "conditions": (Condition.Y_SHOWN,),
            }
        )


def shipped_reporter() -> TrainedReporter | None:
    """The adapter that comes with the package; ``None`` in a checkout where it has not been trained."""
    return TrainedReporter.named("smollm2-register")


def judge_trained(
    reporter: TrainedReporter, loaded: LoadedModel, claim: Claim, panel: Panel, folder: Path, progress: Progress
) -> KnownAnswer:
    """Run and judge the trained reporter; it must be ``privileged`` for identification.

    Args:
        reporter: The adapter.
        loaded: Its base model, which is left as it was.
        claim: The audit's claim.
        panel: The audit's observers; those that are models read with the *base* model.
        folder: Where its trace is kept.
        progress: Who is told.
    """
    own = reporter.claim(claim)
    adapted = load_adapter(loaded, reporter.folder)
    try:
        bench = prepare(adapted, own)
        trace = run_confirmation(bench, bench.cells()[0], folder, progress, "known answers: trained reporter")
    finally:
        adapted.unload()
    evidence = load_evidence(trace)
    asked = (Capability.IDENTIFICATION,)
    predictions = ask_observers(evidence, panel, asked, folder / "observations", progress, "observers of the reporter")
    readings = {
        **site_reading(evidence, Capability.IDENTIFICATION),
        **report_probe(evidence, Capability.IDENTIFICATION),
    }
    result = judge_capability(
        evidence,
        own,
        Capability.IDENTIFICATION,
        Condition.Y_SHOWN,
        predictions[Capability.IDENTIFICATION],
        readings,
    )
    return KnownAnswer(
        reporter="LoRA reporter",
        description="A small adapter on this model, trained to report the register; judged on unseen texts and codes.",
        capability=Capability.IDENTIFICATION,
        condition=Condition.Y_SHOWN,
        expected=Verdict.PRIVILEGED,
        obtained=result.verdict,
        passed=result.verdict is Verdict.PRIVILEGED,
        reasons=result.reasons,
        result=result,
    )
