"""How often categories stand together, against counting row by row."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.steps import counts
from catalpa.steps.counts import cooccurrences
from catalpa.table.blocks import Axis, Block


def counted_row_by_row(codes, weights, axis: Axis) -> np.ndarray:
    """By plain loops, over categories that are not holes."""
    base = axis.base
    together = np.zeros((base.length, base.length), dtype=np.int64)
    for row, weight in zip(codes, weights, strict=True):
        held = [
            int(base.offsets[column]) + code for column, code in enumerate(row) if code < axis.sizes[column]
        ]
        for one in held:
            for other in held:
                together[one, other] += weight
    return together


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("special_places", [False, True])
@pytest.mark.parametrize("sizes", [(2, 3, 1, 5), (30, 2), (2, 5) * 32])
def test_counts_are_those_of_a_look_at_every_row(sizes, special_places, weighted):
    rng = np.random.default_rng(3)
    axis = Axis(sizes, special_places)
    codes = np.stack([rng.integers(width, size=300) for width in axis.widths], axis=1)
    weights = rng.integers(0, 2**40, size=300) if weighted else None
    found = cooccurrences(Block(codes, np.zeros((300, 0)), weights), axis)
    expected = counted_row_by_row(codes.tolist(), [1] * 300 if weights is None else weights.tolist(), axis)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_several_parts_are_added(weighted, monkeypatch):
    monkeypatch.setattr(counts, "ONES_AT_ONCE", 64)
    rng = np.random.default_rng(4)
    axis = Axis((2,) * 64)
    codes = np.stack([rng.integers(width, size=200) for width in axis.widths], axis=1)
    weights = rng.integers(0, 9, size=200) if weighted else None
    found = cooccurrences(Block(codes, np.zeros((200, 0)), weights), axis)
    expected = counted_row_by_row(codes.tolist(), [1] * 200 if weights is None else weights.tolist(), axis)
    np.testing.assert_array_equal(found, expected)


def test_no_row_gives_zeros():
    none = Block(np.zeros((0, 2), dtype=np.uint8), np.zeros((0, 0)))
    assert cooccurrences(none, Axis((2, 2))).tolist() == np.zeros((4, 4)).tolist()
