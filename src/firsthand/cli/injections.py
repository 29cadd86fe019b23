"""What the command ``inject`` does."""

from json import dumps
from pathlib import Path

from rich.console import Console
from rich.table import Table

from firsthand.auditing.injection import DetectionAudit, audit_detection
from firsthand.cli.progress import TerminalProgress
from firsthand.engine.loading import load
from firsthand.errors import ClaimError
from firsthand.report.files import write_text
from firsthand.studies.injection.bench import Cell, prepare
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
    cells = [
        {"layer": s.cell.layer, "dose": s.cell.dose, "concordance": s.concordance, "rise": s.rise, "trials": s.n_trials}
        for s in done.cells
    ]
    found = done.affirmation
    rises = {"asked": found.asked, "unrelated": found.unrelated, "beyond": found.beyond}
    return {
        "schema_version": 1,
        "chosen": {"layer": done.chosen.layer, "dose": done.chosen.dose},
        "selection": cells,
        "affirmation": {name: rise.estimate(0.05, 0.0).model_dump(mode="json") for name, rise in rises.items()},
        "result": done.result.model_dump(mode="json"),
    }


def _print(done: DetectionAudit, console: Console) -> None:
    table = Table(box=None, title="Detection of injected thoughts", title_justify="left")
    for heading in ("arm", "says injected", "coverage", "KL", "entropy"):
        table.add_column(heading, justify="right" if heading != "arm" else "left")
    for (task, arm), rows in done.table.groupby(["task", "arm"], sort=False):
        figures = (rows["answer"].mean(), rows["coverage"].mean(), rows["impact_kl"].mean(), rows["entropy"].mean())
        table.add_row(f"{task}, {arm}", *(f"{figure:.3f}" for figure in figures))
    console.print(table)
    best, result = done.naive_best, done.result
    console.print(
        f"chosen on other concepts: layer {done.chosen.layer}, dose {done.chosen.dose:g}",
        f"best of the grid, which would have been claimed: a rise of {best.rise:+.3f} at layer {best.cell.layer}, dose "
        f"{best.cell.dose:g}",
        f"detection: {result.verdict}",
        *(f"  - {reason}" for reason in result.reasons),
        sep="\n",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _numbers(option: str, text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or any(number <= 0 and option == "--doses" for number in numbers):
        raise ClaimError(f"{option} is {text!r}.", "Give numbers with commas between them, e.g. 6,12,18.")
    return numbers
