"""The whole study on tiny models: kept, taken up, refused, and one model at a time."""

import gc
import weakref
from pathlib import Path

import pandas as pd
import pytest

from firsthand.auditing.labels import direct_meta as module
from firsthand.auditing.labels.direct_meta import ALL, DirectMeta, study
from firsthand.engine.loading import LoadedModel, load
from firsthand.errors import LabelsError, TraceError
from firsthand.studies.labels.pairs import built_in
from firsthand.studies.labels.phrasings import PHRASINGS
from firsthand.trials.files import read_json
from firsthand.vocabulary import Verdict

PAIRS = built_in()[::6]
ASKED = PHRASINGS[::3]


@pytest.fixture(scope="module")
def other_folder(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second random model of the same shape."""
    import torch
    from transformers import LlamaForCausalLM

    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("other")
    LlamaForCausalLM(tiny.model.config).save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def finished(
    tiny_folder: Path, other_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, DirectMeta]:
    folder = tmp_path_factory.mktemp("study")
    return folder, study([str(tiny_folder), str(other_folder)], PAIRS, folder, phrasings=ASKED)


def test_random_models_are_insufficient_under_every_phrasing(finished: tuple[Path, DirectMeta]) -> None:
    _, result = finished
    assert [one.phrasing for one in result.results][:1] == [ALL]
    assert {one.phrasing for one in result.results} >= {phrasing.name for phrasing in ASKED}
    assert {r.verdict for one in result.results for r in one.reporters} == {Verdict.INSUFFICIENT}
    assert sum(result.phenomena.values()) == len(PAIRS)


def test_the_folder_holds_the_result_and_a_table_of_every_model(finished: tuple[Path, DirectMeta]) -> None:
    folder, result = finished
    assert DirectMeta.model_validate(read_json(folder / "result.json")) == result
    tables = [pd.read_parquet(path) for path in sorted((folder / "judgements").iterdir())]
    assert len(tables) == 2
    assert all(len(table) == len(PAIRS) * len(ASKED) for table in tables)


def test_what_is_finished_is_taken_up_and_only_the_rest_is_asked(
    finished: tuple[Path, DirectMeta],
    tiny_folder: Path,
    other_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder, result = finished
    models = [str(tiny_folder), str(other_folder)]
    asked: list[str] = []
    real = module.judgements
    monkeypatch.setattr(module, "judgements", lambda loaded, *rest: (asked.append(loaded.name), real(loaded, *rest))[1])
    assert study(models, PAIRS, folder, phrasings=ASKED) == result
    assert asked == []
    kept = sorted((folder / "judgements").iterdir())
    (tmp_path / "judgements").mkdir()
    (tmp_path / "judgements" / kept[0].name).write_bytes(kept[0].read_bytes())
    assert study(models, PAIRS, tmp_path, phrasings=ASKED) == result
    assert len(asked) == 1
    study(models, PAIRS[1:], tmp_path, phrasings=ASKED)
    assert len(asked) == 3  # other pairs: nothing of before counts


def test_a_damaged_table_is_no_traceback(
    finished: tuple[Path, DirectMeta], tiny_folder: Path, other_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "judgements").mkdir()
    for path in (finished[0] / "judgements").iterdir():
        (tmp_path / "judgements" / path.name).write_bytes(path.read_bytes()[:-30])
    with pytest.raises(TraceError, match="is damaged"):
        study([str(tiny_folder), str(other_folder)], PAIRS, tmp_path, phrasings=ASKED)


def test_a_model_is_let_go_of_before_the_next_is_loaded(
    tiny_folder: Path, other_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[weakref.ref[object]] = []
    alive: list[int] = []

    def noting(name: str) -> LoadedModel:
        gc.collect()
        alive.append(sum(ref() is not None for ref in before))
        loaded = load(name)
        before.append(weakref.ref(loaded.model))
        return loaded

    monkeypatch.setattr(module, "load", noting)
    study([str(tiny_folder), str(other_folder)], PAIRS[:3], tmp_path, phrasings=ASKED[:1])
    assert alive == [0, 0]


def test_progress_is_told_of_every_row(tiny_folder: Path, other_folder: Path, tmp_path: Path) -> None:
    class Told:
        def __init__(self) -> None:
            self.totals: list[int] = []
            self.steps = 0

        def start(self, stage: str, total: int) -> None:
            self.totals.append(total)

        def step(self) -> None:
            self.steps += 1

        def say(self, message: str) -> None:
            pass

    told = Told()
    study([str(tiny_folder), str(other_folder)], PAIRS[:4], tmp_path, told, ASKED)
    assert told.totals == [24, 24]
    assert told.steps == 48


def test_the_same_model_twice_or_alone_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    name = str(tiny_folder)
    for models in ([], [name], [name, name]):
        with pytest.raises(LabelsError, match="needs two different ones"):
            study(models, PAIRS, tmp_path)
    with pytest.raises(LabelsError, match="are the same model"):
        study([name, name + "/"], PAIRS[:3], tmp_path, phrasings=ASKED[:1])
