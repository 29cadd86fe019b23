"""A view holds public evidence only, and one without Y holds nothing of Y."""

import json
from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from firsthand.trials.public import PublicQuestion, PublicView, Turn
from firsthand.vocabulary import Capability, Kind

TEXT = st.text(max_size=12)
NUMBERS = st.dictionaries(st.text(min_size=1, max_size=4), st.floats(allow_nan=False, allow_infinity=False), max_size=3)
VIEWS = st.builds(
    PublicView,
    trial_id=TEXT,
    clusters=st.dictionaries(TEXT, TEXT, max_size=2),
    turns=st.lists(st.builds(Turn, st.sampled_from(["user", "assistant"]), TEXT | st.none()), max_size=4).map(tuple),
    output=TEXT | st.none(),
    features=NUMBERS,
    output_features=NUMBERS,
    questions=st.dictionaries(
        st.sampled_from(Capability), st.builds(PublicQuestion, TEXT, TEXT, st.tuples(TEXT, TEXT))
    ),
)


def test_there_is_no_field_for_state_kind_edit_or_report() -> None:
    allowed = {"trial_id", "clusters", "turns", "output", "features", "output_features", "questions"}
    assert {field.name for field in fields(PublicView)} == allowed
    assert {field.name for field in fields(PublicQuestion)} == {"text", "stem", "codes"}
    assert {field.name for field in fields(Turn)} == {"role", "content"}


@given(VIEWS)
def test_a_view_survives_storage(view: PublicView) -> None:
    assert PublicView.from_json(json.loads(view.dumps())) == view


@given(VIEWS)
def test_without_output_holds_nothing_of_the_output(view: PublicView) -> None:
    secret = "Zxq7secret"
    turns = tuple(Turn(t.role, secret) if t.role == "assistant" else t for t in view.turns)
    marked = replace(view, turns=turns, output=secret, output_features={secret: 0.625})
    withheld = marked.without_output()
    assert secret not in withheld.dumps()
    assert withheld.output is None
    assert withheld.output_features == {}
    assert [t.role for t in withheld.turns] == [t.role for t in view.turns]
    assert [t for t in withheld.turns if t.role != "assistant"] == [t for t in view.turns if t.role != "assistant"]
    assert (withheld.features, withheld.questions) == (view.features, view.questions)


@given(VIEWS)
def test_views_that_differ_in_the_output_alone_are_equal_without_it(view: PublicView) -> None:
    other = replace(view, output="other", output_features={"second_option": 1.0})
    assert other.without_output() == view.without_output()
    assert view.without_output().without_output() == view.without_output()


def test_a_stored_view_names_no_kind(view: PublicView) -> None:
    assert not any(str(kind) in view.dumps() for kind in Kind)
