"""Attributes in the user's own words: the types of centres, and how many digits of a mean are told."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from catalpa import CBDM, CDCDR, CURE, DISC, WOCIL, Grove, KModes, KPrototypes, SigDT
from catalpa.cluster.registry import METHODS
from catalpa.datasets import load

FRAME = pd.DataFrame(
    {
        "plan": pd.Categorical(["a", "b", "b", "a"]),
        "paid": [353.1, 353.1, 1000.7, 0.2],
        "size": pd.Categorical(["low", "high", "high", "low"], ["low", "high"], ordered=True),
        "new": [True, False, False, True],
    }
)

ZOO = load("zoo").frame


def centers_of(table):
    return KPrototypes(2, random_state=0).fit(table).cluster_centers_


def test_categories_come_back_in_the_type_they_came_in():
    centers = centers_of(FRAME)
    assert centers.dtypes[["plan", "size", "new"]].equals(FRAME.dtypes[["plan", "size", "new"]])
    assert sorted(centers["plan"]) == ["a", "b"]
    assert centers["size"].max() == "high"


def test_every_library_keeps_its_types():
    assert centers_of(pl.from_pandas(FRAME)).schema == pl.from_pandas(FRAME).schema
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    assert centers_of(table).schema.equals(table.schema, check_metadata=False)


def test_a_table_without_types_gives_a_frame_of_objects_and_numbers():
    centers = centers_of([["a", 1.5], ["a", 2.5], ["b", 9.0], ["b", 9.5]])
    assert centers.dtypes.tolist() == [object, float]
    assert centers.columns.tolist() == ["x0", "x1"]


def test_centres_of_numbers_alone_are_a_frame_too():
    assert centers_of(FRAME[["paid"]]).shape == (2, 1)
    assert centers_of(pa.table({"paid": [1.5, 9.25]})).num_rows == 2


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9, 1e300])
def test_means_are_told_without_the_noise_of_the_grid(scale):
    numbers = [0.0, 353.1, 353.1, 1000.7, 1000.7]
    frame = pd.DataFrame({"kind": list("aabbb"), "paid": [number * scale for number in numbers]})
    model = KPrototypes(2, random_state=0).fit(frame)
    told = sorted(model.cluster_centers_["paid"])
    assert told == pytest.approx([235.4 * scale, 1000.7 * scale], rel=1e-6)
    assert scale != 1.0 or told == [235.4, 1000.7]


def test_a_column_that_does_not_vary_is_told_exactly():
    frame = pd.DataFrame({"kind": ["a", "b"], "paid": [1.23456789e-12] * 2})
    assert centers_of(frame)["paid"].tolist() == [1.23456789e-12] * 2


def test_a_centre_may_be_the_category_of_missing_cells():
    frame = pd.DataFrame({"kind": pd.Categorical(["a", None, None]), "other": ["x", "y", "y"]})
    centers = KModes(2, random_state=0).fit(frame).cluster_centers_
    assert centers["kind"].isna().sum() == 1
    assert centers["kind"].dtype == frame["kind"].dtype


@pytest.mark.parametrize(
    "name", ["profiles_", "cluster_centers_", "history_", "relations_", "schema_", "labels_"]
)
def test_what_is_learned_asks_for_a_fit_first(name):
    model = Grove(2)
    assert not hasattr(model, name)
    with pytest.raises(NotFittedError, match=rf"This Grove is not fitted yet: call fit\(table\).*{name}"):
        getattr(model, name)


def test_a_name_that_no_model_has_is_told_as_python_does():
    with pytest.raises(AttributeError, match="'Grove' object has no attribute 'profile'"):
        Grove(2).profile  # noqa: B018
    with pytest.raises(AttributeError, match="'KModes' object has no attribute 'nothing_'"):
        KModes(1).fit([["a"], ["b"]]).nothing_  # noqa: B018


@pytest.mark.parametrize("entry", METHODS.values(), ids=METHODS)
def test_scikit_learns_names_are_there_where_they_mean_something(entry):
    model = entry.estimator().set_params(**({} if entry.name == "sigdt" else {"n_clusters": 2})).fit(ZOO)
    assert hasattr(model, "cluster_centers_") == (entry.name not in {"sigdt", "mcdc", "wocil"})
    assert hasattr(model, "inertia_") == (entry.name not in {"sigdt", "mcdc", "wocil", "grove"})
    if hasattr(model, "inertia_"):
        assert model.inertia_ == model.cost_


def test_a_name_that_means_nothing_in_a_method_says_what_to_read_instead():
    model = SigDT().fit(ZOO)
    with pytest.raises(AttributeError, match="SigDT has no cluster_centers_: a cluster is a rule"):
        model.cluster_centers_  # noqa: B018
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SigDT().cluster_centers_  # noqa: B018


@pytest.mark.parametrize("method", [KModes, KPrototypes, DISC, CBDM])
@pytest.mark.parametrize("init", ["Huang", "CAO", "Random"])
def test_a_start_is_read_in_any_case_and_kept_as_it_was_given(method, init):
    model = method(2, init=init, random_state=0).fit(ZOO)
    same = method(2, init=init.lower(), random_state=0).fit(ZOO)
    assert model.init == init
    assert model.labels_.tolist() == same.labels_.tolist()


@pytest.mark.parametrize(("method", "init"), [(WOCIL, "OI"), (CURE, "K-Means++"), (CDCDR, "K-means++")])
def test_a_methods_own_start_is_read_in_any_case(method, init):
    default = method(2, random_state=0).fit(ZOO)
    assert method(2, init=init, random_state=0).fit(ZOO).labels_.tolist() == default.labels_.tolist()
