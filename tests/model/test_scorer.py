"""A scorer answers as its model does, row by row."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import catalpa
from catalpa import Grove, KModes
from catalpa.cluster.registry import METHODS
from catalpa.errors import ParameterError, TableError, UnseenCategoryWarning
from catalpa.table.few import FEW_ROWS


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
    with pytest.raises(ParameterError, match="KModes knows no probabilities"):
        KModes(2, random_state=0).fit(zoo).scorer().predict_proba_one(records_of(zoo)[0])


def test_unseen_categories_warn_and_strangers_are_refused_as_in_predict(zoo):
    scorer = KModes(2, random_state=0).fit(zoo).scorer()
    row = records_of(zoo)[0]
    with pytest.warns(UnseenCategoryWarning, match="'legs' holds categories that were not there at fit"):
        scorer.predict_one(row | {"legs": "77"})
    with pytest.raises(TableError, match="strange"):
        scorer.predict_one(row | {"strange": 1})


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
    kept = model._fitted.fixed[False]
    model.predict(zoo)
    assert model._fitted.fixed[False] is kept
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin._fitted.fixed == {}
        np.testing.assert_array_equal(twin.predict(zoo), model.labels_)
    assert FEW_ROWS < len(zoo)
