"""Many searches run side by side, are told what they asked for, and lose nothing when they are stopped."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted_runs import PROMPTS, SAMPLES, SPARKLES, WORD, Scripted, flagged, prompt, run, search

from firsthand.counterfactual.asking import Bench, Budget, by_program, sample
from firsthand.counterfactual.behaviours import Asked, Verdict
from firsthand.counterfactual.driving import INVESTIGATION, Search, drive
from firsthand.counterfactual.finishing import account_of
from firsthand.counterfactual.investigation import Investigation, Screened
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response
from firsthand.counterfactual.store import Spent, Store
from firsthand.errors import CounterfactualError
from firsthand.progress import Silent

TEXTS = [f"Describe the {thing} by the {WORD}." for thing in ("cup", "map", "pen", "key", "nail")]


class Counting(Silent):
    """Counts the steps of each stage."""

    def __init__(self) -> None:
        self.total, self.done = 0, 0

    def start(self, stage: str, total: int) -> None:
        self.total, self.done = total, 0

    def step(self) -> None:
        self.done += 1


def confirmed(one: Investigation) -> list[str]:
    """Hypotheses of the causes that a confirmed experiment supports."""
    held = {each.number for each in one.experiments if each.stage == "confirmed" and each.decision == "changes"}
    return [cause.hypothesis for cause in (one.report.causes if one.report else ()) if held & set(cause.experiments)]


def driven(store: Store, target: Scripted, texts: Sequence[str] = TEXTS, **limits: int) -> list[Investigation]:
    at_once = limits.pop("at_once", 1000)
    bench = Bench(target, by_program, store, Budget(**limits), at_once)
    found = [flagged(text) for text in texts]
    return drive([(one, search(one, target.identity)) for one in found], bench, Silent(), most=200)


def test_each_search_is_sent_the_rates_of_its_own_requests_in_their_order(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        found = driven(store, Scripted())
        for text, one in zip(TEXTS, found, strict=True):
            assert one.screened.prompt == prompt(text)
            assert confirmed(one) == [f"the word {WORD}."]
            assert (one.baseline.share or 0) > 0.6
            for experiment in one.experiments:
                request = Request(prompt=_after(one, experiment.number), batch=experiment.batch, samples=SAMPLES)
                kept = store.responses(request, "scripted")
                assert kept is not None
                assert experiment.rate == Rate.of(by_program([(SPARKLES, kept)])[0])


def _after(one: Investigation, number: int):
    from firsthand.counterfactual.edits import edited

    return edited(one.screened.prompt, one.experiments[number - 1].edit)


def test_requests_of_all_searches_are_pooled_into_few_calls(tmp_path: Path) -> None:
    target = Scripted()
    with Store(tmp_path) as store:
        driven(store, target)
    assert len(target.calls) == 3  # all baselines, all explored edits, all confirmations
    assert len(target.calls[0]) == len(TEXTS)


def test_a_call_holds_no_more_responses_than_are_asked_for_at_once_and_is_filled_from_all_searches(
    tmp_path: Path,
) -> None:
    target = Scripted()
    with Store(tmp_path) as store:
        driven(store, target, at_once=3 * SAMPLES)
    sizes = [len(call) for call in target.calls]
    assert max(sizes) == 3
    assert sizes.count(3) >= len(sizes) - 3


def test_how_requests_are_pooled_changes_nothing(tmp_path: Path) -> None:
    found = []
    for at_once in (1, 70, 1000):
        with Store(tmp_path / str(at_once)) as store:
            found.append((driven(store, Scripted(), at_once=at_once), store.contents()))
    assert found[0] == found[1] == found[2]


def test_a_batch_that_two_searches_want_is_drawn_once(tmp_path: Path) -> None:
    target = Scripted()
    with Store(tmp_path) as store:
        bench = Bench(target, by_program, store)
        one = flagged(TEXTS[0])
        other = one.model_copy(update={"behaviour": SPARKLES.model_copy(update={"pattern": "plain"})})
        found = drive([(s, search(s, "scripted")) for s in (one, other)], bench, Silent())
    baselines = [request for call in target.calls for request in call if request.batch == "baseline"]
    assert len(baselines) == 1
    assert found[0].baseline.yes == found[1].baseline.no


def test_an_interrupted_run_keeps_every_call_and_goes_on_without_asking_again(tmp_path: Path) -> None:
    class Interrupted(Scripted):
        def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
            if len(self.calls) == 2:
                raise KeyboardInterrupt
            return super().respond(requests)

    first, second = Interrupted(), Scripted()
    with Store(tmp_path / "stopped") as store, pytest.raises(KeyboardInterrupt):
        driven(store, first, at_once=100)
    with Store(tmp_path / "stopped") as store, Store(tmp_path / "whole") as whole:
        assert store.spent().batches == sum(map(len, first.calls))
        assert driven(store, second, at_once=100) == driven(whole, Scripted(), at_once=100)
        assert store.contents() == whole.contents()
    keys = [request.key("scripted") for target in (first, second) for call in target.calls for request in call]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("limit", [{"responses": 230}, {"tokens": 920, "longest": 4}])
def test_a_budget_is_never_exceeded_and_what_it_cuts_short_says_so(tmp_path: Path, limit: dict[str, int]) -> None:
    with Store(tmp_path) as store:
        found = driven(store, Scripted(), at_once=50, **limit)
        spent = store.spent()
        assert spent.responses == 220
        assert found[0].report is not None, "the first searches are finished before the last are begun"
        unfinished = [one for one in found if one.report is None]
        assert len(found) == len(TEXTS)
        assert unfinished
        assert all("budget" in one.ended and "was spent" in one.ended for one in unfinished)
        assert all(one.baseline.valid in (0, SAMPLES) for one in found)
        kept = store.parts(INVESTIGATION, Investigation)
        assert not {one.id for one in unfinished} & set(kept)
        assert driven(store, Scripted(), at_once=50, **limit) == found
        assert store.spent() == spent


def test_more_budget_finishes_what_was_cut_short_for_the_rest_of_its_price(tmp_path: Path) -> None:
    with Store(tmp_path / "cut") as store, Store(tmp_path / "whole") as whole:
        driven(store, Scripted(), responses=230)
        assert driven(store, Scripted()) == driven(whole, Scripted())
        assert store.contents() == whole.contents()


def test_without_any_budget_nothing_is_said_of_a_baseline_that_was_not_drawn(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        (one,) = driven(store, Scripted(), TEXTS[:1], responses=1)
        assert one.baseline == Rate(yes=0, no=0, invalid=20)
        assert one.baseline.share is None
        assert store.spent() == Spent(0, 0, 0)


def test_a_search_that_fails_is_told_of_and_stops_no_other(tmp_path: Path) -> None:
    def failing(screened: Screened, target: str) -> Search:
        yield [Request(prompt=screened.prompt, batch="baseline", samples=SAMPLES)]
        raise CounterfactualError("The prompt has no parts.", "Use a longer one.")

    bad, good = flagged(TEXTS[0]), flagged(TEXTS[1])
    with Store(tmp_path) as store:
        bench = Bench(Scripted(), by_program, store)
        found = drive([(bad, failing(bad, "scripted")), (good, search(good, "scripted"))], bench, Silent())
        assert (found[0].report, found[0].ended) == (None, "The prompt has no parts.")
        assert found[0].baseline.valid == SAMPLES
        assert found[1].report is not None
        assert list(store.parts(INVESTIGATION, Investigation)) == [found[1].id]


def test_a_search_that_wants_nothing_ends_at_once(tmp_path: Path) -> None:
    def silent(screened: Screened, target: str) -> Search:
        yield from ()
        return Investigation(
            target=target, investigator="silent", screened=screened, baseline=Rate(yes=0, no=0, invalid=1)
        )

    one, target = flagged(TEXTS[0]), Scripted()
    with Store(tmp_path) as store:
        (found,) = drive([(one, silent(one, "scripted"))], Bench(target, by_program, store), Silent())
    assert found.investigator == "silent"
    assert not target.calls


def test_a_search_that_returns_something_else_is_refused(tmp_path: Path) -> None:
    def wrong(screened: Screened, target: str) -> Search:
        yield from ()
        return None  # type: ignore[return-value]

    one = flagged(TEXTS[0])
    with Store(tmp_path) as store, pytest.raises(CounterfactualError, match="returned NoneType"):
        drive([(one, wrong(one, "scripted"))], Bench(Scripted(), by_program, store), Silent())


@pytest.mark.parametrize("limit", [{}, {"responses": 230}])
def test_progress_ends_where_it_said_it_would(tmp_path: Path, limit: dict[str, int]) -> None:
    progress, target = Counting(), Scripted()
    found = [flagged(text) for text in TEXTS]
    with Store(tmp_path) as store:
        bench = Bench(target, by_program, store, Budget(**limit), 100)
        drive([(one, search(one, "scripted")) for one in found], bench, progress, most=240)
        assert progress.done == progress.total == len(TEXTS) * 240
        requests = [Request(prompt=one, batch="screen", samples=5) for one in PROMPTS]
        sample(Bench(target, by_program, store), requests, "sampling", progress)
    assert progress.done == progress.total == len(PROMPTS)


def test_a_target_that_gives_too_few_batches_or_responses_is_refused(tmp_path: Path) -> None:
    class Short(Scripted):
        def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
            return super().respond(requests)[1:]

    class Few(Scripted):
        def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
            return [batch[1:] for batch in super().respond(requests)]

    with Store(tmp_path) as store:
        with pytest.raises(CounterfactualError, match="asked for 5 batches and gave 4"):
            driven(store, Short())
        with pytest.raises(CounterfactualError, match="wants 20 responses, and 19 came"):
            driven(store, Few())


def test_verdicts_are_given_once_and_a_failed_response_is_never_a_no(tmp_path: Path) -> None:
    class Failing(Scripted):
        def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
            return [[Response(text="timed out", ended="error"), *batch[1:]] for batch in super().respond(requests)]

    judged: list[int] = []

    def judge(batches):
        judged.append(len(batches))
        return by_program(batches)

    request = Request(prompt=prompt(TEXTS[0]), batch="baseline", samples=SAMPLES)
    with Store(tmp_path) as store:
        bench = Bench(Failing(), judge, store)
        bench.ask({bench.key(request): request})
        (rate,) = bench.rates([(SPARKLES, request)])
        assert bench.rates([(SPARKLES, request)] * 2) == [rate, rate]
        assert judged == [1]
        assert (rate.invalid, rate.valid) == (1, SAMPLES - 1)
        assert (store.verdicts(SPARKLES, request, "scripted") or [])[0] is Verdict.INVALID


def test_a_behaviour_that_needs_a_model_is_refused_by_programs() -> None:
    with pytest.raises(CounterfactualError, match="No program can answer"):
        by_program([(Asked(question="Is it rude?"), [Response(text="a")])])


def test_a_run_accounts_for_every_prompt_and_finds_the_word_that_matters(tmp_path: Path) -> None:
    ran = run(tmp_path, Scripted())
    assert sum(account_of(ran).places.values()) == len(PROMPTS)
    explained = [one for one in ran.investigations if confirmed(one)]
    assert {one.screened.prompt.place for one in explained} == {"0", "1"}
    assert all("lantern" in confirmed(one)[0] for one in explained)
    cut = run(tmp_path / "cut", Scripted(), budget=Budget(responses=5 * SAMPLES))
    assert len(cut.undrawn) == len(PROMPTS) - 5
    assert sum(account_of(cut).places.values()) == len(PROMPTS)


class Flaky(Scripted):
    """Some of its calls fail: the second response of every third batch."""

    def __init__(self, fails: bool = True) -> None:
        super().__init__()
        self.fails = fails

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        return [
            [batch[0], Response(text="503", ended="error"), *batch[2:]] if self.fails and number % 3 == 0 else batch
            for number, batch in enumerate(super().respond(requests))
        ]


def test_what_failed_is_asked_again_by_a_later_run_and_by_no_other_and_ends_as_if_it_had_not(tmp_path: Path) -> None:
    with Store(tmp_path / "whole") as whole, Store(tmp_path / "flaky") as store:
        wanted = driven(whole, Scripted())
        first = Flaky()
        cut = driven(store, first)
        assert cut != wanted
        keys = [request.key("scripted") for call in first.calls for request in call]
        assert len(keys) == len(set(keys))  # a run asks for nothing twice
        later = Flaky(fails=False)
        assert driven(store, later) == wanted
        assert 0 < sum(map(len, later.calls)) < sum(map(len, first.calls))
        assert store.parts(INVESTIGATION, Investigation) == whole.parts(INVESTIGATION, Investigation)
        last = Scripted()
        driven(store, last)
        assert not last.calls


def test_what_failed_is_taken_as_it_is_where_no_budget_is_left_to_ask_again(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        cut = driven(store, Flaky())
        target = Scripted()
        assert driven(store, target, responses=store.spent().responses) == cut
        assert not target.calls


def test_no_call_begins_after_the_time_is_over_and_a_later_run_goes_on(tmp_path: Path) -> None:
    now = [0.0]

    class Slow(Scripted):
        def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
            now[0] += 60.0
            return super().respond(requests)

    def timed(store: Store, target: Scripted) -> list[Investigation]:
        now[0] = 0.0
        bench = Bench(target, by_program, store, Budget(seconds=150.0), 100, clock=lambda: now[0])
        found = [flagged(text) for text in TEXTS]
        return drive([(one, search(one, "scripted")) for one in found], bench, Silent(), most=200)

    with Store(tmp_path / "timed") as store, Store(tmp_path / "whole") as whole:
        target = Slow()
        first = timed(store, target)
        assert len(target.calls) == 3
        assert {one.ended for one in first if one.report is None} == {"The budget of 150 seconds was spent."}
        for _ in range(20):
            if all(one.report is not None for one in first):
                break
            first = timed(store, Slow())
        assert first == driven(whole, Scripted(), at_once=100)
        assert store.contents() == whole.contents()


def test_a_budget_of_money_stops_before_the_next_call_and_needs_somebody_who_knows_what_was_paid(
    tmp_path: Path,
) -> None:
    target = Scripted()
    with Store(tmp_path) as store:
        with pytest.raises(CounterfactualError, match="Nobody says what this target costs"):
            Bench(target, by_program, store, Budget(money=1.0))
        bench = Bench(target, by_program, store, Budget(money=1.0), 100, paid=lambda: 0.5 * len(target.calls))
        found = [flagged(text) for text in TEXTS]
        ended = drive([(one, search(one, "scripted")) for one in found], bench, Silent())
    assert len(target.calls) == 2
    assert {one.ended for one in ended if one.report is None} == {"The budget of 1.00 in money was spent."}


def test_screening_waits_until_every_prompt_is_sampled_and_is_then_as_if_it_had_been_at_once(tmp_path: Path) -> None:
    cut = run(tmp_path / "cut", Scripted(), budget=Budget(responses=5 * SAMPLES))
    assert (len(cut.undrawn), len(cut.waiting)) == (len(PROMPTS) - 5, 5)
    assert cut.screening.screened == ()
    assert cut.investigations == ()
    assert account_of(cut).places["screened", "waiting until all prompts are sampled"] == 5
    with Store(tmp_path / "cut") as store:
        assert not store.parts("screen", Screened)
    finished, whole = run(tmp_path / "cut", Scripted()), run(tmp_path / "whole", Scripted())
    assert finished.screening == whole.screening
    assert finished.investigations == whole.investigations
    with Store(tmp_path / "cut") as store, Store(tmp_path / "whole") as other:
        assert store.contents() == other.contents()
