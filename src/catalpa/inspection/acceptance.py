"""Apply the proposals of a recipe that the user accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from catalpa.inspection.recipe import Field, Recipe, gap_block, level_text

OTHER = "other"


def accepted(recipe: Recipe, kinds: Iterable[str]) -> Recipe:
    """The recipe with its proposals of these kinds applied.

    Examples
    --------
    >>> accepted(Recipe(proposed={"sentinel": {"pdays": ["-1"]}}), ["sentinel"])["pdays"].missing
    (('-1', None),)
    """
    for kind in kinds:
        if kind in recipe.proposed:
            recipe = _ACCEPT[kind](recipe, recipe.proposed[kind])
            left = {name: value for name, value in recipe.proposed.items() if name != kind}
            recipe = replace(recipe, proposed=left)
    return recipe


def _orders(recipe: Recipe, orders: Mapping[str, list[str]]) -> Recipe:
    for name, levels in orders.items():
        recipe = recipe.with_field(with_order(recipe[name], levels))
    return recipe


def with_order(field: Field, levels: Iterable[str]) -> Field:
    """The field with its categories in this order."""
    return field.changed(
        {"categories": tuple((level_text(level), None) for level in levels), "ordered": True}
    )


def _missing(recipe: Recipe, missing: Mapping[str, list[Any]]) -> Recipe:
    for name, values in missing.items():
        changed = recipe[name].changed({"missing": tuple((level_text(value), None) for value in values)})
        recipe = recipe.with_field(changed)
    return recipe


def _dates(recipe: Recipe, formats: Mapping[str, str]) -> Recipe:
    for name, form in formats.items():
        kind = "datetime" if "%H" in form or "%I" in form else "date"
        recipe = recipe.with_field(replace(recipe[name], type=kind, format=form))
    return recipe


def _dropped(recipe: Recipe, others: Mapping[str, list[str]]) -> Recipe:
    for name, sources in others.items():
        if not set(sources) <= set(recipe.left_out):  # never drop a column with all its copies
            recipe = replace(recipe, drop=tuple(dict.fromkeys([*recipe.drop, name])))
    return recipe


def _grouped(recipe: Recipe, frequent: Mapping[str, list[str]]) -> Recipe:
    for name, values in frequent.items():
        categories = tuple((level_text(value), None) for value in values)
        recipe = recipe.with_field(replace(recipe[name], categories=categories, other=OTHER))
    return recipe


def _blocks(recipe: Recipe, blocks: list[Any]) -> Recipe:
    """The recipe with these blocks added, except those that share a column with an existing block."""
    in_blocks = {name for block in recipe.blocks for name in block.columns}
    new = [gap_block(block, "catalpa.proposed.block") for block in blocks]
    return replace(recipe, blocks=(*recipe.blocks, *(one for one in new if not in_blocks & set(one.columns))))


def _words(recipe: Recipe, words: Mapping[str, list[str]]) -> Recipe:
    for word, columns in words.items():
        recipe = _missing(recipe, {name: [word] for name in columns})
        recipe = _blocks(recipe, [columns])
    return recipe


def _texts(recipe: Recipe, different: Mapping[str, int]) -> Recipe:
    for name in different:
        recipe = recipe.with_field(replace(recipe[name], role="text"))
    return recipe


def _weight(recipe: Recipe, name: str) -> Recipe:
    return replace(recipe, weight=name)


_ACCEPT: dict[str, Callable[[Recipe, Any], Recipe]] = {
    "order": _orders,
    "sentinel": _missing,
    "unknown": _missing,
    "missing": _missing,
    "date": _dates,
    "copy": _dropped,
    "follows": _dropped,
    "rise": _dropped,
    "many": _grouped,
    "block": _blocks,
    "word": _words,
    "weight": _weight,
    "text": _texts,
}
