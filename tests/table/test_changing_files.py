"""Files that change while they are read, or whose bytes are not what they say: refused, never clustered."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import catalpa
from catalpa.errors import TableError
from catalpa.table import read_table

ROWS = pd.DataFrame({"a": list("xyxyxz") * 50, "b": list("ppqqpp") * 50})
WRITERS = {
    "rows.csv": lambda frame, path: frame.to_csv(path, index=False),
    "rows.parquet": lambda frame, path: frame.to_parquet(path),
    "rows.arrow": lambda frame, path: frame.to_feather(path, compression="uncompressed"),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("change", ["more rows", "other order", "fewer rows"])
def test_a_file_that_changes_between_two_readings_is_refused(tmp_path, name, change):
    path = tmp_path / name
    WRITERS[name](ROWS, path)
    files = catalpa.scan(path)
    batches = files.batches()
    assert next(batches).num_rows == 300
    other = {"more rows": pd.concat([ROWS, ROWS]), "other order": ROWS[::-1], "fewer rows": ROWS[:5]}[change]
    WRITERS[name](other.reset_index(drop=True), path)
    with pytest.raises(TableError, match="changed while it was being read"):
        list(batches)
    with pytest.raises(TableError, match="changed while it was being read"):
        next(files.only(["a"]).batches())
    with pytest.raises(TableError, match="changed while it was being read"):
        catalpa.KModes(2, random_state=0).fit(files)
    assert len(catalpa.KModes(2, random_state=0).fit(catalpa.scan(path)).labels_) == len(other)


def test_a_change_that_keeps_size_time_and_end_is_told_by_the_rows(tmp_path):
    path = tmp_path / "rows.csv"
    begin, end = "a,b\n" + "x,p\n" * 10, "yy,qq\n" * 20_000
    path.write_text(begin + end)
    files, state = catalpa.scan(path), path.stat()
    list(files.batches())
    path.write_text("a,b\n" + "xxxxx,p\n" * 5 + end)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(TableError, match="had 20010 rows when it was first read, and has 20005 now"):
        list(files.batches())


@pytest.mark.parametrize("change", [b"\xff\xfe", b"xy"])
def test_a_text_that_becomes_none_or_other_than_numbers_while_it_is_read_is_refused(
    tmp_path, monkeypatch, change
):
    monkeypatch.setattr("catalpa.table.files.text_scan.BLOCK_BYTES", 1 << 12)
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" + b"11,x\n" * 100_000)
    batches = catalpa.scan(path).batches()
    next(batches)
    with path.open("r+b") as stream:
        stream.seek(4 + 5 * 90_000)
        stream.write(change)
    with pytest.raises(TableError, match="changed while it was being read"):
        list(batches)


def test_a_file_that_went_is_said(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    files = catalpa.scan(tmp_path / "rows.csv")
    assert files.names == ("a", "b")
    (tmp_path / "rows.csv").unlink()
    with pytest.raises(TableError, match="cannot be read: No such file"):
        list(files.batches())


def read_in_batches(path):
    return list(catalpa.scan(path).batches())


@pytest.mark.parametrize("read", [read_table, read_in_batches])
def test_places_beyond_a_dictionary_are_refused(tmp_path, read):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": ["red", "blue", "green"] * 500}), path, compression="none")
    content = bytearray(path.read_bytes())
    at = content.index(b"\x24\x49\x92" * 20)  # the places 0, 1 and 2 in two bits each, over and over
    content[at + 9 : at + 30] = b"\xff" * 21  # and now 3
    path.write_bytes(content)
    with pytest.raises(TableError, match="damaged"):
        read(path)


@pytest.mark.parametrize("read", [read_table, read_in_batches])
def test_a_page_that_differs_from_its_checksum_is_refused(tmp_path, read):
    path = tmp_path / "rows.parquet"
    frame = pa.table({"a": np.arange(1000) % 7})
    pq.write_table(frame, path, compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(TableError, match="damaged"):
        read(path)


@pytest.mark.parametrize("read", [read_table, read_in_batches])
@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_text_that_is_no_utf8_is_refused(tmp_path, read, name):
    path = tmp_path / name
    WRITERS[name](pd.DataFrame({"a": ["red", "black", "green", "red"]}), path)
    path.write_bytes(path.read_bytes().replace(b"black", b"bl\xff\xfek"))
    with pytest.raises(TableError, match="damaged"):
        read(path)


@pytest.mark.parametrize("read", [read_table, read_in_batches, lambda path: catalpa.scan(path).names])
@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_a_name_of_a_column_that_is_no_utf8_is_refused(tmp_path, read, name):
    path = tmp_path / name
    WRITERS[name](pd.DataFrame({"colour": ["red", "black", "green", "red"]}), path)
    path.write_bytes(path.read_bytes().replace(b"colour", b"col\xffur"))
    with pytest.raises(TableError, match=rf"{name} cannot be read.*: it is damaged"):
        read(path)


@pytest.mark.parametrize("read", [read_table, read_in_batches])
@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_columns_of_the_same_name_are_refused(tmp_path, read, name):
    path, rows = tmp_path / name, pa.table([["x", "y"], ["p", "q"], [1, 2]], names=["a", "b", "a"])
    if name == "rows.parquet":
        pq.write_table(rows, path)
    else:
        with pa.ipc.new_file(path, rows.schema) as file:
            file.write_table(rows)
    with pytest.raises(TableError, match=rf"{name} has several columns with the same name: \['a'\]"):
        read(path)


@pytest.mark.parametrize("read", [read_table, read_in_batches])
def test_a_compressed_text_that_was_cut_is_refused(tmp_path, read):
    path = tmp_path / "rows.csv.gz"
    rows = b"".join(b"%s,y\n" % os.urandom(4).hex().encode() for _ in range(20_000))
    content = gzip.compress(b"a,b\n" + rows)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(TableError, match=r"is not a complete gzip file|Is it complete"):
        read(path)
