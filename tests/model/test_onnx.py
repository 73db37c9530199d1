"""An ONNX graph gives the labels of ``predict`` bit for bit, or a sentence says why there is none."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.datasets import load
from catalpa.errors import MissingDependency, OnnxError

onnxruntime = pytest.importorskip("onnxruntime")
KINDS = {
    "tensor(string)": object,
    "tensor(int64)": np.int64,
    "tensor(double)": np.float64,
    "tensor(bool)": bool,
}


def run(model, frame, **settings):
    """The labels that the graph of a model gives to a frame."""
    graph = model.to_onnx(**settings).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    absent = settings.get("missing_text", "")
    given = {}
    for entry in session.get_inputs():
        cells = frame[entry.name].astype(object)
        if entry.type == "tensor(string)":
            cells = cells.where(cells.notna(), absent)
        given[entry.name] = cells.to_numpy().astype(KINDS[entry.type])[:, None]
    return session.run(None, given)[0]


def quietly(model, method, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(model, method)(*arguments)


def mixed(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "text": np.array(["red", "blue", "grün", "x=1"], dtype=object)[
                (group + (rng.random(rows) < 0.2)) % 4
            ],
            "level": group + rng.integers(0, 2, rows),
            "flag": group == 1,
            "gaps": np.where(rng.random(rows) < 0.2, np.nan, group),
            "half": group / 2,
            "amount": group * 10.0 + rng.normal(size=rows),
            "wide": 10.0 ** rng.integers(-300, 300, rows),
        }
    )
    frame.loc[rng.random(rows) < 0.1, "text"] = None
    frame.loc[rng.random(rows) < 0.1, "amount"] = np.nan
    return frame


def odd_rows(frame):
    """The rows, and rows with cells that fit never saw, missing ones, and numbers far away."""
    odd = frame.iloc[:6].copy()
    odd["text"] = ["teal", None, "red", "", "blue", "teal"]
    odd["level"] = [99, 0, 1, -(2**60), 2, 99]
    odd["gaps"] = [np.nan, 7.0, 0.5, 1.0, np.nan, 2.0]
    odd["half"] = [0.25, np.nan, 0.5, 1.0, 0.0, 3.0]
    odd["amount"] = [1e300, -1e300, np.nan, 0.0, -0.0, 5e-324]
    return pd.concat([frame, odd], ignore_index=True)


CATEGORIES = ["text", "level", "flag", "gaps", "half"]
SUMS = [entry.estimator for entry in METHODS.values() if entry.name != "mcdc"]


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("method", SUMS, ids=lambda method: method.__name__)
def test_every_sum_of_table_entries_is_labelled_alike(method, missing):
    names = method().get_params()
    wanted = {"n_clusters": 3, "random_state": 0, "missing": missing, "categorical_features": CATEGORIES}
    frame = mixed()[CATEGORIES]
    model = quietly(method(**{name: value for name, value in wanted.items() if name in names}), "fit", frame)
    for rows in (frame, odd_rows(mixed())[CATEGORIES]):
        rows = rows.assign(text=rows["text"].replace("", None))
        assert run(model, rows).tolist() == quietly(model, "predict", rows).tolist()


def test_ngs_measure_is_labelled_alike(tmp_path):
    frame = mixed()[CATEGORIES]
    settings = {"categorical_features": CATEGORIES, "dissimilarity": "ng", "random_state": 0}
    model = quietly(catalpa.KModes(3, **settings), "fit", frame)
    assert run(model, frame).tolist() == model.labels_.tolist()
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.dissimilarity == "ng"
    assert again.predict(frame).tolist() == model.labels_.tolist()


@pytest.mark.parametrize("method", [catalpa.Grove, catalpa.DISC, catalpa.KPrototypes, catalpa.HARR])
def test_numbers_are_scaled_and_rounded_alike(method):
    frame = mixed()
    model = quietly(method(n_clusters=3, random_state=0, categorical_features=CATEGORIES), "fit", frame)
    rows = odd_rows(frame).assign(text=lambda table: table["text"].replace("", None))
    assert run(model, rows).tolist() == quietly(model, "predict", rows).tolist()
    numbers = frame[["amount", "wide"]]
    model = quietly(method(n_clusters=2, random_state=0), "fit", numbers)
    assert run(model, odd_rows(frame)[["amount", "wide"]]).tolist() == (
        quietly(model, "predict", odd_rows(frame)[["amount", "wide"]]).tolist()
    )


def test_bins_take_a_border_with_them():
    frame = mixed()[["amount", "text"]]
    model = quietly(catalpa.KModes(3, random_state=0, bins=4), "fit", frame)
    (column,) = [column for column in model.schema_.columns if column.binned]
    borders = pd.DataFrame({"amount": [*column.edges, np.nan, 1e300, -1e300], "text": "red"})
    assert run(model, borders).tolist() == quietly(model, "predict", borders).tolist()


def test_what_predict_refuses_gets_no_cluster():
    frame = pd.DataFrame({"a": list("xxyy"), "n": [1.5, 2.5, 8.5, 9.5], "b": [1, 1, 2, 2]})
    model = catalpa.KPrototypes(
        2, random_state=0, missing="error", handle_unknown="error", categorical_features=["a", "b"]
    ).fit(frame)
    rows = pd.DataFrame(
        {"a": ["x", "z", None, "y", "y"], "n": [1.5, 1.5, 1.5, np.nan, 9.5], "b": [1, 1, 1, 2, 3]}
    )
    assert run(model, rows).tolist() == [model.labels_[0], -1, -1, -1, -1]
    model = catalpa.KModes(2, random_state=0, handle_unknown="error").fit(frame[["a"]])
    assert run(model, rows[["a"]]).tolist() == [0, -1, -1, 1, 1] or run(model, rows[["a"]]).tolist() == [
        1,
        -1,
        -1,
        0,
        0,
    ]


def test_a_real_table_and_its_names():
    zoo = load("zoo").frame
    model = catalpa.Grove(7, random_state=0).fit(zoo)
    model.name_clusters({0: "first"})
    graph = model.to_onnx()
    assert run(model, zoo).tolist() == model.labels_.tolist()
    told = {entry.key: entry.value for entry in graph.metadata_props}
    assert json.loads(told["cluster_names"]) == model.cluster_names_
    assert (told["method"], graph.producer_version) == ("Grove", catalpa.__version__)


def test_a_text_for_missing_cells_must_be_no_category():
    frame = pd.DataFrame({"a": ["", "x", None, "x", ""]})
    model = quietly(catalpa.KModes(2, random_state=0), "fit", frame)
    with pytest.raises(OnnxError, match=r"category ''.*missing_text"):
        model.to_onnx()
    assert run(model, frame, missing_text="-").tolist() == model.labels_.tolist()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pd.Series(["a", 1, "a", 1], dtype=object), "one type"),
        (pd.Series([pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")] * 2).dt.date, "dates or times"),
        (pd.Series([2**60 + 1, 2**60 + 3, None, 2**60 + 1], dtype=object), r"2\*\*53"),
    ],
)
def test_a_column_that_onnx_cannot_take_is_named(column, said):
    frame = pd.DataFrame({"odd": column, "b": list("xyxy")})
    model = quietly(catalpa.KModes(2, random_state=0, categorical_features=["odd", "b"]), "fit", frame)
    with pytest.raises(OnnxError, match=rf"'odd'.*{said}|{said}"):
        model.to_onnx()


def test_parts_of_columns_are_named():
    frame = pd.DataFrame({"tags": [["a"], ["a", "b"], ["b"], ["b"]], "b": list("xyxy")})
    model = quietly(catalpa.KModes(2, random_state=0), "fit", frame)
    with pytest.raises(OnnxError, match=r"\['tags'\].*parts"):
        model.to_onnx()


def test_methods_without_a_sum_say_so():
    frame = mixed()[["text", "level", "amount"]]
    with pytest.raises(OnnxError, match="only predict finds them"):
        quietly(catalpa.MCDC(n_clusters=2, random_state=0), "fit", frame[["text"]]).to_onnx()
    with pytest.raises(OnnxError, match="exponential"):
        quietly(catalpa.WOCIL(n_clusters=2, random_state=0), "fit", frame).to_onnx()


def test_onnx_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "catalpa.model.onnx", raising=False)
    with pytest.raises(MissingDependency, match=r'pip install "catalpa\[onnx\]"'):
        catalpa.KModes(1).fit([["a"], ["b"]]).to_onnx()


def test_flags_with_gaps_are_told_from_missing_ones():
    frame = pd.DataFrame({"flag": [True, None, False, None, True, False], "a": list("xyzyxz")})
    model = catalpa.KModes(3, random_state=0).fit(frame)
    rows = pd.DataFrame({"flag": [1.0, np.nan, 0.0], "a": ["x", "y", "z"]})
    labels = quietly(model, "predict", frame.iloc[:3]).tolist()
    assert run(model, rows).tolist() == labels
    assert len(set(labels)) == 3
