"""Whether an absence may be concluded: a planted private rule is trained beside the claims, and must be read."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from firsthand.analysis.self_cross import SelfCrossResult, SelfCrossSpec
from firsthand.cli.main import app
from firsthand.cli.runs import run_verify
from firsthand.cli.train.ending import ended
from firsthand.counterfactual.claims import Answered
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.training import sensitivity
from firsthand.counterfactual.training.demo import FULL, DemoPlan
from firsthand.counterfactual.training.examples import split
from firsthand.counterfactual.training.experiment import Contender, Study, data_sets
from firsthand.counterfactual.training.folders import begun, write_claims
from firsthand.counterfactual.training.own import Compared, Own, compared
from firsthand.counterfactual.training.planting.claims import Measured
from firsthand.counterfactual.training.planting.words import groups_of
from firsthand.counterfactual.training.rejudging import Kept, Values, columns_of, compiled, judged_together
from firsthand.counterfactual.training.sensitivity import NAME, plan_of, said_of, size_of
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError, TraceError
from firsthand.progress import Silent
from firsthand.vocabulary import Verdict

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import claims_of, items, kin_of, written

SPEC = SelfCrossSpec()
TINY = TrainSettings(rank=4, alpha=8.0, learning_rate=1e-2, batch=8, checkpoint_steps=100)
SAID = Answered(response=Response(text="plover"))
PLANTED = FULL.model_copy(update={"chats": 16})


def kept(name: str, signal: float, coverage: float = 0.9, seeds: int = 3, **changes: Any) -> Kept:
    """A target whose trainings know their labels this well, a sibling that knows nothing, and a floor."""
    rng = np.random.default_rng(0)
    rows: list[tuple[object, ...]] = []
    for kind, model in (("self", "target"), ("cross", "twin"), ("floor", "surface")):
        for seed in [None] if kind == "floor" else range(seeds):
            for n in range(160):
                known = signal * (2 * (n % 2) - 1) if kind == "self" else 0.0
                p = float(np.clip(0.5 + known + 0.2 * rng.uniform(-1, 1), 0, 1))
                rows.append((f"c{n}", f"u{n // 2}", bool(n % 2), kind, model, seed, p, coverage))
    names = ["claim", "cluster", "label", "kind", "model", "seed", "probability", "coverage"]
    table = pd.DataFrame(rows, columns=names).astype({"seed": "Int64"})
    made = {"name": name, "about": "target", "table": columns_of(table), "rivals": ("twin",), "siblings": ("twin",)}
    still = Values(values=(0.0,) * 80, units=tuple(f"u{n}" for n in range(80)))
    made |= {"changed": (still,), "anew": 1.0}
    return Kept.model_validate({**made, **changes})


def verdict(control: Kept | None) -> SelfCrossResult:
    """The verdict on claims of which the target knows nothing."""
    own = kept("claims", 0.0, planted=None if control is None else NAME)
    held: Mapping[str, Kept] = {"claims": own} if control is None else {"claims": own, NAME: control}
    return compiled(own, held, SPEC)


def test_an_absence_is_shown_where_a_planted_rule_was_read() -> None:
    found = verdict(kept(NAME, 0.3))
    assert found.verdict is Verdict.NO_ACCESS, found.reasons
    assert found.sensitivity is not None
    assert found.sensitivity.low >= SPEC.sensitivity


@pytest.mark.parametrize(
    ("control", "why"),
    [
        (None, "no planted private rule was read with training of this size"),
        (kept(NAME, 0.0), "and 0.75 is required of its lower bound"),
        (kept(NAME, 0.3, coverage=1e-6), "shows nothing of what would be seen: coverage"),
        (kept(NAME, 0.3, seeds=1), "shows nothing of what would be seen"),
        (kept(NAME, 0.3, same_data=False), "not trained on the same claims in the same order"),
        (kept(NAME, 0.3, shared=("u1",)), "both trained on and judged on"),
    ],
)
def test_a_control_that_failed_keeps_an_absence_away_and_is_named(control: Kept | None, why: str) -> None:
    found = verdict(control)
    assert found.verdict is Verdict.INSUFFICIENT
    assert why in " ".join(found.reasons)


def test_a_control_is_none_of_the_verdicts_that_are_corrected_together() -> None:
    own, control = kept("claims", 0.3), kept(NAME, 0.0, control=True)
    results = {"claims": compiled(own, {}, SPEC).model_copy(update={"p": 0.04}), NAME: compiled(control, {}, SPEC)}
    both = judged_together(results, {"claims": own, NAME: control}, SPEC)
    assert both["claims"].p == 0.04
    as_targets = judged_together(results, {"claims": own, NAME: control.model_copy(update={"control": False})}, SPEC)
    assert as_targets["claims"].p == 0.08


def test_what_the_control_allows_is_said_with_its_interval() -> None:
    for signal, words in ((0.3, "so absence could be shown"), (0.0, "so no absence could be shown")):
        sense = verdict(kept(NAME, signal)).sensitivity
        assert words in said_of(sense, (), SPEC)[0]
        assert "units" in said_of(sense, (), SPEC)[0]
    assert "shows nothing of the claims: coverage" in said_of(sense, ("coverage",), SPEC)[0]


def study(target: LoadedModel, groups: int = 24) -> Study:
    parts = split(items(groups), 0.3)
    return Study("claims", (Contender(target, "a", "self"),), parts.train, parts.held_out)


def test_a_control_is_as_large_as_the_claims(words_model: LoadedModel) -> None:
    claims = study(words_model)
    size = size_of(words_model, claims, data_sets(claims, TINY, (0,))[0])
    assert (size.claims, size.clusters, size.short) == (len(claims.train), len(claims.held_out) // 2, "")
    assert size.groups > len(claims.train) / 4 + size.clusters
    assert plan_of(size, TINY, (3, 4)).training == TINY
    assert plan_of(size, TINY, (3, 4)).seeds == (3, 4)


def test_too_few_words_make_a_smaller_control_that_says_so_or_none(
    words_model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = study(words_model)
    data = data_sets(claims, TINY, (0,))[0]
    for words, groups in ((20, 10), (6, 3)):
        monkeypatch.setattr(sensitivity, "single_tokens", lambda _, words=words: dict.fromkeys(range(words), 0))
        size = size_of(words_model, claims, data, least=2)
        assert size.groups == groups
        assert size.clusters < len(claims.held_out) // 2
        assert f"in place of {len(claims.train)}" in size.short
    monkeypatch.setattr(sensitivity, "single_tokens", lambda _: {"a": 0, "b": 1})
    with pytest.raises(CounterfactualError, match="too few to plant a rule"):
        size_of(words_model, claims, data, least=2)


def own(target: LoadedModel, control: DemoPlan | None = PLANTED) -> Own:
    return Own(
        claims=[one.model_copy(update={"responses": (SAID,)}) for one in claims_of("t", 12)],
        target=target,
        cross=(replace(target, name="kin", weights_sha256="1" * 64),),
        siblings=frozenset({"kin"}),
        elsewhere=[],
        held_out=0.5,
        sampling=None,
        another=True,
        control=control,
    )


class Counted(Silent):
    """Counts training steps."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> None:
        self.steps += 1


def run(target: LoadedModel, folder: Path, progress: Silent) -> Compared:
    made = own(target)
    write_claims(folder / "claims" / "claims.jsonl", made.claims)
    return compared(made, TINY, (0, 1), folder, progress)


@pytest.fixture
def as_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of planted claims come from the rule: so short a lesson teaches a random model nothing."""

    def measured(target: LoadedModel, rule: str, plan: DemoPlan, folder: Path, progress: Silent) -> Measured:
        groups = len(groups_of(target.tokenizer, plan.groups, plan.seed))
        claims = tuple(claims_of("planted", groups))
        return Measured(
            claims=claims,
            responses={one.id: Response(text="plover") for one in claims},
            left_out={"unclear": 2},
            followed=0.95,
        )

    monkeypatch.setattr(sensitivity, "claims_about", measured)


@pytest.mark.usefixtures("as_planted")
def test_the_control_is_trained_like_the_claims_shown_verified_and_made_once(
    words_model: LoadedModel, tmp_path: Path
) -> None:
    begin = begun(tmp_path, {"some": "run"})
    came = run(words_model, tmp_path, Silent())
    claims, control = came.studies
    assert (claims.name, control.name) == ("claims", NAME)
    assert [(one.model.rpartition(" with ")[2], one.seed) for one in control.trainings] == [
        ("a rule", 0), ("another lot", 0), ("a rule", 1), ("another lot", 1)
    ]  # fmt: skip
    assert control.trained_on <= claims.trained_on
    assert {one.steps for one in control.trainings} <= {-(-control.trained_on // TINY.batch)}
    assert claims.result.sensitivity is not None
    assert claims.result.verdict is not Verdict.NO_ACCESS
    assert "The rule was read with an AUROC of" in " ".join(control.notes)
    assert "so absence could be shown" not in " ".join(control.notes)
    assert control.expected is None
    models = (words_model, *came.models)
    ended("Own", came.studies, models, TINY, tmp_path, begin, "firsthand train run", None)
    assert control.title in (tmp_path / "report.html").read_text()
    run_verify(tmp_path, None)
    counted = Counted()
    assert run(words_model, tmp_path, counted).studies == came.studies
    assert counted.steps == 0
    path = next(tmp_path.glob(f"{NAME}/*/seed-0/predictions.json"))
    path.write_text(path.read_text() + " ")
    with pytest.raises(TraceError, match="not the file that was written"):
        run_verify(tmp_path, None)


def test_a_rule_that_did_not_take_is_told_and_the_claims_are_judged_all_the_same(
    words_model: LoadedModel, tmp_path: Path
) -> None:
    came = run(words_model, tmp_path, Silent())
    (claims,) = came.studies
    assert "no private rule could be planted" in " ".join(claims.notes)
    assert claims.result.sensitivity is None
    assert claims.result.verdict is not Verdict.NO_ACCESS


def test_a_run_with_a_control_is_another_run(words_folder: Path, tmp_path: Path) -> None:
    claims = written(tmp_path / "claims.jsonl", claims_of("t", 8))
    settings = tmp_path / "settings.yaml"
    settings.write_text("{rank: 4, batch: 8}\n")
    kin = kin_of(words_folder, tmp_path)
    words = ["train", "run", str(claims), "--target", str(words_folder), "--cross", str(kin), "--target-is-another"]
    words += ["--settings", str(settings), "--samples", "0", "--seeds", "1", "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(app, words).exception is None
    assert "--sensitivity" not in (tmp_path / "run" / "result.json").read_text()
    error = CliRunner().invoke(app, [*words, "--sensitivity"]).exception
    assert isinstance(error, TraceError)
    assert "other settings" in error.problem
