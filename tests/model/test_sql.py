"""A query gives the labels of ``predict``: in DuckDB, in SQLite, and in a PostgreSQL server that is there."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from sklearn.exceptions import ConvergenceWarning

import catalpa
from catalpa import datasets
from catalpa.errors import ParameterError, SqlError
from catalpa.estimator.model_json import restored
from catalpa.model.file import read
from catalpa.model.scoring import DensityScale, Scoring
from catalpa.model.sql import sql_query
from catalpa.model.sql_dialect import DIALECTS, SqlDialect, rounded
from catalpa.steps.assign import label_rows
from catalpa.steps.scores import FixedScores, log_mixture, posterior
from catalpa.table import encode, infer

duckdb = pytest.importorskip("duckdb")

pytestmark = pytest.mark.filterwarnings("ignore::catalpa.errors.CatalpaWarning", "ignore:Only:UserWarning")

ID = "row id"
TYPES = {"O": "TEXT", "T": "TEXT", "b": "BOOLEAN", "i": "BIGINT", "f": "DOUBLE PRECISION", "M": "TIMESTAMP"}


class Database:
    """A database that makes a table of a frame and runs a query on it."""

    def labels(self, frame, make_query, table="rows"):
        """The labels of the query, in the order of the row ids that it selects first."""
        return [None if label is None else int(label) for _, label in self.answers(frame, make_query, table)]


class DuckDb(Database):
    dialect = "duckdb"

    def answers(self, frame, make_query, table="rows"):
        with duckdb.connect() as database:
            _create(lambda text: database.execute(text), frame, table)
            marks = ", ".join("?" * len(frame.columns))
            for row in _cells(frame):
                database.execute(f"INSERT INTO {_quoted(table)} VALUES ({marks})", row)
            return sorted(database.execute(make_query(self.dialect)).fetchall())

    def numbers(self, expression):
        with duckdb.connect() as database:
            return database.execute(f"SELECT {expression}").fetchone()


class Sqlite(Database):
    dialect = "sqlite"

    def answers(self, frame, make_query, table="rows"):
        database = sqlite3.connect(":memory:")
        _create(database.execute, frame, table)
        marks = ", ".join("?" * len(frame.columns))
        database.executemany(f"INSERT INTO {_quoted(table)} VALUES ({marks})", _cells(frame))
        found = database.execute(make_query(self.dialect)).fetchall()
        database.close()
        return sorted(found)

    def numbers(self, expression):
        database = sqlite3.connect(":memory:")
        found = database.execute(f"SELECT {expression}").fetchone()
        database.close()
        return found


class Postgres(Database):
    dialect = "postgres"

    def __init__(self, folder, as_user):
        self.folder, self.as_user = folder, as_user

    def run(self, script):
        ended = subprocess.run(
            [
                *self.as_user,
                "psql",
                "-h",
                str(self.folder),
                "-d",
                "postgres",
                "-qAt",
                "--csv",
                "-v",
                "ON_ERROR_STOP=1",
            ],
            input=script,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert ended.returncode == 0, ended.stderr[:2000]
        return list(csv.reader(io.StringIO(ended.stdout)))

    def answers(self, frame, make_query, table="rows"):
        script = ["DROP TABLE IF EXISTS " + _quoted(table)]
        _create(script.append, frame, table)
        rows = ", ".join(f"({', '.join(map(_literal, row))})" for row in _cells(frame))
        script.append(f"INSERT INTO {_quoted(table)} VALUES {rows}")
        script.append(make_query(self.dialect))
        rows = self.run(";\n".join(script))
        return sorted((int(row), *(float(cell) if cell else None for cell in cells)) for row, *cells in rows)

    def numbers(self, expression):
        return [float(cell) for cell in self.run(f"SELECT {expression}")[0]]


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _create(execute, frame, table):
    columns = ", ".join(f"{_quoted(name)} {TYPES[kind.kind]}" for name, kind in frame.dtypes.items())
    execute(f"CREATE TABLE {_quoted(table)} ({columns})")


def _cells(frame):
    plain = frame.astype(object)
    plain = plain.where(frame.notna(), None)
    return [
        [cell.isoformat(sep=" ") if isinstance(cell, pd.Timestamp) else cell for cell in row]
        for row in plain.itertuples(index=False, name=None)
    ]


def _literal(cell):
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        return "'" + cell.replace("'", "''") + "'"
    return f"'{cell!r}'"


@pytest.fixture(scope="session")
def postgres():
    """A server of our own, on a socket in a folder of our own, ended with the tests."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if sys.platform == "linux" else []
    places = os.pathsep.join([os.environ.get("PATH", ""), *map(str, found)])
    programs = {name: shutil.which(name, path=places) for name in ("initdb", "postgres", "pg_ctl", "psql")}
    if not all(programs.values()):
        pytest.skip("PostgreSQL's initdb, pg_ctl and psql are not on this machine")
    # PostgreSQL refuses to run as root.
    as_user = ["runuser", "-u", "postgres", "--"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        folder.chmod(0o777)
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        steps = [
            [programs["initdb"], "-D", str(folder / "data"), "-E", "UTF8", "--locale=C", "-A", "trust"],
            [
                programs["pg_ctl"],
                "-D",
                str(folder / "data"),
                "-l",
                str(folder / "log"),
                "-w",
                "-o",
                options,
                "start",
            ],
        ]
        for step in steps:
            ended = subprocess.run([*as_user, *step], capture_output=True, text=True, check=False, cwd=folder)
            if ended.returncode:
                pytest.skip(f"PostgreSQL does not start here: {ended.stderr.strip()[-300:]}")
        yield Postgres(folder, as_user)
        stop = [*as_user, programs["pg_ctl"], "-D", str(folder / "data"), "-m", "immediate", "stop"]
        subprocess.run(stop, capture_output=True, check=False, cwd=folder)


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return {"duckdb": DuckDb, "sqlite": Sqlite}[request.param]()


def numbered(frame):
    return frame.assign(**{ID: range(len(frame))})


def check_equal(database, model, frame, expected=None):
    """The query and ``predict`` give the rows of a frame the same labels."""
    labels = model.predict(frame).tolist() if expected is None else expected
    found = database.labels(numbered(frame), lambda dialect: model.to_sql(dialect=dialect, keep=[ID]))
    assert found == labels


def mixed_frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    blank = rng.random(n) < 0.15
    return pd.DataFrame(
        {
            "colour": np.where(rng.random(n) < 0.1, None, np.array(["red", "blue", "O'Brien"])[group]),
            "town": [
                f"town {(3 * place + at) % 40}"
                for place, at in zip(rng.integers(0, 14, n), group, strict=True)
            ],
            "member": rng.random(n) < 0.3 + 0.3 * (group == 1),
            "height": rng.normal(170 + 8 * group, 9.0),
            "income": np.where(blank, np.nan, np.exp(rng.normal(8 + group, 1.0))),
        }
    )


# ---- by hand


def test_the_nearest_mode_is_found_by_hand(database):
    model = catalpa.KModes(2, init=pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}))
    model.fit(pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"]}))
    # x,v and new,old are as near to either mode: the lowest cluster. new,v and y,u: 1, then a tie.
    rows = pd.DataFrame({"a": ["x", "y", "x", "new", "new", "y"], "b": ["u", "v", "v", "old", "v", "u"]})
    check_equal(database, model, rows, expected=[0, 1, 0, 0, 1, 0])


def test_numbers_in_a_database_are_the_texts_that_say_them(database):
    text = pd.DataFrame({"a": ["1", "1", "2", "2"], "b": ["3", "3", "4", "4"]})
    model = catalpa.KModes(2, init=pd.DataFrame({"a": ["1", "2"], "b": ["3", "4"]})).fit(text)
    check_equal(database, model, pd.DataFrame({"a": [1, 2, 1], "b": [3, 4, 4]}), expected=[0, 1, 0])


def test_a_model_of_parts_of_dates_has_no_query():
    frame = pd.DataFrame({"day": pd.date_range("2023-01-01", periods=40)})
    with pytest.raises(SqlError, match=r"parts of dates or items of lists.*those of \['day'\]"):
        catalpa.KModes(2, random_state=0).fit(frame).to_sql()


def test_an_empty_table_has_no_labels(database):
    model = catalpa.KModes(1).fit(pd.DataFrame({"a": ["x", "y"]}))
    if database.dialect != "postgres":
        rows = pd.DataFrame({"a": pd.Series([], dtype=object)})
        query = lambda dialect: model.to_sql(dialect=dialect, keep=[ID])  # noqa: E731
        assert database.labels(numbered(rows), query) == []


def scoring_of(frame, table, missing="category", **numbers):
    """A model made by hand: whole costs of categories, and of numbers what ``numbers`` says."""
    schema = infer(frame, missing=missing)
    k = np.shape(table)[1]
    means = np.asarray(numbers.get("means", np.zeros((k, 0))))
    parts = {"anchor": np.zeros(k, dtype=np.int64), "means": means, "level": np.zeros(means.shape)}
    parts |= {"scale": np.zeros(means.shape), "power": 2, "shift": 40} | numbers
    fixed = FixedScores(axis=schema.axis.with_special_places, table=np.asarray(table), root=False, **parts)
    return Scoring(schema, fixed, "ignore")


def test_a_tie_is_as_wide_as_the_number_of_columns(database):
    rows = pd.DataFrame({"a": ["x", "y", "z"]})
    scoring = scoring_of(rows, [[5, 4], [6, 4], [3, 9], [0, 0], [9, 9]])
    make = lambda dialect: sql_query(scoring, dialect=dialect, keep=[ID])  # noqa: E731
    assert database.labels(numbered(rows), make) == [0, 1, 0]


def test_numbers_half_way_between_ticks_go_to_the_even_tick(database):
    # Cluster 0 costs the number's distance from 0, cluster 1 always two ticks: beyond them it is nearer.
    numbers = {"means": np.array([[0.0], [np.nan]]), "scale": np.ones((2, 1)), "power": 1}
    numbers["anchor"] = np.array([0, 2 * 2**16])
    known = pd.DataFrame({"n": [0.0, 0.5, 0.25, 1.0]})
    scoring = scoring_of(known, np.zeros((0, 2), dtype=np.int64), **numbers)
    rows = pd.DataFrame({"n": np.array([0.5, 1.5, 2.5, 2.5000001, 3.0, 3.5, -2.5, -3.5]) / 2**24})
    make = lambda dialect: sql_query(scoring, dialect=dialect, keep=[ID])  # noqa: E731
    assert database.labels(numbered(rows), make) == [0, 0, 0, 1, 1, 1, 0, 1]


@pytest.mark.parametrize("missing", ["category", "ignore", "error"])
@pytest.mark.parametrize("power", [1, 2])
def test_a_number_adds_its_level_only_where_it_is_there(database, missing, power):
    rng = np.random.default_rng(power)
    known = pd.DataFrame({"a": rng.choice(list("xyz"), 300), "n": rng.random(300), "m": rng.random(300)})
    rows = known.copy()
    rows.loc[::3, "n"] = np.nan
    rows.loc[::5, "m"] = np.nan
    numbers = {
        "means": rng.random((4, 2)),
        "scale": rng.random((4, 2)),
        "level": rng.normal(-0.5, 0.5, (4, 2)),
        "power": power,
    }
    costs = rng.integers(-(2**38), 2**38, (5, 4))
    scoring = scoring_of(known, costs, missing, anchor=rng.integers(-(2**38), 2**38, 4), **numbers)
    complete = rows.notna().all(axis=1).to_numpy()
    held = rows[complete] if missing == "error" else rows
    block = scoring.schema.scaling.apply(encode(held, scoring.schema).rows.blocks[0])
    found = label_rows(block, scoring.fixed)
    assert (found != label_rows(block, replace(scoring.fixed, level=np.zeros((4, 2)), prepared={}))).any()
    expected = np.full(len(rows), None)
    expected[complete if missing == "error" else slice(None)] = found
    make = lambda dialect: sql_query(scoring, dialect=dialect, keep=[ID])  # noqa: E731
    assert database.labels(numbered(rows), make) == expected.tolist()


def test_a_query_without_levels_does_not_speak_of_them():
    rows = pd.DataFrame({"n": [0.0, 0.5, 1.0]})
    numbers = {"means": np.array([[0.25], [0.75]]), "scale": np.ones((2, 1))}
    make = lambda **more: sql_query(scoring_of(rows, np.zeros((0, 2), dtype=int), **numbers, **more))  # noqa: E731
    assert "+ (CAST(1 AS DOUBLE)" not in make()
    assert "(CAST(-3 AS DOUBLE) / 2) + CAST(1 AS DOUBLE)" in make(level=np.full((2, 1), -1.5))


# ---- whole methods on known tables


@pytest.mark.parametrize(
    "model",
    [
        catalpa.Grove(7, n_init=1, random_state=0),
        catalpa.DISC(7, random_state=0),
        catalpa.KModes(7, random_state=0),
        catalpa.KModes(7, dissimilarity="ng", random_state=0),
        catalpa.HDC(4, random_state=0),
        catalpa.CURE(4, random_state=0),
        catalpa.SigDT(),
        catalpa.WOCIL(4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_zoo_gets_the_labels_of_predict(database, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        frame = datasets.load("zoo").frame.astype(str)
        strange = frame.head(20).assign(legs="seven")
        check_equal(database, model.fit(frame), pd.concat([frame, strange], ignore_index=True))


@pytest.mark.parametrize(
    "model",
    [
        catalpa.Grove(3, n_init=1, random_state=0),
        catalpa.KPrototypes(3, random_state=0),
        catalpa.DISC(3, random_state=0),
        catalpa.HARR(3, random_state=0),
        catalpa.KModes(3, bins=5, random_state=0),
        catalpa.KPrototypes(3, missing="ignore", random_state=0),
    ],
    ids=["Grove", "KPrototypes", "DISC", "HARR", "KModes-binned", "KPrototypes-ignoring"],
)
def test_mixed_tables_with_holes_get_the_labels_of_predict(database, model):
    model.fit(mixed_frame())
    fresh = mixed_frame(300, seed=1)
    fresh.loc[::7, "town"] = "nowhere"
    fresh.loc[::11, "height"] = np.nan
    fresh.loc[3, "height"], fresh.loc[4, "height"], fresh.loc[5, "income"] = 1e300, -1e300, 5e-300
    check_equal(database, model, fresh)


def test_rows_may_come_from_a_model_file(database, tmp_path):
    frame = mixed_frame()
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(frame)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.to_sql(dialect=database.dialect) == model.to_sql(dialect=database.dialect)
    check_equal(database, again, frame)


class Shaped(catalpa.KPrototypes):
    """k-prototypes on clipped numbers and ordered bins."""

    _numbers = "shape"


def shaped_frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = mixed_frame(n, seed)
    return frame.assign(visits=np.where(rng.random(n) < 0.5, 0, rng.integers(1, 60, n)))


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_shaped_numbers_get_the_labels_of_predict(database, missing, tmp_path):
    model = Shaped(3, missing=missing, random_state=0).fit(shaped_frame())
    kinds = {column.name: (column.clipped, column.binned) for column in model.schema_.columns}
    assert kinds["height"] == (True, False)
    assert kinds["income"] == kinds["visits"] == (False, True)
    fresh = shaped_frame(300, seed=1)
    fresh["visits"] = fresh["visits"].astype(float)
    fresh.loc[::11, "height"] = np.nan
    fresh.loc[::13, "visits"] = np.nan
    fresh.loc[:5, "height"] = [1e300, -1e300, *limits_of(model, "height"), 0.0, 400.0]
    fresh.loc[6:9, "income"] = [1e300, -1e300, *model.schema_.columns[4].edges[:2]]
    check_equal(database, model, fresh)
    model.save(tmp_path / "model.json")
    again = restored(read(tmp_path / "model.json"), Shaped)
    assert again.schema_ == model.schema_
    assert again.to_sql(dialect=database.dialect) == model.to_sql(dialect=database.dialect)
    assert again.predict(fresh).tolist() == model.predict(fresh).tolist()


def limits_of(model, name):
    (column,) = (column for column in model.schema_.columns if column.name == name)
    return column.low, column.high


def test_a_number_beyond_the_limits_costs_as_much_as_the_limit():
    model = Shaped(3, random_state=0).fit(shaped_frame())
    low, high = limits_of(model, "height")
    rows = shaped_frame(4)
    inside, outside = (rows.assign(height=values) for values in ([low, high] * 2, [-1e300, high + 0.5] * 2))
    assert model.transform(inside).tolist() == model.transform(outside).tolist()


# ---- probabilities


def check_soft(database, model, frame):
    """Labels as in ``predict``; probabilities and outlier scores to 1e-6."""
    query = lambda dialect: model.to_sql(dialect=dialect, keep=[ID], probabilities=True)  # noqa: E731
    found = database.answers(numbered(frame), query)
    assert [row[1] for row in found] == model.predict(frame).tolist()
    shares, certainty, scores = model.predict_proba(frame), *np.array([row[-2:] for row in found], float).T
    np.testing.assert_allclose(np.array([row[2:-2] for row in found], float), shares, atol=1e-6, rtol=0)
    np.testing.assert_allclose(certainty, shares.max(axis=1), atol=1e-6, rtol=0)
    np.testing.assert_allclose(scores, model.outlier_scores(frame), atol=1e-6, rtol=0)
    return found


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("k", [1, 4])
def test_probabilities_are_those_of_the_model(database, k, missing):
    model = catalpa.Grove(k, n_init=1, missing=missing, random_state=0).fit(mixed_frame())
    fresh = mixed_frame(300, seed=1)
    fresh.loc[::7, "town"] = "nowhere"
    fresh.loc[::11, "height"] = np.nan
    fresh.loc[3, "height"], fresh.loc[4, "height"], fresh.loc[5, "income"] = 1e300, -1e300, 5e-300
    found = check_soft(database, model, fresh)
    assert any(row[-1] > 1.5 for row in found)


def test_a_cluster_that_is_out_of_the_question_has_no_probability(database):
    # More than 700 nats apart: an exponential that PostgreSQL would refuse to take.
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    columns = {f"c{at}": np.where(group, "x", "y") for at in range(300)}
    rows = pd.DataFrame({**columns, "noise": rng.choice(list("ab"), 120)})
    model = catalpa.Grove(2, n_init=1, random_state=0).fit(rows)
    found = check_soft(database, model, rows)
    assert min(min(row[2:4]) for row in found) == 0.0


def test_many_clusters_have_probabilities(database):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.choice(list("xyz"), 50)})
    made = scoring_of(rows, rng.integers(-(2**41), 2**41, (5, 130)))
    scoring = replace(made, density_scale=DensityScale(0.0, 2.0))
    make = lambda dialect: sql_query(scoring, dialect=dialect, keep=[ID], probabilities=True)  # noqa: E731
    found = np.array(database.answers(numbered(rows), make), dtype=float)
    block = encode(rows, scoring.schema).rows.blocks[0]
    np.testing.assert_allclose(found[:, 2:-2], posterior(block, scoring.fixed), atol=1e-6, rtol=0)
    scores = np.maximum(-log_mixture(block, scoring.fixed), 0) / 2
    np.testing.assert_allclose(found[:, -1], scores, atol=1e-6, rtol=0)


def test_refused_rows_have_no_probabilities(database):
    model = catalpa.Grove(2, missing="error", handle_unknown="error", n_init=1, random_state=0)
    model.fit(pd.DataFrame({"a": ["x", "x", "y", "y"], "n": [0.0, 0.1, 0.9, 1.0]}))
    rows = pd.DataFrame({"a": ["x", None, "y", "z"], "n": [0.0, 0.0, np.nan, 1.0]})
    query = lambda dialect: model.to_sql(dialect=dialect, keep=[ID], probabilities=True)  # noqa: E731
    first, *others = database.answers(numbered(rows), query)
    assert None not in first
    assert [row[1:] for row in others] == [(None,) * 5] * 3


def test_columns_of_probabilities_have_names_of_their_own(small):
    model = catalpa.Grove(2, n_init=1, random_state=0).fit(mixed_frame()[["colour", "member"]])
    model.name_clusters({0: "first"})
    with duckdb.connect() as database:
        database.execute("CREATE TABLE rows AS SELECT 'red' AS colour, TRUE AS member")
        found = database.execute(model.to_sql(keep=["colour"], label="group", probabilities=True))
        named = [name for name, *_ in found.description]
        assert named == [
            *("colour", "group", "group_name", "probability_0", "probability_1"),
            *("certainty", "outlier_score"),
        ]
        assert found.fetchall()[0][2] in model.cluster_names_
    with pytest.raises(ParameterError, match="two columns of one name"):
        model.to_sql(keep=["Certainty"], probabilities=True)
    model.to_sql(keep=["Certainty"])
    with pytest.raises(ParameterError, match="KModes assigns every row to one cluster and has no membership"):
        small.to_sql(probabilities=True)


# ---- names of tables


@pytest.mark.parametrize("table", ["catalpa_rows", "Catalpa_Costs", "catalpa_given", "_catalpa_rows"])
def test_a_table_may_be_called_as_a_part_of_the_query(database, table):
    frame = mixed_frame(60)
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(frame)
    make = lambda dialect: model.to_sql(dialect=dialect, table=table, keep=[ID])  # noqa: E731
    assert database.labels(numbered(frame), make, table) == model.labels_.tolist()


# ---- rules for cells


def test_refused_rows_get_no_label(database):
    model = catalpa.KPrototypes(2, missing="error", handle_unknown="error", random_state=0)
    model.fit(pd.DataFrame({"a": ["x", "x", "y", "y"], "n": [0.0, 0.1, 0.9, 1.0]}))
    rows = pd.DataFrame({"a": ["x", None, "y", "z", "y"], "n": [0.0, 0.0, np.nan, 1.0, 1.0]})
    first, last = model.predict(rows.iloc[[0, 4]]).tolist()
    check_equal(database, model, rows, expected=[first, None, None, None, last])


def test_a_missing_cell_may_be_a_category_a_stranger_or_nothing(database):
    rows = pd.DataFrame({"a": ["x", None, "y", "x", None], "b": ["u", "u", "v", None, None]})
    for missing, known in (("category", rows), ("category", rows.dropna()), ("ignore", rows)):
        check_equal(database, catalpa.KModes(2, missing=missing, random_state=0).fit(known), rows)


def test_a_column_of_nothing_but_missing_cells_is_read(database):
    rows = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": pd.Series([None] * 4, dtype=object)})
    fresh = rows.assign(b=["new", None, "new", None])
    check_equal(database, catalpa.KModes(2, random_state=0).fit(rows), fresh)


def test_numbers_and_truths_may_be_categories(database):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "whole": rng.integers(0, 5, 80),
            "share": rng.choice([0.1, 0.25, 1 / 3, 2.0, np.nan], 80),
            "truth": rng.random(80) < 0.5,
        }
    )
    settings = {"categorical_features": ["whole", "share", "truth"], "random_state": 0}
    model = catalpa.KModes(4, **settings).fit(rows)
    fresh = rows.assign(share=rows["share"].replace(0.25, 0.75), whole=rows["whole"] + 1)
    check_equal(database, model, fresh)


def test_no_number_is_a_missing_number(postgres):
    rows = pd.DataFrame({"a": list("xxyy"), "n": [0.0, 0.1, 0.9, 1.0]})
    model = catalpa.KPrototypes(2, random_state=0).fit(rows)
    expected = model.predict(pd.DataFrame({"a": ["x", "y"], "n": [np.nan, np.nan]})).tolist()
    query = model.to_sql(dialect="postgres", keep=["a"])
    values = "(VALUES ('x', float8 'NaN'), ('y', float8 '-inf')) AS t (\"a\", \"n\")"
    made = f"CREATE TEMP TABLE rows AS SELECT * FROM {values}"
    assert sorted(postgres.run(f"{made};\n{query}")) == [["x", str(expected[0])], ["y", str(expected[1])]]
    with duckdb.connect() as database:
        database.execute(made)
        assert sorted(database.execute(model.to_sql(keep=["a"])).fetchall()) == [
            ("x", expected[0]),
            ("y", expected[1]),
        ]


def test_dates_are_categories(database):
    days = pd.to_datetime(["2024-01-01 00:00:00", "2024-01-01 00:00:00", "2024-05-06 07:08:09", None])
    rows = pd.DataFrame({"day": days, "a": ["x", "x", "y", "y"]})
    model = catalpa.KModes(2, random_state=0).fit(rows)
    fresh = rows.assign(a=["y", "x", "x", "y"])
    check_equal(database, model, fresh)


def test_names_and_categories_may_hold_anything_but_nul(database):
    odd = ["O'Brien", 'say "hi"', "back\\slash", "--", "zażółć 🌳", "", " ", "%s {} ;", "line\nbreak", "NULL"]
    name = 'odd "name"; DROP TABLE x -- ü'
    rows = pd.DataFrame({name: odd * 2, "select": ["a"] * 10 + ["b"] * 10})
    model = catalpa.KModes(6, random_state=0).fit(rows)
    table = 'my "rows"'
    found = database.labels(
        numbered(rows), lambda dialect: model.to_sql(dialect=dialect, table=table, keep=[ID]), table=table
    )
    assert found == model.predict(rows).tolist()


def test_more_clusters_than_a_function_takes_arguments(database):
    rows = pd.DataFrame({"a": [f"c{at}" for at in range(110)], "b": ["u", "v"] * 55})
    check_equal(database, catalpa.KModes(105, random_state=0).fit(rows), rows)


def test_more_columns_than_a_database_joins(database):
    rng = np.random.default_rng(0)
    narrow = {f"c{at}": rng.integers(0, 3, 60).astype(str) for at in range(60)}
    wide = {f"w{at}": rng.permutation(60).astype(str) for at in range(52)}
    rows = pd.DataFrame({**narrow, **wide})
    check_equal(database, catalpa.KModes(2, random_state=0).fit(rows), rows)


# ---- numbers, exactly


def doubles():
    finite = st.floats(allow_nan=False, allow_infinity=False)
    return st.one_of(finite, st.floats(-2.0, 2.0), st.integers(-(2**60), 2**60).map(float))


@given(value=doubles())
def test_a_double_is_written_exactly(value):
    for database in (DuckDb(), Sqlite()):
        assert database.numbers(SqlDialect(database.dialect).double(value)) == (value,)


def test_doubles_are_written_exactly_for_postgresql(postgres):
    rng = np.random.default_rng(0)
    values = [0.1, 1 / 3, -2.5, 0.0, 1e308, -1e-308, 5e-324, 2.0**53, 2.0**900, *rng.normal(size=50).tolist()]
    words = SqlDialect("postgres")
    assert postgres.numbers(", ".join(map(words.double, values))) == values


HALVES = [
    0.5,
    1.5,
    2.5,
    -0.5,
    -1.5,
    -2.5,
    0.49999999999999994,
    2.0**51 + 0.5,
    -(2.0**51) - 1.5,
    2.0**58,
    3.7,
    -0.2,
]


def test_halves_are_rounded_to_even(database):
    words = SqlDialect(database.dialect)
    expressions = ", ".join(rounded(words.double(value)) for value in HALVES)
    assert list(database.numbers(expressions)) == np.rint(HALVES).tolist()


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=25)
@given(data=st.data())
def test_odd_tables_get_the_labels_of_predict(data):
    texts = st.one_of(st.none(), st.sampled_from(["a", "A", "a ", "é", "e\u0301", "'", '"', "1", "true"]))
    numbers = st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([0.0, 0.1, 1e-300, 1e300, -1e300]))

    def table(least):
        rows = data.draw(st.lists(st.tuples(texts, texts, numbers), min_size=least, max_size=12))
        frame = pd.DataFrame(rows, columns=["t", "u", "n"])
        return frame.astype({"t": object, "u": object, "n": float})

    kind = data.draw(st.sampled_from([catalpa.KPrototypes, catalpa.DISC, catalpa.Grove]))
    missing = data.draw(st.sampled_from(["category", "ignore"]))
    known = table(3)
    if known["n"].isna().all():
        known.loc[0, "n"] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(2, n_init=1, missing=missing, random_state=0).fit(known)
        fresh = pd.concat([known, table(0)], ignore_index=True)
        for database in (DuckDb(), Sqlite()):
            check_equal(database, model, fresh)


@pytest.mark.parametrize("size", [1.7e308, 1e-306, 1e-310, 1.0])
def test_numbers_of_any_size_get_the_labels_of_predict(database, size):
    shares = [-1.0, -0.9, 0.25, 0.9, 1.0, 0.0, 2.0**-25, -(2.0**-40)]
    rows = pd.DataFrame({"a": list("xxyyxyxy"), "n": [size * share for share in shares]})
    model = catalpa.KPrototypes(3, gamma=0.01, random_state=0).fit(rows)
    check_equal(database, model, pd.concat([rows, rows.assign(n=np.roll(rows["n"], 3))], ignore_index=True))


def test_a_cluster_may_have_no_number_at_all(database):
    rows = pd.DataFrame({"a": list("xxyy"), "b": list("uuvv"), "n": [0.25, 0.75, np.nan, np.nan]})
    for model in (catalpa.KPrototypes(2, random_state=0), catalpa.DISC(2, random_state=0)):
        check_equal(database, model.fit(rows), rows.assign(n=[np.nan, 0.5, 1.0, np.nan]))


# ---- what is refused, and the shape of the query


@pytest.fixture
def small():
    return catalpa.KModes(2, random_state=0).fit(pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "u", "v"]}))


def test_the_columns_of_the_model_are_kept_unless_others_are_named(small):
    with duckdb.connect() as database:
        database.execute("CREATE TABLE rows AS SELECT 'x' AS a, 'u' AS b, 5 AS key")
        assert [name for name, *_ in database.execute(small.to_sql()).description] == ["a", "b", "cluster"]
        query = small.to_sql(keep=[], label="group")
        assert [name for name, *_ in database.execute(query).description] == ["group"]


def test_a_table_may_be_in_a_schema(small):
    with duckdb.connect() as database:
        database.execute("CREATE SCHEMA survey")
        database.execute("CREATE TABLE survey.people AS SELECT 'y' AS a, 'v' AS b")
        query = small.to_sql(table=("survey", "people"), keep=[])
        assert database.execute(query).fetchall() == [
            (int(small.predict(pd.DataFrame({"a": ["y"], "b": ["v"]}))[0]),)
        ]


def test_two_columns_of_one_name_are_refused(small):
    with pytest.raises(ParameterError, match="two columns of one name"):
        small.to_sql(keep=["Cluster"])


def test_a_column_that_the_table_lacks_is_no_text(small):
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE "rows" (a TEXT, b TEXT, key TEXT)')
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database.execute(small.to_sql(dialect="sqlite", keep=["nothing"]))
    database.execute('ALTER TABLE "rows" RENAME COLUMN a TO other')
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database.execute(small.to_sql(dialect="sqlite", keep=["key"]))
    database.close()


def test_what_names_no_columns_and_no_table_is_refused(small):
    with pytest.raises(ParameterError, match=r"write \['key'\]"):
        small.to_sql(keep="key")
    with pytest.raises(ParameterError, match="table is empty"):
        small.to_sql(table=())
    with pytest.raises(ParameterError, match=r"keep=\[5\] is not valid"):
        small.to_sql(keep=[5], label=None)


@pytest.mark.parametrize("dialect", ["latin", "bigquery"])
def test_a_dialect_that_is_not_tested_is_refused_with_those_that_are(small, dialect):
    with pytest.raises(ParameterError, match="it can be 'duckdb', 'postgres', 'sqlite'"):
        small.to_sql(dialect=dialect)


def test_every_dialect_that_is_offered_is_run_here():
    assert set(DIALECTS) == {kind.dialect for kind in (DuckDb, Sqlite, Postgres)}


@pytest.mark.parametrize("value", ["nul \0 inside"])
def test_nul_is_refused_in_categories_and_names(value):
    model = catalpa.KModes(2, random_state=0).fit(pd.DataFrame({"a": [value, "x", "y"]}))
    with pytest.raises(SqlError, match="NUL"):
        model.to_sql()
    model = catalpa.KModes(2, random_state=0).fit(pd.DataFrame({value: ["x", "x", "y"]}))
    with pytest.raises(SqlError, match="Rename"):
        model.to_sql()


def test_a_column_of_several_types_is_refused():
    model = catalpa.KModes(2, random_state=0).fit(pd.DataFrame({"a": ["x", 1, True, "y"]}))
    with pytest.raises(SqlError, match="'a' has boolean and number and text categories"):
        model.to_sql()


def test_methods_that_are_no_sum_over_columns_refuse():
    frame = mixed_frame(60)
    with pytest.raises(SqlError, match="several partitions"):
        catalpa.MCDC(2, random_state=0).fit(frame[["colour", "member"]]).to_sql()
    with pytest.raises(SqlError, match="exponential"):
        catalpa.WOCIL(2, random_state=0).fit(frame[["colour", "height"]]).to_sql()


def test_a_row_does_not_change_cluster_for_what_other_rows_lack():
    frame = mixed_frame()
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(frame)
    full = frame.dropna(subset=["income"])
    assert model.predict(frame)[full.index].tolist() == model.predict(full).tolist()
