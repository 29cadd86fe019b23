"""Why a call failed for good: in a sentence that may be kept and shown, and whose fault it is.

No key and no request is in the sentence. A fault of the *account* concerns every call, so nothing may be concluded from
it; a fault of the *prompt* concerns this prompt, which will not be taken however often it is sent; everything else is
*passing*: the same call may get through another time. An error that nobody knows is passing, so that nothing is
concluded from it.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from firsthand.errors import CounterfactualError, FirsthandError

_LONGEST: Final = 300
_OF_THE_ACCOUNT: Final = (401, 402, 404)
_PASSING: Final = (408, 409, 425, 429)
_UNPAID: Final = re.compile(r"credit balance|insufficient[ _]quota|billing", re.IGNORECASE)
_UNPAID_STATUS: Final = (403, 429)
"""With these a message speaks of the account; elsewhere it may repeat what the prompt says of bills."""
_UNPAID_AT_ONCE: Final = re.compile(r"your credit balance is too low", re.IGNORECASE)
"""How a provider that gives a 400 for it begins its message."""
_OF_CONTENT: Final = re.compile(
    r"content[ _-]?(?:policy|filter|management)|usage polic|moderation|safety|flagged|guardrail|violat", re.IGNORECASE
)
"""What a 403 says that is about what stands in the prompt."""
_OUT_OF_MEMORY: Final = re.compile(r"out of memory|can't allocate memory|memory does not suffice", re.IGNORECASE)


class Fault(StrEnum):
    """Whose fault it is that a call failed."""

    ACCOUNT = "account"
    PROMPT = "prompt"
    PASSING = "passing"


def cause_of(error: BaseException) -> BaseException:
    """The provider's error, out of what Inspect's retries and its own error wrap it in."""
    last = getattr(error, "last_attempt", None)
    if last is not None and (inner := last.exception()) is not None:
        return cause_of(inner)
    if type(error).__name__ == "ModelGenerateError" and error.__cause__ is not None:
        return cause_of(error.__cause__)
    return error


def status_of(error: BaseException) -> int | None:
    """The HTTP status of a provider's error, if it has one."""
    for name in ("status_code", "code"):
        if isinstance(value := getattr(error, name, None), int):
            return value
    return None


def fault_of(error: BaseException, api: Any) -> Fault:
    """Whose fault a call's failure is.

    Args:
        error: The provider's error (:func:`cause_of`).
        api: Inspect's provider, which knows what of its own errors passes.
    """
    status, text = status_of(error), str(error)
    if isinstance(error, FirsthandError):  # the engine cannot take this request, unless others leave it no room
        return Fault.PASSING if _OUT_OF_MEMORY.search(text) else Fault.PROMPT
    if status is None or (status in _PASSING and not _unpaid(error)):
        return Fault.PASSING
    if status == 403:
        words = " ".join([text, *_codes(error)])
        return Fault.PROMPT if _OF_CONTENT.search(words) else Fault.ACCOUNT
    if status in _OF_THE_ACCOUNT or _unpaid(error):
        return Fault.ACCOUNT
    passes = status >= 500 or status < 400 or (isinstance(error, Exception) and api.should_retry(error))
    return Fault.PASSING if passes else Fault.PROMPT


def _unpaid(error: BaseException) -> bool:
    """Whether nobody would be served, since nobody has paid: by the error's code, or by words that are no echo."""
    status, body = status_of(error), _body(error)
    said = body.get("message")
    begins = _UNPAID_AT_ONCE.match(said if isinstance(said, str) else str(error))
    if begins or any(_UNPAID.search(code) for code in _codes(error)):
        return True
    return status in _UNPAID_STATUS and bool(_UNPAID.search(str(error)))


def _codes(error: BaseException) -> list[str]:
    """What an error and its body name it, as far as that is a name."""
    held = [getattr(error, "code", None), getattr(error, "type", None), _body(error).get("code")]
    return [one for one in (*held, _body(error).get("type")) if isinstance(one, str)]


def _body(error: BaseException) -> dict[str, Any]:
    """The error in what the provider sent."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


@dataclass
class Line:
    """Whether calls of a model get through, in this process.

    Before the first answer it cannot be told whether a prompt is refused or everybody is, and later not whether the
    provider has begun to refuse everybody. So prompts that are refused one after the other count like calls that were
    lost, each prompt once, until one is answered: those before it were refused for what they are.

    Attributes:
        give_up_after: Lost calls and refused prompts in a row that are an outage; ``None``: any number is none.
        answered: Whether any call has been answered.
        lost_in_a_row: Calls lost since the last one that was answered.
        refused: Prompts refused since then.
        own: Prompts that are refused for what they are.
        perhaps: Prompts of which several responses at once were refused since the last answer.
    """

    give_up_after: int | None = None
    answered: bool = False
    lost_in_a_row: int = 0
    refused: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    perhaps: set[str] = field(default_factory=set)

    @property
    def in_a_row(self) -> int:
        """Lost calls and refused prompts since the last answer."""
        return self.lost_in_a_row + len(self.refused)

    def got_through(self) -> None:
        """Note a call that was answered."""
        self.answered, self.lost_in_a_row = True, 0
        self.own |= self.perhaps
        self.perhaps.clear()
        self.settle()

    def several_refused(self, prompt: str) -> None:
        """Note a call for several responses that was refused; it is made again for fewer, after many others."""
        self.perhaps.add(prompt)

    def settle(self) -> None:
        """Take the prompts that were refused for refused for what they are, if anything has been answered."""
        if self.answered:
            self.own |= self.refused
            self.refused.clear()

    def lost(self, fault: Fault, prompt: str) -> bool:
        """Note a call that failed for good; returns whether it is the one from which on it must be an outage.

        Args:
            fault: Whose fault it was.
            prompt: Tells the prompt from others.
        """
        if fault is Fault.PROMPT:
            if prompt in self.own or prompt in self.refused:
                return False
            self.refused.add(prompt)
        else:
            self.lost_in_a_row += 1
        return self.give_up_after is not None and self.in_a_row >= self.give_up_after


def reason_of(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """One short line, with everything secret left out."""
    status = status_of(error)
    text = " ".join(str(error).split()) or "no message"
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    words = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f"{type(error).__name__}{f' {status}' if status else ''}: {words}"


def unusable(error: BaseException, model: str, secrets: tuple[str, ...] = ()) -> CounterfactualError:
    """What to tell of a fault of the account: no further call could succeed, and nothing is an answer then."""
    why = reason_of(error, secrets)
    match status_of(error):
        case 404:
            return CounterfactualError(
                f"The provider of {model} does not know it: {why}", "Check the model's name and the server's address."
            )
        case 401:
            return CounterfactualError(
                f"The provider of {model} does not accept the key: {why}",
                "Set the provider's key in the environment, and run the same command again.",
            )
        case _:
            return CounterfactualError(
                f"The provider of {model} does not serve this account: {why}",
                "See what the provider wants, and run the same command again.",
            )
