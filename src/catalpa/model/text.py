"""Readable JSON: one field per line, and one line per row of numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from catalpa.errors import ModelFileError

INDENT = "  "
NUMBERS = frozenset((int, float))


def to_text(document: Mapping[str, Any]) -> str:
    """The document as JSON text.

    Supports dictionaries with string keys, lists, tuples (read back as lists), strings, integers, finite
    floats, booleans, None and NumPy scalars; anything else raises a ModelFileError that names the field.

    Examples
    --------
    >>> print(to_text({"name": "zoo", "table": [[0.5, 1.0], [0.25, 2.0]]}), end="")
    {
      "name": "zoo",
      "table": [
        [0.5, 1.0],
        [0.25, 2.0]
      ]
    }
    """
    return "".join(_pieces(document, "", "")) + "\n"


def from_text(text: str) -> Any:
    """Parse JSON text; raises ValueError if it is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:  # crafted to crash a reader
        raise ValueError("it is nested too deeply") from None


def _pieces(value: object, field: str, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        _check_keys(value, field)
        parts = (
            (f"{_scalar(key, field)}: ", part, f"{field}.{key}".lstrip(".")) for key, part in value.items()
        )
        yield from _lines("{", "}", list(parts), indent)
    elif isinstance(value, list) and NUMBERS.issuperset(map(type, value)):
        yield _numbers(value, field)
    elif isinstance(value, (list, tuple)) and any(isinstance(part, (Mapping, list, tuple)) for part in value):
        yield from _lines("[", "]", [("", part, f"{field}[{at}]") for at, part in enumerate(value)], indent)
    elif isinstance(value, (list, tuple)):
        yield _scalars(value, field)
    else:
        yield _scalar(value, field)


def _numbers(value: list[Any], field: str) -> str:
    """Plain numbers in one go, because most of a file consists of them."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:  # not finite: the slow path names it
        return _scalars(value, field)


def _scalars(value: Sequence[object], field: str) -> str:
    return f"[{', '.join(_scalar(part, f'{field}[{at}]') for at, part in enumerate(value))}]"


def _lines(opening: str, closing: str, parts: list[tuple[str, object, str]], indent: str) -> Iterator[str]:
    yield opening
    for at, (label, part, field) in enumerate(parts):
        yield f"{',' if at else ''}\n{indent}{INDENT}{label}"
        yield from _pieces(part, field, indent + INDENT)
    yield f"\n{indent}{closing}" if parts else closing


def _check_keys(value: Mapping[Any, object], field: str) -> None:
    for key in value:
        if not isinstance(key, str):
            raise ModelFileError(f"Field {field!r} of the model has the key {key!r}; keys must be text.")


def _scalar(value: object, field: str) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, (bool, int)):  # integers of any size are exact
        return json.dumps(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)  # the shortest digits that restore the same bits
    raise ModelFileError(
        f"Field {field!r} of the model is {value!r} ({type(value).__name__}), which a model file "
        "cannot store. Supported are text, booleans, integers, finite floats, None, and lists and "
        "dictionaries of them."
    )


def _quoted(text: str) -> str:
    plain = json.dumps(text, ensure_ascii=False)
    try:
        plain.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(text)
    return plain


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
