"""From a stored trace to what analysis reads: views for observers, scored tables for judgement.

This is the joint between the sealed and the public side. Observers receive the views that :func:`public_views` makes
and nothing else; the truth meets their guesses only in the scored table.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis import Reading
from firsthand.errors import TraceError
from firsthand.organisms import Sensors
from firsthand.states.probe import cross_fitted_reading
from firsthand.trials.canonical import digest
from firsthand.trials.public import PublicView
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Capability


@dataclass(frozen=True)
class Evidence:
    """A trace in memory, all tables aligned by trial.

    Attributes:
        public: Trial ids, clusters and views.
        sealed: Kinds, states and impact.
        readings: Site readings and residuals at the report positions.
        reports: The reporter's answers by capability.
    """

    public: pd.DataFrame
    sealed: pd.DataFrame
    readings: pd.DataFrame
    reports: Mapping[Capability, pd.DataFrame]

    @cached_property
    def views(self) -> list[PublicView]:
        """Public views of all trials."""
        return list(self.public["parsed"])

    @cached_property
    def blocks(self) -> list[str]:
        """Block of each trial."""
        return [str(block) for block in self.public["block"]]

    def with_reports(self, reports: Mapping[Capability, pd.DataFrame]) -> "Evidence":
        """The same trials with another reporter's answers."""
        return replace(self, reports=reports)


def load_evidence(trace: Trace) -> Evidence:
    """Read a finished trace, checking that its parts speak of the same trials.

    Raises:
        TraceError: If the trace is truncated, altered or inconsistent.
    """
    trace.manifest()

    public, sealed, readings, reports = (trace.read(part) for part in ("public", "sealed", "readings", "reports"))
    for name, table in (("sealed", sealed), ("readings", readings)):
        if list(table["trial_id"]) != list(public["trial_id"]):
            raise TraceError(
                f"The {name} part of {trace.folder} speaks of other trials.", "Run it again in a new folder."
            )
    public = public.assign(
        parsed=pd.Series([PublicView.from_json(json.loads(text)) for text in public["view"]], dtype=object)
    )
    by_capability = {}
    for capability in dict.fromkeys(str(c) for c in reports["capability"]):
        rows = reports[reports["capability"] == capability]
        aligned = rows.set_index("trial_id").reindex(public["trial_id"])
        if len(rows) != len(public) or aligned["coverage"].isna().any():
            raise TraceError(
                f"Reports on {capability} in {trace.folder} are incomplete.", "Run it again in a new folder."
            )
        by_capability[Capability(capability)] = aligned.reset_index()
    return Evidence(public, sealed, readings, by_capability)


def rows_of(evidence: Evidence, capability: Capability) -> NDArray[np.int64]:
    """Rows that a capability can be judged on: all, but for confidence those whose identification answer was valid."""
    if capability is not Capability.CONFIDENCE:
        return np.arange(len(evidence.public))
    valid = evidence.reports[Capability.IDENTIFICATION]["answer"].notna().to_numpy(dtype=bool)
    return np.flatnonzero(valid).astype(np.int64)


def truth_of(evidence: Evidence, capability: Capability) -> NDArray[np.int64]:
    """What would be right, one a trial: the post-state, whether it was changed, whether the state report was right."""
    if capability is Capability.IDENTIFICATION:
        return evidence.sealed["post_state"].to_numpy(dtype=np.int64)
    if capability is Capability.DETECTION:
        return evidence.sealed["changed"].to_numpy(dtype=np.int64)
    answer = np.asarray(evidence.reports[Capability.IDENTIFICATION]["answer"], dtype=np.float64)
    right = answer == np.asarray(evidence.sealed["post_state"], dtype=np.float64)
    return np.asarray(right, dtype=np.int64)


def public_views(evidence: Evidence, capability: Capability, with_output: bool) -> list[PublicView]:
    """What observers may see of each trial.

    For confidence the state that was reported is public too: it was printed before confidence was asked for, and an
    observer that could not see it would be too weak (agreement of report and cue foretells correctness).
    """
    views = evidence.views if with_output else [view.without_output() for view in evidence.views]
    if capability is not Capability.CONFIDENCE:
        return views
    answers = evidence.reports[Capability.IDENTIFICATION]["answer"]
    return [_with_answer(view, answer) for view, answer in zip(views, answers, strict=True)]


def _with_answer(view: PublicView, answer: float) -> PublicView:
    return view if np.isnan(answer) else replace(view, features={**view.features, "reported": float(answer)})


def scored_table(evidence: Evidence, capability: Capability) -> pd.DataFrame:
    """The table that analysis reads, one row a trial."""
    rows, report, sealed = rows_of(evidence, capability), evidence.reports[capability], evidence.sealed
    table = pd.DataFrame(
        {
            "trial_id": evidence.public["trial_id"],
            "kind": sealed["kind"],
            "truth": truth_of(evidence, capability),
            "answer": report["answer"].to_numpy(dtype=float),
            "probability": report["probability"].to_numpy(dtype=float),
            "coverage": report["coverage"].to_numpy(dtype=float),
            "contrast": report["contrast"].to_numpy(dtype=float),
            "entropy": report["entropy"].to_numpy(dtype=float),
            "impact_kl": sealed["impact_neutral"].to_numpy(dtype=float),
            "impact_matched": sealed["impact_matched"].to_numpy(dtype=float),
            "surface": _surface(evidence, capability),
            "input_hash": _input_hashes(evidence, capability),
            "stratum": [
                f"cue {'right' if view.features['cue'] == pre else 'wrong'}"
                for view, pre in zip(evidence.views, sealed["pre_state"], strict=True)
            ],
            "block": evidence.public["block"],
            "carrier": evidence.public["carrier"],
        }
    )
    return table.iloc[rows].reset_index(drop=True)


def _surface(evidence: Evidence, capability: Capability) -> list[str]:
    answers = evidence.reports[capability]["answer"]
    return [
        "" if np.isnan(answer) else view.questions[capability].codes[int(answer)]
        for view, answer in zip(evidence.views, answers, strict=True)
    ]


def _input_hashes(evidence: Evidence, capability: Capability) -> list[str]:
    """What went into the forward pass, edit included: equal hashes are one measurement, not two."""
    edits = evidence.sealed[["post_state", "pre_state", "layer", "dose", "impact_dose"]].fillna(-1.0)
    return [
        digest(
            [[t.content for t in view.turns], view.output, view.questions[capability].text, [float(x) for x in edit]]
        )
        for view, edit in zip(evidence.views, edits.to_numpy(), strict=True)
    ]


def sensors(evidence: Evidence) -> Sensors:
    """What organisms may use: public numbers, site readings, and how much the output was disturbed."""
    views, sealed, readings = evidence.views, evidence.sealed, evidence.readings
    return Sensors(
        cue=np.array([v.features["cue"] for v in views]),
        second_option=np.array([v.output_features["second_option"] for v in views]),
        anomaly=np.array([v.features["anomaly"] for v in views]),
        site_early=readings["site_early"].to_numpy(dtype=float),
        site_late=readings["site_late"].to_numpy(dtype=float),
        disturbance=sealed["impact_neutral"].to_numpy(dtype=float),
    )


def site_reading(evidence: Evidence, capability: Capability) -> dict[str, Reading]:
    """A wire at the site: it shows that the state landed, and that this many trials would have shown access to it."""
    if capability is Capability.CONFIDENCE:
        return {}
    early = evidence.readings["site_early"].to_numpy(dtype=float)
    late = evidence.readings["site_late"].to_numpy(dtype=float)
    return {"wire at the site": Reading("site", late if capability is Capability.IDENTIFICATION else -early * late)}


def report_probe(evidence: Evidence, capability: Capability) -> dict[str, Reading]:
    """A cross-fitted probe at the position from which the report is made, where there are blocks enough to fit one."""
    column = f"residual_{capability}"
    if column not in evidence.readings or len(set(evidence.blocks)) < 3:
        return {}
    residual_TH = np.stack([np.asarray(row, dtype=np.float32) for row in evidence.readings[column]])
    probe = cross_fitted_reading(residual_TH, truth_of(evidence, capability), evidence.blocks)
    return {"probe at the report": Reading("report", probe)}
