"""What is run: the methods with their variants, the data sets and the seeds, read from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from catalpa.datasets import list_datasets
from catalpa.errors import ParameterError
from catalpa.lab.journal import KEY

CATEGORICAL, MIXED = "categorical", "mixed"
PUBLISHED_STARTS = ("distinct", "randperm")  # of DISC, and of the methods it is compared with


@dataclass(frozen=True)
class PrintedPlace:
    """A place in a printed table."""

    # table, label: number of the table and name of its column.
    table: str
    label: str
    columns: str = CATEGORICAL  # the columns of the data used there
    ranked: bool = False  # whether this variant stands for its label when methods are ranked


@dataclass(frozen=True)
class Entry:
    """A method with its settings.

    Attributes
    ----------
    method : str
        Name in the registry, name of an entry point, or ``"package.module:Class"``.
    variant : str
        What tells these settings from others of the method.
    parameters : mapping
        Settings that are not the method's defaults.
    shown : tuple of PrintedPlace
    chance : bool
        Whether seeds can matter.
    start : str
        How the rows to start from are drawn as published: ``"distinct"`` or ``"randperm"``. The seed of a
        run is then its number among the published ones. Empty for the method's own start.
    twin : tuple of str, optional
        Method and variant that run the same from unpicked seeds.
    """

    method: str
    variant: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    shown: tuple[PrintedPlace, ...] = ()
    chance: bool = True
    start: str = ""
    twin: tuple[str, str] = ("", "")

    @property
    def columns(self) -> tuple[str, ...]:
        """The kinds of tables that it is run on."""
        # A method that no table shows is still run, on what every method takes.
        wanted = {place.columns for place in self.shown} or {CATEGORICAL}
        return tuple(kind for kind in (CATEGORICAL, MIXED) if kind in wanted)

    def starting_from(self, rows: pd.DataFrame) -> Entry:
        """The same entry from given rows."""
        return replace(self, parameters={**self.parameters, "init": rows})


@dataclass(frozen=True)
class PublishedStart:
    """A stream of draws that published runs start from."""

    kind: str  # one of PUBLISHED_STARTS
    seed: int  # of MATLAB's old generator
    runs: int  # that use up the stream


@dataclass(frozen=True)
class Job:
    """One run: a method and variant on a data set with a seed."""

    entry: Entry
    dataset: str
    columns: str
    seed: int
    start: PublishedStart | None = None  # the seed is then the number of the run

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        return self.entry.method, self.entry.variant, self.dataset, self.columns, self.seed

    @property
    def identity(self) -> dict[str, Any]:
        """The key by the names of the columns that hold it in the results."""
        return dict(zip(KEY, self.key, strict=True))


@dataclass(frozen=True)
class PublishedRuns:
    """Starts of the printed runs."""

    runs: int  # of every method on every data set, all from one stream of draws
    seeds: Mapping[str, int] = field(hash=False)  # of MATLAB's old generator, by data set
    counterparts: Mapping[str, int] = field(default_factory=dict, hash=False)  # where other methods differ
    methods: tuple[Entry, ...] = ()  # what is run from these starts

    def start(self, kind: str, dataset: str) -> PublishedStart | None:
        """Where the runs of an entry with this start begin on a data set; None without such a start."""
        if not kind:
            return None
        seed = self.seeds[dataset]
        if kind == "randperm":
            seed = self.counterparts.get(dataset, seed)
        return PublishedStart(kind, seed, self.runs)


@dataclass(frozen=True)
class Protocol:
    """Experiments as data.

    Examples
    --------
    >>> protocol = read_protocol()
    >>> protocol.seeds_on("CA"), protocol.seeds_on("BM")
    (50, 10)
    >>> small = protocol.restricted(methods=["kmodes"], datasets=["ZO"], repeats=2)
    >>> [job.key for job in small.jobs()]
    [('kmodes', 'paper', 'ZO', 'categorical', 0), ('kmodes', 'paper', 'ZO', 'categorical', 1)]
    """

    entries: tuple[Entry, ...]
    categorical: tuple[str, ...]
    mixed: tuple[str, ...]
    repeats: int
    quick_repeats: int
    fewer: Mapping[str, int] = field(hash=False)
    figures: Mapping[str, Any] = field(hash=False)
    as_published: PublishedRuns | None = None  # how the printed runs were started, where that is known

    def seeds_on(self, dataset: str) -> int:
        """How many seeds a method that depends on chance gets on a data set."""
        # On large tables the protocol has fewer seeds.
        return min(self.repeats, self.fewer.get(dataset, self.repeats))

    def jobs(self) -> Iterator[Job]:
        """Every run; the first seed of everything comes before the second of anything."""
        # An interrupted run then has something of everything, and means over few seeds.
        for seed in range(self.repeats):
            for columns, datasets in ((CATEGORICAL, self.categorical), (MIXED, self.mixed)):
                for dataset in datasets:
                    for entry in self.entries:
                        seeds = self.seeds_on(dataset) if entry.chance else 1
                        if columns in entry.columns and seed < seeds:
                            yield Job(entry, dataset, columns, seed, self._start(entry, dataset))

    def _start(self, entry: Entry, dataset: str) -> PublishedStart | None:
        return None if self.as_published is None else self.as_published.start(entry.start, dataset)

    def quick(self) -> Protocol:
        """Only the data sets that are bundled, and few seeds."""
        known = list_datasets()
        bundled = set(known.loc[known["bundled"], "alias"])
        return replace(
            self,
            categorical=tuple(name for name in self.categorical if name in bundled),
            mixed=(),
            repeats=self.quick_repeats,
        )

    def published(self) -> Protocol:
        """The printed runs instead: what is known of their starts, and as many runs as were made."""
        if self.as_published is None:
            raise ParameterError("The protocol has no part [as_published], so no published starts are known.")
        known = self.as_published
        return replace(
            self,
            entries=known.methods,
            categorical=tuple(name for name in self.categorical if name in known.seeds),
            mixed=(),
            repeats=known.runs,
            quick_repeats=known.runs,
            fewer={},
        )

    def restricted(
        self,
        *,
        methods: Sequence[str] | None = None,
        datasets: Sequence[str] | None = None,
        repeats: int | None = None,
    ) -> Protocol:
        """The part with these methods and data sets, and at most so many seeds; None keeps all."""
        _check_planned(methods, [entry.method for entry in self.entries], "methods")
        _check_planned(datasets, self.categorical, "datasets")
        return replace(
            self,
            entries=tuple(entry for entry in self.entries if methods is None or entry.method in methods),
            categorical=tuple(name for name in self.categorical if datasets is None or name in datasets),
            mixed=tuple(name for name in self.mixed if datasets is None or name in datasets),
            repeats=self.repeats if repeats is None else min(repeats, self.repeats),
        )

    def with_method(
        self, method: str, variant: str = "default", *, chance: bool = True, ranked: bool = False
    ) -> Protocol:
        """With one more method, a column of its own in every table; ranked in Table 2, if so, once."""
        places = [(entry.method, place) for entry in self.entries for place in entry.shown]
        name = method.rpartition(":")[2]
        # The name of a class is short enough for a heading, unless another column has it.
        label = method if name in {place.label for other, place in places if other != method} else name
        # A second variant of a method must not be ranked against the first.
        first = label not in {place.label for _, place in places}
        shown = (
            PrintedPlace("2", label, ranked=ranked and first),
            PrintedPlace("3", label),
            PrintedPlace("4", label, MIXED),
        )
        return replace(self, entries=(*self.entries, Entry(method, variant, shown=shown, chance=chance)))

    def including(self, results: pd.DataFrame) -> Protocol:
        """With every method that has results, also those that other packages brought.

        Such a method is ranked among the others once it has a result on every data set that they have one on.
        """
        known = {(entry.method, entry.variant) for entry in self.entries}
        scored = results[(results["error"] == "") & (results["columns"] == CATEGORICAL)]
        everywhere = set(scored["dataset"])
        protocol = self
        pairs = results[["method", "variant"]].drop_duplicates().itertuples(index=False, name=None)
        for method, variant in pairs:
            if (method, variant) not in known:
                rows = scored[(scored["method"] == method) & (scored["variant"] == variant)]
                protocol = protocol.with_method(method, variant, ranked=set(rows["dataset"]) == everywhere)
        return protocol

    def shown_in(self, table: str) -> list[tuple[PrintedPlace, Entry]]:
        """Columns of a table with what is run for them, in the order of the protocol."""
        return [(place, entry) for entry in self.entries for place in entry.shown if place.table == table]


def read_protocol(path: str | Path | None = None) -> Protocol:
    """Read a protocol, by default that of the published experiments."""
    source = files("catalpa.lab").joinpath("protocol.toml") if path is None else Path(path)
    name = "protocol.toml" if path is None else str(path)
    try:
        document = tomllib.loads(source.read_text("utf-8"))
        return Protocol(
            entries=_entries(document["methods"]),
            categorical=_names(document["data"]["categorical"], "categorical"),
            mixed=_names(document["data"].get("mixed", []), "mixed"),
            repeats=int(document["seeds"]["repeats"]),
            quick_repeats=int(document["seeds"].get("quick", 5)),
            fewer=document["seeds"].get("fewer", {}),
            figures=document.get("figures", {}),
            as_published=_published_runs(document.get("as_published")),
        )
    except OSError as error:
        raise ParameterError(f"The protocol {name!r} cannot be read: {error.strerror}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"The protocol {name!r} is no TOML file: {error}.") from error
    except KeyError as error:
        raise ParameterError(
            f"The protocol {name!r} lacks {error}. It needs [seeds] repeats, [data] categorical and "
            "[[methods]] with method and variant."
        ) from error


def _published_runs(table: Mapping[str, Any] | None) -> PublishedRuns | None:
    if table is None:
        return None
    _check_keys(table, PublishedRuns, "The part as_published")
    methods = _entries(table.get("methods", []))
    return PublishedRuns(int(table["runs"]), table["seeds"], table.get("counterparts", {}), methods)


def _names(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ParameterError(
        f'{key} = {value!r} in the protocol is not a list of data sets, such as ["ZO", "CV"].'
    )


def _entries(tables: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    entries = tuple(_entry(table) for table in tables)
    names = [(entry.method, entry.variant) for entry in entries]
    for method, variant in names:
        # Their runs would have the same key, and one would take the other's results for its own.
        if names.count((method, variant)) > 1:
            raise ParameterError(
                f"The protocol has the method {method!r} twice with the variant {variant!r}. Give each of "
                "its settings a variant of its own."
            )
    return entries


def _entry(table: Mapping[str, Any]) -> Entry:
    # A misspelt key would otherwise change nothing, in silence.
    _check_keys(table, Entry, "A method")
    for place in table.get("shown", ()):
        _check_keys(place, PrintedPlace, "A place where a method is shown")
        if not {"table", "label"} <= set(place):
            raise ParameterError(
                f"The method {table['method']!r} in the protocol is shown at {dict(place)}, which lacks a "
                'table or a label. Write shown = [{table = "2", label = "KMD"}].'
            )
    return Entry(
        method=table["method"],
        variant=table["variant"],
        parameters=table.get("parameters", {}),
        shown=tuple(PrintedPlace(**place) for place in table.get("shown", ())),
        chance=table.get("chance", True),
        start=_start(table.get("start", "")),
        twin=_twin(table.get("twin", ["", ""])),
    )


def _twin(names: Any) -> tuple[str, str]:
    if isinstance(names, list) and len(names) == 2 and all(isinstance(name, str) for name in names):
        return names[0], names[1]
    raise ParameterError(
        f'twin={names!r} in the protocol is not a method and variant: write ["disc", "program"].'
    )


def _start(name: str) -> str:
    if name not in ("", *PUBLISHED_STARTS):
        raise ParameterError(
            f"start={name!r} in the protocol is not known. It is one of {', '.join(PUBLISHED_STARTS)}, or "
            "left out."
        )
    return name


def _check_keys(
    table: Mapping[str, Any], kind: type[Entry | PrintedPlace | PublishedRuns], what: str
) -> None:
    allowed = {field.name for field in fields(kind)}
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise ParameterError(
            f"{what} in the protocol has the keys {unknown}, which mean nothing. "
            f"The keys are {', '.join(sorted(allowed))}."
        )


def _check_planned(wanted: Sequence[str] | None, names: Sequence[str], what: str) -> None:
    unknown = [one for one in wanted or () if one not in names]
    if unknown:
        raise ParameterError(
            f"{what}={unknown} are not in the protocol. It has {', '.join(dict.fromkeys(names))}."
        )
