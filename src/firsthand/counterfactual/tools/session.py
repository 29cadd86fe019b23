"""The calls of tools about one question: checked, limited, counted, and told as text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, ValidationError

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.altered import AlteredError
from firsthand.counterfactual.tools.limits import Limits
from firsthand.counterfactual.tools.reading import Reading, Tool
from firsthand.counterfactual.tools.transcript import Transcript
from firsthand.errors import FirsthandError

_Position = Annotated[int, Field(ge=0)]


class ByPosition(Part):
    """Arguments of a tool that takes single tokens."""

    positions: Annotated[tuple[_Position, ...], Field(min_length=1)]


class BySegment(Part):
    """Arguments of a tool that is asked about a run of tokens."""

    first: _Position
    last: _Position
    question: Annotated[str, Field(min_length=1, max_length=1_000)]


class Made(Part):
    """A call that was carried out, and what came of it.

    Attributes:
        tool: Name of the tool.
        ask: What was asked of a segment; empty for single tokens.
        readings: What the tool said.
    """

    tool: str
    ask: str
    readings: tuple[Reading, ...]


@dataclass(frozen=True)
class Told:
    """What a predictor is told after a call.

    Attributes:
        readings: What the tool said; empty for a call that was refused.
        note: A sentence of ours: calls that are left, or why it was not carried out.
        done: Whether it was carried out.
    """

    readings: tuple[Reading, ...]
    note: str
    done: bool


@dataclass
class Session:
    """Calls about one question.

    Attributes:
        tools: The tools.
        question: The question.
        transcript: Its numbered tokens.
        limits: What is allowed.
        made: Calls that were carried out.
        refusals: Why others were not, in order.
    """

    tools: Sequence[Tool]
    question: Question
    transcript: Transcript
    limits: Limits = field(default_factory=Limits)
    made: list[Made] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls were carried out."""
        return len(self.made)

    @property
    def over(self) -> bool:
        """Whether no further call would be listened to."""
        return len(self.refusals) > self.limits.refused

    def do(self, name: str, arguments: dict[str, Any], parse_error: str | None = None) -> Told:
        """Carry out a call, or say why not. A refused call counts among the refusals and takes none of the calls.

        Raises:
            AlteredError: If the tool changed the target.
        """
        known = {tool.name: tool for tool in self.tools}
        if name not in known:
            return self._refused(f"There is no tool {name[:40]!r}. Use {' or '.join(known)}.")
        if parse_error is not None:
            return self._refused("The arguments could not be read as JSON.")
        if self.calls >= self.limits.calls:
            return self._refused(f"All {self.limits.calls} calls are used up. Answer now.")
        tool = known[name]
        parsed = self._parsed(tool, arguments)
        if isinstance(parsed, str):
            return self._refused(parsed)
        positions, ask = parsed
        try:
            readings = tool.read(self.question, positions, ask)
        except AlteredError:
            raise
        except FirsthandError as error:
            return self._refused(error.problem)
        self.made.append(Made(tool=name, ask=ask, readings=readings))
        left = self.limits.calls - self.calls
        return Told(readings, f"{left} call{'' if left == 1 else 's'} left.", True)

    def _parsed(self, tool: Tool, arguments: dict[str, Any]) -> tuple[tuple[int, ...], str] | str:
        """Positions and question, or why they are refused."""
        form = ByPosition if tool.takes == "positions" else BySegment
        try:
            given = form.model_validate(arguments)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            return f"The arguments do not fit. {'.'.join(map(str, first['loc']))}: {first['msg']}."
        if isinstance(given, ByPosition):
            positions, ask, most = tuple(sorted(set(given.positions))), "", self.limits.positions
        else:
            positions, ask, most = tuple(range(given.first, given.last + 1)), given.question, self.limits.segment
        if not positions:
            return "`last` comes before `first`."
        if positions[-1] >= len(self.transcript.tokens):
            return f"The tokens are numbered 0 to {len(self.transcript.tokens) - 1}; there is no {positions[-1]}."
        if len(positions) > most:
            return f"{len(positions)} tokens were chosen, and at most {most} can be."
        return positions, ask

    def _refused(self, why: str) -> Told:
        self.refusals.append(why)
        return Told((), f"Not carried out: {why}", False)


def told(readings: Sequence[Reading]) -> str:
    """Readings as text, one a line, to be quoted."""
    return "\n".join(f"[{one.position}] {one.token!r}: {' '.join(one.text.split())}" for one in readings)
