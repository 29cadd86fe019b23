"""Preparing prompts: lengths, duplicates, template families and mixtures, with every drop counted and explained.

After CHIVE (arXiv 2608.16747, appendix B.2). Prompts wait in a file, not in memory, until it is known which are kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from firsthand.counterfactual.families import beginning
from firsthand.counterfactual.mixtures import Limits, Mixture, MixturePart, limits_of
from firsthand.counterfactual.narrowing import (
    Candidate,
    common_beginnings,
    few_of_a_family,
    sampled,
    shown_beginning,
)
from firsthand.counterfactual.prepared import Account, Input, Prepared, Tally
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.sources import Altered, Refused, Source, files_at, read_file, records_in, sources_at
from firsthand.counterfactual.sources.found import writable
from firsthand.counterfactual.tokens import TokenCounter, estimated_tokens
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress, Silent
from firsthand.trials.files import sha256_file

_IN_MEMORY: Final = 64_000_000
_DUPLICATE: Final = "a duplicate of a prompt read before"


@dataclass
class _Part:
    """What is known of a part while it is read."""

    wanted: MixturePart
    inputs: list[Input] = field(default_factory=list)
    read: int = 0
    dropped: Tally = field(default_factory=Tally)
    altered: Tally = field(default_factory=Tally)


def prepare(
    mixture: Mixture, count_tokens: TokenCounter = estimated_tokens, progress: Progress | None = None
) -> Prepared:
    """Read, narrow, mix and sample prompts.

    Of a prompt that occurs twice the first stays. A family is counted over all parts; of sources that give several
    prompts of one conversation its conversations (or tasks, or trees) are counted, so that they stay together.

    Args:
        mixture: What is wanted.
        count_tokens: Says how many tokens a prompt has.
        progress: Is told what is read.

    Returns:
        The prompts, and what became of everything that was read.

    Raises:
        CounterfactualError: If a source cannot be read, nothing is left, or the shares cannot be met for the total that
            is asked for.
    """
    parts = [_Part(part) for part in mixture.parts]

    def drop(one: Candidate, why: str) -> None:
        parts[one.part].dropped.add(why, one.place)

    with SpooledTemporaryFile(max_size=_IN_MEMORY) as waiting:
        candidates = _candidates(parts, count_tokens, progress or Silent(), waiting)
        left = few_of_a_family(candidates, mixture.seed, drop)
        shares = [part.share for part in mixture.parts if part.share is not None]
        taken = sampled(left, mixture.total, shares, len(parts), mixture.seed, drop)
        if not taken:
            raise CounterfactualError(
                f"No prompt is left: {_commonest(parts)}.", "Widen the limits, or give other files."
            )
        prompts = tuple(_again(waiting, one) for one in taken)
    notes = list(common_beginnings(left))
    if mixture.total is not None and len(taken) < mixture.total:
        notes.insert(0, f"{mixture.total:,} prompts were asked for, and there are {len(taken):,}.")
    return Prepared(
        prompts=prompts,
        mixture=mixture,
        counter=_name(count_tokens),
        accounts=tuple(_account(part, sum(one.part == n for one in taken)) for n, part in enumerate(parts)),
        notes=tuple(notes),
    )


def _candidates(
    parts: list[_Part], count_tokens: TokenCounter, progress: Progress, waiting: IO[bytes]
) -> list[Candidate]:
    """The prompts that fit, each once, written one after the other to where they wait."""
    found: list[Candidate] = []
    seen: set[str] = set()
    for number, part in enumerate(parts):
        for prompt, source, limits in _read(part, progress):
            place = f"{prompt.source}, {prompt.place}"
            why = _unfit(prompt, limits, count_tokens)
            name = "" if why else prompt.id
            if why or name in seen:
                part.dropped.add(why or _DUPLICATE, place)
                continue
            seen.add(name)
            data = prompt.model_dump_json(exclude_defaults=True).encode()
            user_text = prompt.user_text
            found.append(
                Candidate(
                    part=number,
                    name=name,
                    unit=prompt.cluster if source.cut else name,
                    begins=beginning(user_text, limits.family_characters),
                    shown=shown_beginning(user_text),
                    limits=limits,
                    place=place,
                    start=waiting.tell(),
                    length=len(data),
                )
            )
            waiting.write(data)
    return found


def _read(part: _Part, progress: Progress) -> Iterator[tuple[Prompt, Source, Limits]]:
    """The prompts of a part; what else its files hold is tallied."""
    wanted = part.wanted
    many = wanted.path.is_dir()
    if many:
        progress.start(f"reading {wanted.path.name}", len(files_at(wanted.path)))
    for file, source in sources_at(wanted.path, wanted.kind, wanted.options):
        if many:
            progress.step()
        if isinstance(source, Refused):
            part.read += 1
            part.dropped.add(source.reason, f"{source.place} ({source.detail})")
            continue
        limits = limits_of(source.name, wanted.limits)
        part.inputs.append(Input(path=writable(str(file)), kind=source.name, limits=limits, sha256=sha256_file(file)))
        records = None if many or wanted.options.get("cut") == "every" else records_in(file, source)
        if not many:
            progress.start(f"reading {file.name}", records or 1)
        for found in read_file(file, source, wanted.options, one_of_many=many):
            if isinstance(found, Altered):
                part.altered.add(found.what, f"{file.name}, {found.place}")
                continue
            part.read += 1
            if records:
                progress.step()
            if isinstance(found, Refused):
                detail = f" ({found.detail})" if found.detail else ""
                part.dropped.add(found.reason, f"{file.name}, {found.place}{detail}")
            else:
                yield found, source, limits
        if not many and not records:
            progress.step()


def _unfit(prompt: Prompt, limits: Limits, count_tokens: TokenCounter) -> str:
    """Why a prompt is too short or too long; empty if it is neither."""
    characters = prompt.characters
    if characters < limits.min_characters:
        return f"shorter than {limits.min_characters:,} characters"
    if limits.max_characters is not None and characters > limits.max_characters:
        return f"longer than {limits.max_characters:,} characters"
    if limits.max_tokens is not None and count_tokens(prompt) > limits.max_tokens:
        return f"longer than {limits.max_tokens:,} tokens"
    return ""


def _again(waiting: IO[bytes], one: Candidate) -> Prompt:
    waiting.seek(one.start)
    return Prompt.model_validate_json(waiting.read(one.length))


def _account(part: _Part, kept: int) -> Account:
    return Account(
        path=writable(str(part.wanted.path)),
        inputs=tuple(part.inputs),
        read=part.read,
        dropped=part.dropped.counts(),
        altered=part.altered.counts(),
        kept=kept,
    )


def _commonest(parts: list[_Part]) -> str:
    counts = [count for part in parts for count in part.dropped.counts()]
    most = max(counts, key=lambda count: count.count, default=None)
    if most is None:
        return "the files hold none"
    read = sum(part.read for part in parts)
    return f"of {read:,} places that were read, {most.count:,} were dropped as: {most.reason} ({most.example})"


def _name(count_tokens: Callable[[Prompt], int]) -> str:
    if count_tokens is estimated_tokens:
        return "estimated: a token for four bytes of UTF-8, and four a turn"
    return str(getattr(count_tokens, "__qualname__", type(count_tokens).__name__))
