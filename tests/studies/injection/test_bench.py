"""What a study is made on: controls of every concept's own, a dose in residual norms, no study that cannot be run."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from plain_run import PlainRead, plain_run, plain_twin

from firsthand.claims import InjectionClaim, Question
from firsthand.engine import LoadedModel
from firsthand.errors import ClaimError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import TWO, InjectionBench, prepare, split_concepts, usable_wordings
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.concepts import CONCEPTS, mentions
from firsthand.studies.injection.drafts import detection
from firsthand.studies.injection.questions import identification, localisation, strength
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.questions.detection import YES_NO, unrelated_prompt
from firsthand.studies.injection.trials import Trial


def narrow(bench: InjectionBench, concepts: tuple[str, ...] = CONCEPTS[:8], **changes: object) -> InjectionBench:
    """The same with few concepts: the tiny model has room for directions beside those of eight, not of 32."""
    return replace(bench, claim=bench.claim.model_copy(update={"concepts": concepts, **changes}))


def test_a_direction_without_content_is_a_unit_vector_across_all_concepts(bench: InjectionBench) -> None:
    few = narrow(bench)
    free = [few.content_free(concept, layer) for concept in few.concepts for layer in (0, 1)]
    assert all(float(direction.norm()) == pytest.approx(1.0, abs=1e-5) for direction in free)
    for concept in few.concepts:
        for layer in (0, 1):
            cosines = [abs(float(d @ few.vector(concept, layer))) for d in free[layer::2]]
            assert max(cosines) < 1e-5


def test_control_directions_are_drawn_for_each_concept_layer_and_seed(bench: InjectionBench) -> None:
    few = narrow(bench)
    drawn = [few.content_free(concept, layer) for concept in few.concepts for layer in (0, 1)]
    drawn += [narrow(bench, seed=1).content_free(concept, 1) for concept in few.concepts]
    assert len({tuple(d.tolist()) for d in drawn}) == 24
    assert torch.equal(few.content_free("apple", 1), narrow(bench).content_free("apple", 1))
    mixed = [few.shuffled(concept, 1) for concept in few.concepts]
    moved = {tuple(torch.argsort(torch.argsort(d)).tolist()) for d in mixed}
    assert len(moved) == 8


def test_a_shuffled_vector_has_the_concepts_own_numbers_in_another_order(bench: InjectionBench) -> None:
    for concept in CONCEPTS[:4]:
        own, mixed = bench.vector(concept, 1), bench.shuffled(concept, 1)
        assert torch.equal(mixed.sort().values, own.sort().values)
        assert not torch.equal(mixed, own)


def test_vectors_have_unit_length_and_the_other_recipe_makes_others(bench: InjectionBench) -> None:
    for concept in CONCEPTS:
        own, other = bench.vector(concept, 1), bench.vector(concept, 1, other=True)
        assert float(own.norm()) == pytest.approx(1.0, abs=1e-5)
        assert float(other.norm()) == pytest.approx(1.0, abs=1e-5)
        assert not torch.allclose(own, other, atol=0.01)


def test_the_recipes_change_places_with_the_claim(bench: InjectionBench, tiny: LoadedModel) -> None:
    turned = prepare(tiny, bench.claim.model_copy(update={"recipe": "last_token"}))
    torch.testing.assert_close(turned.vector("sea", 1), bench.vector("sea", 1, other=True))
    torch.testing.assert_close(turned.vector("sea", 1, other=True), bench.vector("sea", 1))


def test_a_dose_is_in_mean_residual_norms_at_the_trial_line(bench: InjectionBench) -> None:
    twin = plain_twin(bench.loaded.model, "model.layers")
    norms = []
    for concept in bench.choosing[:4]:
        wording = bench.asked(concept, "instruction", 2)[0]
        prompt = bench.led(detection(wording, wording.meanings), concept)
        _, (stream,) = plain_run(twin, prompt.tokens, reads=[PlainRead(1, prompt.span)])
        norms.append(float(stream.norm(dim=1).mean()))
    assert bench.scales[1] == pytest.approx(np.mean(norms), rel=1e-4)
    assert bench.strength(Cell(1, 0.5)) == pytest.approx(0.5 * bench.scales[1])


def test_raw_vectors_keep_their_length_and_a_dose_multiplies_them(bench: InjectionBench, tiny: LoadedModel) -> None:
    raw = prepare(tiny, bench.claim.model_copy(update={"unit_norm": False, "questions": (Question.STRENGTH,)}))
    assert raw.strength(Cell(1, 0.5)) == 0.5
    lengths = [float(raw.vector(concept, 1).norm()) for concept in CONCEPTS]
    assert np.ptp(lengths) > 0.01
    torch.testing.assert_close(raw.vector("sea", 1) / raw.vector("sea", 1).norm(), bench.vector("sea", 1))


def test_vectors_of_the_other_recipe_are_made_only_where_they_are_asked_for(
    bench: InjectionBench, tiny: LoadedModel
) -> None:
    short = prepare(tiny, bench.claim.model_copy(update={"questions": (Question.DETECTION,)}))
    assert short.others is short.vectors


def test_no_two_concepts_share_an_uninjected_prompt(bench: InjectionBench) -> None:
    made: dict[str, list[tuple[int, ...]]] = {}
    for concept in CONCEPTS:
        for wording in bench.asked(concept, "instruction", 2):
            made.setdefault("detection", []).append(bench.led(detection(wording, TWO), concept).tokens)
            made.setdefault("unrelated", []).append(unrelated_prompt(bench, concept, wording, YES_NO).tokens)
        (clean, *_) = identification.trials(bench, concept, [], Setting(), coded=False)
        made.setdefault("choice", []).append(clean.prompt.tokens)
        made.setdefault("localisation", []).append(first(localisation.trials(bench, concept, [])).prompt.tokens)
    assert {name: len(set(tokens)) for name, tokens in made.items()} == dict.fromkeys(made, 32)


def test_no_two_concepts_share_an_uninjected_prompt_about_strength(bench: InjectionBench) -> None:
    assert len({first(strength.trials(bench, concept, [])).prompt.tokens for concept in CONCEPTS}) == 32


def first(trials: list[Trial]) -> Trial:
    return trials[0]


def test_leads_of_a_concept_are_two_different_texts_and_only_pushes_name_it(bench: InjectionBench) -> None:
    for concept in CONCEPTS:
        neutral, push = bench.leads(concept)
        assert mentions(push, concept)
        assert not mentions(neutral, concept)
        assert "{" not in neutral + push
        towards = bench.leads(concept, "volcano")
        assert towards[0] == neutral
        assert mentions(towards[1], "volcano")
        assert not mentions(towards[1], concept)
    assert len({bench.leads(concept)[0] for concept in CONCEPTS}) == 32


def test_own_pushes_take_the_place_of_the_built_in_ones(bench: InjectionBench) -> None:
    own = narrow(bench, CONCEPTS, pushes=("Think of {concept}.",))
    assert own.leads("sea") == (bench.leads("sea")[0], "Think of sea. Think of sea.")


def test_a_led_prompt_begins_with_its_lead_and_says_which(bench: InjectionBench) -> None:
    wording = bench.asked("sea", "instruction", 2)[0]
    neutral = bench.led(detection(wording, TWO), "sea")
    pushed = bench.led(detection(wording, TWO), "sea", towards="war")
    assert (neutral.draft.lead, pushed.draft.lead) == ("neutral", "push")
    assert bench.leads("sea")[0] in neutral.text
    assert bench.leads("sea", "war")[1] in pushed.text
    assert bench.loaded.tokenizer.decode([pushed.tokens[i] for i in pushed.span]) == bench.loaded.tokenizer.decode(
        [neutral.tokens[i] for i in neutral.span]
    )


def test_every_concept_has_another_neighbour_of_its_own_part(bench: InjectionBench) -> None:
    for part in (bench.choosing, bench.judging):
        neighbours = [bench.neighbour(concept) for concept in part]
        assert sorted(neighbours) == sorted(part)
        assert all(one != other for one, other in zip(part, neighbours, strict=True))
        assert all(bench.part(concept) == part for concept in part)


@pytest.mark.parametrize(("framing", "options"), [("instruction", 2), ("instruction", 3), ("conversation", 2)])
def test_voices_rotate_over_concepts(bench: InjectionBench, framing: str, options: int) -> None:
    asked = [bench.asked(concept, framing, options) for concept in CONCEPTS]
    assert {len(wordings) for wordings in asked} == {1}
    assert Counter(wordings[0].cluster for wordings in asked) == dict.fromkeys({w.cluster for w in built_in()}, 8)
    for (wording,) in asked:
        assert (wording.framing, len(wording.meanings), wording.labels) == (framing, options, "digits")


def test_a_concept_is_asked_in_as_many_voices_as_the_claim_says(bench: InjectionBench) -> None:
    two = narrow(bench, CONCEPTS, voices=2)
    for number, concept in enumerate(CONCEPTS):
        voices = [w.cluster for w in two.asked(concept, "instruction", 2)]
        assert len(set(voices)) == 2
        assert two.asked(concept, "instruction", 2, skip=1)[0].cluster == voices[1]
        assert two.asked(CONCEPTS[(number + 1) % 32], "instruction", 2)[0].cluster == voices[1]
    many = narrow(bench, CONCEPTS, voices=9)
    assert len(many.asked("sea", "instruction", 2)) == len({w.cluster for w in built_in()})


def test_voices_that_are_passed_over_are_not_those_that_were_asked(bench: InjectionBench) -> None:
    for concept in CONCEPTS:
        (own,), (other,) = (bench.asked(concept, "instruction", 2, skip=skip) for skip in (0, 1))
        assert own.cluster != other.cluster


def test_other_labels_are_taken_where_there_are_none_of_these(bench: InjectionBench) -> None:
    letters = replace(bench, wordings=tuple(w for w in bench.wordings if w.labels == "letters"))
    assert letters.asked("sea", "instruction", 2)[0].labels == "letters"
    assert bench.asked("sea", "instruction", 2, "letters")[0].labels == "letters"
    assert len(bench.asked("sea", "instruction")[0].meanings) == 2


@pytest.mark.parametrize(("framing", "options"), [("instruction", 4), ("song", 2)])
def test_a_kind_of_wording_that_is_not_there_is_refused(bench: InjectionBench, framing: str, options: int) -> None:
    with pytest.raises(ClaimError, match=f"framing '{framing}' with {options} answers"):
        bench.asked("sea", framing, options)


def test_the_coarse_grid_is_every_second_layer_and_dose_unless_the_full_one_is_asked_for(bench: InjectionBench) -> None:
    assert bench.cells == (Cell(0, 0.5), Cell(0, 1.0), Cell(1, 0.5), Cell(1, 1.0))
    assert bench.coarse == (Cell(1, 1.0),)
    assert narrow(bench, CONCEPTS, full_grid=True).coarse == bench.cells
    assert {cell.layer for cell in replace(bench, layers=(2,)).coarse} == {2}


def test_a_quarter_of_the_concepts_chooses_and_which_is_drawn_by_the_seed(bench: InjectionBench) -> None:
    parts = [split_concepts(bench.claim.model_copy(update={"seed": seed})) for seed in range(5)]
    assert all((len(choosing), len(judging)) == (8, 24) for choosing, judging in parts)
    assert len({frozenset(choosing) for choosing, _ in parts}) == 5
    assert parts[0] == (bench.choosing, bench.judging)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"layers": (3,)}, "not layers 0 to 2"),
        ({"layers": (0, 99)}, "not layers 0 to 2"),
        ({"concepts": CONCEPTS[:3]}, "which leaves 1 to judge on"),
        ({"concepts": CONCEPTS[:30]}, "which leaves 23 to judge on"),
        ({"concepts": tuple(f"concept {i}" for i in range(400))}, "Use 31 to 306"),
        ({"wordings": ()}, "No wording can be used"),
    ],
)
def test_what_cannot_be_run_is_refused_before_a_trial(
    bench: InjectionBench, tiny: LoadedModel, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(ClaimError, match=words):
        prepare(tiny, bench.claim.model_copy(update=changes))


def test_thirty_one_concepts_are_enough(bench: InjectionBench, tiny: LoadedModel) -> None:
    short = {"concepts": CONCEPTS[:31], "questions": (Question.DETECTION,), "layers": (1,)}
    assert len(prepare(tiny, bench.claim.model_copy(update=short)).judging) == 24


def test_only_wordings_of_the_claims_framings_and_answers_are_used(tiny: LoadedModel) -> None:
    claim = InjectionClaim(concepts=CONCEPTS, framings=("conversation",), options=(3,), questions=("detection",))
    found = usable_wordings(tiny, claim)
    assert {(str(w.framing), len(w.meanings)) for w in found} == {("conversation", 3)}
    own = [w.model_dump(mode="json", exclude_none=True) for w in built_in()[:2]]
    mine = usable_wordings(tiny, InjectionClaim(concepts=CONCEPTS, wordings=tuple(own)))
    assert [w.name for w in mine] == [w.name for w in built_in()[:2]]
    with pytest.raises(ClaimError, match="none has the claim's framings and options"):
        usable_wordings(tiny, claim.model_copy(update={"wordings": tuple(own)}))
