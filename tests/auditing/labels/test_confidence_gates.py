"""Who cannot be asked opens no way to a verdict: readers, third person, control and the answers themselves."""

from dataclasses import replace

import numpy as np
from answered_study import COUNT, FIT, SPEC, Study

from firsthand.auditing.labels.confidence import (
    UNFIT_READER,
    UNLIKE,
    Told,
)
from firsthand.auditing.labels.confidence_gates import Said, Standing, standing_of, too_few, who_counts
from firsthand.vocabulary import Verdict


def test_a_reader_that_cannot_read_or_knows_less_opens_nothing() -> None:
    study = Study("coin")
    other = study.other()
    replies = other.said["true"]
    mostly_invalid = replace(replies, valid=np.arange(COUNT) % 10 == 0)
    unfit = {
        "hold 20.0%": replace(other, said={"true": replace(replies, coverage=np.full(COUNT, 0.2))}),
        "10% of its replies": replace(other, said={"true": mostly_invalid}),
        "10% of its own answers": replace(other, answered=mostly_invalid),
        "not asked": replace(other, said={"percent": replies}),
        "less often": replace(other, right=np.zeros(COUNT)),
    }
    for words, one in unfit.items():
        standing = standing_of(study.public().third, one, study.answers, SPEC, "true")
        assert words in str(standing.readers["other"]), standing
        shown = study.judged(study.told(study.knowing()), standing=standing)[1]
        assert shown.verdict is Verdict.INSUFFICIENT, words
        assert shown.reasons[-1].startswith(UNFIT_READER)
    fit = standing_of(study.public().third, other, study.answers, SPEC, "true")
    assert fit == Standing({"other": None})


def test_without_the_same_model_asked_alike_in_the_third_person_nothing_is_privileged() -> None:
    study = Study("coin")
    third, other = study.public().third, study.other()
    silent = {"true": replace(third["true"], coverage=np.full(COUNT, 0.1))}
    for asked, ask in ((third, "code"), (silent, "true")):
        standing = replace(standing_of(asked, other, study.answers, SPEC, ask), readers={"other": None})
        shown = study.judged(study.told(study.knowing()), standing=standing)[1]
        assert shown.verdict is Verdict.INSUFFICIENT
        assert shown.reasons[-1].startswith(UNLIKE)
    assert standing_of(third, other, study.answers, SPEC, "percent").third is None
    assert standing_of(third, other, study.answers, SPEC, "know", of_answer=False).third is None


def test_a_control_whose_replies_are_invalid_or_elsewhere_leaves_it_open() -> None:
    study = Study("coin")
    lot, sure = study.rng.random(COUNT), Said.scripted(study.knowing())
    invalid = replace(Said.scripted(lot), valid=np.arange(COUNT) % 10 == 0)
    elsewhere = replace(Said.scripted(lot), coverage=np.full(COUNT, 0.2))
    for control, words in ((invalid, "of replies of the control that are invalid decide"), (elsewhere, "20.0%")):
        shown = study.judged(Told(sure, control))[1]
        assert shown.verdict is Verdict.INSUFFICIENT
        assert any(words in reason for reason in shown.reasons), shown.reasons
    few = replace(Said.scripted(lot), valid=np.arange(COUNT) % 40 != 0)
    assert study.judged(Told(sure, few))[1].verdict is Verdict.PRIVILEGED


def test_surer_where_it_is_wrong_is_inverted_only_if_it_is_about_this_answer() -> None:
    study = Study("coin")
    low = 1.0 - study.knowing()
    assert study.verdicts(study.told(low))[1] is Verdict.INVERTED
    assert study.verdicts(study.told(low, 1.0 - study.knowing()))[1] is Verdict.ANOMALY_ONLY


def test_answers_that_are_mostly_invalid_or_elsewhere_settle_nothing() -> None:
    study = Study("coin")
    told = study.told(study.knowing())
    study.answers["coverage"] = 0.3
    shown = study.judged(told)[1]
    assert shown.verdict is Verdict.INSUFFICIENT
    assert "letters hold 30.0%" in shown.reasons[-1]
    study.answers["coverage"] = 0.9
    study.answers.loc[np.arange(COUNT) % 5 < 3, "right"] = np.nan
    shown = study.judged(told)[1]
    assert shown.verdict is Verdict.INSUFFICIENT
    assert "40% of the answers are valid" in shown.reasons[-1]


def test_few_subjects_cap_every_verdict_and_say_what_to_do() -> None:
    study = Study("coin")
    capped = too_few(4, ("question", "subject"))
    assert capped is not None
    shown = study.judged(study.told(study.knowing()), standing=replace(FIT, capped=capped))[1]
    assert (shown.verdict, shown.reasons[-1]) == (Verdict.INSUFFICIENT, capped)
    assert "analysis.clusters" in capped
    assert [too_few(n, ("question", "subject")) for n in (1, 5, 12)] == [None, None, None]
    assert too_few(4, ("question",)) is None


def test_who_was_asked_is_shown_with_coverage_and_accuracy() -> None:
    study = Study("coin")
    other = replace(study.other(), right=np.zeros(COUNT))
    third = study.public().third
    standing = standing_of(third, other, study.answers, SPEC, "true")
    grid = who_counts(third["true"], third["true"], other, study.answers, SPEC, "true", standing)
    names = [name for name, _ in grid.rows]
    assert names == ["this model", "the same in the third person", "reader: other"]
    cells = dict(grid.rows)["reader: other"]
    assert cells[0].value == 0.0
    assert cells[3].value == 1.0
    assert "less often" in str(cells[5])
