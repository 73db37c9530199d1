"""The tables as they were printed, and how they agree with themselves."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pandas as pd

from catalpa.metrics import average_ranks

# Tables with their measures, as printed.
PRINTED_MEASURES = [("2", "ACC"), ("2", "ARI"), ("2", "CMP"), ("3", "ACC"), ("4", "ACC")]
HIGHER_IS_BETTER = {"ACC": True, "ARI": True, "NMI": True, "AMI": True, "CMP": False}
# The same method under the names that the ablation gives it.
SAME_METHOD = {"DISC-II": "KMD", "DISC": "DISC"}


def printed(table: str, measure: str) -> pd.DataFrame:
    """Printed means and deviations of a table, one row per data set and label; none of other measures."""
    if table == "2":
        rows = _read("table2.csv").rename(columns={"method": "label"})
        return rows.loc[rows["index"] == measure, ["dataset", "label", "mean", "std"]]
    if table == "3":
        wide = _read("table3_ablation.csv").rename(columns={"variant": "label"})
        long = wide.drop(columns="average_rank").melt("label", var_name="dataset", value_name="mean")
    else:
        long = _read("table4_mixed.csv").melt("dataset", var_name="label", value_name="mean")
    # These two print one measure only.
    there = long if measure == "ACC" else long.head(0)
    return there.assign(std=float("nan"))[["dataset", "label", "mean", "std"]]


def printed_ranks(table: str, measure: str) -> pd.Series:
    """Printed average ranks by label; empty where a table prints none for the measure."""
    if (table, measure) not in PRINTED_MEASURES or table == "4":
        return pd.Series(dtype=float)
    if table == "2":
        return _read("table2_average_ranks.csv").set_index("index").T[measure].astype(float)
    return _read("table3_ablation.csv").set_index("variant")["average_rank"].astype(float)


def table_of(cells: pd.DataFrame) -> pd.DataFrame:
    """Means with data sets down and methods across, both in the order of the rows."""
    wide = cells.pivot(index="dataset", columns="label", values="mean")
    return wide.reindex(index=cells["dataset"].unique(), columns=cells["label"].unique())


def ranks_of(scores: pd.DataFrame, measure: str) -> pd.Series:
    """Average rank of each column; ties share their mean rank, and missing scores rank last."""
    higher = HIGHER_IS_BETTER[measure]
    # As the paper ranks: a method without a result on a data set is last there.
    filled = scores.astype(float).fillna(float("-inf") if higher else float("inf"))
    return pd.Series(average_ranks(filled, higher_is_better=higher), index=scores.columns)


def contradictions() -> pd.DataFrame:
    """Means of the same method on the same data that the printed tables give differently."""
    main = printed("2", "ACC").rename(columns={"label": "method", "mean": "table 2"})
    parts = [printed(table, "ACC").assign(table=table) for table in ("3", "4")]
    others = pd.concat(parts).assign(method=lambda rows: rows["label"].map(SAME_METHOD))
    both = others.rename(columns={"mean": "other"}).merge(main, on=["dataset", "method"])
    # Exactly: both are copied from print.
    apart = both.loc[both["table 2"] != both["other"], ["dataset", "method", "table 2", "other", "table"]]
    return apart.sort_values(["table", "method"], ignore_index=True, kind="stable")


@cache
def _read(name: str) -> pd.DataFrame:
    with files("catalpa.lab").joinpath("published", name).open("rb") as stream:
        return pd.read_csv(stream)
