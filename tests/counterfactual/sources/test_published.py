"""What the readers find in published data, as figures."""

from collections import Counter
from pathlib import Path

from firsthand.counterfactual.sources import kind_of, read_source
from firsthand.counterfactual.sources.chat import FOLLOW_UPS

from .conftest import alterations, prompts, refusals


def test_arena_hard_questions_are_prompts_and_its_pairs_share_a_cluster(published: Path) -> None:
    found = prompts(list(read_source(published / "prompts" / "arena-hard-v0.1_question.jsonl")))
    assert len({one.id for one in found}) == len(found) == 500
    assert Counter(Counter(one.cluster for one in found).values()) == {2: 250}


def test_a_question_of_the_second_arena_holds_a_line_separator(published: Path) -> None:
    found = list(read_source(published / "prompts" / "arena-hard-v2.0_question.jsonl"))
    assert len(prompts(found)) == len(found) == 750
    assert sum("\u2028" in one.user_text for one in prompts(found)) == 1
    assert len({one.cluster for one in prompts(found)}) == 746


def test_bench_questions_give_the_first_of_two(published: Path) -> None:
    found = list(read_source(published / "prompts" / "mt_bench_question.jsonl"))
    assert len(prompts(found)) == 80
    assert Counter(what for _, what in alterations(found)) == {FOLLOW_UPS: 80}


def test_trees_give_every_path_and_the_root_alone(published: Path) -> None:
    path = published / "prompts" / "oasst_en_100_tree.jsonl"
    found = list(read_source(path))
    assert len({one.id for one in prompts(found)}) == len(found) == 480
    assert len({one.cluster for one in prompts(found)}) == 100
    assert len(list(read_source(path, paths="root"))) == 100


def test_personas_are_in_the_column_that_is_called_prompt(published: Path) -> None:
    found = list(read_source(published / "prompts" / "awesome-chatgpt-prompts_prompts.csv"))
    assert len(prompts(found)) == 213
    assert alterations(found) == [("header", "column 'prompt' taken for the prompts (other columns: act, for_devs)")]


def test_trajectories_give_each_turn_of_the_agent_and_are_clustered_by_task(published: Path) -> None:
    path = published / "tooluse" / "tau-bench" / "gpt-4o-airline.json"
    assert kind_of(path).name == "trajectories"
    found = list(read_source(path))
    assert len(prompts(found)) == len(found) == 2454
    assert len({one.cluster for one in prompts(found)}) == 50
    assert len({one.place.rpartition(", turn")[0] for one in prompts(found)}) == 200
    assert len({one.id for one in prompts(found)}) == 2446
    assert Counter(one.turns[-1].role for one in prompts(found)) == {"user": 1341, "tool": 1113}
    assert not any("###STOP###" in one.user_text for one in prompts(found))


def test_every_log_gives_what_was_said_in_it(published: Path) -> None:
    figures = {}
    for path in sorted((published / "inspect_logs").glob("*")):
        if path.suffix in (".eval", ".json"):
            assert kind_of(path).name == "inspect"
            found = list(read_source(path))
            figures[path.name.rpartition("T")[2][:28]] = (len(prompts(found)), len(refusals(found)))
    assert figures == {
        "15-17-00-05-00_popularity_dP": (10, 0),
        "15-18-04-05-00_popularity_mj": (10, 0),
        "20-28-13-04-00_popularity.js": (3, 0),
        "20-28-26-04-00_security-guid": (3, 0),
        "inspect_demo_mmlu_gpt-4_285.": (285, 0),
        "log_message_deduplication.ev": (6, 0),
        "log_read_sample.eval": (1, 0),
        "log_read_sample.json": (1, 0),
        "log_streaming.eval": (4, 0),
        "log_tool_call_error.json": (0, 1),
        "mmlu-summary-choices.eval": (1, 0),
    }


def test_a_log_s_tools_and_the_texts_that_it_keeps_apart_are_read(published: Path) -> None:
    found = prompts(list(read_source(published / "inspect_logs" / "log_message_deduplication.eval")))
    assert [[one.name for one in prompt.tools] for prompt in found] == [["bash", "python"]] * 6
    assert found[0].tools[1].description.startswith("Use the python function")
    assert [len(prompt.turns) for prompt in found] == [1, 3, 5, 7, 9, 11]


def test_results_without_their_calls_are_no_conversation(published: Path) -> None:
    found = list(read_source(published / "inspect_logs" / "log_tool_call_error.json"))
    assert refusals(found) == [("sample 1, epoch 4, turn 11", "a tool's result without its call")]


def test_seed_instructions_are_no_prompts_of_a_target(published: Path) -> None:
    found = list(read_source(published / "petri"))
    assert [reason for _, reason in refusals(found)] == ["a file that cannot be read"] * 4
    assert not prompts(found)


def test_every_prompt_has_its_place_and_its_cluster(published: Path) -> None:
    for folder in ("prompts", "tooluse", "inspect_logs"):
        found = prompts(list(read_source(published / folder)))
        assert all(one.source and one.place and one.cluster for one in found)
        assert len({(one.source, one.place) for one in found}) == len(found)
