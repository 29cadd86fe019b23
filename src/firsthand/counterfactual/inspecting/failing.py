"""Why a call failed for good: in a sentence that may be kept and shown, and whose fault it is.

No key and no request is in the sentence. A fault of the *account* concerns every call, so nothing may be concluded from
it; a fault of the *prompt* concerns this prompt, which will not be taken however often it is sent; everything else is
*passing*: the same call may get through another time.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from json import JSONDecodeError
from typing import Any, Final

from firsthand.errors import CounterfactualError, FirsthandError

_LONGEST: Final = 300
_OF_THE_ACCOUNT: Final = (401, 402, 404)
_PASSING: Final = (408, 409, 425, 429)
_TIMEOUTS: Final = ("AttemptTimeoutError", "StreamIdleTimeoutError", "NoStreamDataError")
_UNPAID: Final = re.compile(r"credit balance|insufficient[ _]quota|billing", re.IGNORECASE)


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
    status = status_of(error)
    if isinstance(error, FirsthandError):  # the engine cannot take this request
        return Fault.PROMPT
    if status in _OF_THE_ACCOUNT or (status is not None and status < 500 and _UNPAID.search(str(error))):
        return Fault.ACCOUNT
    if status is not None:
        return Fault.PASSING if status in _PASSING or status >= 500 or status < 400 else Fault.PROMPT
    lost = isinstance(error, OSError | EOFError | JSONDecodeError) or type(error).__name__ in _TIMEOUTS
    return Fault.PASSING if lost or (isinstance(error, Exception) and api.should_retry(error)) else Fault.PROMPT


@dataclass
class Line:
    """Whether calls of a model get through.

    Before the first answer it cannot be told whether a prompt is refused or everybody is, so until then a refused
    prompt counts like a call that was lost.

    Attributes:
        give_up_after: Lost calls in a row that are an outage; ``None``: any number is none.
        answered: Whether any call has been answered.
        in_a_row: Calls lost since the last one that was answered.
    """

    give_up_after: int | None = None
    answered: bool = False
    in_a_row: int = 0

    def got_through(self) -> None:
        """Note a call that was answered."""
        self.answered, self.in_a_row = True, 0

    def lost(self, fault: Fault) -> bool:
        """Note a call that failed for good; returns whether it is the one from which on it must be an outage."""
        if fault is Fault.PROMPT and self.answered:
            return False
        self.in_a_row += 1
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
