"""Where categories stand in a drawn tree."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.errors import ParameterError
from catalpa.explain.relations import Relations
from catalpa.plot.relation_trees import lay_out
from catalpa.table import infer


def relation_on_a_line(positions):
    schema = infer([[f"c{at:02}"] for at in range(len(positions)) for _ in range(2)])
    return Relations.on_lines(schema, np.array([positions]))[0, "x0"]


def laid_out(relation, shares, **settings):
    return lay_out(replace(relation, shares=np.asarray(shares, dtype=float)), **settings)


def test_the_commonest_category_comes_first_and_edges_are_true():
    relation = relation_on_a_line([0.1, 0.7, 0.2])
    rows = laid_out(relation, [0.1, 0.7, 0.2]).rows
    assert [row.names for row in rows] == [("c01",), ("c02",), ("c00",)]
    assert [row.place for row in rows] == pytest.approx([0.0, 0.5, 0.6])
    assert [row.parent for row in rows] == [-1, 0, 1]
    assert [row.share for row in rows] == [0.7, 0.2, 0.1]


def test_categories_at_the_same_place_share_a_line():
    rows = laid_out(relation_on_a_line([0.8, 0.1, 0.1]), [0.8, 0.05, 0.15]).rows
    assert [row.names for row in rows] == [("c00",), ("c02", "c01")]
    assert rows[1].share == pytest.approx(0.2)


def test_a_branching_tree_hangs_each_category_on_its_neighbour():
    star = np.array([[0, 1, 2, 3], [1, 0, 3, 4], [2, 3, 0, 5], [3, 4, 5, 0]], dtype=float)
    schema = infer([["a"], ["b"], ["c"], ["d"]])
    relation = Relations.from_distances(schema, [star], n_clusters=1)[0, "x0"]
    rows = {row.names[0]: row for row in laid_out(relation, [0.1, 0.6, 0.2, 0.1]).rows}
    lines = [row.names[0] for row in laid_out(relation, [0.1, 0.6, 0.2, 0.1]).rows]
    assert lines[0] == "b"
    assert {name: row.place for name, row in rows.items()} == {"b": 0, "a": 1, "c": 3, "d": 4}
    assert rows["c"].parent == rows["d"].parent == lines.index("a")


def test_the_rarest_categories_are_left_out_and_counted():
    positions = np.linspace(0.01, 1, 100)
    layout = laid_out(relation_on_a_line(positions), positions, most_rows=10)
    assert len(layout.rows) == 10
    assert layout.left_out == 90
    assert layout.rows[0].names == ("c99",)
    assert layout.rows[-1].names == ("c90",)


def test_what_hung_on_a_category_that_is_left_out_hangs_on_the_next_one():
    # c2 is the root; c1 lies between it and c0, and is rarer than c0.
    layout = laid_out(relation_on_a_line([0.0, 0.4, 1.0]), [0.3, 0.1, 0.6], most_rows=2)
    assert [(row.names[0], row.parent, row.place) for row in layout.rows] == [
        ("c02", -1, 0.0),
        ("c00", 0, 1.0),
    ]


def test_a_column_without_categories_has_no_lines():
    nothing = relation_on_a_line([0.5])
    empty = replace(nothing, categories=(), names=(), geometry=np.zeros(0))
    assert laid_out(empty, []).rows == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_every_category_is_drawn_once_or_counted(positions):
    layout = laid_out(relation_on_a_line(positions), positions, most_rows=7)
    drawn = [name for row in layout.rows for name in row.names]
    assert len(set(drawn)) == len(drawn)
    assert len(drawn) + layout.left_out + len(layout.absent) == len(positions)
    assert all(row.parent < at for at, row in enumerate(layout.rows))


def test_categories_without_rows_have_no_line_and_are_named():
    schema = infer([["low"], ["med"], ["high"], ["none"]])
    # high, low, med, none: without rows, and yet nearer to the commonest than one that has some
    on_a_line = Relations.on_lines(schema, np.array([[0.0, -2.0, -1.0, -0.5]]))[0, "x0"]
    layout = laid_out(on_a_line, [0.7, 0.1, 0.2, 0.0])
    assert [row.names for row in layout.rows] == [("high",), ("med",), ("low",)]
    assert [row.place for row in layout.rows] == [0.0, 1.0, 2.0]
    assert layout.absent == ("none",)
    star = np.array([[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]], dtype=float)
    branched = Relations.from_distances(schema, [star], n_clusters=1)[0, "x0"]
    layout = laid_out(branched, [0.7, 0.1, 0.2, 0.0])
    assert sorted(row.place for row in layout.rows)[:2] == [0.0, 2.0]
    assert laid_out(on_a_line, [0.0] * 4).absent == ("high", "low", "med", "none")


def test_a_relation_that_knows_no_shares_cannot_be_laid_out():
    with pytest.raises(ParameterError, match="shares of its categories"):
        lay_out(relation_on_a_line([0.1, 0.2]))


def test_of_thousands_of_categories_the_most_frequent_are_laid_out_and_the_rest_counted():
    rng = np.random.default_rng(0)
    shares = rng.permutation(np.arange(1, 5001) / 5000.0)
    relation = relation_on_a_line([0.5])
    names = tuple(f"c{at}" for at in range(5000))
    relation = replace(relation, categories=names, names=names, geometry=shares)
    tracemalloc.start()
    layout = laid_out(relation, shares)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    common = np.argsort(-shares)[:40]
    assert [row.names for row in layout.rows] == [(f"c{at}",) for at in common]
    assert layout.left_out == 5000 - 40
    assert peak < 8 * 5000**2 / 20  # a matrix of all pairs would be 200 MB
