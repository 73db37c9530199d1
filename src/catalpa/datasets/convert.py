"""A file as UCI publishes it becomes the canonical CSV, by the recipe of ``recipes.toml``.

Canonical means: UTF-8, line feeds, a header, every value as text, the class in the last column called
``class``, and an empty field for a missing cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field

from catalpa.datasets.registry import Variant, entries_of
from catalpa.errors import DatasetError

_MISSING = "?"  # as UCI writes it


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Layout of a published file and what is kept of it."""

    keep: tuple[str, ...]
    fields: tuple[str, ...] = ()
    header: int = 0
    delimiter: str = ","
    numbers: tuple[str, ...] = ()
    target: str = "class"
    complete: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def recipe_of(name: str) -> Recipe:
    """The recipe of one data set."""
    return Recipe(**entries_of("recipes.toml")[name])


def canonical_csv(raw: bytes, recipe: Recipe, variant: Variant) -> bytes:
    r"""The canonical CSV of a variant, made from the published file.

    Examples
    --------
    >>> recipe = Recipe(fields=("class", "size"), keep=("size",), values={"size": {"1": "big"}})
    >>> canonical_csv(b"yes,1\nno,?\n", recipe, "paper")
    b'size,class\nbig,yes\n,no\n'
    """
    fields, rows = _read(raw, recipe)
    kept = (*recipe.keep, *(recipe.numbers if variant == "mixed" else ()), recipe.target)
    lacking = [name for name in (*kept, *recipe.complete) if name not in fields]
    if lacking:
        raise DatasetError(
            f"The published file has no column {', '.join(lacking)}; it has {', '.join(fields)}. "
            "It has changed since Catalpa was released."
        )
    needed = [fields.index(name) for name in recipe.complete]
    positions = [fields.index(name) for name in kept]
    names = [recipe.values.get(name, {}) for name in kept]  # codes that UCI explains in words
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*kept[:-1], "class"])
    for row in rows:
        if all(row[at] for at in needed):
            writer.writerow([given.get(row[at], row[at]) for at, given in zip(positions, names, strict=True)])
    return text.getvalue().encode()


def _read(raw: bytes, recipe: Recipe) -> tuple[list[str], list[list[str]]]:
    """Names of the columns, and the rows with missing cells emptied."""
    text = io.StringIO(raw.decode("utf-8-sig"))
    lines = [row for row in csv.reader(text, delimiter=recipe.delimiter) if row]
    fields, start = list(recipe.fields), 0
    if not fields:
        fields, start = [name.strip() for name in lines[recipe.header]], recipe.header + 1
    rows = [["" if cell.strip() == _MISSING else cell.strip() for cell in row] for row in lines[start:]]
    if any(len(row) != len(fields) for row in rows):
        raise DatasetError(
            f"The published file has rows without {len(fields)} fields. It has changed since Catalpa was "
            "released, or it is damaged."
        )
    return fields, rows
