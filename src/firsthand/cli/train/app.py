"""The commands ``firsthand train ...``: one function each, which only gathers options.

As in :mod:`firsthand.cli.main`, everything but Typer is imported by the command that needs it.
"""

from pathlib import Path
from typing import Annotated

import typer

from firsthand.errors import CounterfactualError

train_app = typer.Typer(
    no_args_is_help=True, help="Train a model to foretell its own behaviour, and ask whether that is first-hand."
)

Out = Annotated[Path, typer.Option(help="Folder of the run; the same folder goes on where it stopped.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Measure one step, show the cost, and stop.")]
Json = Annotated[Path | None, typer.Option("--json", help="Also write the result as JSON.")]
Device = Annotated[str | None, typer.Option(help="Such as cpu or cuda:0.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16, or float16 on a GPU.")]


@train_app.command("demo")
def demo(
    quick: Annotated[bool, typer.Option("--quick", help="A shortened model and fewer trainings: minutes.")] = False,
    model: Annotated[str, typer.Option(help="The model that targets are made of.")] = "smollm2",
    stranger: Annotated[str, typer.Option(help="A model of another family; none: only the sibling.")] = "gemma3-270m",
    mmlu: Annotated[
        Path | None, typer.Option(help="Exam questions in MMLU's layout: hints in them are a part of their own.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Names the lot of words and every other draw of the plan.", min=0)] = 0,
    out: Out = Path("runs/train-demo"),
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Targets with a planted rule that all can see, and one that only their weights hold: the verdicts must differ."""
    _needed()
    from firsthand.cli.train.demo import run_demo

    run_demo(quick, model, stranger, mmlu, seed, out, dry_run, json, device, dtype)


@train_app.command("run")
def run(
    claims: Annotated[Path, typer.Argument(help="Claims about the target, as exported (.jsonl), with responses.")],
    target: Annotated[str, typer.Option(help="The model that the claims are about.")],
    cross: Annotated[list[str], typer.Option(help="A model that is trained on the same; repeat it.")],
    sibling: Annotated[
        list[str] | None, typer.Option(help="Which of them are next of kin of the target; repeat it.")
    ] = None,
    target_is_another: Annotated[
        bool, typer.Option("--target-is-another", help="Take claims that do not name the target as being about it.")
    ] = False,
    elsewhere: Annotated[
        Path | None, typer.Option(help="Claims about a third model: how good a learner each is where it has nothing.")
    ] = None,
    elsewhere_is_another: Annotated[
        bool, typer.Option("--elsewhere-is-another", help="Say that those are about none of the models compared.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="Trainings of each model.", min=1)] = 3,
    held_out: Annotated[float, typer.Option(help="Share of the claims to be judged on.", min=0.05, max=0.9)] = 0.3,
    settings: Annotated[Path | None, typer.Option(help="Settings of the training, as YAML; the paper's else.")] = None,
    samples: Annotated[int, typer.Option(help="Responses by which labels are measured anew; 0: not.", min=0)] = 10,
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="Longest of them.", min=1)] = 200,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Plant a private rule too: would trainings of this size see one?")
    ] = False,
    out: Out = Path("runs/train"),
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Your own claims: does the target, trained on them, foretell better than others who were?"""
    _needed()
    from firsthand.cli.train.own import Ask, run_own

    run_own(
        Ask(
            claims=claims,
            target=target,
            cross=tuple(cross),
            sibling=tuple(sibling or ()),
            elsewhere=elsewhere,
            seeds=seeds,
            held_out=held_out,
            settings=settings,
            samples=samples,
            max_tokens=max_tokens,
            out=out,
            dry_run=dry_run,
            json=json,
            device=device,
            dtype=dtype,
            another=target_is_another,
            third=elsewhere_is_another,
            sensitivity=sensitivity,
        )
    )


@train_app.command("explain")
def explain(
    run: Annotated[Path, typer.Argument(help="Folder of a finished `firsthand investigate demo` or `run`.")],
    target: Annotated[str, typer.Option(help="The model that was investigated.")],
    cross: Annotated[list[str] | None, typer.Option(help="A model that is trained on the same; repeat it.")] = None,
    simulator: Annotated[
        list[str] | None,
        typer.Option(help="Who foretells with the explanations; repeat it. The untrained target else."),
    ] = None,
    target_is_another: Annotated[
        bool, typer.Option("--target-is-another", help="Take investigations that do not name the target as its own.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="Trainings of each model.", min=1)] = 3,
    held_out: Annotated[float, typer.Option(help="Share of the investigations to explain.", min=0.05, max=0.9)] = 0.3,
    settings: Annotated[Path | None, typer.Option(help="Settings of the training, as YAML; the paper's else.")] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="Longest explanation.", min=1)] = 400,
    out: Out = Path("runs/train-explain"),
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Open explanations: does the target, trained on them, explain itself better than others who were?"""
    _needed()
    from firsthand.cli.train.explain import Ask, run_explain

    run_explain(
        Ask(
            run=run,
            target=target,
            cross=tuple(cross or ()),
            simulator=tuple(simulator or ()),
            seeds=seeds,
            held_out=held_out,
            settings=settings,
            max_tokens=max_tokens,
            out=out,
            dry_run=dry_run,
            json=json,
            device=device,
            dtype=dtype,
            another=target_is_another,
        )
    )


def _needed() -> None:
    """See that what only training needs is installed.

    Raises:
        CounterfactualError: If it is not.
    """
    from importlib.util import find_spec

    missing = [name for name in ("trl", "datasets") if find_spec(name) is None]
    if missing:
        raise CounterfactualError(
            f"Training needs {' and '.join(missing)}.", "Install it with: pip install 'firsthand[train]'"
        )
