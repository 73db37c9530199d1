"""Sheets of workbooks become Arrow tables: typed cells, titles, merged cells, several sheets, and reports."""

import io
import sys
import zipfile
from datetime import date, datetime, time

import pyarrow as pa
import pytest

from catalpa.errors import MissingDependency, ParameterError, TableError
from catalpa.table import encode, infer, read_table
from catalpa.table.files.sources import read_file

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


def workbook(*sheets, spans=()):
    """The bytes of a workbook with these sheets, each a list of rows, or a name and a list of rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for at, sheet in enumerate(sheets):
        title, rows = sheet if isinstance(sheet, tuple) else (f"Sheet{at + 1}", sheet)
        made = book.create_sheet(title)
        for row in rows:
            made.append(row)
        for span in spans:
            made.merge_cells(span)
    out = io.BytesIO()
    book.save(out)
    return io.BytesIO(out.getvalue())


ROWS = [["colour", "price"], ["red", 1.5], ["blue", 2], ["red", None]]


def test_a_workbook_is_read_by_its_suffix_and_by_its_first_bytes(tmp_path):
    content = workbook(ROWS)
    expected = {"colour": ["red", "blue", "red"], "price": [1.5, 2.0, None]}
    (tmp_path / "t.xlsx").write_bytes(content.getvalue())
    assert read_table(tmp_path / "t.xlsx").to_pydict() == expected
    table = read_table(content)
    assert table.to_pydict() == expected
    assert pa.types.is_dictionary(table.schema.field("colour").type)


def test_cells_keep_their_types_and_errors_are_missing():
    rows = [["day", "clock", "flag", "share", "moment", "mix", "whole", "text number", "broken"]]
    for at in range(4):
        moment = datetime(2024, 1, 1, at, 30)
        mixed = at if at % 2 else "a"
        rows.append(
            [date(2024, 1, at + 1), time(8, at), at < 2, at / 8, moment, mixed, float(at), str(at), at]
        )
    book = openpyxl.load_workbook(workbook(rows))
    for row, error in ((2, "#DIV/0!"), (3, "#N/A")):
        book.active.cell(row, 9, error).data_type = "e"
    book.active.cell(2, 4).number_format = "0%"
    out = io.BytesIO()
    book.save(out)
    table = read_table(io.BytesIO(out.getvalue()))
    assert table.to_pydict() == {
        "day": [date(2024, 1, at + 1) for at in range(4)],
        "clock": [time(8, at) for at in range(4)],
        "flag": [True, True, False, False],
        "share": [0.0, 0.125, 0.25, 0.375],
        "moment": [datetime(2024, 1, 1, at, 30) for at in range(4)],
        "mix": ["a", "1", "a", "3"],
        "whole": [0, 1, 2, 3],
        "text number": [0, 1, 2, 3],
        "broken": [None, None, 2, 3],
    }
    assert len(encode(table, infer(table)).rows) == 4


def test_whole_numbers_beyond_the_exact_ones_stay_floats():
    table = read_table(workbook([["big", "n"], [10**25, 1], [1, 2]]))
    assert table.to_pydict() == {"big": [1e25, 1.0], "n": [1, 2]}


def test_texts_that_stand_for_missing_cells_can_be_named():
    table = read_table(workbook([["n", "m"], [1, "x"], ["?", "NA"], [2, "y"]]), na=["?"])
    assert table.to_pydict() == {"n": [1, None, 2], "m": ["x", None, "y"]}


def test_the_longest_sheet_is_read_and_others_can_be_picked():
    content = workbook(("short", ROWS[:3]), ("long", ROWS), ("empty", []))
    file = read_file(content)
    assert (file.dialect.sheet, file.table.num_rows) == ("long", 3)
    (finding,) = file.findings
    assert finding.message == (
        'The workbook has 2 sheets with rows; reading "long" (3 rows). '
        "Use --sheet to pick another: short, long."
    )
    assert read_table(content_of(content), sheet="short").num_rows == 2
    assert read_table(content_of(content), sheet=1).num_rows == 2
    with pytest.raises(TableError, match=r"no sheet 'none'. Its sheets are \['short', 'long', 'empty'\]"):
        read_table(content_of(content), sheet="none")
    with pytest.raises(TableError, match="needs a row with the names"):
        read_table(content_of(content), sheet="empty")


def content_of(stream):
    return io.BytesIO(stream.getvalue())


def test_hidden_sheets_are_read_only_if_they_are_named():
    book = openpyxl.load_workbook(workbook(("seen", ROWS[:3]), ("hidden", ROWS * 2)))
    book["hidden"].sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    assert read_file(content_of(out)).dialect.sheet == "seen"
    assert read_file(content_of(out), sheet="hidden").dialect.sheet == "hidden"


def test_titles_and_empty_rows_and_columns_around_a_table_are_skipped():
    rows = [[None, "Sales of 2024"], [], *([None, *row] for row in ROWS)]
    file = read_file(workbook(rows))
    assert file.table.column_names == ["colour", "price"]
    assert file.dialect.header == (3,)
    assert file.findings[0].message == 'Skipped 1 line above the column names ("Sales of 2024").'


def test_merged_names_stand_above_several_columns():
    rows = [["region", "2019", None, "2020", None], [None, "m", "f", "m", "f"]]
    rows += [[f"r{at}", at, 2 * at, 3 * at, 4 * at] for at in range(5)]
    file = read_file(workbook(rows, spans=["B1:C1", "D1:E1"]))
    assert file.table.column_names == ["region", "2019: m", "2019: f", "2020: m", "2020: f"]
    assert file.table.num_rows == 5
    assert read_table(workbook(rows), header=[1, 2]).column_names == file.table.column_names


def test_cells_merged_over_several_rows_count_for_each():
    rows = [["region", "town"], ["north", "a"], [None, "b"], ["south", "c"]]
    table = read_table(workbook(rows, spans=["A2:A3"]))
    assert table["region"].to_pylist() == ["north", "north", "south"]


def test_prose_in_several_cells_above_the_names_is_skipped():
    rows = [
        ["Lots of people", "simply cannot resist", "writing", "some notes", None, None],
        ["at", "the", "top", None, "of their", "spreadsheets"],
        ["or", "merging", None, None, None, "cells"],
        ["name", "profession", "age", "has kids", "born", "died"],
        *(
            [f"p{at}", "dancer", 60 + at, at % 2 == 0, date(1940, 1, at + 1), date(2016, 1, 1)]
            for at in range(9)
        ),
    ]
    file = read_file(workbook(rows))
    assert file.dialect.header == (4,)
    assert file.table["age"].to_pylist() == [60 + at for at in range(9)]


def test_repeated_names_are_numbered_and_blank_ones_called_by_their_place():
    file = read_file(workbook([["a", "a", None], ["x", "y", "z"], ["x", "y", "w"]]))
    assert file.table.column_names == ["a", "a.1", "column 3"]
    assert [one.kind for one in file.findings] == ["names"]


def cross_table():
    rows = [["", "", "Total", "Male", "Female"]]
    for question in range(4):
        rows.append([f"Question {question}", None, None, None, None])
        rows.extend([None, answer, 0.4, 0.35, 0.45] for answer in ("Yes", "No", "Not sure"))
        rows.append([None, None, None, None, None])
    return rows


def test_a_cross_table_is_refused_unless_its_names_are_given():
    with pytest.raises(TableError, match="looks like a report, not one row per case"):
        read_table(workbook(cross_table()))
    assert read_table(workbook(cross_table()), header=1).num_columns == 5


def test_rows_can_be_left_out_and_totals_are_proposed():
    rows = [["town", "a", "b", "c"], *([f"t{at}", at, 2 * at, 3 * at] for at in range(1, 5))]
    rows.append(["Total", 10, 20, 30])
    file = read_file(workbook(rows))
    (total,) = file.findings
    assert (total.safe, total.rows) == (False, (6,))
    assert total.message == 'Row 6 ("Total") looks like a total. Leave it out with --skip-rows 6.'
    left = read_file(workbook(rows), skip_rows=total.rows)
    assert left.table["a"].to_pylist() == [1, 2, 3, 4]
    assert left.findings == ()


def test_a_decision_is_repeated_exactly():
    rows = [["A title"], *ROWS]
    file = read_file(workbook(("one", rows), ("two", rows[:3])))
    again = read_file(workbook(("one", rows), ("two", rows + rows)), dialect=file.dialect)
    assert again.dialect == file.dialect
    assert again.table.equals(file.table)


def test_what_is_no_workbook_is_told(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 no workbook")
    with pytest.raises(TableError, match="cannot be read as Excel"):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(TableError, match="needs a row with the names of the columns"):
        read_table(workbook([["a"]]))
    with pytest.raises(ParameterError, match="rows are whole numbers from 1"):
        read_table(workbook(ROWS), header=0)
    with pytest.raises(TableError, match="has 4 rows"):
        read_table(workbook(ROWS), header=9)


def test_a_workbook_without_its_reader_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (tmp_path / "t.xlsx").write_bytes(b"")
    with pytest.raises(MissingDependency, match=r"pip install 'catalpa\[excel\]'"):
        read_table(tmp_path / "t.xlsx")


ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="Data">{rows}</table:table></office:spreadsheet></office:body>
</office:document-content>"""


def test_open_documents_are_read(tmp_path):
    def cell(value):
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    rows = [["a", "b"], [1, "x"], [2.5, "y"]]
    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", ODS.format(rows=lines))
    file = read_file(tmp_path / "t.ods")
    assert file.table.to_pydict() == {"a": [1.0, 2.5], "b": ["x", "y"]}
    assert file.dialect.sheet == "Data"
    assert read_table(io.BytesIO((tmp_path / "t.ods").read_bytes())).equals(file.table)
