"""A full injection document with plausible numbers, and a hostile twin of it."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from injected_results import choice, confidence, detection, observer, rate

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.claims.injection import InjectionClaim
from firsthand.report.document import Cell, KnownAnswer, ModelCard
from firsthand.report.injection_document import (
    FindingResult,
    Grid,
    GridRow,
    InjectionDocument,
    MatrixRow,
    ResponseMatrix,
    Selection,
    TransferRow,
)
from firsthand.vocabulary import Capability, Condition, Kind, Verdict

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LAYERS = (0, 3, 6, 9, 12, 16, 19, 22, 25, 29)
DOSES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CHOOSING = ("dust", "trees", "sugar", "origami", "phones", "volcanoes", "trumpets", "bags")
JUDGING = (
    "oceans",
    "amphitheaters",
    "bread",
    "aquariums",
    "mirrors",
    "satellites",
    "blood",
    "poetry",
    "lightning",
    "snow",
    "masquerades",
    "secrecy",
    "constellations",
    "avalanches",
    "treasures",
    "rubber",
    "vegetables",
    "memories",
    "happiness",
    "peace",
    "caverns",
    "frosts",
    "silver",
    "deserts",
)
KINDS: dict[str, tuple[str, Kind | None]] = {
    "target": ("the concept's vector", Kind.TARGET),
    "clean": ("nothing", Kind.BASELINE),
    "sham": ("the same edit, nothing added", Kind.SHAM),
    "push": ("a text that pushes towards the concept", Kind.INPUT_CONTROL),
    "content_free": ("a direction without content, impact matched", Kind.IMPACT_CONTROL),
    "shuffled": ("the vector's numbers in another order", None),
}


def grid(setting: str, tilt: float = 0.0) -> Grid:
    def bump(layer: int, dose: float) -> float:
        depth = math.exp(-(((layer - 11 - 20 * tilt) / 7) ** 2))
        return depth * math.tanh(dose) * (1 - 0.16 * dose) + tilt

    rows = tuple(
        GridRow(
            layer=layer,
            dose=dose,
            score=rate(0.5 + 0.38 * bump(layer, dose), 0.08, trials=64, units=8),
            rise=rate(0.6 * bump(layer, dose) - 0.04, 0.12, trials=64, units=8),
            unrelated=rate(0.5 * bump(layer, dose) - 0.02, 0.12, trials=64, units=8),
            mean_kl=0.05 * dose**1.6,
            mean_entropy=2.1 - 0.05 * dose,
            coverage=0.96 - 0.03 * dose,
        )
        for layer in LAYERS
        for dose in DOSES
    )
    return Grid(
        setting=setting,
        score_name="prompts on which the contrast rises",
        rise_name='rise of "injected" over no injection',
        rows=rows,
    )


def selection() -> Selection:
    grids = (grid("instruction"), grid("conversation", 0.06))
    best = max((row for each in grids for row in each.rows), key=lambda row: row.rise.value)
    return Selection(
        grids=grids,
        chosen=Cell(layer=9, dose=2.0),
        chosen_setting="instruction",
        naive=best.rise,
        naive_cell=Cell(layer=best.layer, dose=best.dose),
        naive_setting="conversation",
        confirmed=rate(0.144, 0.063),
    )


def matrix(title: str, answers: tuple[str, ...]) -> ResponseMatrix:
    def row(arm: str, label: str, kind: Kind | None, index: int) -> MatrixRow:
        weights = [1.0 + 0.9 * (place == index % len(answers)) for place in range(len(answers))]
        shares = [0.985 * weight / sum(weights) for weight in weights]
        return MatrixRow(
            arm=arm,
            label=label,
            kind=kind,
            shares=tuple(rate(share) for share in shares),
            spread=tuple(0.04 + 0.05 * share for share in shares),
            invalid=0.015,
            coverage=0.951 - 0.02 * index,
            mean_kl=0.27 * index,
            mean_entropy=1.93 - 0.1 * index,
        )

    rows = [row(arm, label, kind, index) for index, (arm, (label, kind)) in enumerate(KINDS.items())]
    return ResponseMatrix(title=title, answers=answers, rows=tuple(rows), note="Ties count as invalid.")


def by_concept() -> Picture:
    marks = [
        Mark(label=name, estimate=rate(0.4 + 0.012 * i, 0.15, trials=24, units=4), emphasis=i > 20)
        for i, name in enumerate(JUDGING)
    ]
    return Picture(
        title='Rate of "injected" by concept',
        axis='Share of trials on which the report said "injected"',
        unit="share",
        marks=tuple(marks),
        lines=(Line(label="no injection", value=0.487),),
    )


def findings() -> tuple[FindingResult, ...]:
    both = tuple(detection(condition) for condition in Condition)
    setting = {"framing": "instruction", "answers": "3", "layer": "9", "dose": "2"}
    return (
        FindingResult(
            name="detection-2",
            title="Detection, two answers",
            asked="Was a thought injected, or nothing?",
            setting={**setting, "answers": "2"},
            results=(both[0], detection(Condition.Y_SHOWN, Verdict.INSUFFICIENT)),
            selection=selection(),
            matrices=(matrix("Two answers", ("injected", "nothing")),),
            pictures=(by_concept(),),
            prompt="Someone may add a thought to your activations.\n\nTrial 1: Which kind of trial is this one?",
        ),
        FindingResult(
            name="detection-3",
            title="Detection, three answers",
            asked="Was a thought injected, the prompt manipulated, or nothing?",
            setting=setting,
            results=both,
            matrices=(matrix("Three answers", ("injected", "manipulated", "nothing")),),
            notes=("Settings are those of two answers.",),
        ),
        *choices(),
    )


def choices() -> tuple[FindingResult, ...]:
    places = choice(
        Capability.LOCALISATION, 5, 0.231, Verdict.INSUFFICIENT, {"most abstract sentence": 0.228, "clean": 0.2}
    )
    named = choice(
        Capability.IDENTIFICATION, 4, 0.412, Verdict.ANOMALY_ONLY, {"any word": 0.403, "untold, any word": 0.395}
    )
    words = choice(Capability.RECONSTRUCTION, 2, 0.711, Verdict.PUBLIC_INFERENCE, {"any word": 0.702})
    strength = choice(Capability.CHARACTERISATION, 2, 0.557, Verdict.AVAILABLE_NOT_REPORTED, {"clearer copy": 0.531})
    return (
        FindingResult(
            name="localisation",
            title="Localisation",
            asked="During which of five sentences was the thought injected?",
            results=(places,),
            matrices=(matrix("Places", tuple(f"sentence {i}" for i in range(1, 6))),),
        ),
        FindingResult(
            name="strength", title="Strength", asked="Which of two injections was stronger?", results=(strength,)
        ),
        FindingResult(
            name="choice",
            title="Identification in a list",
            asked="Which of these concepts was it?",
            results=(named,),
            matrices=(matrix("Concepts", JUDGING[:10]),),
        ),
        FindingResult(name="naming", title="Naming", asked="Which concept, in its own words?", results=(named, words)),
        FindingResult(
            name="confidence",
            title="Confidence",
            asked="How likely is the report to be right?",
            results=(confidence(),),
        ),
        FindingResult(
            name="lifted",
            title="After the injection has ended",
            asked="Was a thought injected in the turn before?",
            pictures=(
                Picture(
                    title="Rise by the time of the question",
                    axis="Rise of “injected”",
                    unit="points",
                    marks=(
                        Mark(label="in the same turn", estimate=rate(0.144), emphasis=True),
                        Mark(label="in the next turn", estimate=rate(0.02)),
                    ),
                    lines=(Line(label="no rise", value=0.0),),
                ),
            ),
        ),
    )


def published() -> Picture:
    marks = (
        Mark(label="this run, two answers", estimate=rate(0.631), emphasis=True),
        Mark(label="large model, best cell of its grid", estimate=rate(0.42, 0.13, trials=50, units=50)),
        Mark(label="large model, no injection", estimate=rate(0.02, 0.02, trials=100, units=100)),
    )
    return Picture(title='Rates of "injected"', axis='Share of "injected"', unit="share", marks=marks)


def known_answers() -> tuple[KnownAnswer, ...]:
    rows = {
        "wire": ("Reads the vector at the site.", Verdict.PRIVILEGED),
        "smoke alarm": ("Says yes to any disturbance.", Verdict.ANOMALY_ONLY),
        "length reporter": ("Answers to the length of what is added.", Verdict.ANOMALY_ONLY),
        "denier": ("Has the state at hand, and always says no.", Verdict.AVAILABLE_NOT_REPORTED),
    }
    return tuple(
        KnownAnswer(
            reporter=name,
            description=text,
            capability=Capability.DETECTION,
            expected=verdict,
            obtained=verdict,
            passed=True,
            reasons=("It came out so for a reason.",),
        )
        for name, (text, verdict) in rows.items()
    )


def injection_document(**changes: Any) -> InjectionDocument:
    """A document with all parts."""
    fields: dict[str, Any] = {
        "claim": InjectionClaim(concepts=CHOOSING + JUDGING),
        "claim_hash": "3f7a" * 16,
        "model": ModelCard(
            name="smollm2",
            architecture="LlamaForCausalLM",
            layers=30,
            parameters=134_515_008,
            weights_sha256="a1" * 32,
            tokenizer_sha256="b2" * 32,
            template_sha256="c3" * 32,
            dtype="float32",
            device="cpu",
        ),
        "package_version": "0.2.0",
        "started": NOON,
        "finished": NOON + timedelta(seconds=1462),
        "concepts_choosing": CHOOSING,
        "concepts_judging": JUDGING,
        "findings": findings(),
        "transfer": tuple(
            TransferRow(new=new, explained=f"{new.capitalize()} than those that chose.", report=rate(r), probe=p)
            for new, r, p in (
                ("other concepts", 0.71, rate(0.93, 0.03)),
                ("other layers", 0.58, rate(0.55)),
                ("other vectors of the same concepts", 0.66, rate(0.81)),
                ("other labels", 0.52, None),
            )
        ),
        "published": (published(),),
        "published_sources": ("Lindsey (2025), emergent introspective awareness: 20% of trials in the best cell.",),
        "known_answers": known_answers(),
        "instrument_ok": True,
        "limits": ("One model, 32 concepts and one way of making vectors.",),
        "reproduce": ("pip install firsthand==0.2.0", "firsthand injection --model smollm2 --claim claim.yaml"),
        "notes": ("Raw vectors were scaled to unit norm.",),
    }
    return InjectionDocument(**{**fields, **changes})


def hostile_document(text: str) -> InjectionDocument:
    """The same with one hostile text wherever a text may stand."""
    plain = injection_document()
    grids = tuple(
        each.model_copy(update={"setting": text, "score_name": text, "rise_name": text}) for each in selection().grids
    )
    picked = selection().model_copy(update={"grids": grids, "chosen_setting": text, "naive_setting": text})
    result = detection(Condition.Y_WITHHELD).model_copy(
        update={"reasons": (text,), "observers": (observer(text, 0.1, 0.1),)}
    )
    chosen = choice(Capability.LOCALISATION, 5, 0.3, Verdict.INSUFFICIENT, {text: 0.2})
    shares = matrix(text, (text, "nothing"))
    rows = tuple(row.model_copy(update={"label": text, "arm": text}) for row in shares.rows)
    picture = Picture(
        title=text,
        axis=text,
        unit="share",
        marks=(Mark(label=text, estimate=rate(0.4)),),
        lines=(Line(label=text, value=0.2),),
    )
    finding = FindingResult(
        name="detection-2",
        title=text,
        asked=text,
        setting={text: text},
        results=(result, chosen),
        selection=picked,
        matrices=(shares.model_copy(update={"rows": rows, "note": text}),),
        pictures=(picture,),
        notes=(text,),
        prompt=text,
    )
    known = plain.known_answers[0].model_copy(update={"reporter": text, "description": text, "reasons": (text,)})
    return plain.model_copy(
        update={
            "model": plain.model.model_copy(update={"name": text, "architecture": text}),
            "claim_hash": text,
            "findings": (finding,),
            "transfer": (TransferRow(new=text, explained=text, report=rate(0.5)),),
            "published": (picture,),
            "published_sources": (text,),
            "known_answers": (known,),
            "limits": (text,),
            "reproduce": (text,),
            "notes": (text,),
            "concepts_judging": (text,),
        }
    )
