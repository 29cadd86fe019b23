"""An explanation names a cause by the edit's own words, and long ones name what is none too."""

import sys
from pathlib import Path

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.explaining.attribution import named_by, named_by_words, naming_rates
from firsthand.counterfactual.explaining.words import edited_words

sys.path.insert(0, str(Path(__file__).parents[1]))
from claim_parts import claim, deleted


def test_the_edits_own_words_do_not_hold_those_of_the_behaviour() -> None:
    assert edited_words(claim()) == {"alpha"}
    about = claim().behaviour.model_copy(update={"question": "Does it say alpha?"})
    assert edited_words(claim(behaviour=about)) == set()


def test_an_explanation_that_holds_the_edited_word_names_it_and_one_without_does_not() -> None:
    found = named_by_words([(claim(), "It was ALPHA."), (claim(), "It was fate."), (claim(), "")])
    assert [one.verdict for one in found] == [Verdict.YES, Verdict.NO, Verdict.INVALID]
    about = claim().behaviour.model_copy(update={"question": "Does it say alpha?"})
    assert named_by_words([(claim(behaviour=about), "It was alpha.")])[0].verdict is Verdict.INVALID


def test_who_names_everything_is_no_better_than_chance() -> None:
    pairs: list[tuple[Claim, str]] = [(claim(n, label=n % 2 == 0), "alpha bravo carol") for n in range(40)]
    found = naming_rates(named_by_words(pairs))
    assert found is not None
    assert found.cause is not None
    assert found.cause.value == 1.0
    assert found.difference is not None
    assert found.difference.value == 0.0
    assert found.cause.units == 20


def test_who_names_causes_alone_is_ahead() -> None:
    claims = [claim(n, label=n % 2 == 0) for n in range(40)]
    found = naming_rates(named_by_words([(one, "alpha" if one.label else "fate") for one in claims]))
    assert found is not None
    assert found.difference is not None
    assert found.difference.low > 0.5


def test_without_edits_that_changed_nothing_there_is_no_difference() -> None:
    found = naming_rates(named_by_words([(claim(n), "alpha") for n in range(30)]))
    assert found is not None
    assert found.difference is None
    assert any("changed nothing" in note for note in found.notes)
    assert naming_rates([]) is None


def test_a_judge_is_not_asked_of_explanations_that_were_not_given() -> None:
    seen = []

    def judge(pairs):  # type: ignore[no-untyped-def]
        seen.extend(pairs)
        return [Verdict.YES] * len(pairs)

    other = claim(edit=deleted("bravo"))
    found = named_by(judge, [(claim(), "alpha"), (other, " ")])
    assert [one.verdict for one in found] == [Verdict.YES, Verdict.INVALID]
    assert len(seen) == 1


def test_claims_about_one_prompt_are_one_unit_whatever_their_cluster_is_called() -> None:
    one = claim()
    again = one.model_copy(update={"investigation": "another", "cluster": "another"})
    assert len({named.cluster for named in named_by_words([(one, "alpha"), (again, "alpha")])}) == 1
