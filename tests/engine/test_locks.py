"""One model runs one pass at a time, whichever threads ask."""

import threading

import torch
from plain_families import HIDDEN, VOCABULARY

from firsthand.engine import Anatomy, Edit, Row, resid_post, run
from firsthand.engine.locks import held

_GENERATOR = torch.Generator().manual_seed(6)
TOKENS = tuple(torch.randint(3, VOCABULARY, (30,), generator=_GENERATOR).tolist())
VECTOR = torch.randn(HIDDEN, generator=_GENERATOR) * 5


def test_an_edit_of_one_thread_never_reaches_the_rows_of_another(anatomy: Anatomy) -> None:
    clean, edited = Row(TOKENS), Row(TOKENS, (Edit(resid_post(1), (20,), VECTOR),))
    wanted = {row: run(anatomy, [row, row]).logprobs_RV for row in (clean, edited)}
    wrong: list[str] = []

    def work(row: Row) -> None:
        try:
            found = [run(anatomy, [row, row]).logprobs_RV for _ in range(30)]
            wrong.extend("numbers" for one in found if not torch.equal(one, wanted[row]))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a thread is to be seen here
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(row,)) for row in (clean, edited, clean, edited)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_thread_that_holds_a_model_may_take_it_again(anatomy: Anatomy) -> None:
    wanted = run(anatomy, [Row(TOKENS)]).logprobs_RV
    with held(anatomy.model), held(anatomy.model):
        assert torch.equal(run(anatomy, [Row(TOKENS)]).logprobs_RV, wanted)
