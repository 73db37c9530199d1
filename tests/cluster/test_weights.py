"""What row weights mean, for every method: equal ones nothing, 0 no row, 2 the row twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from catalpa import HARR, MCDC, WOCIL, KModes
from catalpa.cluster.registry import METHODS
from catalpa.datasets import load, make_categorical
from catalpa.plot.view import make_view
from catalpa.table.weights import weight_units

SAMPLE_SIZE = ("grove", "sigdt")  # take the sum of the weights as the size of the sample, by definition
VARIANTS = {
    "harr": [{"variant": variant} for variant in ("V", "M", "H2H")],
    "mcdc": [{}, {"granular_init": "random", "came_init": "random", "n_init": 2}],
    "wocil": [{}, {"shuffle": True}],
    "cbdm": [{}, {"clusterer": "embedding"}],
    "hdc": [{}, {"weighting": "none", "descriptor": "medoid"}],
}
EVERY = [
    pytest.param(entry.estimator, settings, id="-".join([entry.name, *map(str, settings.values())]))
    for entry in METHODS.values()
    for settings in VARIANTS.get(entry.name, [{}])
]
SCALE_FREE = [one for one in EVERY if one.id.split("-")[0] not in SAMPLE_SIZE]

pytestmark = pytest.mark.filterwarnings("ignore::Warning")


def fitted(method, settings, table, weights=None):
    names = method().get_params()
    wanted = {"n_clusters": 4, "n_init": 1, "random_state": 0}
    model = method(**{name: value for name, value in wanted.items() if name in names} | settings)
    return model.fit(table, sample_weight=weights)


@pytest.fixture(scope="module")
def noisy():
    return make_categorical(150, columns=5, clusters=4, noise=0.5, seed=2).frame


@pytest.fixture(scope="module")
def with_missing_values():
    """Rows of weight 1, and among them rows of weight 0 with categories that no other row has."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.choice(list("bcd"), size=(90, 4)), columns=list("pqrs")).assign(same="always")
    strange = rows.sample(20, random_state=0).assign(same="never")
    for name in "pr":
        strange[name] = rng.choice(["A", "Z", "b"], size=len(strange))
    both = pd.concat([rows.assign(weight=1.0), strange.assign(weight=0.0)]).sample(frac=1.0, random_state=1)
    both = both.reset_index(drop=True)
    return both.drop(columns="weight"), both["weight"].to_numpy()


@pytest.mark.parametrize("weight", [2, 3, 0.5, 0.7, 1000.0])
@pytest.mark.parametrize(("method", "settings"), SCALE_FREE)
def test_equal_weights_change_no_label(method, settings, weight, noisy):
    plain = fitted(method, settings, noisy)
    weighted = fitted(method, settings, noisy, np.full(len(noisy), weight))
    assert weighted.labels_.tolist() == plain.labels_.tolist()
    assert weighted.cost_ == pytest.approx(plain.cost_ * weight, rel=1e-9)
    assert weighted.cluster_sizes_.tolist() == pytest.approx((plain.cluster_sizes_ * weight).tolist())


@pytest.mark.parametrize(("method", "settings"), EVERY)
def test_rows_of_weight_zero_are_as_if_removed(method, settings, with_missing_values):
    table, weights = with_missing_values
    weighted, removed = fitted(method, settings, table, weights), fitted(method, settings, table[weights > 0])
    assert weighted.labels_[weights > 0].tolist() == removed.labels_.tolist()
    assert weighted.cost_ == pytest.approx(removed.cost_, rel=1e-9)
    assert weighted.labels_.min() >= 0
    assert weighted.schema_.axis.length == removed.schema_.axis.length
    quiet = removed.set_params(handle_unknown="ignore")
    assert weighted.labels_.tolist() == quiet.predict(table).tolist()


@pytest.mark.parametrize("variant", ["V", "M", "H2H"])
def test_rows_of_weight_zero_are_as_if_removed_among_numbers(variant):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=80), "kind": rng.choice(list("abc"), 80)})
    weights = np.ones(80)
    table.loc[:9, "size"], weights[:10] = 50.0, 0.0
    weighted = HARR(3, variant=variant, random_state=0).fit(table, sample_weight=weights)
    removed = HARR(3, variant=variant, random_state=0).fit(table[10:])
    assert weighted.labels_[10:].tolist() == removed.labels_.tolist()


@pytest.mark.parametrize(("method", "settings"), [one for one in EVERY if not one.id.startswith("mcdc")])
def test_a_weight_is_the_row_that_many_times(method, settings, noisy):
    if settings.get("shuffle"):
        pytest.skip("more rows are shuffled in another way")
    weights = np.random.default_rng(0).integers(1, 4, len(noisy))
    weighted = fitted(method, settings, noisy, weights)
    written = fitted(method, settings, noisy.loc[np.repeat(noisy.index, weights)])
    assert np.repeat(weighted.labels_, weights).tolist() == written.labels_.tolist()


def test_weights_of_competing_clusters_are_relative():
    zoo = load("zoo").frame
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(zoo))
    for method in (MCDC, WOCIL):
        models = [method(5).fit(zoo, sample_weight=weights * factor) for factor in (1.0, 4.0)]
        assert models[0].labels_.tolist() == models[1].labels_.tolist()


def test_partitions_of_a_competition_have_a_label_for_rows_of_weight_zero(with_missing_values):
    table, weights = with_missing_values
    model = MCDC(3).fit(table, sample_weight=weights)
    assert model.granularity_labels_.shape == (len(table), len(model.granularities_))
    assert (model.granularity_labels_ >= 0).all()
    assert model.granularity_labels_.max(axis=0).tolist() == [k - 1 for k in model.granularities_]


def test_more_clusters_than_weighted_rows_are_refused():
    with pytest.raises(ValueError, match="n_samples=2"):
        KModes(3).fit([["a"], ["b"], ["c"]], sample_weight=[1, 1, 0])


@pytest.mark.parametrize(
    ("weights", "units", "per_weight"),
    [
        ([3, 3, 3], None, 1 / 3),
        ([4, 6, 0], [2, 3, 0], 0.5),
        ([0.1, 0.3, 0.2], [1, 3, 2], 10.0),
        ([0.7, 0.7, 0.0], [1, 1, 0], 1 / 0.7),
        ([1, 1, 1], None, 1.0),
    ],
)
def test_weights_are_counted_in_their_common_unit(weights, units, per_weight):
    counted, per = weight_units(weights, 3)
    assert (counted if counted is None else counted.tolist()) == units
    assert per == pytest.approx(per_weight, rel=1e-12)


def test_sizes_of_equally_weighted_rows_are_exact(noisy):
    sizes = KModes(3, random_state=0).fit(noisy).cluster_sizes_
    thirds = KModes(3, random_state=0).fit(noisy, sample_weight=np.full(len(noisy), 49))
    assert thirds.cluster_sizes_.tolist() == (sizes * 49).tolist()
    tenths = KModes(3, random_state=0).fit(noisy, sample_weight=np.full(len(noisy), 0.1))
    assert tenths.cluster_sizes_.tolist() == (sizes / 10).round(9).tolist()


def test_a_report_of_equally_weighted_rows_is_in_weights(noisy):
    weights = np.full(len(noisy), 2.5)
    model = KModes(3, random_state=0).fit(noisy, sample_weight=weights)
    view = make_view(model, noisy, sample_weight=weights)
    assert view.is_fit_table
    assert not make_view(model, noisy).is_fit_table
    assert view.sizes.sum() == pytest.approx(2.5 * len(noisy))
    assert view.weights.tolist() == pytest.approx(weights.tolist())
