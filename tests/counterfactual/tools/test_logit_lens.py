"""The last layer reads as the target itself; lower ones through its norm and head."""

import re

import torch

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.logit_lens import LogitLens
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import LoadedModel, Row, run


def test_the_last_layer_says_what_the_target_says_next(tiny: LoadedModel, subject: Subject, question: Question) -> None:
    tokens = subject.transcript(question).tokens
    output = run(subject.anatomy, [Row(tokens, read=(4, 9))]).logprobs_RV
    for reading, logprobs in zip(LogitLens(subject).read(question, (4, 9), ""), output, strict=True):
        own = dict(re.findall(r"layer (\d+): (.*?)(?:; (?=layer)|$)", reading.text, re.DOTALL))
        assert list(own) == ["1", "2", "3"]
        likeliest = int(torch.argmax(logprobs))
        share = round(100 * float(logprobs[likeliest].exp()))
        assert own["3"].startswith(f"{tiny.tokenizer.decode([likeliest])!r} {share}%")


def test_layers_and_tokens_told_are_its_identity(subject: Subject) -> None:
    assert (
        len({LogitLens(subject).identity, LogitLens(subject, top=3).identity, LogitLens(subject, (0.5,)).identity}) == 3
    )
