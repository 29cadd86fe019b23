"""What a predictor agent is to do, as data."""

from typing import Annotated, Any

from pydantic import Field

from firsthand.counterfactual.inspecting.stages.settings import Lengths, RoleModel, StagesSettings
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.tools.limits import Limits


class PredictSettings(Part):
    """A predictor and how it is run.

    Attributes:
        predictor: The model that predicts.
        target: Name of the local target that tools read; empty without tools.
        dtype: Data type of the target's weights.
        tools: Tools, as they are written on a command line.
        identities: What identifies each of them.
        limits: How much it may read.
        lengths: How much of a text it is shown.
        reasoning: Whether the target's reasoning is shown, where there is any.
        listed: Characters of the list of numbered tokens that it is shown.
        retries: How often a call that fails is tried again.
        give_up_after: Calls that may fail for good in a row before the run is stopped.
        timeout: Seconds after which one attempt of a call is given up.
        connections: Most calls to the model at a time.
        samples_at_once: Most claims at a time.
        money: Budget, in the currency of the prices.
        prices: A file of prices.
    """

    predictor: RoleModel
    target: str = ""
    dtype: str = "float32"
    tools: tuple[str, ...] = ()
    identities: tuple[str, ...] = ()
    limits: Limits = Limits()
    lengths: Lengths = Lengths()
    reasoning: bool = False
    listed: Annotated[int, Field(ge=1_000)] = 60_000
    retries: Annotated[int, Field(ge=0)] = 5
    give_up_after: Annotated[int, Field(ge=1)] | None = 25
    timeout: Annotated[int, Field(ge=1)] = 600
    connections: Annotated[int, Field(ge=1)] | None = None
    samples_at_once: Annotated[int, Field(ge=1)] = 20
    money: Annotated[float, Field(gt=0.0)] | None = None
    prices: str | None = None

    @property
    def shaping(self) -> dict[str, Any]:
        """What predictions depend on: without budgets and speed."""
        speed = {"retries", "give_up_after", "timeout", "connections", "samples_at_once", "money", "prices"}
        return self.model_dump(mode="json", exclude=speed if self.tools else {*speed, "limits", "listed"})

    def stages(self, folder: str) -> StagesSettings:
        """The same in the words of the stages, with whose calls it works."""
        return StagesSettings(
            folder=folder,
            roles=dict.fromkeys(("target", "investigator", "predictor"), self.predictor),
            lengths=self.lengths,
            retries=self.retries,
            give_up_after=self.give_up_after,
            timeout=self.timeout,
            connections=self.connections,
            samples_at_once=self.samples_at_once,
            money=self.money,
            prices=self.prices,
        )
