"""Dates become their parts, and lists a yes/no column per item."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import catalpa
from catalpa import KModes
from catalpa.cluster.registry import METHODS
from catalpa.errors import TableError, UnseenCategories, UnseenCategoryWarning, UnsupportedTable
from catalpa.table import ColumnKind, Schema, decode, encode, infer, infer_batches
from catalpa.table.infer import extend

DAYS = [date(2023, 12, 18) + timedelta(days=at) for at in range(28)]


def texts(days):
    return [str(day) for day in days]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"day": DAYS}),
        pd.DataFrame({"day": pd.to_datetime(DAYS)}),
        pd.DataFrame({"day": texts(DAYS)}),
        pl.DataFrame({"day": DAYS}),
        pa.table({"day": DAYS}),
    ],
)
def test_many_dates_are_taken_by_their_parts(frame):
    schema = infer(frame)
    assert schema.names == ("day: year", "day: month", "day: weekday")
    assert schema.inputs == ("day",)
    assert {column.kind for column in schema.columns} == {ColumnKind.ORDINAL}
    assert schema.columns[0].categories == (2023, 2024)
    assert schema.columns[1].categories == ("January", "December")
    assert schema.columns[2].categories[0] == "Monday"
    assert schema.decisions == ("column 'day' holds 28 different dates: taken by year, month and weekday",)
    rows = encode(frame, schema).rows.blocks[0]
    assert rows.codes[[0, 14]].tolist() == [[0, 1, 0], [1, 0, 0]]  # 18 December 2023, 1 January 2024: Mondays
    decoded = encode(decode(rows, schema), infer(decode(rows, schema))).rows
    assert len(decoded) == 28


def test_times_have_an_hour_and_parts_that_never_change_are_left_out():
    frame = pd.DataFrame({"at": pd.date_range("2024-05-06 01:00", periods=23, freq="h")})
    schema = infer(frame)
    assert schema.names == ("at: hour",)
    assert schema.columns[0].categories == tuple(range(1, 24))
    assert schema.decisions == ("column 'at' holds 23 different dates: taken by hour",)


@pytest.mark.parametrize(
    "values",
    [
        texts(DAYS)[:20],
        [*texts(DAYS), "soon"] * 2,
        [*texts(DAYS), "2024-02-31"] * 2,
        [f"2024-05-06 01:{at:02}" for at in range(30)] * 2,
    ],
)
def test_few_dates_or_texts_that_are_none_stay_categories(values):
    assert infer(pd.DataFrame({"day": pd.Series(values * 2)})).names == ("day",)


def test_a_listed_column_of_dates_keeps_every_date():
    assert infer(pd.DataFrame({"day": DAYS * 2}), categorical_features=["day"]).columns[0].size == 28


def test_dates_of_another_spelling_are_known_and_others_are_unseen():
    schema = infer(pd.DataFrame({"day": texts(DAYS)}))
    new = pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2025-03-01"])})
    assert encode(new, schema, handle_unknown="ignore").unseen == {"day: year": 1, "day: month": 1}
    mixed = pd.DataFrame({"day": ["2024-01-01", "soon"]})
    assert set(encode(mixed, schema, handle_unknown="ignore").unseen.values()) == {1}
    with pytest.raises(TableError, match="No value of column 'day: year' was seen at fit"):
        encode(pd.DataFrame({"day": ["soon"]}), schema)
    with pytest.raises(TableError, match="'day' held dates at fit and holds lists now"):
        encode(pd.DataFrame({"day": [["soon"]]}), schema)


ANSWERS = [["saw", "drill"], ["saw"], [], None, ["drill", "saw", "saw"]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"tools": ANSWERS}),
        pd.DataFrame({"tools": [tuple(one) if one else one for one in ANSWERS]}),
        pd.DataFrame({"tools": [np.nan if one is None else np.array(one, dtype=object) for one in ANSWERS]}),
        pl.DataFrame({"tools": ANSWERS}),
        pa.table({"tools": ANSWERS}),
        [{"tools": one} for one in ANSWERS],
    ],
)
def test_lists_become_a_column_of_yes_and_no_per_item(frame):
    schema = infer(frame)
    assert schema.names == ("tools: drill", "tools: saw")
    assert all(column.categories == (False, True, None) for column in schema.columns)
    assert encode(frame, schema).rows.blocks[0].codes.tolist() == [[1, 1], [0, 1], [0, 0], [2, 2], [1, 1]]
    assert infer(decode(encode(frame, schema).rows.blocks[0], schema)).names == schema.names


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_row_without_the_item_that_every_row_had_is_no_surprise(method, recwarn):
    lists = [["saw", "drill"], ["saw"], ["saw", "drill", "file"], ["saw", "file"]] * 8
    frame = pd.DataFrame({"tools": lists, "who": ["a", "b"] * 16})
    model = METHODS[method].estimator()
    model.set_params(**{name: 2 for name in ("n_clusters",) if name in model.get_params()})
    model.fit(frame)
    assert model.schema_.columns[2].categories == (False, True)
    recwarn.clear()
    assert len(model.predict(pd.DataFrame({"tools": [["drill"]], "who": ["a"]}))) == 1
    assert not recwarn.list


def test_batches_of_lists_make_the_schema_of_all():
    frame = pd.DataFrame({"tools": ANSWERS})
    assert infer_batches([frame.head(2), frame.tail(3)]) == infer(frame)


def test_lists_where_none_were_and_the_other_way_round_are_told():
    lists, plain = pd.DataFrame({"tools": [["saw"], []]}), pd.DataFrame({"tools": ["saw", "drill"]})
    with pytest.raises(TableError, match="'tools' held lists at fit and holds text now"):
        encode(plain, infer(lists))
    with pytest.raises(TableError, match="No value of column 'tools' was seen at fit: it holds lists now"):
        encode(lists, infer(plain))


def test_items_that_fit_never_saw_are_told_and_left_out():
    known = pd.DataFrame({"tools": [["saw"], ["saw", "drill"], [], None], "who": ["a", "b", "a", "b"]})
    schema = infer(known)
    new = pd.DataFrame({"tools": [["saw", "glue"], ["glue"], ["drill"], None], "who": ["a", "c", "a", "b"]})
    with pytest.warns(
        UnseenCategoryWarning, match=r"2 cells of column 'tools' hold items .* \('glue'\)"
    ) as told:
        encoded = encode(new, schema)
    assert "most distant category, and such items are ignored" in str(told[0].message)
    assert encoded.unseen == {"who": 1, "tools": 2}
    with pytest.raises(UnseenCategories, match="items not seen"):
        encode(new, schema, handle_unknown="error")
    silent = encode(new, schema, handle_unknown="ignore")
    without = encode(new.assign(tools=[["saw"], [], ["drill"], None]), schema, handle_unknown="ignore")
    assert silent.rows.blocks[0].codes.tolist() == without.rows.blocks[0].codes.tolist()
    assert without.unseen == {"who": 1}
    assert encode(new.assign(tools=None, who="a"), schema).unseen == {}


def test_items_that_are_too_many_or_whose_names_are_taken_are_told():
    with pytest.raises(UnsupportedTable, match="hold 1,001 different items"):
        infer(pd.DataFrame({"words": [[f"w{at}" for at in range(1001)]]}))
    with pytest.raises(TableError, match=r"would be named \['a: x'\]"):
        infer(pd.DataFrame({"a": [["x"]], "a: x": ["y"]}))


def test_a_model_of_such_columns_is_kept_and_goes_on_learning(tmp_path):
    frame = pd.DataFrame({"day": DAYS, "tools": [["saw"], ["drill"]] * 14, "c": ["x", "y"] * 14})
    model = KModes(2, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == ["day", "tools", "c"]
    assert model.n_features_in_ == 3
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.schema_ == model.schema_
    np.testing.assert_array_equal(again.predict(frame), model.labels_)
    np.testing.assert_array_equal(again.predict(frame.to_dict("records")), model.labels_)
    assert list(model.cluster_centers_.columns) == list(model.schema_.names)
    model.partial_fit(frame.assign(day=[day.replace(year=2030) for day in DAYS]))
    assert model.schema_.columns[0].categories == (2023, 2024, 2030)
    wider = extend(infer(frame), frame.assign(day=[day.replace(year=2030) for day in DAYS]))
    assert wider.names == model.schema_.names


@pytest.mark.parametrize("changed", [{"part": "minute"}, {"part": "year"}, {"item": None}, {"column": 1}])
def test_a_damaged_origin_is_refused(changed):
    state = infer(pd.DataFrame({"tools": ANSWERS})).to_dict()
    state["columns"][0]["origin"] |= changed
    with pytest.raises(TableError, match="origin"):
        Schema.from_dict(state)
