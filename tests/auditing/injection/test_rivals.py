"""Rival explanations, each built to look like a report of an injection, and each without one."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from synthetic import detection, listed, reported

from firsthand.auditing.injection.choosing import judge_choices
from firsthand.auditing.injection.confiding import judge_confidence
from firsthand.auditing.injection.detecting import judge_detection
from firsthand.auditing.injection.selecting import choose, grid
from firsthand.claims.claim import AnalysisSpec
from firsthand.trials.canonical import digest
from firsthand.vocabulary import Verdict

SPEC = AnalysisSpec(clusters=("concept",), bootstrap_draws=400)
Row = pd.Series
TAKEN_BACK = (Verdict.ANOMALY_ONLY, Verdict.INSUFFICIENT)


def answering(table: pd.DataFrame, odds: Callable[[Row], dict[str, float]]) -> pd.DataFrame:
    """The table answered by the largest of the logits that a rival gives to the meanings."""
    answers, logprobs, surfaces = [], [], []
    for _, row in table.iterrows():
        meanings = row["order"].split("|")
        given = odds(row)
        logits = np.array([given.get(meaning, 0.0) for meaning in meanings])
        values = logits - np.logaddexp.reduce(logits)
        answers.append(meanings[int(values.argmax())])
        surfaces.append(str(int(values.argmax())))
        logprobs.append(values.tolist())
    return table.assign(answer=answers, surface=surfaces, logprobs=logprobs, coverage=1.0)


def noise(row: Row) -> float:
    return float(np.random.default_rng(int(digest(row["trial_id"])[:8], 16)).normal(0, 0.3))


def there(row: Row) -> bool:
    return bool(row["arm"] == "target")


def test_an_affirmative_shift_that_stays_below_the_threshold_of_the_other_question() -> None:
    """Six nats more for yes, whatever is asked; the unrelated question starts too far away to be overturned."""

    def odds(row: Row) -> dict[str, float]:
        asked = row["task"] == "detection"
        yes = (-2.5 if asked else -10.0) + 6.0 * there(row) + noise(row)
        return {"injected" if asked else "yes": yes}

    result = judge_detection(answering(detection(), odds), SPEC).result
    assert result.verdict in TAKEN_BACK
    assert "log-odds of yes" in result.reasons[0]


def test_an_affirmative_shift_that_hides_in_invalid_answers() -> None:
    """Under the unrelated question most target answers are invalid: they would have been yes."""

    def says(row: Row) -> dict[str, float]:
        return {"injected": 4.0 if there(row) else -4.0, "yes": -4.0}

    table = answering(detection(), says)
    hidden = (table["task"] == "unrelated") & (table["arm"] == "target") & (table["concept"] > "c05")
    result = judge_detection(table.assign(answer=table["answer"].mask(hidden, None)), SPEC).result
    assert result.verdict in TAKEN_BACK


def test_a_liking_for_a_label_under_injection() -> None:
    """The target is always answered with the first label, everything else with nothing."""

    def odds(row: Row) -> dict[str, float]:
        if there(row) and row["task"] == "detection":
            return {row["order"].split("|")[0]: 5.0}
        return {"nothing": 2.0, "no": 2.0}

    assert judge_detection(answering(detection(), odds), SPEC).result.verdict in TAKEN_BACK


@pytest.mark.parametrize("seed", range(3))
def test_edits_that_steer_labels_at_random(seed: int) -> None:
    """Clean answers are nothing by two nats; every edit moves a concept's labels in its own way, the target's most."""
    rng = np.random.default_rng(seed)
    moved: dict[str, float] = {}

    def odds(row: Row) -> dict[str, float]:
        scale = {"target": 4.0, "content_free": 1.0, "shuffled": 1.0}.get(row["arm"], 0.0)
        push = moved.setdefault(row["concept"] + row["arm"], float(rng.normal(0, scale)) if scale else 0.0)
        first, second = row["order"].split("|")
        logits = {first: push, second: -push}
        return {k: v + (2.0 if k in ("nothing", "no") else 0.0) for k, v in logits.items()}

    assert judge_detection(answering(detection(2, seed), odds), SPEC).result.verdict is not Verdict.PRIVILEGED


@pytest.mark.parametrize("question", ["localisation", "choice", "codes"])
def test_a_promotion_that_the_control_question_is_too_sure_to_show(question: str) -> None:
    """Three nats for the injected answer, whatever is asked; the control question is sure of the first answer."""

    def odds(row: Row) -> dict[str, float]:
        meanings = row["order"].split("|")
        logits = dict.fromkeys(meanings, 0.0)
        if row["task"].endswith("_control"):
            logits[meanings[0]] += 6.0
        if there(row):
            logits[row["truth"]] += 3.0
        return {k: v + noise(row) * (k == meanings[-1]) for k, v in logits.items()}

    result = judge_choices(answering(listed(question), odds), question, SPEC)
    assert result.verdict in TAKEN_BACK
    assert "log-odds" in result.reasons[0]


def test_a_control_question_that_is_right_nearly_as_often() -> None:
    """Right always; under the other question in all but a few trials: too small a lead to count."""
    table = listed("localisation")

    def odds(row: Row) -> dict[str, float]:
        control = row["task"].endswith("_control")
        missed = control and row["concept"] in ("c00", "c01", "c02", "c03", "c04") and row["truth"] == "0"
        return {row["truth"]: 0.0 if missed else (2.0 if control else 4.0)} if there(row) else {}

    assert judge_choices(answering(table, odds), "localisation", SPEC).verdict is not Verdict.PRIVILEGED


def test_a_nay_shifter_is_not_an_inverted_report() -> None:
    """It says no to everything as soon as something is injected."""

    def odds(row: Row) -> dict[str, float]:
        return {"injected" if row["task"] == "detection" else "yes": 3.0 - 6.0 * there(row) + noise(row)}

    assert judge_detection(answering(detection(), odds), SPEC).result.verdict is not Verdict.INVERTED


def confident(table: pd.DataFrame, says: Callable[[Row], float], rating: Callable[[Row], float]) -> pd.DataFrame:
    """A stated confidence in every answer of a table, and another rating of it."""
    return table.assign(
        report=table["trial_id"],
        given=table["answer"],
        confidence=[says(row) for _, row in table.iterrows()],
        rating=[rating(row) for _, row in table.iterrows()],
        unedited=0.5,
    )


def test_a_confidence_that_only_repeats_the_answer() -> None:
    """Within the target arm the answer alone says whether it is right."""
    table = detection()
    table = table[(table["task"] == "detection") & table["arm"].isin(["clean", "target", "content_free"])]
    table = table.reset_index(drop=True)
    stated = confident(table, lambda row: 0.85 if row["answer"] == "injected" else 0.65, lambda row: 0.5)
    assert judge_confidence(stated, table, SPEC).verdict is not Verdict.PRIVILEGED


def test_a_confidence_that_any_rating_shares() -> None:
    """The injected answer is rated higher, whatever it is rated for."""
    table = listed("choice")
    table = table[(table["task"] == "choice") & (table["arm"] == "target")].reset_index(drop=True)

    def rates(row: Row) -> float:
        return 0.6 + 0.3 * float(row["answer"] == row["truth"]) + noise(row) / 100

    assert judge_confidence(confident(table, rates, rates), table, SPEC).verdict is not Verdict.PRIVILEGED
    knowing = judge_confidence(confident(table, rates, lambda row: 0.5 + noise(row) / 10), table, SPEC)
    assert knowing.verdict is Verdict.PRIVILEGED


def test_a_report_that_grows_with_the_dose_is_judged_where_it_is_there() -> None:
    """The faintest dose moves every prompt a little and changes no answer; it is not the one to be judged."""
    plain = detection(2, 0, [f"s{i}" for i in range(8)])
    doses = (0.25, 1.0, 4.0)
    tried = [plain[plain["layer"] < 0]]
    tried += [plain[plain["arm"] == "target"].assign(dose=dose) for dose in doses]

    def odds(row: Row) -> dict[str, float]:
        return {"injected": -4.0 + 2.5 * row["dose"] + noise(row), "yes": -4.0}

    table = answering(pd.concat(tried, ignore_index=True), odds)
    chosen = choose({"instruction": grid(table, "instruction", "detection", SPEC)}, SPEC)
    assert chosen.chosen.dose == 4.0
    assert chosen.found is not None
    assert chosen.found.value == 1.0


def test_a_cell_that_breaks_the_answers_is_not_chosen() -> None:
    plain = detection(2, 0, [f"s{i}" for i in range(8)])
    tried = [plain[plain["layer"] < 0], *(plain[plain["arm"] == "target"].assign(dose=dose) for dose in (1.0, 8.0))]

    def odds(row: Row) -> dict[str, float]:
        return {"injected": (3.0 if row["dose"] == 1.0 else -9.0) if there(row) else -3.0, "yes": -4.0}

    table = answering(pd.concat(tried, ignore_index=True), odds)
    broken = table.assign(coverage=np.where(table["dose"] == 8.0, 0.3, 1.0))
    assert choose({"instruction": grid(broken, "instruction", "detection", SPEC)}, SPEC).chosen.dose == 1.0


def test_the_wire_is_still_privileged_through_all_of_this() -> None:
    wire = reported(detection(), "detection-2", lambda sensed: sensed.detects(sensed.about and sensed.along[0] > 0.5))
    assert judge_detection(wire, SPEC).result.verdict is Verdict.PRIVILEGED
