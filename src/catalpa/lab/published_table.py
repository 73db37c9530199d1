"""The printed runs made again: printed, from the script's seeds, from unpicked seeds, and k-modes beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from catalpa.errors import ParameterError
from catalpa.lab.grids import Cell, Grid, known
from catalpa.lab.protocol import CATEGORICAL, Protocol
from catalpa.lab.published import HIGHER_IS_BETTER, printed
from catalpa.lab.tables import TITLES, with_spread

DIGITS = 4  # of a printed mean
Key: TypeAlias = tuple[str, str, str]  # method, variant, data set


class Mean(NamedTuple):
    """A measure over runs."""

    mean: float = math.nan
    std: float = math.nan
    runs: int = 0


@dataclass(frozen=True, eq=False)
class AsPublished:
    """One measure of one published table, run again from the published starts."""

    number: str
    measure: str
    # One row per printed column that is run again and data set: ``label``, ``variant``, ``dataset``,
    # ``printed``, ``printed_std``, ``script`` (mean over the runs from the script's seed), ``script_std``,
    # ``script_runs``, ``script_difference``, ``equal`` (to the last printed digit), ``unpicked`` (mean over
    # the seeds of the protocol), ``unpicked_std``, ``unpicked_runs``, ``unpicked_difference``, ``kmodes``
    # (mean of k-modes from the rows that the runs of ``script`` start from) and ``kmodes_difference`` (from
    # its printed mean, which has other starts).
    cells: pd.DataFrame

    def restricted(self, datasets: Sequence[str]) -> AsPublished:
        """The same of these data sets only."""
        return replace(self, cells=self.cells[self.cells["dataset"].isin(datasets)])

    def grids(self) -> list[Grid]:
        """A table for every printed column that is run again."""
        groups = self.cells.groupby(["label", "variant"], sort=False)
        return [self._grid(f"{label} ({variant})", part) for (label, variant), part in groups]

    def against_kmodes(self) -> list[Grid]:
        """The tables that have k-modes from the same rows beside them."""
        groups = self.cells.dropna(subset="kmodes").groupby(["label", "variant"], sort=False)
        return [self._grid(f"{label} ({variant})", part) for (label, variant), part in groups]

    def _grid(self, name: str, part: pd.DataFrame) -> Grid:
        beside = bool(part["kmodes"].notna().any())
        head = ["data set", "printed", "script's seed", "minus printed", "unpicked seeds", "minus printed"]
        rows = []
        for cell in _rows(part):
            texts = [
                with_spread(cell.printed, cell.printed_std),
                with_spread(cell.script, cell.script_std),
                known(cell.script_difference, "+.4f"),
                with_spread(cell.unpicked, cell.unpicked_std)
                + (f" ({cell.unpicked_runs})" if cell.unpicked_runs else ""),
                known(cell.unpicked_difference, "+.4f"),
            ]
            if beside:
                texts += [known(cell.kmodes, ".4f"), known(cell.kmodes_difference, "+.4f")]
            rows.append([Cell(cell.dataset), *map(Cell, texts)])
        title = f"{TITLES[self.number]}, {self.measure}, as published: {name}"
        return Grid(title, [*head, *["k-modes, same starts", "minus printed"] * beside], rows)


def as_published_table(
    published: pd.DataFrame,
    unpicked: pd.DataFrame | None,
    protocol: Protocol,
    number: str,
    measure: str = "ACC",
) -> AsPublished:
    """Put the runs from the script's seeds beside the print and the runs from unpicked seeds.

    Parameters
    ----------
    published : pandas.DataFrame
        Rows of ``protocol.published()``.
    unpicked : pandas.DataFrame or None
        Rows of ``protocol``.
    protocol : Protocol
    number : {"2", "3"}
    measure : {"ACC", "ARI", "CMP"}
        Table 3 prints ACC only.
    """
    if number not in ("2", "3"):
        raise ParameterError(
            f"Table {number!r} cannot be made as published: its starts are not known. Tables 2 and 3 can."
        )
    if measure not in HIGHER_IS_BETTER:
        raise ParameterError(
            f"measure={measure!r} is not known. The measures are {', '.join(HIGHER_IS_BETTER)}."
        )
    plan = protocol.published()
    there = {(row.dataset, row.label): (row.mean, row.std) for row in _rows(printed(number, measure))}
    ours = _means(published, measure)
    others = _means(unpicked, measure)
    kmodes = {
        entry.start: (place.label, entry)
        for place, entry in plan.shown_in(number)
        if entry.method == "kmodes"
    }
    rows = []
    for place, entry in plan.shown_in(number):
        beside = kmodes.get(entry.start)
        for dataset in plan.categorical:
            mean, std = there.get((dataset, place.label), (math.nan, math.nan))
            row = {
                "label": place.label,
                "variant": entry.variant,
                "dataset": dataset,
                "printed": mean,
                "printed_std": std,
                **_named("script", ours.get((entry.method, entry.variant, dataset), Mean()), mean),
                **_named("unpicked", others.get((*entry.twin, dataset), Mean()), mean),
                "kmodes": math.nan,
                "kmodes_difference": math.nan,
            }
            if beside is not None and beside[1] is not entry:
                label, other = beside
                row["kmodes"] = ours.get((other.method, other.variant, dataset), Mean()).mean
                there_too = there.get((dataset, label), (math.nan, math.nan))[0]
                row["kmodes_difference"] = round(row["kmodes"], DIGITS) - there_too
            rows.append(row)
    cells = pd.DataFrame(rows)
    cells["equal"] = cells["script_difference"].abs().round(DIGITS) == 0
    return AsPublished(number, measure, cells)


def _rows(frame: pd.DataFrame) -> list[Any]:
    return list(frame.itertuples())


def _means(rows: pd.DataFrame | None, measure: str) -> dict[Key, Mean]:
    if rows is None:
        return {}
    good = rows[(rows["error"] == "") & (rows["columns"] == CATEGORICAL)]
    means = {}
    for (method, variant, dataset), scores in good.groupby(["method", "variant", "dataset"])[measure]:
        # Over n - 1, as the printed deviations are.
        means[str(method), str(variant), str(dataset)] = Mean(
            float(scores.mean()), float(scores.std()), len(scores)
        )
    return means


def _named(name: str, mean: Mean, there: float) -> dict[str, float]:
    # Compared as they are printed.
    away = round(mean.mean, DIGITS) - there
    return {
        name: mean.mean,
        f"{name}_std": mean.std,
        f"{name}_runs": mean.runs,
        f"{name}_difference": away,
    }
