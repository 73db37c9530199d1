"""Files of SPSS, Stata and SAS: labels in place of codes, titles, and declared missing values."""

import io
import sys
from datetime import date

import pandas as pd
import pytest

from catalpa.errors import MissingDependency, TableError
from catalpa.table import read_table
from catalpa.table.files.sources import read_codebook, read_file

pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0, 2.0, 9.0],
        "scale": [1.0, 2.0, 3.0, 5.0, 9.0],
        "age": [18.0, None, 99.0, 44.5, 51.0],
        "name": ["a", "", "007", "d", "e"],
        "day": pd.to_datetime(["2024-01-31"] * 5),
    }
)
LABELS = {
    "sex": {1: "male", 2: "female", 9: "refused"},
    "scale": {1: "low", 5: "high", 9: "don't know"},
    "age": {99: "refused"},
}


@pytest.fixture
def sav(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(
        FRAME,
        str(path),
        column_labels={"sex": "Sex of respondent"},
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9], "scale": [9], "age": [{"lo": 98, "hi": 99}]},
    )
    return path


def test_labels_stand_in_place_of_codes_where_every_value_has_one(sav):
    table = read_table(sav)
    assert table.to_pydict() == {
        "sex": ["male", "female", "male", "female", None],
        "scale": [1, 2, 3, 5, None],
        "age": [18.0, None, None, 44.5, 51.0],
        "name": ["a", None, "007", "d", "e"],
        "day": [date(2024, 1, 31)] * 5,
    }
    assert read_table(io.BytesIO(sav.read_bytes())).equals(table)


def test_titles_and_labels_are_kept_in_the_codebook(sav):
    book = read_file(sav).codebook
    assert (book.title("sex"), book.title("age")) == ("Sex of respondent", "age")
    assert (book.label("scale", 5.0), book.label("sex", 9)) == ("high", "refused")
    assert [one.label for one in book.columns["sex"].answers] == ["male", "female"]
    assert [one.code for one in book.columns["age"].missing] == ["99"]
    assert book.order("scale") is None
    assert read_codebook(sav) == book


def test_files_of_stata_and_sas_are_read(tmp_path):
    pyreadstat.write_dta(FRAME, str(tmp_path / "t.dta"), variable_value_labels={"sex": LABELS["sex"]})
    stata = read_table(tmp_path / "t.dta")
    assert stata["sex"].to_pylist() == ["male", "female", "male", "female", "refused"]
    assert stata["scale"].to_pylist() == [1, 2, 3, 5, 9]
    pyreadstat.write_xport(FRAME[["scale", "name"]], str(tmp_path / "t.xpt"))
    assert read_table(tmp_path / "t.xpt").to_pydict() == {
        "scale": [1, 2, 3, 5, 9],
        "name": ["a", None, "007", "d", "e"],
    }
    pyreadstat.write_por(FRAME[["scale"]], str(tmp_path / "t.por"))
    assert read_table(tmp_path / "t.por")["SCALE"].to_pylist() == [1, 2, 3, 5, 9]


def test_letters_of_stata_for_missing_values_are_missing(tmp_path):
    frame = pd.DataFrame({"q": [1.0, "a", 2.0]})
    pyreadstat.write_dta(
        frame,
        str(tmp_path / "t.dta"),
        missing_user_values={"q": ["a"]},
        variable_value_labels={"q": {1: "yes", 2: "no", "a": "refused"}},
    )
    file = read_file(tmp_path / "t.dta")
    assert file.table["q"].to_pylist() == ["yes", None, "no"]
    assert file.codebook.label("q", "a") == "refused"


def test_columns_are_chosen_as_in_other_files(sav):
    assert read_table(sav, columns=["age", "sex"]).column_names == ["age", "sex"]


def test_what_is_no_such_file_is_told(tmp_path):
    (tmp_path / "t.sav").write_bytes(b"$FL2@(#) nothing")
    with pytest.raises(TableError, match="cannot be read as a file of SPSS"):
        read_table(tmp_path / "t.sav")


def test_a_file_without_its_reader_names_the_command(sav, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingDependency, match=r"pip install 'catalpa\[spss\]'"):
        read_table(sav)
