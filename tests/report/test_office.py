"""Files for office programs: what the cells hold, read back by another library."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import catalpa
from catalpa.errors import MissingDependency, ParameterError
from catalpa.report import workbook, workbook_file
from catalpa.report.crossings import _welch, adjusted_residuals

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("xlsxwriter")

ROWS = 120


@pytest.fixture(scope="module")
def people():
    """Two plain groups of 60, a number, and columns that take no part."""
    half = ROWS // 2
    return pd.DataFrame(
        {
            "drink": ["tea"] * half + ["coffee"] * half,
            "milk": ["yes"] * half + ["no"] * half,
            "cake": ["=1+1", "http://cake"] * half,
            "age": [20.5 + at % 7 for at in range(half)] + [60.5 + at % 9 for at in range(half)],
            "party": (["red"] * 50 + ["blue"] * 10) + (["red"] * 10 + ["blue"] * 50),
            "pay": [1000.0 + at for at in range(half)] + [None] + [3000.0 + at for at in range(half - 1)],
        }
    )


@pytest.fixture(scope="module")
def model(people):
    fitted = catalpa.Grove(2, random_state=0).fit(people[["drink", "milk", "cake", "age"]])
    tea = int(fitted.labels_[0])
    return fitted.name_clusters({tea: "tea people", 1 - tea: "coffee people"})


@pytest.fixture(scope="module")
def book(model, people, tmp_path_factory):
    path = tmp_path_factory.mktemp("office") / "people.xlsx"
    workbook(model, people, against=["party", "pay"], title="People").save(path)
    return openpyxl.load_workbook(path)


def rows_of(sheet):
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def test_the_summary_begins_with_the_verdict(book, model):
    assert book.sheetnames == ["Summary", "Profiles", "By party", "By pay", "Numbers", "Labelled table"]
    rows = rows_of(book["Summary"])
    assert rows[0][0] == "People"
    assert rows[1][0] == model.verdict_.sentence
    lines = {row[1]: row for row in rows if row[1] in model.cluster_names_}
    assert {name: row[2] for name, row in lines.items()} == {"tea people": 60, "coffee people": 60}
    assert lines["tea people"][3] == 0.5
    assert "drink=tea" in lines["tea people"][4]


def test_shares_are_numbers_shown_in_percent(book):
    sheet = book["Profiles"]
    head, *lines = rows_of(sheet)[1:]
    tea = head.index("tea people")
    assert next(row for row in lines if row[1] == "tea")[tea] == 1.0
    at = next(row for row in sheet.iter_rows() if row[1].value == "tea")[tea]
    assert at.number_format == "0.0%"
    assert len(sheet.conditional_formatting) == 1


def test_cross_tabulations_mark_cells_that_differ(book):
    sheet = book["By party"]
    rows = {(at, row[0]): row for at, row in enumerate(rows_of(sheet))}
    counts, shares, residuals = (row for (_, name), row in rows.items() if name == "tea people")
    red = next(row for (_, name), row in rows.items() if name == "Counts").index("red")
    assert counts[red] == 50
    assert shares[red] == pytest.approx(50 / 60)
    # By hand: 50 observed, 30 expected, variance 30 / 2 / 2.
    assert residuals[red] == pytest.approx(20 / 7.5**0.5)
    marked = [row for row in sheet.iter_rows() if row[0].value == "tea people"][1]
    assert "▲" in marked[red].number_format
    assert "▼" in marked[3 - red].number_format


def test_the_means_of_a_number_are_compared_with_the_rest(book, people):
    sheet = book["By pay"]
    line = next(row for row in sheet.iter_rows() if row[0].value == "tea people")
    assert [cell.value for cell in line[1:3]] == [60, pytest.approx(people["pay"][:60].mean())]
    assert line[3].value == pytest.approx(people["pay"][:60].std())
    assert "▼" in line[2].number_format


def test_formulas_and_addresses_of_the_table_stay_text(book, model, people):
    rows = rows_of(book["Labelled table"])
    assert rows[0] == ["cluster", "cluster_name", *people.columns]
    assert len(rows) == ROWS + 1
    assert [row[0] for row in rows[1:]] == model.labels_.tolist()
    assert rows[1][4] == "=1+1"
    cells = [book["Labelled table"].cell(at, 5) for at in (2, 3)]
    assert [cell.data_type for cell in cells] == ["s", "s"]
    assert [cell.hyperlink for cell in cells] == [None, None]
    assert rows[61][-1] is None


def test_numbers_have_their_median(book, people):
    head, *lines = rows_of(book["Numbers"])
    line = next(row for row in lines if row[:2] == ["age", "tea people"])
    assert line[head.index("Median")] == people["age"][:60].median()
    assert line[head.index("Mean")] == pytest.approx(people["age"][:60].mean())


def test_a_table_longer_than_a_sheet_is_left_out_and_that_is_said(model, people, monkeypatch, tmp_path):
    monkeypatch.setattr(workbook_file, "MOST_ROWS", 50)
    made = workbook(model, people)
    made.save(tmp_path / "long.xlsx")
    saved = openpyxl.load_workbook(tmp_path / "long.xlsx")
    assert "Labelled table" not in saved.sheetnames
    said = [row[0] for row in rows_of(saved["Summary"])]
    assert made.left_out in said
    assert "120 rows" in made.left_out


def test_weights_count_and_do_not_make_more_rows(model, people, tmp_path):
    weights = np.full(ROWS, 100.0)
    workbook(model, people, against="party", sample_weight=weights).save(tmp_path / "weighted.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "weighted.xlsx")["By party"]
    rows = rows_of(sheet)
    counts, _, residuals = (row for row in rows if row[0] == "tea people")
    red = next(row for row in rows if row[0] == "Weights").index("red")
    assert counts[red] == 5000
    assert residuals[red] == pytest.approx(20 / 7.5**0.5)


def test_residuals_are_those_of_chi_square():
    counts = np.array([[12.0, 5.0], [3.0, 9.0]])
    residuals, expected = adjusted_residuals(counts)
    chi, _, _, frequencies = stats.chi2_contingency(counts, correction=False)
    assert np.allclose(expected, frequencies)
    assert np.allclose(residuals**2, chi)  # in a table of four cells all are the same


def test_the_test_of_means_is_that_of_scipy():
    one, other = [1.0, 2.0, 4.0, 8.0], [3.0, 9.0, 11.0]
    moments = [(np.mean(own), np.std(own, ddof=1), len(own)) for own in (one, other)]
    assert _welch(*moments) == pytest.approx(stats.ttest_ind(one, other, equal_var=False).pvalue)


def test_a_clustered_column_is_not_tested(model, people):
    with pytest.raises(ParameterError, match="'drink', which was clustered"):
        workbook(model, people, against=["party", "drink"])


def test_sheets_have_valid_and_different_names(tmp_path, model, people):
    long = "How much do you trust: [the press]?"
    frame = people.assign(**{long: people["party"], long.lower(): people["party"]})
    workbook(model, frame, against=[long, long.lower()]).save(tmp_path / "names.xlsx")
    names = openpyxl.load_workbook(tmp_path / "names.xlsx").sheetnames
    assert len({name.casefold() for name in names}) == len(names) == 6
    assert all(len(name) <= 31 for name in names)


def test_outliers_keep_their_label(tmp_path):
    group = np.arange(300) % 3
    frame = pd.DataFrame({f"q{at}": np.array(list("abc"))[group] for at in range(6)})
    frame.loc[0] = list("mnopqr")
    model = catalpa.Grove(3, random_state=0, outliers="label").fit(frame).name_clusters({0: "first"})
    assert model.labels_[0] == -1
    workbook(model, frame).save(tmp_path / "outliers.xlsx")
    book = openpyxl.load_workbook(tmp_path / "outliers.xlsx")
    rows = rows_of(book["Labelled table"])[1:]
    assert [row[0] for row in rows] == model.labels_.tolist()
    assert rows[0][1] is None


def test_lists_of_rows_can_be_written_too(tmp_path):
    rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", None]] * 5
    model = catalpa.KModes(2, random_state=0).fit(rows)
    workbook(model, rows).save(tmp_path / "rows.xlsx")
    table = rows_of(openpyxl.load_workbook(tmp_path / "rows.xlsx")["Labelled table"])
    assert [row[1:] for row in table[1:]] == rows


def test_a_missing_package_is_named(model, people, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingDependency, match=r'pip install "catalpa\[office\]"'):
        workbook(model, people)
