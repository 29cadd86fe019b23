"""The investigator without a model: what it asks for, what it finds where nothing is noisy, and what it says of it."""

import pytest
from plain_investigation import drive_plain
from planted_prompts import PROMPTS
from planted_repetitions import gone, screened
from pydantic import ValidationError

from firsthand.counterfactual.edits import changes, edited, turn_changes
from firsthand.counterfactual.investigating.without_model import SearchSettings, search
from firsthand.counterfactual.investigation import Experiment, Investigation
from firsthand.counterfactual.planted import (
    BEHAVIOUR,
    Constant,
    First,
    Form,
    Fragile,
    Long,
    PlantedTarget,
    Present,
    Rule,
)
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request
from firsthand.errors import CounterfactualError
from firsthand.report.investigations_views import has_confirmed_cause

THOROUGH, LIGHT = SearchSettings.named("thorough"), SearchSettings.named("light")


def investigated(
    rule: Rule, prompt: Prompt, settings: SearchSettings = THOROUGH, withheld: float = 0.0
) -> tuple[Investigation, list[Request]]:
    target = PlantedTarget(rule=rule, withheld=withheld)
    done, asked = drive_plain([search(screened(prompt), target.identity, settings)], target, BEHAVIOUR)
    return done[0], asked[0]


def first_cause(found: Investigation) -> tuple[str, set[str]]:
    """Hypothesis of the first cause, and the words that its first edit takes away."""
    assert found.report is not None
    cause = found.report.causes[0]
    one = next(one for one in found.experiments if one.number == cause.experiments[0])
    return cause.hypothesis, gone(one, found.screened.prompt)


@pytest.mark.parametrize(
    ("place", "text", "role"),
    [
        (0, "gentle", None),
        (0, "Lake Verden", None),
        (0, "2003", None),
        (0, '"the green soup"', None),
        (1, "birds", "system"),
        (1, "binoculars", None),
        (2, "total", None),
        (3, "seldom", "assistant"),
        (3, "boat", None),
        (4, "storm", "tool"),
        (4, "refunds", "system"),
    ],
)
def test_the_smallest_part_is_found_wherever_it_stands(place: int, text: str, role: str | None) -> None:
    rule = Present(texts=(text.strip('"'),), role=role, low=0.0, high=1.0)  # type: ignore[arg-type]
    found, _ = investigated(rule, PROMPTS[place])
    hypothesis, taken = first_cause(found)
    assert taken <= set(text.strip('"').split())
    assert taken
    assert "what is said by" in hypothesis
    assert all(rule.rate(edited(PROMPTS[place], one.edit)) == one.rate.share for one in found.experiments)


def test_parts_that_are_both_needed_are_two_causes() -> None:
    found, _ = investigated(Present(texts=("gentle", "swim"), low=0.0, high=1.0), PROMPTS[0])
    assert found.report is not None
    assert {cause.hypothesis for cause in found.report.causes} == {
        "what is said by the word “swim”.",
        "what is said by the word “gentle”.",
    }
    assert "That suffices" in found.report.answer


def test_of_parts_either_of_which_suffices_both_are_named_and_each_alone_is_shown_not_to_matter() -> None:
    found, _ = investigated(Present(texts=("gentle", "swim"), need="any", low=0.0, high=1.0), PROMPTS[0])
    assert found.report is not None
    hypothesis, taken = first_cause(found)
    assert taken == {"gentle", "swim"}
    assert "Any one of these parts can go" in hypothesis
    assert sum("deleted: 100% -> 100%" in line for line in found.report.causes[0].evidence) == 2


def test_as_many_parts_as_the_prompt_has_paragraphs_are_still_less_than_the_whole() -> None:
    prompt = Prompt(turns=(Turn(role="user", content="Red kites fly high.\n\nGreen frogs sit still and low."),))
    found, _ = investigated(Present(texts=("kites", "frogs"), need="any", low=0.0, high=1.0), prompt)
    assert first_cause(found)[1] == {"kites", "frogs"}


def test_a_text_that_stands_several_times_is_one_part() -> None:
    prompt = Prompt(
        turns=(Turn(role="user", content="Blue is fine. I like blue.\n\nGreen is not, blue is. Which one?"),)
    )
    found, _ = investigated(Form(pattern="(?i)blue", low=0.0, high=1.0), prompt)
    assert {word.lower() for word in first_cause(found)[1]} == {"blue"}


def test_that_something_stands_there_is_told_from_what_it_says() -> None:
    found, _ = investigated(Form(pattern=r"\b(19|20)\d\d\b", low=0.0, high=1.0), PROMPTS[3])
    assert found.report is not None
    assert first_cause(found)[0] == "that something stands where the number “2019” stands, whatever it says."
    assert "what is said by the number “2019”" in [one.hypothesis for one in found.report.refuted]


def test_length_is_told_from_what_is_said() -> None:
    found, _ = investigated(Long(characters=round(0.7 * PROMPTS[3].characters), low=0.0, high=1.0), PROMPTS[3])
    assert first_cause(found)[0].startswith("less text, wherever it is taken from")


def test_a_place_in_a_list_is_told_from_being_there() -> None:
    found, _ = investigated(First(text="marsh", low=0.0, high=1.0), PROMPTS[1])
    hypothesis, taken = first_cause(found)
    assert taken == {"marsh"}
    assert hypothesis.endswith("Where in its list it stands matters as well.")


def test_rivals_are_refuted_by_name() -> None:
    found, _ = investigated(Present(texts=("gentle",), low=0.0, high=1.0), PROMPTS[0])
    assert found.report is not None
    refuted = " ".join(one.hypothesis for one in found.report.refuted)
    for rival in ("Lake Verden", "1994", "the green soup", "the length of the prompt", "the order of sentences"):
        assert rival in refuted


def test_without_a_cause_the_report_says_so_and_what_was_refuted() -> None:
    found, _ = investigated(Constant(share=1.0), PROMPTS[3])
    assert found.report is not None
    assert found.report.causes == ()
    assert found.report.answer.startswith("No cause found. Refuted: something that the prompt says; ")
    assert "Not tried" in found.report.answer


def test_a_behaviour_that_does_not_occur_again_is_not_investigated() -> None:
    found, asked = investigated(Constant(share=0.05), PROMPTS[0])
    assert found.report is not None
    assert [request.batch for request in asked] == ["explore.baseline"]
    assert found.report.answer.startswith("No cause found.")
    assert found.experiments == ()


def test_if_nothing_can_be_judged_nothing_is_claimed() -> None:
    found, asked = investigated(Present(texts=("gentle",)), PROMPTS[0], withheld=1.0)
    assert found.report is not None
    assert (len(asked), found.report.causes, found.baseline.invalid) == (1, (), 30)


def test_baseline_and_confirmed_edits_are_judged_on_batches_of_their_own_and_of_full_size() -> None:
    found, asked = investigated(Present(texts=("gentle",)), PROMPTS[0])
    names = [request.batch for request in asked]
    assert len(set(names)) == len(names)
    assert "screen" not in names
    confirmed = [one for one in found.experiments if one.stage == "confirmed"]
    assert [one.batch for one in confirmed] == [f"confirm.{number}" for number in range(1, len(confirmed) + 1)]
    assert all(one.rate.responses == THOROUGH.samples for one in confirmed)
    assert found.baseline.responses == 2 * THOROUGH.samples
    assert all(one.decision == "undecided" for one in found.experiments if one.stage == "explored")
    assert [one.number for one in found.experiments] == list(range(1, len(found.experiments) + 1))


def test_every_number_in_the_report_is_a_confirmed_experiment() -> None:
    found, _ = investigated(Present(texts=("boat", "choir")), PROMPTS[3])
    assert found.report is not None
    confirmed = {one.number for one in found.experiments if one.stage == "confirmed"}
    for cause in (*found.report.causes, *found.report.refuted):
        assert set(cause.experiments) <= confirmed
        assert len(cause.evidence) == len(cause.experiments) > 0


def test_the_same_responses_give_the_same_investigation() -> None:
    rule = Present(texts=("boat",))
    assert investigated(rule, PROMPTS[3]) == investigated(rule, PROMPTS[3])


@pytest.mark.parametrize("responses", [120, 150, 200, 300, 500, 1200])
@pytest.mark.parametrize("rule", [Present(texts=("boat",)), Constant(share=0.6)])
def test_the_budget_of_responses_is_never_exceeded(responses: int, rule: Rule) -> None:
    settings = THOROUGH.model_copy(update={"responses": responses})
    found, asked = investigated(rule, PROMPTS[3], settings)
    assert sum(request.samples for request in asked) <= responses
    assert found.report is not None
    assert any(one.stage == "confirmed" for one in found.experiments)


def test_a_search_that_its_budget_ends_says_so() -> None:
    found, _ = investigated(Present(texts=("boat",)), PROMPTS[3], THOROUGH.model_copy(update={"responses": 160}))
    assert found.report is not None
    assert "The budget of responses ended the search" in found.report.answer


def test_light_settings_confirm_fewer_edits() -> None:
    found, asked = investigated(Present(texts=("boat",)), PROMPTS[3], LIGHT)
    confirmed = sum(one.stage == "confirmed" for one in found.experiments)
    assert LIGHT.confirmed - LIGHT.controls == 6 <= confirmed <= LIGHT.confirmed == 7
    assert sum(request.samples for request in asked) <= LIGHT.responses


def test_settings_that_leave_no_response_for_an_edit_are_refused() -> None:
    with pytest.raises(ValidationError, match="fewer than"):
        SearchSettings(samples=30, responses=100)
    with pytest.raises(CounterfactualError, match="no settings named"):
        SearchSettings.named("quick")


def test_of_a_prompt_of_one_word_it_is_said_that_no_control_is_possible() -> None:
    prompt = Prompt(turns=(Turn(role="user", content="Plovers?"),))
    found, _ = investigated(Present(texts=("Plovers",), low=0.0, high=1.0), prompt)
    assert found.report is not None
    assert found.report.causes == ()
    assert (
        "Specificity not tested, since the rest of the prompt holds no text of this size: the word “Plovers” deleted"
        in (found.report.answer)
    )
    assert any(one.decision == "changes" for one in found.experiments)


def test_a_control_is_drawn_last_elsewhere_and_only_for_what_changes_the_rate() -> None:
    rule = Present(texts=("Lake Verden", "gentle"), low=0.0, high=1.0)
    found, asked = investigated(rule, PROMPTS[0])
    controls = [one for one in found.experiments if one.control_of]
    by_number = {one.number: one for one in found.experiments}
    for control in controls:
        for number in control.control_of:
            one = by_number[number]
            assert one.decision == "changes"
            assert control.stage == one.stage == "confirmed"
            assert not gone(control, PROMPTS[0]) & gone(one, PROMPTS[0])
            assert size(control, PROMPTS[0]) >= size(one, PROMPTS[0])
    assert found.report is not None
    assert len(controls) == len(found.report.causes) == 2
    assert sum(request.samples for request in asked) <= THOROUGH.responses
    none, _ = investigated(Constant(share=1.0), PROMPTS[0])
    assert not [one for one in none.experiments if one.control_of]


def size(one: Experiment, prompt: Prompt) -> int:
    """Characters that an edit takes away."""
    pairs = turn_changes(prompt, edited(prompt, one.edit))
    return sum(
        len(text)
        for a, b in pairs
        for kind, text in changes(a.content if a else "", b.content if b else "")
        if kind == "gone"
    )


@pytest.mark.parametrize("place", range(len(PROMPTS)))
@pytest.mark.parametrize("settings", [THOROUGH, LIGHT])
def test_where_any_edit_undoes_it_none_is_called_its_cause(place: int, settings: SearchSettings) -> None:
    found, asked = investigated(Fragile(intact=PROMPTS[place], low=0.0, high=1.0), PROMPTS[place], settings)
    assert found.report is not None
    assert found.report.causes == ()
    assert "Sensitive to any edit of this size" in found.report.answer
    assert any("more than other text of its size" in one.hypothesis for one in found.report.refuted)
    assert {one.specific for one in found.report.refuted} == {False}
    confirmed = [one for one in found.experiments if one.stage == "confirmed"]
    assert {one.decision for one in confirmed} == {"changes"}
    assert len(confirmed) <= settings.confirmed
    assert not has_confirmed_cause(found)
    assert sum(request.samples for request in asked) <= settings.responses


def test_where_any_deletion_undoes_it_length_is_named_and_no_text() -> None:
    rule = Long(characters=PROMPTS[3].characters - 11, low=0.0, high=1.0)
    found, _ = investigated(rule, PROMPTS[3])
    assert found.report is not None
    assert {one.specific for one in found.report.causes} == {None}
    assert all(one.hypothesis.startswith("less text, wherever it is taken from") for one in found.report.causes)


def test_an_edit_after_which_nothing_can_be_judged_has_no_known_effect() -> None:
    """Where everything but the cause is taken away nothing can be judged: that is not "it suffices"."""
    prompt, rule = PROMPTS[0], Present(texts=("gentle", "swim"), low=0.0, high=1.0)
    steps = search(screened(prompt), "t", THOROUGH)
    wanted = next(steps)
    try:
        while True:
            wanted = steps.send([rate_unless_short(rule, one) for one in wanted])
    except StopIteration as end:
        found: Investigation = end.value
    unknown = [one for one in found.experiments if not one.rate.valid]
    assert unknown
    assert {one.decision for one in unknown} == {"undecided"}
    assert found.report is not None
    assert "most responses could not be judged, so that nothing is known of them" in found.report.answer
    assert "That suffices" not in found.report.answer


def rate_unless_short(rule: Rule, request: Request) -> Rate:
    if request.prompt.characters < 60:
        return Rate(yes=0, no=0, invalid=request.samples)
    yes = round(rule.rate(request.prompt) * request.samples)
    return Rate(yes=yes, no=request.samples - yes)
