"""A predictor agent: questions in, predictions out, and everything that was paid for is kept."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from inspect_ai import eval_set
from inspect_ai.model import Model

from firsthand.counterfactual.inspecting.predicting.settings import PredictSettings
from firsthand.counterfactual.inspecting.predicting.tasks import predict
from firsthand.counterfactual.inspecting.predicting.working import IN_PROCESS, STAGE, Toolbox, name_of, opened
from firsthand.counterfactual.inspecting.running import Display, cache_in, check_stage, player
from firsthand.counterfactual.inspecting.stages.attempts import note_attempts
from firsthand.counterfactual.inspecting.stages.settings import RoleModel
from firsthand.counterfactual.inspecting.stages.stage import Found, latest_log, left_by, logs_of, waiting_in
from firsthand.counterfactual.predicting.answered import Answered
from firsthand.counterfactual.predicting.predictions import WAITS, Kind, Prediction
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tokens import BYTES_A_TOKEN, estimated_tokens
from firsthand.counterfactual.tools.session import Made
from firsthand.counterfactual.usage import Entry, Usage, summed
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest
from firsthand.trials.files import write_atomic, write_json

_UNREACHED: Final[Found] = {"note": f"{WAITS}it was not reached"}
_TASK_TOKENS: Final = 900
_ANSWER_TOKENS: Final = 120
_READING_TOKENS: Final = 120
_NUMBERED: Final = 5
"""Tokens of the task and its form, of an answer, of what a tool says of one token, and of a token in the numbered list,
for prices."""


class AgentPredictor:
    """A model behind any provider that foretells what edits do, with or without tools on the target.

    Args:
        model: The model, as Inspect names it; a :class:`RoleModel` with arguments; or a model of Inspect.
        folder: Where calls, logs and predictions are kept. The same folder goes on where it stopped.
        target: The loaded target that tools read; needed with tools.
        tools: Tools, as they are written on a command line: ``logit-lens``, ``sae:FOLDER``, ``oracle:FOLDER``,
            ``nla:FOLDER``, ``package.module:function``.
        settings: Other settings of :class:`PredictSettings`, such as ``limits`` or ``money``.
        name: Its name; by default the model's, with the tools'.
        display: Inspect's display.

    Raises:
        CounterfactualError: If the model cannot be had, a tool cannot be opened, or tools have no target.
        ModelError: If an adapter does not match the target.
    """

    def __init__(
        self,
        model: str | RoleModel | Model,
        folder: str | Path,
        *,
        target: LoadedModel | None = None,
        tools: Sequence[str] = (),
        name: str | None = None,
        display: Display = "none",
        **settings: Any,
    ) -> None:
        self._model, self._display = model, display
        playing = model if isinstance(model, RoleModel) else RoleModel(model=str(model))
        self._box = _toolbox(target, tools)
        self.settings = PredictSettings(
            predictor=playing,
            target=target.name if target and tools else "",
            dtype=target.dtype if target and tools else "float32",
            tools=tuple(tools),
            identities=tuple(one.identity for one in self._box.tools) if self._box else (),
            **settings,
        )
        self._home = Path(folder).absolute() / self.identity.removeprefix("agent ")[:16]
        self._name = name or " + ".join([playing.model, *(one.name for one in (self._box.tools if self._box else ()))])
        self._left: dict[str, Found] = {}

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def kind(self) -> Kind:
        """``tools`` if it has any, else ``observer``."""
        return "tools" if self._box else "observer"

    @property
    def identity(self) -> str:
        """Says which model, words, limits, tools and target."""
        from firsthand.counterfactual.inspecting.predicting.wording import Foretold, system

        words = [system(self._box is not None, self.settings.limits), Foretold.model_json_schema()]
        subject = self._box.subject.identity if self._box else ""
        return f"agent {digest([self.settings.shaping, words, subject])}"

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """One prediction for each question, in order.

        A call that the provider refuses, and a reply that cannot be read even when it was asked for again, give a
        prediction without probability. So does a call that was lost after all retries, with a note that begins with
        "waits": the same question put again asks it again. One that was lost in three runs that no outage ended is an
        outcome with the reason, if the model answers a call that asks for one word. What was answered before, in
        whatever batch, is found again and not paid for.

        Raises:
            CounterfactualError: If the run stops: the budget is used up, the provider is out, or a tool changed the
                target. The same call goes on where it stopped.
        """
        return [one.prediction for one in self.answer(questions)]

    def answer(self, questions: Sequence[Question]) -> list[Answered]:
        """The same, with the tokens that were used for each.

        Raises:
            CounterfactualError: As :meth:`predict` does.
        """
        if not questions:
            return []
        folder = self._written(questions)
        self._run(folder)
        found, waiting = left_by(folder, STAGE, finished=False), waiting_in(folder, STAGE)
        self._left.update(found)
        known: dict[str, Found] = {**{name: {"note": f"{WAITS}{why}"} for name, why in waiting.items()}, **found}
        return [self._answered(one, known.get(name_of(one), _UNREACHED)) for one in questions]

    def expected(self, questions: Sequence[Question]) -> Entry:
        """What predicting would use: every question in one reply, or after every call that its limits allow.

        An estimate, four bytes a token. It is what is paid at most if no reply has to be asked for again and readings
        are as long as those of a sparse autoencoder.
        """
        calls = self.settings.limits.calls if self._box else 0
        reading = _READING_TOKENS * self.settings.limits.positions
        used = Usage()
        for one in questions:
            said = len(one.response.text.encode()) // BYTES_A_TOKEN
            shown = estimated_tokens(one.prompt) + said
            base = _TASK_TOKENS + shown * (1 + _NUMBERED * (self._box is not None))
            read = sum(base + number * reading for number in range(calls + 1))
            used += Usage(calls=calls + 1, input=read, output=_ANSWER_TOKENS * (calls + 1))
        playing = self.settings.predictor
        return Entry(stage=STAGE, role="predictor", model=playing.model, usage=used, billed=playing.billed)

    def usage(self) -> tuple[Entry, ...]:
        """What was used for all that this object predicted, in calls and tokens."""
        return tuple(
            summed(Entry.model_validate(one) for found in self._left.values() for one in found.get("used", []))
        )

    def counts(self) -> dict[str, int]:
        """What happened to calls and replies: failed, repaired, invalid, refused tool calls."""
        total: Counter[str] = Counter()
        for found in self._left.values():
            total.update(found.get("counts", {}))
        return dict(sorted(total.items()))

    def readings(self) -> dict[str, tuple[Made, ...]]:
        """What tools said for all that this object predicted, by claim: for judges of what such texts hold."""
        return {
            Question.model_validate(found["metadata"]["question"]).claim: tuple(
                Made.model_validate(one) for one in found.get("made", [])
            )
            for found in self._left.values()
        }

    def _answered(self, question: Question, found: Found) -> Answered:
        used = sum(Entry.model_validate(one).usage.tokens for one in found.get("used", []))
        return Answered(prediction=self._prediction(question, found), tokens=used)

    def _prediction(self, question: Question, found: Found) -> Prediction:
        note = found.get("note") or found.get("problem") or ""
        return Prediction(
            claim=question.claim,
            predictor=self.name,
            probability=found.get("probability"),
            calls=found.get("calls", 0),
            note=note,
        )

    def _written(self, questions: Sequence[Question]) -> Path:
        distinct = {name_of(one): one for one in questions}
        folder = self._home / digest(sorted(distinct))[:16]
        if not (folder / "questions.jsonl").exists():
            lines = "".join(one.model_dump_json() + "\n" for _, one in sorted(distinct.items()))
            write_atomic(folder / "questions.jsonl", lines.encode())
        write_json(folder / "settings.json", self.settings.model_dump(mode="json"))
        if self._box is not None:
            IN_PROCESS[str(folder)] = self._box
        opened.cache_clear()
        return folder

    def _run(self, folder: Path) -> None:
        """Make what is missing. A sample whose call was lost waits for the next run, and the others go on."""
        standing = opened(str(folder)).run.standing
        for _ in range(2):
            done, left = latest_log(folder, STAGE), left_by(folder, STAGE, finished=False)
            if done is not None and done.status == "success" and set(opened(str(folder)).questions) <= set(left):
                return
            self._once(folder)
            if standing.stopped:
                raise CounterfactualError(
                    f"Predicting stopped: {standing.stopped}",
                    "Run the same command again; it goes on.",
                )
            # Prompts that were refused before any was answered can be told from an outage now.
            early = [one for one in standing.refused_first if one in standing.waiting]
            standing.refused_first.clear()
            for one in early:
                del standing.waiting[one]
            if not early or not standing.line("predictor").answered:
                break
        note_attempts(self._home, STAGE, [sample for _, sample in standing.waiting])

    def _once(self, folder: Path) -> None:
        settings = self.settings
        with cache_in(self._home / "cache"):
            _, logs = eval_set(
                [predict(run=str(folder))],
                log_dir=str(logs_of(folder, STAGE)),
                model=None,
                model_roles={"predictor": self._made()},
                retry_attempts=0,
                retry_immediate=False,
                fail_on_error=True,
                continue_on_fail=True,
                display=self._display,
                log_realtime=False,
                acp_server=False,
                ctl_server=False,
                max_samples=settings.samples_at_once,
                max_connections=settings.connections,
                max_retries=settings.retries,
                score=False,
                log_dir_allow_dirty=True,
            )
        check_stage(STAGE, logs, opened(str(folder)).run.standing)

    def _made(self) -> Model:
        if isinstance(self._model, Model):
            return self._model
        return player(self.settings.predictor, self.settings.retries, self.settings.timeout)


def _toolbox(target: LoadedModel | None, tools: Sequence[str]) -> Toolbox | None:
    if not tools:
        return None
    if target is None:
        raise CounterfactualError(
            "Tools read a local target, and none was given.", "Name the target that the claims are about."
        )
    from firsthand.counterfactual.tools.registry import open_tools
    from firsthand.counterfactual.tools.subject import Subject

    subject = Subject(target)
    return Toolbox(subject, open_tools(tools, subject))
