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


@labels_app.command("prediction")
def prediction(
    data: Annotated[
        Path | None,
        typer.Option(help="Prompts: a file or folder of MMLU, or any file of texts; without it, short ones of ours."),
    ] = None,
    model: Model = "smollm2",
    out: Out = Path("runs/prediction"),
    reader: Annotated[
        list[str] | None, typer.Option(help="Another model that foresees this one; may be given several times.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of what belongs together.")] = None,
    ask: Annotated[str, typer.Option(help="What is asked of each text of a file.")] = "Reply with one word.",
    longest: Annotated[int, typer.Option(help="Most tokens of a prompt.")] = 96,
    properties: Annotated[str | None, typer.Option(help="What of an answer is to be foreseen, with commas.")] = None,
    examples: Annotated[str | None, typer.Option(help="Numbers of examples; judged at the largest.")] = None,
    experiments: Annotated[int, typer.Option(help="Draws of examples, wording and letters.")] = 2,
    fit: Annotated[int | None, typer.Option(help="Prompts to learn from; 80, or half of what there is.")] = None,
    judged: Annotated[int | None, typer.Option(help="Prompts to be foreseen; 80, or half of what there is.")] = None,
    longest_answer: Annotated[int, typer.Option(help="Most tokens of an answer.")] = 8,
    draws: Annotated[int, typer.Option(help="Sampled answers to each prompt, beside the greedy one.")] = 0,
    seed: Seed = 0,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Does this model foresee its own answers better than whoever has seen the same ones?"""
    import shlex
    import sys

    from firsthand.cli.labels.prediction import Source, run_prediction

    lists = {"properties": properties, "examples": examples}
    numbers = {"fit": fit, "judged": judged}
    fields = {
        "model": model,
        "readers": reader or (),
        "experiments": experiments,
        "longest_answer": longest_answer,
        "draws": draws,
        "seed": seed,
        **{name: value.split(",") for name, value in lists.items() if value is not None},
        **{name: value for name, value in numbers.items() if value is not None},
    }
    source = Source(data, text, group, ask, longest)
    run_prediction(source, fields, out, json, device, dtype, dry_run, shlex.join(["firsthand", *sys.argv[1:]]))
