"""What a run of the stages is to do, as data."""

import re
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, model_validator

from firsthand.counterfactual.behaviours import Called, Computed, Pattern
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Sampling
from firsthand.trials.canonical import digest

RoleName = Literal["target", "screener", "investigator", "classifier", "judge", "describer", "predictor"]
ROLES: Final[tuple[RoleName, ...]] = ("target", "screener", "investigator", "classifier", "judge", "describer")

Effort = Literal["thorough", "light"]

_SECRET: Final = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)


class RoleModel(Part):
    """Which model plays a role.

    Attributes:
        model: The model as Inspect names it, such as ``openai/gpt-5`` or ``ollama/qwen3:8b``.
        base_url: Address of its server, where that is not the provider's own.
        arguments: Arguments of the provider, such as a device.
        config: Fields of Inspect's ``GenerateConfig``. A target's sampling is not set here but in ``sampling``.
        billed: Whether anybody charges for its tokens.
        constrained: Whether the provider is asked to hold replies to their JSON schema. Replies are checked all the
            same.
    """

    model: Annotated[str, Field(pattern=r"^[^/]+/.+$")]
    base_url: str | None = None
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    config: dict[str, JsonValue] = Field(default_factory=dict)
    billed: bool = True
    constrained: bool = False

    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        named = [name for name in self.arguments if _SECRET.search(name)]
        if named:
            raise ValueError(f"{named[0]} would be written to settings and logs: set it in the environment")
        if self.base_url is not None and urlsplit(self.base_url).username is not None:
            raise ValueError("base_url holds a user or password, which would be written to settings and logs")
        return self


class Budget(Part):
    """What one investigation may use up; ``None``: as much as it likes. All roles of its sample count.

    Attributes:
        calls: Turns of the investigator.
        experiments: Edits that are measured.
        tokens: Tokens read and written.
        money: Money, in the currency of the prices.
        seconds: Time by the clock.
    """

    calls: Annotated[int, Field(ge=1)] = 60
    experiments: Annotated[int, Field(ge=1)] = 15
    tokens: Annotated[int, Field(ge=1)] | None = None
    money: Annotated[float, Field(gt=0.0)] | None = None
    seconds: Annotated[float, Field(gt=0.0)] | None = None


class Lengths(Part):
    """How many characters of a text other models are shown; what is left out is counted where it is left out.

    Attributes:
        turn: Of a turn of the prompt.
        response: Of a response that is screened or classified.
        quote: Of a response that the investigator is shown.
    """

    turn: Annotated[int, Field(ge=200)] = 12_000
    response: Annotated[int, Field(ge=200)] = 6_000
    quote: Annotated[int, Field(ge=200)] = 1_200


class StagesSettings(Part):
    """A run.

    Attributes:
        folder: Where everything of the run is kept: settings, prompts, what calls gave, and a folder of logs for each
            stage.
        roles: Who plays which role. Missing ones are played by the investigator; only target and investigator are
            needed.
        sampling: How the target's responses are drawn; the same number for every batch.
        effort: ``thorough`` (10-15 experiments, five judges, score 8) or ``light`` (5-8, one judge, score 7).
        behaviours: Behaviours that a program judges. If there are any, they are what is screened for, and no screener
            asked. One that is about so many first tokens (``within``) is about as many as are drawn.
        examples: A YAML file of further examples for the screener.
        least_rating: Rating from which a behaviour is investigated.
        least_frequency: How often it has to occur in the screened batch, invalid responses counted as without it.
        budget: Budget of each investigation; ``None``: what goes with the effort.
        money: Budget of the whole run, in the currency of the prices. When it is used up the run stops; with a higher
            one it goes on where it stopped.
        prices: A file of prices, looked at before those of the package.
        judges: Number of judges; ``None``: what goes with the effort.
        least_score: Mean score from which a report is accepted; ``None``: what goes with the effort.
        seed: Seed of what is drawn here, such as examples.
        retries: How often a call that fails is tried again before it counts as failed.
        give_up_after: Calls of one role that may fail in a row before the run is stopped; ``None``: any number.
        timeout: Seconds after which one attempt of a call is given up.
        connections: Most calls to one model at a time; ``None``: Inspect adapts it.
        samples_at_once: Most prompts at a time.
        live: Whether Inspect's viewer can follow the run while it goes on; costs some time for each call.
        lengths: How much of a text other models are shown.
        weights: What identifies the files of a local target; found by the run itself.
    """

    folder: Annotated[str, Field(min_length=1)]
    roles: dict[RoleName, RoleModel]
    sampling: Sampling = Sampling()
    effort: Effort = "thorough"
    behaviours: tuple[Annotated[Pattern | Called | Computed, Field(discriminator="kind")], ...] = ()
    examples: str | None = None
    least_rating: Annotated[int, Field(ge=1, le=5)] = 3
    least_frequency: Annotated[float, Field(ge=0.0, le=1.0)] = 0.3
    budget: Budget | None = None
    money: Annotated[float, Field(gt=0.0)] | None = None
    prices: str | None = None
    judges: Annotated[int, Field(ge=1)] | None = None
    least_score: Annotated[float, Field(ge=1.0, le=10.0)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    retries: Annotated[int, Field(ge=0)] = 5
    give_up_after: Annotated[int, Field(ge=1)] | None = 25
    timeout: Annotated[int, Field(ge=1)] = 600
    connections: Annotated[int, Field(ge=1)] | None = None
    samples_at_once: Annotated[int, Field(ge=1)] = 20
    live: bool = False
    lengths: Lengths = Lengths()
    weights: str = ""

    @model_validator(mode="after")
    def _has_who_is_needed(self) -> Self:
        for needed in ("target", "investigator"):
            if needed not in self.roles:
                raise ValueError(f"no model plays the role {needed!r}")
        return self

    @model_validator(mode="after")
    def _asks_of_what_is_drawn(self) -> Self:
        for one in self.behaviours:
            within = None if isinstance(one, Called) else one.within
            if within is not None and within != self.sampling.max_tokens:
                raise ValueError(
                    f"{one.question!r} is about the first {within} tokens, and responses have at most "
                    f"{self.sampling.max_tokens}: make `within` and `sampling.max_tokens` the same"
                )
        return self

    def playing(self, role: RoleName) -> RoleModel:
        """The model that plays a role."""
        return self.roles.get(role) or self.roles["investigator"]

    @property
    def target(self) -> str:
        """Identity of the target: model, weights as far as they are known, provider's arguments and sampling."""
        playing = self.roles["target"]
        sampling = self.sampling.model_dump(mode="json", exclude={"samples"})
        return f"{playing.model}#{digest([playing.model_dump(mode='json'), self.weights, sampling])[:16]}"

    @property
    def spending(self) -> Budget:
        """Budget of each investigation."""
        return self.budget or (Budget() if self.effort == "thorough" else Budget(calls=32, experiments=8))

    @property
    def panel(self) -> int:
        """Number of judges."""
        return self.judges or (5 if self.effort == "thorough" else 1)

    @property
    def bar(self) -> float:
        """Mean score from which a report is accepted."""
        return self.least_score or (8.0 if self.effort == "thorough" else 7.0)

    @property
    def limits_money(self) -> bool:
        """Whether prices have to be known."""
        return self.money is not None or self.spending.money is not None

    @property
    def shaping(self) -> dict[str, Any]:
        """Everything that decides what calls are made: a run that has begun goes on only under an equal one."""
        outside = {
            "folder",
            "budget",
            "money",
            "prices",
            "retries",
            "give_up_after",
            "timeout",
            "connections",
            "samples_at_once",
            "live",
        }
        return self.model_dump(mode="json", exclude=outside)
