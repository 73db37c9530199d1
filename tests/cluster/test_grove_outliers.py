"""outliers="label": -1 for rows far from all clusters, wherever labels are given."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa import Grove
from catalpa.errors import ParameterError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 100)
    codes = np.where(rng.random((300, 10)) < 0.97, groups[:, None], rng.integers(0, 6, (300, 10)))
    codes[:4] = [[5, 4] * 5, [4, 5] * 5, [3, 5] * 5, [5, 3] * 5]  # rows of rare categories
    return pd.DataFrame(np.array(list("abcdef"))[codes], columns=[f"q{at}" for at in range(10)])


@pytest.fixture(scope="module")
def model(table):
    return Grove(3, outliers="label", random_state=0).fit(table)


def test_far_rows_have_the_label_minus_one(table, model):
    scores = model.outlier_scores(table)
    assert set(range(4)) <= set(np.flatnonzero(scores > 3).tolist())
    assert ((model.labels_ == -1) == (scores > 3)).all()
    assert (model.predict(table) == model.labels_).all()
    assert model.labels_.dtype == np.int32


def test_all_else_is_as_without_the_label(table, model):
    plain = Grove(3, random_state=0).fit(table)
    assert (plain.labels_ >= 0).all()
    assert (np.where(model.labels_ < 0, plain.labels_, model.labels_) == plain.labels_).all()
    assert model.cluster_sizes_.tolist() == plain.cluster_sizes_.tolist()
    assert model.profiles_.equals(plain.profiles_)
    assert (model.predict_proba(table) == plain.predict_proba(table)).all()


def test_saved_models_scorers_and_files_label_alike(table, model, tmp_path):
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert (again.predict(table) == model.labels_).all()
    assert again.scorer().predict_one(table.iloc[0].to_dict()) == -1
    table.to_parquet(tmp_path / "rows.parquet")
    assert list(again.predict(catalpa.scan(tmp_path / "rows.parquet"))) == model.labels_.tolist()


@pytest.mark.parametrize("probabilities", [False, True])
def test_sql_labels_alike_and_names_no_cluster(table, model, probabilities):
    duckdb = pytest.importorskip("duckdb")
    named = model.cut(3).name_clusters({0: "first"})
    expected = named.predict(table)
    assert (expected < 0).any()
    connection = duckdb.connect()
    connection.register("rows", table)
    query = named.to_sql(keep=[], probabilities=probabilities)
    found = connection.execute(query).df()
    assert found["cluster"].tolist() == expected.tolist()
    assert (found["cluster_name"].isna() == (expected < 0)).all()
    assert ("certainty" in found.columns) is probabilities
    lite = sqlite3.connect(":memory:")
    table.to_sql("rows", lite, index=False)
    query = named.to_sql(dialect="sqlite", keep=[], probabilities=probabilities)
    assert [row[0] for row in lite.execute(query)] == expected.tolist()


@pytest.mark.parametrize("probabilities", [False, True])
def test_onnx_labels_alike(table, model, probabilities):
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = model.to_onnx(probabilities=probabilities)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    labels, *others = session.run(None, model.onnx_inputs(table))
    assert labels.tolist() == model.labels_.tolist()
    assert len(others) == (3 if probabilities else 0)


def test_pages_and_comparisons_count_outliers_in_their_nearest_cluster(table, model):
    summary = model.report(table).summary
    assert [one["size"] for one in summary["clusters"]] == model.cluster_sizes_.tolist()
    assert catalpa.drift(model, table) is not None
    plain = Grove(3, random_state=0).fit(table)
    assert catalpa.compare(model, plain, table).crosstab.staying == 1.0


def test_batches_are_labelled_too(table):
    model, second = Grove(3, outliers="label", random_state=0), table.iloc[1::2]
    model.partial_fit(table.iloc[::2]).partial_fit(second)
    assert (model.labels_ < 0).any()
    assert ((model.labels_ < 0) == (model.outlier_scores(second) > 3)).all()


def test_levels_keep_the_label(table, model):
    coarse = model.cut(2, table)
    assert (coarse.labels_ == coarse.predict(table)).all()
    assert ((coarse.labels_ < 0) == (coarse.outlier_scores(table) > 3)).all()


def test_another_word_is_refused(table):
    with pytest.raises(ParameterError, match="outliers"):
        Grove(3, outliers="drop").fit(table)
