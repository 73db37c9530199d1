"""Fitted estimators go through skops, which writes no pickle, and come back with the same answers."""

from __future__ import annotations

import warnings

import pytest
from tests.optional import OptionalPackage

from catalpa.cluster.registry import METHODS
from catalpa.datasets import load

skops = OptionalPackage("skops.io")


@pytest.mark.parametrize(
    "method", [entry.estimator for entry in METHODS.values()], ids=lambda one: one.__name__
)
def test_a_fitted_estimator_comes_back_from_skops(method):
    names, rows = method().get_params(), load("zoo").frame.iloc[:40]
    wanted = {"n_clusters": 3, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method(**{name: value for name, value in wanted.items() if name in names}).fit(rows)
        written = skops.dumps(model)
        unknown = skops.get_untrusted_types(data=written)
        again = skops.loads(written, trusted=unknown)
        assert again.predict(rows).tolist() == model.labels_.tolist()
    # Types that a reader has to trust are ours alone.
    assert [name for name in unknown if not name.startswith("catalpa.")] == []
