import numpy as np
import pytest

from firsthand.analysis.label_errors import EXCLUDED, FALSE, TRUE, labels, worst_chances
from firsthand.analysis.wrong_labels import Batches, prior_of, set_errors
from firsthand.errors import AnalysisError


def test_the_prior_finds_again_what_effects_edits_truly_have() -> None:
    rng = np.random.default_rng(0)
    rows = [
        Batches(int(rng.binomial(30, 0.9)), 30, int(rng.binomial(30, 0.1 if i % 4 == 0 else 0.9)), 30)
        for i in range(400)
    ]
    prior = prior_of(rows)
    grid = np.sin(np.linspace(0, np.pi / 2, 21)) ** 2
    change = np.abs(grid[None] - grid[:, None])
    assert prior.sum() == pytest.approx(1.0)
    assert prior[change > 0.5].sum() == pytest.approx(0.25, abs=0.03)
    assert prior[change < 0.2].sum() == pytest.approx(0.75, abs=0.05)


def drawn(
    rng: np.random.Generator, investigations: int, responses: int
) -> tuple[list[Batches], list[int], list[int], list[float]]:
    """Investigations of six edits with one baseline each; half of the edits do nothing, the others anything."""
    rows, clusters, true = [], [], []
    for one in range(investigations):
        before = rng.uniform(0.4, 1.0)
        yes = int(rng.binomial(responses, before))
        for _ in range(6):
            after = before if rng.random() < 0.5 else rng.uniform(0.0, 1.0)
            rows.append(Batches(yes, responses, int(rng.binomial(responses, after)), responses))
            clusters.append(one)
            true.append(abs(after - before))
    made = [int(labels((r.yes_before, r.before), (r.yes_after, r.after))) for r in rows]
    return rows, made, clusters, true


@pytest.mark.parametrize("responses", [10, 30])
def test_the_estimated_share_of_wrong_labels_is_near_the_true_one(responses: int) -> None:
    rows, made, clusters, true = drawn(np.random.default_rng(responses), 250, responses)
    found = set_errors(rows, made, clusters, draws=25)
    wrong = [(change < 0.3) if label == TRUE else (change >= 0.3) for label, change in zip(made, true, strict=True)]
    actual = np.mean([one for one, label in zip(wrong, made, strict=True) if label != EXCLUDED])
    assert found.wrong is not None
    assert found.wrong.value == pytest.approx(actual, abs=0.025)
    assert found.wrong.low <= found.wrong.value <= found.wrong.high
    assert found.clusters == 250
    assert found.worst == pytest.approx(worst_chances(responses, responses))


def test_more_responses_make_fewer_wrong_labels() -> None:
    shares = []
    for responses in (5, 40):
        rows, made, clusters, _ = drawn(np.random.default_rng(2), 120, responses)
        found = set_errors(rows, made, clusters, draws=2)
        assert found.wrong is not None
        shares.append(found.wrong.value)
    assert shares[1] < shares[0] / 2


def test_a_set_without_true_claims_says_nothing_of_them() -> None:
    found = set_errors([Batches(27, 30, 26, 30)] * 5, [FALSE] * 5, "abcde", draws=5)
    assert found.wrong_true is None
    assert found.true == 0
    assert found.wrong_false is not None
    assert found.wrong_false.value < 0.02


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(AnalysisError, match="not measured"):
        set_errors([Batches(0, 0, 3, 10)], [FALSE], "a")
    with pytest.raises(AnalysisError, match="say nothing"):
        set_errors([], [], "")
