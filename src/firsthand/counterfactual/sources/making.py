"""Prompts of a conversation: up to its last place where the target is to speak, or up to each where it spoke."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from pydantic import ValidationError

from firsthand.counterfactual.families import family_name
from firsthand.counterfactual.prompts import Prompt, Tool, Turn
from firsthand.counterfactual.sources.found import Altered, Found, Refused, Unusable, why, writable
from firsthand.counterfactual.sources.messages import Said

Cut = Literal["last", "every"]
"""Which prompts a conversation gives: the one up to the last place where the target is to speak, or one for every turn
of the assistant."""

CUT_BACK: Final = "cut back to where the target speaks"
_NO_TURN: Final = "no turn that the target could answer"


def made(
    said: Sequence[Said], *, source: str, place: str, cluster: str = "", tools: Sequence[Tool] = ()
) -> Prompt | Refused:
    """The prompt that some messages are, or why they are none.

    Args:
        said: All messages of it.
        source: Name of the set.
        place: Where it stands there.
        cluster: What it must not be parted from; its template family if empty.
        tools: What the target is told of.
    """
    try:
        turns = tuple(_usable(one, number) for number, one in enumerate(said))
        user_text = "\n".join(turn.content for turn in turns if turn.role == "user")
        prompt = Prompt(
            turns=turns,
            tools=tuple(tools),
            source=writable(source),
            place=writable(place),
            cluster=writable(cluster or family_name(user_text) or f"{source}: {place}"),
        )
        if tools or any(turn.calls for turn in turns):
            _ = prompt.id  # arguments may hold what has no canonical form; text was checked as it was taken
    except Unusable as fault:
        return Refused(place, fault.reason, fault.detail)
    except ValidationError as error:
        return Refused(place, why(error))
    except (ValueError, RecursionError):
        return Refused(place, "a tool or a call whose arguments cannot be written as JSON")
    return prompt


def _usable(one: Said, number: int) -> Turn:
    if isinstance(one.turn, Unusable):
        raise one.turn
    if one.role in ("user", "assistant") and not one.turn.content.strip() and not one.turn.calls:
        raise Unusable("a turn without text", f"turn {number} ({one.role})")
    return one.turn


def last_prompt(
    said: Sequence[Said], *, source: str, place: str, cluster: str = "", tools: Sequence[Tool] = ()
) -> Iterator[Found]:
    """The prompt up to the last turn of a user or a tool; what follows is cut off, which is said."""
    end = next((n for n in range(len(said), 0, -1) if said[n - 1].role not in ("assistant", "system")), 0)
    if not end:
        yield Refused(place, _NO_TURN)
        return
    prompt = made(said[:end], source=source, place=place, cluster=cluster, tools=tools)
    if end < len(said) and isinstance(prompt, Prompt):
        yield Altered(place, CUT_BACK)
    yield prompt


def every_prompt(
    said: Sequence[Said],
    *,
    source: str,
    place: str,
    cluster: str = "",
    tools: Callable[[int], Sequence[Tool]] = lambda _: (),
) -> Iterator[Found]:
    """A prompt for every turn that the assistant itself spoke, which is what was said before it.

    Without any such turn the conversation is one prompt, if it ends where the target speaks.

    Args:
        said: The messages.
        source: Name of the set.
        place: Where the conversation stands there; the number of the turn is added.
        cluster: What its prompts must not be parted from.
        tools: The tools that the target was told of, by the number of its turn.
    """
    spoken = [n for n, one in enumerate(said) if one.role == "assistant" and not one.given]
    for end in spoken or [len(said)]:
        where = f"{place}, turn {end}"
        before = said[end - 1].role if end else None
        if before == "assistant":
            yield Refused(where, "an assistant's turn that follows another")
        elif before in (None, "system") and not (end and isinstance(said[end - 1].turn, Unusable)):
            yield Refused(where, "nothing was said before the assistant's turn" if spoken else _NO_TURN)
        else:
            try:
                told = tools(end)
            except Unusable as fault:
                yield Refused(where, fault.reason, fault.detail)
            else:
                yield made(said[:end], source=source, place=where, cluster=cluster, tools=told)
