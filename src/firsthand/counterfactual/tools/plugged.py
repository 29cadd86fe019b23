"""A tool of one function: whatever can be imported as ``package.module:function``.

The function gets a :class:`View` of one transcript, the chosen tokens and what is asked, and returns one text for each
token (or, for a segment, any number of texts)::

    def norms(view, positions, ask):
        "Tells how long the activation at each token is."
        states = view.states("resid_post[7]", positions)
        return [f"{float(state.norm()):.1f}" for state in states]

Its name and docstring are what a predictor is told. A function that asks about segments says so:
``norms.takes = "segment"``.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from torch import Tensor

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.reading import Reading, Takes
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import logit_lens, parse_site
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")


class View:
    """One transcript as a tool of one function sees it: to be read, and nothing else.

    Args:
        subject: The target.
        question: The question, a copy of it.
    """

    def __init__(self, subject: Subject, question: Question) -> None:
        self.question = question
        self._subject, self._transcript = subject, subject.transcript(question)

    @property
    def tokens(self) -> tuple[int, ...]:
        """Token ids of the transcript."""
        return self._transcript.tokens

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each token."""
        return self._transcript.texts

    @property
    def response(self) -> int:
        """Number of the first token of the response."""
        return self._transcript.response

    @property
    def n_layers(self) -> int:
        """Number of blocks of the target."""
        return self._subject.anatomy.n_layers

    def states(self, site: str, positions: Sequence[int]) -> Tensor:
        """States at a site such as ``resid_post[7]``, ``[positions, hidden]``, float32 on the CPU."""
        place = parse_site(site)
        return self._subject.states(self.question, [place], positions)[place]

    def logit_lens(self, states_NH: Tensor) -> Tensor:
        """Log-probabilities that the target's final norm and head give to states, ``[states, vocabulary]``."""
        return logit_lens(self._subject.anatomy, states_NH)


Function: TypeAlias = Callable[[View, Sequence[int], str], Iterable[str]]


class Plugged:
    """A tool made of one function.

    Args:
        subject: The target.
        function: The function.

    Raises:
        CounterfactualError: If it has no docstring, a name that is none, or reads what there is not.
    """

    def __init__(self, subject: Subject, function: Function) -> None:
        self._subject, self._function = subject, function
        self.name: str = getattr(function, "__name__", "")
        self.description: str = inspect.cleandoc(function.__doc__ or "")
        self.takes: Takes = getattr(function, "takes", "positions")
        if not self.description or not _NAME.fullmatch(self.name) or self.takes not in ("positions", "segment"):
            raise CounterfactualError(
                f"{function!r} is no tool: a predictor is told its name and docstring.",
                "Use a named function with a docstring, and takes = 'positions' or 'segment' if anything.",
            )

    @property
    def identity(self) -> str:
        """Says which function, by its source text where that is known."""
        try:
            source = inspect.getsource(self._function)
        except (OSError, TypeError):
            source = repr(self._function)
        return f"{self.name} {digest([source, self._subject.identity])[:16]}"

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        """What the function says.

        Raises:
            CounterfactualError: If it does not return texts, or for single tokens not one for each.
        """
        view = View(self._subject, question)
        texts = list(self._function(view, positions, ask))
        single = self.takes == "positions"
        if not all(isinstance(one, str) for one in texts) or (single and len(texts) != len(positions)):
            raise CounterfactualError(
                f"The tool {self.name!r} gave {len(texts)} results for {len(positions)} tokens, or some that are no "
                "text.",
                "Let it return one text for each token.",
            )
        if single:
            return tuple(
                Reading(position=position, token=view.texts[position], text=text)
                for position, text in zip(positions, texts, strict=True)
            )
        whole = "".join(view.texts[positions[0] : positions[-1] + 1])
        return tuple(Reading(position=positions[0], token=whole, text=text) for text in texts)


def imported(place: str) -> Function:
    """The function that ``package.module:function`` names.

    Raises:
        CounterfactualError: If there is none.
    """
    module, _, name = place.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise CounterfactualError(
            f"The tool {place!r} cannot be imported: {error}", "Write it as package.module:function."
        ) from error
    if not callable(found):
        raise CounterfactualError(f"{place!r} is no function.", "Write it as package.module:function.")
    return found  # type: ignore[no-any-return]
