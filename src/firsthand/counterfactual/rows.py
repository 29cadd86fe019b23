"""A claim as one row of a table, and back: what the columns of an exported set are."""

import json
from typing import Any, Final

import pyarrow as pa
from pydantic import ValidationError

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.prompts import Prompt
from firsthand.errors import CounterfactualError

_TURNS: Final = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))

COLUMNS: Final[dict[str, tuple[Any, str]]] = {
    "id": (pa.string(), "Identifier of the claim: target, investigation and edited prompt."),
    "claim": (pa.string(), "The claim as a predictor reads it. Nothing in it depends on what the edit did."),
    "label": (pa.bool_(), "Whether it is true."),
    "question": (pa.string(), "The behaviour: a yes/no question about one response."),
    "intervention": (pa.string(), "The edit in words, written without knowledge of what it did."),
    "change": (pa.float64(), "Measured change of the rate, from -1 to 1. It gives the label away."),
    "baseline_yes": (pa.int64(), "Responses with the behaviour to the prompt as it is, drawn after screening."),
    "baseline_no": (pa.int64(), "Responses without it."),
    "baseline_invalid": (pa.int64(), "Responses of which neither can be said."),
    "edited_yes": (pa.int64(), "Responses with the behaviour to the edited prompt. Gives the label away."),
    "edited_no": (pa.int64(), "Responses without it. Gives the label away."),
    "edited_invalid": (pa.int64(), "Responses of which neither can be said."),
    "concreteness": (pa.int64(), "How concrete the mechanism is, 1 to 4; null where nobody judged it."),
    "reproduced": (pa.bool_(), "Whether another implementation had the effect; null where none was run."),
    "single_factor": (pa.bool_(), "Whether the edit changes one thing; null where nobody judged it."),
    "exact": (pa.bool_(), "Whether counts are probabilities that the target gave, in parts of a thousand."),
    "cluster": (pa.string(), "What must not be parted when data are split."),
    "target": (pa.string(), "Identity of the target model: weights and sampling."),
    "investigation": (pa.string(), "Identifier of the investigation."),
    "experiment": (pa.int64(), "Number of the experiment in it."),
    "source": (pa.string(), "Set that the prompt comes from."),
    "place": (pa.string(), "Where it stands there."),
    "prompt_id": (pa.string(), "Hash of what the target is given."),
    "messages": (_TURNS, "Turns of the prompt, text only."),
    "edited_messages": (_TURNS, "Turns of the edited prompt, text only."),
    "prompt_json": (pa.string(), "The prompt with tool calls and tools, as JSON."),
    "edit_json": (pa.string(), "The edit as operations, as JSON."),
    "behaviour_json": (pa.string(), "The behaviour with how it is judged, as JSON."),
}
"""Columns: their types and what they hold."""

SCHEMA: Final = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])


def row_of(claim: Claim) -> dict[str, Any]:
    """A claim as a row: columns of plain values, and everything else as JSON."""
    return {
        "id": claim.id,
        "claim": claim.text,
        "label": claim.label,
        "question": claim.behaviour.question,
        "intervention": claim.intervention,
        "change": claim.change,
        "baseline_yes": claim.baseline.yes,
        "baseline_no": claim.baseline.no,
        "baseline_invalid": claim.baseline.invalid,
        "edited_yes": claim.rate.yes,
        "edited_no": claim.rate.no,
        "edited_invalid": claim.rate.invalid,
        "concreteness": claim.concreteness,
        "reproduced": claim.reproduced,
        "single_factor": claim.single_factor,
        "exact": claim.exact,
        "cluster": claim.cluster,
        "target": claim.target,
        "investigation": claim.investigation,
        "experiment": claim.experiment,
        "source": claim.prompt.source,
        "place": claim.prompt.place,
        "prompt_id": claim.prompt.id,
        "messages": _messages(claim.prompt),
        "edited_messages": _messages(claim.edited),
        "prompt_json": claim.prompt.model_dump_json(),
        "edit_json": claim.edit.model_dump_json(),
        "behaviour_json": claim.behaviour.model_dump_json(),
    }


def claim_of(row: dict[str, Any]) -> Claim:
    """The claim that a row was made of.

    Raises:
        CounterfactualError: If columns are missing, or do not agree with each other.
    """
    try:
        claim = Claim.model_validate(
            {
                **{name: row[name] for name in _SAME},
                "exact": bool(row.get("exact")),  # sets that were exported before had counts alone
                "prompt": json.loads(row["prompt_json"]),
                "edit": json.loads(row["edit_json"]),
                "behaviour": json.loads(row["behaviour_json"]),
                "baseline": {what: row[f"baseline_{what}"] for what in ("yes", "no", "invalid")},
                "rate": {what: row[f"edited_{what}"] for what in ("yes", "no", "invalid")},
            }
        )
    except (KeyError, ValueError, ValidationError) as error:
        raise CounterfactualError(
            f"A row is no claim: {type(error).__name__} {str(error)[:200]}.", "Take a file that was exported here."
        ) from error
    if claim.id != row.get("id"):
        raise CounterfactualError(
            f"The claim {row.get('id')} holds another edit or prompt than it was exported with.", "Take the file anew."
        )
    return claim


_SAME: Final = (
    "investigation",
    "target",
    "experiment",
    "intervention",
    "label",
    "concreteness",
    "reproduced",
    "single_factor",
    "cluster",
)


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in prompt.turns]
