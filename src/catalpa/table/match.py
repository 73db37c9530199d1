"""Which category of fit a new value is, also where it came as another type: 1 and "1", True and "True"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from catalpa.errors import TableError
from catalpa.table.cells import Cells, Coded, Family, Numbers
from catalpa.table.schema import Column
from catalpa.table.values import Category, category_key, cut, read_text

__all__ = ["as_numbers", "code_of", "refuse_other_type"]


def code_of(value: Category, column: Column) -> int | None:
    """The code of a value, None if fit saw no such category.

    A value that is not known as it is may be known as another type. Text is never compared with other text
    by what it says: "1.10" and "1.1" may be versions.

    Examples
    --------
    >>> from catalpa.table import infer
    >>> grade = infer([["1"], ["2"], ["none"]]).columns[0]
    >>> code_of(2, grade), code_of(2.0, grade), code_of("2.0", grade)
    (1, 1, None)
    """
    key = category_key(value)
    if (code := column.codes.get(key)) is not None:
        return code
    if isinstance(value, str):
        said = category_key(read_text(value))
        return None if said[0] == "text" else column.codes.get(said)
    return column.readings.get(key)


def refuse_other_type(coded: Coded, column: Column, unseen: int) -> None:
    """Refuse a column of which nothing is known and whose cells are of another type than at fit."""
    present = len(coded) - coded.missing
    if not present or unseen < present or column.binned or not column.codes:
        return
    came = [coded.values[at] for at in np.flatnonzero(coded.times()).tolist()]
    types = {category_key(value)[0] for value in came}
    known = {key[0] for key in column.codes}
    if types & known:
        return  # new categories beside the old ones: handle_unknown says what becomes of them
    raise TableError(
        f"Nothing in column {column.name!r} is known: it holds {_told(types)} now ({_examples(came)}) and "
        f"held {_told(known)} at fit ({_examples(column.categories)}). Convert the column, or fit again."
    )


def _told(types: set[str]) -> str:
    return " and ".join(
        sorted({"number": "numbers", "boolean": "true and false", "list": "lists"}.get(t, t) for t in types)
    )


def _examples(values: Sequence[Category]) -> str:
    return ", ".join([cut(repr(value)) for value in values if value is not None][:3])


def as_numbers(cells: Cells, column: Column) -> Numbers:
    """The cells of a column that held numbers at fit; text is taken if all of it says numbers."""
    if isinstance(cells, Numbers):
        return cells
    numbers = [_number(value) for value in cells.values]
    times = cells.times()
    if any(number is None and times[at] for at, number in enumerate(numbers)):
        raise TableError(
            f"Column {column.name!r} held numbers at fit and holds {cells.family.value} now. "
            "Convert it to numbers, or fit again."
        )
    # One entry more, which code -1 of a missing cell reads.
    lookup = np.array([0.0 if number is None else number for number in numbers] + [0.0])
    codes = cells.codes.astype(np.int64)
    return Numbers(Family.FLOAT, cells.dtype, lookup[codes], codes < 0 if cells.missing else None)


def _number(value: Category) -> float | None:
    said = read_text(value) if isinstance(value, str) else value
    return None if said is None or isinstance(said, bool | str) else float(said)
