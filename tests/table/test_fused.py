"""Codes of several columns in one, and blocks that keep them so."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from catalpa.table import encode, fused, infer
from catalpa.table.blocks import Axis, Block, collapse
from catalpa.table.encode import Encoding
from catalpa.table.fused import Fused, pass_groups
from catalpa.table.schema import TableSettings

SIZES = (2, 3, 300, 4, 5, 60)


@pytest.fixture
def few_are_many(monkeypatch):
    """Tables of any size are kept fused."""
    monkeypatch.setattr(fused, "MANY_ROWS", 1)
    monkeypatch.setattr(fused, "PLACE_COST", 0)


def frame(n: int, sizes: tuple[int, ...], *, missing: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {}
    for at, size in enumerate(sizes):
        codes = np.concatenate([np.arange(size), rng.integers(0, size, n - size)])
        cells = pd.Series([f"c{code:03d}" for code in rng.permutation(codes)])
        columns[f"x{at}"] = cells.mask(rng.random(n) < 0.1) if missing else cells
    return pd.DataFrame(columns)


def both_ways(table: pd.DataFrame, missing: str = "category") -> tuple[Block, Block, Axis]:
    """The same rows in plain codes and as they are kept."""
    schema = infer(table, missing=missing)
    kept = Encoding(schema, schema.scaling, TableSettings(missing=missing)).rows(table)
    plain = encode(table, schema).rows
    assert plain.axis == kept.axis
    return plain.blocks[0], kept.blocks[0], kept.axis


@pytest.mark.parametrize(
    ("sizes", "n", "k", "groups"),
    [
        ((5,) * 6, 100_000, 5, ((0, 1, 2), (3, 4, 5))),
        ((5,) * 6, 1000, 5, ((0, 1), (2, 3), (4, 5))),
        ((5,) * 4, 100_000, 5, ((0, 1), (2, 3))),
        ((5,) * 100, 40_000, 5, (*((at, at + 1, at + 2) for at in range(0, 99, 3)), (99,))),
        ((5,) * 100, 10_000, 5, tuple((at, at + 1) for at in range(0, 100, 2))),
        ((16,) * 400, 10_000_000, 32, tuple((at,) for at in range(400))),
        ((5, 5, 5, 5), 10, 5, ((0,), (1,), (2,), (3,))),
        ((2, 300, 2, 2), 100_000, 5, ((0, 2, 3), (1,))),
        ((15, 2, 10, 16, 10), 1_000_000, 5, ((0, 3), (1, 2, 4))),
        ((1, 5, 1, 5), 100_000, 5, ((0, 1, 2, 3),)),
        ((1, 1), 100_000, 5, ((0, 1),)),
        ((), 10, 5, ()),
    ],
    ids=[
        "many rows",
        "some rows",
        "as narrow as makes no more groups",
        "many columns",
        "many columns of fewer rows",
        "more than the cache holds",
        "few rows",
        "a wide column stands alone",
        "columns that fill a byte together",
        "constant columns take no room",
        "constant columns alone",
        "no columns",
    ],
)
def test_columns_are_fused_as_far_as_rows_and_caches_allow(sizes, n, k, groups):
    assert pass_groups(Axis(sizes).widths, k, n) == groups


def test_no_column_is_lost_and_no_group_is_too_wide():
    rng = np.random.default_rng(0)
    for _ in range(100):
        widths = rng.integers(1, rng.integers(3, 300), rng.integers(1, 60))
        groups = pass_groups(widths, 5, 10_000_000)
        assert sorted(column for group in groups for column in group) == list(range(len(widths)))
        shared = [widths[list(group)] for group in groups]
        assert all(own.prod() <= max(own.max(), 256) for own in shared)


def test_columns_of_a_survey_take_eight_bytes():
    widths = np.array([2, 3, 3, 4, 4, 5, 5, 6, 6, 8, 8, 10, 10, 12, 15, 18, 22, 28, 36, 50])
    assert len(pass_groups(widths, 5, 100_000)) == 8


def test_two_columns_share_a_code_by_hand():
    cells = np.array([[5], [0], [3]] + [[0]] * 8, dtype=np.uint8)
    rows = Fused((2, 3), ((0, 1),), cells, 3, np.dtype(np.uint8))
    assert rows.plain().tolist() == [[1, 2], [0, 0], [1, 0]]
    assert rows.column(1).tolist() == [2, 0, 0]
    assert Fused((3, 2), ((1, 0),), cells, 3, np.dtype(np.uint8)).plain().tolist() == [[2, 1], [0, 0], [0, 1]]


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("sizes", [SIZES, (2, 3, 4, 5), (256, 2), (255, 3), (2,) * 9], ids=str)
@pytest.mark.usefixtures("few_are_many")
def test_codes_come_back_as_they_were(sizes, missing):
    plain, kept, axis = both_ways(frame(700, sizes, missing=True), missing)
    assert axis.special_places == (missing == "ignore")
    assert isinstance(kept.storage, Fused) == (
        sizes[0] < 255
    )  # a column that fills a byte leaves none for others
    assert (len(kept), kept.storage.shape) == (len(plain), plain.codes.shape)
    assert kept.codes.dtype == plain.codes.dtype
    np.testing.assert_array_equal(kept.codes, plain.codes)
    for column in range(len(sizes)):
        np.testing.assert_array_equal(kept.column(column), plain.column(column))
        np.testing.assert_array_equal(kept.places_in(column, 7), plain.places_in(column, 7))


@pytest.mark.usefixtures("few_are_many")
def test_rows_are_taken_and_cut_as_those_of_plain_codes():
    plain, kept, axis = both_ways(frame(700, SIZES))
    rng = np.random.default_rng(1)
    for rows in (slice(3, 50), slice(690, 900), slice(5, 5), rng.integers(0, 700, 40), rng.random(700) < 0.3):
        np.testing.assert_array_equal(kept.take(rows).codes, plain.take(rows).codes)
    for part, own in zip(kept.cut(99), plain.cut(99), strict=True):
        assert isinstance(part.storage, Fused)
        assert part.start == own.start
        assert len(part.storage.cells) == len(part) + fused.ROWS_BEHIND
        np.testing.assert_array_equal(part.take(slice(10, 60)).codes, own.take(slice(10, 60)).codes)
    np.testing.assert_array_equal(Block.together(kept.cut(99)).codes, plain.codes)
    for one, other in zip(collapse(kept, axis), collapse(plain, axis), strict=True):
        np.testing.assert_array_equal(getattr(one, "codes", one), getattr(other, "codes", other))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kept)).codes, plain.codes)


def test_few_rows_and_parts_of_tables_keep_plain_codes(monkeypatch):
    table = frame(700, (2, 3, 4))
    schema = infer(table)
    encoding = Encoding(schema, schema.scaling, TableSettings())
    assert isinstance(encoding.rows(table).blocks[0].storage, np.ndarray)
    monkeypatch.setattr(fused, "MANY_ROWS", 700)
    monkeypatch.setattr(fused, "PLACE_COST", 0)
    assert isinstance(encoding.rows(table).blocks[0].storage, Fused)
    assert isinstance(encoding.rows(table).blocks[0].storage, Fused)
    assert isinstance(encoding(table).storage, np.ndarray)


@pytest.mark.usefixtures("few_are_many")
def test_what_is_kept_cannot_be_written_to():
    _, kept, _ = both_ways(frame(700, (2, 3, 4)))
    with pytest.raises(ValueError, match="read-only"):
        kept.storage.cells[0, 0] = 0
