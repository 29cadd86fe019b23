"""A labels document holds together: names of its own, rows that fit, no verdict from a broken instrument."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from firsthand.report.labels_document import LabelsDocument, LabelsFinding
from firsthand.vocabulary import Verdict


def test_a_broken_instrument_leaves_no_verdict_in_the_document(labelled: SimpleNamespace) -> None:
    broken = labelled.document(instrument_ok=False, instrument_failures=("A wire was cut.",))
    assert all(not finding.results for finding in broken.findings)
    assert broken.failed_checks == ("A wire was cut.",)


def test_a_failed_check_and_an_instrument_in_order_do_not_go_together(labelled: SimpleNamespace) -> None:
    known = labelled.document().known_answers
    failed = known[0].model_copy(update={"obtained": Verdict.PRIVILEGED, "passed": False})
    with pytest.raises(ValidationError, match="a check failed"):
        labelled.document(known_answers=(failed,))


def test_findings_curves_and_grids_have_names_of_their_own(labelled: SimpleNamespace) -> None:
    first = labelled.document().findings[0]
    with pytest.raises(ValidationError, match="findings must have names of their own"):
        labelled.document(findings=(first, first))
    with pytest.raises(ValidationError, match="curves of probe must have names of their own"):
        LabelsFinding(name="probe", title="t", asked="a", curves=(labelled.curve(), labelled.curve()))
    with pytest.raises(ValidationError, match="grids of probe must have names of their own"):
        LabelsFinding(name="probe", title="t", asked="a", grids=(labelled.grid(), labelled.grid()))


@pytest.mark.parametrize("name", ["main", "x-data", "Probe", "a b", ""])
def test_a_finding_cannot_be_called_what_the_page_needs_or_no_file_can_be_called(name: str) -> None:
    with pytest.raises(ValidationError):
        LabelsFinding(name=name, title="t", asked="a")


def test_a_row_of_a_grid_has_a_cell_for_every_column(labelled: SimpleNamespace) -> None:
    grid = labelled.grid().model_dump()
    grid["rows"] = (("short", (None,)),)
    with pytest.raises(ValidationError, match="'short' has 1 cells for 3 columns"):
        type(labelled.grid()).model_validate(grid)


def test_text_that_no_file_can_hold_is_spelled_out(labels: LabelsDocument) -> None:
    finding = LabelsFinding(name="probe", title="\ud800", asked="a", notes=("\udfff",))
    assert finding.title == "⟨U+D800⟩"
    assert finding.notes == ("⟨U+DFFF⟩",)
