"""What the command ``labels belief`` does."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from firsthand.auditing.labels.belief_cost import Price, price_of
from firsthand.auditing.labels.belief_study import belief
from firsthand.claims.labels import BeliefClaim
from firsthand.cli.labels.ask import Ask
from firsthand.cli.labels.claims import Draft
from firsthand.cli.labels.ending import told, written
from firsthand.cli.labels.prices import print_price, time_of
from firsthand.cli.progress import TerminalProgress
from firsthand.studies.labels.belief.kinds import read_kinds
from firsthand.studies.labels.belief.records import Facts, data_hash, read_facts

ALL: Final = "all"
"""Stands for every layer."""


@dataclass(frozen=True)
class Source:
    """A file of facts.

    Attributes:
        path: The file.
        seed: From it counter entities are drawn, where the file has none.
    """

    path: Path
    seed: int = 0

    def read(self, tokenizer: PreTrainedTokenizerBase) -> Facts:
        """Read the facts.

        Raises:
            LabelsError: If they cannot be read, or do not fit.
        """
        return read_facts(self.path, tokenizer, self.seed)

    @property
    def options(self) -> dict[str, object]:
        """The options that read the same facts; the seed is the claim's."""
        return {"data": self.path}


def found_in(facts: Facts) -> dict[str, Any]:
    """What the facts give a claim."""
    return {"data_sha256": data_hash(facts)}


def run_belief(path: Path, ask: Ask) -> None:
    """Run or price a belief study, and print its verdicts.

    Args:
        path: The file of facts.
        ask: What was asked for. Its field ``kinds`` is a file of kinds of conflict, and ``layers`` may be :data:`ALL`.
    """
    draft = Draft.of(ask.claim, ask.fields, BeliefClaim)
    if draft.held is None and ask.fields.get("kinds") is not None:
        draft = replace(draft, fields={**draft.fields, "kinds": read_kinds(ask.fields["kinds"])})
    with TerminalProgress() as progress:
        loaded = ask.load(draft.value("model"), progress)
        if draft.held is None and draft.value("layers") == [ALL]:
            draft = replace(draft, fields={**draft.fields, "layers": list(range(loaded.n_layers))})
        source = Source(path, draft.value("seed"))
        facts = source.read(loaded.tokenizer)
        claim = draft.settled(found_in(facts))
        draft.bound_to(claim, loaded)
        if ask.dry_run:
            progress.say("counting")
            price = price_of(loaded, facts, claim)
        else:
            again = ask.commands("belief", source.options)
            done = belief(claim, facts, loaded, ask.out, progress, data=path.name, reproduce=again)
            written(done.document, ask.out, done.tables, progress)
    if ask.dry_run:
        print_price(_told(price), facts.dropped, claim.data_sha256)
        return
    told(done.document, ask.out, ask.json)


def _told(price: Price) -> list[str]:
    return [
        f"{price.answers} answers with about {price.states:,} states, from which {price.readings:,} tokens are "
        f"generated; {price.steered} answers with a vector added.",
        f"{price.conversations} conversations of about {price.length:,} tokens each: {price.tokens:,} tokens in all.",
        f"This machine reads an answer in {price.answer_seconds:.1f} seconds and does {price.rate:,.0f} tokens a "
        f"second: about {time_of(price.seconds)}.",
    ]
