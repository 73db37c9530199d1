"""Delimited text as people have it: each kind of file is read as a person would, whole and in batches."""

import io
import json

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalpa
from catalpa.errors import ParameterError, TableError
from catalpa.table.files import header
from catalpa.table.files.dialect import Dialect
from catalpa.table.files.scan import scan
from catalpa.table.files.sources import read_file, read_table

ROWS = "".join(f"{name};{at},5;{at % 3}\n" for at, name in enumerate("abcdefghijkl"))
PLAIN = {"name": list("abcdefghijkl"), "size": [at + 0.5 for at in range(12)], "group": [0, 1, 2] * 4}


def written(tmp_path, text, name="t.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def both(path, **how):
    """What a file is read as; the same cells and types whole and streamed."""
    file = read_file(path, **how)
    batches = list(scan(path, memory="1KB", **how).batches())
    for name in file.table.column_names:
        cells = [cell for batch in batches for cell in batch[name].to_pylist()]
        assert cells == file.table[name].to_pylist()
        assert {batch.schema.field(name).type for batch in batches} == {file.table.schema.field(name).type}
    return file


LAYOUTS = {
    "plain": ("name;size;group\n" + ROWS, (1,), []),
    "a title": ("Table 4, 2024\nname;size;group\n" + ROWS, (2,), ["title"]),
    "titles and empty lines": ("Table 4\n\nby group;\n\nname;size;group\n" + ROWS, (5,), ["title"]),
    "empty lines first": ("\n\nname;size;group\n" + ROWS, (3,), []),
    "notes below": (
        "name;size;group\n" + ROWS + "__________\nSource: the office, 2024\n(c) The office\n",
        (1,),
        ["footer"],
    ),
    "delimiters at the ends of rows": ("name;size;group\n" + ROWS.replace("\n", ";\n"), (1,), []),
    "delimiters at the end of the names": ("name;size;group;\n" + ROWS, (1,), []),
    "Windows": ("name;size;group\r\n" + ROWS.replace("\n", "\r\n"), (1,), []),
}


@pytest.mark.parametrize(("text", "rows", "kinds"), LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_of_one_table_are_read_alike(tmp_path, text, rows, kinds):
    file = both(written(tmp_path, text), decimal=",")
    cells = file.table.to_pydict()
    assert cells.pop("column 4", None) in (None, [None] * 12)
    assert cells == PLAIN
    assert file.dialect.header == rows
    assert [finding.kind for finding in file.findings] == kinds
    assert all(finding.safe and finding.message for finding in file.findings)


def test_a_statistical_office_writes_titles_names_and_notes(tmp_path):
    text = (
        "Tabelle: 12411-0015\nBevölkerung: Kreise, Stichtag\nFortschreibung des Bevölkerungsstandes\n"
        ";;Bevölkerung;Fläche\n;;Anzahl;qkm\n"
        + "".join(f"{at:05};Kreis {at};{1000 + at};{at},25\n" for at in range(40))
        + "__________\n(C)opyright Statistisches Bundesamt, 2024 | Stand: 05.03.2024\n"
    )
    for encoding in ("utf-8", "cp1252", "utf-16"):
        file = both(written(tmp_path, text, encoding=encoding), decimal=",")
        names = ["column 1", "column 2", "Bevölkerung: Anzahl", "Fläche: qkm"]
        assert file.table.column_names == names
        first = [column[0].as_py() for column in file.table.columns]
        assert first == ["00000", "Kreis 0", 1000, 0.25]
        assert (file.table.num_rows, file.dialect.header) == (40, (4, 5))
        assert [finding.kind for finding in file.findings] == ["title", "second header", "footer"]


def test_words_for_missing_values_below_the_names_are_no_units(tmp_path):
    for first in ("r1,-,-,?", "r1,low,high,2", "r1,,,"):
        text = "name,a,b,c\n" + first + "\n" + "".join(f"r{at},{at},{at},{at}\n" for at in range(2, 9))
        assert both(written(tmp_path, text)).dialect.header == (1,)


def test_a_second_line_of_names_is_joined_to_the_first(tmp_path):
    text = "id,Seen it?,Which ones?,,\n,Response,First,Second,Third\n" + "".join(
        f"{at},{'Yes' if at % 2 else 'No'},{'x' if at % 3 else ''},{'' if at % 5 else 'x'},x\n"
        for at in range(30)
    )
    file = both(written(tmp_path, text))
    names = ["id", "Seen it?", "Which ones?: First", "Which ones?: Second", "Which ones?: Third"]
    assert file.table.column_names == names
    assert file.dialect.header == (1, 2)
    assert file.findings[0].message == "Line 2 continues the column names and was merged with them."
    assert both(written(tmp_path, text), header=1).table.num_rows == 31
    joined = read_table(written(tmp_path, text), dialect=Dialect(header=(1, 2), join=" - "))
    assert joined.column_names[2] == "Which ones? - First"


def test_a_table_whose_first_column_has_no_name_has_one_line_of_names(tmp_path):
    file = both(written(tmp_path, ",x,y\n" + "".join(f"row {at},{at},{at}\n" for at in range(9))))
    assert file.table.column_names == ["column 1", "x", "y"]
    assert file.table.num_rows == 9


def test_names_that_lack_the_one_of_the_rows_are_those_of_the_other_columns(tmp_path):
    file = both(written(tmp_path, '"x","y"\n' + "".join(f'"r{at}",{at},{at % 2}\n' for at in range(9))))
    assert file.table.column_names == ["column 1", "x", "y"]
    assert file.table["x"].to_pylist() == list(range(9))


def test_a_file_without_names_gets_names_by_place(tmp_path):
    text = "".join(f"{20 + at},{'man' if at % 2 else 'woman'},{at * 3.5}\n" for at in range(30))
    file = both(written(tmp_path, text))
    assert file.table.column_names == ["column 1", "column 2", "column 3"]
    assert file.table.num_rows == 30
    assert file.dialect.header == ()
    assert file.findings[0].message == (
        "The first line looks like data. Columns are named column 1, 2, ... "
        "If it holds names, use --header 1."
    )
    assert both(written(tmp_path, text), header=1).table.column_names == ["20", "woman", "0.0"]
    assert both(written(tmp_path, "a,b\n1,2\n2,3\n"), header=[]).table["column 1"].to_pylist() == [
        "a",
        "1",
        "2",
    ]


@pytest.mark.parametrize("names", ["place,1990,1991,1992", "0,1,2,3", "a,b,c,d", "2020,2019,2018,2017"])
def test_years_and_places_are_names(tmp_path, names):
    text = names + "\n" + "".join(f"{at},{at * 2},{at * 5},{at * 7}\n" for at in range(1, 20))
    assert both(written(tmp_path, text)).dialect.header == (1,)


def test_repeated_names_are_numbered_as_pandas_does(tmp_path):
    text = "a,a,b,a.1,a\n" + "x,y,z,v,w\n" * 4
    file = both(written(tmp_path, text))
    assert file.table.column_names == list(pd.read_csv(io.StringIO(text)).columns)
    assert file.findings[0].message.startswith("Several columns have the same name ('a')")


@given(st.lists(st.sampled_from(["a", "a.1", "a.2", "b", "a.1.1"]), min_size=1, max_size=9))
def test_any_repeated_names_are_numbered_as_pandas_does(names):
    assert header._unique(names) == list(
        pd.read_csv(io.StringIO(",".join(names) + "\n1")).columns[: len(names)]
    )


def test_blanks_behind_delimiters_are_left_out(tmp_path):
    text = "".join(f"{at}, word {at % 2}, {at / 2}, {'?' if at % 4 else 'z'}\n" for at in range(20))
    file = both(written(tmp_path, text), na=["?"])
    assert file.dialect.skip_initial_space
    assert file.table["column 2"].to_pylist()[:2] == ["word 0", "word 1"]
    assert file.table["column 3"].type == pa.float64()
    assert file.table["column 4"].to_pylist()[:5] == ["z", None, None, None, "z"]


def test_single_quotes_around_fields_are_left_out(tmp_path):
    text = "'size','kind'\n" + "".join(f"'{at}-{at + 9}','{'a,b' if at % 2 else 'c'}'\n" for at in range(9))
    file = both(written(tmp_path, text))
    assert file.table["kind"].to_pylist()[:2] == ["c", "a,b"]
    assert [finding.kind for finding in file.findings] == ["quotes"]


def test_the_encoding_of_old_macs_is_found(tmp_path):
    text = "answer,n\n" + "Not much\u00a0,1\nI don\u2019t know,2\ncaf\u00e9,3\nNot much\u00a0,1\n" * 3
    file = both(written(tmp_path, text, encoding="mac-roman"))
    assert file.dialect.encoding == "mac-roman"
    assert file.table["answer"].to_pylist()[:2] == ["Not much\u00a0", "I don\u2019t know"]
    german = both(written(tmp_path, "Käse,Größe\nHöhle,1\nStraße,2\n", encoding="mac-roman"))
    assert german.table.column_names == ["Käse", "Größe"]
    windows = both(written(tmp_path, "a,b\nt\u00eate,\u00catre\nd\u2019or,x\n", encoding="cp1252"))
    assert windows.dialect.encoding == "cp1252"


def test_thousands_are_read_where_commas_are_decimal(tmp_path):
    text = "a;b;c\n" + "1.234,56;1.234;1.2\n12,5;1.000.000;1.3\n-1.000;7;2.0\n"
    file = both(written(tmp_path, text), decimal=",")
    assert file.table.to_pydict() == {
        "a": [1234.56, 12.5, -1000.0],
        "b": [1234, 1000000, 7],
        "c": ["1.2", "1.3", "2.0"],
    }


def test_cells_of_blanks_are_missing(tmp_path):
    file = both(written(tmp_path, "total,n\n29.85,1\n ,2\n1889.5,3\n   ,4\n"))
    assert file.table["total"].to_pylist() == [29.85, None, 1889.5, None]


def test_rows_are_left_out_by_the_numbers_that_a_spreadsheet_shows(tmp_path):
    text = 'Title here\n\ntown,a,b,c\nx,1,2,3\n\ny,2,4,6\n"z\nz",3,6,9\nTotal,6,12,18\n'
    path = written(tmp_path, text)
    total = next(
        one for one in read_file(written(tmp_path, text.replace("\n\ny", "\ny"))).findings if not one.safe
    )
    assert total.rows == (7,)
    left = both(written(tmp_path, text), skip_rows=[6, 8])
    assert left.table["a"].to_pylist() == [1, 3]
    assert left.table["a"].type == pa.int64()
    assert both(path, skip_rows=[1, 2]).findings[0].kind == "total"


def test_words_of_rows_that_are_left_out_do_not_make_text_of_numbers(tmp_path):
    text = "a,b\n" + "1,2\n" * 50 + "unit,unit\n"
    assert both(written(tmp_path, text), skip_rows=52).table["a"].type == pa.int64()


def test_a_row_that_was_cut_is_no_note(tmp_path):
    for text in ("a,b,c\n1,2,3\n4\n", "a,b,c\nx,y,z\nx\n", "a,b,c\n1,2,3\n4,5\n"):
        for read in (read_table, lambda path: list(scan(path).batches())):
            with pytest.raises(TableError, match=r"Line 3 of .* has . fields, but the line of names has 3"):
                read(written(tmp_path, text))
    between = "a,b,c\nx,y,z\nA remark here\nx,y,z\n"
    with pytest.raises(TableError, match=r"Line 3 of .* has 1 fields"):
        read_table(written(tmp_path, between))


def test_a_decision_is_repeated_exactly(tmp_path):
    text, _, _ = LAYOUTS["titles and empty lines"]
    file = read_file(written(tmp_path, text), decimal=",")
    again = Dialect.from_json(json.loads(json.dumps(file.dialect.to_json())))
    assert again == file.dialect
    same = both(written(tmp_path, text), dialect=again, decimal=",")
    assert same.dialect == file.dialect
    assert same.table.equals(file.table)
    assert same.findings == ()  # what was asked for is not told again
    # With a dialect the first rows are not looked at: numbers may be names.
    other = "x\n\ny;\n\n1;2;3\n" + ROWS
    assert read_table(written(tmp_path, other), dialect=again).column_names == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"header": 0}, "rows are whole numbers from 1"),
        ({"header": [1, 3]}, "must be consecutive"),
        ({"header": 1, "skip_rows": 1}, "Row 1 is in header and in skip_rows"),
        ({"skip_rows": [-1]}, "rows are whole numbers from 1"),
        ({"header": 500}, "has no names there"),
    ],
)
def test_settings_that_cannot_be_are_told(tmp_path, settings, message):
    with pytest.raises(ParameterError, match=message):
        read_table(written(tmp_path, "a,b\n1,2\n"), **settings)


def test_the_raw_tables_are_laid_out_as_their_labels_say(data_home):
    """All 51 files: the header, the number of columns and rows, the encoding, the sheet."""
    raw = data_home / "raw"
    if not (raw / "labels.json").exists():
        pytest.skip("no raw tables in the folder")
    pytest.importorskip("python_calamine")
    pytest.importorskip("pyreadstat")
    kinds = {"second": "second header", "title": "title", "noheader": "no header"}
    wrong = {}
    labels = json.loads((raw / "labels.json").read_text())
    for name, label in labels.items():
        file = read_file(raw / name)
        kind = kinds.get(label.get("file"))
        found = {one.kind for one in file.findings}
        columns, rows = shape_by_hand(raw / name, file.dialect)
        expected = (
            {kind} & set(kinds.values()),
            label.get("sheets", 1) > 1,
            label.get("total", False),
            columns,
            rows,
        )
        got = (
            found & set(kinds.values()),
            "sheets" in found,
            "total" in found,
            file.table.num_columns,
            file.table.num_rows,
        )
        if got != expected:
            wrong[name] = (got, expected)
    assert not wrong
    assert len(labels) == 51


def shape_by_hand(path, dialect):
    """Columns and rows that another reader finds below the names."""
    if path.suffix == ".sav":
        import pyreadstat

        meta = pyreadstat.read_sav(str(path), metadataonly=True)[1]
        return meta.number_columns, meta.number_rows
    if path.suffix == ".xlsx":
        frame = pd.read_excel(path, sheet_name=dialect.sheet, header=None, engine="openpyxl")
    else:
        frame = pd.read_csv(path, header=None, encoding=dialect.encoding, dtype=str, low_memory=False)
    return frame.shape[1], len(frame) - (dialect.header[-1] if dialect.header else 0)


GENESIS = (
    "Tabelle: 12411-0015\nBevölkerung: Kreise;;;\n;;Bevölkerung;Fläche\n;;Anzahl;qkm\n"
    + "".join(f"{at:05};Kreis {at};{at}.123;{at},5\n" for at in range(10, 90))
    + "__________\n(C) Statistisches Bundesamt\n"
)


def test_two_lines_of_names_with_blanks_are_names_and_not_titles(tmp_path):
    """The first columns of a table of a statistical office have no names."""
    file = both(written(tmp_path, GENESIS))
    assert file.table.column_names == ["column 1", "column 2", "Bevölkerung: Anzahl", "Fläche: qkm"]
    assert file.table.num_rows == 80
    assert file.dialect.header == (3, 4)


def test_points_beside_decimal_commas_are_no_fractions(tmp_path):
    """12.123 inhabitants beside 12,5 square kilometres are twelve thousand."""
    file = both(written(tmp_path, GENESIS))
    prepared = catalpa.look(file.table).recipe.apply(file.table)
    assert prepared["Bevölkerung: Anzahl"].to_pylist()[0] == 10_123
    assert prepared["Fläche: qkm"].to_pylist()[0] == 10.5


def test_points_alone_are_fractions(tmp_path):
    file = both(written(tmp_path, "a;b\n" + "".join(f"{at}.123;x{at % 3}\n" for at in range(10, 40))))
    assert file.table["a"].to_pylist()[0] == 10.123


def test_questions_and_the_line_of_the_program_of_qualtrics(tmp_path):
    text = (
        'StartDate,Q1\nStart Date,How often?\n"{""ImportId"":""startDate""}","{""ImportId"":""QID1""}"\n'
        + "".join(f"2024-01-{at:02},{'often' if at % 2 else 'never'}\n" for at in range(1, 29))
    )
    file = both(written(tmp_path, text))
    assert file.table.column_names == ["Start Date", "Q1: How often?"]
    assert file.table.num_rows == 28
    assert (file.dialect.header, file.dialect.skip_rows) == ((1, 2), (3,))
    again = read_file(tmp_path / "t.csv", dialect=file.dialect)
    assert again.table.equals(file.table)


REPORT = ",Total,Men\n" + "".join(
    f"Q{at}. Do you agree with topic {at}?,,\nYes,{40 + at}%,{41 + at}%\nNo,{60 - at}%,{59 - at}%\n"
    for at in range(8)
)


def test_a_cross_tabulation_is_refused(tmp_path):
    path = written(tmp_path, REPORT)
    with pytest.raises(TableError, match="looks like a report, not one row per case"):
        read_file(path)
    assert read_file(path, header=1).table.num_rows == 24  # who says where the names are, means it


def test_cases_that_lack_all_numbers_are_no_titles(tmp_path):
    rows = "".join(f"{'north' if at % 2 else 'south'},{at % 5 or ''},{at % 5 or ''}\n" for at in range(60))
    assert read_file(written(tmp_path, "region,Q1,Q2\n" + rows)).table.num_rows == 60


@pytest.mark.parametrize("amount", ["${:,}.00", "{} €", "{}%"])
def test_a_total_in_a_currency_is_proposed(amount, tmp_path):
    rows = [f"shop {at % 7};{amount.format(1000 + 37 * at)};{at}" for at in range(30)]
    total = f"Summe;{amount.format(sum(1000 + 37 * at for at in range(30)))};{sum(range(30))}"
    file = read_file(written(tmp_path, "\n".join(["shop;sales;units", *rows, total])))
    assert [(one.safe, one.rows) for one in file.findings] == [(False, (32,))]
