"""Counts by share to cost tables and evidence: numbers worked out, and what must always hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp

from catalpa.cluster.grove.columns.ordered import ordered_shares
from catalpa.cluster.grove.em import EnginePasses, MixtureFit, iterate, plain_passes
from catalpa.cluster.grove.mixture import Marginals, Mixture
from catalpa.engines.local import LocalEngine
from catalpa.steps.assign import share_and_count
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts
from catalpa.steps.soft.reference import shares
from catalpa.steps.soft.scores import to_fixed_point_shares
from catalpa.table.blocks import Axis, Block, Rows

# Eight rows, 000 and 112 twice.
CODES = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 2], [1, 1, 1], [1, 1, 2]], dtype=np.uint8)
WEIGHTS = np.array([2, 1, 1, 1, 1, 2])
AXIS = Axis((2, 2, 3))
BLOCK = Block(CODES, np.zeros((6, 0)), WEIGHTS)
HALVES = np.array([0, 0, 0, 1, 1, 1])


def mixture_of(
    block: Block, axis: Axis, prior: float, *, free_sizes: bool = False, ordered: Sequence[int] = ()
) -> Mixture:
    whole = Counts.of(block, np.zeros(len(block), dtype=np.int64), 1, axis)
    nothing = np.zeros(0)
    marginals = Marginals(
        axis,
        whole.shares(axis)[0],
        tuple(ordered) or (0,) * axis.n_columns,
        nothing,
        nothing,
        nothing,
    )
    return Mixture(marginals, prior, free_sizes, float(FULL_SHARE))


def smoothed(share: float = 0.9) -> SharedCounts:
    return SharedCounts.smoothed(Counts.of(BLOCK, HALVES, 2, AXIS), share)


def plain(block: Block, axis: Axis, mixture: Mixture, shared: SharedCounts) -> SharedCounts:
    fixed = to_fixed_point_shares(mixture.scores(shared), axis)
    return share_and_count(block, None, fixed, False)[0]


def vouched(mixture: Mixture, shared: SharedCounts) -> SharedCounts:
    """A pass in which no row vouches for itself."""
    plain_table, second = mixture.both_scores(shared)
    fixed = to_fixed_point_shares(plain_table, AXIS, second)
    return share_and_count(BLOCK, None, fixed, False)[0]


class TestTheWorkedExample:
    def test_evidence_for_the_start(self):
        spread = -8 * (0.95 * np.log(0.95) + 0.05 * np.log(0.05))  # the entropy that a start does not know
        start = smoothed()
        assert mixture_of(BLOCK, AXIS, 1.0).evidence(start) + spread == pytest.approx(-22.8829, abs=5e-5)

    @pytest.mark.parametrize(
        ("prior", "expected"),
        [
            (1.0, [0.9586, 0.8814, 0.8704, 0.1296, 0.1186, 0.0414]),
            (6.0, [0.7338, 0.6646, 0.6369, 0.3631, 0.3354, 0.2662]),
        ],
    )
    def test_shares_after_a_plain_pass(self, prior, expected):
        mixture = mixture_of(BLOCK, AXIS, prior)
        found, *_ = shares(BLOCK, to_fixed_point_shares(mixture.scores(smoothed()), AXIS))
        np.testing.assert_allclose(found[:, 0] / FULL_SHARE, expected, atol=6e-5)

    @pytest.mark.parametrize(
        ("prior", "expected"),
        [
            (1.0, [0.9464, 0.8000, 0.7939, 0.2061, 0.2000, 0.0536]),
            (6.0, [0.7118, 0.6426, 0.6078, 0.3922, 0.3574, 0.2882]),
        ],
    )
    def test_shares_after_a_pass_with_two_tables(self, prior, expected):
        mixture = mixture_of(BLOCK, AXIS, prior)
        plain_table, second = mixture.both_scores(smoothed())
        fixed = to_fixed_point_shares(plain_table, AXIS, second)
        np.testing.assert_allclose(shares(BLOCK, fixed)[0][:, 0] / FULL_SHARE, expected, atol=6e-5)

    def test_evidence_from_plain_pass_to_plain_pass(self):
        mixture, shared, found = mixture_of(BLOCK, AXIS, 1.0), smoothed(), []
        for _ in range(3):
            shared = plain(BLOCK, AXIS, mixture, shared)
            found.append(mixture.evidence(shared))
        np.testing.assert_allclose(found, [-22.8482, -22.8895, -22.9138], atol=6e-5)

    def test_evidence_from_pass_to_pass_with_two_tables(self):
        mixture, shared, found = mixture_of(BLOCK, AXIS, 1.0), smoothed(), []
        for _ in range(3):
            shared = vouched(mixture, shared)
            found.append(mixture.evidence(shared))
        np.testing.assert_allclose(found, [-23.0156, -23.1897, -23.2985], atol=6e-5)

    @pytest.mark.parametrize(
        ("prior", "tables", "passes", "evidence"),
        [(1.0, 1, 8, -22.9426), (1.0, 2, 13, -23.4901), (6.0, 2, 9, -20.7594)],
    )
    def test_where_and_when_the_passes_come_to_rest(self, prior, tables, passes, evidence):
        mixture = mixture_of(BLOCK, AXIS, prior)
        engine = LocalEngine(Rows(AXIS, [BLOCK]))
        made = EnginePasses(engine, lambda shared: mixture.both_scores(shared)[:tables], smoothed(), True)
        rest = iterate(made, mixture, len(BLOCK), 40, 1e-3)
        assert len(rest.history) == passes
        assert mixture.evidence(rest.shared) == pytest.approx(evidence, abs=6e-5)

    def test_what_a_plain_pass_raises(self):
        # The centre is that of the whole table here, so L is that of a fixed prior.
        mixture, shared, found = mixture_of(BLOCK, AXIS, 1.0), smoothed(), []
        for _ in range(3):
            cells, known = mixture.categorical.rows(shared.counts)
            found.append(
                log_posterior(BLOCK, AXIS, mixture, shared, mixture.categorical.centre(cells, known))
            )
            shared = plain(BLOCK, AXIS, mixture, shared)
        np.testing.assert_allclose(found, [-31.2940, -31.2626, -31.2559], atol=1e-4)

    def test_evidence_for_one_cluster(self):
        whole = SharedCounts.smoothed(Counts.of(BLOCK, np.zeros(6, dtype=np.int64), 1, AXIS), 1.0)
        assert mixture_of(BLOCK, AXIS, 1.0).evidence(whole) == pytest.approx(-23.0088, abs=5e-5)


def test_shares_of_an_ordered_column_lean_on_their_neighbours():
    cells, centre = np.array([[0.0, 6.0, 3.0, 1.0, 0.0]]), np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    (found,) = ordered_shares(cells, centre, 5.0, 5)
    np.testing.assert_allclose(found, [0.0690, 0.4069, 0.3535, 0.1331, 0.0375], atol=5e-5)
    assert found.sum() == pytest.approx(1.0)


def test_two_ordered_categories_are_no_order():
    plain_one, ordered = (mixture_of(BLOCK, AXIS, 1.0, ordered=order) for order in ((0, 0, 0), (0, 0, 3)))
    first, second = (one.log_shares(smoothed()) for one in (plain_one, ordered))
    assert first[:, :4].tolist() == second[:, :4].tolist()
    assert first[:, 4:].tolist() != second[:, 4:].tolist()


def test_a_category_that_no_row_has_is_as_far_as_the_farthest_of_its_column():
    axis = Axis((2, 2, 5))
    mixture = mixture_of(BLOCK, axis, 1.0)
    start = SharedCounts.smoothed(Counts.of(BLOCK, HALVES, 2, axis), 0.9)
    logs = mixture.log_shares(start)
    np.testing.assert_array_equal(logs[:, 7:], np.repeat(logs[:, 4:7].min(axis=1, keepdims=True), 2, axis=1))
    narrow = mixture_of(BLOCK, AXIS, 1.0)
    assert mixture.evidence(start) == narrow.evidence(smoothed())


def log_posterior(
    block: Block, axis: Axis, mixture: Mixture, shared: SharedCounts, centre: np.ndarray
) -> float:
    """L: what a plain pass raises while the centre is held, of the shares that these counts give."""
    cells, known = mixture.categorical.rows(shared.counts)
    (shares_of,) = mixture.categorical.update(cells, known, centre, 1)
    sizes, k = shared.counts.sizes / mixture.units, shared.counts.k
    weights = np.log((sizes + 0.5) / (sizes.sum() + k / 2)) if mixture.free_sizes else np.full(k, -np.log(k))
    logs = np.log(np.where(shares_of > 0, shares_of, 1.0))  # some categories do not occur
    rows = weights + logs[:, block.codes + axis.offsets[:-1]].sum(axis=2).T
    likelihood = float((block.row_weights * logsumexp(rows, axis=1)).sum())
    pseudo = mixture.categorical.strengths[axis.column_of] * centre
    return (
        likelihood + float((pseudo * logs).sum()) + (0.5 * float(weights.sum()) if mixture.free_sizes else 0)
    )


@st.composite
def tables(draw, most_rows=25):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    n = draw(st.integers(2, most_rows))
    codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1).astype(np.uint8)
    weights = rng.integers(1, 4, n) if draw(st.booleans()) else None
    return Block(codes, np.zeros((n, 0)), weights), Axis(sizes), rng


PRIORS = st.sampled_from([0.3, 1.0, 2.5, 6.0])


@given(tables(), PRIORS, st.integers(1, 4), st.booleans())
def test_plain_passes_never_lower_the_log_posterior(drawn, prior, k, free_sizes):
    block, axis, rng = drawn
    mixture = mixture_of(block, axis, prior, free_sizes=free_sizes)
    labels = rng.integers(0, k, len(block))
    shared = SharedCounts.smoothed(Counts.of(block, labels, k, axis), 0.9)
    engine = LocalEngine(Rows(axis, [block]))
    # Costs are rounded to 2**-17 bits per cell, logarithms to 4e-6 bits per row.
    slack = float(shared.counts.sizes.sum()) / FULL_SHARE * (axis.n_columns + 2) * 1e-5
    for _ in range(12):
        centre = mixture.categorical.centre(*mixture.categorical.rows(shared.counts))
        before = log_posterior(block, axis, mixture, shared, centre)
        shared = plain_passes(engine, MixtureFit(mixture, shared, 0.0), 1).shared
        assert log_posterior(block, axis, mixture, shared, centre) >= before - slack


def written_out(
    block: Block, axis: Axis, prior: float, labels: Sequence[int], k: int, free_sizes: bool
) -> float:
    """Log probability of a table and of its rows' clusters, Dirichlet integrals row by row."""
    total = 0.0
    for column, size in enumerate(axis.sizes):
        cells = block.codes[:, column]
        held = [code for code in range(size) if (cells == code).any()]
        mass, own_sizes = prior * len(held), [list(labels).count(cluster) for cluster in range(k)]
        credible = sum(size / (size + mass) for size in own_sizes)
        drawn = dict.fromkeys(held, 0.0)
        for code in held:
            for cluster in range(k):
                count = sum(label == cluster for label in np.asarray(labels)[cells == code])
                drawn[code] += mass * count / (own_sizes[cluster] + mass) / credible
        for cluster in range(k):
            own = [code for code, label in zip(cells, labels, strict=True) if label == cluster]
            total += gammaln(mass) - gammaln(mass + len(own))
            total += sum(gammaln(drawn[code] + own.count(code)) - gammaln(drawn[code]) for code in held)
    sizes = [list(labels).count(cluster) for cluster in range(k)]
    if not free_sizes:
        return total - len(block) * np.log(k)
    return (
        total
        + gammaln(k / 2)
        - gammaln(len(block) + k / 2)
        + sum(gammaln(n + 0.5) - gammaln(0.5) for n in sizes)
    )


@given(tables(), PRIORS, st.integers(1, 3), st.booleans())
def test_evidence_for_hard_clusters_is_the_probability_written_out(drawn, prior, k, free_sizes):
    block, axis, rng = drawn
    block = Block(block.codes, block.numbers)
    labels = rng.integers(0, k, len(block))
    hard = SharedCounts.smoothed(Counts.of(block, labels, k, axis), 1.0)
    found = mixture_of(block, axis, prior, free_sizes=free_sizes).evidence(hard)
    assert found == pytest.approx(written_out(block, axis, prior, labels, k, free_sizes), abs=1e-8)


@given(tables(), PRIORS)
def test_the_shares_of_every_column_add_up_to_one(drawn, prior):
    block, axis, rng = drawn
    mixture = mixture_of(block, axis, prior)
    counts = Counts.of(block, rng.integers(0, 3, len(block)), 3, axis)
    probabilities = np.exp(mixture.log_shares(SharedCounts.smoothed(counts, 0.9)))
    there = mixture.marginals.shares > 0
    for part in axis.slices():
        np.testing.assert_allclose(probabilities[:, part][:, there[part]].sum(axis=1), 1.0)


def test_a_cluster_without_rows_has_the_shares_of_the_centre():
    mixture = mixture_of(BLOCK, AXIS, 1.0)
    counts = Counts.of(BLOCK, np.zeros(6, dtype=np.int64), 2, AXIS)
    probabilities = np.exp(mixture.log_shares(SharedCounts.smoothed(counts, 1.0)))
    np.testing.assert_allclose(probabilities[1], mixture.marginals.shares)
