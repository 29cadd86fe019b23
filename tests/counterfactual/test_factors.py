import pytest

from firsthand.counterfactual.edits import Drop, Edit, Insert, Replace, Rewrite
from firsthand.counterfactual.factors import confounded, factors, single_factor
from firsthand.counterfactual.prompts import Prompt, ToolCall, Turn
from firsthand.counterfactual.segments import removed, reordered, replaced, segmented, sequences, walk

CODE = "def f(max, min):\n    return random() * max + min\n"
START = Prompt(
    turns=(
        Turn(role="user", content="Tell me about the river. It is long and old, and my name is Ada."),
        Turn(role="assistant", content="Which river?"),
        Turn(role="user", content=f"The one in the north of the country, near us. {CODE}"),
    )
)


def edit(*operations: Replace | Rewrite | Drop | Insert) -> Edit:
    return Edit(operations=operations)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (edit(Replace(turn=0, find=" It is long and old, and my name is Ada.")), 1),
        (edit(Replace(turn=2, find="max", text="a", which="all")), 1),
        (edit(Replace(turn=0, find="Ada", text="Bob")), 1),
        (edit(Replace(turn=0, find="river", text="lake"), Replace(turn=1, find="river", text="lake")), 1),
        (edit(Replace(turn=0, find="river", text="lake"), Replace(turn=0, find="Ada", text="Bob")), 2),
        (edit(Replace(turn=0, find="Ada", text="Bob"), Replace(turn=2, find="north", text="south")), 2),
        (edit(Drop(turn=0), Drop(turn=0)), 1),
        (edit(Drop(turn=1)), 1),
        (edit(Insert(turn=0, role="system", content="Be kind.")), 1),
        (edit(Insert(turn=0, role="system", content="Be kind."), Replace(turn=1, find="Ada", text="Bob")), 2),
        (edit(Rewrite(turn=1, content="Which one?")), 1),
    ],
    ids=str,
)
def test_changes_are_counted_in_the_text_however_the_edit_is_written(change: Edit, expected: int) -> None:
    assert factors(START, change) == expected
    assert single_factor(START, change) is (expected == 1)
    assert confounded(change, START) is (expected > 1)


def test_text_that_moved_is_one_change() -> None:
    content = START.turns[0].content
    moved = edit(Rewrite(turn=0, content="It is long and old, and my name is Ada. Tell me about the river."))
    assert content != moved.operations[0].content  # type: ignore[union-attr]
    assert factors(START, moved) == 1


def test_a_long_passage_that_became_another_may_be_anything() -> None:
    old, new = (" ".join(f"{word}{n}" for n in range(60)) for word in ("old", "new"))
    start = Prompt(turns=(Turn(role="user", content=old),))
    assert single_factor(start, edit(Rewrite(turn=0, content=new))) is None
    assert confounded(edit(Rewrite(turn=0, content=new)), start) is None
    assert single_factor(start, edit(Rewrite(turn=0, content=old.split("old30")[0]))) is True


FEW = Prompt(
    turns=(
        Turn(
            role="user",
            content="Please write a poem about cats, briefly, in French. The red house in Paris is old.\n\n"
            "- milk\n- eggs",
        ),
    )
)


@pytest.mark.parametrize(
    ("find", "text"),
    [
        ("poem about cats", "table about dogs"),
        ("briefly, in French", "at length, in German"),
        ("red house in Paris", "blue house in Rome"),
        ("cats", "a table of 20 words"),
        ("cats", "cats in a short table"),
        (" a poem about cats, briefly", ""),
        ("- milk\n- eggs", "milk, bread"),
        ("house", "story about Rome"),
        ("poem", "short story"),
    ],
)
def test_an_edit_of_few_words_that_does_two_things_is_no_single_factor(find: str, text: str) -> None:
    assert single_factor(FEW, edit(Replace(turn=0, find=find, text=text))) is False


@pytest.mark.parametrize(
    ("find", "text"),
    [
        ("poem", "table"),
        ("French", "Ancient Greek"),
        (" in French", ""),
        (" The red house in Paris is old.", ""),
        (" The red house in Paris is old.", " The table by the window has."),
        ("- milk\n- eggs", "milk, eggs"),
        ("Please write", "write"),
        ("is old", "is not old"),
        ("The red house", "A red house"),
    ],
)
def test_an_edit_that_does_one_thing_is_a_single_factor(find: str, text: str) -> None:
    assert single_factor(FEW, edit(Replace(turn=0, find=find, text=text))) is True


@pytest.mark.parametrize(
    "change",
    [
        Replace(turn=0, find="red house", text="blue barn"),
        Replace(turn=0, find="cats", text="old dogs"),
        Rewrite(turn=0, content="Hello."),
        Rewrite(turn=0, content="Please"),
    ],
    ids=str,
)
def test_where_a_program_cannot_tell_it_says_so(change: Replace | Rewrite) -> None:
    assert single_factor(FEW, edit(change)) is None


def test_edits_of_the_search_that_take_one_part_away_or_move_one_list_are_single_factors() -> None:
    start = Prompt(
        turns=(Turn(role="user", content="Tell Ada about rivers. Be kind.\n\n- milk\n- eggs\n- flour\n\nGo on."),)
    )
    roots = segmented(start)
    for part in walk(roots):
        if part.kind in ("name", "word", "item", "sentence"):
            for change in (removed(start, [part]), replaced(start, [part], 0), replaced(start, [part], 1)):
                assert single_factor(start, change) is True, (part.text, change)
    (run,) = sequences(roots)
    assert single_factor(start, reordered(start, run, "reversed")) is True
    away = [part for part in walk(roots) if part.text in ("Ada", "rivers", "eggs")]
    assert single_factor(start, removed(start, [away[0], away[-1]])) is False


def test_operations_alone_tell_what_they_can() -> None:
    assert confounded(edit(Drop(turn=3), Drop(turn=3))) is False
    assert confounded(edit(Replace(turn=0, find="a", text="b"), Replace(turn=1, find="a", text="b"))) is False
    assert confounded(edit(Replace(turn=0, find="a", text="b"), Replace(turn=0, find="c", text="d"))) is True
    assert confounded(edit(Rewrite(turn=0, content="x"), Drop(turn=1))) is True
    assert confounded(edit(Drop(turn=0), Drop(turn=4))) is True


def test_changes_of_a_trajectory_with_tool_calls_are_counted_too() -> None:
    calling = Turn(role="assistant", content="", calls=(ToolCall(id="1", name="search", arguments={"query": ["a"]}),))
    start = Prompt(
        turns=(Turn(role="user", content="Find it."), calling, Turn(role="tool", content="5 km", answers="1"))
    )
    assert single_factor(start, edit(Replace(turn=2, find="5", text="9"))) is True
