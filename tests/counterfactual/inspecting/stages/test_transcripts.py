"""Claims of agents carry what the target said, and say what their reproduction was held against."""

from pathlib import Path

from running_world import PROGRAM, prompts, settings

from firsthand.counterfactual.claim_files import read_claims
from firsthand.counterfactual.concluding import Concluded
from firsthand.counterfactual.finishing import finish
from firsthand.counterfactual.inspecting.documenting import concluded_of, document_of
from firsthand.counterfactual.inspecting.running import run_stages


def test_exported_claims_of_agents_hold_the_transcript_and_their_reproduction(tmp_path: Path) -> None:
    chosen, given = settings(tmp_path / "run", behaviours=(PROGRAM,), effort="light"), prompts(1)
    result = run_stages(chosen, given)
    concluded: Concluded = concluded_of(result, chosen)
    left = finish(document_of(result, concluded, chosen, given), concluded, tmp_path / "run")
    claims = read_claims(left.claims / "data" / "unfiltered.parquet")
    assert {one.id for one in claims} == {one.id for one in result.claims}
    for one in claims:
        assert 0 < len(one.responses) <= 5
        assert all(said.response.text for said in one.responses)
        assert (one.reproduction is None) is (one.reproduced is None)
        assert one.reproduction is None or one.reproduction.baseline is not None
    assert any(one.reproduction is not None for one in claims)
    assert set(concluded.errors) == {"unfiltered", "filtered", "matched"}
