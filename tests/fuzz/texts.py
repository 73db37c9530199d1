"""Odd delimited texts read at once and in pieces: the same cells, those that Python's own reader finds."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import catalpa
from catalpa.errors import CatalpaError
from catalpa.table import read_table
from catalpa.table.files import delimited

FIELDS = (
    "",
    "x",
    "y",
    "größe",
    "🌳",
    "1",
    "2",
    "-3",
    "1.5",
    "1e400",
    "007",
    "0x1f",
    "NA",
    "nan",
    "?",
    "true",
)
ODD_FIELDS = (" ", "a,b", "a;b", "a\tb", 'say "x"', "two\nlines", "two\r\nlines", "\r", "\x0b", "\u2028", "'")
ODD_FIELDS += ("inf", "+1", "1_0", "٣", "9" * 25, "=1+1", "\ufeff", "z" * 70_000, "\x00")
NAMES = ("a", "b", "", " ", "1", "größe", "a,b", 'a"b', "two\nlines", "cluster")
ENCODINGS = ("utf-8",) * 6 + ("utf-8-sig", "utf-16", "cp1252", "latin-1", "utf-32")
GIVEN = ("idna", "hex", "utf-7", "utf-16", "klingon", "ascii", "cp037", "a\x00b", "latin-1")


def fuzz(rng: Random, folder: Path) -> str:
    """Write a table as text, mostly in order, and read it in two ways."""
    names, rows, delimiter = made(rng)
    content = written(rng, names, rows, delimiter)
    harmed = rng.random() < 0.3
    if harmed:
        content = broken(rng, content)
    path = folder / rng.choice(("rows.csv", "rows.csv", "rows.txt", "rows.tsv"))
    path.write_bytes(content)
    na = rng.choice(((), (), ("?",), ("x", "1")))
    how: dict[str, Any] = {"na": na, "decimal": rng.choice((".", ".", ","))}
    if rng.random() < 0.7:
        how["header"] = 1
    if rng.random() < 0.1:
        how["skip_rows"] = [rng.randint(2, 6)]
    if path.suffix == ".tsv" or rng.random() < 0.5:
        how["delimiter"] = delimiter
    if rng.random() < 0.1:
        how["encoding"] = rng.choice(GIVEN)
    whole, pieces = said(at_once, path, how), said(in_pieces, path, how)
    assert whole == pieces, f"{whole!r:.500} {pieces!r:.500} {how}"
    if whole is None:
        return "refused"
    guessed = {"delimiter", "header"} - how.keys()
    if harmed or "encoding" in how or "skip_rows" in how or guessed:
        return "the same in pieces"
    assert list(whole) == [name.strip() or f"column {place}" for place, name in enumerate(names, 1)]
    hold_against(whole, rows, na, how["decimal"])
    return "as it was written"


def made(rng: Random) -> tuple[list[str], list[list[str]], str]:
    """Names, rows and a delimiter; some columns are of few words, some of many."""
    names = rng.sample(NAMES, rng.randint(1, 4))
    kinds = [
        rng.sample(FIELDS if rng.random() < 0.7 else FIELDS + ODD_FIELDS, rng.randint(1, 6)) for _ in names
    ]
    rows = [[rng.choice(kind) for kind in kinds] for _ in range(rng.choice((1, 2, 5, 40, 400)))]
    return names, rows, rng.choice((",", ",", ";", "\t", "|"))


def written(rng: Random, names: list[str], rows: list[list[str]], delimiter: str) -> bytes:
    out, ends = io.StringIO(newline=""), rng.choice(("\n", "\n", "\r\n", "\r"))
    # Python quotes only the end of a line that it writes, not the others.
    several = any(set("\r\n") & set(field) for row in (names, *rows) for field in row)
    quotes = csv.QUOTE_ALL if several or rng.random() < 0.3 else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, lineterminator=ends, quoting=quotes).writerows([names, *rows])
    text = out.getvalue()
    if rng.random() < 0.1:
        text = text.rstrip("\r\n")
    encoding = rng.choice(ENCODINGS)
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode()


def broken(rng: Random, content: bytes) -> bytes:
    """The text cut, or with a byte that is changed, left out or put in."""
    at = rng.randrange(len(content) + 1)
    odd = rng.choice((b'"', b"\n", b"\r", b",", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\"))
    return rng.choice(
        (content[:at], content[:at] + odd + content[at:], content[:at] + odd + content[at + 1 :])
    )


def said(read: Callable[[Path, dict[str, Any]], Any], path: Path, how: dict[str, Any]) -> Any:
    try:
        return read(path, how)
    except CatalpaError:
        return None


def at_once(path: Path, how: dict[str, Any]) -> dict[str, list[Any]]:
    return read_table(path, **how).to_pydict()


def in_pieces(path: Path, how: dict[str, Any]) -> dict[str, list[Any]]:
    cells: dict[str, list[Any]] = {}
    for batch in catalpa.scan(path, memory="1KB", **how).batches():
        for name, part in batch.to_pydict().items():
            cells.setdefault(name, []).extend(part)
    return cells


def hold_against(
    read: dict[str, list[Any]], rows: list[list[str]], na: tuple[str, ...], decimal: str
) -> None:
    """Every cell is missing, the number that its field says, or its text."""
    missing = {*delimited.MISSING_SPELLINGS, *delimited.BLANK_SPELLINGS, *na}
    for at, cells in enumerate(read.values()):
        fields = [row[at] for row in rows]
        assert len(cells) == len(fields)
        for cell, field in zip(cells, fields, strict=True):
            if field == "\ufeff":  # as the first cell of all Arrow takes it for the mark of the text
                continue
            if cell is None or field in missing:
                assert (cell is None) == (field in missing), (cell, field)
            elif isinstance(cell, str):
                assert cell in (field, field.lstrip(" ")), (cell, field)
            else:
                assert same_number(cell, number_of(field, decimal)), (cell, field)


def number_of(field: str, decimal: str) -> float:
    return float(field.replace(".", "").replace(",", ".") if decimal == "," else field)


def same_number(cell: float, number: float) -> bool:
    return cell == number or (math.isnan(cell) and math.isnan(number))
