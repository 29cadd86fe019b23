"""Every verdict can be said of every capability, and never the same thing of two verdicts."""

import itertools

import pytest

from firsthand.report.formats import Unit
from firsthand.report.words import CONDITIONS, KINDS, KINDS_LONG, metric, question, wording
from firsthand.vocabulary import Capability, Condition, Kind, Verdict


@pytest.mark.parametrize(("verdict", "capability"), itertools.product(Verdict, Capability))
def test_every_verdict_has_words(verdict: Verdict, capability: Capability) -> None:
    words = wording(verdict, capability)
    assert 10 < len(words.title) < 60
    assert words.sentence.endswith(".")
    assert words.not_meaning.endswith(".")
    assert "{" not in words.title + words.sentence + words.not_meaning


@pytest.mark.parametrize("capability", Capability)
def test_no_two_verdicts_read_alike(capability: Capability) -> None:
    assert len({wording(verdict, capability).title for verdict in Verdict}) == len(Verdict)
    assert len({wording(verdict, capability).sentence for verdict in Verdict}) == len(Verdict)
    assert question(capability).endswith("?")


def test_kinds_and_conditions_are_all_named() -> None:
    assert set(KINDS) == set(KINDS_LONG) == set(Kind)
    assert set(CONDITIONS) == set(Condition)


def test_chance_tells_a_margin_from_an_accuracy() -> None:
    assert metric(Capability.DETECTION, 0.0).unit is Unit.POINTS
    assert metric(Capability.DETECTION, 0.5).unit is Unit.PERCENT
    assert metric(Capability.RECONSTRUCTION, 0.5).name == "share correct"
