"""Why a call failed for good, in a sentence that may be kept and shown: no key and no request is in it."""

from typing import Final

from firsthand.errors import CounterfactualError

_LONGEST: Final = 300


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


def reason_of(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """One short line, with everything secret left out."""
    status = status_of(error)
    text = " ".join(str(error).split()) or "no message"
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    words = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f"{type(error).__name__}{f' {status}' if status else ''}: {words}"


def refuse_hopeless(error: BaseException, model: str, secrets: tuple[str, ...]) -> None:
    """Stop where no further call could succeed: nothing is to be recorded as an answer then.

    Raises:
        CounterfactualError: If the provider does not accept the key, or does not know the model.
    """
    status = status_of(error)
    if status == 401:
        raise CounterfactualError(
            f"The provider of {model} does not accept the key: {reason_of(error, secrets)}",
            "Set the provider's key in the environment, and run the same command again.",
        ) from None
    if status == 404:
        raise CounterfactualError(
            f"The provider of {model} does not know it: {reason_of(error, secrets)}",
            "Check the model's name and the server's address.",
        ) from None
