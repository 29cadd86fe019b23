"""A run of planted investigations as a folder, and explanations that somebody might write of them."""

from collections.abc import Sequence
from pathlib import Path

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.card import Card
from firsthand.counterfactual.claiming import claims_of
from firsthand.counterfactual.claims import Answered, Claim
from firsthand.counterfactual.explaining.target_text import Evidence, Explanation, Finding, target_text
from firsthand.counterfactual.export import export
from firsthand.counterfactual.investigation import Cause, Experiment, Investigation, Report, Screened
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.training.planting.rules import BEHAVIOUR, edit_of, prompt_of
from firsthand.counterfactual.training.planting.words import NOUNS

SHOWN = (
    Answered(response=Response(text="heron"), verdict=Verdict.NO),
    Answered(response=Response(text="plover"), verdict=Verdict.YES),
)
SETTINGS = "{rank: 2, batch: 4, epochs: 1, learning_rate: 0.01}\n"


def words_of(number: int) -> tuple[str, str]:
    """The words of a prompt: the first one matters, the other does not."""
    return NOUNS[2 * number], NOUNS[2 * number + 1]


def investigation(number: int, target: str = "t", **changes: object) -> Investigation:
    """One investigation: without the first word the behaviour is gone, without the other it stays."""
    words = words_of(number)
    prompt = prompt_of(words, f"group {number}")
    experiments = [
        Experiment(
            number=n,
            edit=edit_of(words, word),
            purpose=word,
            stage="confirmed",
            batch=f"confirm.{n}",
            rate=Rate(yes=yes, no=20 - yes),
            decision="changes" if n == 1 else "does not change",
        )
        for n, (word, yes) in enumerate(zip(words, (0, 20), strict=True), 1)
    ]
    made = Investigation(
        target=target,
        investigator="nobody",
        screened=Screened(
            prompt=prompt,
            rating=5,
            behaviour=BEHAVIOUR,
            summary="It names a bird.",
            question="Why does it?",
            own_question="Why do you name it?",
            rate=Rate(yes=20, no=0),
        ),
        baseline=Rate(yes=20, no=0),
        experiments=tuple(experiments),
        report=Report(
            observed="I name a bird.",
            causes=(Cause(hypothesis=f"The word {words[0]}", experiments=(1,)),),
            refuted=(Cause(hypothesis=f"The word {words[1]}", experiments=(2,)),),
            answer=f"Because of {words[0]}.",
        ),
    )
    return made.model_copy(update=changes)


def claims(some: Sequence[Investigation]) -> list[Claim]:
    """Their claims, each with what the target said."""
    found = [claim for one in some for claim in claims_of(one).claims]
    return [claim.model_copy(update={"responses": SHOWN}) for claim in found]


def planted(folder: Path, target: str = "t", count: int = 16, some: Sequence[Investigation] | None = None) -> Path:
    """The folder of a finished run."""
    chosen = [investigation(n, target) for n in range(count)] if some is None else some
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "investigations.jsonl").write_text("".join(f"{one.model_dump_json()}\n" for one in chosen))
    export(folder / "claims", claims(chosen), (), Card(name="planted"))
    return folder


def text_of(prompt_text: str, which: int, hostile: str = "") -> str:
    """An explanation that blames a word of a prompt, which edits name in other words than it does."""
    words = prompt_text.split(" . ")[0].removeprefix("Words: ").split(" , ")
    blamed, other = words[which], words[1 - which]
    return target_text(
        Explanation(
            observed=f"I name a bird.{hostile}",
            rate=100,
            causes=(
                Finding(cause=f"{blamed} stands there", evidence=(Evidence(edit="Half is left", before=100, after=0),)),
            ),
            refuted=(Finding(cause=f"{other} too", evidence=(Evidence(edit="Less is left", before=100, after=99),)),),
            answer=f"{blamed} does it.",
        )
    )
