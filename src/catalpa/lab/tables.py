"""The published tables made from results: ours, printed, and the difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from catalpa.errors import ParameterError
from catalpa.lab.grids import Cell, Grid, known
from catalpa.lab.protocol import Protocol
from catalpa.lab.published import HIGHER_IS_BETTER, printed, printed_ranks, ranks_of, table_of

LOPSIDED = 0.95  # a largest cluster with more of the rows than this leaves nothing to tell apart

TITLES = {
    "2": "Table 2: categorical tables",
    "3": "Table 3: DISC and its reductions",
    "4": "Table 4: tables with numbers",
}
RANKS = ("ours", "printed")  # average ranks
# What a table can show of each of its cells, by the title of what is shown.
VIEWS: Mapping[str, Callable[[Any], str]] = {
    "ours": lambda cell: with_spread(cell.mean, cell.std),
    "printed": lambda cell: with_spread(cell.printed, cell.printed_std),
    "ours minus printed": lambda cell: known(cell.difference, "+.3f"),
    "clusters left of those asked for": lambda cell: (
        f"{known(cell.clusters_left, '.1f')} / {cell.clusters_asked}" if cell.runs else "-"
    ),
    "share of the rows in the largest cluster": lambda cell: known(cell.largest_share, ".2f"),
    "from the worst seed to the best": lambda cell: (
        f"{known(cell.low, '.3f')} to {known(cell.high, '.3f')}" if cell.runs else ""
    ),
}


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """One measure of one published table."""

    number: str
    measure: str
    # One row per data set and column of the table: ``dataset``, ``label`` (of the printed column),
    # ``variant``, ``column`` (both), ``ranked``, ``mean``, ``std``, ``low`` and ``high`` over seeds,
    # ``runs``, ``failed``, ``clusters_left``, ``clusters_asked``, ``largest_share`` (of the rows, in the
    # largest cluster), ``lopsided`` (runs where it is more than LOPSIDED), ``one_cluster`` (ACC of all rows
    # in one cluster), ``printed``, ``printed_std``, ``difference`` and ``place`` (1 best, 2 second best).
    cells: pd.DataFrame

    @property
    def title(self) -> str:
        return f"{TITLES[self.number]}, {self.measure}"

    def scores(self) -> pd.DataFrame:
        """Our means of the ranked variants, data sets down and methods across."""
        return table_of(self.cells[self.cells["ranked"]])

    def ranks(self) -> pd.DataFrame:
        """Average ranks by label: ours over the ranked variants, and printed."""
        scores = self.scores()
        complete = scores.dropna(how="all").dropna(axis=1, how="all")
        ours = ranks_of(complete, self.measure) if min(complete.shape) > 1 else pd.Series(dtype=float)
        there = printed_ranks(self.number, self.measure)
        return pd.DataFrame({"ours": ours, "printed": there}).reindex(scores.columns)

    def grids(self) -> list[Grid]:
        """Everything worth showing."""
        return [self.grid(view) for view in VIEWS]

    def grid(self, view: str) -> Grid:
        """One of VIEWS, a line for every method; means with the places and average ranks of methods."""
        shown = replace(self, cells=self._cells_of(view))
        marked = view in ("ours", "printed")
        ranks = shown.ranks()[view] if marked else pd.Series(dtype=float)
        rows = []
        for column, part in shown.cells.groupby("column", sort=False):
            cells: list[Any] = list(part.itertuples())
            line = [Cell(VIEWS[view](cell), cell.place if marked else 0) for cell in cells]
            if len(ranks):
                # Once per label: at the variant that stands for it.
                stands = view == "printed" or cells[0].ranked
                rank = ranks.get(cells[0].label, math.nan)
                line.append(Cell(known(rank, ".2f") if stands else ""))
            rows.append([Cell(str(column)), *line])
        if view == "ours" and self.measure == "ACC":
            rows.append(self._alone(bool(len(ranks))))
        head = ["method", *shown.cells["dataset"].unique(), *["average rank"] * bool(len(ranks))]
        return Grid(f"{self.title}: {view}", head, rows)

    def side_by_side(self) -> Grid:
        """Ours, the difference from the print in brackets, and both average ranks if there are ranks."""
        ranks = self.ranks()
        ranked = bool(ranks.notna().any(axis=None))
        rows = []
        for column, part in self.cells.groupby("column", sort=False):
            cells: list[Any] = list(part.itertuples())
            line = [Cell(_beside_print(cell), cell.place) for cell in cells]
            if ranked:
                # Once per label: at the variant that stands for it.
                own = ranks.loc[cells[0].label] if cells[0].ranked else None
                line += [Cell("" if own is None else known(own[name], ".2f")) for name in RANKS]
            rows.append([Cell(str(column)), *line])
        if self.measure == "ACC":
            rows.append(self._alone(len(RANKS) * ranked))
        head = ["method", *self.cells["dataset"].unique(), *["rank", "printed rank"] * ranked]
        return Grid(self.title, head, rows)

    def _alone(self, blanks: int) -> list[Cell]:
        """ACC of all rows in one cluster: of the measures only accuracy rewards that."""
        shares = self.cells.drop_duplicates("dataset")["one_cluster"]
        line = [Cell("all rows in one cluster"), *(Cell(known(share, ".4f")) for share in shares)]
        return line + [Cell("")] * blanks

    def _cells_of(self, view: str) -> pd.DataFrame:
        """Beside the print the columns that the paper's table has, if any; in print each label once."""
        there = self.cells["label"].isin(printed(self.number, "ACC")["label"])
        cells = self.cells[there] if "printed" in view and there.any() else self.cells
        if view == "printed":
            cells = cells.drop_duplicates(["dataset", "label"])
            cells = cells.assign(column=cells["label"], place=_places(cells, "printed", self.measure))
        return cells


def table(results: pd.DataFrame, protocol: Protocol, number: str, measure: str = "ACC") -> PublishedTable:
    """Make a published table from results.

    ``results`` are rows of :func:`catalpa.lab.run`, made with ``protocol``; ``number`` is "2", "3" or "4" and
    ``measure`` "ACC", "ARI" or "CMP". Tables 3 and 4 print only ACC, so that other measures stand alone
    there.
    """
    if number not in TITLES:
        raise ParameterError(f"There is no table {number!r} to make. The tables are {', '.join(TITLES)}.")
    if measure not in HIGHER_IS_BETTER:
        raise ParameterError(
            f"measure={measure!r} is not known. The measures are {', '.join(HIGHER_IS_BETTER)}."
        )
    there = printed(number, measure).rename(columns={"mean": "printed", "std": "printed_std"})
    cells = (
        _empty_cells(protocol, number)
        .merge(_summary(results, measure), on=["method", "variant", "columns", "dataset"], how="left")
        .merge(there, on=["dataset", "label"], how="left")
        .drop(columns=["method", "columns"])
    )
    counts = ["runs", "failed", "clusters_asked", "lopsided"]
    cells[counts] = cells[counts].fillna(0).astype(int)
    cells["difference"] = cells["mean"] - cells["printed"]
    cells["place"] = _places(cells, "mean", measure)
    # The same for every run of a data set; those that failed to read it have none.
    alone = results.groupby("dataset")["one_cluster"].max()
    return PublishedTable(number, measure, cells.assign(one_cluster=cells["dataset"].map(alone)))


def _empty_cells(protocol: Protocol, number: str) -> pd.DataFrame:
    """Every cell of a table, columns as they are printed and those that are not printed after them."""
    order = {label: at for at, label in enumerate(printed(number, "ACC")["label"].unique())}
    # sorted is stable: variants of one label keep the order of the protocol.
    shown = sorted(protocol.shown_in(number), key=lambda one: order.get(one[0].label, len(order)))
    variants = Counter(place.label for place, _ in shown)
    rows = []
    for place, entry in shown:
        name = place.label if variants[place.label] == 1 else f"{place.label}: {entry.variant}"
        for dataset in protocol.mixed if number == "4" else protocol.categorical:
            fields = place.label, entry.variant, name, place.ranked, entry.method, place.columns
            rows.append((dataset, *fields))
    head = ["dataset", "label", "variant", "column", "ranked", "method", "columns"]
    return pd.DataFrame(rows, columns=head).astype({"ranked": bool})


def _summary(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean and spread over seeds of every method, variant and table."""
    rows = results.assign(
        failed=results["error"] != "",
        clusters_left=results["clusters_left"].astype("float64"),
        lopsided=results["largest_share"] > LOPSIDED,
    )
    groups = rows.groupby(["method", "variant", "columns", "dataset"])
    summary = groups.agg(
        mean=(measure, "mean"),
        low=(measure, "min"),
        high=(measure, "max"),
        runs=(measure, "count"),
        failed=("failed", "sum"),
        clusters_left=("clusters_left", "mean"),
        clusters_asked=("clusters_asked", "max"),
        largest_share=("largest_share", "mean"),
        lopsided=("lopsided", "sum"),
    )
    # Sums of floating-point numbers differ in their last digits; methods that tie must tie in their ranks.
    return summary.assign(mean=summary["mean"].round(12), std=groups[measure].std(ddof=0)).reset_index()


def _places(cells: pd.DataFrame, values: str, measure: str) -> pd.Series:
    """1 for the best mean of a data set, 2 for the second best, 0 for the others."""
    # Means are compared as they are shown.
    shown = cells[values].astype(float).round(4)
    places = shown.groupby(cells["dataset"]).rank(method="dense", ascending=not HIGHER_IS_BETTER[measure])
    return places.where(places <= 2, 0).fillna(0).astype(int)


def _beside_print(cell: Any) -> str:
    """A mean with its deviation, and how far it is from the print if there is one."""
    apart = "" if math.isnan(cell.difference) else f" ({cell.difference:+.3f})"
    return with_spread(cell.mean, cell.std) + apart


def with_spread(mean: float, std: float) -> str:
    """A mean to four digits and its deviation to two."""
    return known(mean, ".4f") + ("" if math.isnan(mean) or math.isnan(std) else f"±{std:.2f}")
