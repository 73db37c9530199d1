"""The rows that a command works on: a table in memory, or files that are read in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from catalpa.cli.outputs import label_columns
from catalpa.errors import ParameterError, UnknownColumn

if TYPE_CHECKING:
    import pyarrow as pa

    from catalpa.table.blocks import FloatArray
    from catalpa.table.files.scan import Scan


@dataclass(frozen=True)
class Asked:
    """Which table the user named, and how to read it."""

    path: str
    columns: list[str] | None = None
    drop: list[str] | None = None
    id: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    weight: str | None = None
    decimal: str = "."
    against: str | None = None
    na: list[str] | None = None

    @property
    def aside(self) -> dict[str, str]:
        """Columns that are read and not clustered, by the option that names them."""
        named = {"--id": self.id, "--weight": self.weight, "--against": self.against}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def read(self) -> tuple[list[str] | None, list[str] | None]:
        """Columns to keep and to drop such that those aside are read along, whatever they say."""
        aside = list(dict.fromkeys(self.aside.values()))
        # Otherwise --columns would hide the very column that names the rows.
        wanted = self.columns and [*self.columns, *(name for name in aside if name not in self.columns)]
        return wanted, [name for name in self.drop or [] if name not in aside] or None


class Input(Protocol):
    """What a command needs of its rows."""

    @property
    def rows(self) -> Any:
        """What is given to ``fit``."""

    @property
    def weights(self) -> FloatArray | None:
        """Weight of every row, if a column of weights is named."""

    @property
    def against(self) -> Any:
        """The column that is crossed with the clusters, if one is named."""

    def tables(self) -> Iterator[Any]:
        """The same rows as tables in memory, one after another."""

    @property
    def names(self) -> Any:
        """What the rows are called, if a column that says so is named."""

    def labels(self, labels: Any, names: list[str] | None, beside: Mapping[str, Any]) -> Iterator[pa.Table]:
        """The labels behind the identifiers, as one table after another, with what else is told of each."""


@dataclass(frozen=True, eq=False)
class WholeInput:
    """A table in memory, and beside it the identifiers and weights of its rows, if they are named."""

    rows: pa.Table
    identifiers: pa.Table | None
    weights: FloatArray | None = None
    against: Any = None

    def tables(self) -> Iterator[pa.Table]:
        yield self.rows

    @property
    def names(self) -> Any:
        if self.identifiers is None:
            return None
        (name,) = self.identifiers.column_names
        return self.identifiers.column(name).to_pandas().rename(name)

    def labels(self, labels: Any, names: list[str] | None, beside: Mapping[str, Any]) -> Iterator[pa.Table]:
        yield label_columns(labels, self.identifiers, names, beside)


@dataclass(frozen=True, eq=False)
class StreamedInput:
    """Files that are read in batches, and the same files with the identifiers alone."""

    rows: Scan
    identifiers: Scan | None
    weights: None = None
    against: None = None
    names: None = None

    def tables(self) -> Iterator[pa.Table]:
        return self.rows.batches()

    def labels(self, labels: Any, names: list[str] | None, beside: Mapping[str, Any]) -> Iterator[pa.Table]:
        def part(start: int, rows: int, identifiers: pa.Table | None) -> pa.Table:
            here = slice(start, start + rows)
            own = {name: values[here] for name, values in beside.items()}
            return label_columns(labels[here], identifiers, names, own)

        yield from (part(*place) for place in self._places(len(labels)))

    def _places(self, rows: int) -> Iterator[tuple[int, int, pa.Table | None]]:
        """Where each piece begins, how many rows it has, and what these are called."""
        # In pieces as large as those that are read: the text of all labels may be larger than memory.
        step, start = self.rows.rows_per_batch, 0
        if self.identifiers is None:
            yield from ((start, step, None) for start in range(0, rows, step))
            return
        for batch in self.identifiers.batches():
            yield start, batch.num_rows, batch
            start += batch.num_rows


def take(asked: Asked, *, stream: bool, memory: str | None) -> Input:
    """The rows that the user named, in memory or to be read in batches."""
    if memory is not None and not stream:
        raise ParameterError("--memory goes with --stream: without it all rows are in memory together.")
    # The default of catalpa.scan.
    return _streamed(asked, memory or "500MB") if stream else _whole(asked)


def _whole(asked: Asked) -> WholeInput:
    from catalpa.table.files.sources import read_table

    columns, drop = asked.read
    rows = read_table(
        asked.path,
        delimiter=asked.delimiter,
        encoding=asked.encoding,
        decimal=asked.decimal,
        na=asked.na or (),
        columns=columns,
        drop=drop,
    )
    aside = asked.aside
    _check_there(aside, rows.column_names)
    identifiers = None if asked.id is None else rows.select([asked.id])
    weights = None if asked.weight is None else _weights(asked.weight, rows)
    # As a series, which knows its name.
    against = None if asked.against is None else rows.column(asked.against).to_pandas().rename(asked.against)
    return WholeInput(rows.drop_columns(list(set(aside.values()))), identifiers, weights, against)


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

    columns, drop = asked.read
    files = scan(
        asked.path,
        columns=columns,
        drop=drop,
        delimiter=asked.delimiter,
        encoding=asked.encoding,
        decimal=asked.decimal,
        na=asked.na or (),
        memory=memory,
    )
    if asked.id is None:
        return StreamedInput(files, None)
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
