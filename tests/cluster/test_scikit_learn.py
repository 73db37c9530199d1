"""The scikit-learn contract, for every method of the registry."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from catalpa.cluster.registry import METHODS
from catalpa.datasets import load

BY_POSITION = "shuffles the repeated rows, and starts are drawn by position in the table (as in KMeans)"
BY_ORDER = "shuffles the repeated rows, and rows are visited in their order"
AT_ONCE = "clusters change with every visit: a row that comes twice is visited twice, a weighted one once"
FRACTIONS = "feeds fractional numbers to a method of categories, which refuses them"
ALL_COMBINATIONS = "feeds every combination once, and columns that tell nothing of each other have no context"
OF_CONTEXT = {
    "check_sample_weights_pandas_series": ALL_COMBINATIONS,
    "check_sample_weights_not_an_array": ALL_COMBINATIONS,
}
OF_CATEGORIES_ONLY = {"check_clustering": FRACTIONS, "check_positive_only_tag_during_fit": FRACTIONS}


def expected_to_fail(estimator):
    entry = next(entry for entry in METHODS.values() if type(estimator) is entry.estimator)
    by_content = entry.name == "grove"  # sorts equal rows together before it draws
    # Methods of categories refuse its table before weights matter: the test of weights below is for these.
    reason = (BY_ORDER if entry.name == "wocil" else BY_POSITION) if entry.mixed else FRACTIONS
    drawn = {} if by_content else {"check_sample_weight_equivalence_on_dense_data": reason}
    undefined = OF_CONTEXT if entry.name == "cbdm" else {}
    return drawn if entry.mixed else {**drawn, **undefined, **OF_CATEGORIES_ONLY}


every_method = pytest.mark.parametrize(
    "method", [entry.estimator for entry in METHODS.values()], ids=lambda method: method.__name__
)
COLOURS = {"colour": ["red", "red", "blue", "blue"] * 3, "shape": ["round", "oval", "square", "square"] * 3}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [entry.estimator() for entry in METHODS.values()],
    expected_failed_checks=expected_to_fail,
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def small(method, **settings):
    """A model of two clusters that is repeatable, where the method can be told so."""
    names = method().get_params()
    wanted = {"n_clusters": 2, "random_state": 0, **settings}
    return method(**{name: value for name, value in wanted.items() if name in names})


WEIGHTED = [
    pytest.param(entry.estimator, marks=pytest.mark.xfail(reason=AT_ONCE) if entry.name == "mcdc" else ())
    for entry in METHODS.values()
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", WEIGHTED, ids=lambda method: method.__name__)
def test_a_weight_is_the_row_so_many_times_and_none_is_no_row(method):
    zoo = load("zoo").frame
    weights = np.random.default_rng(0).integers(1, 4, len(zoo))
    # Of rows that come twice only: a category is there also where all rows that have it weigh nothing.
    weights[zoo.duplicated()] = 0
    repeated = zoo.loc[np.repeat(zoo.index, weights)]
    weighted = small(method, n_clusters=4).fit(zoo, sample_weight=weights.astype(float))
    written = small(method, n_clusters=4).fit(repeated)
    assert np.repeat(weighted.labels_, weights).tolist() == written.labels_.tolist()
    assert weighted.predict(zoo).tolist() == written.predict(zoo).tolist()
    assert weighted.cluster_sizes_.tolist() == written.cluster_sizes_.tolist()


@every_method
def test_it_works_at_the_end_of_a_pipeline(method):
    frame = pd.DataFrame(COLOURS)
    upper = FunctionTransformer(lambda table: table.apply(lambda column: column.str.upper()))
    labels = make_pipeline(upper, small(method)).fit_predict(frame)
    assert labels.tolist() == small(method).fit_predict(frame).tolist()


@every_method
def test_a_clone_is_unfitted_and_fits_alike(method):
    model = small(method).fit(pd.DataFrame(COLOURS))
    twin = clone(model)
    assert not hasattr(twin, "labels_")
    assert twin.fit(pd.DataFrame(COLOURS)).labels_.tolist() == model.labels_.tolist()


@every_method
def test_fitting_leaves_the_settings_as_they_were(method):
    model = small(method)
    before = dict(model.get_params())
    assert model.fit(pd.DataFrame(COLOURS)).get_params() == before


@every_method
def test_a_pickled_model_predicts_the_same(method):
    model = small(method).fit(pd.DataFrame(COLOURS))
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(pd.DataFrame(COLOURS)).tolist() == model.predict(pd.DataFrame(COLOURS)).tolist()


@every_method
def test_grid_search_scores_every_setting(method):
    if "n_clusters" not in method().get_params():
        pytest.skip("finds the number of clusters itself")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(small(method), {"n_clusters": [1, 2, 3]}, cv=2).fit(load("zoo").frame)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_params_["n_clusters"] == 1 + scores.argmax()


@every_method
@pytest.mark.parametrize(("container", "frame_type"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_distances_come_in_the_container_that_was_asked_for(method, container, frame_type):
    frame = pd.DataFrame(COLOURS)
    model = small(method).fit(frame)
    plain = model.transform(frame)
    assert isinstance(plain, np.ndarray)
    with config_context(transform_output=container):
        assert isinstance(model.transform(frame), frame_type)
    framed = model.set_output(transform=container).transform(frame)
    assert isinstance(framed, frame_type)
    assert list(framed.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(framed.to_numpy(), plain)


@every_method
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_names_of_columns_are_kept_and_checked(method, library):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(library)
    if make is None:
        make = pytest.importorskip("pyarrow").table
    model = small(method).fit(make(COLOURS))
    assert model.feature_names_in_.tolist() == ["colour", "shape"]
    assert model.n_features_in_ == 2
    shapes, colours = COLOURS["shape"], COLOURS["colour"]
    with pytest.raises(ValueError, match=r"(?s)shape.*colour|colour.*shape"):
        model.predict(make({"shape": shapes, "colour": colours}))
    with pytest.raises(ValueError, match="shape"):
        model.predict(make({"colour": colours}))
    with pytest.raises(ValueError, match="form"):
        model.predict(make({"colour": colours, "form": shapes}))


@every_method
def test_answers_come_in_the_library_of_the_table(method):
    for library, make in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        model = small(method).fit(make(COLOURS))
        centers = [model.cluster_centers_] if hasattr(model, "cluster_centers_") else []
        for answer in (model.profiles_, model.history_, *centers):
            modules = [kind.__module__ for kind in type(answer).__mro__]
            assert any(module.startswith(library) for module in modules)
        assert [list(answer.columns) for answer in centers] == [["colour", "shape"]] * len(centers)
        assert len(model.history_) == model.n_iter_


@every_method
def test_the_table_and_its_library_do_not_change_the_labels(method):
    labels = [small(method).fit(make(COLOURS)).labels_.tolist() for make in (pd.DataFrame, pl.DataFrame)]
    rows = [list(row) for row in zip(*COLOURS.values(), strict=True)]
    labels += [small(method).fit(rows).labels_.tolist(), small(method).fit(np.array(rows)).labels_.tolist()]
    assert all(one == labels[0] for one in labels)
