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
Model = Annotated[str | None, typer.Option(help="Name, folder, GGUF file or Hugging Face id (smollm2).")]
Out = Annotated[Path, typer.Option(help="Folder of the study; the same folder goes on where it stopped.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the cost, and stop.")]
Claim = Annotated[
    Path | None, typer.Option(help="A claim in YAML, frozen or not; it holds all settings but how data are read.")
]
Seed = Annotated[int | None, typer.Option(help="Names every draw (0).")]


def _listed(text: str | None) -> list[str] | None:
    """What stands between commas; ``None`` where an option was not given."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


@labels_app.command("biofeedback")
def biofeedback(
    data: Annotated[Path, typer.Option(help="Labelled texts: CSV, JSONL, JSON, Parquet, or a folder of datasets.")],
    claim: Claim = None,
    model: Model = None,
    out: Out = Path("runs/biofeedback"),
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of what belongs together, e.g. contrast pairs.")] = None,
    positive: Annotated[str | None, typer.Option(help="Which label is class 1.")] = None,
    longest: Annotated[int, typer.Option(help="Most tokens of a text.")] = 64,
    layers: Annotated[str | None, typer.Option(help="Layers at which labels are made; by default five.")] = None,
    axes: Annotated[str | None, typer.Option(help="Of what: probe, permuted, pc1, pc2, ... with commas.")] = None,
    fit: Annotated[int | None, typer.Option(help="Texts on which axes are fitted (900).")] = None,
    held_out: Annotated[int | None, typer.Option(help="Texts from which conversations are drawn (600).")] = None,
    experiments: Annotated[int | None, typer.Option(help="Conversations at each layer (5).")] = None,
    shots: Annotated[int | None, typer.Option(help="Labelled texts in each (61).")] = None,
    judged_from: Annotated[
        int | None, typer.Option(help="Answers after fewer shots are shown and not judged (30).")
    ] = None,
    reader: Annotated[
        list[str] | None, typer.Option(help="Another model that reads the same; without one nothing is privileged.")
    ] = None,
    regulated_after: Annotated[
        int | None, typer.Option(help="Shots before the model is asked to move its state, e.g. 20; usually not asked.")
    ] = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Can this model tell, in context, labels made of its own states, better than readers of the same texts?"""
    from firsthand.cli.labels.ask import Ask
    from firsthand.cli.labels.biofeedback import Source, run_biofeedback

    fields = {
        "model": model,
        "layers": _listed(layers),
        "referents": _listed(axes),
        "fit": fit,
        "held_out": held_out,
        "experiments": experiments,
        "shots": shots,
        "judged_from": judged_from,
        "readers": reader or None,
        "regulated_after": regulated_after,
        "seed": seed,
    }
    source = Source(data, text, label, group, positive, longest)
    run_biofeedback(source, Ask(claim, fields, out, json, device, dtype, dry_run))


@labels_app.command("belief")
def belief(
    data: Annotated[Path, typer.Option(help="Facts with a true and a counter entity: JSON, JSONL, CSV or Parquet.")],
    claim: Claim = None,
    model: Model = None,
    out: Out = Path("runs/belief"),
    records: Annotated[int | None, typer.Option(help="Facts that are asked about (60).")] = None,
    unknown_too: Annotated[
        bool, typer.Option("--unknown-too", help="Take facts that the model does not know.")
    ] = False,
    kinds: Annotated[
        Path | None, typer.Option(help="YAML file of kinds of conflict, each a name and a template.")
    ] = None,
    per_record: Annotated[
        str | None, typer.Option(help="Whether a fact is asked about in one of the ways, or in all (one).")
    ] = None,
    answer_tokens: Annotated[int | None, typer.Option(help="Most tokens of an answer (16).")] = None,
    layers: Annotated[str | None, typer.Option(help="Layers with commas, or all; by default six.")] = None,
    reading_tokens: Annotated[int | None, typer.Option(help="Tokens that are generated from a state (8).")] = None,
    reading_samples: Annotated[int | None, typer.Option(help="Texts that are generated from a state (1).")] = None,
    clustered: Annotated[
        str | None, typer.Option(help="Fit clusters on the records of shots (fit), or on all (fit).")
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Parts of the records; each is asked about in turn (3).")] = None,
    rounds: Annotated[int | None, typer.Option(help="How often the records are parted anew (2).")] = None,
    shots: Annotated[int | None, typer.Option(help="Labelled texts before a question, at most (30).")] = None,
    shows: Annotated[
        str | None, typer.Option(help="Show the prompt alone when labelling, or the answer too (prompt).")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(help="Random halves on which the entities' probes are tested (15).")
    ] = None,
    reader: Annotated[str | None, typer.Option(help="Another language model, given the same conversations.")] = None,
    no_steering: Annotated[bool, typer.Option("--no-steering", help="Add no vector of the counter entity.")] = False,
    seed: Seed = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Can this model tell which of two beliefs its own states hold, better than readers of the same prompts?"""
    from firsthand.cli.labels.ask import Ask
    from firsthand.cli.labels.belief import run_belief
    from firsthand.cli.labels.claims import NOTHING

    fields = {
        "model": model,
        "records": records,
        "known": False if unknown_too else None,
        "kinds": kinds,
        "per_record": per_record,
        "answer_tokens": answer_tokens,
        "layers": _listed(layers),
        "reading_tokens": reading_tokens,
        "reading_samples": reading_samples,
        "clustered": clustered,
        "folds": folds,
        "rounds": rounds,
        "shots": shots,
        "shows": shows,
        "splits": splits,
        "reader": reader,
        "steering": NOTHING if no_steering else None,
        "seed": seed,
    }
    run_belief(data, Ask(claim, fields, out, json, device, dtype, dry_run))


@labels_app.command("direct-meta")
def direct_meta(
    models: Annotated[
        str | None, typer.Option(help="Names, folders, GGUF files or Hugging Face ids, with commas; two at least.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", "--data", help="Pairs with columns good, bad and phenomenon; by default 140 of ours."),
    ] = None,
    claim: Claim = None,
    out: Out = Path("runs/direct-meta"),
    phrasings: Annotated[
        str | None, typer.Option(help="Of better, acceptable, careful-writer and alone; by default better and alone.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Does what these models say of two sentences follow their own probabilities more than one another's?"""
    from firsthand.cli.labels.ask import Ask
    from firsthand.cli.labels.direct_meta import run_direct_meta

    fields = {"models": _listed(models), "phrasings": _listed(phrasings)}
    run_direct_meta(pairs, Ask(claim, fields, out, json, device, dtype, dry_run))


@labels_app.command("confidence")
def confidence(
    data: Annotated[Path, typer.Option(help="Questions: a CSV in MMLU's layout, named columns, or a folder of files.")],
    claim: Claim = None,
    model: Model = None,
    out: Out = Path("runs/confidence"),
    reader: Annotated[str | None, typer.Option(help="Another model that reads the same, e.g. gemma3-270m.")] = None,
    question: Annotated[str | None, typer.Option(help="Column of the questions.")] = None,
    options: Annotated[str | None, typer.Option(help="Column of the options, or one for each, with commas.")] = None,
    answer: Annotated[str | None, typer.Option(help="Column of the right answer: letter, text or number.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of the subject.")] = None,
    longest: Annotated[int, typer.Option(help="Most tokens of a question with its options.")] = 200,
    questions: Annotated[
        int | None, typer.Option(help="Questions to ask, drawn evenly from the subjects (200).")
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(help="How many are asked again as a choice between two, for meta-d' (80).")
    ] = None,
    orders: Annotated[
        int | None, typer.Option(help="Orders of the options in which each is asked; an even number (2).")
    ] = None,
    reports: Annotated[str | None, typer.Option(help="How: true, percent, code, know, with commas.")] = None,
    layers: Annotated[str | None, typer.Option(help="Layers that a probe reads; by default five.")] = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Does this model's confidence tell which of its own answers are right, better than readers of the same can?"""
    from firsthand.cli.labels.ask import Ask
    from firsthand.cli.labels.confidence import Source, run_confidence
    from firsthand.studies.labels.confidence.files import Columns

    fields = {
        "model": model,
        "reader": reader,
        "questions": questions,
        "pairs": pairs,
        "orders": orders,
        "reports": _listed(reports),
        "layers": _listed(layers),
        "seed": seed,
    }
    source = Source(data, Columns(question, tuple(_listed(options) or ()), answer, group), longest)
    run_confidence(source, Ask(claim, fields, out, json, device, dtype, dry_run))


@labels_app.command("prediction")
def prediction(
    data: Annotated[
        Path | None,
        typer.Option(help="Prompts: a file or folder of MMLU, or any file of texts; without it, short ones of ours."),
    ] = None,
    claim: Claim = None,
    model: Model = None,
    out: Out = Path("runs/prediction"),
    reader: Annotated[
        list[str] | None, typer.Option(help="Another model that foresees this one; may be given several times.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of what belongs together.")] = None,
    ask: Annotated[str, typer.Option(help="What is asked of each text of a file.")] = "Reply with one word.",
    longest: Annotated[int, typer.Option(help="Most tokens of a prompt.")] = 96,
    properties: Annotated[str | None, typer.Option(help="What of an answer is to be foreseen, with commas.")] = None,
    examples: Annotated[str | None, typer.Option(help="Numbers of examples (0,5,20); judged at the largest.")] = None,
    experiments: Annotated[int | None, typer.Option(help="Draws of examples, wording and letters (2).")] = None,
    fit: Annotated[int | None, typer.Option(help="Prompts to learn from; 80, or half of what there is.")] = None,
    judged: Annotated[int | None, typer.Option(help="Prompts to be foreseen; 80, or half of what there is.")] = None,
    longest_answer: Annotated[int | None, typer.Option(help="Most tokens of an answer (8).")] = None,
    draws: Annotated[
        int | None, typer.Option(help="Sampled answers to each prompt, beside the greedy one (0).")
    ] = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Does this model foresee its own answers better than whoever has seen the same ones?"""
    from firsthand.cli.labels.ask import Ask
    from firsthand.cli.labels.prediction import Source, run_prediction

    fields = {
        "model": model,
        "readers": reader or None,
        "properties": _listed(properties),
        "examples": _listed(examples),
        "experiments": experiments,
        "fit": fit,
        "judged": judged,
        "longest_answer": longest_answer,
        "draws": draws,
        "seed": seed,
    }
    run_prediction(Source(data, text, group, ask, longest), Ask(claim, fields, out, json, device, dtype, dry_run))
