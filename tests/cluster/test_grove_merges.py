"""The merge tree of Grove's clusters against a count by hand, and its groups."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.special import gammaln

from catalpa import Grove
from catalpa.cluster.grove.merges import merge_tree
from catalpa.cluster.grove.mixture import Mixture
from catalpa.errors import ParameterError
from catalpa.estimator.merge_tree import MergeTree


def planted(n_per_cluster=60, k=3, columns=8, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(k), n_per_cluster)
    own = (labels[:, None] + np.arange(columns)) % 5
    return np.where(rng.random(own.shape) < 0.85, own, rng.integers(0, 5, own.shape)), labels


def tree_of(model):
    fitted = model._fitted
    outcome = fitted.outcome
    mixture = Mixture.of_fit(fitted.schema, outcome.soft, outcome.shared, outcome.facts)
    return merge_tree(mixture, outcome.soft)


def test_losses_are_differences_of_evidence_counted_by_hand():
    rows, _ = planted()
    model = Grove(4, ties=None, random_state=0).fit(rows)
    soft, axis = model._fitted.outcome.soft, model._fitted.schema.axis
    cells, sizes = soft.by_category / 2**20, soft.sizes / 2**20
    strengths = np.array([model.prior_ * size for size in axis.sizes])[axis.column_of]
    column_sizes = np.array([[own[part].sum() for part in axis.slices()] for own in cells])[:, axis.column_of]
    weights = column_sizes / (column_sizes + strengths)
    centre = (weights * cells / column_sizes).sum(axis=0) / weights.sum(axis=0)

    def evidence(groups):
        value, n, k = 0.0, sizes.sum(), len(groups)
        for group in groups:
            own, rows = cells[list(group)].sum(axis=0), sizes[list(group)].sum()
            value += (gammaln(own + strengths * centre) - gammaln(strengths * centre)).sum()
            value -= sum(gammaln(rows + model.prior_ * o) - gammaln(model.prior_ * o) for o in axis.sizes)
            value += gammaln(rows + 0.5) - gammaln(0.5)
        return value + gammaln(k / 2) - gammaln(n + k / 2)

    tree = tree_of(model)
    for k in (4, 3, 2):
        now = tree.groups(k)
        pairs = [(a, b) for at, a in enumerate(now) for b in now[at + 1 :]]
        losses = [evidence(now) - evidence([g for g in now if g not in (a, b)] + [a + b]) for a, b in pairs]
        assert tree.losses[4 - k] == pytest.approx(min(losses), abs=1e-6)
        one, other = pairs[int(np.argmin(losses))]
        assert tuple(sorted(one + other)) in tree.groups(k - 1)


def test_halves_of_a_planted_cluster_are_merged_first_and_hardly_lose_anything():
    rows, labels = planted(n_per_cluster=100)
    model = Grove(4, random_state=1).fit(rows)
    tree = tree_of(model)
    groups = tree.groups(3)
    merged = np.zeros(4, dtype=int)
    for at, group in enumerate(groups):
        merged[list(group)] = at
    table = np.zeros((3, 3))
    np.add.at(table, (merged[model.labels_], labels), 1)
    assert table.max(axis=1).sum() > 0.95 * len(labels)
    assert tree.losses[0] < 0.03 * tree.losses.sum() < tree.losses[1]


def test_copies_of_columns_hardly_count_if_they_are_tied():
    rng = np.random.default_rng(0)
    rows, _ = planted(n_per_cluster=200, columns=4)
    alone = Grove(3, random_state=0).fit(rows)
    codes = rng.permutation(5)[rows]
    copied = np.concatenate([rows, codes, codes], axis=1)
    tied = Grove(3, random_state=0).fit(copied)
    untied = Grove(3, ties=None, random_state=0).fit(copied)
    assert len(tied.tied_columns_) == 8
    one, three, copies_tied = (tree_of(model).losses.sum() for model in (alone, untied, tied))
    assert three > 2.9 * one
    assert copies_tied < 1.5 * one


def test_numbers_and_missing_numbers_count():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 150)
    numbers = rng.normal(labels[:, None] * [6.0, 6.0], 1.0)
    rows = [
        [float(one), None if label == 2 and rng.random() < 0.5 else float(two), "x" if label else "y"]
        for (one, two), label in zip(numbers, labels, strict=True)
    ]
    model = Grove(3, random_state=0).fit(rows)
    tree = tree_of(model)
    assert (tree.losses > 50).all()
    far = {int(np.bincount(model.labels_[labels == one]).argmax()) for one in (0, 2)}
    assert tuple(sorted(far)) not in tree.groups(2)


def test_groups_are_numbered_by_their_lowest_cluster():
    tree = MergeTree(np.array([[1, 3], [0, 2], [4, 5]]), np.array([1.0, 5.0, 20.0]), np.full(4, 25.0), 26.0)
    assert tree.groups(4) == [(0,), (1,), (2,), (3,)]
    assert tree.groups(3) == [(0,), (1, 3), (2,)]
    assert tree.groups(2) == [(0, 2), (1, 3)]
    assert tree.groups(1) == [(0, 1, 2, 3)]
    assert tree.cheapest is not None
    assert (tree.cheapest.clusters, tree.cheapest.lost) == ((1, 3), 0.01)
    assert tree.cheapest.share == pytest.approx(1 / 26)
    assert tree.heights.tolist() == [0.01, 0.05, 0.2]
    for k in (0, 5, True, 2.0, "2"):
        with pytest.raises(ParameterError, match="from 1 to 4"):
            tree.groups(k)


def test_the_tree_says_which_clusters_differ_least():
    joins, names = np.array([[1, 3], [0, 2], [4, 5]]), ("0", "birds", "2", "3")
    wide = MergeTree(joins, np.array([1.0, 5.0, 20.0]), np.full(4, 25.0), 100.0, names)
    assert wide.sentence == "Clusters birds and 3 differ least; merging them would lose 1 % of the gain."
    narrow = MergeTree(joins, np.array([1.0, 5.0, 20.0]), np.full(4, 25.0), 26.0, names)
    assert narrow.sentence == "Clusters birds and 3 differ least; merging them would lose 4 % of the gain."
    unknown = MergeTree(joins, np.array([1.0, 5.0, 20.0]), np.full(4, 25.0), np.nan, names)
    assert unknown.sentence.endswith("would lose 0.01 nats per row.")
    assert wide.to_frame().values.tolist()[1:] == [
        [2, "0", "2", 5.0, 0.05, 0.05],
        [1, "birds + 3", "0 + 2", 20.0, 0.2, 0.2],
    ]


def test_the_linkage_is_one_of_scipy_even_where_a_merge_gains():
    tree = MergeTree(np.array([[1, 3], [0, 2], [4, 5]]), np.array([-1.0, 5.0, 3.0]), np.full(4, 25.0))
    assert is_valid_linkage(tree.linkage)
    assert tree.linkage[:, 2].tolist() == [0.0, 0.05, 0.05]
    assert tree.linkage[:, 3].tolist() == [2, 2, 4]


def test_one_cluster_has_no_merges():
    rows, _ = planted()
    tree = tree_of(Grove(1).fit(rows))
    assert (tree.k, tree.joins.shape, tree.linkage.shape, tree.cheapest) == (1, (0, 2), (0, 4), None)
    assert tree.groups(1) == [(0,)]
