"""Was a thought injected? Asked openly, answered in sampled text, and judged by who sees nothing but the text.

The judge does not know the condition, and says yes, no or invalid. Small models mostly say neither, which is invalid
and never "no".
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pandas as pd

from firsthand.engine import Row
from firsthand.engine.generation import generate
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import JUDGED, Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import open_detection
from firsthand.studies.injection.free_text import Judge, answers_with
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.questions.detection import like_unrelated, of_prompt
from firsthand.studies.injection.settling import settled
from firsthand.studies.injection.trials import Trial, described
from firsthand.studies.injection.wordings import Meaning

LENGTH: Final = 40
"""Most tokens of an answer."""
ORDER: Final = f"{Meaning.INJECTED}|{Meaning.NOTHING}"


def trials(bench: InjectionBench, concept: str, cells: Sequence[Cell], setting: Setting) -> list[Trial]:
    """The open question in every arm."""
    wordings = bench.asked(concept, setting.framing)
    like = like_unrelated(bench, concept, wordings[0])
    made: list[Trial] = []
    for wording in wordings:
        draft = open_detection(wording)
        clean = Trial(concept, Arm.CLEAN, bench.led(draft, concept), timing=setting.timing)
        made += of_prompt(bench, clean, cells, JUDGED, like)
        made.append(replace(clean, arm=Arm.PUSH, prompt=bench.led(draft, concept, towards=concept)))
    return made


def table(bench: InjectionBench, made: Sequence[Trial], judge: Judge) -> pd.DataFrame:
    """Sampled answers, one row each, as the judge heard them.

    Args:
        bench: What is fixed.
        made: Trials of :func:`trials`, of one concept or several.
        judge: Sees each text alone.

    Returns:
        The columns of :func:`~firsthand.studies.injection.trials.described`, and ``said``, ``answer`` (``injected``,
        ``nothing``, or ``None`` if invalid), ``named`` (whether the concept is said to be what was noticed),
        ``coverage`` (1 where the answer is valid, else 0), ``site`` and ``logprobs`` (empty).
    """
    made = settled(bench, made)
    rows = [Row(trial.prompt.tokens, trial.edits) for trial in made]
    samples = bench.claim.samples
    found = generate(
        bench.anatomy,
        bench.loaded.tokenizer,
        rows,
        samples=samples,
        max_tokens=LENGTH,
        seed=bench.claim.seed,
    )
    base = [described(trial) for trial in made]
    drawn = [
        {**row, "trial_id": f"{row['trial_id']}/{i}", "order": ORDER, "task": "detection"}
        for row in base
        for i in range(samples)
    ]
    texts = [one.text for of in found for one in of]
    heard = answers_with(judge, texts, [str(row["concept"]) for row in drawn]).table
    words = {1.0: str(Meaning.INJECTED), 0.0: str(Meaning.NOTHING)}
    answers = pd.Series([words.get(value) for value in heard["answer"]], dtype=object)
    empty = pd.Series([[] for _ in drawn], dtype=object)  # type: ignore[var-annotated]
    return pd.DataFrame(drawn).assign(
        said=texts,
        answer=answers,
        surface=answers,
        named=heard["named"].to_numpy(),
        coverage=answers.notna().astype(float),
        impact_kl=0.0,
        entropy=float("nan"),
        logprobs=empty,
        site=empty,
    )
