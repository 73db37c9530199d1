"""Numbers as people write them are read, and codes, versions and ranges are left alone."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.table.written_numbers import NumberFormat, detect_numbers, parse_numbers

READ = {
    "decimal comma and thousands": (["1.234,56 €", "12,50 €", "3"], [1234.56, 12.5, 3.0], "€"),
    "dollars and a word": (["$319", "$50.76", "n/a", "$1,200"], [319.0, 50.76, None, 1200.0], "$"),
    "letters of a currency": (["SR 2,375", "SR 295"], [2375, 295], "SR"),
    "a unit behind a blank": (["128182 vehicles", "92 vehicles"], [128182, 92], "vehicles"),
    "percent": (["15%", "5.6 %"], [15.0, 5.6], "%"),
    "no-break blanks between thousands": (["1\u00a0234\u202f567,8", "12"], [1234567.8, 12.0], ""),
    "Swiss apostrophes": (["1\u2019234.50", "2'000.10"], [1234.5, 2000.1], ""),
    "brackets of accountants": (["(5)", "12", "(1,234.5)"], [-5.0, 12.0, -1234.5], ""),
    "minus behind, and the true minus": (["5-", "\u22123"], [-5, -3], ""),
    "no digit before the point": ([".75", ".5"], [0.75, 0.5], ""),
    "exponents": (["1e-5", "2"], [1e-5, 2.0], ""),
    "several groups": (["1.000.000", "2.500"], [1000000, 2500], ""),
    "a currency before the sign": (["€ -5,5", "€3"], [-5.5, 3.0], "€"),
}


@pytest.mark.parametrize(("texts", "numbers", "unit"), READ.values(), ids=READ)
def test_written_numbers_are_read(texts, numbers, unit):
    written = detect_numbers(texts)
    assert written.unit == unit
    assert parse_numbers(pa.array(texts), written).to_pylist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["45%", "40-46%", "48 g/100g"],
        ["007", "008"],
        ["1.2.3", "1.4.5"],
        ["1,5", "2.5"],
        ["12 kg", "5 lbs"],
        ["$5", "€3"],
        ["1-2", "3-4"],
        ["Q1", "Q2"],
        ["ABC123", "ABC345"],
        ["2013FAIL", "2012FAIL"],
        ["08:30", "09:10"],
        ["2020-01-01"],
        ["1 2 3"],
        ["red", "blue", "3"],
        [],
    ],
)
def test_what_is_no_number_is_left_alone(texts):
    assert detect_numbers(texts) is None


def test_marks_that_fit_both_ways_are_ambiguous():
    ambiguous = detect_numbers(["3,664", "1,250"])
    assert (ambiguous.marks, ambiguous.group) == ("ambiguous", ",")
    assert detect_numbers(["12", "7"]).marks == "absent"


def test_numbers_beyond_the_floats_are_missing():
    assert parse_numbers(pa.array(["9" * 400, "1"]), NumberFormat()).to_pylist() == [None, 1.0]


@given(st.lists(st.integers(-(10**9), 10**9).map(lambda n: n / 100), min_size=1, max_size=20))
def test_numbers_written_in_german_and_english_come_back(numbers):
    english = [f"{number:,.2f}" for number in numbers]
    german = [text.translate(str.maketrans(",.", ".,")) for text in english]
    for texts, written in ((english, NumberFormat(".", ",")), (german, NumberFormat(",", "."))):
        assert parse_numbers(pa.array(texts), written).to_pylist() == numbers
        assert detect_numbers(texts).decimal == written.decimal
