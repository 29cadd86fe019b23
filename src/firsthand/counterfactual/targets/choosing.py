"""A local target that also gives the probability with which it goes on with each of some options."""

from collections.abc import Sequence

from firsthand.counterfactual.hints.exact import Choice, Chosen
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.engine import Row, candidate_tokens, score_candidates
from firsthand.engine.prompts import render
from firsthand.errors import CounterfactualError, FirsthandError
from firsthand.trials.canonical import digest


class ChoosingTarget(LocalTarget):
    """Answers as a local target does, and gives exact probabilities: of the whole vocabulary, at temperature 1."""

    @property
    def read_identity(self) -> str:
        """Hash of everything that probabilities depend on."""
        loaded = self.loaded
        weights = [loaded.weights_sha256, loaded.tokenizer_sha256, loaded.config_sha256, loaded.dtype]
        return f"local probabilities {digest(weights)}"

    def choices(self, wanted: Sequence[Choice]) -> list[Chosen]:
        """Probabilities for each choice; one whose prompt cannot be given has zeros, and says why."""
        found = [Chosen(probabilities=(0.0,) * len(one.options)) for one in wanted]
        able: dict[tuple[str, tuple[tuple[str, ...], ...]], list[tuple[int, Row]]] = {}
        for place, one in enumerate(wanted):
            try:
                row = Row(self._begun(one.prompt, one.stem))
            except FirsthandError as error:
                found[place] = found[place].model_copy(update={"why": error.problem})
                continue
            able.setdefault((one.stem, one.options), []).append((place, row))
        for (stem, options), rows in able.items():
            ways = [way for option in options for way in option]
            candidates = candidate_tokens(self.loaded.tokenizer, stem, ways)
            scores = score_candidates(self._anatomy, [row for _, row in rows], candidates)
            for (place, _), each in zip(rows, scores.logprobs_RC.exp().tolist(), strict=True):
                given = iter(each)
                sums = tuple(min(1.0, sum(next(given) for _ in option)) for option in options)
                found[place] = Chosen(probabilities=sums)
        return found

    def _begun(self, prompt: Prompt, stem: str) -> tuple[int, ...]:
        """Tokens of a prompt with the assistant's turn begun."""
        if prompt.tools or any(turn.calls or turn.role == "tool" for turn in prompt.turns):
            raise CounterfactualError(
                "The prompt has tools, with which no answer can be begun here.", "Sample instead."
            )
        turns = [(turn.role, turn.content) for turn in prompt.turns]
        return render(self.loaded.tokenizer, [*turns, ("assistant", stem)]).tokens
