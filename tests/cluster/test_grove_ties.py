"""Columns that repeat each other: worked numbers, the forest, and what users see of it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.elsewhere import ENGINES
from tests.oracle import grove_ties as oracle

import catalpa
from catalpa import Grove
from catalpa.cluster.grove.columns.tied import TiedColumns
from catalpa.cluster.grove.mixture import Marginals, Mixture
from catalpa.cluster.grove.ties import PairCounts, TiedForest, exact_gain, expected_pairs, lift_of
from catalpa.datasets import make_categorical
from catalpa.metrics import adjusted_rand
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts, cooccurrences, count_all
from catalpa.steps.soft.reference import shares
from catalpa.steps.soft.scores import to_fixed_point_shares
from catalpa.table.blocks import Axis, Block
from catalpa.table.joined import JoinedAxis

# The rows 000 001 000 010 112 112 111 102.
CODES = np.array(
    [[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 2], [1, 1, 2], [1, 1, 1], [1, 0, 2]], dtype=np.uint8
)
AXIS = Axis((2, 2, 3))
BLOCK = Block(CODES, np.zeros((8, 0)))
HALVES = np.repeat([0, 1], 4)
UNEQUAL = np.repeat([0, 1], [6, 2])
ENTROPY = -8 * (0.95 * np.log(0.95) + 0.05 * np.log(0.05))  # of the start, which its counts do not know


def mixture(parents=None, k=2) -> Mixture:
    none = np.zeros(0)
    marginals = Marginals(AXIS, count_all(BLOCK, AXIS).shares(AXIS)[0], (0, 0, 0), none, none, none)
    plain = Mixture(marginals, 1.0, False, float(FULL_SHARE))
    if parents is None:
        return plain
    joined = JoinedAxis(AXIS, parents)
    start = started(HALVES if k == 2 else np.zeros(8, dtype=np.int64), k)
    own, weights = plain.shares(start.counts)[0], start.counts.sizes / start.counts.sizes.sum()
    lift = np.concatenate(
        [
            lift_of(
                pooled(parent, column), expected(own, weights, parent, column), strength(column, parent)
            ).ravel()
            for column, parent, _ in joined.parts()
        ]
    )
    return replace(plain, forest=TiedForest(TiedColumns(joined, lift), np.log(3)))


def started(labels, k=2) -> SharedCounts:
    return SharedCounts.smoothed(Counts.of(BLOCK, labels, k, AXIS), 0.9)


def pooled(one, other):
    counts, starts = cooccurrences(BLOCK, AXIS), AXIS.offsets
    return counts[starts[one] : starts[one + 1], starts[other] : starts[other + 1]].astype(float)


def expected(own, weights, one, other):
    parts = list(AXIS.slices())
    return expected_pairs(own[:, parts[one]], own[:, parts[other]], weights)


def strength(one, other):
    return float((AXIS.sizes[one] - 1) * (AXIS.sizes[other] - 1))


class TestTheWorkedExample:
    def test_the_centre_of_unequal_clusters(self):
        plain, start = mixture(), started(UNEQUAL)
        centre = plain.categorical.centre(*plain.categorical.rows(start.counts))
        np.testing.assert_allclose(centre, [0.4220, 0.5780, 0.5, 0.5, 0.3259, 0.2827, 0.3914], atol=5e-5)
        own = plain.shares(start.counts)[0][1]
        np.testing.assert_allclose(own, [0.2486, 0.7514, 0.5, 0.5, 0.2169, 0.3554, 0.4277], atol=5e-5)
        assert plain.evidence(start) + ENTROPY == pytest.approx(-26.6799, abs=5e-5)

    def test_a_single_cluster_has_the_shares_of_the_table(self):
        plain = mixture()
        one = SharedCounts.smoothed(count_all(BLOCK, AXIS), 1.0)
        np.testing.assert_allclose(plain.shares(one.counts)[0][0], plain.marginals.shares, rtol=1e-14)

    @pytest.mark.parametrize(("one", "other", "gain"), [(1, 2, -5.9612), (0, 1, -4.6416), (0, 2, -2.8840)])
    def test_gains_of_pairs_of_columns(self, one, other, gain):
        own = mixture().shares(started(HALVES).counts)[0]
        found = expected(own, np.array([0.5, 0.5]), one, other)
        assert exact_gain(pooled(one, other), found, strength(one, other), np.log(3)) == pytest.approx(
            gain, abs=5e-5
        )

    def test_expected_pairs_and_the_lift(self):
        own = mixture().shares(started(HALVES).counts)[0]
        found = expected(own, np.array([0.5, 0.5]), 1, 2)
        np.testing.assert_allclose(found, [[0.2164, 0.125, 0.1586], [0.1586, 0.125, 0.2164]], atol=5e-5)
        lift = lift_of(pooled(1, 2), found, 2.0)
        np.testing.assert_allclose(lift, [[1.1241, 1, 0.8306], [0.8306, 1, 1.1241]], atol=5e-5)

    def test_shares_given_the_parents_category(self):
        found = mixture((-1, -1, 1)).shares(started(HALVES).counts)[1].reshape(2, 2, 3)
        np.testing.assert_allclose(found[0], [[0.6051, 0.2403, 0.1546], [0.4987, 0.2680, 0.2333]], atol=5e-5)
        np.testing.assert_allclose(found[1], [[0.2333, 0.2680, 0.4987], [0.1546, 0.2403, 0.6051]], atol=5e-5)

    @pytest.mark.parametrize(
        ("tables", "responsibilities"),
        [
            (1, [0.9507, 0.8695, 0.9507, 0.8742, 0.0493, 0.0493, 0.1305, 0.1258]),
            (2, [0.9465, 0.8126, 0.9465, 0.8201, 0.0535, 0.0535, 0.1874, 0.1799]),
        ],
    )
    def test_responsibilities_after_a_pass(self, tables, responsibilities):
        first, *second = mixture((-1, -1, 1)).both_scores(started(HALVES))[:tables]
        found = shares(BLOCK, to_fixed_point_shares(first, AXIS, *second))[0]
        np.testing.assert_allclose(found[:, 0] / FULL_SHARE, responsibilities, atol=6e-5)

    @pytest.mark.parametrize(
        ("parents", "gain"), [((-1, -1, 1), -6.0985), ((-1, 0, -1), -4.8260), ((-1, -1, 0), -3.6392)]
    )
    def test_what_a_tied_column_gains_inside_clusters(self, parents, gain):
        tied, start = mixture(parents), started(HALVES)
        assert tied.tie_gains(replace(start, pairs=pairs_of(tied, HALVES))) == pytest.approx([gain], abs=5e-5)

    def test_a_single_cluster_gains_what_the_pooled_pairs_do(self):
        tied, one = mixture((-1, -1, 1), k=1), started(np.zeros(8, dtype=np.int64), 1)
        pairs = pairs_of(tied, np.zeros(8, dtype=np.int64), 1)
        assert tied.tie_gains(replace(one, pairs=pairs)) == pytest.approx([-5.7567], abs=5e-5)
        own = tied.shares(one.counts)[0]
        found = expected(own, np.ones(1), 1, 2)
        assert exact_gain(pooled(1, 2), found, 2.0, np.log(3)) == pytest.approx(-5.7567, abs=5e-5)


def pairs_of(tied, labels, k=2):
    """Soft counts of pairs with .95 of every row in its own cluster."""
    joined = tied.joined
    counts = Counts.of(joined.join(BLOCK), labels, k, joined.axis)
    return joined.split(SharedCounts.smoothed(counts, 0.9).counts.by_category)[1]


@given(st.integers(0, 2**31), st.sampled_from([1.0, 2.5, 6.0]), st.integers(1, 3))
def test_tied_passes_and_evidence_are_those_of_the_oracle(seed, prior, k):
    rng = np.random.default_rng(seed)
    n, sizes = 30, (3, 2, 3, 2)
    codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
    codes[:3] = np.arange(3)[:, None] % sizes  # so that every category occurs
    codes[3:20, 1] = codes[3:20, 0] % 2
    axis, block = Axis(sizes), Block(codes.astype(np.uint8), np.zeros((n, 0)))
    labels, none = rng.integers(0, k, n), np.zeros(0)
    marginals = Marginals(axis, count_all(block, axis).shares(axis)[0], (0,) * 4, none, none, none)
    plain = Mixture(marginals, prior, False, float(FULL_SHARE))
    start = SharedCounts.smoothed(Counts.of(block, labels, k, axis), 0.9)
    rows = [tuple(row) for row in codes.tolist()]
    own = [[0.9 * (j == label) + 0.1 / k for j in range(k)] for label in labels]

    joined = JoinedAxis(axis, (-1, 0, -1, 2))
    empty = TiedForest(TiedColumns(joined, np.ones(joined.pairs)), float(np.log(6)))
    counts = Counts.of(joined.join(block), labels, k, joined.axis)
    pairs = joined.split(SharedCounts.smoothed(counts, 0.9).counts.by_category)[1]
    tied = replace(plain, forest=empty)
    tied = replace(plain, forest=tied.forest_of(start.counts, pairs.sum(axis=0)))

    for tables, two in ((1, False), (2, True)):
        first, *second = tied.both_scores(start)[:tables]
        found = shares(block, to_fixed_point_shares(first, axis, *second))[0] / FULL_SHARE
        expected_shares = oracle.tied_pass(rows, own, prior, {1: 0, 3: 2}, two_tables=two)
        np.testing.assert_allclose(found, expected_shares, atol=2e-4)
    gains = [oracle.tie_gain(rows, own, prior, column, parent) for column, parent in ((1, 0), (3, 2))]
    np.testing.assert_allclose(tied.tie_gains(replace(start, pairs=pairs)), gains, atol=1e-4)
    entropy = -sum(r * np.log(r) for each in own for r in each if r > 0)
    assert plain.evidence(start) + entropy == pytest.approx(oracle.evidence(rows, own, prior), abs=1e-3)


def copied(seed, n=500, columns=8, copies=5):
    """Planted clusters beside several copies, with errors, of a column that has nothing to do with them."""
    made, rng = (
        make_categorical(n, columns=columns, clusters=3, noise=0.4, seed=seed),
        np.random.default_rng(seed),
    )
    gender = rng.integers(2, size=n)
    own = {
        f"copy {at}": np.where(rng.random(n) < 0.05, 1 - gender, gender).astype(str) for at in range(copies)
    }
    return made.frame.assign(**own), made.clusters


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_a_column_count_once(seed):
    frame, clusters = copied(seed)
    tied, untied = (Grove(3, ties=ties, random_state=0).fit(frame) for ties in ("auto", None))
    assert adjusted_rand(clusters, tied.labels_) > 0.8
    assert adjusted_rand(clusters, untied.labels_) < 0.4
    assert tied.evidence_ > untied.evidence_
    parents = tied._fitted.outcome.shared["parents"]
    assert (parents[:8] == -1).all()
    assert (parents[8:] >= 8).sum() == 4


def test_no_columns_are_tied_in_tables_of_independent_columns():
    for seed in range(50):
        made = make_categorical(
            200 + 20 * seed, columns=4 + seed % 9, clusters=2 + seed % 4, noise=0.5, seed=seed
        )
        tied, untied = (
            Grove(2 + seed % 4, n_init=1, ties=ties, random_state=0).fit(made.frame)
            for ties in ("auto", None)
        )
        assert (tied._fitted.outcome.shared["parents"] == -1).all()
        assert tied.labels_.tolist() == untied.labels_.tolist()


def test_tied_columns_are_listed_with_their_parents():
    frame, _ = copied(0)
    frame["exact"] = frame["copy 0"]
    tied = Grove(3, random_state=0).fit(frame).tied_columns_
    assert list(tied) == ["column", "parent", "evidence", "share"]
    group = {f"copy {at}" for at in range(5)} | {"exact"}
    assert set(tied["column"]) | set(tied["parent"]) == group
    assert len(tied) == 5
    assert (tied["evidence"] > 3).all()
    pair = tied[(tied["column"] == "exact") | (tied["parent"] == "exact")]
    assert pair["share"].max() == pytest.approx(1.0)
    assert Grove(3, ties=None, random_state=0).fit(frame).tied_columns_.empty


@given(st.integers(0, 2**31), st.integers(1, 4))
def test_the_core_finds_the_gains_of_the_reference(core, levels, seed, k):
    rng = np.random.default_rng(seed)
    axis, n = Axis(tuple(rng.integers(1, 6, 5).tolist())), 200
    codes = np.stack([rng.integers(0, size, n) for size in axis.sizes], axis=1)
    codes[:, 4] = codes[:, 3] % axis.sizes[4]
    block = Block(codes.astype(np.uint8), np.zeros((n, 0)))
    pairs = PairCounts(axis, np.arange(5), cooccurrences(block, axis) / 1.0)
    own = rng.dirichlet(np.ones(axis.length), size=k)
    weights = rng.dirichlet(np.ones(k))
    with core("numpy"):
        expected_gains, forest = pairs.gains(own, weights), pairs.forest(own, weights)
    for level in levels:
        with core(level):
            np.testing.assert_array_equal(pairs.gains(own, weights), expected_gains)
            found = pairs.forest(own, weights)
        assert (found is None) == (forest is None)
        if found is not None:
            assert found.parents == forest.parents
            np.testing.assert_array_equal(found.tied.lift, forest.tied.lift)


@given(st.integers(0, 2**31), st.integers(1, 9), st.booleans())
def test_the_core_finds_what_tied_columns_gain_as_the_reference_does(core, levels, seed, k, absent):
    rng = np.random.default_rng(seed)
    axis, n = Axis((*rng.integers(2, 9, 5).tolist(), 12)), 150
    codes = np.stack([rng.integers(0, size - (absent and size > 2), n) for size in axis.sizes], axis=1)
    block, none = Block(codes.astype(np.uint8), np.zeros((n, 0))), np.zeros(0)
    marginals = Marginals(axis, count_all(block, axis).shares(axis)[0], (0, 0, 4, 0, 0, 0), none, none, none)
    marginals = replace(marginals, ordered=tuple(min(one, 2) for one in marginals.ordered))
    joined = JoinedAxis(axis, (-1, 0, -1, 1, 5, -1))
    forest = TiedForest(TiedColumns(joined, rng.uniform(0.5, 2.0, joined.pairs)), 1.5)
    tied = Mixture(marginals, 2.5, False, float(FULL_SHARE), forest)
    labels = rng.integers(0, k, n)
    start = SharedCounts.smoothed(Counts.of(block, labels, k, axis), 0.9)
    counts = Counts.of(joined.join(block), labels, k, joined.axis)
    start = replace(start, pairs=joined.split(SharedCounts.smoothed(counts, 0.9).counts.by_category)[1])
    with core("numpy"):
        expected_gains = tied.tie_gains(start)
    assert len(expected_gains) == 3
    for level in levels:
        with core(level):
            assert tied.tie_gains(start) == expected_gains


def mixed(frame):
    rng = np.random.default_rng(0)
    return frame.assign(height=rng.normal(size=len(frame)), weight=rng.normal(size=len(frame)))


@pytest.mark.parametrize("kind", ["categories", "weighted", "missing", "ordered", "mixed"])
def test_a_tied_fit_is_the_same_with_and_without_the_core(kind, core):
    frame, _ = copied(1, n=240, columns=5)
    weight, settings = None, {}
    if kind == "weighted":
        weight = np.random.default_rng(0).uniform(0.5, 3.0, len(frame))
    if kind == "missing":
        frame, settings = (
            frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1),
            {"missing": "ignore"},
        )
    if kind == "ordered":
        frame = frame.apply(lambda column: pd.Categorical(column, ordered=True))
    if kind == "mixed":
        frame = mixed(frame)
    found = []
    for name in ("", "numpy"):
        with core(name):
            model = Grove(3, n_init=2, random_state=0, **settings).fit(frame, sample_weight=weight)
            said = model.predict_proba(frame.iloc[:20]).tolist()
        kept = model._fitted.outcome.shared
        found.append((model.labels_.tolist(), model.evidence_, model.gain_, kept["lift"].tolist(), said))
    assert found[0] == found[1]
    assert len(found[0][3]) > 0


def test_an_unknown_category_of_a_tied_column_adds_nothing_and_one_of_its_parent_leaves_it_alone():
    frame, _ = copied(0)
    model = Grove(3, handle_unknown="ignore", random_state=0).fit(frame)
    scores = model._fitted.outcome.scores
    child = next(at for at, parent in enumerate(scores.parents) if parent >= 0)
    parent = scores.parents[child]
    row = frame.iloc[[0]]
    costs = {
        name: model.transform(one)[0]
        for name, one in {
            "known": row,
            "child": row.assign(**{frame.columns[child]: "new"}),
            "missing": row.assign(**{frame.columns[child]: None}),
        }.items()
    }
    np.testing.assert_array_equal(costs["child"], costs["missing"])
    places = list(model.schema_.axis.slices())
    own = model.schema_.columns[child].categories.index(row.iloc[0, child])
    above = model.schema_.columns[parent].categories.index(row.iloc[0, parent])
    joined = JoinedAxis(model.schema_.axis, scores.parents)
    part = next(part for column, _, part in joined.parts() if column == child)
    size = model.schema_.axis.sizes[child]
    given_parent = scores.pairs[part][above * size + own]
    np.testing.assert_allclose(costs["known"] - costs["child"], given_parent, atol=1e-9)
    orphan = model.transform(row.assign(**{frame.columns[parent]: "new"}))[0]
    without = model.transform(row.assign(**{frame.columns[parent]: "new", frame.columns[child]: "new"}))[0]
    np.testing.assert_allclose(orphan - without, scores.table[places[child]][own], atol=1e-9)


def test_a_saved_model_with_ties_predicts_as_before(tmp_path):
    frame, _ = copied(0)
    model = Grove(3, random_state=0).fit(frame)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.predict(frame).tolist() == model.labels_.tolist()
    one = frame.iloc[0].to_dict()
    assert model.scorer().predict_one(one) == model.labels_[0]


def test_tied_columns_stay_tied_when_batches_follow():
    frame, clusters = copied(0, n=1500)
    model = Grove(3, decay=0.9, random_state=0)
    for first in range(0, 1500, 500):
        model.partial_fit(frame.iloc[first : first + 500])
    before = model._fitted.outcome.shared
    new = frame.iloc[:200].assign(**{"copy 0": "other"})
    model.partial_fit(new)
    after = model._fitted.outcome.shared
    assert after["parents"].tolist() == before["parents"].tolist()
    assert len(after["lift"]) > len(before["lift"])
    assert adjusted_rand(clusters, model.predict(frame)) > 0.7


def test_a_batch_adds_the_pairs_that_its_rows_have():
    frame, _ = copied(0, n=400)
    model = Grove(3, random_state=0).partial_fit(frame)
    before = model._fitted.outcome.shared["pair_counts"]
    model.partial_fit(frame)
    np.testing.assert_allclose(model._fitted.outcome.shared["pair_counts"], 2 * before, rtol=1e-12)


@pytest.mark.usefixtures("sampled")
def test_passes_over_all_rows_hold_the_columns_that_the_sample_ties():
    frame, clusters = copied(0, n=2000)
    model = Grove(3, random_state=0).fit(frame)
    assert adjusted_rand(clusters, model.labels_) > 0.8
    assert model._fitted.outcome.shared["pair_counts"].sum() == 4 * 2000 * FULL_SHARE
    assert model.labels_.tolist() == model.predict(frame).tolist()


@pytest.fixture
def sampled(monkeypatch):
    """A search on 400 rows; passes over all rows follow."""
    monkeypatch.setattr("catalpa.cluster.grove.estimator.SEARCH_ROWS", 400)
    monkeypatch.setattr("catalpa.cluster.grove.estimator.ROWS_PER_CLUSTER", 1)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("engine", ["streamed", "dask"])
def test_ties_and_probabilities_are_the_same_wherever_the_rows_are(engine, request):
    frame, _ = copied(0, n=900)
    known = Grove(3, random_state=0).fit(frame)
    other = Grove(3, random_state=0).fit(ENGINES[engine](frame, request))
    assert np.asarray(other.labels_).tolist() == known.labels_.tolist()
    assert other.evidence_ == known.evidence_
    for name, expected in known._fitted.outcome.shared.items():
        np.testing.assert_array_equal(other._fitted.outcome.shared[name], expected, err_msg=name)
    assert len(known.tied_columns_) >= 4
    np.testing.assert_array_equal(other.predict_proba(frame), known.predict_proba(frame))


@pytest.mark.usefixtures("sampled")
def test_a_stopped_fit_goes_on_with_its_ties(tmp_path):
    frame, _ = copied(0, n=900)

    def stop(event):
        if event.step == "all rows":
            raise KeyboardInterrupt

    settings = {"n_clusters": 3, "random_state": 0}
    with pytest.raises(KeyboardInterrupt):
        Grove(**settings, checkpoint=tmp_path / "kept", callback=stop).fit(frame)
    continued = Grove(**settings, checkpoint=tmp_path / "kept").fit(frame)
    whole = Grove(**settings).fit(frame)
    assert continued.labels_.tolist() == whole.labels_.tolist()
    assert continued.evidence_ == whole.evidence_
    assert continued.tied_columns_.equals(whole.tied_columns_)
    assert len(whole.tied_columns_) >= 4


def test_a_row_of_weight_two_is_the_row_twice_with_ties():
    frame, _ = copied(0, n=300)
    weights = 1 + np.arange(300) % 2
    weighted = Grove(3, random_state=0).fit(frame, sample_weight=weights)
    twice = Grove(3, random_state=0).fit(frame.iloc[np.repeat(np.arange(300), weights)])
    assert weighted.tied_columns_.equals(twice.tied_columns_)
    assert np.repeat(weighted.labels_, weights).tolist() == twice.labels_.tolist()


def test_a_scorer_has_the_probabilities_of_tied_columns():
    frame, odd = odd_rows()
    model = Grove(3, handle_unknown="ignore", random_state=0).fit(frame)
    assert len(model.tied_columns_)
    some = odd.iloc[:40]
    found = model.scorer().predict_proba(some.to_dict("records"))
    np.testing.assert_array_equal(found, model.predict_proba(odd)[:40])


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_sql_gives_the_labels_of_tied_columns(missing, dialect):
    frame, odd = odd_rows()
    model = Grove(3, missing=missing, handle_unknown="ignore", random_state=0).fit(frame)
    assert model._fitted.outcome.scores.pairs is not None
    query = model.to_sql(dialect=dialect, table="rows", keep=[])
    if dialect == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            connection.register("rows", odd)
            found = [label for (label,) in connection.sql(query).fetchall()]
    else:
        with sqlite3.connect(":memory:") as connection:
            odd.to_sql("rows", connection, index=False)
            found = [label for (label,) in connection.execute(query)]
    assert found == model.predict(odd).tolist()


def test_onnx_gives_the_labels_of_tied_columns():
    runtime = pytest.importorskip("onnxruntime")
    frame, odd = odd_rows()
    model = Grove(3, handle_unknown="ignore", random_state=0).fit(frame)
    graph = model.to_onnx()
    session = runtime.InferenceSession(graph.SerializeToString())
    cells = odd.astype(object)
    inputs = {
        one.name: cells[one.name].fillna("").to_numpy(dtype=object)[:, None] for one in session.get_inputs()
    }
    (found,) = session.run(["label"], inputs)
    assert found.tolist() == model.predict(odd).tolist()


def odd_rows():
    """Rows to fit, with missing cells, and rows to label, with unknown categories besides."""
    rng, cells = np.random.default_rng(1), copied(0)[0].astype(object)
    frame = cells.mask(rng.random(cells.shape) < 0.05, None)
    odd = frame.mask(rng.random(cells.shape) < 0.1, None)
    return frame, odd.mask(rng.random(cells.shape) < 0.1, "never seen")


def test_a_column_and_its_copy_are_never_two_reasons():
    frame, _ = copied(0)
    first = frame.columns[0]
    frame["copy of it"] = frame[first]
    model = Grove(3, random_state=0).fit(frame)
    reasons = model.reasons(top=20)
    for _, own in reasons.groupby("cluster"):
        assert len(set(own["column"]) & {first, "copy of it"}) <= 1
    assert {first, "copy of it"} & set(reasons["column"])


def test_the_page_reports_columns_that_repeat_each_other():
    pytest.importorskip("altair")
    frame, _ = copied(0)
    summary = Grove(3, random_state=0).fit(frame).report(frame).summary
    assert any("repeat each other and count once" in line for line in summary["table"]["decisions"])


def test_which_columns_matter_counts_a_column_and_its_copies_once():
    pytest.importorskip("altair")
    frame, _ = copied(0)
    first, second = frame.columns[:2]
    frame = frame.assign(**{"one copy": frame[first], "another copy": frame[first]})
    model = Grove(3, random_state=0).fit(frame)
    report = model.report(frame)
    group = {first, "one copy", "another copy"}
    records = {record["column"]: record["repeats"] for record in report.summary["columns"]}
    counted = {column for column in group if records[column] is None}
    assert len(counted) == 1
    assert {records[column] for column in group - counted} == counted
    assert records[second] is None
    text = report.html
    ranked = text[text.index("Which columns matter?") : text.index("Share of every category")]
    assert [f'title="{column}"' in ranked for column in sorted(group)].count(True) == 1
    assert " · repeated by " in ranked
