"""What is known about each data set, read from ``registry.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from catalpa.errors import ParameterError

Variant = Literal["paper", "mixed"]

_FOLDERS: Mapping[str, str] = {"paper": "paper", "mixed": "paper_mixed"}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One entry of the registry; ``columns`` counts the categorical ones."""

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
    member: tuple[str, ...]
    sha256: Mapping[str, str]
    doi: str | None = None
    raw_sha256: str | None = None
    bundled_from: str | None = None

    @property
    def page(self) -> str:
        return f"https://archive.ics.uci.edu/dataset/{self.uci_id}"


@cache
def entries_of(file: str) -> Mapping[str, Mapping[str, Any]]:
    """The entries of a TOML file in this folder, lists as tuples."""
    read = tomllib.loads(files("catalpa.datasets").joinpath(file).read_text("utf-8"))
    return {
        name: {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        for name, entry in read.items()
    }


@cache
def registry() -> Mapping[str, Facts]:
    """Facts by name, in the order of the file."""
    return {name: Facts(name=name, **entry) for name, entry in entries_of("registry.toml").items()}


def facts_of(name_or_alias: str) -> Facts:
    """Facts about one data set, by its name or by its abbreviation, in any case."""
    wanted = str(name_or_alias).casefold()
    by_key = {key.casefold(): facts for facts in registry().values() for key in (facts.name, facts.alias)}
    if wanted in by_key:
        return by_key[wanted]
    names = ", ".join(f"{facts.name} ({facts.alias})" for facts in registry().values())
    # Abbreviations of two letters are all close to each other.
    close = get_close_matches(wanted, [key for key in by_key if len(key) > 2], n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"There is no data set called {name_or_alias!r}.{hint} The data sets are {names}.")


def table_path(facts: Facts, variant: Variant) -> str:
    """Where a variant lies below a data folder, without the optional ``.gz``."""
    if variant not in _FOLDERS:
        raise ParameterError(f"variant={variant!r} is not known. Use 'paper' (categories only) or 'mixed'.")
    if variant not in facts.sha256:
        mixed = ", ".join(other.name for other in registry().values() if "mixed" in other.sha256)
        raise ParameterError(
            f"{facts.name} has no variant with numeric columns. Leave variant out, or load one of {mixed}."
        )
    return f"{_FOLDERS[variant]}/{facts.alias}.csv"
