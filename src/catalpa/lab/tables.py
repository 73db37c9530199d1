"""The published tables made from results: ours, printed, and the difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from catalpa.errors import ParameterError
from catalpa.lab.grids import Cell, Grid
from catalpa.lab.protocol import Entry, PrintedPlace, Protocol
from catalpa.lab.published import HIGHER_IS_BETTER, MEASURES, printed, printed_ranks, ranks_of, table_of

LOPSIDED = 0.95  # a largest cluster with more of the rows than this leaves nothing to tell apart

TITLES = {
    "2": "Table 2: categorical tables",
    "3": "Table 3: DISC and its reductions",
    "4": "Table 4: tables with numbers",
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

    def ranks(self) -> pd.DataFrame:
        """Average ranks by label: ours over the ranked variants, and printed."""
        ranked = self.cells[self.cells["ranked"]]
        complete = table_of(ranked).dropna(how="all").dropna(axis=1, how="all")
        if complete.shape[0] < 2 or complete.shape[1] < 2:
            ours = pd.Series(dtype=float)
        else:
            ours = ranks_of(complete, self.measure)
        there = printed_ranks(self.number, self.measure)
        return pd.DataFrame({"ours": ours, "printed": there}).reindex(ranked["label"].unique())

    def ours(self) -> Grid:
        """Mean and deviation over seeds, with the average ranks of the ranked variants."""
        return self._grid("ours", lambda row: _with_spread(row["mean"], row["std"]), "place")

    def printed(self) -> Grid:
        """What was printed beside it."""
        once = self._in_print().drop_duplicates(["dataset", "label"])
        once = once.assign(column=once["label"])
        places = _places(once, "printed", self.measure)
        shown = PublishedTable(self.number, self.measure, once.assign(place=places))
        return shown._grid("printed", lambda row: _with_spread(row["printed"], row["printed_std"]), "place")

    def differences(self) -> Grid:
        """Ours minus printed."""
        beside = PublishedTable(self.number, self.measure, self._in_print())
        return beside._grid("ours minus printed", lambda row: _signed(row["difference"]))

    def clusters(self) -> Grid:
        """Mean number of clusters left, of those asked for."""
        return self._grid(
            "clusters left of those asked for",
            lambda row: (
                f"{_fixed(row['clusters_left'], 1)} / {row['clusters_asked']}" if row["runs"] else "-"
            ),
        )

    def shares(self) -> Grid:
        """Mean share of the rows that the largest cluster holds."""
        what = "share of the rows in the largest cluster"
        return self._grid(what, lambda row: _fixed(row["largest_share"], 2))

    def spread(self) -> Grid:
        """Least and greatest value over seeds."""
        return self._grid(
            "from the worst seed to the best",
            lambda row: f"{_fixed(row['low'], 3)} to {_fixed(row['high'], 3)}" if row["runs"] else "",
        )

    def grids(self) -> list[Grid]:
        """Everything worth showing."""
        ours = [self.ours(), self.printed(), self.differences()]
        return [*ours, self.clusters(), self.shares(), self.spread()]

    def _in_print(self) -> pd.DataFrame:
        """The cells of columns that the paper's table has; all of them where it has none."""
        there = self.cells["label"].isin(printed(self.number, "ACC")["label"])
        return self.cells[there] if there.any() else self.cells

    def _grid(self, what: str, text: Callable[[dict[Hashable, Any]], str], place: str | None = None) -> Grid:
        datasets = list(self.cells["dataset"].unique())
        ranks = self.ranks() if place else pd.DataFrame()
        head = ["method", *datasets] + (["average rank"] if len(ranks) else [])
        rows = []
        for column, part in self.cells.groupby("column", sort=False):
            records = part.to_dict("records")
            cells = [Cell(text(row), int(row[place]) if place else 0) for row in records]
            rank = [Cell(_rank_text(ranks, what, records[0]))] if len(ranks) else []
            rows.append([Cell(str(column)), *cells, *rank])
        if what == "ours" and self.measure == "ACC":
            # Of the measures only accuracy rewards a single cluster.
            alone = self.cells.drop_duplicates("dataset")["one_cluster"]
            line = [Cell("all rows in one cluster"), *(Cell(_fixed(share, 4)) for share in alone)]
            rows.append(line + [Cell("")] * bool(len(ranks)))
        return Grid(f"{self.title}: {what}", head, rows)


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
    columns = _in_printed_order(protocol.shown_in(number), number)
    datasets = protocol.mixed if number == "4" else protocol.categorical
    cells = (
        _places_to_fill(columns, datasets)
        .merge(_summary(results, measure), on=["method", "variant", "columns", "dataset"], how="left")
        .merge(_printed(number, measure), on=["dataset", "label"], how="left")
        .drop(columns=["method", "columns"])
    )
    counts = ["runs", "failed", "clusters_asked", "lopsided"]
    cells[counts] = cells[counts].fillna(0).astype(int)
    cells["difference"] = cells["mean"] - cells["printed"]
    cells["place"] = _places(cells, "mean", measure)
    # The same for every run of a data set; those that failed to read it have none.
    alone = results.groupby("dataset")["one_cluster"].max()
    return PublishedTable(number, measure, cells.assign(one_cluster=cells["dataset"].map(alone)))


def _places_to_fill(columns: list[tuple[PrintedPlace, Entry]], datasets: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (dataset, place.label, entry.variant, name, place.ranked, entry.method, place.columns)
            for (place, entry), name in zip(columns, _column_names(columns), strict=True)
            for dataset in datasets
        ],
        columns=["dataset", "label", "variant", "column", "ranked", "method", "columns"],
    ).astype({"ranked": bool})


def _summary(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean and spread over seeds of every method, variant and table."""
    rows = results.assign(
        failed=results["error"] != "",
        clusters_left=results["clusters_left"].astype("float64"),
        lopsided=results["largest_share"] > LOPSIDED,
    )
    groups = rows.groupby(["method", "variant", "columns", "dataset"])
    found = groups.agg(
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
    return found.assign(mean=found["mean"].round(12), std=groups[measure].std(ddof=0)).reset_index()


def _printed(number: str, measure: str) -> pd.DataFrame:
    if measure not in MEASURES[number]:
        return pd.DataFrame(columns=["dataset", "label", "printed", "printed_std"])
    return printed(number, measure).rename(columns={"mean": "printed", "std": "printed_std"})


def _in_printed_order(
    columns: list[tuple[PrintedPlace, Entry]], number: str
) -> list[tuple[PrintedPlace, Entry]]:
    """As the labels stand in the printed table, with those that are not printed after them."""
    labels = list(printed(number, "ACC")["label"].unique())
    places = {label: place for place, label in enumerate(labels)}
    # sorted is stable: variants of one label keep the order of the protocol.
    return sorted(columns, key=lambda column: places.get(column[0].label, len(labels)))


def _column_names(columns: list[tuple[PrintedPlace, Entry]]) -> list[str]:
    """The label where it has one variant, else label and variant."""
    labels = [place.label for place, _ in columns]
    return [
        place.label if labels.count(place.label) == 1 else f"{place.label}: {entry.variant}"
        for place, entry in columns
    ]


def _places(cells: pd.DataFrame, values: str, measure: str) -> pd.Series:
    """1 for the best mean of a data set, 2 for the second best, 0 for the others."""
    # Means are compared as they are shown.
    shown = cells[values].astype(float).round(4)
    places = shown.groupby(cells["dataset"]).rank(method="dense", ascending=not HIGHER_IS_BETTER[measure])
    return places.where(places <= 2, 0).fillna(0).astype(int)


def _rank_text(ranks: pd.DataFrame, what: str, row: dict[Hashable, Any]) -> str:
    """Average rank of a row's label, once per label: at the variant that stands for it."""
    shown = what == "printed" or row["ranked"]
    return _fixed(ranks[what].get(row["label"], float("nan")), 2) if shown else ""


def _with_spread(mean: float, std: float) -> str:
    if math.isnan(mean):
        return "-"
    return f"{mean:.4f}" if math.isnan(std) else f"{mean:.4f}±{std:.2f}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.3f}"


def _fixed(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
