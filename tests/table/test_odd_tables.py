"""Odd tables end in codes or in an error of our own, never in another traceback."""

import contextlib
import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalpa.errors import CatalpaError, TableError
from catalpa.table import decode, encode, infer

pytestmark = pytest.mark.filterwarnings("ignore::catalpa.errors.CatalpaWarning")

odd_cells = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.text(st.characters(), max_size=2),
    st.sampled_from(["", "\x00", "\ud800", " ", "nan", "\U0001f333", "a" * 300]),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.datetimes(timezones=st.none() | st.just(dt.UTC)),
    st.times(),
    st.timedeltas(),
    st.decimals(),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.sampled_from(
        [np.nan, pd.NA, pd.NaT, np.int8(3), np.float32(0.5), np.bool_(True), np.datetime64("NaT")]
    ),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
    st.tuples(st.integers()),
)
few_kinds = st.lists(odd_cells, min_size=1, max_size=3).flatmap(
    lambda cells: st.lists(st.lists(st.sampled_from(cells), min_size=2, max_size=2), min_size=1, max_size=6)
)
odd_rows = few_kinds | st.lists(st.lists(odd_cells, min_size=1, max_size=3), min_size=1, max_size=5)


def walk(table, **settings):
    """Encode and decode; errors of our own are an answer too."""
    with contextlib.suppress(CatalpaError):
        schema = infer(table, **settings)
        block = encode(table, schema, handle_unknown="error").rows.blocks[0]
        assert block.codes.shape == (len(block), len(schema.categorical))
        assert (block.codes < schema.axis.widths + 2).all()
        decode(block, schema)


@settings(max_examples=300)
@given(odd_rows, st.sampled_from(["category", "ignore", "error"]), st.sampled_from([None, 2, 3]))
def test_odd_rows_end_in_codes_or_in_our_own_error(rows, missing, bins):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        walk(rows, missing=missing, bins=bins)
        walk(rows, missing=missing, numbers="refuse")


@settings(max_examples=200)
@given(odd_rows)
def test_odd_frames_end_in_codes_or_in_our_own_error(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in (pd.DataFrame, lambda rows: np.array(rows, dtype=object), pl_frame, categories):
            try:
                table = make(rows)
            except Exception:  # the library itself does not take these rows
                continue
            walk(table)


def pl_frame(rows):
    try:
        return pl.DataFrame(
            [pl.Series(str(at), column, strict=False) for at, column in enumerate(zip(*rows, strict=True))]
        )
    except pl.exceptions.PanicException as error:
        raise ValueError from error


def categories(rows):
    return pd.DataFrame(rows).astype("category")


def test_very_many_categories_encode():
    frame = pd.DataFrame({"a": [f"w{at}" for at in range(100_000)]})
    assert len(np.unique(encode(frame, infer(frame)).rows.blocks[0].codes)) == 100_000


@pytest.mark.parametrize("table", [[["a", 1, None, 2.5]], pa.table({"a": ["x"]}), np.zeros((1, 1))])
def test_one_row_encodes(table):
    assert len(encode(table, infer(table)).rows) == 1


@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 4)), min_size=2, max_size=30), st.randoms())
def test_shuffling_rows_shuffles_codes(rows, random):
    order = list(range(len(rows)))
    random.shuffle(order)
    table, shuffled = [list(row) for row in rows], [list(rows[at]) for at in order]
    assert infer(table) == infer(shuffled)
    codes = encode(table, infer(table)).rows.blocks[0].codes
    assert (encode(shuffled, infer(table)).rows.blocks[0].codes == codes[order]).all()


def test_bytes_that_read_like_a_text_of_their_column_cannot_be_given_back():
    table = pd.DataFrame({"mixed": pd.Categorical([b"", ""], categories=[b"", ""])})
    schema = infer(table)
    block = encode(table, schema).rows.blocks[0]
    with pytest.raises(TableError, match="cannot be decoded to a table of pandas"):
        decode(block, schema)
