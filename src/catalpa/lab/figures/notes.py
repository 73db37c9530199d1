"""What the stored data of the figures say, in words and tables for the page of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from catalpa.lab.figures.experiments import slopes
from catalpa.lab.grids import Cell, Grid, known, markdown, to_markdown


def figures_text(folder: Path, link: str) -> str:
    """A part of the page for each figure whose data are in ``folder``, in Markdown.

    ``folder`` has ``figure1.csv`` and so on, and the drawings beside them; ``link`` is the same folder as
    seen from the page.
    """
    parts = []
    for number, (title, note) in NOTES.items():
        data = folder / f"figure{number}.csv"
        if data.exists():
            parts.append(f"## Figure {number}: {title}")
            if data.with_suffix(".svg").exists():
                parts.append(f"![Figure {number}: {title}]({link}/figure{number}.svg)")
            parts.append(note(pd.read_csv(data)))
    return "\n\n".join(parts)


def _relations_note(frame: pd.DataFrame) -> str:
    found = frame.groupby(["dataset", "strategy"], sort=False)["ACC"].agg(["median", "min", "max"])
    strategies = list(frame["strategy"].unique())
    rows, winners = [], []
    for dataset in frame["dataset"].unique():
        medians = found.loc[dataset, "median"]
        winners.append(f"{medians.idxmax()} on {dataset}")
        cells = [
            Cell(f"{middle:.3f} ({low:.3f} to {high:.3f})", int(middle == medians.max()))
            for middle, low, high in (found.loc[(dataset, strategy)] for strategy in strategies)
        ]
        rows.append([Cell(str(dataset)), *cells])
    table = to_markdown(Grid("relations", ["data set", *strategies], rows))
    return (
        "The paper finds that Customized outperforms the others, and Uniform outperforms Weighted and "
        f"Hamming. The highest median of ACC over {frame['draw'].nunique()} draws here: "
        f"{', '.join(winners)}. From which distribution relations and weights are drawn, and how a centre is "
        "chosen under them, is not published; another choice may give another order.\n\n"
        f"Median (lowest to highest):\n\n{table}"
    )


def _convergence_note(frame: pd.DataFrame) -> str:
    rows = []
    for (dataset, variant), part in frame.groupby(["dataset", "variant"], sort=False):
        relearned = part["relearned"].astype(bool)
        # The paper's claim is about updates of the trees, not about the passes between them.
        higher = int((relearned & (part["cost"].diff() > 0)).sum())
        rows.append(list(map(str, (dataset, variant, len(part), relearned.sum(), higher))))
    head = ["data set", "reading", "passes", "relations made anew", "z higher after that"]
    return (
        "The paper says that z falls after every update of the trees, and that 20 iterations and 10 updates "
        f"suffice.\n\n{markdown(head, rows)}"
    )


def _seconds_note(frame: pd.DataFrame) -> str:
    growth = slopes(frame).set_index(["against", "method"])["slope"]
    kinds = [str(kind) for kind in frame["against"].unique()]
    # Seconds are told at the largest size, where they matter.
    sizes = {kind: int(frame.loc[frame["against"] == kind, kind].max()) for kind in kinds}
    rows = []
    for method in frame["method"].unique():
        cells = [str(method)]
        for against, size in sizes.items():
            at = frame[(frame["against"] == against) & (frame["method"] == method) & (frame[against] == size)]
            slope = growth.get((against, method), math.nan)
            cells += [known(at["seconds"].min(), ".2f"), known(slope, ".2f")]
        rows.append(cells)
    columns = [(f"seconds at {size:,} {against}", f"slope in {against}") for against, size in sizes.items()]
    head = ["method", *(name for pair in columns for name in pair)]
    gaps = [
        f"- {row.method}, {row.rows:,} rows and {row.columns:,} columns: {row.error}"
        for row in frame[frame["seconds"].isna()].itertuples()
    ]
    return "\n\n".join(
        [
            "The paper says that the time of DISC grows linearly with rows and with columns. Slopes are "
            "exponents: 1 is linear growth, 2 growth with the square. Seconds are those of one fit of our "
            "implementations on one computer, and say nothing of the published programs. Below a second, "
            "what every fit does once flattens the slopes. MCDC is cut short above 50,000 rows, and Grove "
            "searches on 20,000 rows of a larger table, then passes over all of them: theirs are no growth "
            "of a single pass.",
            markdown(head, rows),
            *(["\n".join(gaps)] if gaps else []),
        ]
    )


def _embedding_note(frame: pd.DataFrame) -> str:
    methods = ", ".join(map(str, frame["method"].unique()))
    return (
        f"Rows placed by t-SNE of the distances that {methods} learned; colours are the known classes. "
        "Relations that differ between clusters are averaged with the clusters' sizes. The places depend on "
        "the seed of t-SNE, and distances between groups mean little."
    )


NOTES: Mapping[int, tuple[str, Callable[[pd.DataFrame], str]]] = {
    1: ("k-modes with relations drawn at random", _relations_note),
    2: ("cost of every pass of DISC", _convergence_note),
    3: ("seconds of one fit", _seconds_note),
    4: ("rows by learned distances", _embedding_note),
}
