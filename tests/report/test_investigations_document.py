"""The document of investigations: every prompt in exactly one place, nothing belongs to nothing, always storable."""

from pathlib import Path

import investigated as planted
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from firsthand.counterfactual.behaviours import Verdict
from firsthand.report.files import ReportError
from firsthand.report.investigations_document import Account, InvestigationsDocument, Sample, Step
from firsthand.report.investigations_files import read_json, write_json

drops = st.dictionaries(st.text(min_size=1, max_size=5), st.integers(0, 50), max_size=4)


@given(st.lists(st.tuples(st.text(max_size=5), drops), max_size=6), st.integers(0, 100))
def test_places_sum_to_what_began(steps: list[tuple[str, dict[str, int]]], left: int) -> None:
    began = left + sum(sum(dropped.values()) for _, dropped in steps)
    account = Account.of(began, *{name: (name, dropped) for name, dropped in steps}.values())
    assert sum(account.places.values()) == began


def test_a_step_that_loses_or_invents_a_prompt_is_refused() -> None:
    with pytest.raises(ValidationError, match="9 prompts came to the step 'sampled', and it accounts for 8"):
        Step(name="sampled", given=9, kept=8)
    first = Step(name="prepared", given=10, kept=9, dropped={"x": 1})
    with pytest.raises(ValidationError, match="'prepared' kept 9 prompts, and 'sampled' was given 8"):
        Account(began=10, steps=(first, Step(name="sampled", given=8, kept=8)))
    with pytest.raises(ValidationError, match="11 prompts were read, and 'prepared' was given 10"):
        Account(began=11, steps=(first,))
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Account.of(2, ("prepared", {"too short": 3}))


def test_reports_are_as_many_as_the_account_says() -> None:
    with pytest.raises(ValidationError, match="filed for 2 prompts, and they are here for 1"):
        planted.document(account=Account.of(2, ("investigated", {})))


def test_what_belongs_to_no_investigation_is_refused() -> None:
    strange = Sample(investigation="0" * 16, experiment=0, text="x", verdict=Verdict.YES)
    with pytest.raises(ValidationError, match="samples of investigations that are not there: 0000"):
        planted.document(samples=(strange,))
    with pytest.raises(ValidationError, match="claims of investigations that are not there"):
        planted.document(investigations=(planted.unfinished(),), account=Account(began=1), samples=(), traces={})


def test_an_investigation_is_there_once() -> None:
    one = planted.unfinished()
    with pytest.raises(ValidationError, match="once for each behaviour"):
        planted.document(investigations=(one, one), claims=(), samples=(), traces={}, account=Account(began=1))


@pytest.mark.parametrize("make", [planted.document, planted.hostile], ids=["planted", "hostile"])
def test_it_reads_back_equal(make: object, tmp_path: Path) -> None:
    document: InvestigationsDocument = make()  # type: ignore[operator]
    path = write_json(document, tmp_path / "result.json")
    assert read_json(path) == document
    assert [one.id for one in read_json(path).investigations] == [one.id for one in document.investigations]


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = write_json(planted.document(), tmp_path / "result.json")
    path.write_text(path.read_text("utf-8").replace('"schema_version": 1', '"schema_version": 2'), "utf-8")
    with pytest.raises(ReportError, match="not a document of investigations of this version"):
        read_json(path)
