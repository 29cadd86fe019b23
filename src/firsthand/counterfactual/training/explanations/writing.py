"""Everybody's trainings on explanations, and the explanations that everybody writes of held-out investigations.

Trainings lie in ``trainings/MODEL/seed-N`` and texts in ``written``. A response is kept in the folder's store as soon
as it was generated, so a run that was stopped goes on where it was.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from firsthand.counterfactual.asking import Bench, by_program, sample
from firsthand.counterfactual.explaining.simulatability import Explained
from firsthand.counterfactual.explaining.target_text import Explanation, read_text
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Request, Sampling
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.training.adapters import load_trained
from firsthand.counterfactual.training.drift import chat_tokens
from firsthand.counterfactual.training.examples import TrainingSet
from firsthand.counterfactual.training.experiment import Contender, Training
from firsthand.counterfactual.training.explanations.cases import Case, explanation_set
from firsthand.counterfactual.training.lora import train
from firsthand.counterfactual.training.rejudging import slug
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.counterfactual.training.tokens import refusal
from firsthand.engine import LoadedModel
from firsthand.progress import Progress
from firsthand.trials.files import read_json, write_json

BATCH: Final = "explain"
"""Batch of responses that are explanations."""
WRITTEN: Final = "written"
TEXTS: Final = "explanations.json"
UNTRAINED: Final = "the untrained target"


class Written(Part):
    """What one model wrote of the held-out investigations.

    Attributes:
        writer: Name of the model.
        kind: ``base`` untrained, ``self`` trained on itself, ``cross`` another model trained on the same.
        seed: Seed of its training; ``None`` where it was not trained.
        texts: The explanation of each investigation; empty where none came.
        cut_off: Investigations whose explanation was cut off at the longest length.
    """

    writer: str
    kind: Literal["base", "self", "cross"]
    seed: Annotated[int, Field(ge=0)] | None = None
    texts: dict[str, str]
    cut_off: tuple[str, ...] = ()

    @property
    def free(self) -> bool:
        """Whether its texts are taken as they are: it was never taught a form."""
        return self.kind == "base"

    def read(self, investigation: str) -> Explanation | None:
        """A text as an explanation; ``None`` if it has not the form."""
        return read_text(self.texts.get(investigation, ""))

    def said(self, investigation: str) -> str:
        """The text that a reader is given; empty if there is none, or it has not the form that its writer was taught.

        What a text without that form means is not guessed at.
        """
        text = self.texts.get(investigation, "")
        return text if self.free or read_text(text) is not None else ""

    def blamed(self, investigation: str) -> str:
        """What the text says of causes; of a text that has the form nothing that it refutes."""
        read = self.read(investigation)
        return self.said(investigation) if read is None else read.blamed

    @property
    def explained(self) -> dict[str, Explained]:
        """The texts as a simulator is given them; they were written from no experiment."""
        return {one: Explained(investigation=one, text=self.said(one)) for one in self.texts}


class Made(NamedTuple):
    """What everybody's trainings gave.

    Attributes:
        written: Texts, those of the untrained target first.
        trainings: Every training.
        data: Conversations of each seed.
    """

    written: tuple[Written, ...]
    trainings: tuple[Training, ...]
    data: dict[int, TrainingSet]


def data_sets(
    cases: Sequence[Case], contenders: Sequence[Contender], settings: TrainSettings, seeds: Sequence[int]
) -> dict[int, TrainingSet]:
    """The conversations of every seed, the same for all: what one model cannot be given, none gets."""
    tests = [refusal(one.loaded.tokenizer, settings.max_tokens) for one in contenders]
    return {seed: explanation_set(cases, settings.epochs, seed, tests) for seed in seeds}


def general_of(
    loaded: LoadedModel, cases: Sequence[Case], data: TrainingSet, settings: TrainSettings
) -> list[tuple[int, ...]]:
    """Chats on which a model is held to its base, where it is: the transcripts that are trained on, each once."""
    if not settings.kl_share:
        return []
    ids = {one.id for one in data.examples}
    shown = [one for one in cases if one.id in ids]
    return list(dict.fromkeys(chat_tokens(loaded, one.prompt, one.response.text) for one in shown))


def drawing(longest: int) -> Sampling:
    """How explanations are drawn: the most probable token each time, so that nothing hangs on a draw."""
    return Sampling(top_k=1, max_tokens=longest)


def made_by(
    cases: tuple[Sequence[Case], Sequence[Case]],
    contenders: Sequence[Contender],
    settings: TrainSettings,
    seeds: Sequence[int],
    longest: int,
    folder: Path,
    progress: Progress,
) -> Made:
    """Train everybody with every seed, and let everybody explain; what is in the folder is taken from it.

    Args:
        cases: Those to train on, and those to explain.
        contenders: Who is trained, the target first.
        settings: How; the seed is replaced.
        seeds: Seeds, one training of each contender for each.
        longest: Most tokens of an explanation.
        folder: Where everything goes.
        progress: Who is told.
    """
    shown, held_out = cases
    data = data_sets(shown, contenders, settings, seeds)
    trainings: list[Training] = []
    with Store(folder) as store:
        untrained = Written(writer=UNTRAINED, kind="base", texts={})
        written = [_written(untrained, contenders[0].loaded, held_out, longest, store, progress)]
        for seed in seeds:
            own = settings.model_copy(update={"seed": seed})
            for one in contenders:
                place = folder / "trainings" / slug(one.name) / f"seed-{seed}"
                progress.say(f"explanations: {one.name}, seed {seed}")
                general = general_of(one.loaded, shown, data[seed], own)
                trained = train(one.loaded, data[seed], own, place, progress, general)
                relative = place.relative_to(folder).as_posix()
                trainings.append(Training(model=one.name, seed=seed, trained=trained, folder=relative))
                blank = Written(writer=one.name, kind=one.kind, seed=seed, texts={})
                written.append(_written(blank, load_trained(one.loaded, place), held_out, longest, store, progress))
    for made in written:
        name = "untrained" if made.seed is None else f"{slug(made.writer)}/seed-{made.seed}"
        write_json(folder / WRITTEN / name / TEXTS, made.model_dump(mode="json"))
    return Made(tuple(written), tuple(trainings), data)


def _written(
    blank: Written, model: LoadedModel, cases: Sequence[Case], longest: int, store: Store, progress: Progress
) -> Written:
    bench = Bench(LocalTarget(model, drawing(longest)), by_program, store)
    requests = [Request(prompt=one.example.prompt, batch=BATCH, samples=1) for one in cases]
    said = [batch[0] for batch in sample(bench, requests, f"{blank.writer} explains", progress) if batch]
    pairs = list(zip([one.id for one in cases], said, strict=True))
    return blank.model_copy(
        update={
            "texts": {name: "" if one.missing else one.text for name, one in pairs},
            "cut_off": tuple(name for name, one in pairs if one.ended == "length"),
        }
    )


def read_written(folder: Path) -> list[Written]:
    """Every text of a run's folder, those of the untrained target first."""
    found = [Written.model_validate(read_json(path)) for path in (folder / WRITTEN).glob(f"**/{TEXTS}")]
    order: Mapping[str, int] = {"base": 0, "self": 1, "cross": 2}
    return sorted(found, key=lambda one: (order[one.kind], one.writer, -1 if one.seed is None else one.seed))
