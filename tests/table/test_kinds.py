"""Which columns are categories, which are numbers, and what is said about it."""

import datetime as dt
import shlex

import numpy as np
import pandas as pd
import polars as pl
import pytest

from catalpa.errors import ColumnWarning, NumericColumns, ParameterError, UnknownColumn
from catalpa.table import ColumnKind, encode, infer, infer_batches


def kinds(schema):
    return {column.name: column.kind.value for column in schema.columns}


@pytest.fixture
def survey():
    return pd.DataFrame(
        {
            "colour": ["red", "blue", "red", "green"],
            "size": pd.Categorical(["S", "L", "S", "S"], categories=["S", "M", "L"], ordered=True),
            "member": [True, False, True, True],
            "answer": [1, 2, 2, 1],
            "age": [31, 45, 28, 60],
            "income": [1.5, 2.25, 3.0, 0.5],
        }
    )


def test_kinds_follow_dtype_and_values(survey):
    assert kinds(infer(survey)) == {
        "colour": "nominal",
        "size": "ordinal",
        "member": "nominal",
        "answer": "nominal",
        "age": "numeric",
        "income": "numeric",
    }


def test_every_judgement_is_said(survey):
    decisions = infer(survey).decisions
    assert decisions == (
        "column 'answer' holds 2 different whole numbers: taken as categories",
        "column 'age' holds many different whole numbers: taken as a number",
    )
    assert all(decision in repr(infer(survey)) for decision in decisions)


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0, 1], "nominal"),
        ([1, 2, 3, 1, 2, 3], "nominal"),
        ([1, 2, 3, 1, 2], "numeric"),
        (list(range(20)) * 2, "nominal"),
        (list(range(21)) * 2, "numeric"),
        ([1.0, 2.0, np.nan, 1.0, 2.0], "nominal"),
        ([1.0, 2.5, 1.0, 2.5], "numeric"),
        ([7], "nominal"),
    ],
)
def test_whole_numbers_are_categories_when_few_and_repeated(numbers, kind):
    assert infer(pd.DataFrame({"a": numbers})).columns[0].kind == kind


def test_whole_numbers_that_turn_many_after_the_first_thousand_rows_are_numbers():
    numbers = np.concatenate([np.zeros(1500, dtype=int), np.repeat(np.arange(30), 50)])
    assert infer(numbers[:, None]).columns[0].kind is ColumnKind.NUMERIC


def test_continuous_arrays_stay_numeric():
    X = np.random.default_rng(0).normal(size=(20, 4))
    assert {column.kind for column in infer(X).columns} == {ColumnKind.NUMERIC}


def test_from_dtype_takes_every_number_column_as_a_number(survey):
    chosen = kinds(infer(survey, categorical_features="from_dtype"))
    assert chosen["answer"] == "numeric"
    assert chosen["member"] == "nominal"


@pytest.mark.parametrize(
    "features",
    [
        ["age", "colour"],
        [4, 0],
        [-2],
        np.array([4]),
        [True, False, False, False, True, False],
        np.array([0, 0, 0, 0, 1, 0], dtype=bool),
    ],
)
def test_listed_number_columns_are_categories_and_the_others_numbers(survey, features):
    chosen = kinds(infer(survey, categorical_features=features))
    assert (chosen["age"], chosen["answer"], chosen["size"]) == ("nominal", "numeric", "ordinal")


def test_listed_fractions_become_categories():
    column = infer([[1.5], [2.0], [1.5]], categorical_features=[0]).columns[0]
    assert column.categories == (1.5, 2)


@pytest.mark.parametrize(
    ("features", "error", "told"),
    [
        (["agee"], UnknownColumn, "'agee'"),
        ([6], UnknownColumn, "6"),
        ([-7], UnknownColumn, "-7"),
        ([True, False], ParameterError, "mask of 2 entries"),
        ("age", ParameterError, r"write \['age'\]"),
        ([1.5], ParameterError, "1.5"),
        (3, ParameterError, "3"),
    ],
)
def test_wrong_categorical_features_are_named(survey, features, error, told):
    with pytest.raises(error, match=told):
        infer(survey, categorical_features=features)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"missing": "drop"}, "missing is 'drop'"),
        ({"numbers": "no"}, "numbers is 'no'"),
        ({"bins": 1}, "bins is 1"),
        ({"bins": True}, "bins is True"),
        ({"bins": 2.5}, "bins is 2.5"),
    ],
)
def test_wrong_settings_are_told(survey, setting, told):
    with pytest.raises(ParameterError, match=told):
        infer(survey, **setting)


def test_categorical_methods_refuse_fractions_and_say_what_to_do(survey):
    with pytest.raises(NumericColumns, match=r"\['income'\].*bins=5.*categorical_features.*KPrototypes"):
        infer(survey, numbers="refuse")


def test_categorical_methods_take_any_whole_numbers(survey):
    schema = infer(survey.drop(columns="income"), numbers="refuse")
    assert schema.columns[-1].categories == (28, 31, 45, 60)
    assert "as this method does not support numbers" in schema.decisions[-1]


def test_categorical_methods_take_listed_fractions(survey):
    schema = infer(survey, numbers="refuse", categorical_features=["income"])
    assert not schema.numeric


def test_text_that_looks_like_numbers_stays_text():
    assert infer(np.array([["1"], ["2"]], dtype=object)).columns[0].categories == ("1", "2")


def test_dates_are_categories_and_this_is_said():
    schema = infer(pd.DataFrame({"day": pd.to_datetime(["2024-02-01", "2024-01-31"])}))
    assert schema.columns[0].categories == ("2024-01-31 00:00:00", "2024-02-01 00:00:00")
    assert "dates or times" in schema.decisions[0]


def test_values_of_several_types_are_sorted_by_type_then_value():
    schema = infer(np.array([["b"], [2], [True], ["a"], [1.5], [False]], dtype=object))
    assert schema.columns[0].categories == (False, True, 1.5, 2, "a", "b")
    assert "several types" in schema.decisions[0]


@pytest.mark.parametrize(
    ("cells", "categories"),
    [
        ([1.5, True], (True, 1.5)),
        (["a", b"b", b"a"], ("a", "b")),
        ([dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 3)], ("2024-01-01", "2024-01-01 03:00:00")),
    ],
)
def test_values_of_related_types_are_not_merged(cells, categories):
    assert infer([[cell] for cell in cells]).columns[0].categories == categories


def test_true_and_one_are_two_categories_but_one_and_one_point_zero_are_one():
    column = np.array([[True], [1], [1.0]], dtype=object)
    schema = infer(column)
    assert encode(column, schema).rows.blocks[0].codes.ravel().tolist() == [0, 1, 1]


def test_category_order_does_not_depend_on_row_order():
    frame = pd.DataFrame({"a": list("cabca"), "b": pd.Categorical(list("zyxyz"), categories=list("zyxw"))})
    assert infer(frame).columns[0].categories == infer(frame[::-1]).columns[0].categories == ("a", "b", "c")
    assert infer(frame).columns[1].categories == ("x", "y", "z")


def test_text_and_category_columns_give_the_same_codes():
    text = pd.DataFrame({"a": list("cabca")})
    one, other = (encode(frame, infer(frame)).rows.blocks[0] for frame in (text, text.astype("category")))
    assert (one.codes == other.codes).all()


def test_ordered_categories_keep_their_declared_order_with_those_no_row_has(survey):
    assert infer(survey).columns[1].categories == ("S", "M", "L")


def test_an_enum_is_nominal_in_its_declared_order():
    frame = pl.DataFrame({"a": pl.Series(["x", "z"], dtype=pl.Enum(["z", "y", "x"]))})
    assert infer(frame).columns[0].categories == ("z", "x")
    assert infer(frame).columns[0].kind is ColumnKind.NOMINAL


@pytest.mark.parametrize("values", [["a"] * 3, [5] * 3, [0.5] * 3, [True] * 3])
def test_a_constant_column_is_taken_and_said(values):
    assert "a single value" in infer(pd.DataFrame({"same": values})).decisions[-1]


def test_identifier_like_columns_are_named_in_a_warning():
    with pytest.warns(ColumnWarning, match=r"\['id'\]"):
        infer(pd.DataFrame({"id": [f"r{at}" for at in range(20)], "b": ["x"] * 20}))


def test_nearly_unique_texts_are_named_with_the_cure():
    texts = [f"said {at % 46}" for at in range(50)]
    with pytest.warns(ColumnWarning, match=r"unique per row: \['comment'\].*--drop comment of the"):
        infer(pd.DataFrame({"comment": texts}))


@pytest.mark.parametrize("first", [0, 1, 1000])
def test_numbers_that_count_the_rows_are_named(first):
    rows = list(range(first, first + 30))
    frame = pd.DataFrame({"ID": rows[::2] + rows[1::2], "b": [0.5, 1.5] * 15})
    with pytest.warns(ColumnWarning, match=r"\['ID'\] count the rows.*X.drop\(columns=\['ID'\]\)"):
        infer(frame)
    with pytest.warns(ColumnWarning, match="count the rows"):
        infer_batches([frame.head(13), frame.tail(17)])


def test_numbers_that_fill_a_range_by_repeating_are_no_identifiers(recwarn):
    infer(pd.DataFrame({"size": [0, 29, *([14] * 14), *([16] * 14)]}))
    infer(pd.DataFrame({"size": [2**40, 2**40 + 29, *([2**40 + 14] * 14), *([2**40 + 16] * 14)]}))
    assert not recwarn.list


def test_the_command_that_drops_columns_can_be_pasted_into_a_shell():
    names = {"first name": [f"{at} Ada" for at in range(40)], "it's": [f"{at} Bea" for at in range(40)]}
    with pytest.warns(ColumnWarning, match="--drop") as met:
        infer(pd.DataFrame(names))
    told = str(met[0].message).split("or --drop ")[1].partition(" of the command.")[0]
    assert shlex.split(told) == ["first name,it's"]


def test_decimal_commas_are_found_and_said():
    with pytest.warns(ColumnWarning, match=r"\['price'\] are numbers with decimal commas.*--decimal ,"):
        schema = infer(pd.DataFrame({"price": ["1,5", "2", "-0,25"], "place": ["a,b", "1,5", "c"]}))
    assert schema.decisions == (
        "column 'price' holds numbers with decimal commas, as text: taken as categories",
    )


def test_numbers_written_in_two_ways_are_told_with_a_cell_of_each():
    paid = [f"{at},5" for at in range(30)] + ["1.234"]
    told = "'paid' holds numbers with a decimal comma \\('0,5'\\) and with a dot \\('1.234'\\).*one way"
    with pytest.warns(ColumnWarning, match=told) as met:
        schema = infer(pd.DataFrame({"paid": paid, "b": ["x"] * 31}))
    assert len(met) == 1  # that every row is different is no advice then
    assert "decimal commas and dots, as text" in schema.decisions[0]


def test_decimal_dots_read_as_text_are_told():
    with pytest.warns(ColumnWarning, match=r"\['paid'\] are numbers with decimal dots.*without --decimal ,"):
        infer(pd.DataFrame({"paid": ["0.5", "1.5", "3"] * 5}))


def test_words_among_numbers_are_named_with_their_column():
    paid = [f"{at},50" for at in range(25)] + ["-", "unknown", "-"]
    with pytest.warns(
        ColumnWarning, match="numbers except for '-', 'unknown' in 'paid', and were taken as cat"
    ):
        infer(pd.DataFrame({"paid": paid, "plan": ["a", "b"] * 14}))


@pytest.mark.parametrize("texts", [["1", "2", "3+"] * 10, [*map(str, range(25)), "a", "b", "c", "d"]])
def test_grades_and_labels_are_no_numbers_with_words_among_them(texts, recwarn):
    infer(pd.DataFrame({"grade": texts + texts}))  # twice: else every row were different
    assert not recwarn.list


def test_categories_that_differ_in_capitals_or_spaces_only_are_said():
    schema = infer(pd.DataFrame({"plan": ["Plus", "plus ", "Basic"], "city": ["Bern", "Ber n", "Bonn"]}))
    assert schema.decisions == (
        "column 'plan' holds 'Plus' and 'plus ', which differ in capitals or spaces only: "
        "taken as two categories",
    )


def test_of_very_many_categories_spellings_are_not_compared():
    with pytest.warns(ColumnWarning):
        schema = infer(pd.DataFrame({"name": [f"n{at}" for at in range(1001)] + ["N1"]}))
    assert schema.decisions == ()


def test_a_listing_cuts_long_texts():
    schema = infer(pd.DataFrame({"q" * 500: ["very " * 12_000, "b"]}))
    assert max(map(len, str(schema).splitlines())) < 250
    assert "…" in str(schema)


def test_nineteen_different_texts_give_no_warning(recwarn):
    infer(pd.DataFrame({"id": [f"r{at}" for at in range(19)]}))
    assert not recwarn.list


def test_very_wide_columns_are_named_in_a_warning():
    with pytest.warns(ColumnWarning, match=r"'town' \(1001\)"):
        infer(pd.DataFrame({"town": [f"t{at}" for at in range(1001)] * 2}))


@pytest.mark.parametrize("values", [[None, None], [np.nan, np.nan]])
def test_a_column_of_missing_cells_only_is_one_category_and_a_warning(values):
    frame = pd.DataFrame({"void": values, "b": ["x", "y"]})
    with pytest.warns(ColumnWarning, match=r"\['void'\]"):
        schema = infer(frame)
    assert schema.columns[0].categories == (None,)
    with pytest.warns(ColumnWarning):
        assert infer(frame, missing="ignore").columns[0].categories == ()


def test_bins_hold_about_equally_many_rows_and_have_readable_names():
    X = np.arange(1.0, 11.0)[:, None] / 2
    schema = infer(X, bins=2)
    assert schema.columns[0].categories == ("below 3", "3 or more")
    assert schema.columns[0].kind is ColumnKind.ORDINAL
    assert np.bincount(encode(X, schema).rows.blocks[0].codes.ravel()).tolist() == [5, 5]


def test_bins_at_predict_use_the_borders_of_fit_and_take_numbers_beyond_them():
    schema = infer(np.arange(1.0, 11.0)[:, None] / 2, bins=2)
    codes = encode([[-100.0], [2.999], [3.0], [99.0]], schema).rows.blocks[0].codes
    assert codes.ravel().tolist() == [0, 0, 1, 1]


def test_missing_numbers_of_a_binned_column_are_a_category():
    X = np.array([[0.5], [1.5], [np.nan], [2.5]])
    schema = infer(X, bins=2, numbers="refuse")
    assert schema.columns[0].categories[-1] is None
    assert encode(X, schema).rows.blocks[0].codes.ravel().tolist()[2] == schema.columns[0].size - 1


def test_few_different_numbers_give_fewer_bins():
    X = np.array([[0.5]] * 9 + [[1.5]])
    assert infer(X, bins=5).columns[0].categories == ("below 1.5", "1.5 or more")


def test_borders_that_look_alike_are_written_out():
    X = np.array([[1.0000001], [1.0000002], [1.0000003], [1.0000004]])
    labels = infer(X, bins=4).columns[0].categories
    assert len(set(labels)) == 4
    assert "1.0000002" in labels[0]
