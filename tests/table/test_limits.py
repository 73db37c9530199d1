"""The limits by which columns are judged: a value that just reaches each, and one that does not."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.table import encode, infer, infer_batches
from catalpa.table.blocks import Axis, Block, collapse
from catalpa.table.schema import ColumnKind


def remarks(frame: pd.DataFrame) -> str:
    """What fit warns about in the columns of a table."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        catalpa.KModes(2, n_init=1, random_state=0).fit(frame)
    return " ".join(str(one.message) for one in caught if one.category is catalpa.errors.ColumnWarning)


def beside(cells: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"c": cells, "plain": np.resize(["x", "y"], len(cells))})


@pytest.mark.parametrize(("different", "odd"), [(90, True), (89, False)])
def test_nearly_unique_is_nine_cells_in_ten(different: int, odd: bool) -> None:
    cells = [f"name {min(at, different - 1)}" for at in range(100)]
    assert ("(Almost) unique" in remarks(beside(cells))) == odd


@pytest.mark.parametrize(("rows", "odd"), [(20, True), (19, False)])
def test_identifiers_are_looked_for_from_twenty_rows_on(rows: int, odd: bool) -> None:
    assert ("(Almost) unique" in remarks(beside([f"name {at}" for at in range(rows)]))) == odd
    frame = beside(list(range(5, 5 + rows)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        catalpa.Grove(2, random_state=0).fit(frame)
    assert any("count the rows" in str(one.message) for one in caught) == odd


@pytest.mark.parametrize("first", [10**15, 2**53 - 50])
def test_numbers_that_count_rows_are_identifiers_however_many_digits_they_have(first: int) -> None:
    frame = beside(list(range(first, first + 40)))
    with pytest.warns(catalpa.errors.ColumnWarning, match="count the rows"):
        catalpa.Grove(2, random_state=0).fit(frame)
    gap = beside([*range(first, first + 39), first + 40])
    with warnings.catch_warnings():
        warnings.simplefilter("error", catalpa.errors.ColumnWarning)
        catalpa.Grove(2, random_state=0).fit(gap)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
def test_numbers_that_count_rows_are_identifiers_in_every_type(dtype: str) -> None:
    lowest = -100 if dtype.startswith("int") else 100
    frame = beside(list(range(lowest, lowest + 120))).astype({"c": dtype})
    with pytest.warns(catalpa.errors.ColumnWarning, match="count the rows"):
        infer(frame)
    with pytest.warns(catalpa.errors.ColumnWarning, match="count the rows"):
        infer_batches([frame[::2], frame[1::2]])


def test_identifiers_of_sixteen_digits_stay_apart() -> None:
    low, high = 2**53, 2**53 + 1  # a float cannot tell them apart
    numbers = pd.DataFrame({"id": [low, high] * 20, "kind": ["x", "y"] * 20})
    model = catalpa.KModes(2, random_state=0).fit(numbers)
    assert len(model.schema_.columns[0].categories) == 2
    one, other = (encode([[cell, "x"]], infer(numbers.to_numpy(dtype=object))) for cell in (low, high))
    assert one.rows.blocks[0].codes[0, 0] != other.rows.blocks[0].codes[0, 0]
    expected = model.labels_[:2].tolist()
    rows = [{"id": low, "kind": "x"}, {"id": high, "kind": "y"}]
    assert model.predict(rows).tolist() == expected
    assert model.predict(pd.DataFrame(rows)).tolist() == expected
    as_text = pd.DataFrame(rows).astype({"id": str})
    assert model.predict(as_text).tolist() == expected
    codes = encode(as_text, model.schema_).rows.blocks[0].codes
    assert codes.tolist() == encode(pd.DataFrame(rows), model.schema_).rows.blocks[0].codes.tolist()
    assert codes[0, 0] != codes[1, 0]


@pytest.mark.parametrize(("categories", "odd"), [(1001, True), (1000, False)])
def test_more_than_a_thousand_categories_are_very_many(categories: int, odd: bool) -> None:
    cells = [f"c{at % categories}" for at in range(3 * categories)]
    assert ("Very many categories" in remarks(beside(cells))) == odd


def kind_of(cells: list[object]) -> ColumnKind:
    return infer(pd.DataFrame({"c": cells})).columns[0].kind


@pytest.mark.parametrize(("different", "kind"), [(20, ColumnKind.NOMINAL), (21, ColumnKind.NUMERIC)])
def test_up_to_twenty_different_whole_numbers_are_categories(different: int, kind: ColumnKind) -> None:
    assert kind_of(list(range(different)) * 3) is kind


@pytest.mark.parametrize("index", [0, -3])
def test_the_first_column_can_be_listed_from_either_end(index: int) -> None:
    table = np.array([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5], [7.5, 8.5, 9.5]])
    kinds = [column.kind for column in infer(table, categorical_features=[index]).columns]
    assert kinds == [ColumnKind.NOMINAL, ColumnKind.NUMERIC, ColumnKind.NUMERIC]
    for outside in (3, -4):
        with pytest.raises(catalpa.errors.CatalpaError):
            infer(table, categorical_features=[outside])


def test_a_column_may_hold_lists_of_every_kind() -> None:
    lists = [["a"], ("a", "b"), {"b"}, frozenset(["a"]), np.array(["b", "a"])]
    frame = pd.DataFrame({"tags": pd.Series(lists * 4, dtype=object)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = infer(frame)
    assert {column.origin.item for column in schema.columns if column.origin is not None} == {"a", "b"}


@pytest.mark.parametrize(("rows", "kind"), [(20, ColumnKind.NOMINAL), (19, ColumnKind.NUMERIC)])
def test_each_of_them_twice_on_average(rows: int, kind: ColumnKind) -> None:
    assert kind_of([at % 10 for at in range(rows)]) is kind


@pytest.mark.parametrize(("cells", "kind"), [([1, 2], ColumnKind.NOMINAL), ([1, 2, 3], ColumnKind.NUMERIC)])
def test_two_different_whole_numbers_are_categories_in_any_table(cells: list[int], kind: ColumnKind) -> None:
    assert kind_of(cells) is kind


@pytest.mark.parametrize(("numbers", "words", "odd"), [(21, 3, True), (20, 3, False), (21, 4, False)])
def test_up_to_three_words_among_more_than_twenty_numbers_stand_for_no_number(
    numbers: int, words: int, odd: bool
) -> None:
    cells = [str(at) for at in range(numbers)] + [f"word {at}" for at in range(words)]
    assert ("The texts are numbers except for" in remarks(beside(cells * 2))) == odd


@pytest.mark.parametrize(("rows", "refused"), [(20, True), (19, False)])
def test_a_column_of_nothing_known_is_refused_from_twenty_rows_on(rows: int, refused: bool) -> None:
    model = catalpa.KModes(2, random_state=0).fit(beside(["a", "b"] * 20))
    outcome = pytest.raises(catalpa.errors.UnseenCategories) if refused else contextlib.nullcontext()
    with pytest.warns(catalpa.errors.UnseenCategoryWarning), outcome:
        model.predict(beside(["new"] * rows))


@pytest.mark.parametrize(("equal", "kind"), [(20, ColumnKind.ORDINAL), (19, ColumnKind.NUMERIC)])
def test_a_number_that_a_fifth_of_the_cells_hold_makes_bins(equal: int, kind: ColumnKind) -> None:
    cells = [0.5] * equal + [0.5 + (at - 40) / 7 for at in range(100 - equal)]
    cells = [cell if at < equal or cell != 0.5 else 0.51 for at, cell in enumerate(cells)]
    model = catalpa.Grove(2, random_state=0).fit(beside(cells))
    assert model.schema_.columns[0].kind is kind


def test_rows_of_weight_0_are_left_out_of_the_distinct_ones() -> None:
    codes = np.array([[0, 0], [1, 1], [2, 0], [1, 1], [0, 0], [0, 1]], dtype=np.uint8)
    block = Block(codes, np.zeros((6, 0)), np.array([0, 2, 0, 1, 3, 0]))
    distinct, row_of = collapse(block, Axis((3, 2)))
    assert distinct.codes.tolist() == [[0, 0], [1, 1]]
    assert distinct.row_weights.tolist() == [3, 3]
    assert row_of.tolist() == [-1, 1, -1, 1, 0, -1]
    numbers = np.array([[0.5], [np.nan], [0.25], [np.nan], [0.5], [0.0]])
    distinct, row_of = collapse(Block(codes, numbers, np.array([0, 2, 0, 1, 3, 0])), Axis((3, 2)))
    assert distinct.row_weights.tolist() == [3, 3]
    assert row_of.tolist() == [-1, 1, -1, 1, 0, -1]
