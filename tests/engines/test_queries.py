"""Lazy queries of polars and DuckDB are run once and streamed, with the labels of the collected table."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import catalpa
from catalpa.engines import stream
from catalpa.engines.local import opener_for
from catalpa.engines.stream import StreamEngine
from catalpa.errors import ParameterError, TableError, UnsupportedTable
from catalpa.table import infer, open_table

ROWS = 2500  # three batches of the fewest rows
SIZES = pl.Enum(["small", "middle", "large"])


@pytest.fixture
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, ROWS)
    noise = rng.random(ROWS) < 0.1
    return pl.DataFrame(
        {
            "colour": np.where(noise, "grey", np.array(["red", "green", "blue"])[group]).tolist(),
            "size": pl.Series(np.array(SIZES.categories)[group].tolist(), dtype=SIZES),
            "kind": pl.Series(np.array(["a", "b", "c"])[group].tolist(), dtype=pl.Categorical),
            "price": pl.Series(
                [None if skip else Decimal(int(at)) / 4 for at, skip in zip(group, noise, strict=True)]
            ),
            "day": [dt.date(2024, 1, 1 + int(at)) for at in group],
            "weight": rng.normal(group, 0.3).tolist(),
            "code": (group + 1).tolist(),
        }
    )


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(stream, "QUERY_MEMORY", 1)


@pytest.fixture
def relation(frame):
    with duckdb.connect() as connection:
        connection.register("rows", frame.with_columns(pl.col("size", "kind").cast(pl.String)).to_arrow())
        yield connection.sql("SELECT * FROM rows")


@pytest.mark.parametrize("method", [catalpa.Grove, catalpa.DISC])
def test_a_lazy_frame_gets_the_labels_of_the_collected_one(method, frame):
    lazy, model = frame.lazy(), method(3, random_state=0).fit(frame)
    streamed = method(3, random_state=0).fit(lazy)
    assert streamed.schema_ == model.schema_
    assert streamed.labels_.tolist() == model.labels_.tolist()
    assert streamed.cost_ == model.cost_
    assert model.predict(lazy).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(model.transform(lazy), model.transform(frame))


def test_a_relation_gets_the_labels_of_its_table(relation):
    table = relation.to_arrow_table() if hasattr(relation, "to_arrow_table") else relation.arrow()
    model = catalpa.Grove(3, random_state=0).fit(table)
    streamed = catalpa.Grove(3, random_state=0).fit(relation)
    assert streamed.labels_.tolist() == model.labels_.tolist()
    assert streamed.schema_ == model.schema_
    # As often as wanted: running it uses nothing up.
    for _ in range(2):
        np.testing.assert_array_equal(streamed.predict_proba(relation), model.predict_proba(table))


def test_queries_are_streamed(frame, relation):
    model = catalpa.KPrototypes(3, random_state=0).fit(frame)
    for query in (frame.lazy(), relation):
        opener = opener_for(query)
        batches = list(opener.table.batches())
        assert [len(batch) for batch in batches] == [1024, 1024, 452]
        assert opener.table.only(["day"]).names == ("day",)
        assert isinstance(model._engine(query), StreamEngine)


def test_a_query_is_run_once(frame):
    runs = []

    def counted(batch: pl.DataFrame) -> pl.DataFrame:
        runs.append(len(batch))
        return batch

    lazy = frame.lazy().map_batches(counted, schema=frame.schema)
    catalpa.Grove(3, random_state=0).fit(lazy)  # reads the rows three times: schema, shape, codes
    assert sum(runs) == ROWS


def test_a_query_in_a_place_for_tables_in_memory_is_collected(frame, relation):
    assert infer(frame.lazy()) == infer(frame)
    assert len(open_table(relation)) == ROWS
    model = catalpa.KModes(3, random_state=0, categorical_features=["code"])
    few = frame.select("colour", "code")
    model.partial_fit(few.lazy()).partial_fit(few.lazy())
    assert model._fitted.rows == 2 * ROWS


def test_few_rows_of_a_query_are_predicted(frame):
    model = catalpa.Grove(3, random_state=0).fit(frame)
    assert model.predict(frame.lazy().head(3)).tolist() == model.labels_[:3].tolist()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lazy: lazy.filter(pl.col("code") > 9), "The query gives no rows"),
        (lambda lazy: lazy.select("nonesuch"), r"The query of the LazyFrame failed: .*nonesuch"),
        (lambda lazy: lazy.select(pl.col("colour").cast(pl.Int64)), "The query of the LazyFrame failed"),
    ],
)
def test_a_query_that_fails_is_told(frame, change, told):
    with pytest.raises(TableError, match=told):
        catalpa.KModes(2).fit(change(frame.lazy()))


def test_a_relation_that_fails_is_told(relation):
    with pytest.raises(TableError, match="The query gives no rows"):
        catalpa.KModes(2).fit(relation.filter("code > 9"))
    with pytest.raises(TableError, match="The query of the DuckDB relation failed: Conversion Error"):
        catalpa.KModes(2).fit(relation.project("CAST(colour AS INTEGER) AS colour"))
    with pytest.raises(
        TableError, match=r"The DuckDB relation has several columns with the same name: \['a'\]"
    ):
        catalpa.KModes(2).fit(relation.project("code AS a, day AS a"))
    with pytest.raises(TableError, match=r"The query of polars failed"):
        infer(pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(pl.Int64)))


def test_weights_of_a_query_are_refused(frame):
    with pytest.raises(ParameterError, match="sample_weight"):
        catalpa.Grove(3).fit(frame.lazy(), sample_weight=np.ones(ROWS))


@pytest.mark.dask
def test_a_table_on_a_cluster_in_a_place_for_tables_in_memory_is_told():
    table = pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame({"a": ["x", "y"]}), npartitions=1)
    with pytest.raises(UnsupportedTable, match=r"distributed \(dask\).*fit or predict.*\.compute\(\)"):
        infer(table)
