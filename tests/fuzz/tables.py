"""Odd tables of every kind through every method: clustered and told of in full, or refused with a sentence.

Where a table is clustered, the answers are held against each other: a model that was saved, rows in blocks,
and a query in a database give the labels that predict gives.
"""

from __future__ import annotations

import datetime as dt
import decimal
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
from tests.fuzz.models import attributes

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.errors import CatalpaError

WORDS = [
    "",
    " ",
    "x",
    "X",
    "é",
    "nan",
    "None",
    "1",
    "1.0",
    "\x00",
    "🌳",
    "'; DROP TABLE rows; --",
    '"',
    "%",
    "\\",
]
NAMES = [
    "a",
    "b",
    "",
    " ",
    "größe",
    "a,b",
    "=1+1",
    "cluster",
    "select",
    'a"b',
    "<b>",
    "rowid",
    "{{x}}",
    "a'b",
]
NUMBERS = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**64 - 1, -(2**63), 10**30]
FLOATS = [0.0, -0.0, 0.5, 1e-320, 1e300, -1e300, 1.7e308, float("nan"), float("inf"), 2.0**53]
MOMENTS = [dt.date(2020, 2, 29), dt.datetime(1, 1, 1), dt.time(3), dt.timedelta(1), np.datetime64("NaT")]
OTHERS = [b"\xff", b"x", decimal.Decimal("0.1"), decimal.Decimal("NaN"), 1j, [1], (1,), {"a": 1}, "\ud800"]
OTHERS += [np.longdouble("1e4000"), np.timedelta64(3, "M"), np.uint64(2**64 - 1), pd.NA, pd.Interval(0, 1)]
CELLS: dict[str, Callable[[Random], Any]] = {
    "words": lambda rng: rng.choice(WORDS),
    "letters": lambda rng: rng.choice("abc"),
    "codes": lambda rng: rng.randrange(5),
    "whole": lambda rng: rng.choice(NUMBERS),
    "floats": lambda rng: rng.choice(FLOATS),
    "smooth": lambda rng: rng.gauss(0, 1),
    "spiked": lambda rng: 0.0 if rng.random() < 0.7 else rng.expovariate(1),
    "truths": lambda rng: rng.random() < 0.5,
    "moments": lambda rng: rng.choice(MOMENTS),
    "missing": lambda _: None,
    "others": lambda rng: rng.choice(OTHERS),
    "mixed": lambda rng: rng.choice([*WORDS, *NUMBERS, *FLOATS, True, None]),
}
PLAIN = ("letters", "codes", "smooth", "spiked", "truths", "words")


def fuzz(rng: Random, folder: Path) -> str:
    """Make a table, cluster it and ask for everything."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        columns = made(rng)
        try:
            table = rng.choice(LIBRARIES)(columns)
        except (Exception, pl.exceptions.PanicException):  # a panic is no Exception: polars of Decimal("NaN")
            return "refused by its library"
        try:
            return clustered(rng, table, folder)
        except CatalpaError:
            return "refused"


def made(rng: Random) -> dict[str, list[Any]]:
    """Columns of odd cells; mostly plain ones, as a table of oddities alone is refused at once."""
    n = rng.choice((1, 2, 3, 7, 30, 120))
    names = rng.sample(NAMES, rng.randint(1, 4))
    columns = dict[str, list[Any]]()
    for name in names:
        kind = rng.choice(PLAIN) if rng.random() < 0.8 else rng.choice(sorted(CELLS))
        special_places = rng.choice((0, 0, 0.2))
        cells = [None if rng.random() < special_places else CELLS[kind](rng) for _ in range(n)]
        if columns and rng.random() < 0.3:  # mostly another column again, which Grove ties to it
            repeated = rng.choice(list(columns.values()))
            cells = [own if rng.random() < 0.1 else other for own, other in zip(cells, repeated, strict=True)]
        columns[name] = cells
    return columns


def frame_of_objects(columns: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def rows_of(columns: dict[str, list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns.values(), strict=True)]


LIBRARIES: tuple[Callable[[dict[str, list[Any]]], Any], ...] = (
    pd.DataFrame,
    pd.DataFrame,
    frame_of_objects,
    lambda columns: pd.DataFrame(columns).astype("category"),
    lambda columns: pl.DataFrame(columns, strict=False),
    pa.table,
    rows_of,
    lambda columns: np.array(rows_of(columns), dtype=object),
    lambda columns: np.array(rows_of(columns)),
)


def clustered(rng: Random, table: Any, folder: Path) -> str:
    method = rng.choice(sorted(METHODS))
    model = METHODS[method].estimator()
    wanted = {
        "n_clusters": rng.choice((1, 2, 3)),
        "random_state": rng.randrange(3),
        "n_init": 1,
        "missing": rng.choice(("category", "ignore", "error")),
        "handle_unknown": rng.choice(("ignore", "warn", "error")),
        "bins": rng.choice((None, None, 3)),
        "n_jobs": rng.choice((None, 2)),
    }
    model.set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})
    model.fit(table)
    labels = np.asarray(model.predict(table))
    assert len(labels) == len(model.labels_)
    assert ((labels >= 0) & (labels < model.n_clusters_)).all()
    ask_everything(model, table)
    model.save(folder / "model.json")
    again = catalpa.load(folder / "model.json")
    assert again.predict(table).tolist() == labels.tolist()
    assert np.array_equal(again.transform(table), model.transform(table), equal_nan=True)
    in_blocks(model, table, labels, folder)
    in_databases(model, table, labels)
    return "clustered"


def ask_everything(model: Any, table: Any) -> None:
    for name in sorted(attributes(type(model))):
        repr(getattr(model, name))
    repr(model)
    model._repr_html_()
    model.report(table).to_json()


def in_blocks(model: Any, table: Any, labels: np.ndarray, folder: Path) -> None:
    """The same rows from a file, in batches, get the same labels."""
    if not isinstance(table, pa.Table):
        return
    try:
        pa.feather.write_feather(table, folder / "rows.arrow", compression="uncompressed")
    except pa.ArrowException:
        return
    read = model.predict(catalpa.scan(folder / "rows.arrow"))
    assert read.tolist() == labels.tolist()


def in_databases(model: Any, table: Any, labels: np.ndarray) -> None:
    """A query gives the labels of predict, or NULL where predict refuses."""
    if not isinstance(table, pa.Table) or not all(map(sql_takes, table.schema.types)):
        return
    soft = hasattr(model, "predict_proba")
    try:
        queries = {name: model.to_sql(dialect=name, keep=[]) for name in ("duckdb", "sqlite")}
        with_probabilities = model.to_sql(keep=[], probabilities=True) if soft else None
    except CatalpaError:
        return
    with duckdb.connect() as base:
        base.register("rows", table)
        assert [row[0] for row in base.execute(queries["duckdb"]).fetchall()] == labels.tolist()
        if with_probabilities is not None:
            found = np.array(base.execute(with_probabilities).fetchall())
            assert found[:, 0].tolist() == labels.tolist()
            assert np.allclose(found[:, 1:-2], model.predict_proba(table), atol=1e-6, rtol=0)
            assert np.allclose(found[:, -1], model.outlier_scores(table), atol=1e-6, rtol=1e-9)
    if len({name.lower() for name in table.column_names}) == table.num_columns:
        in_sqlite(queries["sqlite"], table, labels)


def in_sqlite(query: str, table: pa.Table, labels: np.ndarray) -> None:
    base = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in table.column_names)
    try:
        base.execute(f"CREATE TABLE rows ({names})")
        marks = ", ".join("?" * table.num_columns)
        base.executemany(f"INSERT INTO rows VALUES ({marks})", zip(*table.to_pydict().values(), strict=True))
    except (sqlite3.Error, OverflowError):
        return  # what the database does not take, it cannot be asked for
    assert [row[0] for row in base.execute(query).fetchall()] == labels.tolist()


def sql_takes(kind: pa.DataType) -> bool:
    """Whether both databases hold the values of a type as they are."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_int64(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_null(kind)
    )
