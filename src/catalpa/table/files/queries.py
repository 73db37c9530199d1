"""Queries that have not been run: polars LazyFrames and DuckDB relations, run once into a file.

A fit reads its rows several times, and a query may give them in another order each time it is run.
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
    """One query: its columns, and its rows in a file and back."""

    library: ClassVar[str]  # of the frames that come back

    def names(self) -> list[str]:
        """The columns; nothing is run for them."""

    def write(self, path: Path, rows: int) -> int:
        """Run the query into a file, about so many rows at a time; gives the number of its rows."""

    def read(self, path: Path, names: Sequence[str], rows: int) -> Iterator[Any]:
        """The rows of the file in order, some columns of them, at most so many rows at a time."""


def query_of(X: Any) -> Query | None:
    """The query that an object stands for; None if it is none of polars or DuckDB."""
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
    """Around the running of a query: report in our words that it failed, with the library's reason."""
    try:
        yield
    except CatalpaError:
        raise
    except Exception as error:  # every library has errors of its own, and so have the functions of users
        raise TableError(f"The query of {what} failed: {error}") from error


@dataclass(frozen=True, eq=False)
class PolarsQuery:
    """A LazyFrame of polars, run by its streaming engine."""

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
    """A relation of DuckDB, read in batches of Arrow."""

    library: ClassVar[str] = "pandas"
    relation: Any

    def names(self) -> list[str]:
        names = list(self.relation.columns)
        refuse_same_names(names, "The DuckDB relation")
        return names

    def write(self, path: Path, rows: int) -> int:
        # An older DuckDB calls it by another name.
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
