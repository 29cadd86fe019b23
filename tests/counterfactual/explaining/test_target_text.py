"""An explanation is written from confirmed experiments, and read back; anything else is invalid."""

import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.explaining.examples import EPOCHS, examples
from firsthand.counterfactual.explaining.target_text import (
    ANSWER,
    CAUSES,
    SEEN,
    Evidence,
    Explanation,
    Finding,
    explanation_of,
    read_text,
    target_text,
)
from firsthand.counterfactual.investigation import Cause, Investigation, Report
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parents[1]))
from claim_parts import experiment, investigation, rate


def found(observed: str = "I apologise.") -> Investigation:
    made = investigation(
        experiment(1, "alpha", rate(2), stage="explored"),
        experiment(2, "alpha", rate(3)),
        experiment(3, "bravo", rate(27)),
    )
    report = Report(
        observed=observed,
        causes=(Cause(hypothesis="The word alpha", experiments=(1, 2)), Cause(hypothesis="A hunch", experiments=(1,))),
        refuted=(Cause(hypothesis="The word\nbravo", experiments=(3,)),),
        answer="Because of alpha.",
    )
    return made.model_copy(update={"report": report})


def test_an_explanation_names_confirmed_experiments_alone_with_their_measured_change() -> None:
    made = explanation_of(found())
    assert made.rate == 90
    assert [one.cause for one in made.causes] == ["The word alpha"]
    assert [(one.before, one.after, one.points) for one in made.causes[0].evidence] == [(90, 10, -80)]
    assert made.refuted[0].evidence[0].after == 90


def test_what_is_written_is_read_back_the_same() -> None:
    for observed in ("I apologise.", f"I say {ANSWER}: and\n{CAUSES}: too.", "I do so in 3% of my responses?"):
        made = explanation_of(found(observed))
        assert read_text(target_text(made)) == made
    bare = Explanation(observed="I rhyme.", rate=0, answer="Nobody knows.")
    assert read_text(target_text(bare)) == bare


def test_an_edit_that_looks_like_an_effect_is_read_back_as_an_edit() -> None:
    odd = Evidence(edit='"a -> 10% became 20%" is deleted -> 5% became 6%', before=90, after=10)
    made = Explanation(observed="I rhyme.", rate=90, causes=(Finding(cause="1. It", evidence=(odd,)),), answer="So.")
    assert read_text(target_text(made)) == made


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("90%", "900%", 1),
        lambda text: text.replace(f"{CAUSES}:", "Causes:"),
        lambda text: f"{text}\n{SEEN}: again",
        lambda text: f"Well.\n{text}",
        lambda text: text.split(f"{ANSWER}:")[0],
        lambda text: f"{text.split(ANSWER)[0]}{ANSWER}:  ",
        lambda text: text.replace("1. The word alpha", "2. The word alpha"),
        lambda text: text.replace("-> 90% became 10%", "and it worked"),
        lambda text: "",
    ],
)
def test_a_text_that_has_not_the_form_is_invalid(spoil: object) -> None:
    text = target_text(explanation_of(found()))
    assert read_text(text) is not None
    assert read_text(spoil(text)) is None  # type: ignore[operator]


def test_an_investigation_without_a_report_explains_nothing() -> None:
    with pytest.raises(CounterfactualError, match="has no report"):
        explanation_of(investigation(experiment(1, "alpha", rate(2))))


def test_training_conversations_ask_in_the_second_person_and_end_in_the_explanation() -> None:
    one = found()
    made = examples([one, investigation(baseline=rate(1))], {one.id: Response(text="So sorry.")})
    (example,) = made.examples
    assert [turn.role for turn in example.prompt.turns] == ["system", "user", "assistant", "user"]
    assert example.prompt.turns[-1].content == "Why did you apologise?"
    assert example.prompt.turns[-2].content == "So sorry."
    assert read_text(example.answer) is not None
    assert EPOCHS == 3


def test_an_investigation_without_a_response_or_a_report_is_left_out_with_a_reason() -> None:
    one = found()
    assert examples([one], {}).left_out == {one.id: "no response to explain"}
    bare = investigation(experiment(1, "alpha", rate(2)))
    assert "has no report" in examples([bare], {bare.id: Response(text="Sorry.")}).left_out[bare.id]
