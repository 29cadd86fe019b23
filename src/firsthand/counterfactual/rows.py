"""A claim as one row of a table, and back: what the columns of an exported set are."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
from pydantic import ValidationError

from firsthand.counterfactual.claims import Answered, Claim
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.surface import surface_of
from firsthand.errors import CounterfactualError

_TURNS: Final = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
_RESPONSES: Final = pa.list_(
    pa.struct(
        [
            ("text", pa.string()),
            ("verdict", pa.string()),
            ("ended", pa.string()),
            ("reasoning", pa.string()),
            ("calls_json", pa.string()),
            ("tokens", pa.int64()),
        ]
    )
)

COLUMNS: Final[dict[str, tuple[Any, str]]] = {
    "id": (pa.string(), "Identifier of the claim: target, investigation and edited prompt."),
    "claim": (pa.string(), "The claim as a predictor reads it. Nothing in it depends on what the edit did."),
    "label": (pa.bool_(), "Whether it is true."),
    "question": (pa.string(), "The behaviour: a yes/no question about one response."),
    "third_person": (pa.string(), "Why the model does this, asked in the third person."),
    "second_person": (pa.string(), "The same, asked of the model itself."),
    "intervention": (pa.string(), "The edit in words, written without knowledge of what it did."),
    "edit_kind": (pa.string(), "What kind of edit it is, by what becomes of the text."),
    "edit_size": (pa.int64(), "Characters that went or came."),
    "change": (pa.float64(), "Measured change of the rate, from -1 to 1. It gives the label away."),
    "baseline_yes": (pa.int64(), "Responses with the behaviour to the prompt as it is, drawn after screening."),
    "baseline_no": (pa.int64(), "Responses without it."),
    "baseline_invalid": (pa.int64(), "Responses of which neither can be said."),
    "edited_yes": (pa.int64(), "Responses with the behaviour to the edited prompt. Gives the label away."),
    "edited_no": (pa.int64(), "Responses without it. Gives the label away."),
    "edited_invalid": (pa.int64(), "Responses of which neither can be said."),
    "concreteness": (pa.int64(), "How concrete the mechanism is, 1 to 4; null where nobody judged it."),
    "reproduced": (
        pa.bool_(),
        "Whether another implementation had the effect; null where none was run, or it does not decide.",
    ),
    "single_factor": (pa.bool_(), "Whether the edit changes one thing; null where nobody could judge it."),
    "filtered": (pa.bool_(), "Whether it is in the filtered set; null where none was made."),
    "matched": (pa.bool_(), "Whether it is in the matched set; null where none was made."),
    "exact": (pa.bool_(), "Whether counts are probabilities that the target gave, in parts of a thousand."),
    "cluster": (pa.string(), "What must not be parted when data are split."),
    "family": (pa.string(), "Template family of the prompt: the first 100 characters of what users say, hashed."),
    "target": (pa.string(), "Identity of the target model: weights and sampling."),
    "investigation": (pa.string(), "Identifier of the investigation."),
    "experiment": (pa.int64(), "Number of the experiment in it."),
    "source": (pa.string(), "Set that the prompt comes from."),
    "place": (pa.string(), "Where it stands there."),
    "prompt_id": (pa.string(), "Hash of what the target is given."),
    "messages": (_TURNS, "Turns of the prompt, text only; a system prompt is the first."),
    "edited_messages": (_TURNS, "Turns of the edited prompt, text only."),
    "responses": (_RESPONSES, "Some of what the target said to the prompt as it is, the first of their batch."),
    "prompt_json": (pa.string(), "The prompt with tool calls and tools, as JSON."),
    "edit_json": (pa.string(), "The edit as operations, as JSON."),
    "behaviour_json": (pa.string(), "The behaviour with how it is judged, as JSON."),
    "reproduction_json": (
        pa.string(),
        "The other implementation with its counts and its own baseline, as JSON. Gives the label away.",
    ),
}
"""Columns: their types and what they hold."""

SCHEMA: Final = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])


def row_of(claim: Claim) -> dict[str, Any]:
    """A claim as a row: columns of plain values, and everything else as JSON."""
    surface = surface_of(claim)
    return {
        "id": claim.id,
        "claim": claim.text,
        "label": claim.label,
        "question": claim.behaviour.question,
        "third_person": claim.question,
        "second_person": claim.own_question,
        "intervention": claim.intervention,
        "edit_kind": surface.kind,
        "edit_size": surface.size,
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
        "filtered": claim.filtered,
        "matched": claim.matched,
        "exact": claim.exact,
        "cluster": claim.cluster,
        "family": claim.family,
        "target": claim.target,
        "investigation": claim.investigation,
        "experiment": claim.experiment,
        "source": claim.prompt.source,
        "place": claim.prompt.place,
        "prompt_id": claim.prompt.id,
        "messages": _messages(claim.prompt),
        "edited_messages": _messages(claim.edited),
        "responses": [_response(one) for one in claim.responses],
        "prompt_json": claim.prompt.model_dump_json(),
        "edit_json": claim.edit.model_dump_json(),
        "behaviour_json": claim.behaviour.model_dump_json(),
        "reproduction_json": None if claim.reproduction is None else claim.reproduction.model_dump_json(),
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
                "question": row.get("third_person") or "",
                "own_question": row.get("second_person") or "",
                "responses": [answered_of(one) for one in row.get("responses") or ()],
                "reproduction": json.loads(row.get("reproduction_json") or "null"),
                "filtered": row.get("filtered"),
                "matched": row.get("matched"),
                "exact": bool(row.get("exact")),  # sets that were exported before had counts alone
                "prompt": json.loads(row["prompt_json"]),
                "edit": json.loads(row["edit_json"]),
                "behaviour": json.loads(row["behaviour_json"]),
                "baseline": {what: row[f"baseline_{what}"] for what in ("yes", "no", "invalid")},
                "rate": {what: row[f"edited_{what}"] for what in ("yes", "no", "invalid")},
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise CounterfactualError(
            f"A row is no claim: {where}: {first['msg']}.", "Take a file of this version, or mend the column."
        ) from error
    except (KeyError, ValueError) as error:
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


def answered_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A response of the transcript as a claim holds it; what is left out has its default."""
    response = {name: row[name] for name in ("text", "ended", "reasoning", "tokens") if row.get(name) is not None}
    return {
        "response": {**response, "calls": json.loads(row.get("calls_json") or "[]")},
        "verdict": row.get("verdict"),
    }


def _response(one: Answered) -> dict[str, Any]:
    said = one.response
    return {
        "text": said.text,
        "verdict": None if one.verdict is None else one.verdict.value,
        "ended": said.ended,
        "reasoning": said.reasoning,
        "calls_json": json.dumps([call.model_dump(mode="json") for call in said.calls]) if said.calls else None,
        "tokens": said.tokens,
    }


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in prompt.turns]
