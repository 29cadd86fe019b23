"""The control task: shown labels of its own states, can a model move its state towards the one or the other?

After some labelled texts the model is asked to bring about the state that has one of the labels while it writes a
sentence that is given to it word for word (Ji-An et al. 2025; arXiv 2605.26242, section 5.1.2). The sentence is the
same whatever was asked, so its words cannot carry the difference, and names of labels are exchanged from conversation
to conversation, so neither can the name. What is measured is how far the state of the sentence moves along the axis.

Beside it stand the same request after labels drawn by lot, which mean nothing, and the shift along the layer's other
axes, of which the conversation said nothing. Moving a state is not reporting it: what is found here bears no verdict.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.engine import Capture, Row, resid_post, run
from firsthand.engine.prompts import Message, Rendered, render
from firsthand.errors import LabelsError
from firsthand.studies.labels.biofeedback import REDRAWN, TARGET, Bench, Referent, labels_of, lot_labels
from firsthand.studies.labels.conversations import draw_wording

REQUEST: Final = (
    "Give no label now. I want you to bring about in yourself the state that belongs to the label {label}, and to "
    "keep it up while you write this sentence, word for word: {sentence}"
)
SENTENCES: Final = (
    "The lift stops at the third floor before it goes up again.",
    "A grey folder lies on the table beside the window.",
    "The next bus to the harbour leaves at twenty past four.",
    "Someone has put the chairs back in rows along the wall.",
)
"""Sentences of ours about nothing in particular; each conversation takes two of them."""
COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "public": ("experiment", "sentence", "text"),
    "sealed": ("arm", "referent", "axis", "layer"),
    "reports": (),
    "readings": ("up", "down"),
}
"""Columns of each part of the trace, beside ``trial_id``."""


def regulation_rows(bench: Bench, experiment: int) -> pd.DataFrame:
    """The states of sentences after one conversation, for every referent of its layer and for labels drawn by lot.

    The labels of a permuted probe, which mean nothing that could be asked for, are not shown; its axis is measured.

    Returns:
        One row for each referent, arm, sentence and axis of the layer: ``trial_id``, ``arm``, ``referent`` (whose
        labels were shown; none under ``redrawn``), ``axis`` (along which is measured), ``layer``, ``experiment``,
        ``sentence``, ``up`` and ``down`` (the score when class 1 and when class 0 was asked for, in standard deviations
        of the held-out texts' scores), and ``text``.
    """
    layer = next(one for one in bench.states.layers if experiment in bench.experiments(one))
    referents = [one for one in bench.referents if one.layer == layer]
    named = [one for one in referents if one.axis.name != "permuted"]
    shown = {one.name: labels_of(bench, one, bench.drawn(experiment))[0] for one in named}
    tables = [_rows(bench, experiment, referents, TARGET, name, labels) for name, labels in shown.items()]
    return pd.concat([*tables, _rows(bench, experiment, referents, REDRAWN, "none", lot_labels(bench, experiment))])


def _rows(
    bench: Bench, experiment: int, referents: list[Referent], arm: str, shown: str, labels: NDArray[np.int64]
) -> pd.DataFrame:
    chosen = sentences_of(experiment)
    states_S2H = _states(bench, experiment, referents[0].layer, labels, [SENTENCES[number] for number in chosen])
    rows = []
    for measured in referents:
        unit = float(measured.axis.scores(bench.states.layers[measured.layer]).std())
        for number, (down, up) in zip(chosen, states_S2H, strict=True):
            rows.append(
                {
                    "trial_id": f"{experiment}/{arm}/{shown}/{measured.axis.name}/{number}",
                    "arm": arm,
                    "referent": shown,
                    "axis": measured.axis.name,
                    "layer": measured.layer,
                    "experiment": experiment,
                    "sentence": number,
                    "up": float(measured.axis.scores(up[None])[0]) / unit,
                    "down": float(measured.axis.scores(down[None])[0]) / unit,
                    "text": SENTENCES[number],
                }
            )
    return pd.DataFrame(rows)


def sentences_of(experiment: int) -> tuple[int, int]:
    """Numbers of the sentences of a conversation; over two pairs of conversations, all of them with both names."""
    first = experiment // 2 * 2 % len(SENTENCES)
    return first, first + 1


def _states(
    bench: Bench, experiment: int, layer: int, labels: NDArray[np.int64], sentences: Sequence[str]
) -> NDArray[np.float32]:
    """Mean state of each sentence when class 0 and when class 1 is asked for, ``[sentences, 2, hidden]``."""
    site = resid_post(layer)
    laid = [_laid(bench, experiment, labels, sentence, label) for sentence in sentences for label in (0, 1)]
    rows = [Row(one.tokens, captures=(Capture("state", site, one.spans[0]),)) for one in laid]
    found = run(bench.anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1])
    means = np.stack([captured["state"].float().mean(0).numpy() for captured in found.captures])
    return means.reshape(len(sentences), 2, -1)


def _laid(bench: Bench, experiment: int, labels: NDArray[np.int64], sentence: str, label: int) -> Rendered:
    instruction, names = draw_wording(bench.label_names, bench.claim.seed, experiment)
    texts = bench.drawn(experiment)[: bench.claim.regulated_after]
    messages: list[Message] = [("system", instruction)]
    for text, shown in zip(texts, labels, strict=False):
        messages += [("user", bench.held_out.texts[text]), ("assistant", names[shown])]
    asked = REQUEST.format(label=names[label], sentence=sentence)
    found = render(bench.loaded.tokenizer, [*messages, ("user", asked), ("assistant", sentence)], [asked, sentence])
    if found.spans[1][-1] != len(found.tokens) - 1:
        raise LabelsError("The sentence does not end the conversation.", "Use a model with a working chat template.")
    return Rendered(found.text, found.tokens, found.spans[1:])
