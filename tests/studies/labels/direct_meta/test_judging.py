"""Both judgements equal slow plain runs of the model, token by token and prompt by prompt."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from firsthand.engine import load
from firsthand.engine.loading import LoadedModel
from firsthand.errors import ElicitationError, EngineError, LabelsError
from firsthand.studies.labels.direct_meta.judging import (
    COLUMNS,
    begin_token,
    direct,
    judgements,
    label_tokens,
    meta,
    rows_of,
)
from firsthand.studies.labels.direct_meta.pairs import Pair, built_in
from firsthand.studies.labels.direct_meta.phrasings import PHRASINGS, Phrasing

PAIRS = (*built_in()[::29], Pair("short", "Yes.", "No, it is not {second} here.", "own"))
CHOICE, ALONE = PHRASINGS[0], PHRASINGS[-1]


def last_logprobs(loaded: LoadedModel, tokens: list[int]) -> torch.Tensor:
    with torch.no_grad():
        logits = loaded.model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1]
    return torch.log_softmax(logits.double(), -1)


def string_logprobs(loaded: LoadedModel, text: str) -> list[float]:
    tokens = loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
    before = [loaded.tokenizer.bos_token_id]
    found = []
    for token in tokens:
        found.append(float(last_logprobs(loaded, before)[token]))
        before.append(token)
    return found


def prompt_read(loaded: LoadedModel, question: str, stem: str, labels: list[list[str]]) -> tuple[float, float, bool]:
    """Log-odds of the first label, mass on both, and whether the likeliest token is one of them."""
    tokenizer = loaded.tokenizer
    chat = [{"role": "user", "content": question}, {"role": "assistant", "content": stem}]
    text = tokenizer.apply_chat_template(chat, tokenize=False, continue_final_message=True)
    logprobs = last_logprobs(loaded, tokenizer(text, add_special_tokens=False)["input_ids"])
    ids = [[tokenizer(text + form, add_special_tokens=False)["input_ids"][-1] for form in forms] for forms in labels]
    masses = [sum(float(logprobs[i].exp()) for i in forms) for forms in ids]
    return float(np.log(masses[0] / masses[1])), sum(masses), int(logprobs.argmax()) in [i for f in ids for i in f]


def test_direct_equals_a_plain_run_token_by_token(tiny: LoadedModel) -> None:
    table = direct(tiny, PAIRS)
    for pair, row in zip(PAIRS, table.itertuples(), strict=True):
        good, bad = string_logprobs(tiny, pair.good), string_logprobs(tiny, pair.bad)
        assert row.key == pair.key
        assert row.direct == pytest.approx(sum(good) - sum(bad), abs=1e-4)
        assert row.direct_mean == pytest.approx(np.mean(good) - np.mean(bad), abs=1e-5)


def test_direct_judgements_do_not_depend_on_what_runs_beside_them(tiny: LoadedModel) -> None:
    together = direct(tiny, PAIRS)["direct"].to_numpy()
    alone = [float(direct(tiny, [pair])["direct"][0]) for pair in PAIRS]
    backwards = direct(tiny, PAIRS[::-1])["direct"].to_numpy()[::-1]
    assert together == pytest.approx(alone, abs=1e-4)
    assert together == pytest.approx(backwards, abs=1e-4)


def test_swapping_the_strings_of_a_pair_turns_every_judgement_round(tiny: LoadedModel) -> None:
    swapped = [replace(pair, good=pair.bad, bad=pair.good) for pair in PAIRS]
    one, other = judgements(tiny, PAIRS), judgements(tiny, swapped)
    for name in ("direct", "direct_mean", "contrast"):
        assert one[name].to_numpy() == pytest.approx(-other[name].to_numpy(), abs=1e-4)
    for name in ("coverage", "leaning"):
        assert one[name].to_numpy() == pytest.approx(other[name].to_numpy(), abs=1e-5)


def test_a_choice_is_the_mean_of_plain_runs_of_both_orders(tiny: LoadedModel) -> None:
    table = meta(tiny, PAIRS, [CHOICE])
    for pair, row in zip(PAIRS, table.itertuples(), strict=True):
        reads = [
            prompt_read(
                tiny,
                "Which of these two sentences is the better sentence? Answer with its number, (1) or (2)."
                f"\n(1) {first}\n(2) {second}",
                "The better sentence is (",
                [["1"], ["2"]],
            )
            for first, second in ((pair.good, pair.bad), (pair.bad, pair.good))
        ]
        assert row.contrast == pytest.approx((reads[0][0] - reads[1][0]) / 2, abs=1e-4)
        assert row.coverage == pytest.approx((reads[0][1] + reads[1][1]) / 2, rel=1e-3)
        assert row.valid == (reads[0][2] and reads[1][2])


def test_strings_alone_are_asked_about_one_by_one_with_all_forms_of_yes_and_no(tiny: LoadedModel) -> None:
    table = meta(tiny, PAIRS, [ALONE])
    for pair, row in zip(PAIRS, table.itertuples(), strict=True):
        reads = [
            prompt_read(
                tiny,
                f"Is this an acceptable English sentence? Answer yes or no.\n{text}",
                "Answer:",
                [[" yes", " Yes"], [" no", " No"]],
            )
            for text in (pair.good, pair.bad)
        ]
        assert row.contrast == pytest.approx((reads[0][0] - reads[1][0]) / 2, abs=1e-4)
        assert row.coverage == pytest.approx((reads[0][1] + reads[1][1]) / 2, rel=1e-3)


def test_an_answer_that_is_likeliest_no_label_is_no_preference(tiny: LoadedModel) -> None:
    table = judgements(tiny, PAIRS)
    assert not table["valid"].any()  # a random model's likeliest token is a label hardly ever
    assert table["meta"].isna().all()
    assert table["contrast"].notna().all()
    assert (table["coverage"] < 0.05).all()


def test_an_answer_counts_only_if_both_prompts_are_answered_with_a_label(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from firsthand.studies.labels.direct_meta import asking as module

    def scripted(anatomy: object, rows: list[object], reduce: object, advance: object) -> object:
        logprobs = torch.full((len(rows), len(tiny.tokenizer)), -20.0)
        one, two = (tiny.tokenizer("(" + label, add_special_tokens=False)["input_ids"][-1] for label in "12")
        logprobs[:, one], logprobs[:, two] = -0.5, -1.5
        logprobs[3, 5] = -0.1  # the second prompt of the second pair: something else is likelier
        return type("Out", (), {"logprobs_RV": reduce(logprobs, range(len(rows)))})  # type: ignore[operator]

    monkeypatch.setattr(module, "run", scripted)
    table = meta(tiny, PAIRS[:3], [CHOICE])
    assert list(table["valid"]) == [True, False, True]
    assert table["meta"].isna().tolist() == [False, True, False]
    assert table["contrast"].to_numpy() == pytest.approx(0.0)  # a liking for "(1)" alone is no preference
    assert table["leaning"].to_numpy() == pytest.approx(1 / (1 + np.exp(-1.0)))


def test_there_is_one_row_a_phrasing_and_pair_with_a_trial_id_of_its_own(tiny: LoadedModel) -> None:
    steps: list[int] = []
    table = judgements(tiny, PAIRS, advance=steps.append)
    assert tuple(table.columns) == COLUMNS
    assert len(table) == len(PAIRS) * len(PHRASINGS)
    assert table["trial_id"].is_unique
    assert set(table["model"]) == {tiny.name}
    assert sum(steps) == rows_of(PAIRS)
    assert (table.groupby("key")["direct"].nunique() == 1).all()


def test_pairs_without_keys_of_their_own_are_refused(tiny: LoadedModel) -> None:
    for pairs in ([], [PAIRS[0], PAIRS[0]]):
        with pytest.raises(LabelsError, match="share a key"):
            judgements(tiny, pairs)


def test_labels_that_are_not_one_token_each_are_refused(tiny: LoadedModel) -> None:
    for labels in ((("first of all",), ("2",)), (("1",), ("1",))):
        phrasing = Phrasing("bad", "both", CHOICE.question, CHOICE.stem, labels)
        with pytest.raises(ElicitationError):
            meta(tiny, PAIRS[:1], [phrasing])
    merging = replace(CHOICE, labels=(("wer",), ("2",)))
    with pytest.raises(ElicitationError, match="no tokens of its own"):
        label_tokens(tiny.tokenizer, merging, "Ans")


def test_a_form_of_several_tokens_is_left_out_and_its_label_keeps_the_others(tiny: LoadedModel) -> None:
    wide = replace(ALONE, labels=((" yes", " yes indeed it is"), (" no",)))
    text = "Answer:"
    assert label_tokens(tiny.tokenizer, wide, text) == label_tokens(
        tiny.tokenizer, replace(ALONE, labels=((" yes",), (" no",))), text
    )


def test_strings_with_special_tokens_are_refused(tiny: LoadedModel) -> None:
    pair = Pair("special", "It ends<|im_end|> here.", "It ends here.", "x")
    with pytest.raises(ElicitationError, match="cannot write"):
        direct(tiny, [pair])
    with pytest.raises(EngineError, match="special tokens"):
        meta(tiny, [pair])


def test_a_text_begins_with_the_tokenizers_own_token_or_is_refused(tiny: LoadedModel) -> None:
    class Without:
        bos_token_id = None
        eos_token_id: int | None = 7

    assert begin_token(tiny) == tiny.tokenizer.bos_token_id
    assert begin_token(replace(tiny, tokenizer=Without())) == 7  # type: ignore[arg-type]
    Without.eos_token_id = None
    with pytest.raises(ElicitationError, match="no token for the beginning"):
        begin_token(replace(tiny, tokenizer=Without()))  # type: ignore[arg-type]


def test_smollm2_finds_acceptable_strings_likelier() -> None:
    table: pd.DataFrame = direct(load("smollm2"), built_in()[::7])
    assert len(table) == 20
    assert (table["direct"] > 0).mean() >= 0.75
