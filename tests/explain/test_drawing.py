"""Drawings of trees: to scale, readable, and never wider than a terminal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from catalpa.explain.drawing import draw
from catalpa.explain.formatting import decimals, shortened
from catalpa.explain.tree import line_tree, spanning_tree


def test_dashes_are_to_scale():
    assert (
        draw(line_tree(np.array([0, 1, 4.0])), ["a", "b", "c"])
        == "a ────1.00──── b ────────────3.00──────────── c"
    )


def test_categories_at_one_place_are_still_joined():
    assert draw(line_tree(np.zeros(2)), ["a", "b"]) == "a ─0─ b"


def test_one_category_is_its_name_and_none_is_said():
    assert draw(line_tree(np.zeros(1)), ["a"]) == "a"
    assert draw(line_tree(np.zeros(0)), []) == "(no categories)"


def test_a_line_that_is_too_long_goes_on_below():
    names = [f"category {at}" for at in range(20)]
    lines = draw(line_tree(np.arange(20.0)), names).splitlines()
    assert len(lines) > 1
    assert lines[0].startswith("category 0 ──────1.00────── category 1 ")
    assert all(line.startswith("  ──────1.00────── category") for line in lines[1:])
    assert " ".join(lines).count("1.00") == 19


def test_edges_shrink_before_a_line_is_broken():
    names = [f"category {at}" for at in range(5)]
    drawing = draw(line_tree(np.arange(5.0)), names)
    assert "\n" not in drawing
    assert 90 <= len(drawing) <= 100


def test_branches_are_indented_below_the_category_they_leave():
    distances = np.array(
        [[0, 1, 1, 9, 9], [1, 0, 9, 9, 9], [1, 9, 0, 2, 3], [9, 9, 2, 0, 9], [9, 9, 3, 9, 0.0]]
    )
    assert draw(spanning_tree(distances), ["root", "leaf", "branch", "twig", "bud"]).splitlines() == [
        "root",
        "├──1.00── leaf",
        "└──1.00── branch",
        "  ├────2.00──── twig",
        "  └──────3.00────── bud",
    ]


def test_a_very_deep_tree_says_how_deep():
    n = 60
    distances = np.full((n, n), 100.0)
    for at in range(n - 2):
        distances[at, at + 1] = distances[at + 1, at] = 1
    distances[0, n - 1] = distances[n - 1, 0] = 2
    distances[1, n - 1] = distances[n - 1, 1] = 2
    comb = np.array(distances)
    comb[5, n - 1] = comb[n - 1, 5] = 1
    drawing = draw(spanning_tree(comb), [str(at) for at in range(n)])
    assert "⋯ 57 deep └" in drawing
    assert max(map(len, drawing.splitlines())) <= 100


@given(
    arrays(float, st.integers(1, 40), elements=st.floats(0, 1e6)),
    st.text(min_size=0, max_size=60),
    st.booleans(),
)
def test_no_drawing_is_wider_than_the_terminal_or_breaks_its_lines(positions, name, branching):
    distances = np.abs(positions[:, None] - positions[None, :])
    tree = spanning_tree(distances % 7) if branching else line_tree(positions)
    names = [f"{at}{name}" for at in range(len(positions))]
    lines = draw(tree, names).split("\n")
    assert max(map(len, lines)) <= 100
    assert len("".join(lines).splitlines()) <= 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("short", "short"),
        ("a name too long", "a name to…"),
        ("two\nlines", "two lines"),
        ("tab\there", "tab here"),
    ],
)
def test_names_are_cut_and_kept_on_one_line(name, shown):
    assert shortened(name, 10) == shown


@pytest.mark.parametrize(
    ("length", "shown"), [(0, "0"), (0.01, "0.01"), (0.004, "0.004"), (1e-9, "1e-09"), (123.456, "123.46")]
)
def test_lengths_show_a_digit_that_is_not_zero(length, shown):
    assert decimals(length) == shown
