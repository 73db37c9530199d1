"""Files and streams become Arrow tables, or one clear sentence."""

import gzip
import io
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalpa.errors import CatalpaError, ParameterError, TableError, UnknownColumn
from catalpa.table import encode, infer, read_table
from catalpa.table.files import delimited
from catalpa.table.files.dialect import Dialect
from catalpa.table.files.scan import scan

ROWS = {"colour": ["red", None, "blue"], "price": [1.5, 2.0, None], "id": ["007", "010", "100"]}
TEXT = "colour,price,id\nred,1.5,007\n,2,010\nblue,NA,100\n"


def stream(text, **settings):
    content = text if isinstance(text, bytes) else text.encode()
    return read_table(io.BytesIO(content), **settings)


def read_in_batches(path, **settings):
    return list(scan(path, **settings).batches())


def is_text(table, name):
    return pa.types.is_dictionary(table.schema.field(name).type)


def test_a_csv_file_is_read_in_its_order(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    table = read_table(path)
    assert table.to_pydict() == ROWS
    assert [is_text(table, name) for name in ROWS] == [True, False, True]
    assert read_table(str(path)).equals(table)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter):
    assert stream(TEXT.replace(",", delimiter)).to_pydict() == ROWS


def test_a_comma_inside_numbers_or_quotes_does_not_mislead():
    assert stream('a;b\n"1;2";x,y\n3,5;z\n').to_pydict() == {"a": ["1;2", "3,5"], "b": ["x,y", "z"]}


def test_a_given_delimiter_is_used():
    assert stream("a:b\n1:2\n", delimiter=":").to_pydict() == {"a": [1], "b": [2]}


@pytest.mark.parametrize("delimiter", ["::", "", "é", "\0", "\n", '"', "\ud800"])
@pytest.mark.parametrize("read", [read_table, read_in_batches])
def test_a_delimiter_that_no_text_can_have_is_told(delimiter, read, tmp_path):
    (tmp_path / "t.csv").write_text("a:b\n1:2\n")
    with pytest.raises(ParameterError, match=r"delimiter is .*single ASCII character"):
        read(tmp_path / "t.csv", delimiter=delimiter)


@pytest.mark.parametrize("encoding", ["idna", "punycode", "undefined", "hex", "rot13", "a\0b", "\ud800"])
@pytest.mark.parametrize("read", [read_table, read_in_batches])
def test_what_python_lists_but_is_no_encoding_of_text_is_told(encoding, read, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="encoding is"):
        read(tmp_path / "t.csv", encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "content"), [("utf-7", b"a,b\nx+2AA-,1\n"), ("raw_unicode_escape", b"a,b\n\\ud800,1\n")]
)
@pytest.mark.parametrize("read", [read_table, read_in_batches])
def test_half_a_character_of_an_encoding_is_told(encoding, content, read, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match=f"not written in {encoding}"):
        read(tmp_path / "t.csv", encoding=encoding)


def test_utf_16_without_its_mark_is_told_in_a_stream(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\nx,1\n")
    with pytest.raises(TableError, match="not written in utf_16"):
        read_in_batches(tmp_path / "t.csv", encoding="utf_16")


@pytest.mark.parametrize("na", ["\ud800", [1], [None]])
def test_what_no_cell_can_say_stands_for_no_missing_one(na):
    with pytest.raises(ParameterError, match="na contains"):
        stream("a,b\n1,2\n", na=na)
    with pytest.raises(ParameterError, match="na contains"):
        scan("nothing.csv", na=na)


def test_names_that_cannot_be_told_are_refused_also_in_a_stream(tmp_path):
    (tmp_path / "t.csv").write_text("a" * 200_000 + ",b\n1,2\n", encoding="utf-8")
    for read in (read_table, read_in_batches):
        with pytest.raises(TableError, match="no line with the names"):
            read(tmp_path / "t.csv")


def test_a_mark_of_byte_order_that_was_written_twice_is_no_part_of_a_name(tmp_path):
    (tmp_path / "t.csv").write_text("\ufeff\ufeffa,b\n1,2\n", encoding="utf-8")
    assert read_table(tmp_path / "t.csv").to_pydict() == {"a": [1], "b": [2]}
    (batch,) = read_in_batches(tmp_path / "t.csv")
    assert batch.to_pydict() == {"a": [1], "b": [2]}


def test_the_delimiter_of_a_long_text_with_ends_of_the_old_kind_is_found():
    assert stream("a;b\r" + "x;1\r" * 20_000).column_names == ["a", "b"]


@pytest.mark.parametrize("read", [read_table, read_in_batches])
def test_a_text_whose_names_are_in_utf_8_is_not_read_as_another_when_it_is_cut(read, tmp_path):
    (tmp_path / "t.csv").write_bytes("größe\nx\né".encode()[:-1])
    with pytest.raises(TableError, match="not written in utf-8"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("rows_before", [0, 200_000])
def test_a_field_of_megabytes_is_read(rows_before):
    text = "a,b\n" + "x,1\n" * rows_before + "y" * 9_000_000 + ",2\n"
    assert stream(text)["a"][-1].as_py() == "y" * 9_000_000


def test_a_tsv_file_is_cut_at_tabs_only(tmp_path):
    path = tmp_path / "t.TSV"
    path.write_text("a\tb\nx,y\tz,w\n")
    assert read_table(path).to_pydict() == {"a": ["x,y"], "b": ["z,w"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_the_encoding_is_found(encoding):
    assert stream("name\nMüller\n".encode(encoding)).to_pydict() == {"name": ["Müller"]}


def test_a_given_encoding_is_used_and_a_wrong_one_told():
    assert stream("a\né\n".encode("cp437"), encoding="cp437").to_pydict() == {"a": ["é"]}
    with pytest.raises(TableError, match="not written in ascii: line 2 contains the byte 0xc3"):
        stream("a\né\n", encoding="ascii")
    with pytest.raises(ParameterError, match="'klingon'"):
        stream("a\nb\n", encoding="klingon")
    with pytest.raises(TableError, match="line 1 contains the byte 0x81"):
        stream(b"\x81\xff\n")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["1.5", "-2e3"], [1.5, -2000.0]),
        (["007", "8"], ["007", "8"]),
        (["0", "0.5"], [0.0, 0.5]),
        (["-01", "2"], ["-01", "2"]),
        (["0x1F", "0x2F"], ["0x1F", "0x2F"]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["inf", "1.5"], ["inf", "1.5"]),
        (["true", "false"], ["true", "false"]),
        (["2024-01-01", "2024-01-02"], ["2024-01-01", "2024-01-02"]),
        (["", "1"], [None, 1]),
        (["NA", "x"], [None, "x"]),
        (["null", "NaN"], [None, None]),
        (["None", "none"], ["None", "none"]),
        (["?", "1"], ["?", "1"]),
        ([" a", "a "], [" a", "a "]),
    ],
)
def test_fields_become_numbers_text_or_missing(fields, expected):
    text = "row,field\n" + "".join(f"r{at},{field}\n" for at, field in enumerate(fields))
    assert stream(text)["field"].to_pylist() == expected


def test_an_empty_line_of_a_single_column_is_a_missing_cell():
    assert stream("a\nx\n\ny\n").to_pydict() == {"a": ["x", None, "y"]}


def test_quoted_fields_may_hold_line_breaks():
    assert stream('a,b\n"one\ntwo",x\n').to_pydict() == {"a": ["one\ntwo"], "b": ["x"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b", "no rows"),
        ("a,b\n1,2\n3\n", "Line 3 of The stream has 1 fields, but the line of names has 2"),
        ('a,b\n"x\ny",2\n3,4,5\n', "Line 4 of The stream has 3 fields"),
        ("x" * 140_000 + ",b\n1,2\n", "no line with the names"),
        ("a,b\n1," + "x" * 140_000 + "\n2\n", "cannot be read as delimited text with the delimiter ','"),
    ],
)
def test_a_text_that_is_no_table_is_told_in_one_sentence(text, told):
    with pytest.raises(TableError, match=told):
        stream(text)


def test_columns_are_chosen_and_dropped():
    assert stream(TEXT, columns=["id", "colour"]).column_names == ["id", "colour"]
    assert stream(TEXT, drop=["id"]).column_names == ["colour", "price"]
    with pytest.raises(UnknownColumn, match=r"no column 'prize'.*mean 'price'"):
        stream(TEXT, columns=["prize"])
    with pytest.raises(UnknownColumn, match=r"no column 'sum'.*\['colour', 'price', 'id'\]"):
        stream(TEXT, columns=["sum"])
    with pytest.raises(UnknownColumn, match="'x'"):
        stream(TEXT, drop=["x"])
    with pytest.raises(TableError, match="No column"):
        stream(TEXT, drop=list(ROWS))


def test_gzip_is_unpacked(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert read_table(path).to_pydict() == ROWS
    assert stream(gzip.compress(TEXT.encode())).to_pydict() == ROWS
    path.write_bytes(gzip.compress(TEXT.encode())[:20])
    with pytest.raises(TableError, match="gzip"):
        read_table(path)


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (".parquet", pa.parquet.write_table),
        (".feather", pa.feather.write_feather),
        (".arrows", write_stream),
    ],
)
def test_binary_forms_are_read_with_text_as_dictionaries(tmp_path, suffix, write):
    path = tmp_path / f"t{suffix}"
    write(pa.table(ROWS), str(path))
    table = read_table(path)
    assert table.to_pydict() == ROWS
    assert is_text(table, "colour")
    assert stream(path.read_bytes()).equals(table)
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(TableError, match="cannot be read as"):
        read_table(path)


def test_files_that_are_not_there_or_not_known_are_told(tmp_path):
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(TableError, match="cannot be read: Is a directory"):
        read_table(tmp_path)
    for name in ("t.xyz", "t"):
        (tmp_path / name).write_text(TEXT)
        with pytest.raises(TableError, match=r"Supported are \.csv"):
            read_table(tmp_path / name)
    with pytest.raises(TableError, match="binary mode"):
        read_table(io.StringIO(TEXT))


def test_decimal_commas_are_numbers_where_asked_for(tmp_path):
    text = "price;version;n\n1,5;1.2;1\n-2;1.3;2\n;1,4;3\n"
    (tmp_path / "t.csv").write_text(text)
    rows = {"price": [1.5, -2.0, None], "version": ["1.2", "1.3", "1,4"], "n": [1, 2, 3]}
    assert read_table(tmp_path / "t.csv", decimal=",").to_pydict() == rows
    (batch,) = scan(tmp_path / "t.csv", decimal=",").batches()
    assert batch.to_pydict() == rows
    with pytest.raises(ParameterError, match=r"decimal is ';'; it can be '\.' or ','"):
        read_table(tmp_path / "t.csv", decimal=";")


PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\n,\n"


def test_a_picture_named_csv_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(PICTURE)
    with pytest.raises(TableError, match=r"t\.csv is not text: it contains zero bytes, like images"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(TableError, match=r"t\.csv is not text"):
        list(scan(tmp_path / "t.csv").batches())
    (tmp_path / "t.csv").write_bytes("a,b\n1,2\n".encode("utf-16-le"))
    assert read_table(tmp_path / "t.csv", encoding="utf-16-le").to_pydict() == {"a": [1], "b": [2]}


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert read_table("-").to_pydict() == ROWS


@given(st.text(max_size=60) | st.lists(st.sampled_from(list('a1,;\n"\t0.\x00é')), max_size=40).map("".join))
@pytest.mark.filterwarnings("ignore::catalpa.errors.CatalpaWarning")
def test_any_text_ends_in_a_table_or_in_our_own_error(text):
    try:
        table = stream(text.encode("utf-8", "surrogatepass"))
        encode(table, infer(table))
    except CatalpaError:
        pass


@pytest.mark.parametrize("name", ["CV", "ZO", "CA"])
def test_published_tables_are_read_whole(data_home, name):
    paths = sorted((data_home / "paper").rglob(f"{name}.csv"))
    if not paths:
        pytest.skip(f"no {name}.csv in the folder")
    expected = pd.read_csv(paths[0], dtype=str, keep_default_na=False)
    assert read_table(paths[0]).shape == expected.shape


FIELDS = st.sampled_from(
    ["1", "2", "-3", "1.5", "2,5", "007", "", "NA", "red", "a b", "0x1f", '"q;r"', "1e3"]
)


@given(
    st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=40),
    st.sampled_from([".", ","]),
)
def test_columns_are_the_same_whether_they_are_read_as_dictionaries_or_field_by_field(rows, decimal):
    content = "\n".join(["a;b;c", *(";".join(row) for row in rows)]).encode()
    read = []
    for repeating in ({"a", "b", "c"}, set(), {"b"}):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(delimited, "_repeating", lambda *_, chosen=repeating: chosen)
            dialect = Dialect(delimiter=";", header=(1,))
            read.append(delimited.read_delimited(content, "rows.csv", dialect, decimal).table)
    assert read[0].schema == read[1].schema == read[2].schema
    assert read[0].to_pydict() == read[1].to_pydict() == read[2].to_pydict()
    # The same codes too, not only the same cells.
    for name in "abc":
        columns = [table[name].unify_dictionaries().combine_chunks() for table in read]
        if pa.types.is_dictionary(columns[0].type):
            assert columns[0].dictionary == columns[1].dictionary == columns[2].dictionary


def test_columns_whose_fields_repeat_in_the_first_rows_are_read_as_dictionaries():
    lines = [f"{at},{at % 3},x" for at in range(100)]
    content = "\n".join(["id,few,one", *lines]).encode()
    body = pa.py_buffer(content).slice(len("id,few,one\n"))
    layout = delimited.Layout(["id", "few", "one"], Dialect(), (), 1, 0)
    assert delimited._repeating(body, layout) == {"few", "one"}
    assert delimited._repeating(pa.py_buffer(b""), layout) == set()


def test_numbers_of_several_blocks_are_read_from_all_their_dictionaries(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1 << 20)
    cells = ["1"] * 400_000 + ["2"] * 200_000 + ["2.5"]
    table = read_table(io.BytesIO("\n".join(["a,b", *(f"{cell},x" for cell in cells)]).encode()))
    assert table["a"].num_chunks > 1
    assert table["a"].type == pa.float64()
    assert pc.value_counts(table["a"]).to_pylist() == [
        {"values": 1.0, "counts": 400_000},
        {"values": 2.0, "counts": 200_000},
        {"values": 2.5, "counts": 1},
    ]


def test_names_that_are_longer_than_the_part_looked_at_are_read_whole():
    names = [f"column {at:06}" for at in range(6000)]
    assert len(",".join(names)) > delimited.SAMPLE_CHARACTERS
    content = f"{','.join(names)}\n{','.join('x' for _ in names)}\n{','.join('y' for _ in names)}"
    assert read_table(io.BytesIO(content.encode())).column_names == names


def test_a_name_that_holds_the_end_of_a_line_is_read_whole():
    text = '"first\nname",second\nx,y\nz,"a\nb"\n'
    table = read_table(io.BytesIO(text.encode()))
    assert table.column_names == ["first\nname", "second"]
    assert table["second"].to_pylist() == ["y", "a\nb"]


@pytest.mark.parametrize("na", [["-", "n.a."], "-"])
def test_texts_that_stand_for_missing_cells_can_be_named(tmp_path, na):
    path = tmp_path / "rows.csv"
    path.write_text("plan,paid\n" + "basic,1.5\n-,-\nplus,2\n" * 4)
    whole = read_table(path, na=na)
    assert whole.to_pydict() == {"plan": ["basic", None, "plus"] * 4, "paid": [1.5, None, 2.0] * 4}
    (batch,) = scan(path, na=na).batches()
    assert batch.to_pydict() == whole.to_pydict()


def test_missing_fields_of_several_blocks_are_told_from_all_their_dictionaries(monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1 << 20)
    cells = ["x"] * 400_000 + ["NA"] * 300_000 + ["", "y"]
    table = read_table(io.BytesIO("\n".join(["a,b", *(f"{cell},x" for cell in cells)]).encode()))
    assert table["a"].num_chunks > 1
    assert pc.value_counts(table["a"].cast(pa.string())).to_pylist() == [
        {"values": "x", "counts": 400_000},
        {"values": None, "counts": 300_001},
        {"values": "y", "counts": 1},
    ]
    assert table["a"].chunk(0).dictionary.to_pylist() == ["x", "y"]


@pytest.mark.slow
def test_a_text_that_begins_far_down_is_read_and_one_that_never_begins_is_empty():
    far = b"\n" * 5 * delimited.SAMPLE_CHARACTERS
    assert read_table(io.BytesIO(far + b"a,b\n1,x\n")).to_pydict() == {"a": [1], "b": ["x"]}
    with pytest.raises(TableError, match="is empty"):
        read_table(io.BytesIO(far))


def test_a_record_that_the_sample_cuts_has_no_say_in_the_delimiter():
    # Only the first record is whole. The second would add a vote for the comma, and none for the semicolon.
    text = "a;b;c, in euros\n" + "one, " + "x" * delimited.SAMPLE_CHARACTERS
    sample = delimited.SampleText(text[: delimited.SAMPLE_CHARACTERS], complete=False)
    assert delimited.chosen_delimiter(sample, "rows.csv", None) == ";"
