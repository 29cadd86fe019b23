"""Two hundred investigations of targets of known rule: causes are found, and labels are right at the stated rates."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from planted_prompts import PROMPTS
from planted_repetitions import FRAGILE, LEAST, Repetition, repetitions
from scipy.stats import binomtest

from firsthand.counterfactual.investigating.without_model import SearchSettings
from firsthand.counterfactual.prompts import Prompt, Turn

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4] / "shared" / "data"))
COUNT = 200
SETTINGS = SearchSettings.named("thorough")


@pytest.fixture(scope="module")
def done() -> list[Repetition]:
    return list(repetitions(PROMPTS, COUNT, SETTINGS))


def no_more_often(count: int, of: int, level: float) -> bool:
    """Whether so many are no evidence that there are more than the level allows."""
    return of == 0 or binomtest(count, of, level, alternative="greater").pvalue > 0.01


def test_planted_causes_are_found_and_nothing_more_is_taken_away(done: list[Repetition]) -> None:
    clear = [one for one in done if one.kind not in ("none", "graded")]
    missed = Counter(one.kind for one in clear if not one.found)
    assert len(done) == COUNT
    assert len({one.kind for one in done}) == 13
    assert missed.total() <= 0.10 * len(clear), missed


def test_no_rule_is_missed_as_a_rule(done: list[Repetition]) -> None:
    for kind in {one.kind for one in done} - {"graded"}:
        some = [one.found for one in done if one.kind == kind]
        assert sum(some) > 0.6 * len(some), kind


def test_without_a_cause_none_is_reported_more_often_than_the_level_allows(done: list[Repetition]) -> None:
    none = [one for one in done if one.kind == "none"]
    assert no_more_often(sum(not one.found for one in none), len(none), SETTINGS.level)


def test_an_edit_is_wrongly_called_a_cause_in_no_more_investigations_than_the_level_allows(
    done: list[Repetition],
) -> None:
    assert no_more_often(sum(one.wrong_causes > 0 for one in done), COUNT, SETTINGS.level)


def test_edits_are_wrongly_refuted_no_more_often_than_the_level_allows(done: list[Repetition]) -> None:
    count = sum(abs(true) >= 0.3 for one in done for _, true in one.labels)
    assert no_more_often(sum(one.wrong_refutations for one in done), count, SETTINGS.level)


def test_decoys_are_refuted(done: list[Repetition]) -> None:
    labels = Counter(label for one in done if one.kind != "none" for label, true in one.labels if true == 0.0)
    assert labels["does not change"] > 0.85 * labels.total(), labels


def test_investigations_keep_to_their_budget(done: list[Repetition]) -> None:
    assert max(one.asked for one in done) <= SETTINGS.responses


def test_where_any_edit_of_some_size_undoes_it_no_text_is_named_as_its_cause() -> None:
    some = list(repetitions(PROMPTS, 60, SETTINGS, seed=3, rules=FRAGILE))
    assert sum(one.named for one in some) == 0
    assert sum("Sensitive to any edit" in said(one) or "the length of the prompt" in said(one) for one in some) > 50
    silent = [said(one) for one in some if one.kind == "any edit" and "Sensitive to any edit" not in said(one)]
    assert len(silent) <= 2
    assert all("Undecided" in told for told in silent)
    assert sum(one.wrong_causes + one.wrong_refutations for one in some) == 0


def said(one: Repetition) -> str:
    assert one.investigation.report is not None
    return one.investigation.report.answer


def test_every_named_cause_has_a_control_that_does_clearly_less(done: list[Repetition]) -> None:
    for one in done:
        experiments = {test.number: test for test in one.investigation.experiments}
        assert one.investigation.report is not None
        for cause in one.investigation.report.causes:
            controls = [experiments[n] for n in cause.experiments if cause.experiments[0] in experiments[n].control_of]
            assert cause.specific is (None if cause.hypothesis.startswith("less text") else True)
            assert len(controls) == 1 or cause.specific is None
            assert all(test.stage == "confirmed" for test in controls)
            for test in (
                controls if cause.specific else []
            ):  # a control that changes the rate as well does so by clearly less
                cause_share, share = experiments[cause.experiments[0]].rate.share, test.rate.share
                assert cause_share is not None
                assert share is not None
                assert abs(cause_share - share) > LEAST


def test_withheld_responses_make_no_wrong_labels() -> None:
    some = list(repetitions(PROMPTS, 26, SETTINGS, seed=5, withheld=0.05))
    assert sum(one.wrong_causes + one.wrong_refutations for one in some) <= 1
    assert sum(one.found for one in some) >= 13


def test_causes_are_found_in_real_prompts() -> None:
    path = DATA / "prompts" / "arena-hard-v0.1_question.jsonl"
    if not path.is_file():
        pytest.skip(f"real prompts are not in {DATA}; set FIRSTHAND_DATA to run against them")
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    texts = [text for line in lines if 400 <= len(text := json.loads(line)["prompt"]) <= 4000]
    prompts = [Prompt(turns=(Turn(role="user", content=text),)) for text in texts]
    some = list(repetitions(prompts, 60, SETTINGS, seed=9))
    clear = [one for one in some if one.kind not in ("none", "graded")]
    assert sum(one.found for one in clear) > 0.8 * len(clear)
    assert sum(one.wrong_causes > 0 for one in some) <= 3
