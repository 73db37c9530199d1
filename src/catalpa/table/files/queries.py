"""Lazy queries: polars LazyFrames and DuckDB relations, executed once into a file.

A fit reads its rows several times, and a query may return them in a different order each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pyarrow as pa
import pyarrow.ipc

from catalpa.errors import CatalpaError, TableError
from catalpa.table.files.header import refuse_same_names


class Query(Protocol):
    """One query: its columns, and writing and reading its rows."""

    library: ClassVar[str]  # library of returned frames

    def names(self) -> list[str]:
        """Column names, without running the query."""

    def write(self, path: Path, rows: int) -> int:
        """Run the query into a file, in batches of about ``rows`` rows; returns the number of rows."""

    def read(self, path: Path, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Some columns of the rows in the file, in order, at most ``rows`` at a time."""


def query_of(X: Any) -> Query | None:
    """The query of a polars or DuckDB object, or None."""
    # No isinstance: it would need the package.
    kind = type(X)
    package = kind.__module__.partition(".")[0]
    if package == "polars" and kind.__name__ == "LazyFrame":
        return PolarsQuery(X)
    if package.lstrip("_") == "duckdb" and kind.__name__ == "DuckDBPyRelation":
        return DuckQuery(X)
    return None


@contextmanager
def running(what: str) -> Iterator[None]:
    """Context of a running query: its errors become a ``TableError`` with the library's reason."""
    try:
        yield
    except CatalpaError:
        raise
    except Exception as error:  # errors of any library or user function
        raise TableError(f"The query of {what} failed: {error}") from error


@dataclass(frozen=True, eq=False)
class PolarsQuery:
    """A polars LazyFrame, run by the streaming engine."""

    library: ClassVar[str] = "polars"
    frame: Any

    def names(self) -> list[str]:
        with running("the LazyFrame"):
            return list(self.frame.collect_schema().names())

    def write(self, path: Path, rows: int) -> int:
        import polars as pl

        with running("the LazyFrame"):
            self.frame.sink_ipc(path)
            return int(pl.scan_ipc(path).select(pl.len()).collect().item())

    def read(self, path: Path, names: Sequence[str], rows: int) -> Iterator[Any]:
        import polars as pl

        frame = pl.scan_ipc(path)
        total = int(frame.select(pl.len()).collect().item())
        for start in range(0, total, rows):
            yield frame.slice(start, rows).select(list(names)).collect()


@dataclass(frozen=True, eq=False)
class DuckQuery:
    """A DuckDB relation, read as Arrow batches."""

    library: ClassVar[str] = "pandas"
    relation: Any

    def names(self) -> list[str]:
        names = list(self.relation.columns)
        refuse_same_names(names, "The DuckDB relation")
        return names

    def write(self, path: Path, rows: int) -> int:
        # Older versions of DuckDB use another name.
        read = getattr(self.relation, "to_arrow_reader", None) or self.relation.fetch_record_batch
        with running("the DuckDB relation"):
            reader, total = read(rows), 0
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
                    total += len(batch)
        return total

    def read(self, path: Path, names: Sequence[str], rows: int) -> Iterator[Any]:
        with pa.OSFile(str(path)) as source:
            reader = pa.ipc.open_file(source)
            for at in range(reader.num_record_batches):
                table = pa.Table.from_batches([reader.get_batch(at)]).select(list(names))
                for start in range(0, len(table), rows):
                    yield table.slice(start, rows)
