"""Another language model reads the same conversations, and lends its own labels."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from firsthand.engine import LoadedModel
from firsthand.errors import LabelsError
from firsthand.studies.labels.biofeedback import Bench, conversation_of, labels_of, target_rows
from firsthand.studies.labels.incontext import teacher_forced
from firsthand.studies.labels.outsiders import READS, READS_OWN, TOLD, Outsider, outsider_of, outsider_rows


@pytest.fixture(scope="module")
def outsider(bench: Bench, tiny: LoadedModel) -> Outsider:
    """Another random model, of six layers instead of four."""
    torch.manual_seed(1)
    model = LlamaForCausalLM(LlamaConfig(**{**tiny.model.config.to_dict(), "num_hidden_layers": 6})).eval()
    return outsider_of(bench, replace(tiny, name="other", model=model, weights_sha256="d" * 64, n_layers=6))


def test_its_layers_lie_at_the_same_relative_depth(bench: Bench, outsider: Outsider) -> None:
    assert outsider.layers == {0: 0, 2: 3}
    for referent in bench.referents:
        counterpart = outsider.counterpart(referent)
        assert counterpart.axis.name == referent.axis.name
        assert counterpart.layer == outsider.layers[referent.layer]


def test_it_is_told_the_very_labels_that_the_judged_model_is_told(bench: Bench, outsider: Outsider) -> None:
    referent, number = bench.referents[2], 1
    rows = outsider_rows(bench, outsider, number)
    mine = rows[(rows["arm"] == READS) & (rows["referent"] == referent.name)]
    assert mine["truth"].tolist() == target_rows(bench, referent, number)["truth"].tolist()
    labels, _ = labels_of(bench, referent, bench.drawn(number))
    alone = teacher_forced(outsider.loaded, outsider.anatomy, conversation_of(bench, number, labels))
    assert mine["answer"].tolist() == (alone.logprobs_NC[:, 1] > alone.logprobs_NC[:, 0]).astype(float).tolist()
    assert mine["answer"].notna().all()  # an observer need not be valid to be right
    own = rows[(rows["arm"] == READS_OWN) & (rows["referent"] == referent.name)]
    told = rows[rows["arm"].str.startswith(TOLD) & (rows["referent"] == referent.name)]
    assert own["truth"].tolist() == told["truth"].tolist()


def test_the_judged_model_is_told_labels_of_the_outsiders_states(bench: Bench, outsider: Outsider) -> None:
    referent, number = bench.referents[0], 0
    rows = outsider_rows(bench, outsider, number)
    told = rows[(rows["arm"] == f"{TOLD}{outsider.loaded.name}") & (rows["referent"] == referent.name)]
    axis, at = outsider.counterpart(referent).axis, outsider.layers[referent.layer]
    scores = axis.scores(outsider.states.layers[at][bench.drawn(number)])
    order = np.argsort(scores)
    assert told["truth"].to_numpy()[order].tolist() == sorted(told["truth"])  # one cut through the outsider's scores
    again = teacher_forced(bench.loaded, bench.anatomy, conversation_of(bench, number, told["truth"].to_numpy()))
    assert told["answer"].fillna(-1).tolist() == [-1.0 if one is None else float(one) for one in again.answers]


def test_the_judged_model_itself_is_no_outsider(bench: Bench) -> None:
    with pytest.raises(LabelsError, match="is the model that is judged"):
        outsider_of(bench, bench.loaded)
