"""Jobs that come together are carried out together, and each hears of its own outcome."""

import threading
from collections.abc import Sequence

import pytest

from firsthand.counterfactual.inspecting.gathering import Gathering


def doubled(jobs: Sequence[int]) -> list[int | Exception]:
    return [ValueError("odd") if job % 2 else job * 2 for job in jobs]


def test_jobs_that_come_together_are_one_batch() -> None:
    gathering = Gathering[int, int](doubled)
    futures = [gathering.submit(number) for number in range(0, 100, 2)]
    assert [future.result(5) for future in futures] == list(range(0, 200, 4))
    assert len(gathering.batches) < 10


def test_a_job_that_fails_fails_alone_and_the_worker_goes_on() -> None:
    gathering = Gathering[int, int](doubled)
    odd, even = gathering.submit(1), gathering.submit(2)
    with pytest.raises(ValueError, match="odd"):
        odd.result(5)
    assert even.result(5) == 4
    assert gathering.submit(4).result(5) == 8


def test_a_worker_that_breaks_tells_everybody_and_goes_on() -> None:
    def broken(jobs: Sequence[int]) -> list[int | Exception]:
        raise MemoryError("all gone") if 0 in jobs else KeyError(jobs[0])

    gathering = Gathering[int, int](broken)
    for job, error in ((0, MemoryError), (1, KeyError)):
        with pytest.raises(error):
            gathering.submit(job).result(5)


def test_no_batch_is_larger_than_allowed_and_a_cancelled_job_is_not_carried_out() -> None:
    begun, go, seen = threading.Event(), threading.Event(), []

    def work(jobs: Sequence[int]) -> list[int | Exception]:
        begun.set()
        go.wait(5)
        seen.extend(jobs)
        return list(jobs)

    gathering = Gathering[int, int](work, most=4)
    gathering.submit(-1)
    begun.wait(5)
    futures = [gathering.submit(number) for number in range(10)]
    assert futures[3].cancel()
    go.set()
    assert [future.result(5) for i, future in enumerate(futures) if i != 3] == [0, 1, 2, *range(4, 10)]
    assert max(gathering.batches) <= 4
    assert 3 not in seen
