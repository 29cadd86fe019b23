"""A full document of a label study with plausible numbers, and a hostile twin of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from injected_results import choice, confidence, observer, rate

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.report.document import KnownAnswer, ModelCard
from firsthand.report.formats import Unit
from firsthand.report.labels_document import (
    Curve,
    DataCard,
    Grid,
    LabelsDocument,
    LabelsFinding,
    Point,
    Series,
)
from firsthand.vocabulary import Capability, Verdict

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OBSERVERS = ("layer 0", "words", "most frequent", "layer 0, 900 texts", "words, 900 texts", "label of the data")
CHANCE = Line(label="chance", value=0.5)


def card(name: str = "smollm2") -> ModelCard:
    return ModelCard(
        name=name,
        architecture="LlamaForCausalLM",
        layers=30,
        parameters=134_515_008,
        weights_sha256="a1" * 32,
        tokenizer_sha256="b2" * 32,
        dtype="float32",
        device="cpu",
    )


def by_shots() -> Curve:
    report = Series(
        name="report",
        emphasis=True,
        points=tuple(
            Point(x=x, estimate=rate(y, 0.05)) for x, y in ((4.5, 0.52), (14.5, 0.6), (24.5, 0.64), (45, 0.67))
        ),
    )
    others = [
        Series(name=name, points=tuple(Point(x=x, estimate=rate(0.5 + 0.05 * i + x / 900, 0.04)) for x in (24.5, 45)))
        for i, name in enumerate(OBSERVERS)
    ]
    late = Series(name="reader: gemma3-270m", points=(Point(x=45, estimate=rate(0.63, 0.05)),))
    return Curve(
        name="shots",
        title="Right answers by number of shots",
        x="Labelled sentences before the answer",
        y="Right answers",
        series=(report, *others, late),
        lines=(CHANCE,),
    )


def by_layer() -> Curve:
    found = {"report": (0.62, 0.66, 0.7, 0.67, 0.61), "layer 0, 900 texts": (0.93, 0.86, 0.8, 0.76, 0.74)}
    return Curve(
        name="layers",
        title="Right answers by layer of the labels",
        x="Layer (0 is the first block)",
        y="Right answers",
        series=tuple(
            Series(
                name=name,
                emphasis=name == "report",
                points=tuple(
                    Point(x=x, estimate=rate(y, 0.06)) for x, y in zip((5, 10, 15, 20, 25), values, strict=True)
                ),
            )
            for name, values in found.items()
        ),
        lines=(CHANCE,),
    )


def correlations() -> Grid:
    return Grid(
        name="correlations",
        title="Meta judgements against direct ones",
        columns=("Who said it", "SmolLM2's own", "Gemma 3 270M's", "Remark"),
        rows=(
            ("SmolLM2", (rate(0.18, 0.17), rate(0.11, 0.18), "answers by place")),
            ("Gemma 3 270M", (rate(-0.07, 0.14), rate(0.13, 0.18), None)),
        ),
        unit=Unit.NUMBER,
        note="Spearman correlations over pairs.",
    )


def told(score: float, verdict: Verdict) -> Any:
    made = choice(Capability.IDENTIFICATION, 2, score, verdict, {"redrawn": 0.512})
    names = [*OBSERVERS, "reader: gemma3-270m"]
    rows = tuple(observer(name, 0.5 + 0.04 * i, score - 0.5 - 0.04 * i) for i, name in enumerate(names))
    return made.model_copy(update={"observers": rows, "coverage": 0.93})


def findings() -> tuple[LabelsFinding, ...]:
    asked = "Which of two labels does this sentence have, judging by the sentences before it?"
    setting = {"layers": "5, 10, 15, 20, 25", "conversations": "5 a layer, 61 shots each", "judged": "from 30 shots on"}
    return (
        LabelsFinding(
            name="probe",
            title="Labels of a probe",
            asked=asked,
            setting=setting,
            results=(told(0.671, Verdict.PUBLIC_INFERENCE),),
            curves=(by_shots(), by_layer()),
            notes=("The probe is right on 71% of held-out texts.",),
            prompt="<|im_start|>system\nEvery sentence here has been given one of two labels, 3 or 7.<|im_end|>\n",
        ),
        LabelsFinding(
            name="permuted",
            title="Labels of a probe of permuted labels",
            asked=asked,
            setting=setting,
            results=(told(0.508, Verdict.NO_ACCESS),),
            curves=(by_shots(),),
        ),
        LabelsFinding(
            name="pairs",
            title="Direct against meta judgements",
            asked="Which of two sentences is better?",
            results=(signed(),),
            grids=(correlations(),),
        ),
        LabelsFinding(
            name="confidence",
            title="Confidence",
            asked="How likely is the answer to be right?",
            results=(confidence(),),
        ),
        LabelsFinding(
            name="alike",
            title="How alike the models are",
            asked="Do two models know the same?",
            pictures=(shares(),),
            grids=(correlations().model_copy(update={"name": "bare", "rows": (), "note": ""}),),
        ),
    )


def signed() -> Any:
    made = choice(Capability.IDENTIFICATION, 2, 0.07, Verdict.INSUFFICIENT, {})
    return made.model_copy(
        update={"chance": 0.0, "gap": rate(0.07, 0.13), "observers": (observer("direct of gemma3-270m", 0.11, 0.07),)}
    )


def shares() -> Picture:
    return Picture(
        title="Pairs on which both are right",
        axis="Share of pairs",
        unit="share",
        marks=(Mark(label="SmolLM2", estimate=rate(0.957), emphasis=True), Mark(label="Gemma", estimate=rate(0.979))),
        lines=(CHANCE,),
    )


def known_answers() -> tuple[KnownAnswer, ...]:
    rows = {
        "strongest observer, probe": ("Gives an observer's answers for its own.", Verdict.PUBLIC_INFERENCE),
        "lot, probe": ("Answers by lot.", Verdict.INSUFFICIENT),
    }
    return tuple(
        KnownAnswer(
            reporter=name,
            description=text,
            capability=Capability.IDENTIFICATION,
            expected=verdict,
            obtained=verdict,
            passed=True,
            reasons=("It came out so for a reason.",),
        )
        for name, (text, verdict) in rows.items()
    )


def labels_document(**changes: Any) -> LabelsDocument:
    """A document with all parts."""
    fields: dict[str, Any] = {
        "study": "biofeedback",
        "title": "Biofeedback",
        "claim": BiofeedbackClaim(data_sha256="d4" * 32),
        "claim_hash": "3f7a" * 16,
        "models": (card(), card("gemma3-270m")),
        "data": DataCard(
            name="cm_test.csv",
            sha256="d4" * 32,
            used={"to fit the axes": 900, "to draw conversations from": 600},
            dropped={"duplicate": 3, "too long": 1412, "empty": 0},
            classes=("acceptable", "wrong"),
        ),
        "package_version": "0.3.0",
        "started": NOON,
        "finished": NOON + timedelta(seconds=1462),
        "findings": findings(),
        "published": (shares(),),
        "published_sources": ("Ji-An et al. (2025): labels of principal components are told above chance.",),
        "known_answers": known_answers(),
        "instrument_ok": True,
        "limits": ("A text's state is a function of the text.",),
        "reproduce": ("firsthand labels biofeedback --claim claim.frozen.json --data cm_test.csv --out NEW_FOLDER",),
        "notes": ("float16 was not examined.",),
    }
    return LabelsDocument(**{**fields, **changes})


def hostile_document(text: str) -> LabelsDocument:
    """The same with one hostile text wherever a text may stand."""
    plain = labels_document()
    title = text.encode("utf-8", "replace").decode()  # a claim with a lone surrogate could not be frozen
    result = told(0.671, Verdict.PUBLIC_INFERENCE).model_copy(
        update={"reasons": (text,), "observers": (observer(text, 0.6, 0.07),)}
    )
    curve = by_shots().model_copy(
        update={
            "title": text,
            "x": text,
            "y": text,
            "series": tuple(one.model_copy(update={"name": text}) for one in by_shots().series),
            "lines": (Line(label=text, value=0.4),),
        }
    )
    grid = correlations().model_copy(
        update={
            "title": text,
            "columns": ("Who", text),
            "rows": ((text, (text,)), ("one", (rate(0.1),)), ("none", (None,))),
            "note": text,
        }
    )
    picture = Picture(
        title=text,
        axis=text,
        unit="share",
        marks=(Mark(label=text, estimate=rate(0.4)),),
        lines=(Line(label=text, value=0.2),),
    )
    finding = LabelsFinding(
        name="probe",
        title=text,
        asked=text,
        setting={text: text},
        results=(result,),
        curves=(curve,),
        pictures=(picture,),
        grids=(grid,),
        notes=(text,),
        prompt=text,
    )
    known = plain.known_answers[0].model_copy(update={"reporter": text, "description": text, "reasons": (text,)})
    data = DataCard(name=text, sha256=text, used={text: 3}, dropped={text: 4}, classes=(text, text))
    return plain.model_copy(
        update={
            "title": text,
            "claim": plain.claim.model_copy(update={"title": title}),
            "claim_hash": text,
            "models": (card(text), card(text)),
            "data": data,
            "findings": (finding,),
            "published": (picture,),
            "published_sources": (text,),
            "known_answers": (known,),
            "limits": (text,),
            "reproduce": (text,),
            "notes": (text,),
        }
    )
