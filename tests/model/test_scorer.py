"""A scorer answers as its model does, row by row."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import UserDict
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import catalpa
from catalpa import Grove, KModes
from catalpa.cluster.registry import METHODS
from catalpa.errors import ColumnMismatch, MissingValues, ParameterError, UnseenCategoryWarning
from catalpa.table.encode_few import FEW_ROWS


@pytest.fixture(scope="module")
def zoo():
    return catalpa.datasets.load("zoo").frame


def records_of(frame):
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.to_numpy(dtype=object).tolist()]


@pytest.mark.parametrize("method", METHODS)
def test_every_row_gets_the_label_of_predict(method, zoo, monkeypatch):
    wanted = {"n_clusters": 4, "random_state": 0}
    takes = METHODS[method].estimator().get_params()
    model = METHODS[method].estimator(**{name: value for name, value in wanted.items() if name in takes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scorer = model.fit(zoo).scorer()
    found = [scorer.predict_one(record) for record in records_of(zoo)]
    monkeypatch.setattr("catalpa.estimator.base.few_rows", lambda *_: None)
    np.testing.assert_array_equal(found, model.predict(zoo))


def test_probabilities_are_those_of_the_model(zoo):
    model = Grove(3, random_state=0).fit(zoo)
    scorer, rows = model.scorer(), records_of(zoo)[:5]
    whole = model.predict_proba(zoo)[:5]
    np.testing.assert_array_equal(scorer.predict_proba(rows), whole)
    np.testing.assert_array_equal(scorer.predict_proba_one(rows[2]), whole[2])
    np.testing.assert_array_equal(scorer.predict(rows), model.predict(zoo)[:5])


def test_a_method_without_probabilities_says_so(zoo):
    with pytest.raises(ParameterError, match="KModes assigns every row to one cluster and has no"):
        KModes(2, random_state=0).fit(zoo).scorer().predict_proba_one(records_of(zoo)[0])


def test_unseen_categories_warn_and_strangers_are_refused_as_in_predict(zoo):
    scorer = KModes(2, random_state=0).fit(zoo).scorer()
    row = records_of(zoo)[0]
    with pytest.warns(UnseenCategoryWarning, match="'legs' holds categories not seen at fit"):
        scorer.predict_one(row | {"legs": "77"})
    with pytest.raises(ColumnMismatch, match="strange"):
        scorer.predict_one(row | {"strange": 1})


@pytest.mark.parametrize("kind", [dict, UserDict, MappingProxyType])
def test_keys_are_errors_unless_a_setting_ignores_them(zoo, kind):
    model = Grove(3, random_state=0).fit(zoo)
    row, label = records_of(zoo)[0], int(model.labels_[0])
    more, less = (
        kind({**row, "id": 7, "note": "x"}),
        kind({name: row[name] for name in row if name != "legs"}),
    )
    assert model.scorer().predict_one(kind(row)) == label
    with pytest.raises(
        ColumnMismatch, match=r"Row 1 has the unknown keys \['id', 'note'\].*unknown_keys='ignore'"
    ):
        model.scorer().predict([row, more])
    with pytest.raises(ColumnMismatch, match=r"Row 0 has no \['legs'\].*missing_keys='ignore'"):
        model.scorer().predict_one(less)
    with pytest.raises(ColumnMismatch, match=r"unknown keys \['Legs'\] and has no \['legs'\]"):
        model.scorer().predict_proba_one(kind({**less, "Legs": "4"}))
    assert model.scorer(unknown_keys="ignore").predict_one(more) == label
    with pytest.raises(ColumnMismatch, match="has no"):
        model.scorer(unknown_keys="ignore").predict_one(less)
    with pytest.raises(ColumnMismatch, match="unknown keys"):
        model.scorer(missing_keys="ignore").predict_one(more)
    ignoring = model.scorer(missing_keys="ignore")
    absent = [{**row, "legs": None}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        assert ignoring.predict_one(less) == model.predict(absent)[0]
        np.testing.assert_array_equal(ignoring.predict_proba_one(less), model.predict_proba(absent)[0])


def test_a_missing_key_is_refused_as_a_missing_value_is():
    model = KModes(2, random_state=0, missing="error").fit([{"a": "x", "b": "u"}, {"a": "y", "b": "v"}])
    with pytest.raises(MissingValues, match="'b'"):
        model.scorer(missing_keys="ignore").predict_one({"a": "x"})


def test_keys_of_a_table_without_names_are_its_positions():
    model = KModes(2, random_state=0).fit([["x", "u"], ["x", "u"], ["y", "v"]])
    assert model.scorer().predict_one({"x1": "v", "x0": "y"}) == model.labels_[2]
    with pytest.raises(ColumnMismatch, match=r"unknown keys \['a'\]"):
        model.scorer().predict_one({"a": "x", "x1": "u", "x0": "y"})


def test_what_keys_mean_is_error_or_ignore(zoo):
    model = KModes(2, random_state=0).fit(zoo)
    with pytest.raises(ParameterError, match="unknown_keys is 'warn'; it can be 'error' or 'ignore'"):
        model.scorer(unknown_keys="warn")
    with pytest.raises(ParameterError, match="missing_keys is None"):
        model.scorer(missing_keys=None)


def test_a_later_fit_leaves_the_scorer_as_it_is(zoo):
    model = KModes(3, random_state=0).fit(zoo)
    scorer, before = model.scorer(), model.labels_
    model.set_params(n_clusters=2).fit(pd.DataFrame({"a": ["x", "y"] * 4}))
    assert repr(scorer) == "Scorer of KModes, 3 clusters"
    np.testing.assert_array_equal(scorer.predict(zoo), before)


def test_it_needs_a_fitted_model():
    with pytest.raises(NotFittedError):
        KModes(2).scorer()


def test_what_is_prepared_for_labels_is_made_once_and_saved_nowhere(zoo):
    model = KModes(2, random_state=0).fit(zoo)
    model.predict(zoo)
    kept = model._fitted.outcome.integer_costs[False]
    model.predict(zoo)
    assert model._fitted.outcome.integer_costs[False] is kept
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin._fitted.outcome.integer_costs == {}
        np.testing.assert_array_equal(twin.predict(zoo), model.labels_)
    assert FEW_ROWS < len(zoo)
