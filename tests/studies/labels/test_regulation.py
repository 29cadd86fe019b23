"""Asked to move its state, a model writes the same sentence either way, and only the request differs."""

import numpy as np
import pytest

from firsthand.engine import resid_post
from firsthand.states.reading import read_states
from firsthand.studies.labels.biofeedback import REDRAWN, TARGET, Bench, lot_labels
from firsthand.studies.labels.conversations import draw_wording
from firsthand.studies.labels.regulation import REQUEST, SENTENCES, regulation_rows, sentences_of


def test_every_referent_is_shown_and_every_axis_of_the_layer_measured(bench: Bench) -> None:
    rows = regulation_rows(bench, 2)
    assert set(rows["layer"]) == {2}
    shown = rows[rows["arm"] == TARGET]
    assert set(shown["referent"]) == {"probe at 2", "pc1 at 2"}
    assert set(rows[rows["arm"] == REDRAWN]["referent"]) == {"none"}
    assert set(rows["axis"]) == {"probe", "permuted", "pc1"}
    assert len(rows) == 3 * 3 * 2
    assert rows["trial_id"].is_unique
    assert np.isfinite(rows[["up", "down"]]).all(axis=None)


def test_the_state_is_that_of_the_sentence_at_the_end_of_the_very_conversation(bench: Bench) -> None:
    number, sentence, label = 2, 3, 1
    instruction, names = draw_wording(bench.label_names, bench.claim.seed, number)
    turns = [("system", instruction)]
    for text, shown in zip(bench.drawn(number)[:6], lot_labels(bench, number), strict=False):
        turns += [("user", bench.held_out.texts[text]), ("assistant", names[shown])]
    turns += [("user", REQUEST.format(label=names[label], sentence=SENTENCES[sentence])), ("assistant", "{word}")]
    read = read_states(bench.loaded, bench.anatomy, [SENTENCES[sentence]], [resid_post(2)], tuple(turns))
    axis = next(one for one in bench.referents if one.name == "pc1 at 2").axis
    unit = axis.scores(bench.states.layers[2]).std()
    expected = axis.scores(read.states[resid_post(2)].numpy())[0] / unit
    rows = regulation_rows(bench, number)
    found = rows[(rows["arm"] == REDRAWN) & (rows["axis"] == "pc1") & (rows["sentence"] == sentence)]["up"].iloc[0]
    assert found == pytest.approx(expected, abs=1e-3)


def test_over_two_pairs_of_conversations_every_sentence_comes_with_both_names_of_the_labels() -> None:
    assert [sentences_of(number) for number in range(4)] == [(0, 1), (0, 1), (2, 3), (2, 3)]
