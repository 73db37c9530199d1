"""The counterparts' printed columns again, and all methods from the same rows.

Every run is a line of a CSV file: which start (``"printed"`` or ``"same"``), the column, the data set, the
run and its measures. A run that has a line is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from catalpa import metrics
from catalpa.datasets import load
from catalpa.errors import CatalpaError, ParameterError
from catalpa.files import write_atomically
from catalpa.lab.as_published import category_order, coded
from catalpa.lab.grids import Cell, Grid, known
from catalpa.lab.protocol import Protocol, PublishedRuns
from catalpa.lab.published import HIGHER_IS_BETTER, printed, ranks_of
from catalpa.lab.readings import FROM_ROWS, PRINTED, TWICE, CodedTable, printed_starts, same_starts
from catalpa.table.blocks import IntArray

MEASURES = ("ACC", "ARI", "CMP")
KEY = ["start", "label", "dataset", "run"]
DIGITS = 6  # of stored measures
HALF_DIGIT = 0.5e-4 + 0.5e-6  # of a printed number, and what the rounding of stored measures leaves


@dataclass(frozen=True)
class CounterpartJob:
    """One column on one data set: all its runs from one stream of draws."""

    start: str
    label: str
    dataset: str


def planned(protocol: Protocol, labels: Sequence[str] | None = None) -> list[CounterpartJob]:
    """The printed columns from their own starts and every method from the same rows, by data set."""
    unknown = sorted(set(labels or ()) - set(FROM_ROWS))
    if unknown:
        raise ParameterError(f"No reading is known of {unknown}; there are {', '.join(FROM_ROWS)}.")
    return [
        CounterpartJob(start, label, dataset)
        for dataset in protocol.categorical
        for start, readings in (("printed", PRINTED), ("same", FROM_ROWS))
        for label in readings
        if labels is None or label in labels
    ]


def run_counterparts(
    protocol: Protocol,
    path: Path,
    *,
    labels: Sequence[str] | None = None,
    data_home: str | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Run what the file has no line of, and return all lines.

    Parameters
    ----------
    protocol : Protocol
        Its data sets, and how the printed runs were started.
    path : path
        The ``.csv`` file of runs.
    labels : sequence of str, optional
        Columns of the table, such as ``"KMD"``; by default all.
    data_home : path, optional
        Folder of data sets, as in :func:`catalpa.datasets.load`.
    watch : callable, optional
        Called after every job with how many are done and how many there are.
    """
    published = protocol.as_published
    if published is None:
        raise ParameterError("The protocol does not say how the printed runs were started (as_published).")
    rows = read_counterparts(path) if path.is_file() else pd.DataFrame(columns=KEY)
    done = set(rows[KEY[:3]].itertuples(index=False, name=None))
    jobs = planned(protocol, labels)
    tables: dict[str, tuple[CodedTable, IntArray, int]] = {}
    for at, job in enumerate(jobs, start=1):
        if (job.start, job.label, job.dataset) not in done:
            if job.dataset not in tables:
                tables = {
                    job.dataset: _coded_data(job.dataset, data_home)
                }  # one table at a time is in memory
            known = _same_as_printed(rows, job)
            lines = _runs(job, *tables[job.dataset], published) if known is None else known
            rows = pd.concat([rows, lines], ignore_index=True)
            write_atomically(path, rows.to_csv(index=False, lineterminator="\n").encode())
        if watch is not None:
            watch(at, len(jobs))
    ordered = _in_order(rows)
    if not ordered.equals(rows):
        write_atomically(path, ordered.to_csv(index=False, lineterminator="\n").encode())
    return ordered


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Lines by data set, start, column and run, so that the same runs are the same file."""
    place = {label: at for at, label in enumerate(FROM_ROWS)}
    order = (
        rows.assign(label=rows["label"].map(place)).sort_values(["dataset", "start", "label", "run"]).index
    )
    return rows.loc[order].reset_index(drop=True)


def _same_as_printed(rows: pd.DataFrame, job: CounterpartJob) -> pd.DataFrame | None:
    """The printed runs of a method that were started from the same rows, if they are there."""
    if job.start != "same" or job.label not in PRINTED or job.label in TWICE:
        return None
    printed_runs = rows[(rows[KEY[:3]] == ["printed", job.label, job.dataset]).all(axis=1)]
    return None if printed_runs.empty else printed_runs.assign(start="same")


def read_counterparts(path: Path) -> pd.DataFrame:
    """The stored runs."""
    try:
        rows = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise ParameterError(
            f"The runs of counterparts in {str(path)!r} cannot be read: {error}. Make them with: "
            "catalpa lab counterparts"
        ) from error
    unavailable = sorted({*KEY, *MEASURES} - set(rows.columns))
    if unavailable:
        raise ParameterError(f"{str(path)!r} has no columns {unavailable}: it holds no runs of counterparts.")
    return rows


def _coded_data(dataset: str, data_home: str | None) -> tuple[CodedTable, IntArray, int]:
    data = load(dataset, data_home=data_home)
    table = CodedTable(coded(data, category_order(dataset, data_home)))
    return table, np.asarray(data.target), data.n_clusters


def _runs(
    job: CounterpartJob, table: CodedTable, classes: IntArray, k: int, published: PublishedRuns
) -> pd.DataFrame:
    """One line per run; a method that is not defined on the table has lines without measures."""
    seed = published.counterparts.get(job.dataset, published.seeds[job.dataset])
    if job.start == "printed":
        reading, starts = PRINTED[job.label], printed_starts(job.label, table, k, seed, published.runs)
    else:
        reading, starts = FROM_ROWS[job.label], same_starts(table, k, seed, published.runs)
    lines = []
    for run, rows in enumerate(starts[:1] if job.label == "SigDT" else starts):
        try:
            labels = reading(table, rows)
        except CatalpaError:
            lines.append(dict(zip(KEY, (job.start, job.label, job.dataset, run), strict=True)))
            continue
        values = {
            "ACC": metrics.clustering_accuracy(classes, labels),
            "ARI": metrics.adjusted_rand(classes, labels),
            "CMP": metrics.compactness(table.frame, labels),  # the mean over clusters that hold rows
        }
        line = dict(zip(KEY, (job.start, job.label, job.dataset, run), strict=True))
        line |= {name: round(float(value), DIGITS) for name, value in values.items()}
        lines.append({**line, "clusters_asked": k, "clusters_left": len(np.unique(labels))})
    return pd.DataFrame(lines)


def cells(rows: pd.DataFrame, start: str, measure: str) -> pd.DataFrame:
    """Mean of the runs beside the printed value, one row per data set and column."""
    ours = rows[rows["start"] == start].groupby(["dataset", "label"], sort=False)[measure]
    table = ours.agg(["mean", "std", "count"]).reset_index()
    print_ = printed("2", measure).rename(columns={"mean": "printed", "std": "printed_std"})
    return table.merge(print_, on=["dataset", "label"], how="left")


def reproduced(rows: pd.DataFrame) -> pd.DataFrame:  # data sets down, columns across
    """True if ACC, ARI and CMP of the printed starts all round to the printed values; None without any."""
    wide = []
    for measure in MEASURES:
        table = cells(rows, "printed", measure)
        near = (table["mean"] - table["printed"]).abs() <= HALF_DIGIT
        table["hit"] = near.where(table["printed"].notna()).astype("boolean")
        wide.append(table.pivot(index="dataset", columns="label", values="hit"))
    hit = wide[0] & wide[1] & wide[2]
    there = [dataset for dataset in rows["dataset"].unique() if dataset in hit.index]
    return hit.reindex(index=there, columns=[label for label in PRINTED if label in hit.columns])


def scores(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Means of all methods from the same rows: data sets down, methods across."""
    wide = cells(rows, "same", measure).pivot(index="dataset", columns="label", values="mean")
    methods = [label for label in FROM_ROWS if label in wide.columns]
    return wide.reindex(index=list(rows["dataset"].unique()), columns=methods)


def printed_scores(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Printed means of the same data sets and methods."""
    ours = scores(rows, measure)
    theirs = printed("2", measure).pivot(index="dataset", columns="label", values="mean")
    return theirs.reindex(index=ours.index, columns=ours.columns)


def printed_grid(rows: pd.DataFrame, measure: str) -> Grid:
    """The printed columns again: ours, and the difference from the print where there is one."""
    table = cells(rows, "printed", measure)
    labels = [label for label in PRINTED if label in set(table["label"])]
    hits = reproduced(rows)
    lines = []
    for dataset in rows["dataset"].unique():
        of_dataset = table[table["dataset"] == dataset].set_index("label")
        lines.append(
            [
                dataset,
                *(_cell(of_dataset.loc[label]) if label in of_dataset.index else "" for label in labels),
            ]
        )
    counts = [f"{int(hits[label].sum())} of {int(hits[label].notna().sum())}" for label in labels]
    title = f"{measure} from the printed runs' starts (difference from the print, none where it is the same)"
    return _grid(title, ["data", *labels], [*lines, ["all three come out", *counts]])


def _grid(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> Grid:
    return Grid(title, head, [[Cell(text) for text in line] for line in lines])


def _cell(line: pd.Series) -> str:
    if pd.isna(line["printed"]):
        return "-" if pd.isna(line["mean"]) else f"{line['mean']:.4f} (-)"
    apart = line["mean"] - line["printed"]
    return f"{line['printed']:.4f}" if abs(apart) <= HALF_DIGIT else f"{line['mean']:.4f} ({apart:+.4f})"


def same_rows_grid(rows: pd.DataFrame, measure: str) -> Grid:
    """All methods from the same rows with their ranks, above the printed ranks of the same data sets."""
    ours, theirs = scores(rows, measure), printed_scores(rows, measure)
    lines = [[str(name), *(known(value, ".4f") for value in line)] for name, line in ours.iterrows()]
    for name, table in (("average rank", ours), ("average rank, printed", theirs)):
        lines.append([name, *(f"{rank:.2f}" for rank in ranks_of(table, measure))])
    best = "highest" if HIGHER_IS_BETTER[measure] else "lowest"
    title = f"{measure} of all methods from the same rows ({best} is best)"
    return _grid(title, ["data", *ours.columns], lines)
