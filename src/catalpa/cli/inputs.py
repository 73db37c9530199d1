"""The rows that a command works on: a table in memory, or files that are read in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalpa.cli.options import CsvFile
from catalpa.cli.outputs import doubt_columns, label_columns
from catalpa.errors import ParameterError, UnknownColumn

if TYPE_CHECKING:
    import pyarrow as pa

    from catalpa.estimator.base import Clusterer
    from catalpa.table.blocks import FloatArray


@dataclass(frozen=True)
class Asked:
    """Which table the user named, how to read it, and which of its columns."""

    path: str
    csv: CsvFile
    columns: list[str] | None = None
    drop: list[str] | None = None
    id: str | None = None
    weight: str | None = None
    against: str | None = None

    @property
    def aside(self) -> dict[str, str]:
        """Columns that are read and not clustered, by the option that names them."""
        named = {"--id": self.id, "--weight": self.weight, "--against": self.against}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def reading(self) -> dict[str, Any]:
        """How the table is opened; columns aside are read along, whatever is kept or dropped."""
        aside, columns = list(dict.fromkeys(self.aside.values())), self.columns
        return {
            # Otherwise --columns would hide the very column that names the rows.
            "columns": columns and [*columns, *(name for name in aside if name not in columns)],
            "drop": [name for name in self.drop or [] if name not in aside] or None,
            **self.csv.reading,
        }


@dataclass(frozen=True, eq=False)
class Input:
    """A table in memory, and what is named of its rows beside it."""

    rows: Any  # what is given to ``fit``
    identifiers: Any = None  # what the rows are called: a table of one column
    names: Any = None  # the same as a series
    weights: FloatArray | None = None
    against: Any = None  # the column that is crossed with the clusters

    def tables(self) -> Iterator[pa.Table]:
        """The rows as tables in memory, one after another."""
        yield self.rows

    def labels(self, model: Clusterer, *, proba: bool) -> Iterator[pa.Table]:
        """The labels of the fit behind the identifiers, as one table after another; with doubts if asked."""
        doubts = doubt_columns(model, self.rows, model.labels_) if proba else {}
        start = 0
        for rows, identifiers in self._pieces(len(model.labels_)):
            here = slice(start, start + rows)
            own = {name: values[here] for name, values in doubts.items()}
            yield label_columns(model, model.labels_[here], identifiers, own)
            start += rows

    def _pieces(self, rows: int) -> Iterator[tuple[int, pa.Table | None]]:
        """How many rows each piece of the labels has, and what these are called."""
        yield rows, self.identifiers


class StreamedInput(Input):
    """Files that are read in batches: a scan of the rows, and one of the same files' identifiers alone."""

    def tables(self) -> Iterator[pa.Table]:
        batches: Iterator[pa.Table] = self.rows.batches()
        return batches

    def _pieces(self, rows: int) -> Iterator[tuple[int, pa.Table | None]]:
        # In pieces as large as those that are read: the text of all labels may be larger than memory.
        if self.identifiers is None:
            yield from ((self.rows.rows_per_batch, None) for _ in range(0, rows, self.rows.rows_per_batch))
        else:
            yield from ((batch.num_rows, batch) for batch in self.identifiers.batches())


def take(asked: Asked, *, stream: bool = False, memory: str | None = None) -> Input:
    """The rows that the user named, in memory or to be read in batches."""
    if memory is not None and not stream:
        raise ParameterError("--memory goes with --stream: without it all rows are in memory together.")
    # The default of catalpa.scan.
    return _streamed(asked, memory or "500MB") if stream else _whole(asked)


def _whole(asked: Asked) -> Input:
    from catalpa.table.files.sources import read_table

    rows = read_table(asked.path, **asked.reading)
    _check_there(asked.aside, rows.column_names)
    return Input(
        rows.drop_columns(list(set(asked.aside.values()))),
        None if asked.id is None else rows.select([asked.id]),
        _series(asked.id, rows),
        None if asked.weight is None else _weights(asked.weight, rows),
        _series(asked.against, rows),
    )


def _series(name: str | None, rows: pa.Table) -> Any:
    """A column as a series, which knows its name."""
    return None if name is None else rows.column(name).to_pandas().rename(name)


def _weights(name: str, rows: pa.Table) -> FloatArray:
    """The column of weights as numbers; a missing one is refused at fit."""
    import numpy as np
    import pyarrow as pa

    try:
        return np.asarray(rows.column(name).cast(pa.float64()), dtype=np.float64)
    except pa.ArrowInvalid as error:
        raise ParameterError(f"--weight names {name!r}, which holds more than numbers ({error}).") from error


def _streamed(asked: Asked, memory: str) -> StreamedInput:
    from catalpa.table.files.scan import scan

    for option in asked.aside.keys() - {"--id"}:
        raise ParameterError(f"{option} needs the rows in memory together. Leave out --stream.")
    files = scan(asked.path, **asked.reading, memory=memory)
    if asked.id is None:
        return StreamedInput(files)
    _check_there(asked.aside, files.names)
    # Two scans of the same files: identifiers would otherwise be read in every pass of the fit.
    kept = tuple(name for name in files.names if name != asked.id)
    return StreamedInput(files.only(kept), files.only((asked.id,)))


def _check_there(aside: dict[str, str], names: Iterable[str]) -> None:
    for option, name in aside.items():
        if name not in names:
            raise UnknownColumn(
                f"{option} names {name!r}, which is no column. The columns are {list(names)}."
            )
