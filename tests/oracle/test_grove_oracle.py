"""The transcription of Grove gives every worked number of its description, and keeps what that promises."""

from __future__ import annotations

from itertools import pairwise, product
from math import exp, inf, lgamma, log, pi

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.oracle import grove, grove_numbers

STRENGTHS = (1.0, 2.5, 6.0)
TABLE = grove.table_of(
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 2), (1, 1, 1), (1, 1, 2)], weights=[2, 1, 1, 1, 1, 2]
)
START = grove.start_shares([0, 0, 0, 1, 1, 1], 2)


def digits(number: float) -> float:
    """As printed: to four digits, the last of them rounded."""
    return pytest.approx(number, abs=0.5001e-4)


def first_shares(states: list[grove.State], at: int) -> list[float]:
    return [own[0] for own in states[at].shares]


def fitted(a: float, two_tables: bool) -> list[grove.State]:
    return grove.passes(TABLE, START, a=a, two_tables=two_tables, tolerance=1e-3)


WORKED = {
    "plain, a=1": (
        fitted(1.0, False),
        [0.9586, 0.8814, 0.8704, 0.1296, 0.1186, 0.0414],
        {0: -22.8829, 1: -22.8482, 2: -22.8895, 3: -22.9138, 8: -22.9426},
        8,
    ),
    "plain, a=6": (
        fitted(6.0, False),
        [0.7338, 0.6646, 0.6369, 0.3631, 0.3354, 0.2662],
        {10: -20.7594},
        10,
    ),
    "two tables, a=1": (
        fitted(1.0, True),
        [0.9464, 0.8000, 0.7939, 0.2061, 0.2000, 0.0536],
        {0: -22.8829, 1: -23.0156, 2: -23.1897, 3: -23.2985, 13: -23.4901},
        13,
    ),
    "two tables, a=6": (
        fitted(6.0, True),
        [0.7118, 0.6426, 0.6078, 0.3922, 0.3574, 0.2882],
        {9: -20.7594},
        9,
    ),
}


@pytest.mark.parametrize(("states", "first", "worth", "rest"), WORKED.values(), ids=WORKED)
def test_the_worked_table_of_categories(states, first, worth, rest):
    assert first_shares(states, 1) == [digits(share) for share in first]
    assert {at: states[at].evidence for at in worth} == {at: digits(value) for at, value in worth.items()}
    assert len(states) - 1 == rest


def test_the_worked_log_posteriors_and_the_evidence_of_one_cluster():
    states = fitted(1.0, False)
    assert [state.log_posterior for state in states[:3]] == [
        digits(value) for value in (-31.2940, -31.2626, -31.2559)
    ]
    assert grove.one_cluster_evidence(TABLE, 1.0) == digits(-23.0088)


def test_gain_certainty_and_labels_of_the_worked_table():
    last = fitted(1.0, True)[-1]
    best_alone = max(grove.one_cluster_evidence(TABLE, a) for a in STRENGTHS)
    assert grove.gain(TABLE, last.evidence, STRENGTHS) == (last.evidence - best_alone) / 8
    by_hand = (2 * 0.8486 + 0.7077 + 0.6663 + 0.6663 + 0.7077 + 2 * 0.8486) / 8
    assert grove.certainty(TABLE, last.shares) == digits(by_hand)
    assert grove.labels(TABLE, last.counts, 1.0, "equal") == [0, 0, 0, 1, 1, 1]


def test_the_worked_table_with_a_number():
    colours, x = [0, 0, 0, 1, 1, 1, 0, 1], [1, 2, 3, 2, 7, 8, 6, 9]
    # By the rules this column becomes bins (2 is a quarter of its cells); the example takes it as it stands.
    assert grove_numbers.look(x).reason == "frequent"
    z, mean, deviation = grove_numbers.standardised(x)
    assert (mean, deviation) == (4.75, digits(2.9047))
    table = grove.table_of(list(zip(colours, z, strict=True)), kinds=["category", "number"])
    states = grove.passes(table, grove.start_shares([0, 0, 0, 0, 1, 1, 1, 1], 2), a=1.0, at_most=1)
    held = [own[1] for own in states[0].counts.cells]
    assert [part.number for part in held] == [digits(4), digits(4)]
    assert [part.total for part in held] == [digits(-3.4082), digits(3.4082)]
    assert [part.square for part in held] == [pytest.approx(3.84, abs=0.005), pytest.approx(4.16, abs=0.005)]
    found = [grove.mean_and_variance(part, 1.0) for part in held]
    assert [mean for mean, _ in found] == [digits(-0.6816), digits(0.6816)]
    assert [variance for _, variance in found] == [digits(0.6528), digits(0.7061)]
    assert [grove.number_cost(z[0], part, 1.0) for part in held] == [digits(0.1477), digits(2.6522)]
    shares = [grove.category_shares(table.columns[0], own[0], 1.0) for own in states[0].counts.cells]
    assert [share[0] for share in shares] == [digits(0.65), digits(0.35)]
    assert [-log(share[0]) for share in shares] == [digits(0.4308), digits(1.0498)]
    assert states[1].shares[0] == [digits(0.9579), digits(0.0421)]
    assert [state.evidence for state in states] == [digits(-21.9490), digits(-21.1691)]


def test_the_worked_ordered_column():
    column = grove.Column("ordered", {0: 0.1, 1: 0.2, 2: 0.4, 3: 0.2, 4: 0.1})
    held = {0: 0.0, 1: 6.0, 2: 3.0, 3: 1.0, 4: 0.0}
    near = grove.neighbour_shares(column.share, held)
    assert list(near.values()) == [digits(v) for v in (0.1129, 0.2920, 0.3861, 0.1507, 0.0583)]
    shares = grove.category_shares(column, held, a=1.0)
    assert list(shares.values()) == [digits(v) for v in (0.0690, 0.4069, 0.3535, 0.1331, 0.0375)]
    assert sum(shares.values()) == pytest.approx(1.0)


def test_the_worked_bins():
    assert grove_numbers.bins([0, 0, 0, 0, 1, 2, 5, 40]) == [0, 0, 0, 0, 1, 2, 3, 4]
    assert grove_numbers.bins([3.0, None, 1.0]) == [1, None, 0]


def test_numbers_with_a_long_tail_become_bins_and_others_are_clipped():
    even = [float(value) for value in range(20)]
    kept = grove_numbers.look([*even, 1000.0])
    # q10 = 2, q90 = 18, the median 10: the outlier is drawn in to 10 + 3 * 16 / 2.563.
    assert (kept.kind, kept.low, kept.high) == ("number", digits(10 - 48 / 2.563), digits(10 + 48 / 2.563))
    assert max(kept.cells) == pytest.approx((kept.high - kept.mean) / kept.deviation)
    tailed = grove_numbers.look([2.0**value for value in range(30)])
    assert (tailed.kind, tailed.reason) == ("ordered", "skewed")
    assert tailed.cells == [int(8 * (at + 0.5) / 30) for at in range(30)]


def test_a_column_says_that_cells_are_missing_when_some_are_and_some_are_not():
    assert grove_numbers.gap_column([1.0] * 99 + [None])[-1] == "yes"
    assert grove_numbers.gap_column([1.0] * 100 + [None]) is None
    assert grove_numbers.gap_column([None] * 100 + [1.0]) is None


@st.composite
def tables(draw, kinds=("category", "number"), most_rows=8):
    columns = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    cell = {
        "category": st.sampled_from((0, 1, 2, None)),
        "ordered": st.sampled_from((0, 1, 2, 3, None)),
        "number": st.one_of(st.none(), st.floats(-3, 3)),
    }
    rows = draw(st.lists(st.tuples(*(cell[kind] for kind in columns)), min_size=2, max_size=most_rows))
    rows = [*rows, tuple(0.5 if kind == "number" else 0 for kind in columns)]
    weights = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    return grove.table_of(rows, weights, columns)


@st.composite
def tables_and_shares(draw, **drawn):
    table = draw(tables(**drawn))
    k = draw(st.integers(1, 3))
    mass = st.lists(st.floats(0.01, 1), min_size=k, max_size=k)
    shares = [[part / sum(own) for part in own] for own in (draw(mass) for _ in table.rows)]
    return table, shares


@given(tables_and_shares(), st.sampled_from(STRENGTHS), st.sampled_from(["equal", "released"]))
@settings(max_examples=60, deadline=None)
def test_no_plain_pass_lowers_the_log_posterior(drawn, a, mode):
    table, shares = drawn
    found = [state.log_posterior for state in grove.passes(table, shares, a=a, mode=mode, at_most=8)]
    for before, after in pairwise(found):
        assert after >= before - 1e-9 * abs(before) - 1e-9


@given(tables_and_shares(most_rows=4), st.sampled_from(STRENGTHS), st.sampled_from(["equal", "released"]))
@settings(max_examples=30, deadline=None)
def test_the_evidence_of_shares_is_below_that_of_all_partitions_together(drawn, a, mode):
    table, shares = drawn
    alone = grove.Table(table.rows, [1.0] * len(table.rows), table.columns)
    k = len(shares[0])
    hard = (
        [[float(j == own) for j in range(k)] for own in chosen]
        for chosen in product(range(k), repeat=len(shares))
    )
    total = grove.log_sum([grove.evidence(alone, chosen, a, mode) for chosen in hard])
    assert grove.evidence(alone, shares, a, mode) <= total + 1e-9


@given(tables_and_shares(kinds=("category", "ordered", "number")), st.booleans())
@settings(max_examples=30, deadline=None)
def test_weight_two_is_the_row_twice(drawn, two_tables):
    table, shares = drawn
    times = [int(weight) for weight in table.weights]
    rows = [row for row, often in zip(table.rows, times, strict=True) for _ in range(often)]
    again = grove.Table(rows, [1.0] * len(rows), table.columns)
    spread = [own for own, often in zip(shares, times, strict=True) for _ in range(often)]
    once = grove.passes(table, shares, a=1.0, mode="released", two_tables=two_tables, at_most=2)[-1]
    twice = grove.passes(again, spread, a=1.0, mode="released", two_tables=two_tables, at_most=2)[-1]
    assert once.evidence == pytest.approx(twice.evidence)
    assert once.log_posterior == pytest.approx(twice.log_posterior)
    assert once.change == pytest.approx(twice.change)


def test_released_constants_are_shares_of_rows_with_half_a_row_more_for_each_cluster():
    counts = grove.Counts([3.0, 1.0], [[], []])
    assert grove.constants(counts, 4.0, "released") == [log(3.5 / 5), log(1.5 / 5)]
    assert grove.constants(counts, 4.0, "equal") == [log(0.5), log(0.5)]


@pytest.mark.parametrize("mode", ["equal", "released"])
def test_the_sizes_of_all_partitions_have_probability_one(mode):
    sizes = ([chosen.count(0), chosen.count(1), chosen.count(2)] for chosen in product(range(3), repeat=5))
    parts = [grove.sizes_part(grove.Counts(own, [[], [], []]), 5.0, mode) for own in sizes]
    assert sum(exp(-part) for part in parts) == pytest.approx(1.0)


def test_a_cell_that_is_left_out_counts_in_no_share():
    table = grove.table_of([("a",), ("b",), (None,)])
    counts = grove.count(table, [[1.0], [1.0], [1.0]])
    assert (counts.sizes, counts.cells) == ([3.0], [[{"a": 1.0, "b": 1.0}]])
    assert grove.scores(table, counts, 1.0, "equal").of((None,)) == [0.0]


@pytest.mark.parametrize("a", STRENGTHS)
def test_the_evidence_of_numbers_is_their_integral_over_means_and_variances(a):
    """The mean is integrated by hand, the variance by a rule for integrals."""
    values = [-1.2, 0.3, 0.4, 2.0]
    n, total, square = len(values), sum(values), sum(value**2 for value in values)

    def density(variance):
        apart = square - total**2 / (a + n) + 0.1 * n
        likelihood = -n / 2 * log(2 * pi * variance) - apart / (2 * variance) + log(a / (a + n)) / 2
        prior = a * log(a) - lgamma(a) - (a + 1) * log(variance) - a / variance
        return exp(likelihood + prior)

    found = grove.number_evidence(grove.Moments(n, total, square), a)
    assert found == pytest.approx(log(quad(density, 0, inf)[0]), abs=1e-6)
