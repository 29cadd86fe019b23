"""Published rates: read exactly or refused by line and column, and shown beside this run's own."""

from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from firsthand.analysis.results import Estimate
from firsthand.auditing.injection.published import COLUMNS, PublishedRate, compare, read_published
from firsthand.errors import AnalysisError
from firsthand.report.injection_document import FindingResult, MatrixRow, ResponseMatrix
from firsthand.studies.injection.arms import Arm

HEAD = ",".join(COLUMNS)
GOOD = "Reality check 2026,big-model,detection-2,target,injected,0.375,32"


def written(folder: Path, *lines: str) -> Path:
    path = folder / "rates.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_good_table_is_read_as_it_stands(tmp_path: Path) -> None:
    other = '"Doe, 2025",small,detection-3,clean,nothing,1,100'
    first, second = read_published(written(tmp_path, HEAD, GOOD, other))
    assert first == PublishedRate(
        source="Reality check 2026",
        model="big-model",
        question="detection-2",
        arm=Arm.TARGET,
        answer="injected",
        rate=0.375,
        n=32,
    )
    assert (second.source, second.arm, second.rate, second.n) == ("Doe, 2025", Arm.CLEAN, 1.0, 100)


def test_the_order_of_the_columns_does_not_matter(tmp_path: Path) -> None:
    turned = [",".join(reversed(line.split(","))) for line in (HEAD, GOOD)]
    assert read_published(written(tmp_path, *turned)) == read_published(written(tmp_path, HEAD, GOOD))


@pytest.mark.parametrize(
    "lines",
    [
        (HEAD,),
        (HEAD.replace(",n", ""), GOOD.removesuffix(",32")),
        (HEAD + ",year", GOOD + ",2026"),
        (HEAD.replace("answer", "reply"), GOOD),
        (HEAD.replace("answer", "arm"), GOOD),
    ],
)
def test_missing_or_further_columns_and_empty_tables_are_refused(tmp_path: Path, lines: tuple[str, ...]) -> None:
    with pytest.raises(AnalysisError, match="has the columns") as caught:
        read_published(written(tmp_path, *lines))
    assert ", ".join(COLUMNS) in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "column"),
    [
        (("0.375", "1.2"), "rate"),
        (("0.375", "-0.1"), "rate"),
        (("0.375", "nan"), "rate"),
        (("0.375", ""), "rate"),
        (("0.375", "37%"), "rate"),
        ((",32", ",0"), "n"),
        ((",32", ",3.5"), "n"),
        (("detection-2", "detection"), "question"),
        (("target", "steered"), "arm"),
        (("injected", "yes"), "answer"),
        (("big-model", ""), "model"),
        (("Reality check 2026", ""), "source"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line_and_column(
    tmp_path: Path, change: tuple[str, str], column: str
) -> None:
    with pytest.raises(AnalysisError, match=rf"line 3, {column}: "):
        read_published(written(tmp_path, HEAD, GOOD, GOOD.replace(*change)))


def test_several_wrong_values_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"line 2, rate.*line 4, n"):
        read_published(written(tmp_path, HEAD, GOOD.replace("0.375", "2"), GOOD, GOOD.replace(",32", ",0")))


def test_blank_lines_do_not_shift_the_numbers_of_lines(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="line 4, rate"):
        read_published(written(tmp_path, HEAD, GOOD, "", GOOD.replace("0.375", "2")).rename(tmp_path / "b.csv"))


def test_a_file_that_is_missing_or_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="cannot be read"):
        read_published(tmp_path / "nowhere.csv")
    for content in (b"", b"\xff\xfe\x00\x01", b'a,b\n"open'):
        (tmp_path / "bad.csv").write_bytes(content)
        with pytest.raises(AnalysisError):
            read_published(tmp_path / "bad.csv")
    with pytest.raises(AnalysisError, match="cannot be read"):
        read_published(tmp_path)


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (12, 32), (100, 100), (1, 1)])
@pytest.mark.parametrize("alpha", [0.025, 0.05])
def test_its_interval_is_wilsons(hits: int, n: int, alpha: float) -> None:
    rate = PublishedRate(
        source="s", model="m", question="detection-2", arm=Arm.CLEAN, answer="injected", rate=hits / n, n=n
    )
    made = rate.estimate(alpha)
    assert (made.low, made.high) == pytest.approx(proportion_confint(hits, n, 2 * alpha, "wilson"))
    assert made.value == hits / n
    assert made.level == pytest.approx(1 - 2 * alpha)
    assert (made.units, made.n_trials) == (n, n)


def share(value: float) -> Estimate:
    return Estimate(value=value, low=0.0, high=1.0, level=0.9, n_trials=24, units=24, cluster="concept")


def finding(name: str, answers: tuple[str, ...], shares: dict[str, tuple[float, ...]]) -> FindingResult:
    rows = tuple(
        MatrixRow(
            arm=arm,
            label=arm,
            shares=tuple(map(share, values)),
            spread=tuple(0.0 for _ in values),
            invalid=0.0,
            coverage=1.0,
            mean_kl=0.0,
            mean_entropy=0.0,
        )
        for arm, values in shares.items()
    )
    return FindingResult(
        name=name, title=name, asked="", matrices=(ResponseMatrix(title="", answers=answers, rows=rows),)
    )


def rate(question: str, arm: str, answer: str, source: str = "s", model: str = "m") -> PublishedRate:
    return PublishedRate.model_validate(
        {"source": source, "model": model, "question": question, "arm": arm, "answer": answer, "rate": 0.5, "n": 10}
    )


def test_this_runs_own_rate_of_the_same_question_arm_and_answer_stands_beside_them() -> None:
    findings = [
        finding("detection-2", ("injected", "nothing"), {"clean": (0.1, 0.9), "target": (0.3, 0.7)}),
        finding("detection-3", ("injected", "manipulated", "nothing"), {"target": (0.2, 0.35, 0.45)}),
    ]
    rates = [
        rate("detection-2", "target", "injected"),
        rate("detection-2", "target", "injected", "t", "other"),
        rate("detection-3", "target", "manipulated"),
        rate("detection-2", "clean", "nothing", "t"),
    ]
    pictures, sources = compare(findings, rates, "mine", 0.05)
    assert [[mark.label for mark in picture.marks] for picture in pictures] == [
        ["mine, this run", "m (s)", "other (t)"],
        ["mine, this run", "m (s)"],
        ["mine, this run", "m (t)"],
    ]
    assert [picture.marks[0].estimate.value for picture in pictures] == [0.3, 0.35, 0.9]
    assert [mark.emphasis for mark in pictures[0].marks] == [True, False, False]
    assert sources == ("s", "t")


@pytest.mark.parametrize(
    "asked",
    [
        ("detection-3", "target", "injected"),
        ("detection-2", "sham", "injected"),
        ("detection-2", "target", "manipulated"),
    ],
)
def test_where_this_run_has_no_such_rate_only_the_published_ones_are_shown(asked: tuple[str, str, str]) -> None:
    findings = [finding("detection-2", ("injected", "nothing"), {"target": (0.3, 0.7)})]
    (picture,), _ = compare(findings, [rate(*asked)], "mine", 0.05)
    assert [mark.label for mark in picture.marks] == ["m (s)"]
