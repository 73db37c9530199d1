"""Numeric columns become clipped numbers or ordered bins by their shape."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from catalpa.engines.local import opener_for
from catalpa.errors import ParameterError, TableError
from catalpa.table import ColumnKind, Schema, decode, encode, infer
from catalpa.table.blocks import FARTHEST
from catalpa.table.discretize import shaped
from catalpa.table.infer import extend
from catalpa.table.schema import TableSettings

FEW = [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 5.0, 40.0]
WITHOUT_OUTLIERS = np.arange(10.0)  # every value a tenth of the cells: no spike, no skew


def shape_of(values, weights=None, **settings):
    """The one column of a table, and what was said of it."""
    frame = pd.DataFrame({"n": np.asarray(values, dtype=float)})
    schema = infer(frame, categorical_features="from_dtype", numbers="keep", **settings)
    numbers = frame.to_numpy()
    weights = None if weights is None else np.asarray(weights)
    schema = shaped(schema, numbers, weights, {"n"} if frame["n"].isna().any() else ())
    return schema.columns[0], schema.decisions


def bins_of(column, values):
    return np.searchsorted(column.edges, values, side="right").tolist()


# ---- by hand


def test_a_spike_is_cut_into_bins_of_equal_rank_and_ties_share_one():
    column, decisions = shape_of(FEW)
    assert column.kind is ColumnKind.ORDINAL
    assert column.edges == (1.0, 2.0, 5.0, 40.0)
    assert bins_of(column, FEW) == [0, 0, 0, 0, 1, 2, 3, 4]
    assert column.categories == ("0", "1", "2 to 4", "5 to 39", "40")
    assert decisions == ("column 'n' holds 0 in 50% of the sampled cells: cut into 5 ordered bins",)


def test_a_spike_is_a_fifth_of_the_known_cells():
    values = [0.0, 0.0, *range(1, 9)]
    assert shape_of(values)[0].kind is ColumnKind.ORDINAL
    assert shape_of([*values, np.nan])[0].kind is ColumnKind.ORDINAL
    assert shape_of([*values, 9.0])[0].kind is ColumnKind.NUMERIC


def test_an_even_column_is_clipped_to_its_median_and_three_deviations():
    outliers = [*WITHOUT_OUTLIERS, 1000.0]
    column, decisions = shape_of(outliers)
    spread = (9.0 - 1.0) / 2.563  # of eleven values the second and the last but one
    assert (column.kind, column.clipped, column.low) == (ColumnKind.NUMERIC, True, 0.0)
    assert column.high == 5.0 + 3.0 * spread
    assert column.describe() == "0 to 14.364, clipped beyond"
    assert decisions == ("column 'n' is numeric, clipped to 0 and 14.364",)


def test_limits_are_not_wider_than_what_was_seen():
    column, _ = shape_of(WITHOUT_OUTLIERS)
    assert (column.low, column.high) == (0.0, 9.0)


def test_a_long_tail_is_cut_into_eight_bins():
    values = np.exp(np.linspace(-2.0, 2.0, 160))
    column, decisions = shape_of(values)
    assert np.bincount(bins_of(column, values)).tolist() == [20] * 8
    assert decisions[0].startswith("column 'n' is right-skewed (trimmed skewness 1.")
    assert decisions[0].endswith("): cut into 8 ordered bins")
    assert "is left-skewed" in shape_of(-values)[1][0]


def test_a_single_outlier_is_no_skew():
    values = np.random.default_rng(0).normal(size=300)
    assert shape_of([*values, 1e9])[0].kind is ColumnKind.NUMERIC
    assert shape_of([*values, 1e300])[0].high < 10


def test_a_constant_column_stays_as_it_is():
    column, decisions = shape_of([2.5, 2.5, np.nan, 2.5])
    assert (column.kind, column.clipped, column.low, column.high) == (ColumnKind.NUMERIC, False, 2.5, 2.5)
    assert decisions == ("column 'n' holds a single value: it cannot separate rows",)


def test_a_column_that_is_constant_in_the_rows_looked_at_is_one_bin():
    schema = infer([[1.5], [1.5], [9.0], [None]])
    column = shaped(schema, np.array([[1.5], [1.5]]), None, {"x0"}).columns[0]
    assert (column.edges, column.categories) == ((), ("1.5 to 9", None))
    none = shaped(schema, np.array([[np.nan]]), None, {"x0"})
    assert none.columns[0] == column
    assert none.decisions == ("column 'x0' has no number in the sampled rows: cut into 1 ordered bin",)


def test_missing_cells_are_what_they_are_in_other_categories():
    values = [*FEW, np.nan]
    assert shape_of(values, missing="category")[0].categories[-1] is None
    assert None not in shape_of(values, missing="ignore")[0].categories
    assert None not in shape_of(FEW, missing="category")[0].categories
    assert shape_of(values, missing="ignore")[0].edges == shape_of(FEW)[0].edges


def test_a_column_of_missing_cells_only_is_no_number():
    with pytest.warns(match="All cells are missing"):
        schema = infer(pd.DataFrame({"n": [np.nan, np.nan]}), numbers="shape")
    assert schema.columns[0].kind is ColumnKind.NOMINAL


def test_infinite_numbers_are_refused_before_their_shape_is_asked_for():
    with pytest.raises(TableError, match="infinite"):
        infer([[1.5], [np.inf]], numbers="shape")


@pytest.mark.parametrize("size", [1.7e308, 1e-300, 1e-307, 2.0**-1070])
def test_numbers_of_any_size_have_a_shape(size):
    values = np.linspace(-1.0, 1.0, 21) * size
    column, _ = shape_of(values)
    assert column.kind is ColumnKind.NUMERIC
    assert (column.low, column.high) == (values.min(), values.max())
    spiked, _ = shape_of([*values, *[0.0] * 10])
    assert spiked.kind is ColumnKind.ORDINAL


def test_limits_beyond_the_largest_number_are_the_largest_seen():
    values = np.linspace(-1.0, 1.0, 21) * 1.7e308
    assert np.isfinite([shape_of(values)[0].low, shape_of(values)[0].high]).all()


def test_whole_numbers_are_shaped_unless_they_are_few():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"few": rng.integers(0, 5, 400), "many": rng.integers(0, 90, 400)})
    schema = infer(frame, numbers="shape")
    assert [column.kind for column in schema.columns] == [ColumnKind.NOMINAL, ColumnKind.NUMERIC]
    assert [decision.split("'")[1] for decision in schema.decisions] == ["few", "many"]


def test_other_policies_are_refused_by_name():
    with pytest.raises(ParameterError, match="'keep', 'refuse' or 'shape'"):
        infer([[1.5]], numbers="round")


# ---- properties

NUMBERS = arrays(
    np.float64,
    st.integers(1, 80),
    elements=st.one_of(st.integers(-4, 4).map(float), st.floats(-1e6, 1e6), st.just(np.nan)),
)


@given(NUMBERS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(values, random):
    assume(not np.isnan(values).all())
    mixed = values.tolist()
    random.shuffle(mixed)
    assert shape_of(values) == shape_of(mixed)


@given(NUMBERS, st.data())
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(values, data):
    weights = data.draw(arrays(np.int64, len(values), elements=st.integers(0, 3)))
    repeated = np.repeat(values, weights)
    assume(not np.isnan(repeated).all())
    schema = infer(pd.DataFrame({"n": repeated}), categorical_features="from_dtype")
    one = shaped(schema, values[:, None], weights)
    assert one == shaped(schema, repeated[:, None], None)


@given(NUMBERS)
def test_limits_and_bins_are_those_of_the_plain_formulas(values):
    known = np.sort(values[~np.isnan(values)])
    assume(len(known) and known[0] < known[-1])
    column, _ = shape_of(values)
    top = max(np.count_nonzero(known == value) for value in known)
    spread = (np.quantile(known, 0.9) - np.quantile(known, 0.1)) / 2.563
    limits = np.median(known) - 3 * spread, np.median(known) + 3 * spread
    clipped = np.clip(known, *limits)
    if column.kind is ColumnKind.NUMERIC:
        assert 5 * top < len(known)
        assert (column.low, column.high) == (max(limits[0], known[0]), min(limits[1], known[-1]))
        assert abs(np.mean(((clipped - clipped.mean()) / clipped.std()) ** 3)) <= 1 + 1e-9
        return
    if 5 * top < len(known):
        assert abs(np.mean(((clipped - clipped.mean()) / clipped.std()) ** 3)) >= 1 - 1e-9
    midranks = [
        np.count_nonzero(known < value) + (np.count_nonzero(known == value) + 1) / 2 for value in known
    ]
    expected = [int(8 * (midrank - 0.5) / len(known)) for midrank in midranks]
    dense = np.searchsorted(np.unique(expected), expected)
    assert bins_of(column, known) == dense.tolist()
    assert set(column.edges) <= set(known)


# ---- the schema afterwards


def mixed(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "bell": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50.0, 5.0, n)),
            "colour": rng.choice(["red", "blue"], n),
            "tail": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n)),
            "spike": np.where(rng.random(n) < 0.4, 0.0, rng.random(n)),
        }
    )


@pytest.fixture
def schema():
    return infer(mixed(), numbers="shape")


def test_the_schema_comes_back_from_json_and_pickle(schema):
    assert [column.clipped for column in schema.columns] == [True, False, False, False]
    assert Schema.from_dict(schema.to_dict()) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    state = schema.to_dict()
    del state["columns"][0]["clipped"]
    with pytest.raises(TableError, match=r"cannot be read: columns\[0\].clipped is not there"):
        Schema.from_dict(state)


def test_more_rows_change_no_shape(schema):
    more = mixed(seed=1).assign(bell=1e6, tail=-5.0, colour="green")
    wider = extend(schema, more.assign(spike=np.nan))
    assert wider.columns[0] == schema.columns[0]
    assert wider.columns[2] == schema.columns[2]
    assert wider.columns[3] == replace(schema.columns[3], categories=(*schema.columns[3].categories, None))
    assert wider.decisions == schema.decisions


def test_rows_come_back_with_the_names_of_their_bins(schema):
    frame = mixed()
    rows = decode(encode(frame, schema).rows.blocks[0], schema)
    pd.testing.assert_series_equal(rows["bell"], frame["bell"])
    known = frame["spike"].notna()
    places = np.searchsorted(schema.columns[3].edges, frame.loc[known, "spike"], side="right")
    assert rows.loc[known, "spike"].tolist() == [schema.columns[3].categories[at] for at in places]
    assert rows["tail"].isna().tolist() == frame["tail"].isna().tolist()


def test_clipped_numbers_stay_between_0_and_1_and_others_do_not(schema):
    bell = schema.columns[0]
    rows = pd.DataFrame({"bell": [bell.low - 100.0, bell.low, bell.high, 1e300, np.nan]})
    rows = rows.assign(colour="red", tail=[-9.0, 1e9, 0.5, np.nan, np.nan], spike=0.0)
    block = encode(rows, schema).rows.blocks[0]
    numbers = schema.scaling.apply(block).numbers[:, 0]
    np.testing.assert_array_equal(numbers, [0.0, 0.0, 1.0, 1.0, np.nan])
    tails = [schema.columns[2].categories[code] for code in block.codes[:, 1]]
    assert (tails[0], tails[1]) == (schema.columns[2].categories[0], schema.columns[2].categories[-2])
    assert tails[3:] == [None, None]
    free = replace(schema, columns=(replace(bell, clipped=False), *schema.columns[1:]))
    outside = free.scaling.apply(block).numbers[:, 0]
    assert outside[0] < -1.0
    assert outside[3] == FARTHEST


# ---- rows of the search, in memory


def opened(frame, sample_weight=None, **settings):
    settings = TableSettings(numbers="shape", **settings)
    return opener_for(frame).for_fit(settings, sample_weight).schema


def test_only_the_rows_of_the_search_are_looked_at():
    frame = mixed(5000)
    schemas = [
        opened(frame, search_rows=most, search_seed=seed)
        for most, seed in ((None, 0), (5000, 9), (200, 0), (200, 0), (200, 1))
    ]
    assert schemas[0] == schemas[1]
    assert schemas[2] == schemas[3]
    assert schemas[2] != schemas[0]
    assert schemas[2] != schemas[4]


def test_weights_count_as_rows_and_weightless_rows_do_not():
    frame = mixed(300).assign(more=lambda rows: rows["bell"] + rows["spike"])
    weights = np.random.default_rng(1).integers(0, 4, 300)
    frame.loc[weights == 0, "bell"] = 1e9
    repeated = frame.loc[np.repeat(frame.index, weights)].reset_index(drop=True)
    one, other = opened(frame, weights), opened(repeated)
    assert one == other
    assert one.decisions == other.decisions
    assert one.columns[0].high < 100


def test_weightless_rows_are_not_drawn_for_the_search():
    frame = mixed(2000)
    weights = np.random.default_rng(1).integers(0, 2, 2000)
    left = frame[weights > 0].reset_index(drop=True)
    one, other = opened(frame, weights, search_rows=300), opened(left, search_rows=300)
    assert one == other
    assert one != opened(frame, search_rows=300)
