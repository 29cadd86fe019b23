"""A table of predictions is refused where it contradicts itself or leaves something out."""

import numpy as np
import pandas as pd
import pytest
from predictions_plain import drawn, table

from firsthand.analysis.predictions import Panel, judged_predictions
from firsthand.errors import AnalysisError


def made() -> pd.DataFrame:
    truth, codes, first, second = drawn(0, clusters=20)
    return table(truth, codes, one=first, two=second)


def test_a_missing_row_is_refused_rather_than_left_out() -> None:
    with pytest.raises(AnalysisError, match="has no row for 1 of 60 claims"):
        Panel.of(made().drop(index=3))


def test_a_claim_with_two_labels_is_refused() -> None:
    rows = made()
    rows.loc[0, "label"] = not rows.loc[0, "label"]
    with pytest.raises(AnalysisError, match="label differs"):
        Panel.of(rows)


def test_a_claim_that_is_predicted_twice_is_refused() -> None:
    rows = made()
    with pytest.raises(AnalysisError, match="twice"):
        Panel.of(pd.concat([rows, rows.head(1)]))


@pytest.mark.parametrize(("column", "value"), [("probability", 1.2), ("coverage", -0.1), ("label", None)])
def test_values_that_cannot_be_are_refused(column: str, value: object) -> None:
    rows = made().astype({"label": object})
    rows.loc[0, column] = value
    with pytest.raises(AnalysisError):
        Panel.of(rows)


def test_the_order_of_rows_changes_nothing() -> None:
    rows = made()
    kinds = {"one": "observer", "two": "floor"}
    shuffled = rows.sample(frac=1.0, random_state=1)
    first = {one.name: one for one in judged_predictions(Panel.of(rows), kinds).predictors}
    second = {one.name: one for one in judged_predictions(Panel.of(shuffled), kinds).predictors}
    assert first["one"].auroc is not None
    assert second["one"].auroc is not None
    assert first["one"].auroc.value == pytest.approx(second["one"].auroc.value)


def test_claims_of_one_label_cannot_be_told_apart() -> None:
    rows = made().assign(label=True)
    with pytest.raises(AnalysisError, match="are true"):
        judged_predictions(Panel.of(rows), {"one": "observer", "two": "floor"})


def test_a_part_holds_its_own_claims_only() -> None:
    panel = Panel.of(made())
    kept = np.arange(60) % 2 == 0
    part = panel.only(kept)
    assert part.claims == panel.claims[::2]
    assert np.array_equal(part.answers["two"].probability, panel.answers["two"].probability[kept])
