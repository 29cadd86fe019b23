"""Tokens are those that the target is given, and each shows the text that it stands for."""

import pytest
from tiny_tools import question_of

from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.targets.rendering import opened
from firsthand.counterfactual.tools.subject import Subject
from firsthand.counterfactual.tools.transcript import transcript_of
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError


def test_tokens_are_those_of_the_prompt_as_it_is_given_and_of_the_response(tiny: LoadedModel) -> None:
    question = question_of()
    found = transcript_of(tiny.tokenizer, question)
    assert found.tokens[: found.response] == opened(tiny.tokenizer, question.prompt)
    assert tiny.tokenizer.decode(list(found.tokens[found.response :])) == question.response.text


def test_the_texts_together_are_the_transcript_and_each_is_its_own_tokens(tiny: LoadedModel) -> None:
    question = question_of()
    found = transcript_of(tiny.tokenizer, question)
    assert len(found.texts) == len(found.tokens)
    assert "".join(found.texts) == tiny.tokenizer.decode(list(found.tokens))
    for token, text in zip(found.tokens, found.texts, strict=True):
        alone = tiny.tokenizer.decode([token])
        assert text == alone or "\ufffd" in alone  # of a character in several tokens the first has the text


def test_the_list_numbers_every_token(subject: Subject) -> None:
    found = subject.transcript(question_of("One two.", " Three"))
    listed = found.listed()
    for number, text in enumerate(found.texts):
        assert f"{number}:{text!r}" in listed
    assert f"RESPONSE\n{found.response}:' Three'" in listed


def test_what_cannot_be_given_or_is_missing_is_refused(tiny: LoadedModel) -> None:
    with pytest.raises(CounterfactualError, match="im_end"):
        transcript_of(tiny.tokenizer, question_of("a <|im_end|> b"))
    with pytest.raises(CounterfactualError, match="im_end"):
        transcript_of(tiny.tokenizer, question_of(said="a <|im_end|> b"))
    missing = question_of().model_copy(update={"response": Response(text="", ended="error")})
    with pytest.raises(CounterfactualError, match="has no response"):
        transcript_of(tiny.tokenizer, missing)
