"""What every label study does once it is finished, and with a claim from a file."""

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import yaml
from commands import Command, Done, assert_refused, once

from firsthand.report.labels_document import LabelsDocument


@dataclass(frozen=True)
class Finished:
    """A study that was run to its end.

    Attributes:
        study: The command's name.
        out: Its folder.
        ask: The words of the command.
        done: How it ended.
    """

    study: str
    out: Path
    ask: tuple[str | Path, ...]
    done: Done

    @classmethod
    def of(cls, study: str, out: Path, *options: str | Path) -> "Finished":
        """Run a study."""
        ask = ("labels", study, *options, "--out", out)
        done = once(*ask)
        assert done.code == 0, done.err
        return cls(study, out, ask, done)

    @property
    def document(self) -> LabelsDocument:
        """Its document."""
        return LabelsDocument.model_validate_json((self.out / "result.json").read_text())

    @property
    def units(self) -> dict[Path, int]:
        """When each unit was finished."""
        return {path: path.stat().st_mtime_ns for path in self.out.rglob("units/*")}


def assert_goes_on(firsthand: Command, run: Finished, table: str, changed: tuple[str, str]) -> None:
    """The command that the document gives repeats the study, takes up what is there, and bears no further option."""
    written = {path.name for path in (run.out / "data").iterdir()}
    assert {f"{table}.csv", f"{table}.parquet", "data.csv"} <= written
    assert (run.out / "report.html").read_text().endswith("</html>")
    again, verify, report = run.document.reproduce
    assert again.startswith(f"firsthand labels {run.study} --claim {run.out / 'claim.frozen.json'}")
    assert (verify, report) == (f"firsthand verify {run.out}", f"firsthand report {run.out}")
    words = shlex.split(again.replace("NEW_FOLDER", str(run.out)))[1:]
    before = run.units
    done = firsthand(*words)
    assert done.out == run.done.out, done.err
    assert run.units == before
    assert_refused(firsthand(*words, *changed), "--claim holds all settings")
    assert_refused(firsthand(*run.ask, *changed), "claim changed")


def assert_kept_right(firsthand: Command, run: Finished, tmp_path: Path, units: int) -> None:
    """A finished study is verified, its page is written again, it is not rescored, and damage is noticed."""
    page, json, copy = tmp_path / "page.html", tmp_path / "again.json", tmp_path / "copy"
    assert f"{units} units: files as written." in firsthand("verify", run.out).out
    done = firsthand("report", run.out, "--out", page, "--json", json)
    assert done.code == 0, done.err
    assert page.read_text() == (run.out / "report.html").read_text()
    assert LabelsDocument.model_validate_json(json.read_text()) == run.document
    assert_refused(firsthand("rescore", run.out, "--observer", "table"), f"label study {run.study}", "its claim")
    shutil.copytree(run.out, copy)
    for shard in sorted(copy.rglob("reports/*.parquet"))[-1:]:
        whole = shard.read_bytes()
        shard.write_bytes(whole[:-1])
        assert_refused(firsthand("verify", copy), "truncated or altered", shard.name)
        shard.write_bytes(whole)
    for manifest in sorted(copy.rglob("manifest.json"))[-1:]:
        manifest.unlink()
        assert_refused(firsthand("verify", copy), "The claim calls for")
    (copy / "result.json").unlink()
    assert_refused(firsthand("verify", copy), "holds no finished run", f"firsthand labels {run.study} --out")


def assert_claimed(
    firsthand: Command, tmp_path: Path, study: str, model: str | Path, data: Path | None, small: dict[str, object]
) -> str:
    """A claim is written with the hash of its data, checked, frozen and priced, and refused once it was changed.

    Args:
        firsthand: Runs commands.
        tmp_path: Where the claim goes.
        study: The study.
        model: The model, or several with commas.
        data: The data; ``None`` for those that come with the package.
        small: Fields that are set otherwise.

    Returns:
        What the dry run prints.
    """
    path, given = tmp_path / "claim.yaml", () if data is None else ("--data", data)
    done = firsthand("claim", "new", path, "--study", study, "--model", model, *given)
    assert done.code == 0, done.err
    assert f"firsthand labels {study} --claim" in path.read_text()
    fields = {**yaml.safe_load(path.read_text()), **small}
    path.write_text(yaml.safe_dump(fields))
    assert "not frozen yet" in firsthand("claim", "check", path).out
    frozen = firsthand("claim", "freeze", path)
    assert frozen.code == 0, frozen.err
    assert "unchanged since" in firsthand("claim", "check", path).out
    ask = ("labels", study, *given, "--claim", path, "--dry-run")
    priced = firsthand(*ask)
    assert priced.code == 0, priced.err
    assert re.search(r"about \d+ (second|minute)", priced.out)
    digest = fields.get("data_sha256") or fields["pairs_sha256"]
    assert f"Data SHA-256: {digest}" in priced.out
    path.write_text(yaml.safe_dump({**fields, "title": "Another."}))
    assert_refused(firsthand(*ask), "claim.title was", "Another.")
    return priced.out
