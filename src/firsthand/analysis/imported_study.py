"""One published table in the project's terms: what an importer hands over, checked before anything is computed.

Every row is one *distinct measurement*. Columns have fixed meanings, and each check of
:mod:`firsthand.analysis.checks` runs wherever the columns that it needs are there:

===============  ======================================================================================
``trial_id``     unique name of the row
``repeats``      published answers that this row stands for
``identical``    whether all of them were the same (copies of one deterministic answer)
``kind``         a value of :class:`~firsthand.vocabulary.Kind`, or missing where none fits
``truth``        the right answer, as text
``answer``       the answer given, as text; missing is *invalid*, never "no"
``correct``      share of the answers that were right, 0 to 1; missing where ``scorable`` is false or unknown
``scorable``     whether there is a right answer at all (false by design where no state was set)
``contrast``     logit of the first option minus logit of the second
``coverage``     probability mass on the valid answers
``arm``          the publisher's name for what was done
``input_hash``   of everything that went into the forward pass
``prompt_hash``  of the visible text alone: what an observer could see
``twin``         name of a pair that differs in the state only
``state``        the private state, as text
``observer:X``   share of the same answers that observer X of the public evidence got right
``coherent``     whether the answer is coherent text
``reply``        the answer to the question itself, where a cue in the prompt pointed at an option; missing is invalid
``hinted``       the option that the cue pointed at; missing where there was no cue
``key``          the right option
``followed``     1 where ``reply`` is the option hinted at, 0 where it is another, missing where there is none
``text_answer``  the option that the published text itself names, by a plain rule; missing where it cannot tell
``text_cut``     whether the published text was cut short
``denies``       whether the published text says that there is no cue, by a plain rule
``orphan``       the answer of a row that was asked about a response that never came; missing elsewhere
``stated:X``     the publisher's derived column X, as text
``derived:X``    the same, computed anew from the columns that it rests on; missing where they do not allow it
cells, clusters  further columns, named by the study
===============  ======================================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from firsthand.analysis.inference import FloatArray
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Kind

REQUIRED = ("trial_id", "repeats", "identical", "kind")

NOBODY = "none"
"""The unit of a measurement that no concept, carrier or seed went into."""


@dataclass(frozen=True)
class RowWords:
    """What rows are called in sentences.

    Attributes:
        affected: Rows in which the state was set.
        quiet: Rows in which it was not.
        nothing: That it was not, as a clause.
        gap: Name of the finding that there are no quiet rows.
        control: The question that would show whether "yes" is said whatever is asked.
    """

    affected: str = "injected rows"
    quiet: str = "rows without injection"
    nothing: str = "nothing was injected"
    gap: str = "no-uninjected-rows"
    control: str = "an unrelated yes/no question under the same injections"


@dataclass(frozen=True, eq=False)
class ImportedStudy:
    """A table of distinct measurements and what its columns are.

    Attributes:
        name: Usable as a file name.
        title: What was asked, as a sentence fragment.
        capability: What a report was asked for.
        table: The measurements (see the module's table of columns).
        clusters: Columns that name independent units, the most important first.
        cells: Columns that name a setting, such as layer and dose.
        options: Answers that could be given; the first is the one that ``contrast`` favours when positive.
        chance: The chance rate that the publishers state.
        control: Whether the question is one that a report of the state would leave alone.
        dose: The column of ``cells`` that is the strength of what was done.
        main_arm: The value of ``arm`` that the claim is about.
        crossed: Two cluster columns that were combined freely, for the crossed bootstrap.
        pair: The column that names the pair of which only the order is exchanged, then others that both orders share.
        within: The column of training runs over which a pair of twins is averaged.
        published_rows: Rows in the published files.
        words: What rows with and without the state are called.
        in_prompt: What is asked about, as a noun, where it stands in the visible prompt for anyone to read.
        notes: What was left out while reading, and why.
    """

    name: str
    title: str
    capability: Capability
    table: pd.DataFrame
    clusters: tuple[str, ...]
    cells: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    chance: float | None = None
    control: bool = False
    dose: str | None = None
    main_arm: str | None = None
    crossed: tuple[str, str] | None = None
    pair: tuple[str, ...] = ()
    within: str | None = None
    published_rows: int = 0
    words: RowWords = RowWords()
    in_prompt: str | None = None
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Check columns and values.

        Raises:
            AnalysisError: A column is missing, a value impossible, a trial repeated, or no cluster is named.
        """
        named = [*self.clusters, *self.cells, *(self.crossed or ()), *self.pair]
        named += [name for name in (self.dose, self.within) if name is not None]
        missing = [name for name in (*REQUIRED, *named) if name not in self.table.columns]
        if missing:
            raise AnalysisError(
                f"The table of study {self.name!r} lacks the columns: {', '.join(dict.fromkeys(missing))}.",
                "Add them in the importer, or name other columns.",
            )
        if not self.clusters:
            raise AnalysisError(
                f"Study {self.name!r} names no cluster columns, so it is unknown which rows are independent.",
                "Name at least one, e.g. ('concept',).",
            )
        if self.table.empty:
            raise AnalysisError(f"Study {self.name!r} has no rows.", "Leave it out, and say why in the notes.")
        self._check_values()

    def _check_values(self) -> None:
        table = self.table
        if table["trial_id"].duplicated().any():
            raise AnalysisError(f"Study {self.name!r} repeats a trial_id.", "Give every measurement its own.")
        strange = set(table["kind"].dropna().astype(str)) - {kind.value for kind in Kind}
        if strange:
            raise AnalysisError(
                f"Study {self.name!r} has unknown kinds: {', '.join(sorted(strange))}.",
                f"Use {', '.join(kind.value for kind in Kind)}, or leave the kind missing.",
            )
        for name in ("correct", "coverage"):
            if name in table:
                values = table[name].to_numpy(dtype=np.float64)
                if not (np.isnan(values) | ((values >= -1e-6) & (values <= 1 + 1e-6))).all():
                    raise AnalysisError(
                        f"Column {name!r} of study {self.name!r} has values outside 0 to 1.", "Give shares."
                    )
        for name in (*self.clusters, *self.cells):
            if table[name].isna().any():
                raise AnalysisError(
                    f"Column {name!r} of study {self.name!r} has empty values.",
                    f"Leave those rows out, or name the unit {NOBODY!r} where none went into the measurement.",
                )

    def has(self, *columns: str) -> bool:
        """Whether these columns exist and hold at least one value each."""
        return all(name in self.table.columns and bool(self.table[name].notna().any()) for name in columns)

    @property
    def judged(self) -> pd.DataFrame:
        """Rows that the claim is about: of the main arm, with the state set, and scored."""
        table = self.table
        keep = np.ones(len(table), dtype=bool)
        if self.main_arm is not None:
            keep &= table["arm"].eq(self.main_arm).to_numpy()
        elif self.has("kind"):
            keep &= table["kind"].eq(Kind.TARGET.value).to_numpy()
        if self.has("correct"):
            keep &= table["correct"].notna().to_numpy()
        return table[keep]

    def units(self, column: str) -> int:
        """Independent units of a cluster column, among the rows that the claim is about."""
        return len(set(self.judged[column]) - {NOBODY}) or len(set(self.table[column]) - {NOBODY})


def column(table: pd.DataFrame, name: str) -> FloatArray:
    """A numeric column as floats ``[rows]``."""
    return table[name].to_numpy(dtype=np.float64)


def flags(mask: object) -> FloatArray:
    """1.0 where true, 0.0 where false, NaN where missing ``[rows]``."""
    return np.asarray(mask, dtype=np.float64)


def cell_name(names: Sequence[str], values: object) -> str:
    """A setting in words: ``layer 15, coeff 9, vec_type avg``."""
    parts = values if isinstance(values, tuple) else (values,)
    return ", ".join(f"{name} {_plain(value)}" for name, value in zip(names, parts, strict=True))


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float, np.integer, np.floating)) else str(value)
