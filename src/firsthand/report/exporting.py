"""Everything that a page shows as files for others to use: figures and tables in two folders.

``figures``
    Every chart of the page as ``NAME.svg`` and ``NAME.png``, on paper and under its title. Names begin with the
    finding: ``detection-3-grid-1-rise``, ``probe-curve-shots``; then come those of the study, such as ``published-1``.
``data``
    Every table as ``NAME.csv`` and ``NAME.parquet``. What the columns mean stands in :mod:`firsthand.report.tables`
    and beside it; further tables are written as they are. Lists stay lists in Parquet and are JSON in CSV; a missing
    value is empty.
"""

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from firsthand.report import svg
from firsthand.report.drawings import Drawing
from firsthand.report.files import ReportError, write_bytes, write_text
from firsthand.report.tables import writable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def export_files(
    drawings: Sequence[Drawing],
    own: Mapping[str, pd.DataFrame],
    folder: Path | str,
    tables: Mapping[str, pd.DataFrame],
) -> list[Path]:
    """Write every figure and every table.

    Args:
        drawings: The figures.
        own: Tables of the document, by name.
        folder: Where; missing folders are made, files of the same name are replaced.
        tables: Further tables by name, for instance all trials.

    Returns:
        The files written.

    Raises:
        ReportError: If a table has no usable name or one that is taken, or something cannot be drawn or written.
    """
    for name in tables:
        if _NAME.fullmatch(name) is None or name in own:
            raise ReportError(
                f"A table cannot be exported under the name '{name}'.",
                "Use letters, digits, dots, hyphens and underscores, and none of: " + ", ".join(own) + ".",
            )
    figures, data = Path(folder) / "figures", Path(folder) / "data"
    written = []
    for drawing in drawings:
        written.append(write_text(figures / f"{drawing.name}.svg", svg.to_svg(drawing.spec, title=drawing.title)))
        written.append(write_bytes(figures / f"{drawing.name}.png", svg.to_png(drawing.spec, title=drawing.title)))
    for name, table in {**own, **tables}.items():
        plain = _plain(table)
        written.append(write_bytes(data / f"{name}.csv", _csv(plain)))
        written.append(write_bytes(data / f"{name}.parquet", _parquet(plain, name)))
    return written


def _plain(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a fresh index and only text that a file can hold."""
    text = table.select_dtypes(include=["object", "string", "category"]).columns
    made = {name: table[name].map(writable) for name in text}
    return table.assign(**made).reset_index(drop=True)


def _csv(table: pd.DataFrame) -> bytes:
    listed = {name: table[name].map(_as_json) for name in table.columns if table[name].map(_is_list).any()}
    return table.assign(**listed).to_csv(index=False, lineterminator="\n").encode("utf-8")


def _parquet(table: pd.DataFrame, name: str) -> bytes:
    sink = io.BytesIO()
    try:
        table.to_parquet(sink, index=False, compression="zstd")
    except (TypeError, ValueError) as error:
        raise ReportError(
            f"The table '{name}' could not be written as Parquet: {error}.", "Give each column one kind of value."
        ) from error
    return sink.getvalue()


def _is_list(value: Any) -> bool:
    return (hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0) or isinstance(value, list | tuple)


def _as_json(value: Any) -> Any:
    if not _is_list(value):
        return value
    plain = value.tolist() if hasattr(value, "tolist") else list(value)
    return json.dumps(plain, ensure_ascii=False)
