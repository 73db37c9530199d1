"""A cell is one category whichever way it comes: by column, among others, alone, in chunks or from files."""

from __future__ import annotations

import datetime as dt
import enum
import math
import tempfile
from collections import UserDict
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import catalpa
from catalpa.errors import CatalpaError
from catalpa.table import encode, infer, infer_batches
from catalpa.table.encode_few import few_rows

pytestmark = pytest.mark.filterwarnings("ignore::catalpa.errors.CatalpaWarning")

REFUSED = ("refused",)
MISSING = ("missing",)


class Colour(enum.Enum):
    RED = "red"
    SEVEN = 7


class Word(str, enum.Enum):  # noqa: UP042 - str() of its members is "Word.BIG"
    BIG = "big"


class Grade(enum.IntEnum):
    GOOD = 2


# What a cell means, written down once more with plain rules.


def meaning(cell: Any) -> tuple[Any, ...]:
    if isinstance(cell, enum.Enum):
        return meaning(cell.value)
    if isinstance(cell, np.ndarray) and cell.ndim == 0:
        return meaning(cell[()])
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return MISSING
    if isinstance(cell, np.timedelta64 | dt.timedelta | complex):
        return REFUSED
    if isinstance(cell, bool | np.bool_):
        return ("boolean", bool(cell))
    if isinstance(cell, str):
        return ("text", "".join(cell))
    if isinstance(cell, bytes | bytearray):
        return meaning_of_bytes(bytes(cell))
    if isinstance(cell, dt.datetime | dt.date | dt.time | np.datetime64):
        return meaning_of_moment(cell)
    return meaning_of_number(cell)


def meaning_of_bytes(cell: bytes) -> tuple[Any, ...]:
    try:
        return ("text", cell.decode())
    except UnicodeDecodeError:
        return REFUSED


def meaning_of_number(cell: Any) -> tuple[Any, ...]:
    if isinstance(cell, int | np.integer):
        return ("number", int(cell)) if abs(int(cell)) <= 2**1024 - 2**971 else REFUSED
    if isinstance(cell, Decimal) and cell.is_snan():
        return MISSING
    number = float(cell)
    if math.isnan(number):
        return MISSING
    return REFUSED if math.isinf(number) else ("number", number)


def meaning_of_moment(cell: Any) -> tuple[Any, ...]:
    if isinstance(cell, np.datetime64):
        if np.isnat(cell):
            return MISSING
        unit = np.datetime_data(cell.dtype)[0]
        if unit in ("ps", "fs", "as"):
            return REFUSED
        day = str(cell.astype("M8[D]"))
        if unit in "YMWD":
            return ("text", day)
        nanoseconds = int((cell - cell.astype("M8[D]")) / np.timedelta64(1, "ns"))
        return ("text", f"{day} {clock(nanoseconds)}")
    if isinstance(cell, dt.datetime):
        day = f"{cell.year:04}-{cell.month:02}-{cell.day:02}"
        return ("text", f"{day} {clock_of(cell)}{offset_of(cell)}")
    if isinstance(cell, dt.time):
        return ("text", clock_of(cell) + offset_of(cell))
    return ("text", f"{cell.year:04}-{cell.month:02}-{cell.day:02}")


def clock_of(cell: Any) -> str:
    seconds = cell.hour * 3600 + cell.minute * 60 + cell.second
    return clock((seconds * 10**6 + cell.microsecond) * 1000 + getattr(cell, "nanosecond", 0))


def clock(nanoseconds: int) -> str:
    seconds, part = divmod(nanoseconds, 10**9)
    fraction = f".{part:09}".rstrip("0") if part else ""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def offset_of(cell: Any) -> str:
    offset = cell.utcoffset()
    if offset is None:
        return ""
    minutes, sign = abs(int(offset.total_seconds())) // 60, "-" if offset < dt.timedelta(0) else "+"
    return f"{sign}{minutes // 60:02}{minutes % 60:02}" if minutes else "Z"


# Cells of every type, and the columns of other libraries that hold a type.

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "+05:30", "-03:00"]


def zone(name: str) -> dt.tzinfo:
    if name[0] not in "+-":
        return ZoneInfo(name)
    minutes = int(name[1:3]) * 60 + int(name[4:])
    return dt.timezone(dt.timedelta(minutes=-minutes if name[0] == "-" else minutes))


def arrow(*types: Any) -> list[Callable[[Sequence[Any]], Any]]:
    return [lambda cells, kind=kind: pa.table({"a": exact_arrow(cells, kind)}) for kind in types]


def exact_arrow(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    array = pa.array(cells, plain)
    if array.to_pylist() != list(cells):
        raise ValueError("the type does not hold these cells")
    return array.dictionary_encode() if pa.types.is_dictionary(kind) else array


def pandas(*types: str) -> list[Callable[[Sequence[Any]], Any]]:
    return [lambda cells, kind=kind: pd.DataFrame({"a": pd.Series(cells, dtype=kind)}) for kind in types]


def polars(*types: Any) -> list[Callable[[Sequence[Any]], Any]]:
    return [lambda cells, kind=kind: exact_polars(cells, kind) for kind in types]


def exact_polars(cells: Sequence[Any], kind: Any) -> pl.DataFrame:
    series = pl.Series("a", cells, dtype=kind)
    if series.to_list() != list(cells):
        raise ValueError("the type does not hold these cells")
    return pl.DataFrame([series])


def numpy(*types: str) -> list[Callable[[Sequence[Any]], Any]]:
    return [lambda cells, kind=kind: exact_numpy(cells, kind) for kind in types]


def exact_numpy(cells: Sequence[Any], kind: str) -> np.ndarray:
    if any(cell is None for cell in cells):
        raise ValueError("no missing cells here")
    array = np.array(cells, dtype=kind)
    if array.dtype.kind not in "M" and array.tolist() != list(cells):
        raise ValueError("the type does not hold these cells")
    return array.reshape(-1, 1)


def view(name: str) -> list[pa.DataType]:
    """A type that an older Arrow does not have."""
    return [getattr(pa, name)()] if hasattr(pa, name) else []


def words_of(kind: pa.DataType) -> pa.DataType:
    return pa.dictionary(pa.int32(), kind)


TEXTS = st.sampled_from(["", " ", "red", "1", "1.0", "007", "True", "nan", "1e999", "-inf", "é", "9" * 5000])
BIG = st.sampled_from(
    [2**1024 - 2**971, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**30, 10**308]
)
FLOATS = st.sampled_from([0.0, -0.0, 0.5, 1e16, 2.0**60, 1e-320, 1.7e308, math.nan]) | st.floats(
    allow_infinity=False
)
DECIMALS = st.decimals(-(10**9), 10**9, allow_nan=False, places=6)
NS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
MOMENTS = NS | st.datetimes() | NS.map(lambda moment: moment.replace(microsecond=500_000))
SHORT = [*arrow(pa.int8()), *pandas("Int8", "category"), *polars(pl.Int8), *numpy("int8", "int64")]
WIDE = [*arrow(pa.uint64(), pa.int64()), *pandas("UInt64"), *polars(pl.UInt64), *numpy("uint64")]

TYPES: dict[str, tuple[st.SearchStrategy[Any], list[Callable[[Sequence[Any]], Any]]]] = {
    "text": (
        TEXTS | st.text(st.characters(codec="utf-8"), max_size=4),
        [
            *arrow(pa.string(), pa.large_string(), *view("string_view")),
            *arrow(*map(words_of, [pa.string(), pa.large_string(), *view("string_view")])),
            *pandas("str", "string[python]", "string[pyarrow]", "category"),
            *polars(pl.String, pl.Categorical),
            *numpy("object"),
        ],
    ),
    "boolean": (
        st.booleans(),
        [
            *arrow(pa.bool_(), words_of(pa.bool_())),
            *pandas("boolean", "category"),
            *polars(pl.Boolean),
            *numpy("bool"),
        ],
    ),
    "short integers": (st.integers(-128, 127), SHORT),
    "integers": (st.integers(-(2**31), 2**31) | st.integers(0, 3), [*arrow(pa.int64()), *polars(pl.Int64)]),
    "large integers": (st.integers(0, 2**64 - 1) | st.sampled_from([2**63, 2**64 - 1]), WIDE),
    "huge integers": (
        BIG | st.integers(-(2**70), 2**70),
        polars(*([pl.Int128] if hasattr(pl, "Int128") else [])),
    ),
    "beyond floats": (st.sampled_from([10**400, -(10**5000), 2**1024 - 2**971 + 1]), []),
    "floats": (
        FLOATS,
        [
            *arrow(pa.float64(), words_of(pa.float64())),
            *pandas("float64", "Float64", "category"),
            *polars(pl.Float64),
            *numpy("float64"),
        ],
    ),
    "short floats": (st.floats(width=32, allow_infinity=False), [*arrow(pa.float32()), *numpy("float32")]),
    "infinite": (
        st.sampled_from([math.inf, -math.inf]),
        [
            *arrow(pa.float64(), words_of(pa.float64())),
            *pandas("float64", "category"),
            *polars(pl.Float64),
            *numpy("float64"),
        ],
    ),
    "decimals": (
        DECIMALS,
        [
            *arrow(pa.decimal128(38, 6), pa.decimal256(50, 8), words_of(pa.decimal128(38, 6))),
            *polars(pl.Decimal(38, 6)),
        ],
    ),
    "odd decimals": (st.sampled_from([Decimal("1E+50"), Decimal("NaN"), Decimal("sNaN"), Decimal("-0")]), []),
    "infinite decimals": (st.sampled_from([Decimal("Infinity"), Decimal("1E+400")]), []),
    "dates": (
        st.dates(),
        [
            *arrow(pa.date32(), pa.date64(), words_of(pa.date32())),
            *polars(pl.Date),
            *numpy("M8[D]"),
            *pandas("date32[pyarrow]"),
        ],
    ),
    "moments": (
        MOMENTS,
        [
            *arrow(pa.timestamp("us"), pa.timestamp("ns"), words_of(pa.timestamp("us"))),
            *pandas("datetime64[us]"),
            *polars(pl.Datetime("us"), pl.Datetime("ns")),
            *numpy("M8[us]"),
        ],
    ),
    "zoned moments": (
        st.sampled_from(ZONES).flatmap(lambda name: MOMENTS.map(lambda one: one.replace(tzinfo=zone(name)))),
        [],
    ),
    "moments of Berlin": (
        NS.map(lambda moment: moment.replace(tzinfo=ZoneInfo("Europe/Berlin"))),
        [
            *arrow(pa.timestamp("us", "Europe/Berlin"), words_of(pa.timestamp("us", "Europe/Berlin"))),
            *pandas("datetime64[us, Europe/Berlin]"),
            *polars(pl.Datetime("us", "Europe/Berlin")),
        ],
    ),
    "moments of Greenwich": (
        NS.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
        [
            *arrow(*(pa.timestamp("us", name) for name in ("UTC", "+00:00", "Etc/UTC"))),
            *pandas("datetime64[ns, UTC]"),
            *polars(pl.Datetime("us", "UTC")),
        ],
    ),
    "timestamps": (
        st.integers(-(2**62), 2**62).map(pd.Timestamp),
        [*pandas("datetime64[ns]", "category"), *polars(pl.Datetime("ns"))],
    ),
    "times": (
        st.times() | st.times().map(lambda one: one.replace(microsecond=0)),
        [*arrow(pa.time64("us"), pa.time64("ns")), *polars(pl.Time)],
    ),
    "zoned times": (st.times(timezones=st.sampled_from([zone("+05:30"), dt.UTC])), []),
    "numpy moments": (
        st.sampled_from(["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"]).flatmap(
            lambda unit: st.integers(0, 1000).map(lambda at: np.datetime64(at, unit))
        ),
        [],
    ),
    "spans of time": (
        st.timedeltas(dt.timedelta(0), dt.timedelta(days=100)),
        [
            *arrow(pa.duration("us"), words_of(pa.duration("us"))),
            *pandas("timedelta64[us]", "category"),
            *polars(pl.Duration("us")),
            *numpy("m8[us]"),
        ],
    ),
    "bytes": (
        st.sampled_from([b"", b"red", "é".encode()]),
        [
            *arrow(pa.binary(), pa.large_binary(), *view("binary_view"), words_of(pa.binary())),
            *polars(pl.Binary),
        ],
    ),
    "bytes that are no text": (st.just(b"\xff"), [*arrow(pa.binary()), *polars(pl.Binary)]),
    "enumerations": (st.sampled_from([Colour.RED, Colour.SEVEN, Word.BIG, Grade.GOOD]), []),
    "complex numbers": (st.complex_numbers(), []),
    "numpy scalars": (
        st.sampled_from(
            [
                *(np.int8(3), np.uint64(2**64 - 1), np.float16(0.1), np.float32(0.1), np.longdouble("0.5")),
                *(np.bool_(True), np.str_("red"), np.bytes_(b"red"), np.float64("nan"), np.array(7)),
                *(np.array("red"), np.array(0.5), np.datetime64("NaT")),
            ]
        ),
        [],
    ),
}
ABSENT = st.sampled_from([None, math.nan, pd.NaT, pd.NA])


def objects(cells: Sequence[Any]) -> np.ndarray:
    column = np.empty((len(cells), 1), dtype=object)
    for at, cell in enumerate(cells):
        column[at, 0] = cell
    return column


# The ways from a cell to its category. Each gives what the rows hold, or REFUSED.


def categories(schema: Any, blocks: Sequence[Any]) -> list[tuple[Any, ...]]:
    known = schema.columns[0].categories
    return [named(known[code]) for block in blocks for code in block.codes[:, 0]]


def named(value: Any) -> tuple[Any, ...]:
    if value is None:
        return MISSING
    if isinstance(value, str):
        return ("text", value)
    return ("boolean" if isinstance(value, bool) else "number", value)


def by_column(table: Any) -> list[tuple[Any, ...]]:
    schema = infer(table, categorical_features=[0])
    return categories(schema, encode(table, schema, handle_unknown="error").rows.blocks)


def in_batches(tables: Sequence[Any]) -> list[tuple[Any, ...]]:
    schema = infer_batches(tables, categorical_features=[0])
    blocks = [encode(one, schema, handle_unknown="error").rows.blocks[0] for one in tables]
    return categories(schema, blocks)


def among_others(cells: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Beside text, a truth value and a number, so that no type can be told from the whole column."""
    return by_column([[cell] for cell in [*cells, "another text", True, 0.25]])[: len(cells)]


def alone(cells: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each as one row at predict, in the codes of all."""
    rows = [[cell] for cell in cells]
    schema = infer(rows, categorical_features=[0])
    blocks = []
    for row in rows:
        few = few_rows([row], schema)
        blocks.append((encode([row], schema, handle_unknown="error").rows if few is None else few).blocks[0])
    return categories(schema, blocks)


def in_chunks(table: pa.Table) -> list[tuple[Any, ...]]:
    """Every cell a chunk, with a dictionary of its own where the type has one."""
    column = table["a"].combine_chunks()
    pieces = [column.slice(at, 1) for at in range(len(column))]
    if pa.types.is_dictionary(column.type):
        pieces = [pa.array(piece.to_pylist(), column.type.value_type).dictionary_encode() for piece in pieces]
    return by_column(pa.table({"a": pa.chunked_array(pieces)}))


def streamed(table: pa.Table) -> list[tuple[Any, ...]]:
    """From Parquet files of one row each."""
    with tempfile.TemporaryDirectory() as folder:
        for at in range(len(table)):
            pq.write_table(table.slice(at, 1), Path(folder) / f"{at:03}.parquet")
        return in_batches(list(catalpa.scan(folder).batches()))


def kept_by_parquet(table: pa.Table) -> bool:
    """Parquet turns dictionaries of spans and moments into other types."""
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(table, sink)
    except pa.ArrowException:
        return False
    return pq.read_schema(pa.BufferReader(sink.getvalue())).types == table.schema.types


def held_against(expected: list[tuple[Any, ...]], way: Callable[[Any], Any], given: Any, label: str) -> None:
    refused = None
    try:
        came = way(given)
    except CatalpaError as error:
        refused = error
    if refused is not None:
        assert REFUSED in expected, f"{label}: {refused}"
    else:
        assert came == expected, label


@settings(max_examples=300)
@given(st.data())
def test_all_ways_to_a_category_agree(data):
    kind = data.draw(st.sampled_from(sorted(TYPES)))
    cells, makers = TYPES[kind]
    column = data.draw(st.lists(cells, min_size=1, max_size=5))
    absent = data.draw(st.lists(ABSENT, max_size=2))
    everything = [*column, *absent]
    expected = [meaning(cell) for cell in everything]
    rows = [[cell] for cell in everything]
    held_against(expected, by_column, rows, "list of rows")
    held_against(expected, by_column, objects(everything), "array of objects")
    held_against(expected, by_column, pd.DataFrame(objects(everything), dtype=object), "pandas objects")
    held_against(expected, among_others, everything, "among other types")
    held_against(expected, alone, everything, "alone")
    held_against(expected, in_batches, [[row] for row in rows], "batches of a row")
    # Other libraries know one kind of missing cell.
    plain = [*column, *[None] * len(absent)]
    for at, make in enumerate(makers):
        try:
            table = make(plain)
        except Exception:  # the library does not hold these cells
            event(f"{kind}: maker {at} does not hold them")
            continue
        told = f"{kind}: maker {at}, {type(table).__module__}"
        held_against(expected, by_column, table, told)
        if isinstance(table, pa.Table):
            held_against(expected, in_chunks, table, f"{told}, in chunks")
            if kept_by_parquet(table):
                held_against(expected, streamed, table, f"{told}, streamed")


# What went wrong before, each by itself.


def test_batches_of_several_types_are_what_the_column_is_at_once():
    rows = [[1], ["a"], [True], [None]]
    batches = [[row] for row in rows]
    assert infer_batches(batches).columns == infer(rows).columns
    moments = [[dt.date(2024, 1, 2)], ["2024-01-02 as text"], [dt.datetime(2024, 1, 2)]]
    assert (
        infer_batches([[row] for row in moments]).columns[0].categories
        == infer(moments).columns[0].categories
    )


@pytest.mark.parametrize("text", ["1e999", "-1e400", "9" * 5000, "1" * 400], ids=lambda text: text[:6])
def test_a_text_beyond_the_floats_is_a_text(text):
    rows = [["a", text], ["b", "2"], ["a", text], ["b", "3"]] * 3
    model = catalpa.KModes(2, random_state=0).fit(rows)
    assert text in model.schema_.columns[1].categories
    assert model.predict(rows[:2]).tolist() == model.labels_[:2].tolist()
    assert model.predict([["a", 2], ["b", 3]]).shape == (2,)  # compared by what the texts say
    assert len(model.profiles_)
    model.to_onnx()


@pytest.mark.parametrize("number", [10**400, -(10**5000)], ids=["large", "larger"])
def test_a_whole_number_beyond_the_floats_is_refused_with_a_sentence(number):
    with pytest.raises(
        CatalpaError, match=r"'x0' holds a whole number of about \d+ digits, beyond the largest"
    ):
        infer([[number], [1]])
    schema = infer([["a"], ["b"]])
    with pytest.raises(CatalpaError, match="convert it to text"):
        encode([[number]], schema)


@pytest.mark.parametrize("numbers", [[2**63, 2**64 - 1], [-1, 2**63], [2**64, 5], [2**70, -(2**70)]])
def test_whole_numbers_beyond_64_bits_are_whole_numbers(numbers):
    few = infer([[number] for number in numbers] * 3)
    assert few.columns[0].categories == tuple(sorted(numbers))
    many = [[number + at] for number in numbers for at in range(40)]
    column = infer(many).columns[0]
    assert (column.kind, column.low, column.high) == (
        "numeric",
        float(min(numbers)),
        float(max(numbers) + 39),
    )
    assert infer_batches([many[:40], many[40:]]).columns[0].kind == "numeric"
    shaped = infer(many, numbers="shape").columns[0]
    assert shaped.size or shaped.low <= shaped.high


def test_a_graph_of_unsigned_numbers_beyond_63_bits_is_refused_with_a_sentence():
    rows = np.array([[2**63 + 1, 1], [2**63, 2]] * 2, dtype=np.uint64)
    with pytest.raises(CatalpaError, match="above 2"):
        catalpa.KModes(2, random_state=0).fit(rows).to_onnx()


def test_a_moment_is_one_category_alone_and_beside_text():
    moment = dt.datetime(2024, 5, 1, 12, 0, 0, 500_000, tzinfo=zone("+01:00"))
    mixed = [[moment, "a"], ["unknown", "b"], [moment, "a"], ["unknown", "b"]]
    model = catalpa.KModes(2, random_state=0, handle_unknown="error").fit(mixed)
    assert model.schema_.columns[0].categories == ("2024-05-01 12:00:00.5+0100", "unknown")
    assert model.predict([[moment, "a"]]).tolist() == model.labels_[:1].tolist()


def test_moments_of_several_zones_keep_their_own():
    berlin, plain = dt.datetime(2024, 5, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")), dt.datetime(2024, 5, 1, 12)
    assert infer([[berlin], [plain], [berlin.astimezone(dt.UTC)]]).columns[0].categories == (
        "2024-05-01 10:00:00Z",
        "2024-05-01 12:00:00",
        "2024-05-01 12:00:00+0200",
    )


@pytest.mark.parametrize(
    ("array", "categories"),
    [
        (pa.array([2**50], pa.timestamp("s")), ("35680317-09-25 18:57:04",)),
        (pa.array([2**62], pa.timestamp("s", "Europe/Berlin")), ("146138514283-06-19 07:45:04Z",)),
        (pa.array([2**31 - 1], pa.date32()), ("5881580-07-11",)),
        (pa.array([5_000_000_000_500], pa.timestamp("ms", "Europe/Berlin")), ("2128-06-11 10:53:20.5+0200",)),
        (pa.array([-70_000_000_000], pa.timestamp("s")), ("-0249-10-15 19:33:20",)),
    ],
)
def test_far_dates_are_written_as_dates(array, categories):
    assert infer(pa.table({"a": array})).columns[0].categories == categories


def test_an_unknown_time_zone_is_refused_with_a_sentence():
    table = pa.table({"a": pa.array([0, 1], pa.timestamp("us", "Foo/Bar"))})
    with pytest.raises(CatalpaError, match=r"'a' holds moments of the time zone 'Foo/Bar'.*for instance UTC"):
        infer(table)


def dictionary(indices: list[int | None], words: list[Any], **settings: Any) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(words), **settings)


def test_chunked_dictionaries_with_missing_words_are_read():
    chunks = pa.chunked_array([dictionary([0, 1, None], ["b", None]), dictionary([0, 1], [None, "a"])])
    table = pa.table({"a": chunks})
    schema = infer(table)
    assert schema.columns[0].categories == ("a", "b", None)
    assert encode(table, schema).rows.blocks[0].codes.ravel().tolist() == [1, 2, 2, 2, 0]


def test_chunked_ordered_dictionaries_keep_their_order():
    low, both = ["low", "high"], ["low", "mid", "high"]
    chunks = [dictionary([0, 1], low, ordered=True), dictionary([1, 2], both, ordered=True)]
    table = pa.table({"a": pa.chunked_array(chunks)})
    schema = infer(table)
    assert schema.columns[0].categories == tuple(both)
    assert encode(table, schema).rows.blocks[0].codes.ravel().tolist() == [0, 2, 1, 2]
    apart = pa.chunked_array([chunks[0], dictionary([0], ["far"], ordered=True)])
    with pytest.raises(CatalpaError, match="do not determine a common order"):
        infer(pa.table({"a": apart}))


def test_dictionaries_of_lists_are_refused_with_a_sentence():
    one = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[1]]))
    two = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[2]]))
    for cells in (one, pa.chunked_array([one, two])):
        with pytest.raises(CatalpaError, match="'a' holds values of type list"):
            infer(pa.table({"a": cells}))


def test_runs_are_read_as_what_they_repeat():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["b", "a"]))
    table = pa.table({"a": runs})
    assert encode(table, infer(table)).rows.blocks[0].codes.ravel().tolist() == [1, 1, 0]


RECORDS = [{"a": "x", "b": 1}, {"a": "y", "b": 2}]
FRAME = pd.DataFrame(RECORDS)
ROWS: dict[str, list[Any]] = {
    "user dicts": [UserDict(row) for row in RECORDS],
    "proxies": [MappingProxyType(row) for row in RECORDS],
    "series": [row for _, row in FRAME.iterrows()],
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_records_of_any_class_are_records(rows):
    schema = infer(RECORDS)
    assert infer(rows).columns == schema.columns
    model = catalpa.KModes(2, random_state=0).fit(RECORDS * 2)
    assert model.predict(rows).tolist() == model.labels_[:2].tolist()


def test_rows_without_names_are_read_by_position():
    plain = [["x", 1], ["y", 2]]
    rows: dict[str, list[Any]] = {
        "series": [pd.Series(row, index=[7, 0]) for row in plain],
        "polars": [pl.Series(row, dtype=pl.Object) for row in plain],
        "extension arrays": [pd.array(row, dtype=object) for row in plain],
        "arrays": [np.array(row, dtype=object) for row in plain],
    }
    for name, given_rows in rows.items():
        assert infer(given_rows).columns == infer(plain).columns, name


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([FRAME, FRAME], "Row 0 is a DataFrame, a table of its own. Join tables to one first"),
        ([pl.DataFrame(RECORDS)] * 2, "Row 0 is a DataFrame, a table of its own"),
        ([pa.table({"a": [1]})] * 2, "Row 0 is a Table, a table of its own"),
        ([np.array(5), np.array(6)], "Expected 2D array, got 1D array instead"),
        ([["a"], UserDict(a=1)], "Row 1 is a UserDict; rows have to be lists or tuples"),
    ],
)
def test_what_is_no_row_is_told(rows, told):
    with pytest.raises(CatalpaError, match=told):
        infer(rows)


LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "rows": lambda cells: [[cell] for cell in cells],
    "tuples": lambda cells: [[None if cell is None else tuple(cell)] for cell in cells],
    "arrays": lambda cells: [[None if cell is None else np.array(cell, dtype=object)] for cell in cells],
    "series": lambda cells: [[None if cell is None else pd.Series(cell, dtype=object)] for cell in cells],
    "pandas": lambda cells: pd.DataFrame({"x0": cells}),
    "polars": lambda cells: pl.DataFrame({"x0": cells}),
    "arrow": lambda cells: pa.table({"x0": pa.array(cells)}),
    "arrow, large": lambda cells: pa.table(
        {"x0": pa.array(cells, pa.large_list(pa.array(cells).type.value_type))}
    ),
}
if hasattr(pa, "list_view"):  # an older Arrow does not have it
    LISTS["arrow, view"] = lambda cells: pa.table(
        {"x0": pa.array(cells, pa.list_view(pa.array(cells).type.value_type))}
    )
ITEMS = st.sampled_from(
    [
        st.sampled_from(["a", "b", None]),
        st.integers(0, 3),
        st.sampled_from([dt.datetime(2024, 1, 1, 0, 0, 0, 500_000), dt.datetime(2024, 1, 1)]),
        st.sampled_from([Decimal("0.25"), Decimal("1.00")]),
    ]
)


@given(ITEMS.flatmap(lambda items: st.lists(st.none() | st.lists(items, max_size=3), min_size=1, max_size=5)))
def test_lists_hold_the_same_items_in_every_library(cells):
    assume(any(item is not None for cell in cells if cell for item in cell))
    expected = sorted({meaning(item) for cell in cells if cell for item in cell if item is not None})
    held = [None if cell is None else {meaning(item) for item in cell if item is not None} for cell in cells]
    for name, make in LISTS.items():
        table = make(cells)
        schema = infer(table)
        assert [named(column.origin.item) for column in schema.columns] == expected, name
        codes = encode(table, schema, handle_unknown="error").rows.blocks[0].codes
        for row, items in zip(codes, held, strict=True):
            known = [None if items is None else item in items for item in expected]
            assert [schema.columns[at].categories[code] for at, code in enumerate(row)] == known, name


def test_a_list_of_one_and_a_list_of_true_are_two():
    schema = infer([[[1]], [[True]], [[1, True]]])
    assert [column.name for column in schema.columns] == ["x0: True", "x0: 1"]
    codes = encode([[[1]], [[True]], [[1, True]]], schema).rows.blocks[0].codes
    assert codes.tolist() == [[0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("text", ["1e999", "-1e999"])
def test_a_file_with_a_number_beyond_the_floats_holds_text(text, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"a,b\n1.5,x\n{text},y\n")
    whole = infer(catalpa.table.read_table(path), categorical_features=[0])
    streams = infer_batches(list(catalpa.scan(path).batches()), categorical_features=[0])
    assert whole.columns == streams.columns
    assert whole.columns[0].categories == tuple(sorted(["1.5", text]))
