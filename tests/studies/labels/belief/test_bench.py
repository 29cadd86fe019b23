"""What is asked is fixed by the claim: which facts, in which ways, and in which experiment."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from plain_rows import told_by_the_twin
from plain_run import plain_twin

from firsthand.claims.labels import BeliefClaim
from firsthand.engine import LoadedModel, Row
from firsthand.errors import ElicitationError, LabelsError
from firsthand.studies.labels.belief import knowing
from firsthand.studies.labels.belief.bench import Bench, folds_of, items_of, layers_of, prepare
from firsthand.studies.labels.belief.knowing import completions, preferences, screen
from firsthand.studies.labels.belief.records import Facts


def test_every_fact_is_asked_about_in_one_way_and_all_ways_as_often(bench: Bench) -> None:
    assert set(Counter(item.kind for item in bench.items).values()) == {6}
    assert [item.record for item in bench.items] == list(range(18))


def test_every_fact_is_asked_about_in_all_ways_if_the_claim_says_so(bench: Bench) -> None:
    items = items_of(bench.facts, bench.claim.model_copy(update={"per_record": "all"}))
    assert Counter(item.record for item in items) == dict.fromkeys(range(18), 3)


def test_a_round_asks_about_every_subject_once_and_the_next_parts_them_anew(bench: Bench) -> None:
    one, other = (folds_of(bench.facts, bench.claim, turn) for turn in (0, 1))
    for folds in (one, other):
        assert sorted(name for fold in folds for name in fold) == sorted({f.subject.casefold() for f in bench.facts})
        sizes = [sum(f.subject.casefold() in fold for f in bench.facts) for fold in folds]
        assert max(sizes) - min(sizes) <= 1
    assert one != other
    assert bench.fold(1) == one[1]


def test_log_probabilities_of_entities_are_those_of_plain_runs(tiny: LoadedModel, bench: Bench) -> None:
    twin, fact = plain_twin(tiny.model, "model.layers", "self_attn"), bench.facts[0]
    stem = tiny.tokenizer.encode(fact.prompt, add_special_tokens=False)
    for place, entity in enumerate((fact.base, fact.counter)):
        own = tiny.tokenizer.encode(f"{fact.prompt} {entity}", add_special_tokens=False)[len(stem) :]
        total = 0.0
        for i, token in enumerate(own):
            logprobs, _ = told_by_the_twin(twin, Row((*stem, *own[:i])))
            total += float(logprobs[0][token])
        assert preferences(tiny, bench.anatomy, [fact])[0, place] == pytest.approx(total, abs=1e-3)


def test_what_has_no_tokens_of_its_own_has_no_probability_and_is_not_used(
    tiny: LoadedModel, bench: Bench, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = knowing.candidate_tokens

    def merging(tokenizer: object, stem: str, ends: list[str]) -> object:
        if "Oslo" in ends[0]:
            raise ElicitationError("It merges.", "Leave it out.")
        return plain(tokenizer, stem, ends)  # type: ignore[arg-type]

    monkeypatch.setattr(knowing, "candidate_tokens", merging)
    found = completions(tiny, bench.anatomy, ["It is", "It is"], ["Oslo", "Lima"])
    assert np.isnan(found).tolist() == [True, False]
    used = screen(tiny, bench.anatomy, facts, range(24), 24, known=False).numbers
    assert not any("Oslo" in (facts.facts[i].base, facts.facts[i].counter) for i in used)


def test_only_facts_are_used_whose_true_entity_is_likelier_and_how_many_is_told(
    tiny: LoadedModel, bench: Bench, facts: Facts
) -> None:
    likely = preferences(tiny, bench.anatomy, facts.facts)
    knows = [i for i in range(24) if likely[i, 0] > likely[i, 1]]
    found = screen(tiny, bench.anatomy, facts, range(24), 24, known=True)
    assert list(found.numbers) == knows
    assert (found.looked_at, found.known) == (24, len(knows))
    few = screen(tiny, bench.anatomy, facts, range(24), 2, known=True)
    assert list(few.numbers) == knows[:2]


def test_too_few_known_facts_and_other_data_are_refused(tiny: LoadedModel, facts: Facts, claim: BeliefClaim) -> None:
    with pytest.raises(LabelsError, match="that this model knows; 24 are asked for"):
        prepare(tiny, facts, claim.model_copy(update={"known": True, "records": 24}))
    other = replace(facts, facts=(replace(facts.facts[0], base="Rome"), *facts.facts[1:]))
    with pytest.raises(LabelsError, match="not those that the claim names"):
        prepare(tiny, other, claim)


def test_layers_are_spread_over_the_depth_or_those_of_the_claim(claim: BeliefClaim) -> None:
    assert layers_of(claim, 30) == (2, 7, 12, 16, 21, 26)
    assert layers_of(claim.model_copy(update={"layers": (29, 0)}), 30) == (0, 29)
    with pytest.raises(LabelsError, match="no layer 30"):
        layers_of(claim.model_copy(update={"layers": (30,)}), 30)
