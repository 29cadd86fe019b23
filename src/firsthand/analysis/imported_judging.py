"""From published tables to a profile: every check that the columns allow, then the rules."""

from collections.abc import Callable, Sequence

from firsthand.analysis.checks.arms import check_arms, check_twins
from firsthand.analysis.checks.attrition import check_attrition
from firsthand.analysis.checks.base import Checked, Signal
from firsthand.analysis.checks.chance import check_chance
from firsthand.analysis.checks.changed import check_changed
from firsthand.analysis.checks.cues import check_cues
from firsthand.analysis.checks.evidence import check_labels, check_prompts, check_unscored, coverage_of
from firsthand.analysis.checks.grid import check_grid
from firsthand.analysis.checks.kinds import check_margins, check_observers
from firsthand.analysis.checks.orders import check_orders
from firsthand.analysis.checks.rates import check_rates
from firsthand.analysis.checks.recomputed import check_recomputed
from firsthand.analysis.checks.repeats import check_repeats
from firsthand.analysis.checks.texts import check_texts
from firsthand.analysis.checks.yes_no import check_affirmative_shift, check_false_alarms
from firsthand.analysis.findings import ALPHA, Finding, StudyResult
from firsthand.analysis.imported import ImportedEvidence, ImportedRuling, compile_imported
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.vocabulary import Capability, Kind

CHECKS: tuple[Callable[[ImportedStudy], Checked], ...] = (
    check_rates,
    check_arms,
    check_twins,
    check_affirmative_shift,
    check_grid,
    check_orders,
    check_chance,
    check_false_alarms,
    check_cues,
    check_changed,
    check_texts,
    check_recomputed,
    check_attrition,
    check_repeats,
    check_prompts,
    check_labels,
    check_unscored,
    check_observers,
    check_margins,
)
"""In the order in which findings are told."""

SHIFT = "affirmative-shift"


def judge_imported(studies: Sequence[ImportedStudy]) -> tuple[StudyResult, ...]:
    """Judge every study; what a control question shows counts against the studies that it is a control of.

    Args:
        studies: What an importer read, in its order.
    """
    found = [[check(study) for check in CHECKS] for study in studies]
    controls = [(s, c) for s, c in zip(studies, found, strict=True) if s.control]
    shift = next(
        (
            (study.name, finding)
            for study, checked in controls
            for finding in _findings(checked)
            if finding.name == SHIFT and finding.tone == "caution"
        ),
        None,
    )
    asked = any(finding.name == SHIFT for _, checked in controls for finding in _findings(checked))
    return tuple(_result(study, checked, shift, asked) for study, checked in zip(studies, found, strict=True))


def _findings(checked: Sequence[Checked]) -> tuple[Finding, ...]:
    return tuple(finding for one in checked for finding in one.findings)


def _result(
    study: ImportedStudy, checked: Sequence[Checked], shift: tuple[str, Finding] | None, asked: bool
) -> StudyResult:
    ruling = None if study.control else _ruling(study, checked, shift, asked)
    table = study.table
    return StudyResult(
        name=study.name,
        title=study.title,
        capability=study.capability,
        role="control" if study.control else "claim",
        published_rows=study.published_rows,
        published_answers=int(table["repeats"].sum()),
        measurements=len(table),
        clusters={name: study.units(name) for name in study.clusters},
        verdict=None if ruling is None else ruling.verdict,
        reasons=() if ruling is None else ruling.reasons,
        concluded=() if ruling is None else (*ruling.concluded, *(text for one in checked for text in one.concluded)),
        findings=_findings(checked),
        picture=next((one.picture for one in checked if one.picture is not None), None),
        notes=study.notes,
    )


def _ruling(
    study: ImportedStudy, checked: Sequence[Checked], shift: tuple[str, Finding] | None, asked: bool
) -> ImportedRuling:
    signals: list[Signal] = [one.signal for one in checked if one.signal is not None]
    rows = study.judged
    detection = study.capability is Capability.DETECTION
    missing = tuple(text for one in checked for text in one.missing)
    words = None
    if detection and shift is not None:
        rise = next(number for number in shift[1].numbers if number.name.startswith("rise of the contrast"))
        p = "" if rise.estimate is None or rise.estimate.p is None else f", p = {rise.estimate.p:.2g}"
        words = (
            f"affirmative shift: the same kind of injection raises 'yes' by {rise.value:.1f} logits on a question "
            f"whose answer is no (study {shift[0]}{p}), so no verdict rests on yes/no answers"
        )
    own = {Capability.DETECTION: asked, Capability.IDENTIFICATION: True}  # exchanged labels are checked by themselves
    kinds = frozenset(kind for kind in Kind if study.table["kind"].eq(kind.value).any())
    return compile_imported(
        ImportedEvidence(
            capability=study.capability,
            signal=signals[0] if signals else None,
            kinds=kinds,
            own_control=own.get(study.capability, False),
            observers={name: gap for one in checked for name, gap in one.observers.items()},
            alarms={kind: rate for one in checked for kind, rate in one.alarms.items()},
            margins={kind: rate for one in checked for kind, rate in one.margins.items()},
            coverage=coverage_of(rows),
            shift=words,
            missing=missing,
            other_arms=_other_arms(study),
            own_words=study.words.control if detection else None,
        )
    )


def _other_arms(study: ImportedStudy) -> tuple[str, ...]:
    if not study.has("arm"):
        return ()
    return tuple(str(arm) for arm in study.table.loc[study.table["kind"].isna(), "arm"].dropna().unique())


LEVEL = 1.0 - 2.0 * ALPHA
"""Coverage of every interval of an imported profile."""
