import pytest
from pydantic import TypeAdapter, ValidationError

from firsthand.counterfactual.behaviours import (
    Asked,
    Behaviour,
    Called,
    Computed,
    Pattern,
    Verdict,
    check_behaviours,
    judged,
)
from firsthand.counterfactual.prompts import ToolCall
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError

HERE = "firsthand_behaviours_for_tests"


def calls(**arguments: object) -> Response:
    return Response(text="", calls=(ToolCall(id="1", name="search", arguments=arguments),))


SORRY = Pattern(question="Does it apologise?", pattern="sorry", flags="i")


@pytest.mark.parametrize(
    "response",
    [
        Response(text="", ended="stop"),
        Response(text=" \n ", ended="length"),
        Response(text="I am sorry", ended="filter"),
        Response(text="sorry: the server is down", ended="error"),
    ],
    ids=["empty", "blank", "withheld", "failed"],
)
@pytest.mark.parametrize(
    "behaviour", [SORRY, Called(question="?", tool="search"), Computed(question="?", function="builtins:bool")]
)
def test_a_missing_response_is_invalid_and_never_no(response: Response, behaviour: Pattern | Called | Computed) -> None:
    assert judged(behaviour, response) is Verdict.INVALID


def test_a_pattern_is_found_or_not() -> None:
    assert judged(SORRY, Response(text="Sorry about that.")) is Verdict.YES
    assert judged(SORRY, Response(text="Sure.")) is Verdict.NO
    assert judged(SORRY.model_copy(update={"least": 2}), Response(text="Sorry, so sorry")) is Verdict.YES
    assert judged(SORRY.model_copy(update={"least": 3}), Response(text="Sorry, so sorry")) is Verdict.NO


def test_reasoning_is_no_part_of_what_was_said() -> None:
    assert judged(SORRY, Response(text="Sure.", reasoning="I should be sorry")) is Verdict.NO


CUT = Response(text="Sure, and so on for more than sixty characters, which are an opening: all of it.", ended="length")


@pytest.mark.parametrize(
    ("change", "found", "not_found"),
    [
        ({}, Verdict.YES, Verdict.INVALID),
        ({"within": 24}, Verdict.YES, Verdict.NO),
        ({"decided_by": "opening"}, Verdict.YES, Verdict.NO),
        ({"decided_by": "all"}, Verdict.INVALID, Verdict.NO),
        ({"decided_by": "whole"}, Verdict.INVALID, Verdict.INVALID),
        ({"decided_by": "whole", "within": 24}, Verdict.INVALID, Verdict.INVALID),
    ],
)
def test_what_a_cut_leaves_open_is_invalid(change: dict[str, object], found: Verdict, not_found: Verdict) -> None:
    behaviour = SORRY.model_copy(update=change)
    assert judged(behaviour, CUT) is not_found
    assert judged(behaviour, CUT.model_copy(update={"text": f"Sorry! {CUT.text}"})) is found
    assert judged(behaviour, CUT.model_copy(update={"ended": "stop"})) is Verdict.NO
    assert judged(behaviour, Response(text="Sorry.")) is Verdict.YES


@pytest.mark.parametrize(("tokens", "verdict"), [(0, Verdict.NO), (24, Verdict.NO), (23, Verdict.INVALID)])
def test_a_response_that_was_cut_off_before_so_many_tokens_leaves_a_question_about_them_open(
    tokens: int, verdict: Verdict
) -> None:
    within = SORRY.model_copy(update={"within": 24})
    assert judged(within, CUT.model_copy(update={"tokens": tokens})) is verdict
    assert judged(within, Response(text="Sorry! And", ended="length", tokens=tokens)) is Verdict.YES


def test_behaviours_that_cannot_be_judged_in_what_is_drawn_are_refused_before_anything_is() -> None:
    fitting = SORRY.model_copy(update={"within": 24})
    check_behaviours([SORRY, fitting, Asked(question="?"), Called(question="?", tool="t")], 24)
    with pytest.raises(CounterfactualError, match="first 24 tokens, and responses have at most 500"):
        check_behaviours([fitting], 500)
    with pytest.raises(CounterfactualError, match="nowhere:judge cannot be imported"):
        check_behaviours([Computed(question="?", function="firsthand.nowhere:judge")], 24)


def test_an_opening_of_which_too_little_was_seen_is_open() -> None:
    opening = SORRY.model_copy(update={"decided_by": "opening"})
    assert judged(opening, Response(text="Sure,", ended="length")) is Verdict.INVALID


def test_the_last_word_of_a_response_that_was_cut_off_may_have_gone_on() -> None:
    within = Pattern(question="?", pattern=r"\bart\b", within=8)
    assert judged(within, Response(text="It is an art", ended="length")) is Verdict.NO
    assert judged(within, Response(text="It is art, an art", ended="length")) is Verdict.YES
    assert judged(within, Response(text="It is an art")) is Verdict.YES
    assert judged(within, Response(text="art", ended="length")) is Verdict.INVALID
    assert judged(Pattern(question="?", pattern="数据"), Response(text="这是数据", ended="length")) is Verdict.YES


def test_a_tool_that_was_not_called_before_the_cut_might_have_been() -> None:
    behaviour = Called(question="?", tool="search")
    assert judged(behaviour, Response(text="Let me", ended="length")) is Verdict.INVALID
    assert judged(behaviour, calls(query="x").model_copy(update={"ended": "length"})) is Verdict.YES


def test_a_function_needs_the_whole_response_unless_it_says_that_it_answers_for_cut_off_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = _module(monkeypatch)
    module.calm = lambda response: "!" not in response.text  # type: ignore[attr-defined]
    behaviour = Computed(question="Is it calm?", function=f"{HERE}:calm")
    assert judged(behaviour, CUT) is Verdict.INVALID
    assert judged(behaviour, CUT.model_copy(update={"ended": "stop"})) is Verdict.YES
    assert judged(behaviour.model_copy(update={"decided_by": None}), CUT) is Verdict.YES
    assert judged(behaviour.model_copy(update={"decided_by": "all"}), CUT) is Verdict.INVALID


def test_a_call_is_judged_by_tool_and_argument() -> None:
    any_call = Called(question="?", tool="search")
    weather = Called(question="?", tool="search", argument="query", pattern="weather")
    assert judged(any_call, calls(query="news")) is Verdict.YES
    assert judged(weather, calls(query="the weather")) is Verdict.YES
    assert judged(weather, calls(query="news")) is Verdict.NO
    assert judged(weather, calls(other="weather")) is Verdict.NO
    assert judged(Called(question="?", tool="open"), calls(query="x")) is Verdict.NO
    assert judged(any_call, Response(text="I will not call anything.")) is Verdict.NO


def test_a_function_may_say_that_it_cannot_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    module = _module(monkeypatch)
    module.long = lambda response: None if "?" in response.text else len(response.text) > 5  # type: ignore[attr-defined]
    behaviour = Computed(question="Is it long?", function=f"{HERE}:long")
    assert judged(behaviour, Response(text="quite long")) is Verdict.YES
    assert judged(behaviour, Response(text="no")) is Verdict.NO
    assert judged(behaviour, Response(text="what?")) is Verdict.INVALID


def test_a_function_that_raises_or_returns_something_else_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = _module(monkeypatch)
    module.raising = lambda response: response.nothing  # type: ignore[attr-defined]
    module.counting = lambda response: len(response.text)  # type: ignore[attr-defined]
    with pytest.raises(CounterfactualError, match="raising raised AttributeError"):
        judged(Computed(question="?", function=f"{HERE}:raising"), Response(text="x"))
    with pytest.raises(CounterfactualError, match="counting returned int"):
        judged(Computed(question="?", function=f"{HERE}:counting"), Response(text="x"))
    with pytest.raises(CounterfactualError, match="cannot be imported"):
        judged(Computed(question="?", function="firsthand.nowhere:judge"), Response(text="x"))


def test_behaviours_are_read_by_their_kind_and_what_does_not_fit_is_refused() -> None:
    read = TypeAdapter(Behaviour)
    for one in (SORRY, Asked(question="Is it rude?"), Called(question="?", tool="t")):
        assert read.validate_json(one.model_dump_json()) == one
    with pytest.raises(ValidationError, match="is no regular expression"):
        Pattern(question="?", pattern="(")
    with pytest.raises(ValidationError):
        read.validate_python({"kind": "pattern", "question": "?", "pattern": "x", "extra": 1})


def _module(monkeypatch: pytest.MonkeyPatch) -> object:
    import sys
    import types

    from firsthand.counterfactual import behaviours

    module = types.ModuleType(HERE)
    monkeypatch.setitem(sys.modules, HERE, module)
    behaviours._function.cache_clear()
    return module
