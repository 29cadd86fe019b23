"""Everything that the report of predictions shows, as one versioned document.

Every run of ``firsthand predict`` ends in a :class:`PredictionsDocument`, stored as ``result.json``; the page, the
terminal and the exported files are renderings of it. Its JSON schema is ``PredictionsDocument.model_json_schema()``.
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from firsthand.analysis.predictions.results import Kind, PredictionResults
from firsthand.report.document import Text, _Part

PREDICTIONS_DOCUMENT: Literal[1] = 1

Count = Annotated[int, Field(ge=0)]


class ClaimsCard(_Part):
    """The claims that were predicted.

    Attributes:
        name: Name of the file.
        sha256: Its fingerprint.
        claims: Claims that were asked about.
        true: How many of them are true.
        dropped: Claims and rows that were left out, by reason.
        targets: Identities of the targets that they are about.
        drawn: Transcripts that were drawn for this run, since the file holds none.
    """

    name: Text
    sha256: str
    claims: Count
    true: Count
    dropped: dict[Text, Count] = Field(default_factory=dict)
    targets: tuple[Text, ...]
    drawn: Count = 0


class PredictorCard(_Part):
    """Who predicted.

    Attributes:
        name: Name.
        kind: What it is.
        identity: Hash of everything that its answers depend on.
        asked: How it was asked, in one sentence.
        model: What identifies its model, name to value; empty where there is none.
        shortened: Transcripts that were shortened to fit.
        invalid: Invalid answers, by reason.
        tokens: Tokens that were read, and by agents written.
        calls: Calls of tools that it made.
        beside: The same predictor without tools, which it is held against; empty where it has none.
    """

    name: Text
    kind: Kind
    identity: Text
    asked: Text
    model: dict[Text, Text] = Field(default_factory=dict)
    shortened: Count = 0
    invalid: dict[Text, Count] = Field(default_factory=dict)
    tokens: Count = 0
    calls: Count = 0
    beside: Text = ""


class PredictionsDocument(_Part):
    """One run of ``firsthand predict``, complete.

    Attributes:
        title: Heading of the page.
        claims: What was predicted.
        predictors: Who predicted, in the order of the results.
        results: What was found.
        prompt: What a model read of one claim, as an example.
        package_version: Version of this package.
        started: When the run began.
        finished: When it ended.
        limits: What may not be concluded.
        reproduce: Commands that repeat the run, in order.
        notes: What else a reader should know, one sentence each.
    """

    schema_version: Literal[1] = PREDICTIONS_DOCUMENT
    title: Text = "Predictions of counterfactual claims"
    claims: ClaimsCard
    predictors: tuple[PredictorCard, ...]
    results: PredictionResults
    prompt: Text | None = None
    package_version: str
    started: AwareDatetime
    finished: AwareDatetime
    limits: tuple[Text, ...] = ()
    reproduce: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()

    def card(self, name: str) -> PredictorCard:
        """The card of a predictor."""
        return next(one for one in self.predictors if one.name == name)
