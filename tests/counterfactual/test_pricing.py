"""A price is what a run costs at most, and never less than what it then costs."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted_runs import INVESTIGATOR, PROMPTS, SAMPLES, Scripted, run

from firsthand.counterfactual.pricing import MEASURED_TOKENS, measured, price, short
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.counterfactual.running import RunSettings
from firsthand.counterfactual.store import Store

SETTINGS = RunSettings(sampling=Sampling(samples=SAMPLES, max_tokens=8))


def test_a_run_costs_no_more_than_its_price(tmp_path: Path) -> None:
    told = price(PROMPTS, SETTINGS, INVESTIGATOR, rate=100.0)
    run(tmp_path, Scripted())
    with Store(tmp_path) as store:
        spent = store.spent()
    assert told.screening == len(PROMPTS) * SAMPLES
    assert spent.responses <= told.screening + told.investigating
    assert spent.tokens <= told.tokens
    assert told.seconds == pytest.approx(told.tokens / 100.0)


def test_equal_prompts_are_priced_once_and_a_limit_of_investigations_counts() -> None:
    few = price([*PROMPTS, *PROMPTS], SETTINGS.model_copy(update={"most": 2}), INVESTIGATOR, rate=None)
    assert (few.prompts, few.investigations) == (len(PROMPTS), 2)
    assert few.investigating == 2 * INVESTIGATOR.most
    assert few.seconds is None


def test_the_measured_pass_is_short_and_a_target_that_says_nothing_has_no_rate() -> None:
    class Silent(Scripted):
        def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
            return [[Response(text="no", ended="error")] * request.samples for request in requests]

    assert short(Sampling(max_tokens=500)).max_tokens == MEASURED_TOKENS
    assert short(Sampling(max_tokens=3)).max_tokens == 3
    target = Scripted()
    assert (measured(target, PROMPTS) or 0) > 0
    assert sum(request.samples for call in target.calls for request in call) <= 70
    assert measured(Silent(), PROMPTS) is None
