"""DISC against a transcription that builds every tree and shares no code with it."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.oracle.disc import disc, path_lengths
from tests.oracle.settling import Row, without_empty

import catalpa
from catalpa import DISC
from catalpa.datasets import load
from catalpa.metrics import adjusted_rand, clustering_accuracy, compactness

PAPER = {"distance": "sum", "centers": "mode"}
PROGRAM = {"distance": "euclidean", "centers": "nearest"}
READINGS = st.sampled_from([PAPER, PROGRAM, {**PAPER, "relearn": False}, {**PROGRAM, "relearn": False}])


def fitted(table, starts, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return DISC(len(starts), init=starts, **settings).fit(table)


def agree(model, oracle):
    assert model.labels_.tolist() == without_empty(oracle.labels)
    assert model.cost_ == pytest.approx(oracle.cost, rel=1e-9, abs=1e-9)


def plain_rows(frame):
    cells = frame.astype(object).to_numpy()
    return [Row(tuple(None if cell != cell else cell for cell in row)) for row in cells]


@st.composite
def tables_and_starts(draw):
    columns = draw(st.integers(1, 4))
    row = st.lists(st.sampled_from("abcd"), min_size=columns, max_size=columns)
    table = draw(st.lists(row, min_size=1, max_size=14))
    starts = draw(st.lists(st.sampled_from(table), min_size=1, max_size=min(4, len(table))))
    return table, starts


@given(tables_and_starts(), READINGS, st.sampled_from(["keep", "reseed"]))
def test_labels_and_cost_are_those_of_the_transcription(drawn, reading, empty):
    table, starts = drawn
    rows, given_rows = ([Row(tuple(row)) for row in part] for part in drawn)
    agree(
        fitted(table, starts, empty_clusters=empty, **reading), disc(rows, given_rows, empty=empty, **reading)
    )


@pytest.mark.parametrize(("name", "seed"), [("zoo", 0), ("votes", 0), ("teaching", 0), ("teaching", 1)])
@pytest.mark.parametrize("reading", [PAPER, PROGRAM], ids=["paper", "program"])
def test_labels_on_real_tables_are_those_of_the_transcription(name, seed, reading):
    data = load(name)
    rows = plain_rows(data.frame)
    chosen = np.random.default_rng(seed).choice(len(rows), data.n_clusters, replace=False)
    oracle = disc(rows, [rows[at] for at in chosen], empty="keep", **reading)
    agree(fitted(data.frame, data.frame.iloc[chosen], empty_clusters="keep", **reading), oracle)


@st.composite
def mixed_tables(draw):
    eighths = st.integers(0, 8).map(lambda eighth: eighth / 8)
    row = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), eighths, eighths)
    # Both ends are there, so that scaling to [0, 1] leaves the numbers exactly as they are.
    table = [("a", "x", 0.0, 0.0), ("b", "y", 1.0, 1.0), *draw(st.lists(row, max_size=12))]
    starts = draw(st.lists(st.sampled_from(table), min_size=1, max_size=min(4, len(table))))
    return table, starts


@given(mixed_tables(), st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(4)]), st.booleans())
def test_mixed_tables_add_the_squared_distance_to_the_mean(drawn, gamma, relearn):
    table, starts = drawn
    rows, given_rows = (
        [Row((a, b), (Fraction(p), Fraction(q))) for a, b, p, q in part] for part in (table, starts)
    )
    oracle = disc(rows, given_rows, gamma=gamma, relearn=relearn, empty="reseed")
    names = ["letter", "side", "height", "width"]
    model = fitted(
        pd.DataFrame(table, columns=names),
        pd.DataFrame(starts, columns=names),
        categorical_features=["letter", "side"],
        gamma=float(gamma),
        relearn=relearn,
    )
    agree(model, oracle)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=20))
@example(list("aabb"))
def test_the_way_along_the_tree_is_the_difference_of_shares(cells):
    share = {category: Fraction(cells.count(category), len(cells)) for category in sorted(set(cells))}
    for (one, other), way in path_lengths(share).items():
        assert way == abs(share[one] - share[other])


@pytest.mark.parametrize("seed", range(20))
def test_every_start_of_the_published_program_ends_alike_on_the_votes(seed):
    votes = load("votes")
    model = DISC(2, n_init=1, empty_clusters="keep", random_state=seed, **PROGRAM).fit(votes.frame)
    assert round(clustering_accuracy(votes.target, model.labels_), 4) == 0.8759
    assert round(adjusted_rand(votes.target, model.labels_), 4) == 0.5633
    assert round(compactness(votes.frame, model.labels_), 4) == 0.5328


def test_a_column_weighs_what_its_tree_is_long():
    # One cluster of four rows. Shares: a (3/4, 1/4), b (1/2, 1/2), c (1/2, 1/4, 1/4).
    table = pd.DataFrame({"a": ["x", "x", "x", "y"], "b": ["u", "v", "u", "v"], "c": ["p", "q", "r", "p"]})
    model = DISC(1, random_state=0).fit(table)
    assert model.weights_.to_numpy().tolist() == [pytest.approx([2 / 3, 0, 1 / 3])]
    lengths = [float(model.relations_[0, name].distances.max()) for name in "abc"]
    assert lengths == pytest.approx([1 / 2, 0, 1 / 4])


def test_columns_weigh_the_same_in_a_cluster_without_lengths():
    table = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    model = DISC(1, random_state=0).fit(table)
    assert model.weights_.to_numpy().tolist() == [[0.5, 0.5]]


def test_weights_come_in_the_library_of_the_table_and_leave_numbers_out():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": ["x", "y", "x", "y"], "n": [0.1, 0.2, 5.5, 6.1]})
    weights = DISC(2, random_state=0).fit(table).weights_
    assert isinstance(weights, polars.DataFrame)
    assert weights.columns == ["a"]


def test_a_saved_model_keeps_the_weights_of_its_columns(tmp_path):
    table = load("zoo").frame
    model = DISC(4, random_state=0).fit(table)
    model.save(tmp_path / "model.json")
    assert catalpa.load(tmp_path / "model.json").weights_.equals(model.weights_)
