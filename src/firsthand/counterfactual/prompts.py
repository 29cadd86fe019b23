"""A prompt: the turns that a target model is to answer, tool calls and their results included."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from firsthand.counterfactual.part import Part
from firsthand.trials.canonical import canonical_json, digest

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(Part):
    """A call that an assistant's turn makes.

    Attributes:
        id: Identifier that the result refers to.
        name: Name of the tool.
        arguments: Arguments, as JSON.
    """

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)

    @field_validator("arguments")
    @classmethod
    def _can_be_written(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            canonical_json(arguments)
        except (ValueError, TypeError) as error:
            raise ValueError(f"the arguments cannot be written as JSON: {error}") from None
        return arguments


class Tool(Part):
    """A tool that the target is told of; it is never run.

    Attributes:
        name: Name.
        description: What it says it does.
        parameters: JSON schema of the arguments.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class Turn(Part):
    """One turn.

    Attributes:
        role: Who speaks.
        content: The text; may be empty where a tool is called.
        calls: Tool calls of an assistant.
        answers: The id of the call that a tool's turn answers.
    """

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None

    @field_validator("content")
    @classmethod
    def _is_text(cls, content: str) -> str:
        if any("\ud800" <= character <= "\udfff" for character in content):
            raise ValueError("the content holds half of a surrogate pair, which is no text")
        return content

    @model_validator(mode="after")
    def _has_only_what_its_role_has(self) -> Self:
        if self.calls and self.role != "assistant":
            raise ValueError(f"a {self.role} turn makes no tool calls")
        if self.answers is not None and self.role != "tool":
            raise ValueError(f"a {self.role} turn answers no tool call")
        return self


class Prompt(Part):
    """Turns that end where the target is to speak: after a user, or after a tool's result.

    Attributes:
        turns: The turns, at least one.
        tools: Tools that the target is told of.
        source: Name of the set it comes from.
        place: Where it stands there, such as a line, a record or a trajectory and turn.
        cluster: What it must not be parted from when data are split, such as a task, a tree or a template family.
    """

    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    tools: tuple[Tool, ...] = ()
    source: str = ""
    place: str = ""
    cluster: str = ""

    @model_validator(mode="after")
    def _ends_where_the_target_speaks(self) -> Self:
        if self.turns[-1].role not in ("user", "tool"):
            raise ValueError(
                f"a prompt ends in a user's or a tool's turn, and this one in one of the {self.turns[-1].role}"
            )
        if any(turn.role == "system" for turn in self.turns[1:]):
            raise ValueError("only the first turn can be the system's")
        return self

    @property
    def id(self) -> str:
        """Hash of what the target is given: equal for equal turns and tools, wherever they come from."""
        return digest(self.model_dump(include={"turns", "tools"}))[:16]

    @property
    def user_text(self) -> str:
        """What users say in it, in order."""
        return "\n".join(turn.content for turn in self.turns if turn.role == "user")

    @property
    def characters(self) -> int:
        """Length of all turns."""
        return sum(len(turn.content) for turn in self.turns)
