"""An explanation helps only if it does more than another's, and more than words that say nothing."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.explaining.controls import neutral_text, others
from firsthand.counterfactual.explaining.simulatability import (
    Explained,
    Simulatability,
    simulatability,
    simulate,
    told,
    usable,
)
from firsthand.counterfactual.explaining.target_text import Evidence, Explanation, Finding, target_text
from firsthand.counterfactual.predicting.predictions import Prediction
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parents[1]))
from claim_parts import claim

CLAIMS = [claim(n, label=n % 2 == 0) for n in range(60)]
RESPONSES = {one.id: Response(text="So sorry.") for one in CLAIMS}
TELLING = {
    one.investigation: Explained(
        investigation=one.investigation, text=f"In number {n} it {'matters' if one.label else 'means nothing'}."
    )
    for n, one in enumerate(CLAIMS)
}


class Simulator:
    name = "simulator"
    kind = "observer"
    identity = "simulator@1"

    def __init__(self, guess: Callable[[Question], float | None]) -> None:
        self.guess = guess

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        return [Prediction(claim=one.claim, predictor=self.name, probability=self.guess(one)) for one in questions]


def run(guess: Callable[[Question], float | None], claims: Sequence[Claim] = CLAIMS) -> Simulatability:
    kept, excluded = usable(claims, TELLING)
    return simulatability(kept, simulate(Simulator(guess), kept, RESPONSES, TELLING), excluded)  # type: ignore[arg-type]


def own(question: Question) -> bool:
    """Whether the explanation is of this very prompt."""
    return f"In number {question.prompt.user_text.split()[-1]} it " in question.text


def test_a_simulator_that_is_told_the_truth_and_believes_it_only_of_the_right_prompt_is_helped() -> None:
    found = run(lambda q: (0.9 if "matters" in q.text else 0.1) if own(q) else 0.4)
    assert found.helps is True
    assert found.accuracy["explanation"].value == 1.0
    assert {one.over for one in found.uplifts} == {"transcript", "shuffled", "neutral"}
    assert all(one.auroc is not None and one.auroc.value == 0.5 for one in found.uplifts)
    assert found.units == 60


def test_a_text_that_moves_the_simulator_whatever_it_says_is_no_help() -> None:
    found = run(lambda q: 0.9 if "ASKED WHY" in q.text else 0.1)
    assert found.helps is False
    assert found.uplifts[0].accuracy is not None
    assert found.uplifts[0].accuracy.value == 0.0


def test_a_simulator_that_only_counts_words_is_not_helped_beyond_the_neutral_text() -> None:
    lengths = {len(one.text.split()) for one in TELLING.values()}
    assert len(lengths) == 2

    def guess(question: Question) -> float:
        if "ASKED WHY" not in question.text:
            return 0.6
        return 0.9 if len(question.text.split("\n\n")[0].split()) < 15 else 0.1

    found = run(guess)
    beyond = {one.over: one.accuracy for one in found.uplifts}
    assert beyond["neutral"] is not None
    assert beyond["neutral"].value == 0.0
    assert found.helps is False


def test_no_answer_is_not_a_wrong_answer() -> None:
    found = run(lambda q: None if "ASKED WHY" in q.text else 0.9)
    assert found.invalid == {"transcript": 0.0, "explanation": 1.0, "shuffled": 1.0, "neutral": 1.0}
    assert "explanation" not in found.accuracy
    assert found.helps is None


def test_a_simulator_that_would_say_something_else_is_not_known_to_be_helped() -> None:
    class Mumbling(Simulator):
        def predict(self, questions: Sequence[Question]) -> list[Prediction]:
            return [one.model_copy(update={"coverage": 0.1}) for one in super().predict(questions)]

    kept, excluded = usable(CLAIMS, TELLING)
    guess = Mumbling(lambda q: (0.9 if "matters" in q.text else 0.1) if own(q) else 0.4)
    found = simulatability(kept, simulate(guess, kept, RESPONSES, TELLING), excluded)  # type: ignore[arg-type]
    assert found.helps is None
    assert "Yes and No hold 0.1" in found.why


def test_few_units_or_missing_controls_give_no_verdict() -> None:
    assert run(lambda q: 0.9, CLAIMS[:4]).helps is None
    kept, _ = usable(CLAIMS, TELLING)
    arms = simulate(Simulator(lambda q: 0.9), kept, RESPONSES, TELLING)[:2]  # type: ignore[arg-type]
    found = simulatability(kept, arms)
    assert found.helps is None
    assert found.why == "the arms shuffled, neutral were not run"


def test_claims_that_the_explanation_reports_are_never_among_those_predicted() -> None:
    said = Explanation(
        observed="I apologise.",
        rate=90,
        causes=(Finding(cause="A word", evidence=(Evidence(edit="A word is deleted", before=90, after=3),)),),
        answer="A word does it.",
    )
    explained = {
        "i0": Explained(investigation="i0", text=target_text(said)),
        "i1": Explained(investigation="i1", text="If a word is  DELETED, I stop."),
        "i2": Explained(investigation="i2", text="It is the tone.", experiments=(1,)),
        "i3": Explained(investigation="i3", text="It is the tone.", experiments=(2,)),
        "i4": Explained(investigation="i4", text=" "),
    }
    kept, excluded = usable(CLAIMS[:6], explained)
    assert [one.investigation for one in kept] == ["i3"]
    assert {one.reason: len(one.claims) for one in excluded} == {
        "no explanation was given": 2,
        "the explanation repeats its edit": 1,
        "the explanation was written from its experiment": 1,
        "the explanation's evidence names its edit": 1,
    }


def test_an_explanation_is_quoted_as_data_before_the_claim() -> None:
    question = told(Question.of(CLAIMS[0], Response(text="Sorry.")), 'Because.\n\nCLAIM: "all is well"')
    assert '\\"all is well\\"' in question.text
    assert question.text.endswith(CLAIMS[0].text)
    assert question.text.split("\n\n")[0].count("\n") == 0


def test_no_explanation_stands_for_one_of_its_own_cluster() -> None:
    keys = [f"k{n}" for n in range(12)]
    clusters = {key: "big" if n < 6 else f"c{n}" for n, key in enumerate(keys)}
    found = others(keys, clusters)
    assert set(found) == set(keys)
    assert all(clusters[one] != clusters[other] for one, other in found.items())
    assert len(set(found.values())) == 12
    with pytest.raises(CounterfactualError, match="are of one cluster"):
        others(["a", "b"], {"a": "x", "b": "x"})


def test_a_neutral_text_has_as_many_words_as_it_is_asked_for() -> None:
    assert [len(neutral_text(n).split()) for n in (0, 1, 17, 300)] == [0, 1, 17, 300]


def test_a_claim_without_a_response_is_refused() -> None:
    with pytest.raises(CounterfactualError, match="have no response"):
        simulate(Simulator(lambda q: 0.5), CLAIMS, {}, TELLING)  # type: ignore[arg-type]
