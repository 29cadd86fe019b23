"""The commands ``firsthand investigate ...``: one function each, which only gathers options.

As in :mod:`firsthand.cli.main`, everything but Typer is imported by the command that needs it.
"""

from pathlib import Path
from typing import Annotated

import typer

investigate_app = typer.Typer(
    no_args_is_help=True, help="What does a model do unexpectedly, and which edits of the prompt undo it?"
)

Model = Annotated[str, typer.Option(help="The target: name, folder, GGUF file or Hugging Face id.")]
Samples = Annotated[int, typer.Option(help="Responses of every batch, the same for all.", min=2)]
MaxTokens = Annotated[int, typer.Option("--max-tokens", help="Longest response, in tokens.", min=1)]
Investigations = Annotated[
    int | None, typer.Option(help="Most investigations; the most frequent behaviours are taken.", min=1)
]
Reproduce = Annotated[
    int | None,
    typer.Option(
        help="Responses to a second way to make each claim's edit; 0: none. Usually as many as --samples.", min=0
    ),
]
Threshold = Annotated[int, typer.Option(help="Lowest rating (1-5) that is investigated.", min=1, max=5)]
Light = Annotated[
    bool,
    typer.Option("--light/--thorough", help="Up to 7 confirmed edits and one cause, or up to 12 and three causes."),
]
Seed = Annotated[int, typer.Option(help="Names every draw.", min=0)]
MostResponses = Annotated[
    int | None, typer.Option("--most-responses", help="Stop before more responses are drawn in this folder.", min=1)
]
MostTokens = Annotated[
    int | None, typer.Option("--most-tokens", help="Stop before more tokens are drawn in this folder.", min=1)
]
MostMinutes = Annotated[
    float | None, typer.Option("--most-minutes", help="Begin no call after so many minutes of this run.", min=0.0)
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the cost, and stop.")]
Json = Annotated[Path | None, typer.Option("--json", help="Also write the result as JSON.")]
Device = Annotated[str | None, typer.Option(help="Such as cpu or cuda:0; auto spreads over all GPUs.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16, or float16 on a GPU.")]
Out = Annotated[Path, typer.Option(help="Folder of the run; the same folder goes on where it stopped.")]


@investigate_app.command("demo")
def demo(
    model: Model = "smollm2",
    out: Out = Path("runs/investigate-demo"),
    samples: Samples = 24,
    max_tokens: MaxTokens = 28,
    investigations: Investigations = 12,
    reproduce: Reproduce = None,
    light: Light = True,
    threshold: Threshold = 3,
    seed: Seed = 0,
    most_responses: MostResponses = None,
    most_tokens: MostTokens = None,
    most_minutes: MostMinutes = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Forty prompts of ours, a local model, and no language model as investigator; --dry-run tells the time."""
    from firsthand.cli.investigate.local import Ask, run_local
    from firsthand.counterfactual.demo_prompts import DEMO

    run_local(
        Ask(
            words=("demo",),
            prompts=list(DEMO),
            model=model,
            out=out,
            drawn={"samples": samples, "max_tokens": max_tokens, "seed": seed},
            limits={"responses": most_responses, "tokens": most_tokens},
            minutes=most_minutes,
            most=investigations,
            reproduce=reproduce,
            thorough=not light,
            threshold=threshold,
            behaviours=None,
            json=json,
            device=device,
            dtype=dtype,
            dry_run=dry_run,
        )
    )


@investigate_app.command("run")
def run(
    prompts: Annotated[Path, typer.Option(help="Prompts of any known format, or a prepared folder.")],
    model: Model = "smollm2",
    out: Out = Path("runs/investigate"),
    investigator: Annotated[str, typer.Option(help="Who investigates; none: no language model.")] = "none",
    behaviours: Annotated[
        Path | None, typer.Option(help="Behaviours to look for, as YAML or JSON, instead of the built-in ones.")
    ] = None,
    samples: Samples = 30,
    max_tokens: MaxTokens = 500,
    investigations: Investigations = None,
    reproduce: Reproduce = None,
    light: Light = False,
    threshold: Threshold = 3,
    seed: Seed = 0,
    most_responses: MostResponses = None,
    most_tokens: MostTokens = None,
    most_minutes: MostMinutes = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """Your own prompts: which behaviours set a prompt apart, and which edits of it undo them?"""
    from firsthand.cli.investigate.local import Ask, check_investigator, run_local
    from firsthand.counterfactual.prompt_files import read_prompts

    check_investigator(investigator)
    own = () if behaviours is None else ("--behaviours", str(behaviours))
    words = ("run", "--prompts", str(prompts), "--investigator", investigator, *own)
    run_local(
        Ask(
            words=words,
            prompts=read_prompts(prompts),
            model=model,
            out=out,
            drawn={"samples": samples, "max_tokens": max_tokens, "seed": seed},
            limits={"responses": most_responses, "tokens": most_tokens},
            minutes=most_minutes,
            most=investigations,
            reproduce=reproduce,
            thorough=not light,
            threshold=threshold,
            behaviours=behaviours,
            json=json,
            device=device,
            dtype=dtype,
            dry_run=dry_run,
        )
    )


@investigate_app.command("agents")
def agents(
    prompts: Annotated[Path, typer.Argument(help="Prompts of any known format, or a prepared folder.")],
    settings: Annotated[Path | None, typer.Option(help="Settings of the stages, as YAML.")] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(help="role=provider/name, such as target=firsthand/smollm2 or judge=openai/gpt-5; repeat it."),
    ] = None,
    out: Out = Path("runs/investigate-agents"),
    dry_run: DryRun = False,
    display: Annotated[str, typer.Option(help="Inspect's display: full, rich, plain, log or none.")] = "rich",
) -> None:
    """Models screen, an agent experiments, judges referee: every provider that Inspect knows in every role."""
    from firsthand.cli.investigate.staged import run_staged

    run_staged(prompts, settings, role or [], out, dry_run, display)


@investigate_app.command("prepare")
def prepare(
    files: Annotated[list[Path], typer.Argument(help="Files or folders of prompts.")],
    out: Annotated[Path, typer.Option(help="Folder for prompts.jsonl and prepared.json.")],
    kind: Annotated[str | None, typer.Option(help="Format, where it is not to be recognised.")] = None,
    most: Annotated[int | None, typer.Option(help="Most prompts in all.", min=1)] = None,
    seed: Seed = 0,
    min_characters: Annotated[int | None, typer.Option(help="Shortest prompt (400).", min=0)] = None,
    max_characters: Annotated[int | None, typer.Option(help="Longest prompt (8,000).", min=0)] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Longest prompt in tokens, estimated.", min=0)] = None,
    per_family: Annotated[int | None, typer.Option(help="Most prompts of a template family (5).", min=0)] = None,
    family_characters: Annotated[
        int | None, typer.Option(help="Characters that a family begins with alike (100).", min=0)
    ] = None,
    share: Annotated[list[float] | None, typer.Option(help="Share of each file, in their order.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="name=value for a format, such as cut=every.")] = None,
) -> None:
    """Prompts from chats, tables, trees, logs and trajectories, with every drop counted and explained."""
    from firsthand.cli.investigate.prepare import run_prepare

    run_prepare(
        files,
        out,
        kind=kind,
        most=most,
        seed=seed,
        min_characters=min_characters,
        max_characters=max_characters,
        max_tokens=max_tokens,
        per_family=per_family,
        family_characters=family_characters,
        shares=share or (),
        options=option or (),
    )


@investigate_app.command("hints")
def hints(
    data: Annotated[
        Path | None, typer.Option(help="Exam questions: MMLU's layout, named columns, or a folder of either.")
    ] = None,
    aita: Annotated[Path | None, typer.Option(help="Posts with a verdict of their readers.")] = None,
    model: Model = "smollm2",
    out: Out = Path("runs/investigate-hints"),
    questions: Annotated[int, typer.Option(help="Exam questions, drawn by lot; as many posts at most.", min=1)] = 60,
    cue: Annotated[
        list[str] | None,
        typer.Option(help="professor, 'check mark', metadata, school or 'said before'; repeat it. All without it."),
    ] = None,
    each: Annotated[int, typer.Option(help="Kinds of cue that each exam question gets.", min=1)] = 1,
    exact: Annotated[
        bool, typer.Option("--exact/--sampled", help="Read the probabilities of options, or draw responses.")
    ] = True,
    form: Annotated[str, typer.Option(help="Answers that are drawn: brief (explained), or letter.")] = "brief",
    shots: Annotated[
        int, typer.Option(help="Questions that are answered first, with a right cue, for weak models.", min=0)
    ] = 0,
    samples: Samples = 10,
    temperature: Annotated[float, typer.Option(help="Of the answers; at most 1 with --exact.", min=0.01)] = 1.0,
    explanations: Annotated[int, typer.Option(help="Answers to each 'why'; 0: it is not asked.", min=0)] = 1,
    max_tokens: MaxTokens = 120,
    seed: Seed = 0,
    most_responses: MostResponses = None,
    most_tokens: MostTokens = None,
    dry_run: DryRun = False,
    json: Json = None,
    device: Device = None,
    dtype: Dtype = "float32",
) -> None:
    """A cue toward one option: does it change the answer, and does the model say so, with the cue and without?"""
    from firsthand.cli.investigate.hints import AskHints, run_hints_command, settings_of
    from firsthand.counterfactual.hints.rules import HintRule

    rule = HintRule(samples=samples, temperature=temperature)
    run_hints_command(
        AskHints(
            data=data,
            aita=aita,
            model=model,
            out=out,
            questions=questions,
            exact=exact,
            settings=settings_of(cue or [], each, form, explanations, seed, rule=rule, exact=exact, shots=shots),
            max_tokens=max_tokens,
            limits={"responses": most_responses, "tokens": most_tokens},
            json=json,
            device=device,
            dtype=dtype,
            dry_run=dry_run,
        )
    )
