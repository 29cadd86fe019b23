import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.analysis.floor import Floor, Guess
from firsthand.analysis.results import Estimate
from firsthand.analysis.wrong_labels import Estimated, SetErrors
from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.card import Card, card_json, card_text
from firsthand.counterfactual.changes import SequentialLabels
from firsthand.counterfactual.claim_files import read_claims
from firsthand.counterfactual.claims import Answered, Claim, Reproduction
from firsthand.counterfactual.edits import Edit, Replace
from firsthand.counterfactual.export import export, load, load_lines
from firsthand.counterfactual.funnel import Funnel, step
from firsthand.counterfactual.markdown import plain
from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.rows import COLUMNS, SCHEMA, claim_of, row_of
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import claim, deleted, rate

HOSTILE = (
    'line\r\nline\n---\n| cell | </td><script>alert("x")</script> `code` ```\n# Heading \x00 \x1b[31m '
    "\u202e \u2028 \u0085 {{ x }} $a$ [link](http://x) 😀 \ufeff --- \\n"
)


def hostile(number: int = 0, text: str = HOSTILE) -> Claim:
    """A claim in which everything that anyone wrote is hostile, tool calls included."""
    turns = (
        Turn(role="user", content=f"find me {text}"),
        Turn(role="assistant", content=text, calls=(ToolCall(id="1", name=text, arguments={text: [text, 1.5, None]}),)),
        Turn(role="tool", content=text, answers="1"),
    )
    start = Prompt(turns=turns, tools=(Tool(name="t", parameters={"x": text}),), source=text, place=text, cluster=text)
    made = claim(number, concreteness=None, reproduced=None, single_factor=None)
    return made.model_copy(
        update={
            "prompt": start,
            "edit": Edit(operations=(Replace(turn=0, find="find me", text=text),)),
            "intervention": text,
            "target": text,
            "cluster": text,
            "question": text,
            "own_question": text,
            "responses": (
                Answered(response=Response(text=text, reasoning=text, tokens=3), verdict=Verdict.YES),
                Answered(response=Response(text="", calls=(ToolCall(id="1", name=text, arguments={text: 1}),))),
            ),
            "reproduction": Reproduction(edit=deleted("a", 0), rate=rate(3), baseline=rate(20)),
            "filtered": True,
            "matched": False,
        }
    )


FLOOR = Floor(
    claims=6,
    true=3,
    units=31,
    guesses=(
        Guess(
            learner="words of the claim",
            auroc=Estimate(value=0.71, low=0.6, high=0.8, level=0.95, n_trials=6, units=31, cluster="unit"),
        ),
    ),
)


def some() -> list[Claim]:
    return [claim(n, n % 2 == 0) for n in range(6)]


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_claims_that_are_loaded_are_those_that_were_exported(tmp_path: Path) -> None:
    claims = [*some(), hostile(10), hostile(11, "plain")]
    export(tmp_path, claims, claims[:4], Card(name="a set"))
    expected = sorted(claims, key=lambda one: one.id)
    assert load(tmp_path, "unfiltered") == expected
    assert load_lines(tmp_path / "jsonl/unfiltered.jsonl") == expected
    assert load(tmp_path) == sorted(claims[:4], key=lambda one: one.id)


@given(st.text(min_size=1, max_size=60))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_as_a_row_and_as_a_line(text: str) -> None:
    made = hostile(1, f"t{text}")
    line = json.dumps(row_of(made))
    assert line.splitlines() == [line]
    assert claim_of(json.loads(line)) == made


def test_no_text_ends_a_line_of_the_lines_wherever_they_are_split(tmp_path: Path) -> None:
    export(tmp_path, [hostile(1), hostile(2)], [], Card(name="a set"))
    data = (tmp_path / "jsonl/unfiltered.jsonl").read_bytes()
    assert data.isascii()
    assert len(data.decode().splitlines()) == 2


def test_a_hostile_text_breaks_neither_header_nor_tables_of_the_card(tmp_path: Path) -> None:
    card = Card(
        name=HOSTILE,
        licences={HOSTILE: HOSTILE},
        notes=(HOSTILE,),
        funnel=Funnel(steps=(step(HOSTILE, "prompts", 3, {HOSTILE: 2}),)),
    )
    export(tmp_path, [hostile(1)], [], card)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["pretty_name"] == HOSTILE
    body = text.split("\n---\n", 1)[1]
    assert "<script" not in body
    assert "\x00" not in text
    assert "\u202e" not in text
    plainly = card_text(
        Card(name="a", licences={"b": "c"}, notes=("n",), funnel=Funnel(steps=(step("s", "prompts", 3, {"r": 2}),))),
        {"filtered": [], "unfiltered": [hostile(1, "x")]},
        {},
    )
    shape = [line.count("|") for line in body.splitlines() if line.startswith(("|", "#"))]
    rows = [line.count("|") for line in plainly.split("\n---\n", 1)[1].splitlines() if line.startswith(("|", "#"))]
    assert [one for one in shape if one != 3] == [one for one in rows if one != 3], "as many headings, rows and cells"


def test_plain_text_of_a_hostile_one_is_one_line_without_markup() -> None:
    assert "\n" not in plain(HOSTILE)
    assert not set("<>|`*_[]#") & set(plain(HOSTILE).replace("&#", ""))
    assert "http://" not in plain(HOSTILE)
    assert plain("- item")[0] == "&"
    assert plain("WildChat-1M (v1.2): tiny") == "WildChat-1M (v1.2): tiny"


def test_the_header_names_a_file_for_each_set_and_the_filtered_one_is_the_default(tmp_path: Path) -> None:
    export(tmp_path, some(), some()[:2], Card(name="a set", licence="cc-by-4.0"))
    header = yaml.safe_load((tmp_path / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert header["configs"] == [
        {
            "config_name": "filtered",
            "data_files": [{"split": "train", "path": "data/filtered.parquet"}],
            "default": True,
        },
        {"config_name": "unfiltered", "data_files": [{"split": "train", "path": "data/unfiltered.parquet"}]},
    ]
    assert header["license"] == "cc-by-4.0"
    for config in header["configs"]:
        assert pq.read_table(tmp_path / config["data_files"][0]["path"]).schema.equals(SCHEMA)


def test_datasets_loads_the_folder(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the datasets package is not installed")
    export(tmp_path / "set", [*some(), hostile(9)], some()[:2], Card(name="a set"))
    first = datasets.load_dataset(str(tmp_path / "set"), split="train", cache_dir=str(tmp_path / "cache"))
    every = datasets.load_dataset(str(tmp_path / "set"), "unfiltered", split="train", cache_dir=str(tmp_path / "cache"))
    assert [claim_of(row) for row in first] == load(tmp_path / "set")
    assert [claim_of(row) for row in every] == load(tmp_path / "set", "unfiltered")


def test_an_empty_filtered_set_is_written_and_the_default_is_the_other(tmp_path: Path) -> None:
    export(tmp_path, some(), [], Card(name="a set"))
    assert load(tmp_path) == []
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert [one["config_name"] for one in header["configs"]] == ["unfiltered"]
    assert "The filtered set is empty" in text


def test_the_card_states_errors_losses_licences_clusters_and_columns(tmp_path: Path) -> None:
    errors = SetErrors(3, 3, Estimated(0.041, 0.02, 0.07), Estimated(0.1, 0.05, 0.2), None, (0.066, 0.112), 17)
    fewer = SetErrors(1, 1, Estimated(0.03, 0.01, 0.06), None, None, (0.066, 0.112), 17)
    funnel = Funnel(steps=(step("judges find it supported", "investigations", 17, {"no valid judgement": 4}),))
    card = Card(
        name="a set",
        errors={"unfiltered": errors, "filtered": fewer},
        floors={"filtered": FLOOR},
        funnel=funnel,
        licences={"made": "CC BY 4.0"},
        notes=("Judged by a model.",),
    )
    sets = {"filtered": some()[:2], "unfiltered": some()}
    text = card_text(card, sets, {"data/filtered.parquet": "ab12"})
    for words in (
        "| `unfiltered` | true | 3 | 4.1% (2.0 to 7.0) |",
        "| `filtered` | true | 1 | 3.0% (1.0 to 6.0) |",
        "17 independent units",
        "| `filtered` | words of the claim | 0.71 (0.60 to 0.80) | 31 |",
        "must beat this floor: without prompt and model, an AUROC of 0.71 (0.60 to 0.80, 31 independent units)",
        "no valid judgement: 4",
        "| made | 6 | CC BY 4.0 |",
        "Judged by a model.",
        "| `data/filtered.parquet` | `ab12` |",
        "| `unfiltered` | 6 | 3 | 3 | 6 | 6 | 6 |",
        "with 30 valid responses before and 30 after it",
        "| 30 | 6.6% | 11.2% | 82.2% |",
        "at least 50 points",
    ):
        assert words in text
    assert all(f"| `{name}` |" in text for name in COLUMNS)
    held = card_json(card, sets)
    assert held["floors"]["filtered"]["guesses"][0]["auroc"]["value"] == 0.71
    assert held["floors"]["filtered"]["sentence"] == FLOOR.sentence
    assert held["label_errors"]["filtered"]["wrong_true"] == (0.03, 0.01, 0.06)
    assert (held["sets"]["unfiltered"]["claims"], held["sets"]["unfiltered"]["independent units"]) == (6, 6)


def test_errors_of_very_few_units_are_given_without_intervals() -> None:
    errors = SetErrors(3, 3, Estimated(0.041, 0.02, 0.07), None, None, (0.066, 0.112), 4)
    text = card_text(Card(name="a", errors={"filtered": errors}), {"filtered": some(), "unfiltered": some()}, {})
    assert "| `filtered` | true | 3 | 4.1% |" in text
    assert "4 independent units, too few for an interval" in text


def test_a_set_too_small_for_a_floor_says_so() -> None:
    floor = Floor(claims=6, true=3, units=6, why="its claims come from 6 independent units, and 10 are needed")
    text = card_text(Card(name="a", floors={"filtered": floor}), {"filtered": some(), "unfiltered": some()}, {})
    assert "is not known: its claims come from 6 independent units" in text
    assert "must beat" not in text


@pytest.mark.parametrize(("kept", "default"), [(4, "matched"), (3, "filtered"), (0, "filtered")])
def test_the_matched_set_is_the_default_if_it_loses_less_than_half_and_otherwise_that_is_said(
    tmp_path: Path, kept: int, default: str
) -> None:
    claims = some()
    export(tmp_path, claims, claims, Card(name="a set"), matched=claims[:kept])
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["configs"][0]["config_name"] == default
    assert [one["config_name"] for one in header["configs"][1:]] == [
        name for name in ("matched", "filtered", "unfiltered") if name != default and (kept or name != "matched")
    ]
    assert f"matching keeps {kept} of 6 filtered claims, which is {'' if default == 'matched' else 'not '}more" in text
    card = json.loads((tmp_path / "card.json").read_text())
    assert card["default"] == default
    assert [one.id for one in load(tmp_path, "matched")] == sorted(one.id for one in claims[:kept])
    assert len(read_claims(tmp_path)) == (kept if default == "matched" else 6)


def test_an_export_without_a_matched_set_leaves_none_of_an_earlier_one(tmp_path: Path) -> None:
    export(tmp_path, some(), some(), Card(name="a set"), matched=some())
    digests = export(tmp_path, some(), some(), Card(name="a set"))
    assert set(files(tmp_path)) - {"SHA256SUMS"} == set(digests)


def test_the_card_says_where_labels_come_from_a_sequential_test() -> None:
    sets = {"filtered": some(), "unfiltered": some()}
    text = card_text(Card(name="a", labels=SequentialLabels(alpha=0.1)), sets, {})
    assert "a test that may be looked at after each of them" in text
    assert "probability of at most 0.1" in text


def test_equal_claims_make_equal_bytes_in_any_order(tmp_path: Path) -> None:
    export(tmp_path / "a", some(), some()[:2], Card(name="a set"))
    export(tmp_path / "b", some()[::-1], some()[:2][::-1], Card(name="a set"))
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    digests = export(tmp_path, some(), some()[:2], Card(name="a set"))
    found = files(tmp_path)
    assert set(digests) == set(found) - {"SHA256SUMS"}
    assert all(hashlib.sha256(found[name]).hexdigest() == one for name, one in digests.items())
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    export(tmp_path, some(), some()[:2], Card(name="a set"))
    path = tmp_path / "data/filtered.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(CounterfactualError, match="has changed since"):
        load(tmp_path)
    with pytest.raises(CounterfactualError, match="holds no exported claims"):
        load(tmp_path / "nowhere")


def test_a_row_whose_edit_was_exchanged_is_refused() -> None:
    row, other = row_of(claim(1)), row_of(claim(2))
    with pytest.raises(CounterfactualError, match="another edit or prompt"):
        claim_of(row | {"prompt_json": other["prompt_json"]})
    with pytest.raises(CounterfactualError, match="is no claim"):
        claim_of({name: value for name, value in row.items() if name != "label"})


def test_filtered_claims_are_among_the_others_and_none_stands_twice(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="not among the unfiltered"):
        export(tmp_path, some()[:2], some(), Card(name="a set"))
    with pytest.raises(CounterfactualError, match="not among the filtered"):
        export(tmp_path, some(), some()[:2], Card(name="a set"), matched=some())
    with pytest.raises(CounterfactualError, match="twice"):
        export(tmp_path, [*some(), some()[0]], [], Card(name="a set"))


def test_nothing_that_gives_the_label_away_is_in_the_claim_or_the_intervention() -> None:
    true, false = row_of(claim(1)), row_of(claim(1, label=False))
    different = {name for name in COLUMNS if true[name] != false[name]}
    assert different == {"label", "change", "edited_yes", "edited_no"}
    assert all("ives the label away" in COLUMNS[name][1] for name in different - {"label"})
