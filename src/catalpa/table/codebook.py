"""Codebooks: short titles of columns, labels of codes, and the order of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from catalpa.errors import TableError

# Accepted names of the columns of a codebook file.
COLUMN_NAMES = {
    "column": ("column", "variable", "name", "field", "question_id", "spalte"),
    "code": ("code", "value", "wert"),
    "label": ("label", "text", "meaning", "beschriftung"),
    "order": ("order", "rank", "reihenfolge"),
}
MISSING = "missing"  # in the column of the order: the code stands for a missing value
MOST_UNLISTED = 12  # with more distinct values without a label, a column is numeric


@dataclass(frozen=True)
class Answer:
    """A code and its label."""

    code: str
    label: str


@dataclass(frozen=True)
class CodebookColumn:
    """Title, answers and order of one column.

    Attributes
    ----------
    title : str
        Short label of the question; "" if there is none.
    answers : tuple of Answer
        In their order, or as listed.
    ordered : bool
        True if the answers are ordered.
    missing : tuple of Answer
        Codes that stand for missing values, such as "refused".
    """

    title: str = ""
    answers: tuple[Answer, ...] = ()
    ordered: bool = False
    missing: tuple[Answer, ...] = ()


@dataclass(frozen=True)
class Codebook:
    """Titles of columns, labels of codes, and the order of answers.

    Examples
    --------
    >>> answers = (Answer("1", "18-29"), Answer("2", "30-44"))
    >>> book = Codebook({"Q1": CodebookColumn("Age group", answers, ordered=True)})
    >>> book.title("Q1"), book.label("Q1", 2.0), book.order("Q1"), book.title("Q2")
    ('Age group', '30-44', ('18-29', '30-44'), 'Q2')
    >>> book.apply(pa.table({"Q1": [2, 1, None]}))["Q1"].to_pylist()
    ['30-44', '18-29', None]
    """

    columns: Mapping[str, CodebookColumn] = field(default_factory=dict)

    def title(self, column: str) -> str:
        """The short title of a column; its name if it has none."""
        known = self.columns.get(column)
        return known.title if known is not None and known.title else column

    @property
    def titles(self) -> dict[str, str]:
        """The short titles of the columns that have one."""
        return {name: known.title for name, known in self.columns.items() if known.title}

    def label(self, column: str, code: Any) -> str:
        """The label of a code; the code as text if it has none."""
        text = code_text(code)
        known = self.columns.get(column, CodebookColumn())
        return next((one.label for one in (*known.answers, *known.missing) if one.code == text), text)

    def order(self, column: str) -> tuple[str, ...] | None:
        """The labels of an ordered column from low to high; None if it has no order."""
        known = self.columns.get(column)
        return tuple(one.label for one in known.answers) if known is not None and known.ordered else None

    def updated(self, other: Codebook) -> Codebook:
        """A codebook with the columns of another one, which take precedence."""
        return Codebook({**self.columns, **other.columns})

    def apply(self, table: pa.Table) -> pa.Table:
        """The table with labels instead of codes; ordered columns become ordered categories.

        Values without a label are not changed. A column with many such values stays numeric.
        """
        for at, name in enumerate(table.column_names):
            if (known := self.columns.get(name)) is not None and (known.answers or known.missing):
                table = table.set_column(at, name, _labelled(table.column(at), known))
        return table

    def check(self, names: Iterable[str], source: str = "The codebook") -> None:
        """Raise an error if the codebook describes none of the columns."""
        columns = list(names)
        if self.columns and not set(self.columns) & set(columns):
            raise TableError(
                f"{source} describes {sorted(self.columns)[:5]}, none of which is a column of the table. "
                f"Its columns are {columns}."
            )

    def to_json(self) -> dict[str, Any]:
        """The codebook as JSON values; `from_json` reads them."""
        return {
            name: {
                "title": one.title,
                "answers": [[answer.code, answer.label] for answer in one.answers],
                "ordered": one.ordered,
                "missing": [[answer.code, answer.label] for answer in one.missing],
            }
            for name, one in self.columns.items()
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Codebook:
        """The codebook that `to_json` returned."""
        return cls(
            {
                name: CodebookColumn(
                    one["title"],
                    tuple(Answer(*answer) for answer in one["answers"]),
                    one["ordered"],
                    tuple(Answer(*answer) for answer in one["missing"]),
                )
                for name, one in document.items()
            }
        )


def code_text(code: Any) -> str:
    """A code as text: 1, 1.0 and "1" are equal.

    Examples
    --------
    >>> code_text(1.0), code_text("1"), code_text(True), code_text(1.5)
    ('1', '1', 'True', '1.5')
    """
    if isinstance(code, float) and code.is_integer():
        return str(int(code))
    return str(code).strip()


def codebook_from_table(table: pa.Table, source: str = "The codebook") -> Codebook:
    """Read a codebook from a table with columns ``column``, ``code``, ``label`` and optionally ``order``.

    A row without a code has the title of its column. ``order`` contains numbers, from low to high, or
    "missing" for a code that stands for a missing value.

    Examples
    --------
    >>> rows = {"column": ["Q1", "Q1", "Q1"], "code": [None, 1, 2], "label": ["Age", "young", "old"]}
    >>> book = codebook_from_table(pa.table({**rows, "order": [None, 1, 2]}))
    >>> book.title("Q1"), book.order("Q1")
    ('Age', ('young', 'old'))
    """
    places = _places(table.column_names, source)
    cells = {
        key: [
            None if cell is None or not str(cell).strip() else cell for cell in table.column(at).to_pylist()
        ]
        for key, at in places.items()
    }
    cells.setdefault("order", [None] * table.num_rows)
    titles: dict[str, str] = {}
    listed: dict[str, dict[str, tuple[str, Any]]] = {}
    name = None
    rows = zip(*(cells[key] for key in ("column", "code", "label", "order")), strict=True)
    for row, (column, code, label, order) in enumerate(rows, 2):
        name = name if column is None else code_text(column)  # a column may be named in its first row only
        if name is None:
            raise TableError(f"Row {row} of {source} names no column.")
        if label is None:
            if code is None:
                continue
            raise TableError(
                f"Row {row} of {source} has no label for the code {code_text(code)!r} of {name!r}."
            )
        if code is None:
            titles[name] = str(label).strip()
            continue
        text = code_text(code)
        if text in listed.setdefault(name, {}):
            raise TableError(f"{source} lists the code {text!r} of {name!r} twice, again in row {row}.")
        listed[name][text] = (str(label).strip(), order)
    if not titles and not listed:
        raise TableError(f"{source} has no rows with a label.")
    names = dict.fromkeys([*titles, *listed])
    return Codebook(
        {name: _column(name, titles.get(name, ""), listed.get(name, {}), source) for name in names}
    )


def _places(names: list[str], source: str) -> dict[str, int]:
    known = {spelled: key for key, several in COLUMN_NAMES.items() for spelled in several}
    places: dict[str, int] = {}
    for at, name in enumerate(names):
        key = known.get(name.strip().lower())
        if key is not None:
            places.setdefault(key, at)
    absent = [key for key in ("column", "code", "label") if key not in places]
    if absent:
        raise TableError(
            f"{source} needs the columns column, code and label (and order, if answers have one); it lacks "
            f"{', '.join(absent)}. Its columns are {names}."
        )
    return places


def _column(name: str, title: str, listed: dict[str, tuple[str, Any]], source: str) -> CodebookColumn:
    missing, ranks = [], {}
    answers = []
    for code, (label, order) in listed.items():
        if isinstance(order, str) and order.strip().lower() == MISSING:
            missing.append(Answer(code, label))
            continue
        answers.append(Answer(code, label))
        if order is not None:
            ranks[code] = _rank(order, name, code, source)
    if ranks and len(ranks) < len(answers):
        without = [one.code for one in answers if one.code not in ranks]
        raise TableError(
            f"{source} gives an order for some answers of {name!r}, but not for {without}. Give all a "
            f"number, or {MISSING!r} to those that stand for a missing value."
        )
    if ranks:
        answers.sort(key=lambda one: ranks[one.code])
    return CodebookColumn(title, distinct_labels(answers), bool(ranks), tuple(missing))


def _rank(order: Any, name: str, code: str, source: str) -> float:
    try:
        return float(order)
    except (TypeError, ValueError) as error:
        raise TableError(
            f"{source} has the order {order!r} for the code {code!r} of {name!r}; it can be a number, or "
            f"{MISSING!r}."
        ) from error


def distinct_labels(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Append the code to labels that several codes share, because they are different answers."""
    listed = list(answers)
    labels = [one.label for one in listed]
    return tuple(
        Answer(one.code, f"{one.label} ({one.code})") if labels.count(one.label) > 1 else one
        for one in listed
    )


def _labelled(column: pa.ChunkedArray, known: CodebookColumn) -> pa.ChunkedArray:
    """The column with labels instead of codes."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], encoded.type)
    values = encoded.dictionary.to_pylist()
    texts = [None if value is None else code_text(value) for value in values]
    labels = {one.code: one.label for one in known.answers}
    missing = {one.code for one in known.missing}
    all_labels = set(labels.values())  # labels in the data stay
    present = [text for text in texts if text is not None and text not in missing]
    unlisted = [text for text in dict.fromkeys(present) if text not in labels and text not in all_labels]
    if not labels or len(unlisted) > MOST_UNLISTED:
        is_missing = pc.is_in(
            pc.cast(encoded.indices, pa.int64()), pa.array(_places_of(texts, missing), pa.int64())
        )
        indices = pc.if_else(is_missing, pa.scalar(None, encoded.indices.type), encoded.indices)
        return pa.chunked_array([pa.array(encoded.dictionary).take(indices)])
    levels = [*dict.fromkeys(labels.values()), *unlisted]
    position = {label: at for at, label in enumerate(levels)}
    codes = [None if text is None or text in missing else position[labels.get(text, text)] for text in texts]
    places = pa.array(codes, pa.int32()).take(encoded.indices)
    ordered = known.ordered and not unlisted
    return pa.chunked_array([pa.DictionaryArray.from_arrays(places, pa.array(levels), ordered=ordered)])


def _places_of(texts: list[str | None], wanted: set[str]) -> list[int]:
    return [at for at, text in enumerate(texts) if text in wanted]
