"""The whole study on tiny models: kept, taken up, refused, and one model at a time."""

import gc
import shutil
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from firsthand.analysis.self_results import SelfAdvantage
from firsthand.auditing.labels import direct_meta as module
from firsthand.auditing.labels import direct_meta_known as known
from firsthand.auditing.labels.direct_meta import ALL, DirectMetaRun, claim_of, study
from firsthand.engine.loading import LoadedModel, load
from firsthand.errors import ClaimError, LabelsError, TraceError
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.direct_meta.pairs import Pair, PairSet, built_in
from firsthand.trials.files import read_json
from firsthand.vocabulary import Verdict

PAIRS = built_in()[::4]
GIVEN = PairSet(PAIRS, {"there already": 2})
ASKED = ("better", "alone")


@pytest.fixture(scope="module", autouse=True)
def briefly() -> Iterator[None]:
    """In small units, and without known answers and the examination of models, which are tested beside this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "known_answers", lambda *_: ())
        patch.setattr(module, "examined", lambda *_: ())
        patch.setattr(module, "PAIRS_AT_ONCE", 25)
        yield


@pytest.fixture(scope="module")
def models(tiny: LoadedModel, tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The tiny model, and two more random ones of the same shape."""
    import torch
    from transformers import LlamaForCausalLM

    found = [str(tiny_folder)]
    for seed in (1, 2):
        torch.manual_seed(seed)
        folder = tmp_path_factory.mktemp(f"other-{seed}")
        LlamaForCausalLM(tiny.model.config).save_pretrained(folder)
        tiny.tokenizer.save_pretrained(folder)
        found.append(str(folder))
    return tuple(found)


def asked(models: tuple[str, ...], folder: Path, pairs: tuple[Pair, ...] = PAIRS) -> DirectMetaRun:
    return study(claim_of(models, pairs, ASKED), replace(GIVEN, pairs=pairs), folder, reproduce=["again"])


@pytest.fixture(scope="module")
def finished(models: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> DirectMetaRun:
    return asked(models, tmp_path_factory.mktemp("study"))


def test_random_models_are_insufficient_under_every_phrasing(finished: DirectMetaRun) -> None:
    assert finished.results[0].phrasing == ALL
    assert {one.phrasing for one in finished.results} >= set(ASKED)
    assert {r.verdict for one in finished.results for r in one.reporters} == {Verdict.INSUFFICIENT}


def test_the_document_has_a_verdict_a_model_and_every_table_that_was_promised(finished: DirectMetaRun) -> None:
    document = finished.document
    assert LabelsDocument.model_validate(read_json(finished.folder / "result.json")) == document
    *per_model, side_by_side, phrasings = document.findings
    assert len(per_model) == len(document.models) == 3
    assert document.instrument_ok, document.failed_checks
    for finding in per_model:
        assert [result.verdict for result in finding.results] == [Verdict.INSUFFICIENT]
        assert "(1) " in (finding.prompt or "")
    assert not side_by_side.results
    assert {grid.name for grid in side_by_side.grids} >= {"agreement", "similarity", "right"}
    assert len(phrasings.grids[0].rows) == 3 * (2 + len(ASKED))
    assert document.data.used == {"pairs": len(PAIRS), "phenomena": 10}
    assert document.data.dropped == {"there already": 2}
    assert len({card.weights_sha256 for card in document.models}) == 3
    assert document.reproduce == ("again",)


def test_a_run_on_which_a_planted_statement_cannot_be_shown_has_no_verdict(
    finished: DirectMetaRun, models: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "known_answers", known.known_answers)
    monkeypatch.setattr(known, "DRAWS_OF_WORLD", 1)
    monkeypatch.setattr(known, "FOUND", 1.1)
    document = asked(models, finished.folder).document
    assert len(document.known_answers) == len(known.WORLDS) * len(models)
    assert not document.instrument_ok
    assert any("its own judgement" in failure for failure in document.failed_checks)
    assert not any(finding.results for finding in document.findings)


def test_every_share_of_right_answers_has_an_interval_over_items_or_phenomena(finished: DirectMetaRun) -> None:
    every: SelfAdvantage = finished.results[0]
    for one in every.reporters:
        assert one.right_direct.low < one.right_direct.value < one.right_direct.high
        assert one.right_direct.cluster in ("item", "phenomenon")


def test_a_second_run_asks_nothing_and_a_deleted_unit_comes_back_with_the_same_bytes(
    models: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = asked(models[:2], tmp_path)
    real, made = module.judgements, []
    monkeypatch.setattr(module, "judgements", lambda *given: (made.append(given[0].name), real(*given))[1])
    again = asked(models[:2], tmp_path)
    assert made == []
    assert again.document.findings == first.document.findings
    unit = tmp_path / "trace" / "1" / "reports" / "pairs.0001.parquet"
    before = unit.read_bytes()
    for path in (unit, tmp_path / "trace" / "1" / "units" / "pairs.0001.json"):
        path.unlink()
    asked(models[:2], tmp_path)
    assert made == [models[1]]
    assert unit.read_bytes() == before


def test_other_pairs_another_model_or_another_precision_need_another_folder(
    finished: DirectMetaRun, models: tuple[str, ...]
) -> None:
    with pytest.raises(ClaimError, match="pairs_sha256"):
        asked(models, finished.folder, PAIRS[1:])
    with pytest.raises(ClaimError, match="models"):
        asked(models[:2], finished.folder)
    with pytest.raises(ClaimError, match="weights_sha256 was"):
        study(
            claim_of(models, PAIRS, ASKED),
            GIVEN,
            finished.folder,
            load_model=lambda name: replace(load(models[2]), name=models[1]) if name == models[1] else load(name),
        )


def test_a_claim_about_other_pairs_is_refused(models: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match="for other pairs"):
        study(claim_of(models, PAIRS[1:]), GIVEN, tmp_path)
    with pytest.raises(LabelsError, match="There are 10 pairs"):
        asked(models, tmp_path, PAIRS[:10])


def test_a_damaged_table_is_no_traceback(models: tuple[str, ...], finished: DirectMetaRun, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished.folder, folder)
    path = folder / "trace" / "0" / "readings" / "pairs.0000.parquet"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(TraceError, match="altered"):
        asked(models, folder)


def test_a_model_is_let_go_of_before_the_next_is_loaded(models: tuple[str, ...], tmp_path: Path) -> None:
    before: list[weakref.ref[object]] = []
    alive: list[int] = []

    def noting(name: str) -> LoadedModel:
        gc.collect()
        alive.append(sum(ref() is not None for ref in before))
        loaded = load(name)
        before.append(weakref.ref(loaded.model))
        return loaded

    some = PAIRS[:20]
    study(claim_of(models[:2], some, ASKED[:1]), replace(GIVEN, pairs=some), tmp_path, load_model=noting)
    assert alive == [0, 0]


def test_progress_is_told_of_every_row_also_of_those_that_are_there(
    models: tuple[str, ...], finished: DirectMetaRun
) -> None:
    class Told:
        def __init__(self) -> None:
            self.totals: dict[str, int] = {}
            self.steps: dict[str, int] = {}
            self.stage = ""

        def start(self, stage: str, total: int) -> None:
            self.stage, self.totals[stage], self.steps[stage] = stage, total, 0

        def step(self) -> None:
            self.steps[self.stage] += 1

        def say(self, message: str) -> None:
            pass

    told = Told()
    study(claim_of(models, PAIRS, ASKED), GIVEN, finished.folder, told)
    assert told.steps == told.totals
    assert told.totals[f"asking {models[0]}"] == 6 * len(PAIRS)
    assert len(PAIRS) > module.PAIRS_AT_ONCE


def test_one_model_or_the_same_one_twice_is_refused(models: tuple[str, ...], tmp_path: Path) -> None:
    for some in ((), models[:1]):
        with pytest.raises(ValueError, match="needs two at least"):
            claim_of(some, PAIRS)
    with pytest.raises(ValueError, match="more than once"):
        claim_of((models[0], models[0]), PAIRS)
    with pytest.raises(LabelsError, match="are the same model"):
        asked((models[0], models[0] + "/"), tmp_path)


def test_pairs_that_share_a_string_are_one_unit(finished: DirectMetaRun) -> None:
    assert finished.table["item"].nunique() == len(PAIRS)
    tables = [pd.read_parquet(path) for path in sorted((finished.folder / "trace" / "0" / "public").iterdir())]
    assert set(pd.concat(tables)["good"]) == {pair.good for pair in PAIRS}
