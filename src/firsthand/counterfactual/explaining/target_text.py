"""An investigation as a training target: what happens and how often, what causes it, what does not, and the answer.

In the first person, as the target would report on itself (arXiv 2608.16747, appendix E.1; the wording is ours). Causes
that experiments support and ideas that they refute each stand with the edits that were measured and what those did.
What is written can be read back; a text that has not this form is invalid, and what a model writes is never taken for
more than it says.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from pydantic import Field

from firsthand.counterfactual.describing import Describer, mechanically
from firsthand.counterfactual.investigation import Cause, Experiment, Investigation
from firsthand.counterfactual.part import Part
from firsthand.errors import CounterfactualError

SEEN: Final = "What I do"
CAUSES: Final = "What it depends on"
REFUTED: Final = "What it does not depend on"
ANSWER: Final = "In short"

_NONE: Final = "Nothing that was tried."
_TRIED: Final = "Tried"
_EFFECT: Final = re.compile(r" -> (\d{1,3})% became (\d{1,3})%$")


class Evidence(Part):
    """One edit, and what it did.

    Attributes:
        edit: The edit in words.
        before: Share of responses before it, in percent.
        after: Share after it.
    """

    edit: Annotated[str, Field(min_length=1)]
    before: Annotated[int, Field(ge=0, le=100)]
    after: Annotated[int, Field(ge=0, le=100)]

    @property
    def points(self) -> int:
        """Change in points."""
        return self.after - self.before


class Finding(Part):
    """A supposed cause with the edits that speak for or against it."""

    cause: Annotated[str, Field(min_length=1)]
    evidence: Annotated[tuple[Evidence, ...], Field(min_length=1)]


class Explanation(Part):
    """An open explanation.

    Attributes:
        observed: The behaviour.
        rate: Share of responses that show it, in percent.
        causes: Supported causes.
        refuted: Ideas that experiments refute.
        answer: The answer to the question.
    """

    observed: Annotated[str, Field(min_length=1)]
    rate: Annotated[int, Field(ge=0, le=100)]
    causes: tuple[Finding, ...] = ()
    refuted: tuple[Finding, ...] = ()
    answer: Annotated[str, Field(min_length=1)]

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Every edit that it names."""
        return tuple(one for finding in (*self.causes, *self.refuted) for one in finding.evidence)

    @property
    def blamed(self) -> str:
        """What it says of causes: them with their evidence, and the answer. What it refutes is not among it."""
        lines = [text for one in self.causes for text in (one.cause, *(found.edit for found in one.evidence))]
        return "\n".join((*lines, self.answer))


def explanation_of(investigation: Investigation, describe: Describer = mechanically) -> Explanation:
    """What an investigation found, as an explanation.

    Only confirmed experiments are evidence, as they are of claims: the effect of an edit that was still being looked
    for is too large. A cause without any is left out.

    Args:
        investigation: The investigation, with a report.
        describe: Who puts edits into words.

    Raises:
        CounterfactualError: If it ended without a report, or nothing valid was measured on the prompt as it is.
    """
    report, share = investigation.report, investigation.baseline.share
    if report is None or share is None:
        raise CounterfactualError(
            f"The investigation {investigation.id} has {'no report' if report is None else 'no valid baseline'}.",
            "Take one that ended with a report.",
        )
    return Explanation(
        observed=_line(report.observed or investigation.screened.summary),
        rate=_percent(share),
        causes=_findings(report.causes, investigation, describe),
        refuted=_findings(report.refuted, investigation, describe),
        answer=_line(report.answer),
    )


def _findings(causes: Iterable[Cause], investigation: Investigation, describe: Describer) -> tuple[Finding, ...]:
    confirmed = {one.number: one for one in investigation.experiments if one.stage == "confirmed" and one.error is None}
    found = []
    for cause in causes:
        evidence = [_evidence(confirmed[n], investigation, describe) for n in cause.experiments if n in confirmed]
        known = [one for one in evidence if one is not None]
        if known:
            found.append(Finding(cause=_line(cause.hypothesis), evidence=tuple(known)))
    return tuple(found)


def _evidence(experiment: Experiment, investigation: Investigation, describe: Describer) -> Evidence | None:
    before, after = investigation.baseline.share, experiment.rate.share
    if before is None or after is None:
        return None
    said = describe(investigation.screened.prompt, experiment.edit).intervention
    return Evidence(edit=_line(said), before=_percent(before), after=_percent(after))


def _percent(share: float) -> int:
    return round(100 * share)


def _line(text: str) -> str:
    """A text on one line, so that it cannot begin a section of its own."""
    return " ".join(text.split())


def target_text(explanation: Explanation) -> str:
    """The explanation as a text, which :func:`read_text` reads back."""
    lines = [f"{SEEN}: {explanation.observed} I do so in {explanation.rate}% of my responses to this prompt.", ""]
    lines += [f"{CAUSES}:", *_written(explanation.causes), ""]
    lines += [f"{REFUTED}:", *_written(explanation.refuted), ""]
    return "\n".join([*lines, f"{ANSWER}: {explanation.answer}"])


def _written(findings: Sequence[Finding]) -> list[str]:
    lines = [] if findings else [_NONE]
    for number, finding in enumerate(findings, 1):
        lines.append(f"{number}. {finding.cause}")
        lines += [f"   {_TRIED}: {one.edit} -> {one.before}% became {one.after}%" for one in finding.evidence]
    return lines


def read_text(text: str) -> Explanation | None:
    """The explanation that a text holds, or ``None`` if it has not the form, wholly or in part.

    Args:
        text: What a model wrote.
    """
    sections = _sections(text)
    if sections is None:
        return None
    seen, causes, refuted, answer = sections
    rate = re.fullmatch(r"(.+) I do so in (\d{1,3})% of my responses to this prompt\.", seen.strip(), re.DOTALL)
    supported, against = _read(causes), _read(refuted)
    if rate is None or supported is None or against is None or not answer.strip():
        return None
    try:
        return Explanation(
            observed=_line(rate[1]), rate=int(rate[2]), causes=supported, refuted=against, answer=_line(answer)
        )
    except ValueError:
        return None


def _sections(text: str) -> tuple[str, str, str, str] | None:
    """The four sections; ``None`` unless each heading begins a line once, in their order."""
    names = (SEEN, CAUSES, REFUTED, ANSWER)
    places = [list(re.finditer(rf"^{re.escape(name)}:", text, re.MULTILINE)) for name in names]
    if any(len(found) != 1 for found in places):
        return None
    starts = [found[0] for found in places]
    if [one.start() for one in starts] != sorted(one.start() for one in starts) or text[: starts[0].start()].strip():
        return None
    ends = [*(one.start() for one in starts[1:]), len(text)]
    first, second, third, last = (text[one.end() : end] for one, end in zip(starts, ends, strict=True))
    return first, second, third, last


def _read(section: str) -> tuple[Finding, ...] | None:
    lines = [line for line in section.splitlines() if line.strip()]
    if [line.strip() for line in lines] == [_NONE]:
        return ()
    found: list[tuple[str, list[Evidence]]] = []
    for line in lines:
        numbered = re.fullmatch(r"(\d+)\. (.+)", line.strip())
        evidence = _read_evidence(line.strip())
        if evidence is not None and found:
            found[-1][1].append(evidence)
        elif numbered is not None and int(numbered[1]) == len(found) + 1:
            found.append((numbered[2], []))
        else:
            return None
    if not found or not all(evidence for _, evidence in found):
        return None
    return tuple(Finding(cause=cause, evidence=tuple(evidence)) for cause, evidence in found)


def _read_evidence(line: str) -> Evidence | None:
    effect = _EFFECT.search(line)
    if effect is None or not line.startswith(f"{_TRIED}: "):
        return None
    try:
        edit = line[len(_TRIED) + 2 : effect.start()]
        return Evidence(edit=edit, before=int(effect[1]), after=int(effect[2]))
    except ValueError:
        return None
