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


@labels_app.command("direct-meta")
def direct_meta(
    models: Annotated[str, typer.Option(help="Names, folders, GGUF files or Hugging Face ids, with commas.")],
    pairs: Annotated[
        Path | None, typer.Option(help="Pairs with columns good, bad and phenomenon; by default 140 of our own.")
    ] = None,
    out: Out = Path("runs/direct-meta"),
    phrasings: Annotated[
        str | None, typer.Option(help="Of better, acceptable, careful-writer and alone; by default all, with commas.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Does what these models say of two sentences follow their own probabilities more than one another's?"""
    from firsthand.cli.labels.direct_meta import run_direct_meta

    named = tuple(name.strip() for name in models.split(",") if name.strip())
    asked = tuple(name.strip() for name in (phrasings or "").split(",") if name.strip())
    run_direct_meta(named, pairs, asked, out, json, device, dtype, dry_run)
