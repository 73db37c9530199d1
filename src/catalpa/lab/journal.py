"""Rows of results on disk: appended one by one as runs finish, gathered into one Parquet file at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from catalpa.errors import ParameterError
from catalpa.lab.lines import append_line, whole_lines
from catalpa.model.atomic import write_atomically

__all__ = ["COLUMNS", "KEY", "Journal", "read_results"]

KEY = ["method", "variant", "dataset", "columns", "seed"]
COLUMNS: Mapping[str, str] = {
    "method": "str",
    "variant": "str",
    "dataset": "str",
    "columns": "str",
    "seed": "int64",
    "ACC": "float64",
    "ARI": "float64",
    "NMI": "float64",
    "AMI": "float64",
    "CMP": "float64",
    "clusters_asked": "int64",
    "clusters_left": "Int64",
    "largest_share": "float64",
    "one_cluster": "float64",
    "cost": "float64",
    "passes": "Int64",
    "seconds": "float64",
    "error": "str",
    "versions": "str",
}


class Journal:
    """Results at a path ending in ``.parquet``, with a line per newer row in a file beside it.

    Parameters
    ----------
    path : path
        Of the gathered results.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(pathlib.Path(folder, "results.parquet"))
    ...     journal.append({"method": "kmodes", "variant": "paper", "dataset": "ZO",
    ...                     "columns": "categorical", "seed": 0, "ACC": 0.5})
    ...     journal.gather()
    ...     read_results(journal.path)["ACC"].tolist()
    [0.5]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix != ".parquet":
            raise ParameterError(f"Results go into a .parquet file, not into {str(path)!r}.")
        self.lines = self.path.with_suffix(".jsonl")

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a row as one line that is on the disk when this returns."""
        append_line(self.lines, row)

    def rows(self) -> pd.DataFrame:
        """All rows, each key once (the newest), in the order of the keys."""
        gathered = pd.read_parquet(self.path) if self.path.exists() else pd.DataFrame()
        newer = pd.DataFrame([row for row in whole_lines(self.lines) if set(KEY) <= set(row)])
        both = [_typed(part) for part in (gathered, newer) if len(part)]
        if not both:
            return _typed(pd.DataFrame(columns=list(COLUMNS)))
        rows = pd.concat(both, ignore_index=True).drop_duplicates(KEY, keep="last")
        return rows.sort_values(KEY, ignore_index=True)

    def done(self) -> set[tuple[Any, ...]]:
        """Keys of the runs that have a row."""
        return set(self.rows()[KEY].itertuples(index=False, name=None))

    def gather(self) -> None:
        """Move all rows into the Parquet file."""
        self._keep(self.rows())

    def forget_failures(self) -> None:
        """Drop the rows of failed runs, so that they are run again."""
        rows = self.rows()
        self._keep(rows[rows["error"] == ""])

    def _keep(self, rows: pd.DataFrame) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, rows.to_parquet(index=False, compression="zstd"))
        self.lines.unlink(missing_ok=True)


def read_results(path: str | Path) -> pd.DataFrame:
    """Results of finished runs at ``path``, gathered or not yet."""
    journal = Journal(path)
    if not (journal.path.exists() or journal.lines.exists()):
        raise ParameterError(
            f"There are no results at {str(path)!r}. Make them with: catalpa lab run --results {path}"
        )
    return journal.rows()


def _typed(rows: pd.DataFrame) -> pd.DataFrame:
    filled = rows.reindex(columns=list(COLUMNS))
    texts = [name for name, kind in COLUMNS.items() if kind == "str"]
    filled[texts] = filled[texts].astype("object").fillna("")
    filled["clusters_asked"] = filled["clusters_asked"].astype("Int64").fillna(0)
    return filled.astype({**COLUMNS, **dict.fromkeys(texts, "object")})
