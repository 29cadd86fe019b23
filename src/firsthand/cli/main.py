"""The command line: thin commands over the public interface.

Only Typer is imported here; everything else is imported by the command that needs it, so that ``firsthand --help``
answers at once. A :class:`~firsthand.errors.FirsthandError` is printed as what was wrong and what to do, never as a
traceback.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from firsthand.cli.investigate.app import investigate_app
from firsthand.cli.labels.app import labels_app
from firsthand.cli.predict.app import predict
from firsthand.cli.train.app import train_app
from firsthand.errors import FirsthandError
from firsthand.version import __version__

app = typer.Typer(
    help="Does what a model says about itself carry anything that the best outside observer could not have said?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
claim_app = typer.Typer(help="Write, check and freeze claims.", no_args_is_help=True)
app.add_typer(claim_app, name="claim")
app.add_typer(labels_app, name="labels")
app.add_typer(investigate_app, name="investigate")
app.command("predict")(predict)
app.add_typer(train_app, name="train")

INTERRUPTED = 130

Json = Annotated[Path | None, typer.Option("--json", help="Also write the result as JSON, in the documented schema.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"firsthand {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Does what a model says about itself carry anything that the best outside observer could not have said?"""


@app.command()
def audit(
    claim: Annotated[Path | None, typer.Option(help="A frozen claim (CLAIM.yaml beside CLAIM.frozen.json).")] = None,
    model: Annotated[
        str | None, typer.Option(help="Judge the standard claim on this model instead of smollm2.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the run; the same folder goes on where it stopped.")] = Path(
        "runs/audit"
    ),
    report: Annotated[Path | None, typer.Option(help="Where the HTML report goes (default: OUT/report.html).")] = None,
    json: Json = None,
    blocks: Annotated[int | None, typer.Option(help="Confirmation blocks of the standard claim.", min=2)] = None,
    observer: Annotated[list[str] | None, typer.Option(help="Further observers, package.module:Class.")] = None,
    device: Annotated[str | None, typer.Option(help="Such as cpu or cuda:0; auto spreads over all GPUs.")] = None,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16, or float16 on a GPU.")] = "float32",
) -> None:
    """Can this model report a private bit that was put into its activations after the public evidence was frozen?"""
    from firsthand.cli.audits import run_audit

    run_audit(claim, model, out, report, json, blocks, tuple(observer or ()), device, dtype)


@app.command()
def triangle(
    blocks: Annotated[int, typer.Option(help="Balanced blocks of ten trials.")] = 400,
    seed: Annotated[int, typer.Option(help="Seed of every draw.", min=0)] = 0,
    json: Json = None,
) -> None:
    """The introspection triangle in miniature: four reporters of known answer, without a model."""
    from firsthand.cli.triangles import run_triangle

    run_triangle(blocks, seed, json)


@app.command()
def rescore(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    observer: Annotated[list[str], typer.Option(help="Observer by name, or package.module:Class.")],
    json: Json = None,
) -> None:
    """Judge a stored trace again with further observers; the gap is versioned."""
    from firsthand.cli.runs import run_rescore

    run_rescore(run, tuple(observer), json)


@app.command()
def verify(run: Annotated[Path, typer.Argument(help="Folder of a finished run.")], json: Json = None) -> None:
    """Check a stored run: nothing altered, evidence frozen before assignment, assignment drawn from its hash."""
    from firsthand.cli.runs import run_verify

    run_verify(run, json)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    out: Annotated[Path, typer.Option(help="Where the HTML report goes.")] = Path("firsthand-report.html"),
    json: Json = None,
) -> None:
    """Write the HTML report of a finished run again."""
    from firsthand.cli.runs import write_report

    write_report(run, out, json)


@app.command()
def inject(
    claim: Annotated[Path | None, typer.Option(help="A claim in YAML, frozen or not; it holds all settings.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Name, folder, GGUF file or Hugging Face id (default: smollm2).")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the study; the same folder goes on where it stopped.")] = Path(
        "runs/inject"
    ),
    report: Annotated[Path | None, typer.Option(help="Where the HTML report goes (default: OUT/report.html).")] = None,
    json: Json = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be run and its cost, and stop.")] = False,
    size: Annotated[float | None, typer.Option(help="With --dry-run: parameters of another model, e.g. 8e9.")] = None,
    concepts: Annotated[Path | None, typer.Option(help="A file with one concept a line.")] = None,
    prompts: Annotated[Path | None, typer.Option(help="A YAML file of your own wordings.")] = None,
    pushes: Annotated[Path | None, typer.Option(help="A file of texts that push towards {concept}.")] = None,
    layers: Annotated[str | None, typer.Option(help="Layers of the grid, e.g. 6,12,18; by default ten.")] = None,
    doses: Annotated[str | None, typer.Option(help="Doses of the grid, in residual norms; by default six.")] = None,
    questions: Annotated[str | None, typer.Option(help="What is asked, e.g. detection,localisation, or all.")] = None,
    answers: Annotated[str | None, typer.Option(help="Numbers of answers of detection: 2, 3 or 2,3.")] = None,
    framings: Annotated[str | None, typer.Option(help="instruction, conversation, or both with a comma.")] = None,
    judge: Annotated[str | None, typer.Option(help="Who hears open answers: rules, or a local model by name.")] = None,
    samples: Annotated[str | None, typer.Option(help="Sampled answers of each open question.")] = None,
    recipe: Annotated[str | None, typer.Option(help="How vectors are made: nouns or last_token.")] = None,
    voices: Annotated[str | None, typer.Option(help="Wordings that each concept is asked in.")] = None,
    seed: Annotated[str | None, typer.Option(help="Names every draw.")] = None,
    full_grid: Annotated[bool, typer.Option("--full-grid", help="Run every arm in every cell.")] = False,
    published: Annotated[Path | None, typer.Option(help="A CSV of published rates, to be shown beside.")] = None,
    device: Annotated[str | None, typer.Option(help="Such as cpu or cuda:0; auto spreads over all GPUs.")] = None,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16, or float16 on a GPU.")] = "float32",
) -> None:
    """Can this model tell that a thought was put into it, which, where, how strong? With the controls that undo it."""
    from firsthand.cli.injections import Options, plan_inject, run_inject

    named = {
        "layers": layers,
        "doses": doses,
        "questions": questions,
        "options": answers,
        "framings": framings,
        "judge": judge,
        "samples": samples,
        "recipe": recipe,
        "voices": voices,
        "seed": seed,
    }
    fields = {name: value for name, value in named.items() if value is not None}
    options = Options(claim, model, concepts, prompts, pushes, fields, full_grid)
    if dry_run or size is not None:
        plan_inject(options, size, json, device, dtype)
        return
    run_inject(options, out, report, json, published, device, dtype)


@app.command()
def doctor(
    model: Annotated[str, typer.Argument(help="Name, folder, GGUF file or Hugging Face id.")],
    json: Json = None,
    device: Annotated[str | None, typer.Option(help="Such as cpu or cuda:0; auto spreads over all GPUs.")] = None,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16, or float16 on a GPU.")] = "float32",
) -> None:
    """Check on your own model that edits are exact and that its tokens can carry an answer."""
    from firsthand.cli.doctor import run_doctor

    run_doctor(model, json, device, dtype)


@app.command("import")
def import_(
    kind: Annotated[str | None, typer.Argument(help="Importer by name (see --list), or package.module:Class.")] = None,
    folder: Annotated[Path | None, typer.Argument(help="Folder with the published files.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where trace, profile and page go (default: runs/KIND).")] = None,
    json: Json = None,
    list_: Annotated[bool, typer.Option("--list", help="Show which importers there are.")] = False,
) -> None:
    """Read other people's published trials: their trace, and what they show when scored with care."""
    from firsthand.cli.imports import list_importers, run_import

    if list_:
        list_importers()
        return
    run_import(kind, folder, out, json)


@claim_app.command("new")
def claim_new(
    path: Annotated[Path, typer.Argument(help="YAML file to be written.")],
    model: Annotated[
        str, typer.Option(help="Name, folder, GGUF file or Hugging Face id; for direct-meta several, with commas.")
    ] = "smollm2",
    study: Annotated[
        str,
        typer.Option(help="register, injection, biofeedback, belief, direct-meta, confidence or prediction."),
    ] = "register",
    data: Annotated[Path | None, typer.Option(help="The data, where the study is made on data.")] = None,
) -> None:
    """Write the standard claim of a study as a commented YAML file."""
    from firsthand.cli.claims import new

    new(path, model, study, data)


@claim_app.command("check")
def claim_check(path: Annotated[Path, typer.Argument(help="A claim in YAML.")]) -> None:
    """Check a claim, and whether its frozen form still fits it."""
    from firsthand.cli.claims import check

    check(path)


@claim_app.command("freeze")
def claim_freeze(path: Annotated[Path, typer.Argument(help="A claim in YAML.")]) -> None:
    """Bind a claim to its model, tokenizer and this version, and hash it."""
    from firsthand.cli.claims import freeze

    freeze(path)


def run() -> None:
    """Entry point: run a command, and turn every foreseeable failure into a message and an exit code."""
    try:
        app()
    except FirsthandError as error:
        typer.echo(f"Error: {error.problem}\nWhat to do: {error.remedy}", err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stopped:  # Typer turns an interruption into an exit with its code
        if isinstance(stopped, SystemExit) and stopped.code != INTERRUPTED:
            raise
        typer.echo("\nInterrupted. Nothing is lost: the same command goes on where it stopped.", err=True)
        sys.exit(INTERRUPTED)
    except MemoryError:
        typer.echo("Error: memory ran out.\nWhat to do: use a smaller model or fewer blocks.", err=True)
        sys.exit(2)
    except OSError as error:
        from firsthand.trials.files import storage_error

        wrapped = storage_error(Path(error.filename or "."), error)
        typer.echo(f"Error: {wrapped.problem}\nWhat to do: {wrapped.remedy}", err=True)
        sys.exit(wrapped.exit_code)
