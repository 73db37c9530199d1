"""An ONNX graph gives the labels of ``predict`` bit for bit, or a sentence says why there is none."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.datasets import load
from catalpa.errors import ColumnMismatch, MissingDependency, OnnxError, ParameterError
from catalpa.model.scoring import DensityScale, Scoring
from catalpa.steps.assign import label_rows
from catalpa.steps.scores import FixedScores, log_mixture, posterior
from catalpa.table import encode, infer

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from catalpa.model.onnx import UNSOUND, onnx_model  # noqa: E402 - needs onnx

KINDS = {"tensor(string)": object, "tensor(int64)": np.int64, "tensor(double)": np.float64}


def session_of(graph):
    return onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])


def run(model, frame, **settings):
    """The labels that a model's graph gives to a frame, fed as another program does, and by onnx_inputs."""
    session = session_of(model.to_onnx(**settings))
    absent = settings.get("missing_text", "")
    given = {}
    for entry in session.get_inputs():
        cells = frame[entry.name].astype(object)
        cells = cells.where(cells.notna(), absent if entry.type == "tensor(string)" else np.nan)
        given[entry.name] = cells.to_numpy().astype(KINDS[entry.type])[:, None]
    labels = session.run(None, given)[0]
    settings.pop("probabilities", None)
    assert session.run(None, model.onnx_inputs(frame, **settings))[0].tolist() == labels.tolist()
    return labels


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
    with pytest.raises(OnnxError, match=r"\['tags'\]"):
        model.to_onnx()


def test_methods_without_a_sum_say_so():
    frame = mixed()[["text", "level", "amount"]]
    with pytest.raises(OnnxError, match="cannot be exported"):
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
    labels = quietly(model, "predict", frame.iloc[:3]).tolist()
    assert run(model, frame.iloc[:3]).tolist() == labels
    assert len(set(labels)) == 3


# ---- operators that runtimes get wrong


def operators(graph):
    """The operators of a graph with the type of their first input."""
    inferred = onnx.shape_inference.infer_shapes(graph, strict_mode=True, data_prop=True).graph
    types = {constant.name: constant.data_type for constant in inferred.initializer}
    values = [*inferred.input, *inferred.value_info, *inferred.output]
    types |= {value.name: value.type.tensor_type.elem_type for value in values}
    return {(node.op_type, types[node.input[0]]) for node in inferred.node}


@pytest.mark.parametrize("method", [catalpa.Grove, catalpa.KPrototypes, catalpa.KModes])
def test_no_graph_has_an_operator_that_a_runtime_gets_wrong(method):
    frame = mixed()
    frame["id"] = 2**60 + np.arange(len(frame)) % 5
    settings = {"categorical_features": [*CATEGORIES, "id"], "random_state": 0}
    model = quietly(method(5, **settings, **({"bins": 4} if method is catalpa.KModes else {})), "fit", frame)
    used = operators(model.to_onnx(probabilities=method is catalpa.Grove))
    assert ("Gather", onnx.TensorProto.INT64) in used
    assert not used & UNSOUND


def by_hand(rows, k, seed, spread):
    """Costs above 2**31 of which many are ties, or one quantum from being one."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.choice(list("xyzuvw"), rows), "n": rng.random(rows)})
    schema = infer(frame)
    places = schema.axis.with_special_places.length
    base = rng.integers(-(2**50), 2**50, (places, 1))
    fixed = FixedScores(
        axis=schema.axis.with_special_places,
        table=base + rng.integers(0, spread, (places, k)),
        anchor=rng.integers(-3, 4, k),
        means=rng.random((k, 1)),
        scale=np.full((k, 1), spread * 2.0**-40),
        level=rng.random((k, 1)) * 2.0**-39,
        power=2,
        root=False,
        shift=40,
    )
    block = schema.scaling.apply(encode(frame, schema).rows.blocks[0])
    # On the axis with places for holes, as ``fixed`` is.
    return Scoring(schema, fixed, "ignore", DensityScale(0.0, 2.0)), frame, block


@pytest.mark.parametrize("k", range(2, 13))
@pytest.mark.parametrize("spread", [6, 2**20, 2**33, 2**44])
def test_large_costs_and_near_ties_are_decided_alike(k, spread):
    scoring, frame, block = by_hand(400, k, seed=k, spread=spread)
    graph = onnx_model(scoring, missing_text="", probabilities=True, method="", names=[])
    given = {"a": frame[["a"]].to_numpy(dtype=object), "n": frame[["n"]].to_numpy()}
    labels, shares, certainty, scores = session_of(graph).run(None, given)
    expected = label_rows(block, scoring.fixed)
    assert labels.tolist() == expected.tolist()
    assert len(set(expected.tolist())) > 1
    np.testing.assert_allclose(shares, posterior(block, scoring.fixed), atol=1e-6, rtol=0)
    np.testing.assert_allclose(certainty, shares.max(axis=1), rtol=1e-12)
    densities = log_mixture(block, scoring.fixed)
    np.testing.assert_allclose(scores, np.maximum(-densities, 0) / 2, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("k", [4, 6, 9])
def test_many_clusters_with_numbers_are_labelled_alike(k):
    rng = np.random.default_rng(k)
    group = rng.integers(0, k, 1500)
    numbers = {f"n{at}": rng.normal(rng.normal(size=k)[group], 1.0) for at in range(4)}
    frame = pd.DataFrame({"a": (group + rng.integers(0, 5, 1500)).astype(str), **numbers})
    model = quietly(catalpa.Grove(k, random_state=0), "fit", frame)
    assert run(model, frame).tolist() == model.labels_.tolist()


# ---- names and types of inputs

HOSTILE = [
    "label",
    "LabelEncoder_0",
    "constant_0",
    "",
    " ",
    "probabilities",
    "catalpa/",
    "catalpa/Add_3",
    "input_0",
]
HOSTILE += ["a\x00b", "certainty", "outlier_score", "rows", "catalpa", "x" * 500, "größe"]


def test_columns_may_have_any_name():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("abc"), 60) for name in HOSTILE})
    frame["constant_0"] = rng.random(60)
    model = quietly(catalpa.Grove(3, random_state=0), "fit", frame)
    graph = model.to_onnx(probabilities=True)
    inputs = json.loads({entry.key: entry.value for entry in graph.metadata_props}["inputs"])
    kept = {"LabelEncoder_0", "constant_0", " ", "catalpa/", "catalpa/Add_3", "input_0", "rows", "größe"}
    assert {name for name in inputs if inputs[name] == name} == kept | {"catalpa", "x" * 500}
    assert list(inputs.values()) == [entry.name for entry in graph.graph.input]
    labels, shares, *_ = session_of(graph).run(None, model.onnx_inputs(frame))
    assert labels.tolist() == model.labels_.tolist()
    np.testing.assert_allclose(shares, model.predict_proba(frame), atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["label", "LabelEncoder_0", "constant_0", ""])
def test_a_single_column_of_any_name_is_labelled(name):
    frame = pd.DataFrame({name: list("xxyyz")})
    model = catalpa.KModes(2, random_state=0).fit(frame)
    assert (
        session_of(model.to_onnx()).run(None, model.onnx_inputs(frame))[0].tolist() == model.labels_.tolist()
    )


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_nullable_integers_and_booleans_may_be_missing(missing):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "whole": pd.Series(rng.integers(0, 4, 80)).astype("Int64"),
            "truth": pd.Series(rng.random(80) < 0.5).astype("boolean"),
            "plain": rng.integers(0, 4, 80),
            "flag": rng.random(80) < 0.5,
        }
    )
    with_missing_values = frame.copy()
    with_missing_values.loc[::5, "whole"] = pd.NA
    with_missing_values.loc[::7, "truth"] = pd.NA
    for known in (frame, with_missing_values):
        model = quietly(catalpa.KModes(5, missing=missing, random_state=0), "fit", known)
        rows = with_missing_values.astype(object)
        rows.loc[::11, "plain"] = None
        rows.loc[::13, "flag"] = None
        for table in (rows, frame, pa.Table.from_pandas(with_missing_values), pl.from_pandas(frame)):
            given = model.onnx_inputs(table)
            assert {cells.dtype for cells in given.values()} == {np.dtype(np.float64)}
            labels = session_of(model.to_onnx()).run(None, given)[0]
            assert labels.tolist() == quietly(model, "predict", table).tolist()


def test_inputs_take_what_predict_takes():
    frame = pd.DataFrame({"code": ["1", "1", "2", "x", None, "2"], "level": [1, 1, 2, 2, 3, 3]})
    model = quietly(catalpa.KModes(3, random_state=0, categorical_features=["level"]), "fit", frame)
    session = session_of(model.to_onnx(missing_text="-"))
    # Numbers where fit saw texts that say them, texts where it saw numbers, and keys in another order.
    records = [
        {"level": "2", "code": 1},
        {"level": 3.0, "code": "-"},
        {"code": None},
        {"level": 9, "code": "y"},
    ]
    given = model.onnx_inputs(records, missing_text="-")
    assert given["code"][:, 0].tolist() == ["1", "(unseen)", "-", "(unseen)"]
    assert given["level"][:2, 0].tolist() == [2.0, 3.0]
    assert session.run(None, given)[0].tolist() == quietly(model, "predict", records).tolist()
    # What stands for an unseen category is not what stands for a missing value.
    given = model.onnx_inputs(records, missing_text="(unseen)")
    assert given["code"][:, 0].tolist() == ["1", "(unseen)_", "(unseen)", "(unseen)_"]
    with pytest.raises(ColumnMismatch, match="missing: \\['level'\\]"):
        model.onnx_inputs(frame[["code"]])


def test_whole_numbers_that_doubles_skip_are_integers():
    ids = pd.DataFrame({"id": [2**60 + at % 3 for at in range(12)], "a": list("xyz") * 4})
    model = catalpa.KModes(3, random_state=0, categorical_features=["id"]).fit(ids)
    rows = pd.concat([ids, pd.DataFrame({"id": [2**60 + 7], "a": ["x"]})], ignore_index=True)
    assert run(model, rows).tolist() == quietly(model, "predict", rows).tolist()
    with pytest.raises(OnnxError, match="'id' has missing values"):
        model.onnx_inputs([{"id": None, "a": "x"}])
    # 2**53 + 1 would be taken for 2**53 as a double.
    ids = pd.DataFrame({"id": [2**53, 5] * 4, "a": list("xy") * 4})
    model = catalpa.KModes(2, random_state=0, categorical_features=["id"]).fit(ids)
    assert model.to_onnx().graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.INT64


def test_a_text_with_nul_is_refused():
    model = catalpa.KModes(2, random_state=0).fit(pd.DataFrame({"a": ["x\x00y", "x", "z"]}))
    with pytest.raises(OnnxError, match="NUL"):
        model.to_onnx()
    with pytest.raises(ParameterError, match="missing_text=3"):
        model.to_onnx(missing_text=3)


# ---- probabilities


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_probabilities_are_those_of_the_model(k, missing):
    frame = mixed()
    settings = {"missing": missing, "categorical_features": CATEGORIES, "random_state": 0}
    model = quietly(catalpa.Grove(k, **settings), "fit", frame)
    rows = odd_rows(frame).assign(text=lambda table: table["text"].replace("", None))
    graph = model.to_onnx(probabilities=True)
    assert [output.name for output in graph.graph.output] == [
        "label",
        "probabilities",
        "certainty",
        "outlier_score",
    ]
    labels, shares, certainty, scores = session_of(graph).run(None, model.onnx_inputs(rows))
    assert labels.tolist() == quietly(model, "predict", rows).tolist()
    probabilities = quietly(model, "predict_proba", rows)
    np.testing.assert_allclose(shares, probabilities, atol=1e-6, rtol=0)
    np.testing.assert_allclose(certainty, probabilities.max(axis=1), atol=1e-6, rtol=0)
    outliers = quietly(model, "outlier_scores", rows)
    np.testing.assert_allclose(scores, outliers, atol=1e-6, rtol=0)
    assert (outliers > 1.5).any()


def test_rows_that_predict_refuses_have_no_probabilities():
    frame = pd.DataFrame({"a": list("xxyyxy"), "n": [1.5, 2.5, 8.5, 9.5, 2.0, 9.0]})
    model = quietly(catalpa.Grove(2, random_state=0, missing="error", handle_unknown="error"), "fit", frame)
    rows = pd.DataFrame({"a": ["x", "z", None], "n": [1.5, 1.5, 1.5]})
    labels, *soft = session_of(model.to_onnx(probabilities=True)).run(None, model.onnx_inputs(rows))
    assert labels.tolist() == [model.labels_[0], -1, -1]
    for values in soft:
        assert np.isfinite(values[0]).all()
        assert np.isnan(values[1:]).all()


def test_a_method_without_probabilities_says_so():
    model = catalpa.KModes(2, random_state=0).fit([["a"], ["b"]])
    with pytest.raises(ParameterError, match="KModes assigns every row to one cluster and has no membership"):
        model.to_onnx(probabilities=True)
