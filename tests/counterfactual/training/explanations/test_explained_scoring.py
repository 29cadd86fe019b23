"""What texts are worth, with writers and readers whose truth is known."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.explaining.target_text import Evidence, Explanation, Finding, target_text
from firsthand.counterfactual.predicting.predictions import Prediction
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.training.explanations.scoring import (
    Judged,
    compared,
    helped,
    leaked,
    naming,
    valid_share,
)
from firsthand.counterfactual.training.explanations.writing import Written
from firsthand.vocabulary import Verdict

sys.path.insert(0, str(Path(__file__).parent))
from explained_parts import claims, investigation, text_of, words_of

GROUPS = 48
INVESTIGATIONS = [investigation(n) for n in range(GROUPS)]
CLAIMS = [one.model_copy(update={"cluster": one.prompt.cluster}) for one in claims(INVESTIGATIONS)]
UNITS = GROUPS - 8
JUDGED = Judged(train=CLAIMS[:16], claims=CLAIMS[16:])
REMOVED = {
    claim.id: next(
        word for word in words_of(int(claim.cluster.split()[-1])) if word not in claim.edited.user_text.split()
    )
    for claim in CLAIMS
}


def wrote(kind: str, which: int | Callable[[Claim], str], seed: int | None = 0, writer: str = "") -> Written:
    """Texts that blame the first or second word of each prompt, or any other ones."""
    make = which if callable(which) else lambda claim: text_of(claim.prompt.user_text, which)
    texts = {claim.investigation: make(claim) for claim in JUDGED.claims}
    return Written(writer=writer or kind, kind=kind, seed=seed, texts=texts)  # type: ignore[arg-type]


class Believer:
    """Says yes where the word that an edit removes is said to do it, and no where another one is."""

    name = "believer"
    kind = "observer"
    identity = "believer@1"

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        return [Prediction(claim=one.claim, predictor=self.name, probability=self._says(one)) for one in questions]

    def _says(self, question: Question) -> float:
        own = any(word in question.text.split("BEHAVIOUR")[0] for word in question.prompt.user_text.split()[1:4:2])
        if "does it" not in question.text or not own:
            return 0.4
        return 0.9 if f"{REMOVED[question.claim]} does it" in question.text else 0.1


RIGHT = [wrote("self", 0, seed) for seed in (0, 1)]
WRONG = [wrote("cross", 1, seed) for seed in (0, 1)]
UNTRAINED = wrote("base", lambda _: "I felt like it.", None)


def test_who_blames_the_cause_names_it_and_what_is_refuted_is_not_named() -> None:
    right, wrong = naming(RIGHT, JUDGED.claims), naming(WRONG, JUDGED.claims)
    assert right is not None
    assert wrong is not None
    assert right.difference is not None
    assert wrong.difference is not None
    assert (right.difference.value, wrong.difference.value) == (1.0, -1.0)
    assert right.difference.units == UNITS


def test_a_text_without_the_form_that_was_taught_is_invalid_and_never_no() -> None:
    broken = wrote("self", lambda claim: f"{words_of(0)[0]} does it")
    found = naming([broken], JUDGED.claims)
    assert found is not None
    assert (found.cause, found.invalid) == (None, 1.0)
    share = valid_share([*RIGHT, broken], JUDGED.units)
    assert share is not None
    assert share.value == pytest.approx(2 / 3)
    assert share.units == UNITS
    made = helped([broken], JUDGED, Believer())
    assert (made.claims, made.helps) == (0, None)
    assert [(one.reason, len(one.claims)) for one in made.excluded] == [("no explanation was given", 2 * UNITS)]


def test_what_an_untrained_model_writes_is_taken_as_it_is() -> None:
    free = wrote("base", lambda claim: f"It must be {claim.prompt.user_text.split()[1]}.", None)
    found = naming([free], JUDGED.claims)
    assert found is not None
    assert found.difference is not None
    assert (found.difference.value, found.invalid) == (1.0, 0.0)
    assert helped([free], JUDGED, Believer()).claims == 2 * UNITS


def test_the_right_explanation_helps_and_the_wrong_one_misleads() -> None:
    right, wrong = helped(RIGHT, JUDGED, Believer()), helped(WRONG, JUDGED, Believer())
    assert right.helps is True
    assert (right.claims, right.units) == (4 * UNITS, UNITS)
    assert wrong.helps is False
    assert wrong.accuracy["explanation"].value == 0.0


def test_the_targets_own_explanations_are_paired_with_those_of_others() -> None:
    found = compared([UNTRAINED, *RIGHT, *WRONG], JUDGED, Believer(), "target", True, SelfCrossSpec())
    leads = {one.rival: one.lead for one in found.leads}
    assert leads["told by cross"].low > 0.5
    assert leads["transcript alone"].low > 0.2
    assert leads["told by cross"].units > 1
    assert {"surface", "words", "always the same"} <= set(leads)
    assert found.verdict is not Verdict.PRIVILEGED


def test_whose_texts_say_the_same_tell_the_same() -> None:
    twins = [one.model_copy(update={"writer": "kin", "kind": "cross"}) for one in RIGHT]
    found = compared([UNTRAINED, *RIGHT, *twins], JUDGED, Believer(), "target", True, SelfCrossSpec())
    assert found.verdict is Verdict.PUBLIC_INFERENCE
    assert {one.rival: one.lead.value for one in found.leads}["told by kin"] == 0.0


def test_few_units_silence_or_other_data_allow_no_verdict() -> None:
    few = Judged(JUDGED.train, JUDGED.claims[:8])
    found = compared([UNTRAINED, *RIGHT, *WRONG], few, Believer(), "target", True, SelfCrossSpec())
    assert found.verdict is Verdict.INSUFFICIENT
    assert any("4 independent clusters" in one for one in found.reasons)
    silent = [wrote("cross", lambda _: "", seed) for seed in (0, 1)]
    found = compared([UNTRAINED, *RIGHT, *silent], JUDGED, Believer(), "target", True, SelfCrossSpec())
    assert (found.verdict, found.standings) == (Verdict.INSUFFICIENT, ())
    assert "cross wrote no explanation" in found.reasons[0]
    found = compared([UNTRAINED, *RIGHT, *WRONG], JUDGED, Believer(), "target", False, SelfCrossSpec())
    assert found.verdict is Verdict.INSUFFICIENT


def test_a_claim_that_leaks_from_one_text_is_asked_of_nobody() -> None:
    told = JUDGED.claims[0]

    def reports(claim: Claim) -> str:
        evidence = Evidence(edit=told.intervention, before=100, after=0)
        cause = Finding(cause="That", evidence=(evidence,))
        return target_text(Explanation(observed="I name.", rate=100, causes=(cause,), answer="That does it."))

    asked: list[str] = []

    class Noting(Believer):
        def predict(self, questions: Sequence[Question]) -> list[Prediction]:
            asked.extend(one.claim for one in questions)
            return super().predict(questions)

    texts = [UNTRAINED, *RIGHT, wrote("cross", reports, 0), wrote("cross", 1, 1)]
    gone = leaked(texts, JUDGED.claims)
    assert told.id in gone
    assert {one.cluster for one in JUDGED.claims if one.id in gone} == {told.cluster}
    found = compared(texts, JUDGED, Noting(), "target", True, SelfCrossSpec())
    assert found.claims == 2 * UNITS - len(gone)
    assert not gone & set(asked)
    helped([texts[3]], JUDGED, Noting())
    assert told.id not in asked
