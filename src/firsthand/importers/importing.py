"""The whole way: read a folder, judge what it holds, and write trace and profile."""

from pathlib import Path

from firsthand.analysis.findings import ImportedProfile
from firsthand.analysis.imported_judging import LEVEL, judge_imported
from firsthand.importers.base import Importer, ImporterError
from firsthand.importers.store import refuse_foreign, write_profile, write_trace
from firsthand.progress import Progress, Silent


def import_study(importer: Importer, folder: Path, out: Path, progress: Progress | None = None) -> ImportedProfile:
    """Import a folder of published files.

    Args:
        importer: Who reads it.
        folder: Where the files are.
        out: Where ``trace/``, ``profile.json`` and ``findings.csv`` go.
        progress: Who is told how far it is.

    Returns:
        The profile; equal files give an equal one.

    Raises:
        ImporterError: The folder does not exist, or nothing in it can be used.
        TraceError: ``out`` cannot be written to.
    """
    shown = progress or Silent()
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise ImporterError(f"{folder} {what}.", "Name the folder that holds the published files.")
    refuse_foreign(out)
    shown.say(f"reading {folder}")
    imported = importer.read(folder)
    if not imported.studies:
        raise ImporterError(f"Nothing in {folder} could be used.", "Check the folder and the importer.")
    names = [study.name for study in imported.studies]
    if len(set(names)) < len(names):
        raise ImporterError(
            f"The importer gave two studies of one name: {', '.join(sorted(names))}.", "Name each study differently."
        )
    shown.say(f"judging {len(imported.studies)} studies")
    results = judge_imported(imported.studies)
    trace_digest = write_trace(out, importer.name, imported)
    profile = ImportedProfile(
        importer=importer.name,
        title=importer.title,
        level=LEVEL,
        sources=imported.sources,
        trace_digest=trace_digest,
        studies=results,
        notes=imported.notes,
    )
    write_profile(out, profile)
    return profile
