"""The command ``firsthand predict``: it only gathers options; everything is imported by what it calls."""

from pathlib import Path
from typing import Annotated

import typer


def predict(
    claims: Annotated[
        Path, typer.Argument(help="Claims: .jsonl or .parquet as exported, or the folder of an investigation.")
    ],
    model: Annotated[
        list[str] | None, typer.Option(help="A model that predicts: name, folder, GGUF file or Hugging Face id.")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="A model behind an API that predicts, as Inspect names it: PROVIDER/MODEL."),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(
            help="What agents may read of --target, beside themselves without it: logit-lens, sae:FOLDER, "
            "oracle:FOLDER, nla:FOLDER or package.module:function."
        ),
    ] = None,
    calls: Annotated[int, typer.Option(help="Most calls of tools for one claim.", min=1)] = 5,
    positions: Annotated[int, typer.Option(help="Most tokens of one call.", min=1)] = 32,
    predictor: Annotated[
        list[str] | None,
        typer.Option(help="A floor: always-yes, base-rate, surface, words or nearest; by default all. none: no floor."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="The model that claims are about: draws transcripts that they lack; tools read it."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the run; the same folder goes on where it stopped.")] = Path(
        "runs/predict"
    ),
    form: Annotated[
        str, typer.Option(help="How models are asked: turn, document, both, or auto (a turn for the target itself).")
    ] = "auto",
    baseline: Annotated[
        str | None, typer.Option(help="Predictor that uplift and flips refer to; by default the first model.")
    ] = None,
    longest: Annotated[int, typer.Option(help="Most tokens of a question.", min=64)] = 4096,
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="Longest transcript that is drawn.", min=1)] = 500,
    most: Annotated[
        int | None, typer.Option(help="Ask about so many claims only, spread over clusters.", min=2)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cost, and stop.")] = False,
    json: Annotated[Path | None, typer.Option("--json", help="Also write the result as JSON.")] = None,
    device: Annotated[str | None, typer.Option(help="Such as cpu or cuda:0; auto spreads over all GPUs.")] = None,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16, or float16 on a GPU.")] = "float32",
) -> None:
    """Who can foretell what an edit does? Floors and models, on claims whose outcome was measured."""
    from firsthand.cli.predict.run import Ask, run_predict

    run_predict(
        Ask(
            path=claims,
            models=tuple(model or ()),
            agents=tuple(agent or ()),
            tools=tuple(tool or ()),
            calls=calls,
            positions=positions,
            floors=None if predictor is None else tuple(predictor),
            target=target,
            out=out,
            form=form,
            baseline=baseline,
            longest=longest,
            max_tokens=max_tokens,
            most=most,
            dry_run=dry_run,
            json=json,
            device=device,
            dtype=dtype,
        )
    )
