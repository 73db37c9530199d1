"""Metadata of the data sets, read from ``registry.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Literal

from catalpa.errors import ParameterError

Variant = Literal["paper", "mixed"]
UCI = "https://archive.ics.uci.edu/"

_FOLDERS: Mapping[str, str] = {"paper": "paper", "mixed": "paper_mixed"}


@dataclass(frozen=True, kw_only=True)
class DownloadRecipe:
    """Layout of a published file, and the columns and rows to keep."""

    keep: Sequence[str]
    fields: Sequence[str] = ()
    header: int = 0
    delimiter: str = ","
    numbers: Sequence[str] = ()
    target: str = "class"
    complete: Sequence[str] = ()
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """One entry of the registry; ``columns`` is the number of categorical columns."""

    name: str
    alias: str
    title: str
    rows: int
    columns: int
    clusters: int
    description: str
    citation: str
    licence: str
    uci_id: int
    archive: str
    member: Sequence[str]
    sha256: Mapping[str, str]
    recipe: DownloadRecipe
    raw_sha256: str | None = None
    bundled_from: str | None = None

    @property
    def page(self) -> str:
        return f"{UCI}dataset/{self.uci_id}"


@cache
def registry() -> Mapping[str, DatasetInfo]:
    """All data sets by name, in the order of the file."""
    entries = tomllib.loads(files("catalpa.datasets").joinpath("registry.toml").read_text("utf-8"))
    return {
        name: DatasetInfo(name=name, recipe=DownloadRecipe(**entry.pop("recipe")), **entry)
        for name, entry in entries.items()
    }


def dataset_info(name_or_alias: str) -> DatasetInfo:
    """Metadata of one data set by its name or abbreviation, case-insensitive."""
    wanted = str(name_or_alias).casefold()
    by_key = {key.casefold(): facts for facts in registry().values() for key in (facts.name, facts.alias)}
    if wanted in by_key:
        return by_key[wanted]
    names = ", ".join(f"{facts.name} ({facts.alias})" for facts in registry().values())
    # Abbreviations of two letters are all close to each other.
    close = get_close_matches(wanted, [key for key in by_key if len(key) > 2], n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"There is no data set called {name_or_alias!r}.{hint} The data sets are {names}.")


def table_path(facts: DatasetInfo, variant: Variant) -> str:
    """Path of a variant relative to a data folder, without the optional ``.gz``."""
    if str(variant) not in _FOLDERS:
        raise ParameterError(f"variant={variant!r} is not known. Use 'paper' (categories only) or 'mixed'.")
    if variant not in facts.sha256:
        mixed = ", ".join(other.name for other in registry().values() if "mixed" in other.sha256)
        raise ParameterError(
            f"{facts.name} has no variant with numeric columns. Leave variant out, or load one of {mixed}."
        )
    return f"{_FOLDERS[variant]}/{facts.alias}.csv"
