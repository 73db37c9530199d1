"""The recipe of a command: the given one, or the safe findings of the table.

Commands import this module when they run, as ``tables``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from catalpa.cli.options import Preparing, Proposals, TablePath, listed
from catalpa.cli.tables import Input
from catalpa.cli.terminal import Terminal
from catalpa.errors import ParameterError, columns_hint
from catalpa.inspection.columns import BLANKS
from catalpa.inspection.look import Look, look
from catalpa.inspection.recipe import Recipe, read_recipe
from catalpa.table.files.dialect import Dialect

SAID = 2  # findings that a command prints; the others are counted


def looked_at(rows: Any, proposals: Proposals) -> Look:
    """Inspection of a table, with the options for accepting, keeping and ordering applied."""
    questions = [text.removesuffix("=?") for text in proposals.order or () if text.endswith("=?")]
    seen = look(rows, suggest=questions).keep(*(listed(proposals.keep) or ()))
    if proposals.accept:
        seen = seen.accept(*(listed(proposals.accept) or ()))
    return replace(seen, recipe=with_orders(seen.recipe, rows, proposals.order))


def dialect_of_recipe(preparing: Preparing) -> Dialect | None:
    """The file layout in the given recipe."""
    if preparing.recipe is None or preparing.as_is:
        return None
    return layout_of(read_recipe(preparing.recipe))


def layout_of(recipe: Recipe | None) -> Dialect | None:
    """The file layout in a recipe."""
    return Dialect.from_json(recipe.dialect) if recipe is not None and recipe.dialect else None


def chosen(preparing: Preparing) -> bool:
    """True if an option says how the table is prepared."""
    return any((preparing.recipe, preparing.as_is, preparing.accept, preparing.keep, preparing.order))


def recipe_of(data: Input, table: str, preparing: Preparing, terminal: Terminal) -> Recipe | None:
    """The recipe that a command applies; prints a summary. None if the table is unchanged."""
    given, rows = preparing.recipe, data.rows
    if preparing.as_is:
        if given is not None or preparing.accept or preparing.keep:
            raise ParameterError(
                "--as-is clusters the table as it is: leave out --recipe, --accept and --keep."
            )
        recipe = with_orders(Recipe(), rows, preparing.order)
    elif given is not None:
        recipe = read_recipe(given).keeping(listed(preparing.keep) or ())
        recipe = with_orders(recipe, rows, preparing.order)
        terminal.say(f"prepared as {given} says")
    else:
        seen = looked_at(rows, preparing)
        recipe = seen.recipe
        for line in told_lines(seen, table):
            terminal.say(line)
    if data.codebook is not None:
        known = set(rows.column_names)
        titles = {name: title for name, title in data.codebook.titles.items() if name in known}
        recipe = replace(recipe.with_titles(titles), codebook=data.labels_from or recipe.codebook)
    return recipe if recipe.changes_anything or recipe.titles or recipe.codebook else None


def told_lines(seen: Look, table: TablePath) -> list[str]:
    """Applied and proposed changes, in at most three lines."""
    applied = [line.message for line in seen.lines if line.safe]
    proposed = sum(not line.safe for line in seen.lines)
    lines, more = applied[:SAID], len(applied) - SAID
    parts = [f"{more} more applied"] * (more > 0) + [f"{proposed} proposed"] * (proposed > 0)
    if not applied and not proposed:
        return []
    prefix = f"{', '.join(parts)}: " if parts else ""
    return [
        *lines,
        f"{prefix}catalpa look {table} lists all" + ("; --as-is applies nothing" if applied else ""),
    ]


def with_orders(recipe: Recipe, rows: Any, orders: Sequence[str] | None) -> Recipe:
    """The recipe with the orders of ``--order``."""
    for text in orders or ():
        if text.endswith("=?"):  # a question, not an order
            continue
        names = list(getattr(rows, "column_names", None) or rows.names)
        name = next((one for one in sorted(names, key=len, reverse=True) if text.startswith(f"{one}=")), None)
        if name is None:
            wanted = text.partition("=")[0]
            hint = columns_hint(wanted, names)
            raise ParameterError(
                f"--order is {text!r}; write it as Age=18-29<30-44<45-60, with a column of the table. {hint}"
            )
        values = _values(rows.column(name)) if isinstance(rows, pa.Table) else []
        recipe = recipe.with_order(name, split_order(text[len(name) + 1 :], values))
    return recipe


def _values(column: pa.ChunkedArray) -> list[str]:
    """The different values of a column as texts."""
    return [str(value).strip(BLANKS) for value in column.unique().to_pylist() if value is not None]


def split_order(text: str, values: Iterable[str] = ()) -> list[str]:
    """The levels of an order, lowest first, separated by < or, without any, by commas.

    Levels that contain the separator are recognised by the values of the column.

    Examples
    --------
    >>> split_order("low<mid<high"), split_order("A,B,C")
    (['low', 'mid', 'high'], ['A', 'B', 'C'])
    >>> split_order("< 18<18-29<30+", ["< 18", "18-29", "30+"])
    ['< 18', '18-29', '30+']
    """
    sign = "<" if "<" in text else ","
    known = sorted((value for value in values if sign in value), key=len, reverse=True)
    levels, remainder = [], text.strip()
    while remainder:
        level = next((one for one in known if remainder.startswith(one)), None)
        behind = "" if level is None else remainder[len(level) :].lstrip()
        if level is None or (behind and not behind.startswith(sign)):
            level, _, behind = remainder.partition(sign)
            behind = sign + behind if _ else ""
        levels.append(level.strip())
        remainder = behind[1:].strip()
    if len(levels) < 2 or "" in levels or len(set(levels)) < len(levels):
        raise ParameterError(
            f"An order needs at least two different levels, such as low<mid<high; {text!r} has not."
        )
    return levels
