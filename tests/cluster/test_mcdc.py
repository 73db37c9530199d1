"""MCDC: competition at several granularities, and clusters of rows that stay together."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from tests.oracle.competition import aggregated, granularities

from catalpa import MCDC, load
from catalpa.costs.wocil import MatchingWeights, difference, separating_weights
from catalpa.datasets import load as load_data
from catalpa.errors import UnseenCategoryWarning
from catalpa.metrics import adjusted_rand, clustering_accuracy
from catalpa.steps.in_order.oriented import oriented_rows_as_published
from catalpa.steps.in_order.visits import CompetitionState, OrderedRows, compete
from catalpa.steps.in_order.within_clusters import within_cluster_shares
from catalpa.table.blocks import Axis, Block, Rows

TOY = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 2, 1], [1, 2, 0]])
HALVES = np.array([0, 0, 0, 1, 1, 1])
tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(st.sampled_from("abc"), min_size=d, max_size=d), min_size=4, max_size=30)
)


def in_order(codes):
    axis = Axis(tuple(codes.max(axis=0) + 1))
    return OrderedRows.of(Rows(axis, [Block(codes.astype(axis.dtype), np.zeros((len(codes), 0)))]))


def fitted(k, rows, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MCDC(k, **settings).fit(rows)


def test_oriented_rows_of_the_worked_example():
    assert oriented_rows_as_published(in_order(TOY), 3).tolist() == [0, 3, 4]


def test_weights_of_the_worked_example():
    rows = in_order(TOY)
    inside = within_cluster_shares(rows, HALVES, 2)
    apart = difference(inside.counts, inside.spread, rows.axis)
    assert apart.round(6).tolist() == [[1, 0.666667, 0.333333]] * 2
    assert inside.alike.round(6).tolist() == [[1, 0.555556, 0.555556]] * 2
    weights = separating_weights(apart, inside.alike, 0.0)
    assert weights.round(6).tolist() == [[0.642857, 0.238095, 0.119048]] * 2


def test_a_competition_rewards_the_winner_and_penalises_the_rival():
    _, moved, after = compete(
        in_order(TOY), HALVES, np.full((2, 3), 1 / 3), CompetitionState.fresh(2, 0.03), 0.0
    )
    assert moved == 0
    assert after.wins.tolist() == [4, 4]
    assert after.total == 8
    # Rows 0, 1, 2 are 1/9, 2/9, 2/9 similar to the other cluster; rows 3, 4, 5 are 2/9, 1/9, 2/9.
    assert after.strength == pytest.approx([1 + 3 * 0.03 - 0.03 * 5 / 9] * 2)


def test_partitions_are_weighed_by_their_agreement():
    stacked = in_order(np.array([[0, 0], [0, 0], [1, 0], [1, 1], [2, 1], [2, 1]]))
    method = MatchingWeights(stacked.axis)
    state = method.relearn(method.start(stacked.counts(HALVES, 2)), stacked.counts(HALVES, 2))
    assert state.centers.tolist() == [[0, 0], [2, 1]]
    assert state.weights == pytest.approx([0.4, 0.6])


@given(tables)
def test_granularities_follow_the_paper(rows):
    model = fitted(1, rows)
    assert model.granularity_labels_.T.tolist() == granularities(rows, round(len(rows) ** 0.5))


@given(tables, st.integers(1, 3))
def test_labels_follow_the_paper(rows, k):
    labels = aggregated(granularities(rows, round(len(rows) ** 0.5)), k)
    kept = sorted(set(labels))
    assert fitted(k, rows).published_labels_.tolist() == [kept.index(label) for label in labels]


# Accuracy, adjusted Rand index and granularities from oriented starts.
OI = {
    "CA": (4, 0.2697, 0.0007, [13, 11, 9, 4]),
    "SB": (15, 0.5639, 0.3395, [10, 7, 6, 2]),
    "NU": (5, 0.2511, 0.0022, [27, 8, 7, 6]),
    "CC": (3, 0.4352, 0.0346, [18, 8, 5, 4, 3]),
    "AP": (2, 0.5767, 0.0082, [14]),
    "DT": (6, 0.6313, 0.4786, [15, 9, 7]),
    "AV": (2, 0.5624, -0.0017, [13, 6, 3, 2]),
    "OB": (7, 0.3828, 0.1684, [9, 6, 4, 3, 2]),
    "TA": (3, 0.4238, 0.0477, [10, 8, 7, 6, 5, 3, 2]),
    "BM": (2, 0.6460, 0.0347, [11, 4, 3]),
    "CV": (2, 0.8667, 0.5367, [16, 7, 2]),
    "ZO": (7, 0.6733, 0.6023, [8, 5]),
}


@pytest.mark.parametrize("name", OI)
def test_results_of_oriented_starts(data_home, name):
    k, accuracy, rand, levels = OI[name]
    codes = json.loads((data_home / "paper" / "codes.json").read_text(encoding="utf-8"))[name]
    table = pd.read_csv(next((data_home / "paper").glob(f"{name}.csv*")), dtype=str, keep_default_na=False)
    coded = table.apply(lambda column: column.map(codes[column.name]).astype(int))
    features = coded.drop(columns="class")
    model = fitted(k, features, categorical_features=list(features))
    assert round(clustering_accuracy(coded["class"], model.published_labels_), 4) == accuracy
    assert round(adjusted_rand(coded["class"], model.published_labels_), 4) == rand
    assert model.granularities_ == levels


def test_new_rows_walk_through_the_granularities(tmp_path):
    zoo = load_data("zoo").frame
    model = MCDC(7).fit(zoo)
    assert model.predict(zoo).tolist() == model.labels_.tolist()
    costs = model.transform(zoo)
    assert costs.shape == (101, 7)
    assert costs.argmin(axis=1).tolist() == model.labels_.tolist()
    assert model.score(zoo) == pytest.approx(-model.cost_ / 101)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.predict(zoo).tolist() == model.labels_.tolist()
    assert again.granularities_ == model.granularities_
    assert not hasattr(again, "granularity_labels_")


def test_the_coarsest_granularity_gives_the_number_of_clusters():
    votes = load_data("votes").frame
    model = MCDC(None).fit(votes)
    assert model.n_clusters_ == model.granularities_[-1] == 2


def test_equal_rows_are_one_cluster_at_every_granularity():
    model = MCDC(None).fit([["a", "b"]] * 9)
    assert model.granularities_ == [1]
    assert model.labels_.tolist() == [0] * 9
    # Nothing sets the one cluster apart, so its columns weigh nothing.
    assert model._fitted.outcome.ragged["granules"][0].tolist() == [[0.0], [0.0]]


def test_rows_that_all_differ_still_get_labels():
    model = fitted(None, [["a"], ["b"], ["c"]], k_init=3)
    assert model.labels_.shape == (3,)


@pytest.mark.parametrize("granular_init", ["oi", "random"])
def test_random_starts_repeat_with_their_seed_and_keep_the_cheapest(granular_init):
    zoo = load_data("zoo").frame

    def run(n_init, seed):
        return fitted(
            7, zoo, granular_init=granular_init, came_init="random", n_init=n_init, random_state=seed
        )

    assert run(3, 1).labels_.tolist() == run(3, 1).labels_.tolist()
    assert run(5, 0).cost_ <= run(1, 0).cost_


def test_lost_clusters_are_said():
    with pytest.warns(ConvergenceWarning, match="of 4 clusters"):
        MCDC(4).fit([["a"], ["b"]] * 6)


def test_a_competition_without_rest_is_said():
    with pytest.warns(ConvergenceWarning, match="Stopped after .*may exchange rows"):
        MCDC(2, max_iter=1).fit(load_data("votes").frame)


def test_unseen_and_left_out_cells_do_not_count():
    rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["b", None], ["a", "x"]]
    model = fitted(2, rows, missing="ignore", k_init=2)
    with pytest.warns(UnseenCategoryWarning):
        assert model.predict([["a", "new"]]).tolist() == model.predict([["a", None]]).tolist()
    assert model.predict([["a", None]]).tolist() == model.labels_[:1].tolist()


def test_heavy_rows_are_more_than_one_row():
    rows = [["a", "x"], ["b", "y"], ["c", "z"]]
    model = MCDC(None, k_init=3).fit(rows, sample_weight=[5, 5, 5])
    assert model.cluster_sizes_.sum() == 15


def test_levels_are_counted_from_one_in_the_history():
    model = MCDC(3, random_state=0).fit(load_data("zoo").frame)
    phases = [phase for phase in model.history_["phase"] if phase.startswith("level")]
    levels = list(dict.fromkeys(phases))
    assert len(levels) >= 1
    assert levels == [f"level {at + 1}" for at in range(len(levels))]
