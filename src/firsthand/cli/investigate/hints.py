"""What the command ``investigate hints`` does."""

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from firsthand.cli.investigate.hints_telling import print_hint_price, print_hints
from firsthand.cli.progress import TerminalProgress
from firsthand.counterfactual.asking import Bench, Budget, by_program
from firsthand.counterfactual.hints.items import Item, drawn, read_exam, read_posts, shots_of
from firsthand.counterfactual.hints.pricing import HintPrice, hint_price, reads_a_second
from firsthand.counterfactual.hints.rules import HintRule
from firsthand.counterfactual.hints.running import HintsDocument, HintSettings, hints_document, leave, run_hints
from firsthand.counterfactual.pricing import measured, short
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.choosing import ChoosingTarget
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import CounterfactualError

_LETTER_TOKENS = 16


@dataclass(frozen=True)
class AskHints:
    """What the command was asked for.

    Attributes:
        data: Exam questions.
        aita: Posts, if there are any.
        model: Name of the target.
        out: Folder of the run.
        questions: Exam questions, drawn by lot; as many posts at most.
        exact: Whether probabilities are read instead of sampling.
        settings: How.
        max_tokens: Longest answer to a follow-up question, and longest answer with an explanation.
        limits: Most responses and tokens of the folder.
        json: Where the result goes, too.
        device: Where the model runs.
        dtype: In which precision.
        dry_run: Whether only the price is told.
    """

    data: Path | None
    aita: Path | None
    model: str
    out: Path
    questions: int
    exact: bool
    settings: HintSettings
    max_tokens: int
    limits: dict[str, int | None]
    json: Path | None
    device: str | None
    dtype: str
    dry_run: bool

    @property
    def answers(self) -> Sampling:
        """How answers are drawn."""
        longest = _LETTER_TOKENS if self.settings.form == "letter" else self.max_tokens
        rule = self.settings.rule
        return Sampling(samples=rule.samples, temperature=rule.temperature, max_tokens=longest, seed=self.settings.seed)

    @property
    def talk(self) -> Sampling:
        """How answers to follow-up questions are drawn."""
        rule = self.settings.rule
        return Sampling(samples=2, temperature=rule.temperature, max_tokens=self.max_tokens, seed=self.settings.seed)

    @property
    def budget(self) -> Budget:
        """What the folder may cost."""
        return Budget(**self.limits, longest=max(self.answers.max_tokens, self.talk.max_tokens))

    @property
    def command(self) -> str:
        """The command that repeats the run in a new folder."""
        settings, rule = self.settings, self.settings.rule
        options: dict[str, object] = {"data": self.data, "aita": self.aita, "model": self.model}
        options |= {"questions": self.questions, "each": settings.each, "form": settings.form, "shots": settings.shots}
        options |= {
            "samples": rule.samples,
            "temperature": rule.temperature,
            "explanations": settings.explanations,
            "max-tokens": self.max_tokens,
        }
        options |= {"seed": settings.seed, "device": self.device, "dtype": self.dtype}
        options |= {f"most-{name}": limit for name, limit in self.limits.items()}
        given = [f"--{name}={value}" for name, value in options.items() if value is not None]
        given += [f"--cue={name}" for name in settings.cues]
        how = "--exact" if self.exact else "--sampled"
        return shlex.join(["firsthand", "investigate", "hints", *given, how, "--out", "NEW_FOLDER"])


def settings_of(
    cues: list[str],
    each: int,
    form: str,
    explanations: int,
    seed: int,
    *,
    rule: HintRule,
    exact: bool,
    shots: int,
) -> HintSettings:
    """Settings from options.

    Raises:
        CounterfactualError: If an option is none of those that there are.
    """
    if form not in ("brief", "letter"):
        raise CounterfactualError(f"There is no form {form!r}.", "Use brief or letter.")
    if exact and rule.temperature > 1.0:
        raise CounterfactualError("Probabilities are not known above a temperature of 1.", "Use --sampled there.")
    settings = HintSettings(
        rule=rule,
        cues=tuple(cues),
        each=each,
        form="letter" if form == "letter" or exact else "brief",
        shots=shots,
        explanations=explanations,
        seed=seed,
    )
    if each > len(settings.kinds):
        raise CounterfactualError(
            f"Each question is to get {each} of {len(settings.kinds)} kinds of cue.", "Lower --each, or name more."
        )
    return settings


def run_hints_command(ask: AskHints, console: Console | None = None) -> HintsDocument | None:
    """Measure, ask and say what was found, or tell the price."""
    items, shots, dropped = _items(ask)
    out = console or Console()
    with TerminalProgress() as progress:
        loaded = load(ask.model, device=ask.device, dtype=ask.dtype, progress=progress.say)
        if ask.dry_run:
            progress.say("measuring how fast this machine is")
            price = _price(ask, items, shots, loaded)
        else:
            target, talker = ChoosingTarget(loaded, ask.answers), ChoosingTarget(loaded, ask.talk)
            with Store(ask.out) as store:
                ran = run_hints(
                    items,
                    Bench(target, by_program, store, ask.budget),
                    ask.settings,
                    progress,
                    chooser=target if ask.exact else None,
                    talker=Bench(talker, by_program, store, ask.budget),
                    shots=shots,
                )
                made = hints_document(ran, ask.settings, dropped, target.card(), (ask.command,))
                files = leave(ran, made, ask.out)
    if ask.dry_run:
        print_hint_price(price, ask.budget, out)
        return None
    print_hints(made, out, files)
    if ask.json is not None:
        shutil.copyfile(files[0], ask.json)
    return made


def _items(ask: AskHints) -> tuple[tuple[Item, ...], tuple[Item, ...], dict[str, int]]:
    """Questions and posts, as many of each as are wanted or there are; what is answered before; what was left out."""
    if ask.data is None and ask.aita is None:
        raise CounterfactualError("There is nothing to ask.", "Give questions with --data, or posts with --aita.")
    items: list[Item] = []
    shots: tuple[Item, ...] = ()
    dropped: dict[str, int] = {}
    if ask.data is not None:
        exam = read_exam(ask.data)
        shots = shots_of(exam.items, ask.settings.shots, ask.settings.seed)
        items += drawn([one for one in exam.items if one not in shots], ask.questions, ask.settings.seed)
        dropped |= {f"questions: {reason}": count for reason, count in exam.dropped.items()}
    if ask.aita is not None:
        posts = read_posts(ask.aita, ask.settings.seed)
        items += drawn(posts.items, min(ask.questions, len(posts.items)), ask.settings.seed)
        dropped |= {f"posts: {reason}": count for reason, count in posts.dropped.items()}
    return tuple(items), shots, dropped


def _price(ask: AskHints, items: tuple[Item, ...], shots: tuple[Item, ...], loaded: LoadedModel) -> HintPrice:
    cases = ask.settings.cases(items, shots)
    target = ChoosingTarget(loaded, short(ask.answers))
    generated = not ask.exact or ask.settings.explanations > 0
    return hint_price(
        cases,
        ask.settings,
        exact=ask.exact,
        tokens=(ask.answers.max_tokens, ask.talk.max_tokens),
        reads_a_second=reads_a_second(target, cases) if ask.exact else None,
        tokens_a_second=measured(target, [one.cued for one in cases]) if generated else None,
    )
