"""What ``firsthand predict`` does."""

import gc
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rich.console import Console

from firsthand.cli.predict.agents import Agents, agents_of, ask_agents
from firsthand.cli.predict.ask import Ask, fewer
from firsthand.cli.predict.folders import check_folder
from firsthand.cli.predict.pricing import AgentPrice, ModelPrice, print_prices
from firsthand.cli.progress import TerminalProgress
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.answered import answers_of
from firsthand.counterfactual.predicting.finishing import Asked, Session, finish
from firsthand.counterfactual.predicting.predictions import Predictor
from firsthand.counterfactual.predicting.predictors import make_floor
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.predicting.reading import ReadClaims
from firsthand.counterfactual.predicting.reading import read as read_claims
from firsthand.counterfactual.predicting.running import ask as ask_all
from firsthand.counterfactual.predicting.transcripts import drawn, need_target, questions_of, without_response
from firsthand.counterfactual.responses import Response, Sampling
from firsthand.counterfactual.store import NAME, Store
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.targets.local_predictor import Form, LocalPredictor, is_target
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress
from firsthand.report.predictions_terminal import print_predictions

__all__ = ["Ask", "run_predict"]

_FORMS: Final[dict[str, tuple[Form | None, ...]]] = {
    "auto": (None,),
    "turn": ("turn",),
    "document": ("document",),
    "both": ("turn", "document"),
}
_FLOOR: Final = "Without a model: see the documentation of the floor of this name."


def run_predict(ask: Ask) -> None:
    """Ask every predictor, or tell the price, and say what was found."""
    check_folder(ask.checked().out)
    read = fewer(read_claims(ask.path), ask.most)
    if without_response(read.claims) and ask.target is None:
        raise need_target(without_response(read.claims))
    if ask.dry_run:
        _price(ask, read)
        return
    started = datetime.now(UTC)
    with TerminalProgress() as progress, Store(ask.out) as store:
        fresh = _transcripts(ask, read, store, progress)
        questions, bare = questions_of(read.claims, fresh)
        claims = _asked_about(read, questions)
        asked = [_floor(name, claims, questions, progress) for name in ask.named_floors]
        prompt: str | None = None
        for name in ask.models:
            for predictor in _predictors(ask, name, read, progress):
                answers = ask_all(predictor, questions, store, progress)
                asked.append(Asked(predictor, answers, _how(predictor), _card(predictor.loaded)))
                prompt = prompt or _example(predictor, questions)
            gc.collect()
        told, notes = ask_agents(ask, agents_of(ask, read, progress), questions, store, progress)
        asked += told
        progress.say("judging")
        session = Session(
            read=read,
            claims=claims,
            dropped={"the target gave no response to show": len(bare)} if bare else {},
            drawn=len(fresh),
            prompt=prompt,
            baseline=_baseline(ask, asked),
            started=started,
            finished=datetime.now(UTC),
            reproduce=(ask.command,),
            notes=(*_notes(ask, asked), *notes),
        )
        left = finish(session, asked, ask.out)
    print_predictions(left.document, Console(), left.files)
    if ask.json is not None:
        shutil.copyfile(left.result, ask.json)


def _asked_about(read: ReadClaims, questions: list[Question]) -> list[Claim]:
    known = {question.claim for question in questions}
    claims = [claim for claim in read.claims if claim.id in known]
    if not claims:
        raise CounterfactualError(
            "The target gave no response to any prompt, so there is no transcript to show.",
            "Look at what it answers, for instance with `firsthand investigate demo`.",
        )
    return claims


def _transcripts(ask: Ask, read: ReadClaims, store: Store, progress: Progress) -> dict[str, Response]:
    bare = without_response(read.claims)
    if not bare or ask.target is None:
        return {}
    loaded = load(ask.target, device=ask.device, dtype=ask.dtype, progress=progress.say)
    return drawn(bare, LocalTarget(loaded, Sampling(samples=2, max_tokens=ask.max_tokens)), store, progress)


def _floor(name: str, claims: list[Claim], questions: list[Question], progress: Progress) -> Asked:
    """A floor with its answers, which are made anew each time: that takes less than keeping them."""
    progress.say(f"fitting {name}")
    made = make_floor(name, claims, questions)
    return Asked(made, answers_of(made, questions), _FLOOR)


def _predictors(ask: Ask, name: str, read: ReadClaims, progress: Progress) -> Iterator[LocalPredictor]:
    """A model in every form in which it is asked."""
    loaded = load(name, device=ask.device, dtype=ask.dtype, progress=progress.say)
    itself = name == ask.target or any(is_target(loaded, target) for target in read.targets)
    if name == ask.target and not all(is_target(loaded, target) for target in read.targets):
        progress.say(f"the claims do not say that {name} is their target: that is taken from --target")
    for form in _FORMS[ask.form]:
        yield LocalPredictor(loaded, "base" if itself else "observer", form, longest=ask.longest)


def _how(predictor: LocalPredictor) -> str:
    where = {
        "turn": "The claim is the user's next turn after the transcript",
        "document": "The transcript is quoted as a document in one user's turn",
    }[predictor.form]
    return (
        f"{where}, and its own turn begins with '{predictor.stem}'; exact probabilities of Yes and No, log-odds "
        f"averaged over {len(predictor.wordings)} wordings and orders; at most {predictor.longest:,} tokens."
    )


def _card(loaded: LoadedModel) -> dict[str, str]:
    return {name: str(value) for name, value in loaded.card().items() if value is not None}


def _example(predictor: LocalPredictor, questions: list[Question]) -> str | None:
    """The shortest question as the model reads it."""
    puts = [put for put in map(predictor.put, questions[:20]) if put.rows]
    if not puts:
        return None
    shortest = min(puts, key=lambda put: len(put.rows[0]))
    return str(predictor.loaded.tokenizer.decode(list(shortest.rows[0])))


def _baseline(ask: Ask, asked: list[Asked]) -> str | None:
    """Who uplift and flips refer to: whoever was named, else the first model."""
    names = [one.predictor.name for one in asked]
    if ask.baseline is not None and ask.baseline not in names:
        raise CounterfactualError(
            f"There is no predictor {ask.baseline!r} in this run.", f"Name one of {', '.join(names)}."
        )
    models = [one.predictor.name for one in asked if one.predictor.kind != "floor"]
    return ask.baseline or next(iter(models), None)


def _notes(ask: Ask, asked: list[Asked]) -> tuple[str, ...]:
    notes = []
    for one in asked:
        card = one.card()
        if card.shortened:
            notes.append(f"{card.shortened} transcripts were shortened in the middle for {card.name}, with a mark.")
        if card.invalid:
            notes.append(f"{sum(card.invalid.values())} answers of {card.name} are invalid.")
    if ask.target is not None and ask.target in ask.models:
        notes.append(f"{ask.target} was named as the target by whoever ran this, whatever the claims say.")
    return tuple(notes)


def _price(ask: Ask, read: ReadClaims) -> None:
    """Tell what a run would cost; transcripts that would have to be drawn are counted at their longest."""
    bare = without_response(read.claims)
    prompts = {claim.prompt.id for claim in bare}
    stand_in = {prompt: Response(text="word " * ask.max_tokens) for prompt in prompts}
    questions, _ = questions_of(read.claims, stand_in)
    prices: list[ModelPrice] = []
    with TerminalProgress() as progress:
        for name in ask.models:
            for predictor in _predictors(ask, name, read, progress):
                progress.say(f"measuring {predictor.name}")
                open_ = _not_kept(ask.out, predictor, questions)
                prices.append(ModelPrice(predictor.name, len(open_), *predictor.price(open_)))
            gc.collect()
        agents = _agent_prices(ask, agents_of(ask, read, progress), questions)
    print_prices(read, ask, prices, len(prompts), Console(), agents)


def _agent_prices(ask: Ask, agents: Agents, questions: list[Question]) -> list[AgentPrice]:
    found = []
    for predictor, _ in agents.members:
        open_ = _not_kept(ask.out, predictor, questions)
        found.append(AgentPrice(predictor.name, len(open_), predictor.expected(open_)))
    return found


def _not_kept(folder: Path, predictor: Predictor, questions: list[Question]) -> list[Question]:
    from firsthand.counterfactual.predicting.running import open_questions

    if not (folder / NAME).exists():
        return questions
    with Store(folder) as store:
        return open_questions(predictor, questions, store)
