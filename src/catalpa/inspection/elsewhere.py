"""Which parts of a recipe can be expressed in SQL."""

from __future__ import annotations

from collections.abc import Collection

from catalpa.inspection.recipe import Recipe

_READ = {
    "number": "numbers",
    "integer": "numbers",
    "date": "dates",
    "datetime": "dates",
    "time": "times of day",
    "list": "lists of answers",
}


def steps_in_the_way(recipe: Recipe | None, columns: Collection[str]) -> list[str]:
    """Steps of a recipe for these columns that cannot be exported to SQL, in words.

    Columns that are left out, orders, missing values and tick boxes can be exported.

    Examples
    --------
    >>> from catalpa.inspection.recipe import Field
    >>> recipe = Recipe((Field("price", type="number"), Field("age", ordered=True), Field("id", role="id")))
    >>> steps_in_the_way(recipe, ["price", "age"])
    ["'price' is read as numbers"]
    """
    if recipe is None:
        return []
    steps = []
    for field in recipe.fields:
        if field.name not in columns:
            continue
        if field.type in _READ:
            steps.append(f"{field.name!r} is read as {_READ[field.type]}")
        elif field.other is not None:
            steps.append(f"categories of {field.name!r} are grouped")
        elif any(label is not None for _, label in field.categories):
            steps.append(f"categories of {field.name!r} have labels")
    return steps


def missing_texts(recipe: Recipe | None, column: str) -> tuple[str, ...]:
    """The values of a column that are treated as missing."""
    return () if recipe is None else (*(value for value, _ in recipe[column].missing), *recipe.missing)


def category_of_empty(recipe: Recipe | None, column: str) -> str | None:
    """The category of an empty cell of a tick box."""
    return None if recipe is None else recipe[column].empty
