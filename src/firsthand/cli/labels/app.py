"""The commands ``firsthand labels ...``: one function a study, which only gathers options.

As in :mod:`firsthand.cli.main`, everything but Typer is imported by the command that needs it.
"""

from pathlib import Path
from typing import Annotated

import typer

labels_app = typer.Typer(no_args_is_help=True, help="Labels of a model's own states: can it tell what others cannot?")

Json = Annotated[Path | None, typer.Option("--json", help="Also write the result as JSON, in the documented schema.")]
Device = Annotated[str | None, typer.Option(help="Such as cpu or cuda:0; auto spreads over all GPUs.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16, or float16 on a GPU.")]
Model = Annotated[str, typer.Option(help="Name, folder, GGUF file or Hugging Face id.")]
Out = Annotated[Path, typer.Option(help="Folder of the study; the same folder goes on where it stopped.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the cost, and stop.")]
Seed = Annotated[int, typer.Option(help="Names every draw.")]


@labels_app.command("biofeedback")
def biofeedback(
    data: Annotated[Path, typer.Option(help="Labelled texts: CSV, JSONL, JSON, Parquet, or a folder of datasets.")],
    model: Model = "smollm2",
    out: Out = Path("runs/biofeedback"),
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of what belongs together, e.g. contrast pairs.")] = None,
    positive: Annotated[str | None, typer.Option(help="Which label is class 1.")] = None,
    longest: Annotated[int, typer.Option(help="Most tokens of a text.")] = 64,
    layers: Annotated[str | None, typer.Option(help="Layers at which labels are made; by default five.")] = None,
    axes: Annotated[str | None, typer.Option(help="Of what: probe, permuted, pc1, pc2, ... with commas.")] = None,
    fit: Annotated[int, typer.Option(help="Texts on which axes are fitted.")] = 900,
    held_out: Annotated[int, typer.Option(help="Texts from which conversations are drawn.")] = 600,
    experiments: Annotated[int, typer.Option(help="Conversations at each layer.")] = 5,
    shots: Annotated[int, typer.Option(help="Labelled texts in each.")] = 61,
    judged_from: Annotated[int, typer.Option(help="Answers after fewer shots are shown and not judged.")] = 30,
    seed: Seed = 0,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Can this model tell, in context, labels made of its own states, better than readers of the same texts?"""
    from firsthand.cli.labels.biofeedback import Source, run_biofeedback

    lists = {"layers": layers, "referents": axes}
    fields = {
        "model": model,
        "fit": fit,
        "held_out": held_out,
        "experiments": experiments,
        "shots": shots,
        "judged_from": judged_from,
        "seed": seed,
        **{name: value.split(",") for name, value in lists.items() if value is not None},
    }
    source = Source(data, text, label, group, positive, longest)
    run_biofeedback(source, fields, out, json, device, dtype, dry_run)


@labels_app.command("confidence")
def confidence(
    data: Annotated[Path, typer.Option(help="Questions: a CSV in MMLU's layout, named columns, or a folder of files.")],
    model: Model = "smollm2",
    out: Out = Path("runs/confidence"),
    reader: Annotated[str | None, typer.Option(help="Another model that reads the same, e.g. gemma3-270m.")] = None,
    question: Annotated[str | None, typer.Option(help="Column of the questions.")] = None,
    options: Annotated[str | None, typer.Option(help="Column of the options, or one for each, with commas.")] = None,
    answer: Annotated[str | None, typer.Option(help="Column of the right answer: letter, text or number.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of the subject.")] = None,
    longest: Annotated[int, typer.Option(help="Most tokens of a question with its options.")] = 200,
    questions: Annotated[int, typer.Option(help="Questions to ask, drawn evenly from the subjects.")] = 200,
    pairs: Annotated[int, typer.Option(help="How many are asked again as a choice between two, for meta-d'.")] = 80,
    orders: Annotated[int, typer.Option(help="Orders of the options in which each is asked; an even number.")] = 2,
    reports: Annotated[str | None, typer.Option(help="How: true, percent, code, know, with commas.")] = None,
    layers: Annotated[str | None, typer.Option(help="Layers that a probe reads; by default five.")] = None,
    seed: Seed = 0,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Does this model's confidence tell which of its own answers are right, better than readers of the same can?"""
    from firsthand.cli.labels.confidence import run_confidence
    from firsthand.studies.labels.confidence.files import Columns

    lists = {"layers": layers, "reports": reports}
    fields = {
        "model": model,
        "reader": reader,
        "questions": questions,
        "pairs": pairs,
        "orders": orders,
        "seed": seed,
        **{name: value.split(",") for name, value in lists.items() if value is not None},
    }
    columns = Columns(question, tuple(options.split(",")) if options else (), answer, group)
    run_confidence(data, columns, longest, fields, out, json, device, dtype, dry_run)
