"""The recipe: how a table is prepared before clustering, as a Data Package resource descriptor.

The standard (Data Package version 2, Table Schema and Table Dialect) describes how cells are written, which
values are missing and which categories are ordered. Everything else is under the key ``catalpa``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from catalpa.errors import OutputError, ParameterError, UnknownColumn, columns_hint
from catalpa.inspection.formats import knows_format
from catalpa.table.gap_blocks import GapBlock

Levels: TypeAlias = tuple[tuple[str, str | None], ...]  # each value with its label, if it has one

ROLES = ("id", "text", "weight", "constant", "show")  # of columns that are not clustered
TYPES = (
    "any",
    "string",
    "number",
    "integer",
    "boolean",
    "date",
    "datetime",
    "time",
    "year",
    "yearmonth",
    "list",
)
FIELD_KEYS = {
    *("name", "type", "format", "title", "description", "example", "decimalChar", "groupChar", "bareNumber"),
    *("missingValues", "categories", "categoriesOrdered", "delimiter", "itemType", "constraints", "rdfType"),
    *("trueValues", "falseValues", "catalpa"),
}
OWN_FIELD_KEYS = {"role", "empty", "other", "items"}
DIALECT_KEYS = {
    *(
        "delimiter",
        "header",
        "headerRows",
        "headerJoin",
        "commentRows",
        "sheetName",
        "sheetNumber",
        "encoding",
    ),
    *(
        "lineTerminator",
        "quoteChar",
        "doubleQuote",
        "escapeChar",
        "nullSequence",
        "skipInitialSpace",
        "commentChar",
    ),
    *("$schema", "property", "itemType", "itemKeys", "table", "decimalChar"),
}
RESOURCE_KEYS = {
    *(
        "name",
        "path",
        "title",
        "description",
        "schema",
        "dialect",
        "catalpa",
        "$schema",
        "format",
        "mediatype",
    ),
    *("encoding", "bytes", "hash", "sources", "licenses", "type", "data", "profile"),
}
OWN_KEYS = {"weight", "skipRows", "blocks", "drop", "proposed", "codebook"}
PROPOSALS = {
    *(
        "order",
        "sentinel",
        "unknown",
        "missing",
        "block",
        "word",
        "copy",
        "follows",
        "rise",
        "many",
        "weight",
    ),
    *("date", "text"),
}


@dataclass(frozen=True)
class Field:
    """The part of a recipe for one column.

    Attributes
    ----------
    name : str
    type : str
        A type of Table Schema: "string", "number", "date", "list" and so on; "any" changes nothing.
    title : str or None
        A short label.
    format : str or None
        Format of dates and times, as for ``strptime``.
    decimal, group : str
        The decimal mark and the thousands mark.
    bare : bool
        True if numbers have no units or currencies around them.
    delimiter : str or None
        Separator of the items of a list.
    items : tuple of str
        The items of a list.
    categories : tuple of (value, label)
    ordered : bool
        True if the categories are ordered.
    missing : tuple of (value, label)
        Values that are treated as missing.
    role : str or None
        Why the column is not clustered: "id", "text", "weight", "constant" or "show".
    empty : str or None
        The category of an empty cell, "no" for a tick box.
    other : str or None
        The category of values that are not in ``categories``.
    """

    name: str
    type: str = "any"
    title: str | None = None
    format: str | None = None
    decimal: str = "."
    group: str = ""
    bare: bool = True
    delimiter: str | None = None
    items: tuple[str, ...] = ()
    categories: Levels = ()
    ordered: bool = False
    missing: Levels = ()
    role: str | None = None
    empty: str | None = None
    other: str | None = None

    @property
    def plain(self) -> bool:
        """True if the column is left unchanged."""
        return replace(self, title=None) == Field(self.name)

    def changed(self, changes: Mapping[str, Any]) -> Field:
        """The field with changed attributes; missing values are added to those it has."""
        missing_values = {value for value, _ in self.missing}
        added = tuple(one for one in changes.get("missing", ()) if one[0] not in missing_values)
        # A level that is now missing is no longer a category.
        removed_values = missing_values | {value for value, _ in added}
        categories = changes.get("categories", self.categories)
        return replace(
            self,
            **{
                **changes,
                "missing": (*self.missing, *added),
                "categories": tuple(level for level in categories if level[0] not in removed_values),
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """The field as a descriptor of the standard."""
        record: dict[str, Any] = {"name": self.name}
        if self.type != "any":
            record["type"] = self.type
        record |= {name: value for name, value in (("title", self.title), ("format", self.format)) if value}
        if self.type in ("number", "integer"):
            record |= {"decimalChar": self.decimal} if self.decimal != "." else {}
            record |= {"groupChar": self.group} if self.group else {}
            record |= {} if self.bare else {"bareNumber": False}
        if self.delimiter is not None:
            record["delimiter"] = self.delimiter
        if self.categories:
            record["categories"] = _levels_to_json(self.categories)
            record["categoriesOrdered"] = self.ordered
        if self.missing:
            record["missingValues"] = _levels_to_json(self.missing)
        extra = {"role": self.role, "empty": self.empty, "other": self.other, "items": list(self.items)}
        if extra := {name: value for name, value in extra.items() if value}:
            record["catalpa"] = extra
        return record


@dataclass(frozen=True)
class Recipe:
    """How a table is prepared before clustering; ``catalpa.look(X).recipe`` creates one.

    Attributes
    ----------
    fields : tuple of Field
        Columns that the recipe changes; other columns are left unchanged.
    dialect : mapping
        How the file is read: header rows, sheet, delimiter.
    missing : tuple of str
        Texts that are treated as missing in every column.
    weight : str or None
        Column whose numbers are the weights of the rows.
    skip_rows : tuple of int
        Lines of the file that are left out.
    blocks : tuple of GapBlock
        Columns that are missing together, which count once.
    drop : tuple of str
        Columns that are left out because they repeat other columns.
    proposed : mapping
        Changes that are not applied, by kind of finding.
    codebook : str or None
        Name of the file whose labels replaced codes; reading the table applies it, not the recipe.

    Examples
    --------
    >>> recipe = Recipe.from_dict({"schema": {"fields": [{"name": "id", "catalpa": {"role": "id"}}]}})
    >>> recipe.left_out
    ('id',)
    """

    fields: tuple[Field, ...] = ()
    dialect: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    weight: str | None = None
    skip_rows: tuple[int, ...] = ()
    blocks: tuple[GapBlock, ...] = ()
    drop: tuple[str, ...] = ()
    proposed: Mapping[str, Any] = field(default_factory=dict)
    codebook: str | None = None

    def __getitem__(self, name: str) -> Field:
        return next((one for one in self.fields if one.name == name), Field(name))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that are not clustered."""
        roles = [one.name for one in self.fields if one.role is not None]
        return tuple(dict.fromkeys((*roles, *self.drop)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the recipe names."""
        named = [one.name for one in self.fields]
        named += [name for block in self.blocks for name in block.columns] + list(self.drop)
        return tuple(dict.fromkeys([*named, *([self.weight] if self.weight else [])]))

    @property
    def changes_anything(self) -> bool:
        """True if the recipe changes a table."""
        in_fields = any(not one.plain for one in self.fields)
        return in_fields or bool(self.missing or self.weight or self.drop or self.blocks)

    @property
    def titles(self) -> dict[str, str]:
        """Short labels by column, for columns that have one."""
        return {one.name: one.title for one in self.fields if one.title}

    def with_titles(self, titles: Mapping[str, str]) -> Recipe:
        """The recipe with short labels of columns; existing labels are kept.

        Examples
        --------
        >>> Recipe().with_titles({"Q8": "Trust in parliament"}).title_of("Q8")
        'Trust in parliament'
        """
        recipe = self
        for name, title in titles.items():
            if title and title != name and recipe[name].title is None:
                recipe = recipe.with_field(replace(recipe[name], title=title))
        return recipe

    def title_of(self, name: str) -> str | None:
        """The short label of a column, or of a column derived from it; None if there is none.

        Examples
        --------
        >>> recipe = Recipe().with_titles({"Q8": "Tools at work"})
        >>> recipe.title_of("Q8: saw"), recipe.title_of("Q8 and 3 more"), recipe.title_of("Q80")
        ('Tools at work: saw', 'Tools at work and 3 more', None)
        """
        titles = self.titles
        if name in titles:
            return titles[name]
        for column in sorted(titles, key=len, reverse=True):
            if name.startswith((f"{column}: ", f"{column} and ")):
                return titles[column] + name[len(column) :]
        return None

    def with_order(self, column: str, levels: Sequence[str]) -> Recipe:
        """The recipe with the categories of a column in this order, lowest first.

        Examples
        --------
        >>> Recipe().with_order("size", ["small", "big"])["size"].ordered
        True
        """
        order = tuple((level_text(level), None) for level in levels)
        ordered_values = {value for value, _ in order}
        field = self[column]
        missing = tuple(one for one in field.missing if one[0] not in ordered_values)
        return self.with_field(replace(field, categories=order, ordered=True, other=None, missing=missing))

    def with_field(self, changed: Field) -> Recipe:
        """The recipe with this field instead of the one with the same name."""
        others = [one for one in self.fields if one.name != changed.name]
        at = next((at for at, one in enumerate(self.fields) if one.name == changed.name), len(others))
        return replace(self, fields=(*others[:at], changed, *others[at:]))

    def apply(self, X: Any) -> Any:
        """Prepare a table for clustering; see ``catalpa.inspection.apply.apply_recipe``.

        Examples
        --------
        >>> import pandas as pd
        >>> recipe = Recipe(drop=("id",))
        >>> list(recipe.apply(pd.DataFrame({"id": [1, 2], "colour": ["red", "blue"]})))
        ['colour']
        """
        from catalpa.inspection.apply import apply_recipe  # avoids a circular import

        return apply_recipe(self, X)

    def keeping(self, columns: Iterable[str]) -> Recipe:
        """The recipe without changes to these columns."""
        names = set(columns)
        return replace(
            self,
            fields=tuple(
                Field(one.name, title=one.title) if one.name in names else one
                for one in self.fields
                if one.name not in names or one.title
            ),
            weight=None if self.weight in names else self.weight,
            blocks=tuple(block for block in self.blocks if not names & set(block.columns)),
            drop=tuple(name for name in self.drop if name not in names),
        )

    def check_columns(self, names: Iterable[str]) -> None:
        """Raise an error if the table does not have a column of the recipe."""
        names = list(names)
        for name in self.columns:
            if name not in names:
                raise UnknownColumn(
                    f"The recipe names the column {name!r}, which the table does not have. "
                    f"{columns_hint(name, names)}"
                )

    def to_dict(self) -> dict[str, Any]:
        """The recipe as a Data Package resource descriptor of plain JSON values."""
        document: dict[str, Any] = {"dialect": dict(self.dialect)} if self.dialect else {}
        schema: dict[str, Any] = {"missingValues": ["", *self.missing]} if self.missing else {}
        schema["fields"] = [one.to_dict() for one in self.fields]
        document["schema"] = schema
        extra = {
            "weight": self.weight,
            "skipRows": list(self.skip_rows),
            "blocks": [block.to_json() for block in self.blocks],
            "drop": list(self.drop),
            "proposed": dict(self.proposed),
            "codebook": self.codebook,
        }
        if extra := {name: value for name, value in extra.items() if value}:
            document["catalpa"] = extra
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], source: str = "The recipe") -> Recipe:
        """Create a recipe from a resource descriptor; raises an error for unknown keys and invalid values."""
        document = _object(document, source)
        _known_keys(document, RESOURCE_KEYS, source)
        dialect = _object(document.get("dialect", {}), f"{source}: dialect")
        _known_keys(dialect, DIALECT_KEYS, f"{source}: dialect")
        schema = _object(document.get("schema", {}), f"{source}: schema")
        _known_keys(
            schema, {"fields", "missingValues", "$schema", "fieldsMatch", "primaryKey"}, f"{source}: schema"
        )
        extra = _object(document.get("catalpa", {}), f"{source}: catalpa")
        _known_keys(extra, OWN_KEYS, f"{source}: catalpa")
        proposed = _object(extra.get("proposed", {}), f"{source}: catalpa.proposed")
        _known_keys(proposed, PROPOSALS, f"{source}: catalpa.proposed")
        fields = schema.get("fields", [])
        if not isinstance(fields, list):
            raise ParameterError(f"{source}: schema.fields is {fields!r:.60}; it must be a list.")
        columns = tuple(_field(one, source) for one in fields)
        names = [one.name for one in columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ParameterError(f"{source} has several fields with the same name: {twice}.")
        weight = extra.get("weight")
        if weight is not None and not isinstance(weight, str):
            raise ParameterError(f"{source}: catalpa.weight is {weight!r:.60}; it must be a column.")
        codebook = extra.get("codebook")
        if codebook is not None and not isinstance(codebook, str):
            raise ParameterError(f"{source}: catalpa.codebook is {codebook!r:.60}; it must be a file name.")
        blocks = extra.get("blocks", [])
        if not isinstance(blocks, list):
            raise ParameterError(f"{source}: catalpa.blocks is {blocks!r:.60}; it must be a list of lists.")
        missing = [value for value, _ in _levels(schema.get("missingValues", []), f"{source}: missingValues")]
        return cls(
            columns,
            dict(dialect),
            tuple(value for value in missing if value != ""),
            weight,
            _rows(extra.get("skipRows", []), source),
            tuple(gap_block(block, f"{source}: catalpa.blocks") for block in blocks),
            tuple(_names(extra.get("drop", []), f"{source}: catalpa.drop")),
            dict(proposed),
            codebook,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the recipe: as TOML if the name ends in ``.toml``, else as JSON."""
        from catalpa.files import (  # imported late: not needed to fit
            check_path,
            reraise_as,
            write_atomically,
        )

        check_path(path)
        target = Path(path)
        toml = target.suffix.lower() == ".toml"
        text = (
            to_toml(self.to_dict())
            if toml
            else json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"
        )
        with reraise_as(OutputError, f"{str(target)!r} cannot be written"):
            write_atomically(target, text.encode("utf-8"))


def read_recipe(source: Any) -> Recipe:
    """Read a recipe from a file or a dict; a recipe is returned unchanged.

    Examples
    --------
    >>> read_recipe({"catalpa": {"drop": ["City"]}}).drop
    ('City',)
    """
    if isinstance(source, Recipe):
        return source
    if isinstance(source, Mapping):
        return Recipe.from_dict(source)
    if not isinstance(source, str | os.PathLike):
        raise ParameterError(
            f"recipe is {source!r:.60}; give catalpa.look(X).recipe, the name of a recipe file, or a dict."
        )
    path = Path(source)
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise ParameterError(f"There is no recipe file {str(path)!r}.") from error
    except (OSError, ValueError) as error:
        raise ParameterError(f"The recipe file {str(path)!r} cannot be read: {error}.") from error
    try:
        document = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except ValueError as error:  # of both readers
        form = "TOML" if path.suffix.lower() == ".toml" else "JSON"
        raise ParameterError(f"The recipe file {str(path)!r} is not {form}: {error}.") from error
    return Recipe.from_dict(document, f"The recipe file {str(path)!r}")


def _field(entry: object, source: str) -> Field:
    where = f"{source}: a field"
    entry = _object(entry, where)
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ParameterError(f"{where} has no name: {entry!r:.80}.")
    where = f"{source}: field {name!r}"
    _known_keys(entry, FIELD_KEYS, where)
    extra = _object(entry.get("catalpa", {}), f"{where}: catalpa")
    _known_keys(extra, OWN_FIELD_KEYS, f"{where}: catalpa")
    kind, form = entry.get("type", "any"), entry.get("format")
    _one_of(kind, TYPES, f"{where}: type")
    if (
        kind in ("date", "datetime", "time")
        and form not in (None, "default", "any")
        and not knows_format(str(form))
    ):
        raise ParameterError(f"{where}: format is {form!r}; write it as strptime does, such as %d.%m.%Y.")
    role = extra.get("role")
    if role is not None:
        _one_of(role, ROLES, f"{where}: catalpa.role")
    delimiter = entry.get("delimiter", "," if kind == "list" else None)
    texts = {"delimiter": delimiter, "title": entry.get("title")}
    texts |= {f"catalpa.{key}": extra.get(key) for key in ("empty", "other")}
    for key, value in texts.items():
        if value is not None and (not isinstance(value, str) or not value):
            raise ParameterError(f"{where}: {key} is {value!r:.60}; it must be text.")
    for key in ("bareNumber", "categoriesOrdered"):
        if not isinstance(entry.get(key, True), bool):
            raise ParameterError(f"{where}: {key} is {entry[key]!r:.60}; it must be true or false.")
    decimal, group = entry.get("decimalChar", "."), entry.get("groupChar", "")
    if decimal not in (".", ","):
        raise ParameterError(f"{where}: decimalChar is {decimal!r}; it can be '.' or ','.")
    if not isinstance(group, str) or len(group) > 1 or group == decimal:
        raise ParameterError(
            f"{where}: groupChar is {group!r}; it must be one character other than the decimal mark."
        )
    return Field(
        name,
        kind,
        entry.get("title"),
        None if form in ("default", "any") else form,
        decimal,
        group,
        entry.get("bareNumber", True),
        delimiter,
        tuple(_names(extra.get("items", []), f"{where}: catalpa.items")),
        _levels(entry.get("categories", []), f"{where}: categories"),
        entry.get("categoriesOrdered", False),
        tuple(one for one in _levels(entry.get("missingValues", []), f"{where}: missingValues") if one[0]),
        role,
        extra.get("empty"),
        extra.get("other"),
    )


def gap_block(entry: object, where: str) -> GapBlock:
    """A block of a recipe, from the list of its columns or of the columns of each step."""
    if isinstance(entry, GapBlock):
        return entry
    if not isinstance(entry, list | tuple) or not entry:
        raise ParameterError(
            f"{where} contains {entry!r:.60}; give a list of columns, or of lists of columns."
        )
    steps = [entry] if isinstance(entry[0], str) else entry
    block = GapBlock(tuple(tuple(_names(step, where)) for step in steps))
    if not all(block.steps) or len(set(block.columns)) < len(block.columns):
        raise ParameterError(
            f"{where} has a block without columns, or with a repeated column: {entry!r:.60}."
        )
    return block


def _levels(entries: object, where: str) -> Levels:
    if not isinstance(entries, list | tuple):
        raise ParameterError(f"{where} is {entries!r:.60}; it must be a list.")
    levels = []
    for entry in entries:
        value, label = (
            (entry.get("value"), entry.get("label")) if isinstance(entry, Mapping) else (entry, None)
        )
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ParameterError(f"{where} contains {entry!r:.60}; give texts, numbers, or value and label.")
        if label is not None and not isinstance(label, str):
            raise ParameterError(f"{where} has the label {label!r:.60}; it must be text.")
        levels.append((level_text(value), label))
    values = [value for value, _ in levels]
    if len(set(values)) < len(values):
        raise ParameterError(f"{where} contains {next(v for v in values if values.count(v) > 1)!r} twice.")
    return tuple(levels)


def level_text(value: str | float) -> str:
    """A value of a recipe as text; 1 and 1.0 are both "1".

    Examples
    --------
    >>> level_text(-1), level_text(2.0), level_text(" red")
    ('-1', '2', 'red')
    """
    if isinstance(value, str):
        return value.strip()
    return str(int(value)) if float(value).is_integer() else repr(value)


def _levels_to_json(levels: Levels) -> list[Any]:
    return [value if label is None else {"value": value, "label": label} for value, label in levels]


def _rows(entries: object, source: str) -> tuple[int, ...]:
    if not isinstance(entries, list) or not all(type(row) is int and row > 0 for row in entries):
        raise ParameterError(
            f"{source}: catalpa.skipRows is {entries!r:.60}; it must be a list of line numbers from 1."
        )
    return tuple(entries)


def _names(entries: object, where: str) -> Sequence[str]:
    if not isinstance(entries, list | tuple) or not all(isinstance(name, str) for name in entries):
        raise ParameterError(f"{where} is {entries!r:.60}; it must be a list of texts.")
    return entries


def _object(entry: object, where: str) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise ParameterError(f"{where} is {entry!r:.60}; it must be an object with names and values.")
    return entry


def _known_keys(entry: Mapping[str, Any], keys: set[str], where: str) -> None:
    for key in entry:
        if key not in keys:
            close = get_close_matches(str(key), keys, 1)
            hint = f" Did you mean {close[0]!r}?" if close else f" Known keys: {', '.join(sorted(keys))}."
            raise ParameterError(f"{where} has the unknown key {key!r}.{hint}")


def _one_of(value: object, options: Sequence[str], where: str) -> None:
    if value not in options:
        close = get_close_matches(str(value), options, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ParameterError(f"{where} is {value!r:.60}; it can be {', '.join(options)}.{hint}")


def to_toml(document: Mapping[str, Any]) -> str:
    """Plain values as TOML.

    Examples
    --------
    >>> print(to_toml({"schema": {"fields": [{"name": "Age", "catalpa": {"role": "id"}}]}}), end="")
    [schema]
    <BLANKLINE>
    [[schema.fields]]
    name = "Age"
    catalpa = {role = "id"}
    """
    lines: list[str] = []
    _toml_table(document, "", lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _toml_table(table: Mapping[str, Any], path: str, lines: list[str]) -> None:
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    arrays = {
        key: value
        for key, value in table.items()
        if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value)
    }
    for key, value in table.items():
        if key not in inner and key not in arrays:
            lines.append(f"{_toml_key(key)} = {_toml_value(value)}")
    for key, value in inner.items():
        lines += ["", f"[{path}{_toml_key(key)}]"]
        _toml_table(value, f"{path}{_toml_key(key)}.", lines)
    for key, value in arrays.items():
        for one in value:
            lines += ["", f"[[{path}{_toml_key(key)}]]"]
            lines += [f"{_toml_key(name)} = {_toml_value(entry)}" for name, entry in one.items()]


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON writes texts as TOML does, but leaves the delete character as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _toml_key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _toml_value(key)
