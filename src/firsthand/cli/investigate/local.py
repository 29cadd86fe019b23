"""What the commands do that investigate a local model without a language model as investigator."""

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from firsthand.cli.investigate.telling import print_price
from firsthand.cli.progress import TerminalProgress
from firsthand.counterfactual.asking import Bench, Budget, by_program
from firsthand.counterfactual.behaviours import check_behaviours
from firsthand.counterfactual.concluding import conclude
from firsthand.counterfactual.finishing import UNJUDGED, About, document, finish
from firsthand.counterfactual.investigators import without_model
from firsthand.counterfactual.library.built_in import BUILT_IN
from firsthand.counterfactual.library.candidates import Candidate, of_behaviours
from firsthand.counterfactual.pricing import measured, price, short
from firsthand.counterfactual.prompt_files import read_behaviours
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.running import RunSettings, investigate
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.engine.loading import load
from firsthand.errors import CounterfactualError
from firsthand.report.investigations_terminal import print_investigations


@dataclass(frozen=True)
class Ask:
    """What a command was asked for.

    Attributes:
        words: The command and the options that name its prompts and behaviours.
        prompts: The prompts.
        model: Name of the target.
        out: Folder of the run.
        drawn: Fields of :class:`~firsthand.counterfactual.responses.Sampling`.
        limits: Most responses and tokens of the folder.
        minutes: Longest time of this run.
        most: Most investigations.
        reproduce: Responses to another implementation of each claim's edit; ``None``: as many as every batch has.
        thorough: Whether the investigator confirms many edits, or few.
        threshold: Lowest rating that is investigated.
        behaviours: A file of behaviours; ``None`` for the built-in ones and those made from prompts.
        json: Where the result goes, too.
        device: Where the model runs.
        dtype: In which precision.
        dry_run: Whether only the price is told.
    """

    words: tuple[str, ...]
    prompts: list[Prompt]
    model: str
    out: Path
    drawn: dict[str, int]
    limits: dict[str, int | None]
    minutes: float | None
    most: int | None
    reproduce: int | None
    thorough: bool
    threshold: int
    behaviours: Path | None
    json: Path | None
    device: str | None
    dtype: str
    dry_run: bool

    @property
    def settings(self) -> RunSettings:
        """How prompts are investigated."""
        sampling = Sampling.model_validate(self.drawn)
        own_words = self.behaviours is None
        return RunSettings(
            sampling=sampling,
            threshold=self.threshold,
            own_words=own_words,
            most=self.most,
            reproduce=self.reproduce,
        )

    @property
    def budget(self) -> Budget:
        """What the folder may cost."""
        seconds = None if self.minutes is None else 60.0 * self.minutes
        return Budget(**self.limits, longest=self.settings.sampling.max_tokens, seconds=seconds)

    @property
    def command(self) -> str:
        """The command that repeats the run in a new folder."""
        options: dict[str, object] = {"model": self.model, **self.drawn, "investigations": self.most}
        options |= {
            "reproduce": self.reproduce,
            "threshold": self.threshold,
            "device": self.device,
            "dtype": self.dtype,
        }
        options |= {f"most-{name}": limit for name, limit in self.limits.items()}
        given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
        effort = "--thorough" if self.thorough else "--light"
        return shlex.join(["firsthand", "investigate", *self.words, *given, effort, "--out", "NEW_FOLDER"])

    def candidates(self) -> tuple[Candidate, ...]:
        """Behaviours that are looked for.

        Raises:
            CounterfactualError: If they cannot be read, or not judged in responses of this length.
        """
        if self.behaviours is None:
            return BUILT_IN
        own = read_behaviours(self.behaviours)
        check_behaviours(own, self.settings.sampling.max_tokens)
        return of_behaviours(own)


def check_investigator(name: str) -> None:
    """Refuse an investigator that a local run does not have.

    Raises:
        CounterfactualError: If it is not ``none``.
    """
    if name != "none":
        raise CounterfactualError(
            f"This command has no investigator {name!r}.", "Use --investigator none, which needs no language model."
        )


def run_local(ask: Ask) -> None:
    """Investigate, or tell the price, and say what was found."""
    if ask.json is not None and not ask.json.absolute().parent.is_dir():
        raise CounterfactualError(
            f"The folder of {ask.json} does not exist.", "Make it, or name another file with --json."
        )
    settings, candidates = ask.settings, ask.candidates()
    investigator = without_model(settings.sampling.samples, thorough=ask.thorough)
    with TerminalProgress() as progress:
        loaded = load(ask.model, device=ask.device, dtype=ask.dtype, progress=progress.say)
        if ask.dry_run:
            progress.say("measuring how fast this machine is")
            rate = measured(LocalTarget(loaded, short(settings.sampling)), ask.prompts)
        else:
            target = LocalTarget(loaded, settings.sampling)
            with Store(ask.out) as store:
                bench = Bench(target, by_program, store, ask.budget)
                ran = investigate(ask.prompts, bench, investigator, candidates, settings, progress)
                concluded = conclude(ran.investigations, bench, settings, progress)
                progress.say("writing the report")
                made = document(ran, concluded, bench, About(target.card(), (ask.command,)))
                left = finish(made, concluded, ask.out, (UNJUDGED,))
    if ask.dry_run:
        print_price(price(ask.prompts, settings, investigator, rate), ask.budget, Console())
        return
    print_investigations(left.document, Console(), left.files)
    if ask.json is not None:
        shutil.copyfile(left.result, ask.json)
