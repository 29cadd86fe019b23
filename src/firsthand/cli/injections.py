"""What the command ``inject`` does."""

from json import dumps
from pathlib import Path

from rich.console import Console
from rich.table import Table

from firsthand.analysis.results import Estimate
from firsthand.auditing.injection import SPEC, DetectionAudit, audit_detection
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import prepare
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.concepts import CONCEPTS, read_concepts
from firsthand.studies.injection.files import read_wordings


def run_inject(
    model: str,
    out: Path,
    concepts: Path | None,
    prompts: Path | None,
    layers: str,
    doses: str,
    seed: int,
    json: Path | None,
    device: str | None,
    dtype: str,
) -> None:
    """Run the detection study, print its result, and write it as JSON."""
    words = CONCEPTS if concepts is None else read_concepts(concepts)
    wordings = built_in(options=2, labels="digits") if prompts is None else read_wordings(prompts)
    with TerminalProgress() as progress:
        progress.say(f"loading {model}")
        loaded = load(model, device=device, dtype=dtype, progress=progress.say)
        usual = sorted({round(share * (loaded.n_layers - 2)) for share in (0.2, 0.4, 0.6, 0.8)})
        chosen = [int(n) for n in _numbers("--layers", layers)] if layers else usual
        cells = [Cell(layer, dose) for layer in chosen for dose in _numbers("--doses", doses)]
        progress.say("making concept vectors")
        bench = prepare(loaded, words, chosen, wordings, seed)
        done = audit_detection(bench, cells, out, progress=progress)
    _print(done, Console())
    write_text(json or out / "result.json", dumps(as_json(done), indent=2) + "\n")


def as_json(done: DetectionAudit) -> dict[str, object]:
    """The study as plain data."""

    def plain(estimate: Estimate) -> object:
        return estimate.model_dump(mode="json")

    found = done.affirmation
    rises = {"asked": found.asked, "unrelated": found.unrelated, "beyond": found.beyond}
    return {
        "schema_version": 1,
        "chosen": {"layer": done.chosen.layer, "dose": done.chosen.dose},
        "selection": [
            {
                "layer": s.cell.layer,
                "dose": s.cell.dose,
                "concordance": plain(s.concordance),
                "rise": plain(s.rise),
                "unrelated": plain(s.unrelated),
            }
            for s in done.cells
        ],
        "affirmation": {name: plain(rise.estimate(SPEC.alpha, 0.0)) for name, rise in rises.items()},
        "result": done.result.model_dump(mode="json"),
    }


def _print(done: DetectionAudit, console: Console) -> None:
    result, found = done.result, done.affirmation
    table = Table(box=None, title="Detection of injected thoughts", title_justify="left")
    for heading in ("", "says injected", "invalid", "coverage", "KL"):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for row in result.kinds:
        kl = "-" if row.mean_kl is None else f"{row.mean_kl:.3f}"
        table.add_row(str(row.kind), _shown(row.rate), f"{row.invalid_rate:.0%}", f"{row.coverage:.2f}", kl)
    console.print(table)
    best, rises = done.naive_best, (found.asked, found.unrelated)
    asked, unrelated = (_shown(rise.estimate(SPEC.alpha)) for rise in rises)
    console.print(
        f"intervals: {1 - 2 * SPEC.alpha:.0%}, over {result.kinds[0].rate.units} concepts",
        f"rise of yes: {asked} under the injection question, {unrelated} under an unrelated one",
        f"chosen on other concepts: layer {done.chosen.layer}, dose {done.chosen.dose:g}",
        f"best of the grid, which would have been claimed: a rise of {_shown(best.rise)} at layer {best.cell.layer}, "
        f"dose {best.cell.dose:g}, on the {best.rise.units} concepts that it was chosen on",
        f"detection: {result.verdict}",
        *(f"  - {reason}" for reason in result.reasons),
        sep="\n",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _numbers(option: str, text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or any(number <= 0 and option == "--doses" for number in numbers):
        raise ClaimError(f"{option} is {text!r}.", "Give numbers with commas between them, e.g. 6,12,18.")
    return numbers
