"""Models of odd tables as queries: labels equal, probabilities to 1e-6, in DuckDB and SQLite."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from tests.fuzz.onnx_graphs import expected, new_model, odd_rows, table, weights

from catalpa.errors import CatalpaError, SqlError

ROW = "row of the case"
# By the beginning of the name of a column's type in pandas.
TYPES: Mapping[str, tuple[str, type]] = {
    "bool": ("BOOLEAN", bool),
    "int": ("BIGINT", int),
    "float": ("DOUBLE PRECISION", float),
}
TEXT = ("TEXT", str)


def fuzz(rng: Random, _folder: Path) -> str:
    """Fit a model, label rows by its query in both databases, and hold the answers against predict."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        frame = table(rng)
        # SQL has no names with NUL, and no empty ones, and takes upper and lower case as the same.
        frame.columns = [f"{at} {name}".replace("\0", "") for at, name in enumerate(frame.columns)]
        try:
            model = new_model(rng, frame).fit(frame, sample_weight=weights(rng, len(frame)))
        except CatalpaError:
            return "refused at fit"
        soft = hasattr(model, "predict_proba")
        types = {name: type_of(frame[name]) for name in frame}
        rows = whole_numbers(odd_rows(frame, rng), types)
        labels, shares, scores = expected(model, rows, soft=soft)
        refused = np.isnan(scores) if soft else labels < 0
        for dialect, answers_in in DATABASES.items():
            try:
                query = model.to_sql(dialect=dialect, keep=[ROW], probabilities=soft)
            except SqlError:
                return "refused by SQL"
            answers = answers_in(query, rows, types)
            given = [None if no else int(label) for label, no in zip(labels, refused, strict=True)]
            assert [row[1] for row in answers] == given, dialect
            if soft:
                check(answers, shares, scores, ~refused)
    return "soft" if soft else "hard"


def check(answers: list[Any], shares: Any, scores: Any, kept: Any) -> None:
    """Probabilities, certainty and outlier score of the rows that predict does not refuse."""
    k = shares.shape[1]
    values = np.array([row[2:] for row in answers], dtype=float)[kept]  # None becomes NaN
    np.testing.assert_allclose(values[:, :k], shares[kept], atol=1e-6, rtol=0)
    np.testing.assert_allclose(values[:, k], shares[kept].max(axis=1, initial=0.0), atol=1e-6, rtol=0)
    np.testing.assert_allclose(values[:, k + 1], scores[kept], atol=1e-6, rtol=1e-9)


def type_of(column: pd.Series) -> tuple[str, type]:
    """The type of a column in a database, and of its cells."""
    name = str(column.dtype).lower()
    return next((both for start, both in TYPES.items() if name.startswith(start)), TEXT)


def whole_numbers(rows: pd.DataFrame, types: Mapping[str, tuple[str, type]]) -> pd.DataFrame:
    """The rows without cells that a column of integers cannot hold."""
    for name, (_, kind) in types.items():
        if kind is int:
            rows[name] = [
                None if pd.isna(cell) or not float(cell).is_integer() else cell for cell in rows[name]
            ]
    return rows


def cells(rows: pd.DataFrame, types: Mapping[str, tuple[str, type]]) -> list[list[Any]]:
    """Rows as a database takes them, with their number in front."""
    columns = [
        [None if pd.isna(cell) else types[name][1](cell) for cell in rows[name].astype(object)]
        for name in rows
    ]
    return [[at, *row] for at, row in enumerate(zip(*columns, strict=True))]


def creation(types: Mapping[str, tuple[str, type]]) -> str:
    columns = [f"{quoted(name)} {kind}" for name, (kind, _) in types.items()]
    return f"CREATE TABLE rows ({quoted(ROW)} BIGINT, {', '.join(columns)})"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def in_duckdb(query: str, rows: pd.DataFrame, types: Mapping[str, tuple[str, type]]) -> list[Any]:
    with duckdb.connect() as database:
        database.execute(creation(types))
        insert = f"INSERT INTO rows VALUES ({', '.join('?' * (len(types) + 1))})"
        database.executemany(insert, cells(rows, types))
        return sorted(database.execute(query).fetchall())


def in_sqlite(query: str, rows: pd.DataFrame, types: Mapping[str, tuple[str, type]]) -> list[Any]:
    database = sqlite3.connect(":memory:")
    database.execute(creation(types))
    database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * (len(types) + 1))})", cells(rows, types))
    answers = database.execute(query).fetchall()
    database.close()
    return sorted(answers)


DATABASES: Mapping[str, Callable[..., list[Any]]] = {"duckdb": in_duckdb, "sqlite": in_sqlite}
