"""A model with tied columns gives the same answers wherever it is asked, whatever kinds its columns are."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest
from tests.engines.elsewhere import ENGINES

import catalpa
from catalpa import Grove
from catalpa.datasets import make_categorical

KINDS = ("categories", "weighted", "ignored", "ordered", "mixed", "all")
MOST_ROWS = 60  # that are asked one at a time


def fitted(kind):
    """A model of a table with copied columns, and odd rows to ask it about."""
    made, rng = make_categorical(400, columns=6, clusters=3, noise=0.4, seed=5), np.random.default_rng(5)
    frame = made.frame.astype(object)
    base = rng.choice(list("pqr"), 400).astype(object)
    for at in range(3):
        frame[f"copy {at}"] = np.where(rng.random(400) < 0.05, rng.choice(list("pqr"), 400), base)
    settings, weights = {}, None
    if kind in ("ignored", "all"):
        settings = {"missing": "ignore"}
    if kind in ("weighted", "all"):
        weights = rng.uniform(0.5, 3.0, 400)
    gaps = frame.mask(rng.random(frame.shape) < 0.05, None)
    odd = gaps.mask(rng.random(frame.shape) < 0.1, "never seen")
    if kind in ("ordered", "all"):
        for name in [frame.columns[0], "copy 0", "copy 1"]:
            gaps[name] = pd.Categorical(gaps[name], sorted(frame[name].unique()), ordered=True)
    if kind in ("mixed", "all"):
        heights = rng.normal(size=400) + np.asarray(made.clusters)
        gaps["height"] = np.where(rng.random(400) < 0.1, np.nan, heights)
        odd["height"] = gaps["height"] * 3.0
        gaps["visits"] = rng.poisson(0.6, 400).astype(float)  # becomes ordered bins
        odd["visits"] = gaps["visits"] + 1.0
    model = Grove(3, handle_unknown="ignore", random_state=0, **settings).fit(gaps, sample_weight=weights)
    assert len(model.tied_columns_) >= 2
    return model, gaps, odd


def sql_answers(dialect, model, rows):
    """Labels and probabilities by SQL."""
    numbered = rows.assign(row_number=np.arange(len(rows)))
    query = model.to_sql(dialect=dialect, table="rows", keep=["row_number"], probabilities=True)
    if dialect == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            connection.register("rows", numbered)
            found = connection.sql(query).fetchall()
    else:
        with sqlite3.connect(":memory:") as connection:
            numbered.to_sql("rows", connection, index=False)
            found = connection.execute(query).fetchall()
    found = sorted(found)
    return [row[1] for row in found], np.array([row[2 : 2 + model.n_clusters_] for row in found], dtype=float)


def onnx_answers(model, rows):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.to_onnx(probabilities=True).SerializeToString())
    labels, shares, *_ = session.run(None, model.onnx_inputs(rows))
    return labels.tolist(), shares


def file_answers(model, rows, folder):
    model.save(folder / "model.json")
    again = catalpa.load(folder / "model.json")
    return again.predict(rows).tolist(), again.predict_proba(rows)


def scorer_answers(model, rows):
    records, scorer = rows.iloc[:MOST_ROWS].to_dict("records"), model.scorer()
    return [int(scorer.predict_one(one)) for one in records], scorer.predict_proba(records)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["file", "scorer", "duckdb", "sqlite", "onnx"])
def test_a_tied_model_answers_alike_everywhere(place, kind, tmp_path):
    model, _, odd = fitted(kind)
    labels, shares = {
        "file": lambda: file_answers(model, odd, tmp_path),
        "scorer": lambda: scorer_answers(model, odd),
        "onnx": lambda: onnx_answers(model, odd),
    }.get(place, lambda: sql_answers(place, model, odd))()
    assert labels == model.predict(odd).tolist()[: len(labels)]
    expected = model.predict_proba(odd)[: len(labels)]
    np.testing.assert_allclose(shares, expected, atol=0 if place in ("file", "scorer") else 1e-6, rtol=0)


@pytest.mark.parametrize("kind", ["categories", "ignored", "mixed"])
@pytest.mark.parametrize("engine", ["streamed", "dask"])
def test_a_tied_model_is_fitted_alike_everywhere(engine, kind, request):
    model, frame, _ = fitted(kind)
    settings = {"missing": "ignore"} if kind == "ignored" else {}
    other = Grove(3, handle_unknown="ignore", random_state=0, **settings).fit(ENGINES[engine](frame, request))
    assert np.asarray(other.labels_).tolist() == model.labels_.tolist()
    assert other.evidence_ == model.evidence_
    for column in ("column", "parent", "evidence"):
        assert list(other.tied_columns_[column]) == list(model.tied_columns_[column])
