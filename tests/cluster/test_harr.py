"""HARR: axes, prototypes and weights by hand, a transcription that shares no code, and its edges."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.harr import harr
from tests.oracle.settling import without_empty

import catalpa
from catalpa import HARR
from catalpa.costs.cooccurrence import Contexts
from catalpa.costs.harr import AxisWeights, Het2Hom
from catalpa.costs.harr_axes import Space, unfold
from catalpa.errors import TableError
from catalpa.metrics import adjusted_rand, clustering_accuracy
from catalpa.steps.assign import summed_deviations
from catalpa.steps.counts import Counts, cooccurrences, cooccurrences_with_bins
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import Axis, Block

CODES = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 2, 1], [1, 2, 0]])
TOY = pd.DataFrame(CODES, columns=["a", "b", "c"]).astype("category")
AXIS = Axis((2, 3, 2))
SPACE = unfold(
    Contexts.of(cooccurrences(Block(CODES, np.zeros((6, 0))), AXIS), AXIS, (0, 0, 0)), 3, to_unit=False
)
EVEN = np.full(5, 0.2)
NO_NUMBERS = np.zeros((2, 0), dtype=np.int64)
# Of the clusters {0, 1, 2} and {3, 4, 5}.
COUNTS = Counts(
    np.array([[3, 0, 2, 1, 0, 2, 1], [0, 3, 0, 1, 2, 1, 2]]),
    np.array([3, 3]),
    NO_NUMBERS,
    NO_NUMBERS,
    NO_NUMBERS,
    0,
    0,
)
variants = pytest.mark.parametrize("variant", ["M", "V", "H2H"])


def rounded(values):
    return np.round(values, 6).tolist()


def test_axes_of_a_small_table_worked_by_hand():
    assert [rounded(SPACE.distances[at][0, 1]) for at in range(3)] == [0.666667, 0.5, 0.444444]
    assert rounded(SPACE.distances[1][[0, 1], [2, 2]]) == [0.666667, 0.5]
    assert rounded(SPACE.coordinates[1]) == [
        [0.0, 0.5, 0.444444],
        [0.0, 0.333333, 0.666667],
        [0.055556, 0.0, 0.5],
    ]


def test_prototypes_and_weights_of_a_small_table_worked_by_hand():
    shared = AxisWeights(AXIS, SPACE, EVEN, per_cluster=False)
    state = shared.start(COUNTS)
    assert [found.tolist() for found in state.prototypes] == [[[0], [1]], [[0, 0, 0], [2, 2, 2]], [[0], [1]]]
    own, everyone = shared._distances(state, COUNTS)
    assert rounded(own.sum(axis=0) / 6) == [0.0, 0.092593, 0.111111, 0.092593, 0.148148]
    assert rounded((everyone - own).sum(axis=0) / 6) == [0.666667, 0.388889, 0.555556, 0.388889, 0.296296]
    weights = shared.relearn(state, COUNTS).weights[0]
    assert (weights[1:] / weights[1:].sum()).round(4).tolist() == [0.2727, 0.3247, 0.2727, 0.1299]
    assert rounded(own[0, 1:4] / 3) == [0.166667, 0.111111, 0.018519]
    assert rounded((everyone - own)[0, 1:4] / 3) == [0.462963, 0.555556, 0.314815]


@given(st.data())
def test_a_medoid_has_the_least_summed_distance_on_its_axis_and_is_the_lowest_of_equals(data):
    size = data.draw(st.integers(1, 6))
    # Few different places and counts, so that halves, equal places and clusters without a cell are frequent.
    places = np.array(
        [data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)) for _ in range(3)]
    )
    held = np.array([data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)) for _ in range(2)])
    held[0, data.draw(st.integers(0, size - 1))] += 1
    held[1, data.draw(st.integers(0, size - 1))] += data.draw(st.sampled_from([1, 30]))  # most of its cells
    space = Space((np.zeros((size, size)),), (places / 4.0,))
    summed = (held[:, None, None, :] * np.abs(places[:, :, None] - places[:, None, :])).sum(axis=3)
    assert space.medoids(0, held).tolist() == summed.argmin(axis=2).tolist()


def test_a_cluster_that_keeps_its_prototypes_and_weights_keeps_its_costs():
    learner = AxisWeights(AXIS, SPACE, EVEN)
    begun = learner.start(COUNTS)
    moved = replace(COUNTS, by_category=COUNTS.by_category[[0, 0]])  # the second cluster becomes the first
    after = learner.update(begun, moved)
    afresh = learner.start(moved)
    assert learner.scores(after).table.tobytes() == learner.scores(afresh).table.tobytes()
    assert learner.scores(after).table[:, 0].tobytes() == learner.scores(begun).table[:, 0].tobytes()
    weighed = learner.relearn(begun, COUNTS)
    costs = [
        [
            (
                weighed.weights[cluster, part]
                * SPACE.away(column, weighed.prototypes[column])[cluster, :, code]
            ).sum()
            for cluster in range(2)
        ]
        for column, part in enumerate(SPACE.parts)
        for code in range(AXIS.sizes[column])
    ]
    assert learner.scores(weighed).table == pytest.approx(np.array(costs), rel=1e-12)


def test_one_step_of_het2hom_worked_by_hand():
    learner = Het2Hom(AXIS, SPACE, EVEN, power=2)
    weights = learner.relearn(learner.start(COUNTS), COUNTS).weights
    assert rounded(weights[0]) == [0.333333, 0.111455, 0.110423, 0.111455, 0.333333]
    assert weights[0].tolist() == weights[1].tolist()


def test_numbers_stand_in_bins_beside_categories():
    block = Block(np.array([[0], [1], [0]]), np.array([[0.0], [1.0], [np.nan]]))
    together = cooccurrences_with_bins(block, Axis((2,)), 2)
    assert together.tolist() == [[2, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]]


@st.composite
def tables_and_starts(draw):
    columns = draw(st.integers(1, 3))
    numeric = draw(st.integers(0, 1))
    sixteenths = st.integers(0, 16).map(lambda number: number / 16)
    row = st.tuples(*[st.sampled_from("abc")] * columns, *[sixteenths] * numeric)
    table = draw(st.lists(row, min_size=3, max_size=9))
    if numeric:  # so that the numbers are on [0, 1] already
        table = [(*table[0][:-1], 0.0), (*table[1][:-1], 1.0), *table[2:]]
    starts = draw(st.lists(st.sampled_from(table), min_size=1, max_size=3, unique=True))
    ranked = draw(st.sets(st.integers(0, columns - 1)))
    return table, starts, ranked, columns


@given(tables_and_starts(), st.sampled_from(["M", "V"]))
def test_labels_and_cost_are_those_of_the_transcription(drawn, variant):
    table, starts, ranked, columns = drawn
    frame = pd.DataFrame(table, columns=[f"x{at}" for at in range(len(table[0]))])
    orders = [sorted(set(frame[f"x{at}"])) for at in range(columns)] + [list(range(5))] * (
        len(table[0]) - columns
    )
    for at in ranked:
        frame[f"x{at}"] = pd.Categorical(frame[f"x{at}"], orders[at], ordered=True)
    numeric = set(range(columns, len(table[0])))
    labels, cost = harr(table, starts, orders, ordinal=ranked, numeric=numeric, variant=variant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HARR(
            len(starts),
            variant=variant,
            init=frame.iloc[[table.index(row) for row in starts]],
            empty_clusters="keep",
            categorical_features=[f"x{at}" for at in range(columns)],
        ).fit(frame)
    assert model.labels_.tolist() == without_empty(labels)
    assert model.cost_ == pytest.approx(cost, abs=1e-6)


@pytest.mark.parametrize(
    ("variant", "accuracy", "rand"), [("V", 0.8506, 0.4905), ("M", 0.8667, 0.5367), ("H2H", 0.8736, 0.5572)]
)
def test_votes_come_out_as_published(data_home, variant, accuracy, rand):
    table = pd.read_csv(data_home / "paper" / "CV.csv", dtype=str, keep_default_na=False)
    truth = table.pop("class")
    for seed in range(2):
        model = HARR(2, variant=variant, n_init=1, random_state=seed).fit(table)
        assert round(clustering_accuracy(truth, model.labels_), 4) == accuracy
        assert round(adjusted_rand(truth, model.labels_), 4) == rand


@variants
@pytest.mark.parametrize("normalize", ["auto", "none", "space"])
def test_mixed_and_ordered_columns_join(variant, normalize):
    table = pd.DataFrame(
        {
            "size": [0.5, 0.75, 1.0, 8.5, 9.25, None],
            "rank": pd.Categorical(["s", "s", "m", "l", None, "l"], ["s", "m", "l"], ordered=True),
            "colour": list("rrgbbb"),
        }
    )
    model = HARR(2, variant=variant, normalize=normalize, random_state=0).fit(table)
    assert len(set(model.labels_[:3])) == 1
    assert len(set(model.labels_[3:])) == 1
    assert list(model.weights_) == ["size", "rank", "colour"]
    assert model.weights_.sum(axis=1).round(9).tolist() == [1.0, 1.0]
    assert sum(model.balance_.values()) == pytest.approx(1.0)
    assert model.relations_[0, "rank"].distances[3].tolist() == [1.0, 1.0, 1.0, 0.0]


@variants
@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_missing_and_unseen_cells_find_a_cluster(variant, missing):
    table = [["a", "x"], ["a", None], [None, "x"], ["b", "y"], ["b", "y"], [None, None]]
    model = HARR(2, variant=variant, missing=missing, random_state=0, handle_unknown="ignore").fit(table)
    assert model.predict(table).tolist() == model.labels_.tolist()
    assert model.labels_[0] != model.labels_[3]
    assert model.predict([["never seen", "y"]]).shape == (1,)


@variants
def test_a_saved_model_predicts_and_shows_the_same(variant, tmp_path):
    model = HARR(2, variant=variant, init=TOY.iloc[[0, 4]]).fit(TOY)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert again.predict(TOY).tolist() == model.labels_.tolist()
    assert again.weights_.equals(model.weights_)
    assert again.relations_[1, "b"].edges == model.relations_[1, "b"].edges


@variants
def test_the_most_frequent_category_can_be_the_prototype(variant):
    model = HARR(2, variant=variant, prototype="mode", init=TOY.iloc[[0, 4]]).fit(TOY)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]


def test_one_cluster_keeps_even_weights():
    model = HARR(1).fit(TOY)
    assert rounded(model.weights_.to_numpy()) == [[0.2, 0.6, 0.2]]


def test_equal_numbers_and_categories_cost_nothing():
    model = HARR(1).fit(pd.DataFrame({"a": ["x", "x"], "b": [1.5, 1.5]}))
    assert model.balance_ == {"categorical": 0.0, "numeric": 0.0}


def test_a_column_with_too_many_categories_is_refused_by_name():
    table = pd.DataFrame({"city": [f"town {at}" for at in range(150)], "a": ["x", "y"] * 75})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TableError, match="'city' has 150 categories"):
            HARR(2).fit(table)


@variants
def test_a_column_without_any_cell_says_nothing(variant):
    table = TOY.assign(blank=pd.Series([None] * 6, dtype=object))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HARR(2, variant=variant, missing="ignore", random_state=0).fit(table)
    assert sorted(model.cluster_sizes_.tolist()) == [3, 3]


def test_distances_of_numbers_are_summed_over_own_and_over_all_rows():
    block = Block(
        np.zeros((4, 0), np.uint8), np.array([[0.0], [0.25], [1.0], [np.nan]]), np.array([1, 2, 1, 1])
    )
    means = np.array([[0.25], [0.75]])
    fixed = to_fixed_point(Scores.of(np.zeros((0, 2)), means=means, power=1), Axis(()))
    summed = summed_deviations(block, fixed, means) * 2.0**-24
    # Rows 0 and 1 (twice) are nearest to the first mean, row 2 to the second.
    assert summed[0].tolist() == [[0.25], [0.25]]
    assert summed[1].tolist() == [[0.25 + 0.75], [0.75 + 2 * 0.5 + 0.25]]
