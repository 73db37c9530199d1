"""KModes against a transcription that shares no code with it, and against the kmodes package."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kmodes.kmodes import KModes as OnlineKModes
from kmodes.util.dissim import ng_dissim
from tests.oracle.kmodes import cao, k_modes, ng_modes
from tests.oracle.settling import Row, without_empty

from catalpa import KModes
from catalpa.datasets import load

TOY = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]]


def fitted(table, starts, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KModes(len(starts), init=starts, **settings).fit(table)


def cells(frame):
    return [[None if cell != cell else cell for cell in row] for row in frame.astype(object).to_numpy()]


@st.composite
def tables_and_starts(draw):
    columns = draw(st.integers(1, 4))
    row = st.lists(st.sampled_from("abcd"), min_size=columns, max_size=columns)
    table = draw(st.lists(row, min_size=1, max_size=14))
    starts = draw(st.lists(st.sampled_from(table), min_size=1, max_size=min(4, len(table))))
    return table, starts


def agree(model, oracle):
    assert model.labels_.tolist() == without_empty(oracle.labels)
    assert model.cost_ == pytest.approx(float(sum(oracle.costs)), rel=1e-9, abs=1e-9)


@given(tables_and_starts(), st.sampled_from(["keep", "reseed"]))
def test_labels_and_cost_are_those_of_the_transcription(drawn, empty):
    table, starts = drawn
    oracle = k_modes([Row(tuple(row)) for row in table], [Row(tuple(row)) for row in starts], empty=empty)
    agree(fitted(table, starts, empty_clusters=empty), oracle)


@given(tables_and_starts(), st.sampled_from(["keep", "reseed"]))
def test_labels_and_cost_of_ngs_measure_are_those_of_the_transcription(drawn, empty):
    table, starts = drawn
    oracle = ng_modes([Row(tuple(row)) for row in table], [Row(tuple(row)) for row in starts], empty=empty)
    agree(fitted(table, starts, empty_clusters=empty, dissimilarity="ng"), oracle)


def test_ngs_measure_worked_by_hand():
    rows = [["a", "x"], ["a", "x"], ["a", "y"], ["b", "z"]]
    model = fitted(rows, [["a", "x"], ["b", "z"]], dissimilarity="ng")
    assert model.labels_.tolist() == [0, 0, 0, 1]
    # In cluster 0 all hold a (a match costs 0) and two of three hold x (a match costs 1/3, y costs 1).
    expected = [[1 / 3, 2], [1 / 3, 2], [1, 2], [2, 0]]
    np.testing.assert_allclose(model.transform(rows), expected)
    assert model.cost_ == pytest.approx(5 / 3)


def test_ngs_measure_is_that_of_the_kmodes_package():
    codes = load("zoo").frame.apply(lambda column: column.cat.codes).to_numpy()
    model = KModes(4, init="cao", dissimilarity="ng", categorical_features=list(range(16))).fit(codes)
    centers = model.cluster_centers_.to_numpy()
    members = np.stack([model.labels_ == cluster for cluster in range(4)])
    theirs = [ng_dissim(centers, row, X=codes, membship=members) for row in codes]
    np.testing.assert_allclose(model.transform(codes), theirs)


def test_ngs_measure_learns_from_batches():
    votes = load("votes").frame
    model = KModes(2, init=votes.iloc[[0, 2]], dissimilarity="ng").partial_fit(votes[:200])
    model.partial_fit(votes[200:])
    assert model.transform(votes).min() > 0  # with plain matching many rows are their centre
    assert model.predict(votes[200:]).tolist() == model.predict(votes).tolist()[200:]


@pytest.mark.parametrize("name", ["zoo", "votes", "teaching"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("empty", ["keep", "reseed"])
def test_labels_on_real_tables_are_those_of_the_transcription(name, seed, empty):
    data = load(name)
    table = cells(data.frame)
    chosen = np.random.default_rng(seed).choice(len(table), data.n_clusters, replace=False)
    rows = [Row(tuple(row)) for row in table]
    oracle = k_modes(rows, [rows[at] for at in chosen], empty=empty)
    agree(fitted(data.frame, data.frame.iloc[chosen], empty_clusters=empty), oracle)


def test_a_small_table_worked_by_hand():
    # From rows 1 and 5: mismatches 1 0 2 3 2 3 | 3 3 3 1 2 0, so labels 0 0 0 1 0 1 at a cost of 6;
    # the modes become (0, 0, 0) and (1, 1, 2), row 4 changes over, and the cost is 4.
    model = KModes(2, init=[TOY[1], TOY[5]], categorical_features=[0, 1, 2]).fit(np.array(TOY))
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.history_["cost"].tolist()[:2] == [6.0, 4.0]
    assert model.cluster_centers_.to_numpy().tolist() == [[0, 0, 0], [1, 1, 2]]
    assert model.cost_ == 4.0


@given(tables_and_starts())
def test_cao_starts_at_the_rows_of_the_transcription(drawn):
    table, starts = drawn
    rows = [Row(tuple(row)) for row in table]
    k = min(len(starts), len(set(rows)))
    chosen = [table[at] for at in cao(rows, k)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KModes(k, init="cao").fit(table)
    assert model.labels_.tolist() == fitted(table, chosen).labels_.tolist()


def test_cao_starts_on_a_table_worked_by_hand():
    # Densities are 7 7 8 8 8 6, so row 2 is first; times the distance to it row 5 leads, then row 4.
    assert cao([Row(tuple(row)) for row in TOY], 3) == [2, 5, 4]
    by_hand = KModes(3, init=[TOY[2], TOY[5], TOY[4]], categorical_features=[0, 1, 2]).fit(np.array(TOY))
    model = KModes(3, init="cao", categorical_features=[0, 1, 2]).fit(np.array(TOY))
    assert model.labels_.tolist() == by_hand.labels_.tolist()


@pytest.mark.parametrize(
    "name",
    [
        "zoo",
        "votes",
        "dermatology",
        "teaching",
        pytest.param(
            "car",
            marks=pytest.mark.xfail(
                reason="every combination occurs once, so modes of a whole pass tie and stop 2 % too high"
            ),
        ),
    ],
)
def test_mean_cost_is_not_worse_than_that_of_the_kmodes_package(name):
    """Both begin at the same rows; the package moves modes after every row, so single starts differ."""
    data = load(name)
    codes = data.frame.apply(lambda column: column.cat.codes).to_numpy() + 1
    rng = np.random.default_rng(0)
    ours, theirs = [], []
    for _ in range(20):
        chosen = rng.choice(len(codes), data.n_clusters, replace=False)
        ours.append(fitted(data.frame, data.frame.iloc[chosen]).cost_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = OnlineKModes(data.n_clusters, init=codes[chosen], n_init=1, random_state=0).fit(codes)
        theirs.append(peer.cost_)
    assert np.mean(ours) <= np.mean(theirs)
