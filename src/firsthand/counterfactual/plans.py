"""What a run would use and cost before anything is called: calls and tokens of every stage, from stated assumptions.

The structure is that of the pipeline; the sizes that no plan can know (how long answers are, how much an investigator
writes) are settings. Their defaults were chosen so that the plan agrees with what the paper reports of its own runs
(arXiv 2608.16747, appendix B.5: 470,000 tokens read in an investigation of which 80% come from the cache, 42,000 for
each judgement, and the costs of its Table 3).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field

from firsthand.counterfactual.costs import Costs, costs_of
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prices import PriceTable
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.usage import Entry, Usage

CHARACTERS_PER_TOKEN: Final = 4.0

Role = Literal["target", "screener", "investigator", "classifier", "judge", "describer"]
Tokens = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class PlanModel(Part):
    """Who plays a role.

    Attributes:
        model: Its name, as prices are looked up by.
        batch: Whether its single calls (screening, judging) go through a batch interface.
        billed: Whether its tokens are billed; a model on one's own machine is not.
    """

    model: str
    batch: bool = False
    billed: bool = True


class PlanSettings(Part):
    """What is planned, and what is assumed of it. Tokens are means.

    Attributes:
        prompts: Prompts that are sampled.
        prompt_tokens: Length of a prompt.
        samples: Responses to each prompt and each edited prompt.
        response_tokens: Length of a response.
        flagged: Share of the prompts that screening sends on.
        experiments: Experiments of an investigation.
        confirmed: Edits of each investigation that are measured again on fresh responses.
        judges: Judgements of each investigation.
        claims: Claims of each investigation.
        reproduced: Whether each claim is reproduced from its description.
        reproductions: Responses to each reproduction; ``None``: as many as every batch has.
        baselines_again: Batches of the baseline that are drawn anew for the reproductions of an investigation.
        models: Who plays which role; a role without a model (programs that classify, an investigator without a
            language model, no judges) uses nothing.
        instructions: Length of the instructions and examples in a call of a screener, investigator or judge.
        screening_output: What a screener writes, reasoning included.
        turn_output: What an investigator writes in a turn, reasoning included.
        judge_output: What a judge writes, reasoning included.
        shown_first: Responses that the investigator is shown to begin with, at most.
        shown: Responses that the investigator and judges are shown of each experiment, at most.
        cache_hits: Share of what an investigator reads again that comes from the cache; 0 for a provider without one.
        question_tokens: Length of a classifier's question and instructions.
        description_tokens: Length of a describer's instructions.
    """

    prompts: Annotated[int, Field(ge=0)]
    prompt_tokens: Tokens = 700.0
    samples: Annotated[int, Field(ge=1)] = 30
    response_tokens: Tokens = 430.0
    flagged: Share = 0.37
    experiments: Tokens = 12.0
    confirmed: Tokens = 0.0
    judges: Annotated[int, Field(ge=0)] = 5
    claims: Tokens = 3.2
    reproduced: bool = True
    reproductions: Annotated[int, Field(ge=0)] | None = None
    baselines_again: Tokens = 0.0
    models: Mapping[Role, PlanModel]
    instructions: Tokens = 5000.0
    screening_output: Tokens = 2000.0
    turn_output: Tokens = 700.0
    judge_output: Tokens = 3600.0
    shown_first: Annotated[int, Field(ge=0)] = 10
    shown: Annotated[int, Field(ge=0)] = 5
    cache_hits: Share = 0.92
    question_tokens: Tokens = 300.0
    description_tokens: Tokens = 800.0

    @property
    def investigations(self) -> float:
        """Investigations that are to be expected."""
        return self.prompts * self.flagged


class Plan(Part):
    """What a run would use.

    Attributes:
        settings: What was planned.
        costs: Calls, tokens and money, by stage and role.
        assumptions: What that rests on, one sentence each.
    """

    settings: PlanSettings
    costs: Costs
    assumptions: tuple[str, ...]

    @property
    def per_investigation(self) -> dict[str, float | None]:
        """Money for one investigation, by stage; ``None`` where a price is not known or there is no investigation."""
        number = self.settings.investigations
        return {
            stage: None if found.total is None or not number else found.total / number
            for stage, found in self.costs.by_stage().items()
        }


def mean_tokens(prompts: Sequence[Prompt]) -> float:
    """Mean length of prompts in tokens, at four characters each; 0 without prompts."""
    return sum(prompt.characters for prompt in prompts) / CHARACTERS_PER_TOKEN / max(1, len(prompts))


def price_plan(settings: PlanSettings, prices: PriceTable) -> Plan:
    """Calls, tokens and costs of a run, by stage and role.

    Args:
        settings: What is planned, and assumed.
        prices: The prices.
    """
    entries = [
        *_sampling(settings),
        *_screening(settings),
        *_experiments(settings),
        *_investigating(settings),
        *_judging(settings),
        *_claims(settings),
    ]
    kept = [entry for entry in entries if entry.usage.calls]
    return Plan(settings=settings, costs=costs_of(kept, prices), assumptions=_assumptions(settings))


def _entry(
    settings: PlanSettings,
    stage: str,
    role: Role,
    calls: float,
    tokens_in: float,
    out: float,
    *,
    again: float = 0.0,
    kept: float = 0.0,
) -> list[Entry]:
    """One line: calls, and what *each* of them reads (anew, from the cache, into the cache) and writes."""
    who = settings.models.get(role)
    if who is None:
        return []
    usage = Usage(
        calls=round(calls),
        input=round(calls * tokens_in),
        output=round(calls * out),
        cache_read=round(calls * again),
        cache_write=round(calls * kept),
    )
    single = role in ("screener", "judge", "classifier", "describer")
    return [Entry(stage=stage, role=role, model=who.model, usage=usage, batch=who.batch and single, billed=who.billed)]


def _responses(settings: PlanSettings, stage: str, batches: float) -> list[Entry]:
    """Responses of the target to some prompts, each read for each response."""
    calls = batches * settings.samples
    return _entry(settings, stage, "target", calls, settings.prompt_tokens, settings.response_tokens)


def _verdicts(settings: PlanSettings, stage: str, batches: float) -> list[Entry]:
    calls = batches * settings.samples
    read = settings.question_tokens + settings.response_tokens
    return _entry(settings, stage, "classifier", calls, read, 5.0)


def _sampling(settings: PlanSettings) -> list[Entry]:
    return _responses(settings, "sample", settings.prompts)


def _screening(settings: PlanSettings) -> list[Entry]:
    read = settings.instructions + settings.prompt_tokens + settings.samples * settings.response_tokens
    return [
        *_entry(settings, "screen", "screener", settings.prompts, read, settings.screening_output),
        *_verdicts(settings, "screen", settings.investigations),
    ]


def _experiments(settings: PlanSettings) -> list[Entry]:
    """A fresh baseline, and a batch for each experiment and each confirmation."""
    batches = settings.investigations * (1.0 + settings.experiments + settings.confirmed)
    return [*_responses(settings, "experiments", batches), *_verdicts(settings, "classify", batches)]


def _investigating(settings: PlanSettings) -> list[Entry]:
    """An agent that sends everything again in each turn: one turn an experiment, one to begin and one to report."""
    turns = settings.experiments + 2.0
    shown = min(settings.shown, settings.samples)
    first = settings.instructions + settings.prompt_tokens
    first += min(settings.shown_first, settings.samples) * settings.response_tokens
    growth = settings.prompt_tokens + shown * settings.response_tokens + settings.turn_output
    whole = turns * first + growth * turns * (turns - 1.0) / 2.0
    again = (whole - first - (turns - 1.0) * growth) * settings.cache_hits
    fresh = whole - again
    cached = settings.cache_hits > 0
    return _entry(
        settings,
        "investigate",
        "investigator",
        settings.investigations * turns,
        0.0 if cached else fresh / turns,
        settings.turn_output,
        again=again / turns,
        kept=fresh / turns if cached else 0.0,
    )


def _judging(settings: PlanSettings) -> list[Entry]:
    shown = min(settings.shown, settings.samples)
    batch = settings.prompt_tokens + shown * settings.response_tokens
    read = settings.instructions + (settings.experiments + 1.0) * batch
    calls = settings.investigations * settings.judges
    return _entry(settings, "verify", "judge", calls, read, settings.judge_output)


def _claims(settings: PlanSettings) -> list[Entry]:
    """For each claim a description of its edit; then three filters, one of which samples the target again."""
    claims = settings.investigations * settings.claims
    both = settings.description_tokens + 2.0 * settings.prompt_tokens
    found = _entry(settings, "describe", "describer", claims, both, 200.0)
    found += _entry(settings, "filter", "judge", settings.investigations, settings.description_tokens + 500.0, 200.0)
    if settings.reproduced and settings.reproductions != 0 and "describer" in settings.models:
        found += _entry(settings, "filter", "describer", claims, both, settings.prompt_tokens + 200.0)
        size = settings.samples if settings.reproductions is None else settings.reproductions
        batches = (claims + settings.investigations * settings.baselines_again) * size / settings.samples
        found += [*_responses(settings, "filter", batches), *_verdicts(settings, "filter", batches)]
    return found


def _assumptions(settings: PlanSettings) -> tuple[str, ...]:
    s = settings
    return (
        f"Prompts have {s.prompt_tokens:,.0f} tokens and responses {s.response_tokens:,.0f}; "
        f"each response is charged for reading its prompt.",
        f"Screening sends on {s.flagged:.0%} of the prompts, so there are {s.investigations:,.0f} investigations.",
        f"Each of {s.claims:g} claims of an investigation is reproduced with "
        f"{s.samples if s.reproductions is None else s.reproductions} responses, and the baseline with as many "
        f"{s.baselines_again:g} times."
        if s.reproduced and s.reproductions != 0
        else "No claim is reproduced.",
        f"An investigator takes a turn for each of {s.experiments:g} experiments and two more, reads everything again "
        f"in each, {s.cache_hits:.0%} of that from a cache, and writes {s.turn_output:,.0f} tokens a turn.",
        f"Investigators and judges are shown {s.shown} responses of each experiment, and instructions of "
        f"{s.instructions:,.0f} tokens.",
        f"A screener writes {s.screening_output:,.0f} tokens and a judge {s.judge_output:,.0f}, reasoning included.",
        "Retries and malformed answers are not in it.",
    )
