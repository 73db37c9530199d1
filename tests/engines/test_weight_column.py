"""A column of weights, by its name, gives the results of an array of them wherever the rows are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.elsewhere import ENGINES, as_arrow

import catalpa
from catalpa.errors import ParameterError, UnknownColumn
from catalpa.table.exact import as_floats, exact_sums
from catalpa.table.weights import WeightFacts

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::catalpa.errors.LopsidedClustersWarning"),
    pytest.mark.filterwarnings("ignore::catalpa.errors.UnseenCategoryWarning"),
]
ROWS = 1500


def weighted(kind: str) -> pd.DataFrame:
    """Rows whose weights are multiples of a number (with zeros), of none, or all the same."""
    rng = np.random.default_rng(4)
    group = rng.integers(3, size=ROWS)
    words = np.array(list("abcd"), dtype=object)
    columns: dict[str, Any] = {
        f"q{at}": words[np.where(rng.random(ROWS) < 0.7, group, rng.integers(4, size=ROWS))]
        for at in range(4)
    }
    columns["price"] = np.round(group + rng.normal(size=ROWS), 3)
    weights = {"whole": rng.integers(0, 4, ROWS) * 2.0, "any": rng.random(ROWS), "equal": np.full(ROWS, 2.5)}
    frame = pd.DataFrame(columns)
    frame.insert(2, "weight", weights[kind])
    if kind == "whole":  # what only rows of weight 0 hold must not become a category, or stretch a range
        frame.loc[10:20, ["q1", "weight", "price"]] = ["strange", 0.0, 1e6]
    return frame


def in_polars(frame: pd.DataFrame, _request: Any) -> Any:
    return pl.from_arrow(as_arrow(frame))


def lazily(frame: pd.DataFrame, _request: Any) -> Any:
    return pl.from_arrow(as_arrow(frame)).lazy()


def in_duckdb(frame: pd.DataFrame, _request: Any) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("rows", as_arrow(frame))
    return connection.sql("SELECT * FROM rows")


KINDS = {
    "pandas": lambda frame, _: frame,
    "polars": in_polars,
    "arrow": lambda frame, _: as_arrow(frame),
    "lazy": lazily,
    "duckdb": in_duckdb,
    **ENGINES,
}


def labels_of(labels: Any) -> list[int]:
    if hasattr(labels, "select"):
        return [row.cluster for row in labels.select("cluster").collect()]
    return np.asarray(labels).tolist()


def categories_of(model: Any) -> list[Any]:
    return [column.categories for column in model.schema_.columns]


@pytest.mark.parametrize("weights", ["whole", "any", "equal"])
@pytest.mark.parametrize("method", [catalpa.Grove, catalpa.KPrototypes])
@pytest.mark.parametrize("kind", KINDS)
def test_a_named_column_weighs_as_the_array_does(kind, method, weights, request):
    if kind == "spark" and (method is not catalpa.Grove or weights == "equal"):
        pytest.skip("a pass of Spark takes long")
    frame = weighted(weights)
    known = method(3, random_state=0).fit(frame.drop(columns="weight"), sample_weight=frame["weight"])
    table = KINDS[kind](frame, request)
    model = method(3, random_state=0).fit(table, sample_weight="weight")
    assert [one.categories for one in model.schema_.columns] == [
        one.categories for one in known.schema_.columns
    ]
    assert model.schema_.decisions == known.schema_.decisions
    assert "weight" not in model.feature_names_in_
    assert labels_of(model.labels_) == known.labels_.tolist()
    assert labels_of(model.predict(table)) == known.labels_.tolist()
    assert (model.cost_, model.n_iter_) == (known.cost_, known.n_iter_)
    assert model.cluster_sizes_.tolist() == known.cluster_sizes_.tolist()
    np.testing.assert_array_equal(model._fitted.quartiles, known._fitted.quartiles)


def test_the_frames_of_a_fit_elsewhere_are_those_of_pandas(request):
    frame = weighted("equal").drop(columns="weight")
    for kind, library in {"streamed": pd, "duckdb": pd, "lazy": pl}.items():
        model = catalpa.Grove(3, random_state=0).fit(KINDS[kind](frame, request))
        for made in (model.reasons(), model.profiles_, model.cluster_centers_, model.history_):
            assert isinstance(made, library.DataFrame), kind
    assert model.schema_.library == "polars"


def test_the_name_of_the_weights_is_kept_in_a_model_file(tmp_path: Path):
    frame = weighted("any").drop(columns="price")
    model = catalpa.KModes(3, random_state=0)
    model.fit(frame, sample_weight="weight").save(tmp_path / "model.json")
    assert catalpa.load(tmp_path / "model.json").predict(frame).tolist() == model.labels_.tolist()


def test_weights_that_are_no_column_are_refused(request):
    frame = weighted("any")
    for table in (frame, ENGINES["streamed"](frame, request)):
        with pytest.raises(UnknownColumn, match=r"sample_weight is 'wt', .*'q0', 'q1', 'weight'"):
            catalpa.Grove(3).fit(table, sample_weight="wt")
        with pytest.raises(ParameterError, match="weight column 'q0' holds values that are not numbers"):
            catalpa.Grove(3).fit(table, sample_weight="q0")


def test_negative_and_missing_weights_are_refused_where_the_rows_are(request):
    for bad in (-1.0, np.nan, np.inf):
        frame = weighted("any")
        frame.loc[700, "weight"] = bad
        with pytest.raises(
            ParameterError, match="weight column 'weight' holds negative, infinite or missing"
        ):
            catalpa.Grove(3).fit(ENGINES["streamed"](frame, request), sample_weight="weight")
    frame["weight"] = 0.0
    with pytest.raises(ParameterError, match="All sample weights are zero"):
        catalpa.Grove(3).fit(ENGINES["streamed"](frame, request), sample_weight="weight")


def nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


@given(
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=40),
    seed=st.integers(0, 100),
)
@settings(deadline=None)
def test_exact_sums_are_those_of_fractions_in_any_order(values, seed):
    numbers = np.array(values)
    groups = np.random.default_rng(seed).integers(3, size=len(values))
    sums = exact_sums(numbers, groups, 3)
    for group in range(3):
        exact = sum((Fraction(value) for value in numbers[groups == group].tolist()), Fraction(0))
        assert Fraction(int(sums[group]), 1 << 1126) == exact
    order = np.random.default_rng(seed + 1).permutation(len(values))
    assert exact_sums(numbers[order], groups[order], 3).tolist() == sums.tolist()
    known = [nearest(Fraction(int(one), 1 << 1126)) for one in sums]
    assert as_floats(sums).tolist() == known


def test_facts_about_weights_add():
    weights = np.array([2.0, 0.0, 6.0, 4.0, 4.0, 10.0])
    both = WeightFacts.of(weights[:2]) + WeightFacts.of(weights[2:])
    assert both == WeightFacts.of(weights)
    assert (both.sum, both.least, both.divisor, both.zeros) == (26.0, 2.0, 2, 1)
