"""The published tables made from results: ours, printed, and the difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from catalpa.errors import ParameterError
from catalpa.lab.grids import Cell, Grid
from catalpa.lab.protocol import Entry, Protocol, Shown
from catalpa.lab.published import HIGHER_IS_BETTER, MEASURES, printed, printed_ranks, ranks_of, table_of

__all__ = ["Table", "table"]

TITLES = {
    "2": "Table 2: categorical tables",
    "3": "Table 3: DISC and its reductions",
    "4": "Table 4: tables with numbers",
}


@dataclass(frozen=True, eq=False)
class Table:
    """One measure of one published table.

    Attributes
    ----------
    number, measure : str
    cells : pandas.DataFrame
        One row per data set and column of the table: ``dataset``, ``label`` (of the printed column),
        ``variant``, ``column`` (both), ``ranked``, ``mean``, ``std``, ``low`` and ``high`` over seeds,
        ``runs``, ``failed``, ``clusters_left``, ``clusters_asked``, ``one_cluster`` (ACC of all rows in one
        cluster), ``printed``, ``printed_std``, ``difference`` and ``place`` (1 best, 2 second best).
    """

    number: str
    measure: str
    cells: pd.DataFrame

    @property
    def title(self) -> str:
        return f"{TITLES[self.number]}, {self.measure}"

    def ranks(self) -> pd.DataFrame:
        """Average ranks by label: ours over the ranked variants, and printed."""
        ranked = self.cells[self.cells["ranked"]]
        complete = table_of(ranked).dropna(how="all")
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
        once = self.cells.drop_duplicates(["dataset", "label"]).assign(column=lambda rows: rows["label"])
        places = _places(once, "printed", self.measure)
        shown = Table(self.number, self.measure, once.assign(place=places))
        return shown._grid("printed", lambda row: _with_spread(row["printed"], row["printed_std"]), "place")

    def differences(self) -> Grid:
        """Ours minus printed."""
        return self._grid("ours minus printed", lambda row: _signed(row["difference"]), None)

    def clusters(self) -> Grid:
        """Mean number of clusters left, of those asked for."""
        return self._grid(
            "clusters left of those asked for",
            lambda row: _fixed(row["clusters_left"], 1) + f" / {row['clusters_asked']}",
            None,
        )

    def spread(self) -> Grid:
        """Least and greatest value over seeds."""
        return self._grid(
            "from the worst seed to the best",
            lambda row: f"{_fixed(row['low'], 3)} to {_fixed(row['high'], 3)}" if row["runs"] else "",
            None,
        )

    def grids(self) -> list[Grid]:
        """Everything worth showing."""
        return [self.ours(), self.printed(), self.differences(), self.clusters(), self.spread()]

    def _grid(self, what: str, text: object, place: str | None) -> Grid:
        assert callable(text)
        datasets = list(self.cells["dataset"].unique())
        ranks = self.ranks() if place else pd.DataFrame()
        head = ["method", *datasets] + (["average rank"] if len(ranks) else [])
        rows = []
        for column, part in self.cells.groupby("column", sort=False):
            by_set = part.set_index("dataset")
            cells = [Cell(str(column))]
            for name in datasets:
                row = by_set.loc[name]
                cells.append(Cell(text(row), int(row[place]) if place else 0))
            if len(ranks):
                rank = ranks.get(what, pd.Series(dtype=float)).get(part["label"].iloc[0], float("nan"))
                shows = what == "printed" or bool(part["ranked"].iloc[0])
                cells.append(Cell(_fixed(rank, 2) if shows else ""))
            rows.append(cells)
        if what == "ours" and self.measure == "ACC":
            alone = self.cells.drop_duplicates("dataset").set_index("dataset")["one_cluster"]
            line = [Cell("all rows in one cluster"), *(Cell(_fixed(alone[name], 4)) for name in datasets)]
            rows.append(line + [Cell("")] * bool(len(ranks)))
        return Grid(f"{self.title}: {what}", head, rows)


def table(results: pd.DataFrame, protocol: Protocol, number: str, measure: str = "ACC") -> Table:
    """Make a published table from results.

    Parameters
    ----------
    results : pandas.DataFrame
        Rows of :func:`catalpa.lab.run`.
    protocol : Protocol
        That they were made with.
    number : {"2", "3", "4"}
    measure : str
        "ACC", "ARI" or "CMP"; Tables 3 and 4 print only ACC, so that other measures stand alone there.
    """
    if number not in TITLES:
        raise ParameterError(f"There is no table {number!r} to make. The tables are {', '.join(TITLES)}.")
    if measure not in HIGHER_IS_BETTER:
        raise ParameterError(
            f"measure={measure!r} is not known. The measures are {', '.join(HIGHER_IS_BETTER)}."
        )
    columns = protocol.shown_in(number)
    names = _column_names(columns)
    datasets = protocol.mixed if number == "4" else protocol.categorical
    parts = [
        _column(results, place, entry, datasets, measure).assign(column=name)
        for (place, entry), name in zip(columns, names, strict=True)
    ]
    cells = pd.concat(parts, ignore_index=True).merge(
        _printed(number, measure), on=["dataset", "label"], how="left"
    )
    cells["difference"] = cells["mean"] - cells["printed"]
    cells["place"] = _places(cells, "mean", measure)
    alone = results.groupby("dataset")["one_cluster"].max()
    return Table(number, measure, cells.assign(one_cluster=cells["dataset"].map(alone)))


def _column(
    results: pd.DataFrame, place: Shown, entry: Entry, datasets: tuple[str, ...], measure: str
) -> pd.DataFrame:
    mine = results[
        (results["method"] == entry.method)
        & (results["variant"] == entry.variant)
        & (results["columns"] == place.columns)
    ]
    found = (
        mine.groupby("dataset")
        .agg(
            mean=(measure, "mean"),
            std=(measure, lambda values: values.std(ddof=0)),
            low=(measure, "min"),
            high=(measure, "max"),
            runs=(measure, "count"),
            failed=("error", lambda errors: int((errors != "").sum())),
            clusters_left=("clusters_left", "mean"),
            clusters_asked=("clusters_asked", "max"),
        )
        .reindex(list(datasets))
        .rename_axis("dataset")
        .reset_index()
    )
    found["clusters_left"] = found["clusters_left"].astype("Float64").astype("float64")
    counts = ["runs", "failed", "clusters_asked"]
    found[counts] = found[counts].fillna(0).astype(int)
    return found.assign(label=place.label, variant=entry.variant, ranked=place.ranked)


def _printed(number: str, measure: str) -> pd.DataFrame:
    if measure not in MEASURES[number]:
        return pd.DataFrame(columns=["dataset", "label", "printed", "printed_std"])
    return printed(number, measure).rename(columns={"mean": "printed", "std": "printed_std"})


def _column_names(columns: list[tuple[Shown, Entry]]) -> list[str]:
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


def _with_spread(mean: float, std: float) -> str:
    if math.isnan(mean):
        return "-"
    return f"{mean:.4f}" if math.isnan(std) else f"{mean:.4f}±{std:.2f}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.3f}"


def _fixed(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
