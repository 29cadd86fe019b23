"""How often a null is called privileged: a stored run's hidden assignment is drawn again and everything is rejudged.

For each null the sealed side of every block (kind, pre-state and post-state together) is permuted over its trials,
while public evidence, reports and readings stay. What the reports say is then unrelated to the new assignment, so a
verdict of `privileged` may occur with probability alpha at most. Judged are the model's own report and the wire's (a
report of a state that is no longer the one asked for).

Run: ``python benchmarks/null_rate.py [RUN_FOLDER] [--nulls 200]``; the folder is ``runs/audit`` if none is given.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from firsthand.analysis import ObserverPrediction
from firsthand.auditing.evidence import Evidence, load_evidence, public_views, sensors, truth_of
from firsthand.auditing.judgement import OUTPUT_MARK, judge_capability
from firsthand.auditing.known_answers import report_table
from firsthand.claims import Claim, read_frozen
from firsthand.observers import make_observer, observe_all
from firsthand.organisms import Wire
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Capability, Condition, Verdict

ASKED = (Capability.IDENTIFICATION, Capability.DETECTION)
SEALED = ["kind", "pre_state", "post_state", "changed"]


def permuted(evidence: Evidence, rng: np.random.Generator) -> Evidence:
    """The same trace under another hidden assignment, balanced within blocks as before."""
    sealed, blocks = evidence.sealed.copy(), np.array(evidence.blocks)
    for block in dict.fromkeys(evidence.blocks):
        rows = np.flatnonzero(blocks == block)
        sealed.loc[rows, SEALED] = sealed.loc[rng.permutation(rows), SEALED].to_numpy()
    return replace(evidence, sealed=sealed)


def verdicts(evidence: Evidence, claim: Claim, wire: Evidence) -> dict[tuple[str, Capability], Verdict]:
    """Verdicts on the model's report and on the wire's under this assignment."""
    found = {}
    for capability in ASKED:
        truth = truth_of(evidence, capability)
        guesses = {
            name + (OUTPUT_MARK if shown else ""): ObserverPrediction(
                shown,
                observe_all(
                    make_observer(name, {}),
                    capability,
                    public_views(evidence, capability, shown),
                    truth,
                    evidence.blocks,
                ),
            )
            for name in ("table", "text_classifier")
            for shown in (False, True)
        }
        for reporter, reports in (("model", evidence.reports), ("wire", wire.reports)):
            judged = evidence.with_reports(reports)
            result = judge_capability(judged, claim, capability, Condition.Y_SHOWN, guesses, {})
            found[reporter, capability] = result.verdict
    return found


def main() -> None:
    """Judge the nulls and print the rate of `privileged` for each report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, nargs="?", default=Path("runs/audit"))
    parser.add_argument("--nulls", type=int, default=200)
    options = parser.parse_args()
    if not (options.run / "trace" / "manifest.json").exists():
        print(f"{options.run} holds no finished run; make one with: firsthand audit --out {options.run}")
        return
    claim = read_frozen(options.run / "claim.frozen.json").claim
    evidence = load_evidence(Trace(options.run / "trace"))
    organism = Wire()
    wire = evidence.with_reports({c: report_table(evidence, organism.report(c, sensors(evidence))) for c in ASKED})
    rng, begun, every = np.random.default_rng(0), time.perf_counter(), []
    for number in range(options.nulls):
        every.append(verdicts(permuted(evidence, rng), claim, wire))
        if (number + 1) % 20 == 0:
            print(f"{number + 1} of {options.nulls}, {time.perf_counter() - begun:.0f} s", flush=True)
    alpha = claim.analysis.alpha
    allowed = alpha + 2 * np.sqrt(alpha * (1 - alpha) / options.nulls)
    print(f"rate of 'privileged' over {options.nulls} nulls (alpha {alpha:g}; with two standard errors {allowed:.3f}):")
    for key in every[0]:
        rate = np.mean([found[key] is Verdict.PRIVILEGED for found in every])
        print(f"  {key[0]:6s} {key[1]:15s} {rate:.3f}")


if __name__ == "__main__":
    main()
