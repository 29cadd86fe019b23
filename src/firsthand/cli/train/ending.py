"""How the commands end: result, page and list of files in the folder, verdicts on the screen."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.cli.labels.prices import time_of
from firsthand.counterfactual.training.concluding import LIMITS
from firsthand.counterfactual.training.folders import RESULT, cards, listed
from firsthand.counterfactual.training.pricing import Price
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.errors import InstrumentError
from firsthand.report.explanations_document import OpenExplanations
from firsthand.report.files import write_json
from firsthand.report.training_document import TrainingDocument, TrainingStudy
from firsthand.report.training_html import write_training_html
from firsthand.report.training_terminal import print_training
from firsthand.version import __version__


def ended(
    title: str,
    studies: tuple[TrainingStudy, ...],
    models: Iterable[LoadedModel],
    settings: TrainSettings,
    out: Path,
    begun: datetime,
    command: str,
    json: Path | None,
    limits: tuple[str, ...] = LIMITS,
    explanations: OpenExplanations | None = None,
) -> None:
    """Write and print what was found, with what else may not be concluded.

    Raises:
        InstrumentError: If a planted truth did not come out, after everything was written and printed.
    """
    document = TrainingDocument(
        title=title,
        package_version=__version__,
        started=begun,
        finished=datetime.now(UTC),
        settings={name.replace("_", " "): str(value) for name, value in settings.model_dump(exclude={"seed"}).items()},
        spec=SelfCrossSpec(),
        models=cards(models),
        studies=studies,
        limits=limits,
        reproduce=(command,),
        explanations=explanations,
    )
    write_json(document, out / RESULT)
    listed(out)
    page = write_training_html(document, out / "report.html")
    if json is not None:
        write_json(document, json)
    print_training(document, Console())
    Console(stderr=True).print(f"\nReport: {page}\nResult: {out / RESULT}", markup=False, highlight=False)
    if document.failed:
        raise InstrumentError(
            f"A planted truth did not come out: {'; '.join(document.failed)}.",
            f"See {page}; trainings and predictions are kept.",
        )


def print_price(price: Price, console: Console) -> None:
    """Print what a run would take."""
    lines = [
        f"{price.trainings} trainings, {price.steps:,} steps, {price.tokens:,} tokens; a step takes "
        f"{price.step_seconds:.1f} s here: about {max(1, round(price.seconds / 60)):,} minutes in all."
    ]
    for one in price.besides:
        tokens = f"at most {one.tokens:,} generated tokens, " if one.tokens else ""
        took = "a time that could not be measured" if one.seconds is None else f"about {time_of(one.seconds)} of it"
        lines.append(f"For {one.what}: {tokens}{took}.")
    if price.left_out:
        lines.append(f"Not counted: {'; '.join(price.left_out)}.")
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
