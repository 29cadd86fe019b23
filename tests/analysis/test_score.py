"""A scored answer is privileged only ahead of every observer and control arm, and silence is no error."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.results import CapabilityResult
from firsthand.analysis.score import Guessed, judge_score
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition, Verdict

UNITS, EACH = 24, 10
ROWS = UNITS * EACH
SPEC = AnalysisSpec(clusters=("concept",), bootstrap_draws=400)
ARMS = ("no question", "no injection")


class Protocol:
    """Naming scores 1 or 0 and a guess is worth little; ranks lie between, and a guess is worth one half."""

    def __init__(self, capability: Capability, chance: float, draw: Callable[[np.random.Generator, float], np.ndarray]):
        self.capability, self.chance, self.draw = capability, chance, draw


NAMING = Protocol(Capability.IDENTIFICATION, 1 / 32, lambda rng, mean: (rng.random(ROWS) < mean).astype(float))
RANKS = Protocol(
    Capability.RECONSTRUCTION,
    0.5,
    lambda rng, mean: np.clip(np.round(rng.beta(4 * mean, 4 * (1 - mean), ROWS) * 31) / 31, 0.0, 1.0),
)
BOTH = pytest.mark.parametrize("p", [NAMING, RANKS], ids=["naming", "ranks"])


class Trials:
    """Scores of target trials and of both control arms, which know nothing unless told otherwise."""

    def __init__(self, p: Protocol, target: float | np.ndarray, seed: int = 0, **arms: np.ndarray) -> None:
        self.p, self.rng = p, np.random.default_rng(seed)
        self.target = p.draw(self.rng, target) if isinstance(target, float) else target
        self.given = {"target": self.target}
        for name in ARMS:
            self.given[name] = arms[name.replace(" ", "_")] if name.replace(" ", "_") in arms else self.guesses()

    def guesses(self) -> np.ndarray:
        return self.p.draw(self.rng, self.p.chance)

    def table(self, coverage: float = 0.9) -> pd.DataFrame:
        frames = [
            pd.DataFrame(
                {
                    "trial_id": [f"{arm} {i}" for i in range(ROWS)],
                    "arm": arm,
                    "score": score,
                    "coverage": coverage,
                    "concept": np.repeat([f"c{i}" for i in range(UNITS)], EACH),
                }
            )
            for arm, score in self.given.items()
        ]
        return pd.concat(frames, ignore_index=True)

    def judged(
        self,
        observer: np.ndarray | None = None,
        reader: str | None = "report",
        table: pd.DataFrame | None = None,
        arms: tuple[str, ...] = ARMS,
        chance: float | None = None,
    ) -> CapabilityResult:
        reads = (self.rng.random(ROWS) < 0.99).astype(float)
        return judge_score(
            self.p.capability,
            Condition.Y_WITHHELD,
            self.table() if table is None else table,
            self.p.chance if chance is None else chance,
            {"guesser": Guessed(self.guesses() if observer is None else observer)},
            {} if reader is None else {"probe": (reader, reads)},
            SPEC,
            arms,
        )


@BOTH
def test_answers_ahead_of_observers_and_arms_are_privileged(p: Protocol) -> None:
    result = Trials(p, 0.8).judged()
    assert result.verdict is Verdict.PRIVILEGED
    assert result.chance == p.chance
    assert result.score is not None
    assert result.score.value == pytest.approx(0.8, abs=0.08)
    assert result.score.units == UNITS
    assert {row.name for row in result.arms} == set(ARMS)


def test_naming_it_every_time_is_privileged_and_no_constant() -> None:
    assert Trials(NAMING, np.ones(ROWS)).judged(reader=None).verdict is Verdict.PRIVILEGED


@BOTH
def test_an_arm_in_which_nothing_was_asked_that_scores_as_much_makes_it_anomaly_only(p: Protocol) -> None:
    told = Trials(p, 0.8).target
    result = Trials(p, told, no_question=told).judged()
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "no question" in result.reasons[0]


@BOTH
def test_an_observer_that_scores_as_much_makes_it_public(p: Protocol) -> None:
    trials = Trials(p, 0.8)
    assert trials.judged(observer=trials.target).verdict is Verdict.PUBLIC_INFERENCE


@BOTH
def test_a_coin_that_a_probe_outdoes_has_the_state_available_or_no_access_to_it(p: Protocol) -> None:
    assert Trials(p, p.chance).judged().verdict is Verdict.AVAILABLE_NOT_REPORTED
    assert Trials(p, p.chance).judged(reader="site").verdict is Verdict.NO_ACCESS
    assert Trials(p, p.chance).judged(reader=None).verdict is Verdict.INSUFFICIENT


@pytest.mark.parametrize("chance", [0.0, 1 / 32, 0.2, 0.45])
def test_a_denier_never_is_inverted_and_has_the_state_available_where_a_probe_reads_it(chance: float) -> None:
    """Whatever a guess is worth: who names nothing has not avoided the truth."""
    silent = Trials(NAMING, np.zeros(ROWS))
    result = silent.judged(chance=chance)
    assert result.verdict is Verdict.AVAILABLE_NOT_REPORTED
    assert "100.0% of the valid scores are 0" in result.reasons
    assert result.score is not None
    assert result.score.value == 0.0
    for reader in ("site", None):
        assert silent.judged(chance=chance, reader=reader).verdict is Verdict.INSUFFICIENT


def test_naming_less_often_than_a_guesser_would_is_silence_and_said_to_be() -> None:
    result = Trials(NAMING, 0.05).judged(chance=0.2)
    assert result.verdict is Verdict.AVAILABLE_NOT_REPORTED
    assert "counts as chance, 0.2: 0 may be silence" in result.reasons[-1]


@BOTH
def test_verdicts_speak_of_a_mean_score_and_not_of_accuracy(p: Protocol) -> None:
    told = Trials(p, 0.8).target
    for trials in (Trials(p, 0.8), Trials(p, told, no_question=told), Trials(p, p.chance)):
        for reader in ("report", "site", None):
            result = trials.judged(reader=reader)
            assert not any("accuracy" in reason or "right answers" in reason for reason in result.reasons)
            assert "accuracy" not in (result.equivalence.refused or "")
    assert "scores as much" in Trials(p, told, no_question=told).judged().reasons[0]


def test_ranks_as_low_where_nothing_was_asked_are_no_inverted_report() -> None:
    low = Trials(RANKS, 0.3).target
    result = Trials(RANKS, 0.3, no_question=low).judged()
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "the control arm no question scores as little" in result.reasons[0]


def holed(trials: Trials, share: float, *, low: bool) -> np.ndarray:
    """The target scores, of which this share of the low ones (or of the high ones) is invalid."""
    middle = 0.5
    hit = ((trials.target < middle) == low) & (trials.rng.random(ROWS) < share)
    return np.where(hit, np.nan, trials.target)


def test_guesses_whose_low_scores_are_mostly_invalid_are_not_privileged() -> None:
    for p, share in ((NAMING, 0.97), (RANKS, 0.9)):
        trials = Trials(p, 0.2 if p is NAMING else p.chance)
        result = Trials(p, holed(trials, share, low=True), 1, no_question=trials.target).judged()
        assert result.verdict is Verdict.INSUFFICIENT
        assert "of answers that are invalid decide the verdict: 'privileged' without them" in result.reasons[0]
        assert result.score is not None
        assert result.score_worst_case <= trials.target.mean() < result.score_best_case


def test_ranks_whose_high_scores_are_mostly_invalid_are_not_inverted() -> None:
    result = Trials(RANKS, holed(Trials(RANKS, 0.5), 0.9, low=False)).judged()
    assert result.verdict is Verdict.INSUFFICIENT
    assert "'inverted' without them" in result.reasons[0]


@BOTH
def test_a_few_invalid_answers_decide_nothing_and_bound_the_score(p: Protocol) -> None:
    trials = Trials(p, 0.8)
    result = Trials(p, np.where(np.arange(ROWS) % 23 == 0, np.nan, trials.target)).judged()
    assert result.verdict is Verdict.PRIVILEGED
    assert result.score is not None
    assert result.score_worst_case < result.score.value < result.score_best_case
    whole = trials.judged()
    assert whole.score_worst_case == whole.score.value == whole.score_best_case


def test_an_arm_that_the_claim_leaves_out_closes_no_gate() -> None:
    trials = Trials(NAMING, 0.8)
    frame = trials.table()
    frame = frame.assign(coverage=np.where(frame["arm"] == "no question", 0.2, 0.9))
    assert "in the control arm no question valid answers hold 20.0%" in trials.judged(table=frame).reasons[0]
    assert trials.judged(table=frame, arms=("no injection",)).verdict is Verdict.PRIVILEGED


def test_ranks_below_one_half_are_inverted() -> None:
    assert Trials(RANKS, 0.3).judged().verdict is Verdict.INVERTED
    assert Trials(RANKS, np.zeros(ROWS)).judged().verdict is Verdict.INVERTED


@pytest.mark.parametrize("same", [0.2, 0.7])
def test_one_rank_throughout_follows_nothing_however_far_from_chance(same: float) -> None:
    result = Trials(RANKS, np.full(ROWS, same)).judged()
    assert result.verdict is Verdict.INSUFFICIENT
    assert f"100.0% of the valid scores are {same}, and a score that does not vary" in result.reasons[0]


def test_one_rank_throughout_that_is_worth_chance_is_silence() -> None:
    middle = Trials(RANKS, np.full(ROWS, 0.5))
    assert middle.judged().verdict is Verdict.AVAILABLE_NOT_REPORTED
    assert middle.judged(reader="site").verdict is Verdict.INSUFFICIENT


def test_low_coverage_a_missing_arm_or_no_observer_settle_nothing() -> None:
    trials = Trials(NAMING, 0.8)
    low = trials.judged(table=trials.table(coverage=0.05))
    assert (low.verdict, "coverage" in low.reasons[0]) == (Verdict.INSUFFICIENT, True)
    missing = trials.judged(arms=(*ARMS, "shuffled"))
    assert (missing.verdict, "shuffled" in missing.reasons[0]) == (Verdict.INSUFFICIENT, True)
    alone = judge_score(Capability.IDENTIFICATION, Condition.Y_WITHHELD, trials.table(), 0.0, {}, {}, SPEC, ARMS)
    assert alone.verdict is Verdict.INSUFFICIENT


def test_an_observer_that_saw_the_output_counts_only_where_it_is_shown() -> None:
    trials = Trials(NAMING, 0.8)
    observers = {"guesser": Guessed(trials.guesses()), "reader of Y": Guessed(trials.target, sees_output=True)}
    found = {
        condition: judge_score(
            Capability.IDENTIFICATION, condition, trials.table(), 1 / 32, observers, {}, SPEC, ARMS
        ).verdict
        for condition in Condition
    }
    assert found == {Condition.Y_WITHHELD: Verdict.PRIVILEGED, Condition.Y_SHOWN: Verdict.PUBLIC_INFERENCE}


@BOTH
def test_an_observer_without_an_answer_gets_what_a_guess_is_worth(p: Protocol) -> None:
    silent = Trials(p, 0.8).judged(observer=np.full(ROWS, np.nan))
    assert silent.observers[0].score.value == pytest.approx(p.chance)


def test_a_reader_that_could_not_read_shows_no_sensitivity() -> None:
    trials = Trials(NAMING, np.zeros(ROWS))
    blind = {"probe": ("report", np.full(ROWS, np.nan))}
    observers = {"guesser": Guessed(trials.guesses())}
    result = judge_score(
        Capability.IDENTIFICATION, Condition.Y_WITHHELD, trials.table(), 1 / 32, observers, blind, SPEC, ARMS
    )
    assert (result.verdict, result.readers[0].accuracy.value) == (Verdict.INSUFFICIENT, 0.0)


def test_invalid_answers_are_left_out_and_observers_are_held_against_the_rest() -> None:
    trials = Trials(NAMING, 0.8)
    holed = np.where(trials.rng.random(ROWS) < 0.3, np.nan, trials.target)
    frame = Trials(NAMING, holed).table()
    result = trials.judged(table=frame, observer=np.where(np.isnan(holed), 1.0, 0.0))
    assert result.invalid_rate == pytest.approx(0.3, abs=0.08)
    assert result.score is not None
    assert result.score.value == pytest.approx(0.8, abs=0.08)
    assert result.observers[0].score.value == 0.0


def test_neither_the_order_of_rows_nor_names_of_units_move_a_number() -> None:
    trials = Trials(RANKS, 0.7)
    frame = trials.table()
    renamed = frame.assign(concept="other " + frame["concept"])
    other_way = pd.concat([part for _, part in reversed(list(frame.groupby("arm", sort=False)))])
    first = Trials(RANKS, 0.7).judged(reader=None)
    assert Trials(RANKS, 0.7).judged(reader=None, table=renamed) == first
    turned = Trials(RANKS, 0.7).judged(reader=None, table=other_way)
    assert (turned.verdict, turned.score, turned.gap) == (first.verdict, first.score, first.gap)


@BOTH
def test_answers_that_know_nothing_are_called_privileged_no_more_often_than_alpha(p: Protocol) -> None:
    called = sum(Trials(p, p.chance, seed).judged(reader=None).verdict is Verdict.PRIVILEGED for seed in range(100))
    assert called <= 100 * SPEC.alpha + 3 * np.sqrt(100 * SPEC.alpha * (1 - SPEC.alpha))


def test_concepts_that_come_to_mind_by_themselves_are_not_called_privileged_more_often_than_alpha() -> None:
    """Whole concepts are named more often, asked or not: only units count, and the arms hold the same tendency."""
    called = 0
    for seed in range(100):
        rng = np.random.default_rng([1, seed])
        tendency = np.repeat(rng.beta(0.5, 1.0, UNITS), EACH)
        draw = [(rng.random(ROWS) < tendency).astype(float) for _ in range(3)]
        trials = Trials(NAMING, draw[0], seed, no_question=draw[1], no_injection=draw[2])
        called += trials.judged(reader=None).verdict is Verdict.PRIVILEGED
    assert called <= 100 * SPEC.alpha + 3 * np.sqrt(100 * SPEC.alpha * (1 - SPEC.alpha))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"score": 1.5}, "outside of 0 to 1"),
        ({"score": -0.1}, "outside of 0 to 1"),
        ({"score": np.inf}, "outside of 0 to 1"),
        ({"coverage": np.nan}, "coverage"),
        ({"trial_id": "x"}, "more than once"),
        ({"arm": "control"}, "no target trials"),
        ({"arm": None}, "no arm"),
        ({"concept": None}, "empty values"),
    ],
)
def test_tables_that_cannot_be_analysed_are_refused(change: dict[str, object], problem: str) -> None:
    trials = Trials(NAMING, 0.8)
    with pytest.raises(AnalysisError, match=problem):
        trials.judged(table=trials.table().assign(**change))


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"chance": 1.0}, "Chance is 1"),
        ({"chance": np.nan}, "Chance is nan"),
        ({"observer": np.ones(3)}, "observer guesser must answer once"),
        ({"observer": np.full(ROWS, 2.0)}, "observer guesser has a score outside"),
        ({"reader": "somewhere"}, "'site' or 'report'"),
        ({"arms": ("target",)}, "its own control"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, object], problem: str) -> None:
    with pytest.raises(AnalysisError, match=problem):
        Trials(NAMING, 0.8).judged(**asked)


def test_a_missing_column_is_named() -> None:
    trials = Trials(NAMING, 0.8)
    with pytest.raises(AnalysisError, match="score"):
        trials.judged(table=trials.table().drop(columns="score"))
