"""Spark: the labels of memory, tasks that fail and run again, and stages of a pipeline."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.optional import OptionalPackage

from catalpa import DISC, WOCIL, Grove, KModes, KPrototypes, datasets
from catalpa.engines.sources import digest_part
from catalpa.errors import ColumnMismatch, ParameterError, TableError, UnknownColumn, UnsupportedTable
from catalpa.steps.assign import assign_and_count
from catalpa.steps.counts import count_all
from catalpa.steps.scores import to_fixed_point
from catalpa.table.blocks import Block
from catalpa.table.schema import TableSettings

engine_module = OptionalPackage("catalpa.engines.spark")

# Spark warns of every pandas that is newer than itself.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")


def planted(n: int, seed: int = 0) -> pd.DataFrame:
    """Three noisy groups of rows with text and a number; a few cells are missing."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    columns = {}
    for at in range(4):
        drawn = np.where(rng.random(n) < 0.7, group, rng.integers(4, size=n))
        columns[f"c{at}"] = np.array(["low", "mid", "high", "other"], dtype=object)[drawn]
    columns["c3"][rng.random(n) < 0.02] = None
    return pd.DataFrame(columns | {"price": np.round(group + rng.normal(size=n), 3)}).astype({"c3": object})


def in_spark(session, frame: pd.DataFrame):
    """The frame in two partitions, rows in their order."""
    cells = frame.astype(object).where(frame.notna(), None)
    return session.createDataFrame(cells)


def labels_of(table, column: str = "cluster") -> np.ndarray:
    return np.array([row[column] for row in table.select(column).collect()])


def same_fit(known, spread) -> None:
    np.testing.assert_array_equal(known.labels_, labels_of(spread.labels_))
    assert known.cost_ == spread.cost_
    np.testing.assert_array_equal(known.cluster_sizes_, spread.cluster_sizes_)
    assert known._fitted.outcome.history == spread._fitted.outcome.history


@pytest.fixture(scope="module")
def fitted(spark):
    """A table of memory and of Spark, with a model of each."""
    frame = planted(400)
    table = in_spark(spark, frame)
    settings = {"n_clusters": 3, "n_init": 1, "random_state": 0, "missing": "ignore"}
    return frame, table, KPrototypes(**settings).fit(frame), KPrototypes(**settings).fit(table)


def test_a_spark_table_gives_the_labels_of_memory(fitted):
    _, _, known, spread = fitted
    assert len(known.history_) > 2
    same_fit(known, spread)


def test_disc_gives_the_labels_of_memory(spark):
    frame = planted(300, seed=4)
    settings = {"n_clusters": 3, "n_init": 1, "random_state": 0}
    same_fit(DISC(**settings).fit(frame), DISC(**settings).fit(in_spark(spark, frame)))


def test_answers_are_columns_beside_the_rows(fitted):
    frame, table, known, spread = fitted
    predicted = spread.predict(table)
    assert predicted.columns == [*frame.columns, "cluster"]
    assert [row.price for row in predicted.collect()] == frame["price"].tolist()
    np.testing.assert_array_equal(labels_of(predicted), known.predict(frame))
    np.testing.assert_array_equal(labels_of(known.transform(table), "by_cluster"), known.transform(frame))
    assert known.score(table) == known.score(frame)


def test_grove_scores_rows_in_spark(spark):
    frame = planted(60)
    model = Grove(2, random_state=0).fit(frame)
    scores = labels_of(model.score_samples(in_spark(spark, frame)), "score")
    np.testing.assert_array_equal(scores, model.score_samples(frame))


def fail_once(block, marker: str, axis):
    """A step whose first attempt on any block dies, as a lost executor would."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return count_all(block, axis)
    os._exit(1)


def test_a_task_that_fails_once_runs_again_with_the_same_result(fitted, tmp_path):
    frame, table, _, _ = fitted
    engine = KPrototypes(3)._open_problem(table).engine
    local = KPrototypes(3)._open_problem(frame).engine
    marker = tmp_path / "failed"
    again, expected = engine.total(fail_once, str(marker), engine.axis), local.total(count_all, local.axis)
    assert marker.exists()
    np.testing.assert_array_equal(again.sizes, expected.sizes)
    np.testing.assert_array_equal(again.sums, expected.sums)


def test_what_travels_in_a_pass_does_not_grow_with_the_rows(spark):
    def bytes_of_a_sweep(n: int) -> tuple[int, int]:
        problem = KModes(3, random_state=0)._open_problem(in_spark(spark, planted(n).drop(columns="price")))
        model = KModes(3, random_state=0).fit(planted(500).drop(columns="price"))
        fixed = to_fixed_point(model._fitted.outcome.scores, problem.engine.axis)
        summed = problem.engine.sweep(assign_and_count, fixed)
        assert int(summed.sizes.sum()) == n
        out = len(pickle.dumps((assign_and_count, (fixed,), problem.engine.starts)))
        return out, len(pickle.dumps(summed))

    few, many = bytes_of_a_sweep(2_000), bytes_of_a_sweep(20_000)
    assert max(many) < 20_000
    assert many[0] <= few[0] + 16
    assert many[1] <= few[1] + 16


def test_what_spark_cannot_give_is_refused_in_words(fitted):
    _, table, _, spread = fitted
    with pytest.raises(ParameterError, match="sample_weight is an array, but the rows"):
        KModes(2).fit(table, sample_weight=np.ones(400))
    with pytest.raises(UnsupportedTable, match="WOCIL visits the rows one by one"):
        WOCIL(2).fit(table)
    with pytest.raises(UnsupportedTable, match="is not a Spark table"):
        KModes(2).fit(table.schema)
    with pytest.raises(TableError, match="no rows"):
        KModes(2).fit(table.drop("price").limit(0))
    with pytest.raises(ColumnMismatch, match="in a different order than at fit"):
        spread.predict(table.select("price", "c0", "c1", "c2", "c3"))
    renamed = table.drop("price").withColumnRenamed("c0", "cluster")
    with pytest.raises(TableError, match="has a column 'cluster' already"):
        KModes(2, n_init=1, random_state=0)._open_problem(renamed)
    with pytest.raises(TableError, match=r"same name: \['c0'\]"):
        KModes(2).fit(table.select("c0", "c0", "c1"))
    with pytest.raises(TableError, match=r"name with a dot .* \['c.0'\]"):
        KModes(2).fit(table.withColumnRenamed("c0", "c.0"))


def test_what_is_refused_on_an_executor_is_said_as_here(fitted):
    from pyspark import errors
    from pyspark.sql import functions

    _, table, _, _ = fitted
    with pytest.raises(UnsupportedTable, match=r"^Column 'records' holds values of type"):
        KModes(2).fit(table.withColumn("records", functions.struct("c0")))
    with pytest.raises(TableError, match=r"^Input X contains infinity: column 'far'"):
        KPrototypes(2).fit(table.withColumn("far", functions.lit(float("inf"))))
    engine = KPrototypes(2)._open_problem(table).engine
    with pytest.raises(errors.PythonException, match="a step of ours"):
        engine.total(fail_always)


def fail_always(_):
    raise RuntimeError("a step of ours")


def test_columns_of_any_plain_type_are_read_and_stay_beside_the_answer(spark):
    rows = [
        (word, datetime(2020, 1, day, 10), date(2020, 1, day), day == 1, Decimal("1.50") * day, day)
        for word, day in [("x", 1), ("y", 2)] * 20
    ]
    types = "word string, moment timestamp, day date, first boolean, price decimal(5,2), number byte"
    table = spark.createDataFrame(rows, types)
    model = KPrototypes(2, n_init=1, random_state=0).fit(table)
    kinds = {column.name: (column.kind.value, column.size) for column in model.schema_.columns}
    assert kinds.pop("price") == ("numeric", 0)
    assert set(kinds.values()) == {("nominal", 2)}
    answered = model.predict(table).collect()
    assert [tuple(row)[:-1] for row in answered] == rows
    assert len({(row.word, row.cluster) for row in answered}) == 2


def test_a_pipeline_with_a_clusterer_is_fitted_saved_and_loaded(fitted, tmp_path):
    ml = pytest.importorskip("pyspark.ml")
    from catalpa.spark import CatalpaEstimator

    frame, table, _, _ = fitted
    names = ["c0", "c1", "c2"]
    stage = CatalpaEstimator(KModes(3, n_init=1, random_state=0), input_cols=names, prediction_col="group")
    ml.Pipeline(stages=[stage]).write().save(str(tmp_path / "pipeline"))
    again = ml.Pipeline.load(str(tmp_path / "pipeline"))
    assert again.getStages()[0].clusterer.get_params() == stage.clusterer.get_params()
    model = again.fit(table)
    expected = KModes(3, n_init=1, random_state=0).fit(frame[names])
    model.write().save(str(tmp_path / "model"))
    loaded = ml.PipelineModel.load(str(tmp_path / "model"))
    answered = loaded.transform(table)
    assert answered.columns == [*frame.columns, "group"]
    np.testing.assert_array_equal(labels_of(answered, "group"), expected.labels_)
    assert loaded.stages[0].clusterer.cost_ == expected.cost_


def test_a_stage_weighs_rows_and_gives_probabilities_as_a_vector(fitted, tmp_path):
    ml = pytest.importorskip("pyspark.ml")
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import functions

    from catalpa.spark import CatalpaEstimator

    frame, table, _, _ = fitted
    names = ["c0", "c1", "c2"]
    weighed = table.withColumn("times", (functions.length("c0") % 2 + 1).cast("double"))
    times = frame["c0"].str.len() % 2 + 1.0
    stage = CatalpaEstimator(
        Grove(3, n_init=1, random_state=0), [*names, "times"], probability_col="features", weight_col="times"
    )
    after = VectorAssembler(inputCols=["features"], outputCol="later")
    fitted_once = ml.Pipeline(stages=[stage, after]).fit(weighed)
    fitted_once.write().save(str(tmp_path / "model"))
    rows = ml.PipelineModel.load(str(tmp_path / "model")).transform(weighed).collect()
    expected = Grove(3, n_init=1, random_state=0).fit(frame[names], sample_weight=times)
    assert [row["cluster"] for row in rows] == expected.labels_.tolist()
    assert type(rows[0]["features"]).__name__ == "DenseVector"
    given = np.array([row["later"].toArray() for row in rows])
    np.testing.assert_array_equal(given, expected.predict_proba(frame[names]))


def test_probabilities_are_refused_of_a_method_without():
    pytest.importorskip("pyspark")
    from catalpa.spark import CatalpaEstimator

    with pytest.raises(ParameterError, match="KModes has no probabilities"):
        CatalpaEstimator(KModes(3), probability_col="features")


def test_a_stage_names_the_columns_that_the_table_lacks(fitted):
    from catalpa.spark import CatalpaEstimator

    _, table, _, _ = fitted
    stage = CatalpaEstimator(KModes(3, n_init=1, random_state=0), input_cols=["c0", "c1"])
    with pytest.raises(UnknownColumn, match=r"no column \['c1'\]"):
        stage.fit(table.drop("c1"))
    with pytest.raises(UnknownColumn, match=r"no column \['c1'\]"):
        stage.fit(table).transform(table.drop("c1"))


@pytest.mark.usefixtures("spark")
def test_settings_of_a_saved_stage_are_plain_or_refused(tmp_path):
    from catalpa.spark import CatalpaEstimator

    centres = np.array([["low"], ["high"]], dtype=object)
    stage = CatalpaEstimator(KModes(np.int64(2), init=centres, random_state=0), input_cols=["c0"])
    stage.write().save(str(tmp_path / "plain"))
    again = CatalpaEstimator.load(str(tmp_path / "plain")).clusterer
    assert (again.n_clusters, again.init) == (2, centres.tolist())
    with pytest.raises(
        ParameterError, match="random_state is a RandomState, which a saved stage cannot hold"
    ):
        CatalpaEstimator(KModes(2, random_state=np.random.RandomState(0))).write().save(str(tmp_path / "odd"))
    with pytest.raises(ParameterError, match="recipe is a dict, which a saved stage cannot hold"):
        CatalpaEstimator(KModes(2, recipe={"catalpa": {"drop": ["c0"]}})).write().save(str(tmp_path / "odd"))


def test_a_stage_is_made_of_a_method_only():
    pytest.importorskip("pyspark")
    from catalpa.spark import CatalpaEstimator

    with pytest.raises(ParameterError, match="clusterer is a str"):
        CatalpaEstimator("disc")


def test_without_pyspark_the_command_to_install_it_is_told():
    script = "import sys; sys.modules['pyspark'] = None; import catalpa.spark"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    assert "MissingDependency" in done.stderr
    assert "pip install 'catalpa[spark]'" in done.stderr


CONNECTED = """
import json, sys
import pyarrow as pa
from pyspark.sql import SparkSession
import catalpa
from catalpa import KModes, datasets

session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = datasets.load("zoo").frame
table = session.createDataFrame(pa.table({name: frame[name].tolist() for name in frame.columns}))
model = KModes(4, n_init=1, random_state=0).fit(table)
labels = [row.cluster for row in model.labels_.select("cluster").collect()]
changed = catalpa.drift(model, table).changed
print(json.dumps([type(table).__module__, labels, model.cost_, changed]))
session.stop()
"""


@pytest.mark.usefixtures("spark")
def test_spark_connect_gives_the_labels_of_memory():
    """In a process of its own, as a session is either classic or connected."""
    pytest.importorskip("grpc")
    # What the classic session of this process left in the environment would reach the other.
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "PYSPARK_"))
    }
    environment = inherited | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONNECTED],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    module, labels, cost, changed = json.loads(done.stdout.splitlines()[-1])
    known = KModes(4, n_init=1, random_state=0).fit(datasets.load("zoo").frame)
    assert module.startswith("pyspark.sql.connect")
    assert labels == known.labels_.tolist()
    assert (cost, changed) == (known.cost_, [])


def stored(blocks: list[tuple[int, int, Block]]) -> pa.RecordBatch:
    """Blocks as the rows in which Spark keeps them."""
    parts, places, kept = zip(*blocks, strict=True)
    pickled = [pickle.dumps(block) for block in kept]
    return pa.record_batch({"part": list(parts), "place": list(places), "block": pickled})


def rows_of(block: Block) -> np.ndarray:
    return np.stack([np.arange(len(block)) + block.start, block.codes[:, 0]], axis=1)


def test_a_partition_adds_its_blocks_and_knows_where_they_start():
    block = Block(np.array([[3], [4]], dtype=np.uint16), np.zeros((2, 0)))
    batch = stored([(0, 1, block), (1, 0, block)])
    starts = {(0, 1): 10, (1, 0): 20}
    (summed,) = engine_module._total(rows_of, starts, "|u1", [batch])
    assert pickle.loads(summed["result"][0].as_py()).tolist() == [[30, 6], [32, 8]]
    apart = list(engine_module._each(rows_of, starts, "|u1", [batch]))
    assert [(one["part"][0].as_py(), one["place"][0].as_py()) for one in apart] == [(0, 1), (1, 0)]
    assert pickle.loads(apart[1]["result"][0].as_py()).tolist() == [[20, 3], [21, 4]]
    assert list(engine_module._total(rows_of, starts, "|u1", [])) == []


def test_batches_are_gathered_to_blocks_that_have_rows():
    batches = [pa.record_batch({"a": pa.array(range(size), pa.int64())}) for size in (2, 0, 3, 1, 0)]
    assert [len(table) for table in engine_module._gathered(batches, 4)] == [5, 1]
    assert list(engine_module._gathered(batches[1:2], 4)) == []
    work = digest_part, (TableSettings(), None)
    digests = list(engine_module._worked(*work, batches))
    assert pickle.loads(digests[0]["result"][0].as_py()).summaries[0].n == 6
    assert list(engine_module._worked(*work, [])) == []


def test_a_sweep_remembers_what_the_arguments_before_say():
    def step(_, memory, now):
        return (memory, now), f"saw {now}"

    assert engine_module._remembering(step, (2,), None, None) == (None, 2)
    assert engine_module._remembering(step, (3,), (2,), None) == ("saw 2", 3)


def test_answers_go_behind_the_columns_of_a_batch():
    field = pa.field("cluster", pa.int32())
    batches = [pa.record_batch({"a": ["x", "y"]}), pa.record_batch({"a": pa.array([], pa.string())})]
    (answered,) = engine_module._appended(lambda batch: [np.arange(len(batch))], [field], batches)
    assert answered.to_pydict() == {"a": ["x", "y"], "cluster": [0, 1]}
