"""Nothing is paid twice: what a call gave is kept before it is used, and found again as it was."""

import importlib
import random
import sqlite3
import subprocess
import sys
import time
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from signal import SIGKILL

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted_runs import PROMPTS, SPARKLES, Scripted, prompt, run

from firsthand.counterfactual import behaviours
from firsthand.counterfactual.asking import Bench, by_program
from firsthand.counterfactual.behaviours import Called, Computed, Verdict
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.prompts import ToolCall
from firsthand.counterfactual.responses import Request, Response
from firsthand.counterfactual.store import NAME, Spent, Store
from firsthand.errors import CounterfactualError, TraceError

REQUEST = Request(prompt=prompt("Say something."), batch="screen", samples=3)
RESPONSES = [
    Response(text="Grüße, \u202e\x00 and 🦔", reasoning="hm", tokens=7),
    Response(text="", calls=(ToolCall(id="1", name="f", arguments={"a": [1, None, {"b": 0.1}]}),), ended="length"),
    Response(text="the call failed", ended="error"),
]
VERDICTS = [Verdict.YES, Verdict.NO, Verdict.INVALID]


def test_what_was_kept_is_read_back_as_it_was_by_the_same_store_and_by_the_next(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert store.responses(REQUEST, "t") is None
        assert store.verdicts(SPARKLES, REQUEST, "t") is None
        store.keep_responses(REQUEST, "t", RESPONSES)
        store.keep_verdicts(SPARKLES, REQUEST, "t", VERDICTS)
        store.keep_part("prompt", "one", PROMPTS[0])
        assert store.responses(REQUEST, "t") == RESPONSES
    with Store(tmp_path) as store:
        assert store.responses(REQUEST, "t") == RESPONSES
        assert store.verdicts(SPARKLES, REQUEST, "t") == VERDICTS
        assert store.part("prompt", "one", type(PROMPTS[0])) == PROMPTS[0]
        assert store.parts("prompt", type(PROMPTS[0])) == {"one": PROMPTS[0]}
        assert store.spent() == Spent(batches=1, responses=2, tokens=7)  # nobody paid for a call that failed


@pytest.mark.parametrize(
    "change",
    [{"batch": "baseline"}, {"samples": 4}, {"prompt": prompt("Say something else.")}],
)
def test_another_batch_number_or_prompt_is_another_request(tmp_path: Path, change: dict[str, object]) -> None:
    with Store(tmp_path) as store:
        store.keep_responses(REQUEST, "t", RESPONSES)
        assert store.responses(REQUEST.model_copy(update=change), "t") is None
        assert store.responses(REQUEST, "another target") is None


def test_verdicts_belong_to_one_behaviour(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep_verdicts(SPARKLES, REQUEST, "t", VERDICTS)
        assert store.verdicts(SPARKLES.model_copy(update={"flags": "i"}), REQUEST, "t") is None
        assert store.verdicts(Called(question="Does it call f?", tool="f"), REQUEST, "t") is None


def test_what_is_kept_is_never_replaced_by_another_answer(tmp_path: Path) -> None:
    answered = [*RESPONSES[:2], Response(text="the third", tokens=2)]
    with Store(tmp_path) as store:
        store.keep_responses(REQUEST, "t", answered)
        store.keep_responses(REQUEST, "t", answered)
        with pytest.raises(CounterfactualError, match="already holds something else"):
            store.keep_responses(REQUEST, "t", answered[::-1])
        store.keep_verdicts(SPARKLES, REQUEST, "t", VERDICTS)
        with pytest.raises(CounterfactualError, match="already holds something else"):
            store.keep_verdicts(SPARKLES, REQUEST, "t", VERDICTS[::-1])
        assert store.responses(REQUEST, "t") == answered


def test_only_responses_whose_call_failed_are_replaced_and_verdicts_on_them_are_forgotten(tmp_path: Path) -> None:
    again = [Response(text=f"draw {number}", tokens=5) for number in range(3)]
    with Store(tmp_path) as store:
        store.keep_responses(REQUEST, "t", RESPONSES)
        store.keep_verdicts(SPARKLES, REQUEST, "t", VERDICTS)
        assert store.has(REQUEST.key("t"))
        assert not store.whole(REQUEST.key("t"))
        store.keep_responses(REQUEST, "t", RESPONSES)
        assert store.verdicts(SPARKLES, REQUEST, "t") == VERDICTS  # it failed again, so nothing changed
        store.keep_responses(REQUEST, "t", again)
        assert store.responses(REQUEST, "t") == [*RESPONSES[:2], again[2]]
        assert store.whole(REQUEST.key("t"))
        assert store.verdicts(SPARKLES, REQUEST, "t") is None
        assert store.spent() == Spent(batches=1, responses=3, tokens=12)
        store.checked()


def test_what_a_response_says_is_not_taken_for_how_it_ended(tmp_path: Path) -> None:
    call = ToolCall(id="1", name="f", arguments={"ended": "error", "more": {"ended": "error"}})
    odd = [Response(text='{"ended":"error"}'), Response(text="", calls=(call,)), Response(text="", ended="filter")]
    with Store(tmp_path) as store:
        store.keep_responses(REQUEST, "t", odd)
        assert store.whole(REQUEST.key("t"))


def test_a_batch_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        with pytest.raises(CounterfactualError, match="wants 3 responses, and 2 came"):
            store.keep_responses(REQUEST, "t", RESPONSES[:2])
        with pytest.raises(CounterfactualError, match="3 responses, and 1 verdicts"):
            store.keep_verdicts(SPARKLES, REQUEST, "t", VERDICTS[:1])
        assert store.contents() == {"batches": {}, "verdicts": {}, "parts": {}}


def test_a_second_process_in_the_same_folder_is_refused_and_may_go_on_after_the_first(tmp_path: Path) -> None:
    opening = (
        f"from firsthand.counterfactual.store import Store; from pathlib import Path; Store(Path({str(tmp_path)!r}))"
    )
    with Store(tmp_path) as store:
        store.keep_responses(REQUEST, "t", RESPONSES)
        with pytest.raises(CounterfactualError, match="Another process is using"):
            Store(tmp_path)
        other = subprocess.run([sys.executable, "-c", opening], capture_output=True, text=True, check=False)
        assert other.returncode != 0
        assert "Another process is using" in other.stderr
        assert store.responses(REQUEST, "t") == RESPONSES
    with Store(tmp_path) as store:
        assert store.spent().batches == 1


def test_a_foreign_file_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"not a database, but somebody's notes" * 40)
    with pytest.raises(CounterfactualError, match="no store of firsthand"):
        Store(tmp_path)
    assert path.read_bytes().startswith(b"not a database")
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (a)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(CounterfactualError, match="another program's database"):
        Store(tmp_path)
    assert path.read_bytes() == before


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    Store(tmp_path).close()
    database = sqlite3.connect(tmp_path / NAME)
    database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(CounterfactualError, match="format 99"):
        Store(tmp_path)


def test_a_row_that_was_altered_is_noticed(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep_responses(REQUEST, "t", RESPONSES)
    database = sqlite3.connect(tmp_path / NAME)
    database.execute("UPDATE batches SET value = replace(value, 'error', 'stop')")
    database.commit()
    database.close()
    with Store(tmp_path) as store, pytest.raises(CounterfactualError, match="damaged"):
        store.checked()
    with Store(tmp_path) as store, pytest.raises(CounterfactualError, match="damaged"):
        store.responses(REQUEST, "t")


def test_a_truncated_file_is_noticed(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for number in range(200):
            store.keep_responses(REQUEST.model_copy(update={"batch": str(number)}), "t", RESPONSES)
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes()[:-9000])
    with pytest.raises(CounterfactualError, match="damaged"):
        Store(tmp_path)


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="could not be written"):
        Store(tmp_path / "file" / "run")


def test_contents_are_equal_for_equal_runs(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        run(tmp_path / name, Scripted())
        with Store(tmp_path / name) as store:
            found.append(store.contents())
            assert store.parts("investigation", Investigation)
    assert found[0] == found[1]


def test_killed_at_ten_random_moments_a_run_ends_the_same_and_asks_for_nothing_that_was_kept(tmp_path: Path) -> None:
    whole, folder, log = tmp_path / "whole", tmp_path / "killed", tmp_path / "log"
    counted = Scripted()
    run(whole, counted)
    asked = [request.key("scripted") for call in counted.calls for request in call]
    assert len(asked) == len(set(asked))
    rng, kept, kills = random.Random(3), set[str](), 0
    log.touch()
    for goal in [*sorted(rng.sample(range(1, len(asked) - 6), 10)), None]:
        before = log.read_text().split()
        process = _start(folder, log)
        if goal is not None:
            _wait_for(log, goal, process)
            time.sleep(rng.random() * 0.05)
            process.kill()
            kills += 1
        process.join(60)
        assert process.exitcode == (0 if goal is None else -SIGKILL)
        now = log.read_text().split()[len(before) :]
        assert not kept & set(now), "a batch that was kept was asked for again"
        assert len(now) == len(set(now))
        with Store(folder) as store:
            held = set(store.contents()["batches"])
        assert len(set(now) - held) <= 3, "more than one call was lost"
        kept = held
    with Store(folder) as store, Store(whole) as other:
        assert store.contents() == other.contents()
    assert kills == 10


def _start(folder: Path, log: Path) -> BaseProcess:
    """A process of its own that runs everything; forked, since imports would take most of the time."""
    process = get_context("fork").Process(target=run, args=(folder, Scripted(log, 0.05)))
    process.start()
    return process


def _wait_for(log: Path, lines: int, process: BaseProcess) -> None:
    """Wait until so many requests were asked in all runs together, or the process ends."""
    for _ in range(6000):
        if len(set(log.read_text().split())) >= lines or not process.is_alive():
            return
        time.sleep(0.005)
    raise AssertionError("the run made no progress")


def test_verdicts_of_a_function_that_was_changed_are_not_those_of_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bench judges the same batch anew, and what was found before stays under what found it."""
    module = tmp_path / "changing_judge.py"
    monkeypatch.syspath_prepend(tmp_path)
    behaviour = Computed(question="Is it long?", function="changing_judge:judge")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def found(limit: int) -> int:
        module.write_text(f"# judges lengths\ndef judge(response):\n    return len(response.text) > {limit}\n")
        sys.modules.pop("changing_judge", None)
        importlib.invalidate_caches()
        behaviours._function.cache_clear()
        behaviours._source.cache_clear()
        with Store(tmp_path / "run") as store:
            bench = Bench(Scripted(), by_program, store)
            if not bench.has(bench.key(REQUEST)):
                bench.ask({bench.key(REQUEST): REQUEST})
            return bench.rates([(behaviour, REQUEST)])[0].yes

    assert [found(3), found(300), found(3)] == [3, 0, 3]
