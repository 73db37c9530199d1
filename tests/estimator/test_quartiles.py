"""Quartiles of numbers in ``profiles_``: of the rows as labelled, with weights, kept with the model."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.table.blocks import search_positions

QUARTILES = ["lower_quartile", "median", "upper_quartile"]
SHARES = (0.25, 0.5, 0.75)
MIXED = [name for name, entry in METHODS.items() if entry.mixed]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=90)
    drawn = np.where(rng.random((90, 2)) < 0.8, group[:, None], rng.integers(3, size=(90, 2)))
    frame = pd.DataFrame(np.array(list("xyz"), dtype=object)[drawn], columns=["a", "b"])
    frame["paid"] = np.round(100 * group + 40 * rng.normal(size=90), 2)
    frame["age"] = rng.integers(18, 90, 90) + 0.5
    frame.loc[rng.random(90) < 0.2, "age"] = np.nan
    return frame


def fitted(method: str, frame: Any, **at_fit: Any) -> Any:
    return METHODS[method].estimator().set_params(n_clusters=3, random_state=0).fit(frame, **at_fit)


def told(model: Any) -> dict[str, list[list[float]]]:
    """Quartiles by column, a line for every cluster."""
    profiles = model.profiles_.set_index("column")
    return {name: profiles.loc[[name], QUARTILES].to_numpy().tolist() for name in ("paid", "age")}


def of_rows(frame: pd.DataFrame, labels: Any) -> dict[str, list[list[float]]]:
    """The same from the cells themselves."""
    return {
        name: [
            np.quantile(own.dropna(), SHARES, method="inverted_cdf").tolist()
            for _, own in frame[name].groupby(np.asarray(labels))
        ]
        for name in ("paid", "age")
    }


@pytest.mark.parametrize("method", MIXED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method_that_takes_numbers_tells_the_quartiles_of_its_rows(method, rows):
    model = fitted(method, rows)
    assert told(model) == of_rows(rows, model.labels_)


def test_the_rows_of_categories_have_none(rows):
    profiles = fitted("kprototypes", rows).profiles_
    assert profiles[profiles["category"].notna()][QUARTILES].isna().all(axis=None)
    assert not set(QUARTILES) & set(catalpa.KModes(2, random_state=0).fit(rows[["a", "b"]]).profiles_)


@pytest.mark.parametrize("unit", [1.0, 0.37])
def test_a_weight_counts_as_so_many_rows(rows, unit):
    times = np.random.default_rng(1).integers(0, 4, len(rows))
    model = fitted("grove", rows, sample_weight=times * unit)
    each = np.repeat(np.arange(len(rows)), times)
    assert told(model) == of_rows(rows.iloc[each], model.labels_[each])


def test_a_cluster_without_any_number_has_no_quartiles(tmp_path):
    frame = pd.DataFrame({"a": list("xxxyyy"), "b": list("ppqrrs"), "paid": [1.5, 2.5, 9.5] + [np.nan] * 3})
    frame["age"] = [1.5, 1.5, 1.5, 4.5, 4.5, 4.5]
    model = catalpa.KPrototypes(2, init=frame.iloc[[0, 3]].fillna(1.5), random_state=0).fit(frame)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert told(model)["paid"][0] == [1.5, 2.5, 9.5]
    assert np.isnan(told(model)["paid"][1]).all()
    assert told(model)["age"] == [[1.5] * 3, [4.5] * 3]
    model.save(tmp_path / "model.json")
    pd.testing.assert_frame_equal(catalpa.load(tmp_path / "model.json").profiles_, model.profiles_)


def test_of_a_large_table_some_rows_are_taken(rows, monkeypatch):
    monkeypatch.setattr("catalpa.estimator.base.QUARTILE_ROWS", 40)
    model = fitted("kprototypes", rows)
    drawn = search_positions(len(rows), 40, seed=0)
    assert told(model) == of_rows(rows.iloc[drawn], model.labels_[drawn])
    assert told(model) != of_rows(rows, model.labels_)


def test_the_largest_numbers_have_quartiles():
    frame = pd.DataFrame({"a": list("xxyy"), "paid": [-1.7e308, 0.0, 1.7e308, 1.7e308], "age": [0.5] * 4})
    found = np.array(told(catalpa.KPrototypes(1, random_state=0).fit(frame))["paid"])
    assert found == pytest.approx(np.array([[-1.7e308, 0.0, 1.7e308]]), rel=1e-6, abs=1e301)


@pytest.mark.parametrize("method", ["grove", "kprototypes", "disc"])
def test_they_are_kept_with_the_model(method, rows, tmp_path):
    model = fitted(method, rows).name_clusters({0: "the first"})
    model.save(tmp_path / "model.json")
    for again in (catalpa.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        pd.testing.assert_frame_equal(again.profiles_, model.profiles_)
    assert told(model) == of_rows(rows, model.labels_)


def test_with_a_checkpoint_they_are_the_same(rows, tmp_path):
    plain = fitted("grove", rows)
    kept = clone(plain).set_params(checkpoint=tmp_path / "passes").fit(rows)
    assert told(kept) == told(plain)


def test_batches_leave_those_of_the_last_search(rows, tmp_path):
    model = catalpa.Grove(3, n_init=2, random_state=0).partial_fit(rows[:70])
    first = told(model)
    assert first == of_rows(rows[:70], model.labels_)
    model.partial_fit(rows[70:])  # too few rows for another search
    assert told(model) == first
    assert model.profiles_["size"].unique().sum() == 90
    model.save(tmp_path / "model.json")
    assert told(catalpa.load(tmp_path / "model.json")) == first


def test_another_fit_forgets_them(rows):
    model = fitted("kprototypes", rows)
    model.fit(rows[:50])
    assert told(model) == of_rows(rows[:50], model.labels_)
