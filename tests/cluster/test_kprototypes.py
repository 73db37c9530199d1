"""KPrototypes by hand, against a transcription, against k-means and against the kmodes package."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kmodes.kprototypes import KPrototypes as OnlineKPrototypes
from kmodes.kprototypes import labels_cost
from kmodes.util.dissim import euclidean_dissim, matching_dissim, ng_dissim
from sklearn.cluster import KMeans
from tests.oracle.kprototypes import k_prototypes
from tests.oracle.settling import Row, without_empty

import catalpa
from catalpa import KModes, KPrototypes
from catalpa.errors import ColumnWarning, ParameterError, UnseenCategoryWarning
from catalpa.metrics import adjusted_rand

TOY = pd.DataFrame(
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]], columns=["a", "b", "c"]
).assign(y=[0.0, 0.1, 0.2, 0.9, 0.8, 1.0])
CATEGORIES = ["a", "b", "c"]


def quietly(model, table, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, **more)


def mixed(seed, n=60, numbers=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"y{at}": rng.random(n) for at in range(numbers)})
    return frame.assign(**{name: rng.choice(list("uvw"), n) for name in "pqr"})


def test_a_small_table_worked_by_hand():
    # gamma is half the standard deviation .408248. From rows 1 and 5 the first pass costs 0 for them and
    # .2141, .4182 | .2141, .4482 for the others; then the means are .1 and .9, and four cells differ:
    # .04 + 4 * .204124.
    model = KPrototypes(2, init=TOY.iloc[[1, 5]], categorical_features=CATEGORIES).fit(TOY)
    assert model.gamma_ == pytest.approx(0.204124, abs=1e-6)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.history_["cost"].tolist() == pytest.approx([1.294745, 0.856497], abs=1e-6)
    assert model.cost_ == pytest.approx(0.04 + 4 * 0.204124, abs=1e-5)
    assert model.cluster_centers_[CATEGORIES].to_numpy().tolist() == [[0, 0, 0], [1, 1, 2]]
    np.testing.assert_allclose(model.cluster_centers_["y"], [0.1, 0.9], atol=1e-7)


def test_first_distances_of_the_small_table_worked_by_hand():
    model = quietly(KPrototypes(2, init=TOY.iloc[[1, 5]], categorical_features=CATEGORIES, max_iter=1), TOY)
    expected = [
        [0.214124, 1.612372],
        [0.0, 1.422372],
        [0.418248, 1.252372],
        [1.252372, 0.214124],
        [0.898248, 0.448248],
        [1.422372, 0.0],
    ]
    np.testing.assert_allclose(model.transform(TOY), expected, atol=1e-6)


@st.composite
def mixed_tables(draw):
    cell, number = st.sampled_from("abc"), st.integers(0, 4)
    rows = draw(st.lists(st.tuples(cell, cell, number), min_size=2, max_size=12))
    rows += [("a", "a", 0), ("b", "c", 4)]  # the numbers span [0, 1], so that scaling leaves them
    starts = draw(st.lists(st.sampled_from(rows), min_size=1, max_size=4))
    return [[*cells, number / 4] for *cells, number in rows], [[*cells, at / 4] for *cells, at in starts]


def as_rows(table):
    return [Row(tuple(cells), (Fraction(number),)) for *cells, number in table]


@given(mixed_tables(), st.sampled_from([0.125, 0.5, 1.0, 2.0]), st.sampled_from(["keep", "reseed"]))
def test_labels_and_cost_are_those_of_the_transcription(drawn, gamma, empty):
    table, starts = (pd.DataFrame(rows, columns=["p", "q", "y"]) for rows in drawn)
    oracle = k_prototypes(as_rows(drawn[0]), as_rows(drawn[1]), gamma=Fraction(gamma), empty=empty)
    settings = {"init": starts, "gamma": gamma, "empty_clusters": empty}
    model = quietly(KPrototypes(len(starts), categorical_features=["p", "q"], **settings), table)
    assert model.labels_.tolist() == without_empty(oracle.labels)
    assert model.cost_ == pytest.approx(float(sum(oracle.costs)), abs=1e-6)


def package_parts(frame):
    numbers = frame.select_dtypes("number")
    scaled = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    return scaled.to_numpy(), frame.select_dtypes(exclude="number").to_numpy(dtype=object)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_costs_from_the_same_centres_are_those_of_the_kmodes_package(seed, gamma):
    frame = mixed(seed)
    numbers, cells = package_parts(frame)
    start = frame.iloc[:4]
    low, high = frame[["y0", "y1"]].min(), frame[["y0", "y1"]].max()
    for passes in (1, 100):
        settings = {"gamma": gamma, "init": start, "max_iter": passes, "empty_clusters": "keep"}
        model = quietly(KPrototypes(4, **settings), frame)
        centers = start if passes == 1 else model.cluster_centers_
        modes = centers[list("pqr")].to_numpy(dtype=object)
        means = ((centers[["y0", "y1"]] - low) / (high - low)).to_numpy()
        labels, cost = labels_cost(numbers, cells, [means, modes], euclidean_dissim, matching_dissim, gamma)
        assert model.labels_.tolist() == labels.tolist()
        assert model.cost_ == pytest.approx(cost, rel=1e-6)


def test_the_mean_cost_over_starts_is_close_to_that_of_the_kmodes_package():
    """Both begin at the same rows; the package moves prototypes after every row, so single starts differ."""
    frame = mixed(0, n=120)
    numbers, letters = package_parts(frame)
    cells = np.searchsorted(list("uvw"), letters.astype(str))  # the package takes starts as codes
    rng = np.random.default_rng(0)
    ours, theirs = [], []
    for _ in range(10):
        chosen = rng.choice(len(frame), 3, replace=False)
        ours.append(quietly(KPrototypes(3, gamma=0.5, init=frame.iloc[chosen]), frame).cost_)
        peer = OnlineKPrototypes(
            3, gamma=0.5, init=[numbers[chosen], cells[chosen]], n_init=1, random_state=0
        )
        theirs.append(peer.fit(np.hstack([numbers, cells]), categorical=[2, 3, 4]).cost_)
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.03)


@given(st.integers(0, 2**31))
def test_with_gamma_zero_it_is_k_means(seed):
    frame = mixed(seed)
    scaled = package_parts(frame)[0]
    model = quietly(KPrototypes(3, gamma=0.0, init=frame.iloc[:3]), frame)
    peer = KMeans(3, init=scaled[:3], n_init=1, tol=0, algorithm="lloyd").fit(scaled)
    assert model.labels_.tolist() == peer.labels_.tolist()
    assert model.cost_ == pytest.approx(peer.inertia_, rel=1e-5)


@given(st.integers(0, 2**31), st.sampled_from([None, 0.3, 2.0]))
def test_without_numbers_it_is_k_modes(seed, gamma):
    frame = mixed(seed, numbers=0)
    model = quietly(KPrototypes(3, gamma=gamma, random_state=seed), frame)
    peer = quietly(KModes(3, random_state=seed), frame)
    assert model.labels_.tolist() == peer.labels_.tolist()
    assert model.cost_ == pytest.approx(peer.cost_ * model.gamma_)
    assert model.gamma_ == (1.0 if gamma is None else gamma)


@given(st.integers(0, 2**31), st.sampled_from(["minmax", "zscore", None]))
def test_the_cost_never_rises(seed, scale):
    costs = quietly(KPrototypes(4, scale=scale, n_init=1, random_state=seed), mixed(seed)).history_["cost"]
    assert (np.diff(costs) <= 1e-6).all()


@given(st.integers(0, 2**31), st.sampled_from(["minmax", "zscore", None]))
def test_adding_a_constant_to_a_column_changes_nothing(seed, scale):
    frame = mixed(seed)
    moved = frame.assign(y0=frame["y0"] + 4.0)
    one, other = (
        quietly(KPrototypes(3, scale=scale, n_init=2, random_state=0), each) for each in (frame, moved)
    )
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.cost_ == pytest.approx(other.cost_, rel=1e-5)


def test_z_scores_are_those_of_a_table_standardised_beforehand():
    frame = mixed(1)
    frame["y0"] *= 1000
    numbers = frame[["y0", "y1"]]
    standard = frame.assign(**((numbers - numbers.mean()) / numbers.std(ddof=0)))
    one = KPrototypes(3, scale="zscore", init=frame.iloc[:3]).fit(frame)
    other = KPrototypes(3, scale=None, init=standard.iloc[:3]).fit(standard)
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.gamma_ == pytest.approx(0.5, rel=1e-5)
    assert one.cost_ == pytest.approx(other.cost_, rel=1e-5)


def test_default_gamma_is_half_the_mean_deviation_after_scaling():
    frame = mixed(2)
    assert quietly(KPrototypes(2), frame).gamma_ == pytest.approx(
        0.5 * package_parts(frame)[0].std(axis=0).mean(), rel=1e-6
    )
    assert quietly(KPrototypes(2, scale=None), frame).gamma_ == pytest.approx(
        0.5 * frame[["y0", "y1"]].std(ddof=0).mean(), rel=1e-6
    )


@pytest.mark.parametrize("scale", ["minmax", "zscore", None])
def test_a_constant_number_changes_nothing(scale):
    frame = mixed(3)
    plain = quietly(KPrototypes(3, scale=scale, gamma=0.2, random_state=0), frame)
    wider = quietly(KPrototypes(3, scale=scale, gamma=0.2, random_state=0), frame.assign(same=7.5))
    assert plain.labels_.tolist() == wider.labels_.tolist()


def test_numbers_that_never_vary_leave_the_categories_their_weight():
    frame = mixed(4, numbers=0).assign(same=7.5)
    assert quietly(KPrototypes(2), frame).gamma_ == 1.0


def test_a_column_that_decides_alone_is_named_when_numbers_are_not_scaled():
    frame = mixed(5)
    frame["y1"] *= 1e4
    with pytest.warns(ColumnWarning, match=r"'y1' is \d+ times that of 'y0'.*scale='minmax'") as caught:
        KPrototypes(2, scale=None, n_init=1, random_state=0).fit(frame)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        KPrototypes(2, scale="minmax", n_init=1, random_state=0).fit(frame)
        KPrototypes(2, scale=None, n_init=1, random_state=0).fit(mixed(5))
        KPrototypes(2, scale=None, n_init=1, random_state=0).fit(mixed(5, numbers=0).assign(same=7.5))


def test_numbers_too_large_to_square_are_refused_unscaled():
    frame = mixed(6).assign(y0=np.linspace(0, 1e200, 60))
    with pytest.raises(ParameterError, match=r"scale=None is not possible.*y0"):
        KPrototypes(2, scale=None).fit(frame)
    assert quietly(KPrototypes(2, random_state=0), frame).n_clusters_ == 2


@pytest.mark.parametrize("settings", [{"gamma": -1.0}, {"scale": "max"}, {"gamma": "auto"}])
def test_settings_that_cannot_work_are_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        KPrototypes(2, **settings).fit(TOY)


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_missing_cells_are_taken_and_predicted_again(missing):
    frame = mixed(7).astype(dict.fromkeys("pqr", object))
    frame.loc[3, "p"] = None
    frame.loc[5, "y0"] = np.nan
    model = quietly(KPrototypes(3, missing=missing, random_state=0), frame)
    assert model.predict(frame).tolist() == model.labels_.tolist()


def test_an_unseen_category_costs_gamma_in_every_cluster():
    frame = mixed(8)
    model = quietly(KPrototypes(3, gamma=0.4, random_state=0), frame)
    new = frame.iloc[:1].assign(p="new")
    with pytest.warns(UnseenCategoryWarning, match="'p'"):
        costs = model.transform(new)
    without = model.transform(frame.iloc[:1])[0] - 0.4 * (model.cluster_centers_["p"] != frame["p"][0])
    np.testing.assert_allclose(costs[0], without + 0.4, atol=1e-9)


def test_weight_two_is_the_row_twice():
    frame = mixed(9)
    weights = np.random.default_rng(0).integers(1, 4, len(frame))
    one = quietly(KPrototypes(3, init=frame.iloc[:3]), frame, sample_weight=weights)
    other = quietly(KPrototypes(3, init=frame.iloc[:3]), frame.loc[np.repeat(frame.index, weights)])
    assert np.repeat(one.labels_, weights).tolist() == other.labels_.tolist()
    assert one.cost_ == pytest.approx(other.cost_)


@pytest.mark.parametrize("scale", ["minmax", "zscore", None])
@pytest.mark.parametrize("init", ["random", "huang", "cao"])
def test_a_model_read_back_predicts_the_same(tmp_path, scale, init):
    frame = mixed(10)
    model = quietly(KPrototypes(3, scale=scale, init=init, random_state=0), frame)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    assert again.predict(frame).tolist() == model.labels_.tolist()
    assert again.gamma_ == model.gamma_
    assert again.balance_ == pytest.approx(model.balance_)


def test_labels_do_not_depend_on_threads():
    frame = mixed(11)
    one, other = (quietly(KPrototypes(3, random_state=0, n_jobs=jobs), frame) for jobs in (1, 2))
    assert one.labels_.tolist() == other.labels_.tolist()


STOCKS = pd.DataFrame(
    {
        "cap": [738.5, 369.5, 368.2, 346.7, 343.5, 282.4, 282.1, 279.7, 257.2, 205.2, 192.1, 195.7],
        "sector": ["tech", "nrg", "tech", "tech", "fin", "fin", "tel", "cons", "cons", "tel", "tech", "nrg"],
        "country": ["USA"] * 6 + ["CN"] + ["USA"] * 4 + ["NL"],
    }
)


@pytest.mark.parametrize("init", ["Cao", "Huang"])
@pytest.mark.parametrize("dissimilarity", ["matching", "ng"])
def test_numbers_of_a_start_are_drawn_as_in_the_kmodes_package(init, dissimilarity):
    """Four sizes of company: the rows that categories choose are nowhere near them."""
    measure = {"matching": matching_dissim, "ng": ng_dissim}[dissimilarity]
    peer = OnlineKPrototypes(4, init=init, cat_dissim=measure, random_state=42)
    theirs = peer.fit_predict(STOCKS.to_numpy(dtype=object), categorical=[1, 2])
    settings = {"scale": None, "dissimilarity": dissimilarity, "random_state": 42}
    ours = KPrototypes(4, init=init, **settings).fit(STOCKS)
    assert adjusted_rand(theirs, ours.labels_) == 1.0
    if dissimilarity == "matching":  # kmodes prices its centres by plain matching
        assert ours.cost_ == pytest.approx(peer.cost_, rel=1e-6)


def test_cao_starts_as_often_as_n_init_says_where_numbers_are_drawn():
    one = KPrototypes(4, init="cao", n_init=1, random_state=0).fit(STOCKS)
    many = KPrototypes(4, init="cao", n_init=20, random_state=0).fit(STOCKS)
    assert many.cost_ < one.cost_
    plain = STOCKS[["sector", "country"]]
    runs = [KPrototypes(2, init="cao", n_init=5, random_state=seed).fit(plain).labels_ for seed in (0, 1)]
    assert runs[0].tolist() == runs[1].tolist()
