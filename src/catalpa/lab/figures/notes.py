"""What the stored data of the figures say, in words and tables for the page of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from catalpa.lab.figures.experiments import slopes
from catalpa.lab.figures.seeds import ranks_of_seeds
from catalpa.lab.grids import Cell, Grid, known, markdown, to_markdown
from catalpa.lab.protocol import read_protocol

# What the paper reports to be slower than DISC with many rows, and with many columns.
SLOWER = {
    "rows": ["HARR", "MCDC", "CDCDR", "CoForest"],
    "columns": ["HARR", "CURE", "CBDM", "SigDT", "CoForest"],
}


def figures_text(folder: Path, link: str) -> str:
    """A part of the page for each figure whose data are in ``folder``, in Markdown.

    ``folder`` has ``figure1.csv`` and so on, and the drawings beside them; ``link`` is the same folder as
    seen from the page.
    """
    parts = []
    for number, frame in stored_figures(folder).items():
        title, note = NOTES[number]
        parts.append(f"## Figure {number}: {title}")
        if (folder / f"figure{number}.svg").exists():
            parts.append(f"![Figure {number}: {title}]({link}/figure{number}.svg)")
        parts.append(note(frame))
    return "\n\n".join(parts)


def stored_figures(folder: Path) -> dict[int, pd.DataFrame]:
    """Data of the figures that are in a folder."""
    paths = {number: folder / f"figure{number}.csv" for number in NOTES}
    return {number: pd.read_csv(path) for number, path in paths.items() if path.exists()}


def _relations_note(frame: pd.DataFrame) -> str:
    accuracy = frame.groupby(["dataset", "strategy"], sort=False)["ACC"].agg(["median", "min", "max"])
    strategies = list(frame["strategy"].unique())
    rows = []
    winners = [f"{strategy} on {dataset}" for dataset, strategy in best_random(frame).items()]
    for dataset in frame["dataset"].unique():
        medians = accuracy.loc[dataset, "median"]
        cells = [
            Cell(f"{middle:.3f} ({low:.3f} to {high:.3f})", int(middle == medians.max()))
            for middle, low, high in (accuracy.loc[(dataset, strategy)] for strategy in strategies)
        ]
        rows.append([Cell(str(dataset)), *cells])
    table = to_markdown(Grid("relations", ["data set", *strategies], rows))
    return (
        "The paper finds that DISC outperforms the random strategies, Customized the other three, and "
        f"Uniform Weighted and Hamming. Here, over {frame['draw'].nunique()} draws, DISC (the program's "
        f"reading) has the highest median on {', '.join(leaders(frame)) or 'none'}. Among the random "
        f"strategies the highest median is that of {', '.join(winners)}. The paper does not state "
        "from which distribution relations and weights are drawn, nor how a centre is chosen under them; "
        "another choice may give another order.\n\n"
        f"Median (lowest to highest):\n\n{table}"
    )


def leaders(frame: pd.DataFrame) -> list[str]:
    """Data sets of Figure 1 on which DISC has the highest median."""
    medians = frame.groupby(["dataset", "strategy"])["ACC"].median().unstack()
    return [name for name in frame["dataset"].unique() if medians.loc[name].idxmax() == "DISC"]


def best_random(frame: pd.DataFrame) -> dict[str, str]:
    """The random strategy of Figure 1 with the highest median on each data set."""
    medians = frame.groupby(["dataset", "strategy"])["ACC"].median().unstack()
    random_only = medians.drop(columns="DISC", errors="ignore")
    return {name: str(random_only.loc[name].idxmax()) for name in frame["dataset"].unique()}


def _convergence_note(frame: pd.DataFrame) -> str:
    rows = []
    for (dataset, variant), part in frame.groupby(["dataset", "variant"], sort=False):
        learning = part[part["phase"] != "start"]
        # The first trees have no z before them: the start counts differing cells.
        again = learning["relearned"].astype(bool) & (learning["number"] > learning["number"].min())
        higher = int((again & (learning["cost"].diff() > 0)).sum())
        texts = dataset, variant, len(part) - len(learning), len(learning), again.sum(), higher
        rows.append(list(map(str, texts)))
    head = [
        "data set",
        "reading",
        "iterations of the start",
        "iterations of DISC",
        "updates of the trees",
        "z higher afterwards",
    ]
    return (
        "The paper reports that z falls after every update of the trees, and that 20 iterations and 10 "
        "updates suffice. The k-modes start is not drawn: its objective, the number of differing cells, is "
        f"another one.\n\n{markdown(head, rows)}"
    )


def _seconds_note(frame: pd.DataFrame) -> str:
    growth = slopes(frame).set_index(["against", "method"])["slope"]
    kinds = [str(kind) for kind in frame["against"].unique()]
    # Seconds are shown at the largest size, where they matter.
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
            "implementations on one computer, not of the published programs. Below a second, fixed costs "
            "flatten the slopes. MCDC stops early above 50,000 rows, and Grove searches on 20,000 rows of a "
            "larger table: their slopes are not those of a single iteration.",
            _slower(frame),
            markdown(head, rows),
            *(["\n".join(gaps)] if gaps else []),
        ]
    )


def slower_than_disc(frame: pd.DataFrame) -> dict[str, tuple[list[str], list[str]]]:
    """Of the methods that the paper reports to be slower: those that are so at the largest size, and not."""
    by_setting = {}
    for against, names in SLOWER.items():
        part = frame[frame["against"] == against]
        seconds = part[part[against] == part[against].max()].set_index("method")["seconds"].to_dict()
        there = [name for name in names if name in seconds and "DISC" in seconds]
        slower = [name for name in there if seconds[name] > seconds["DISC"]]
        by_setting[against] = slower, [name for name in there if name not in slower]
    return by_setting


def _slower(frame: pd.DataFrame) -> str:
    sentences = []
    for against, (slower, others) in slower_than_disc(frame).items():
        sentence = (
            f"Of the methods that the paper reports to be slower than DISC with many {against} "
            f"({', '.join(SLOWER[against])}), {len(slower)} of {len(slower) + len(others)} are slower here"
        )
        sentences.append(f"{sentence}; not {', '.join(others)}." if others else f"{sentence}.")
    return " ".join(sentences)


def _embedding_note(frame: pd.DataFrame) -> str:
    methods = ", ".join(map(str, frame["method"].unique()))
    numbers = frame.drop_duplicates("method")[["method", "neighbour", "silhouette"]]
    rows = [[name, f"{near:.3f}", f"{width:.3f}"] for name, near, width in numbers.to_numpy().tolist()]
    best = best_separated(frame)
    head = ["method", "1-NN accuracy", "silhouette"]
    return (
        f"Rows placed by t-SNE of the distances that {methods} learned; colours are the known classes. "
        "Relations that differ between clusters are averaged with the clusters' sizes. The coordinates "
        "depend on the seed of t-SNE and on the machine, and distances between groups mean little: read the "
        "numbers. They are computed from the distances themselves: the share of rows whose nearest other "
        "row is of their class, and the mean silhouette width of the classes. The paper reports that DISC "
        f"discriminates best; here {best['neighbour']} has the highest 1-NN accuracy and "
        f"{best['silhouette']} the widest silhouette.\n\n{markdown(head, rows)}"
    )


def best_separated(frame: pd.DataFrame) -> dict[str, str]:
    """The method of Figure 4 with the highest 1-NN accuracy, and with the widest silhouette."""
    numbers = frame.drop_duplicates("method").set_index("method")
    return {measure: str(numbers[measure].idxmax()) for measure in ("neighbour", "silhouette")}


def _seeds_note(frame: pd.DataFrame) -> str:
    known = read_protocol().as_published
    assert known is not None
    places = ranks_of_seeds(frame, known.seeds)
    rows = []
    for dataset in frame["dataset"].unique():
        by_method = places[places["dataset"] == dataset].set_index("method").to_dict("index")
        disc, modes = by_method["DISC"], by_method["KMD"]
        means = [f"{disc[name]:.4f}" for name in ("mean", "low", "high", "script", "printed")]
        rank = f"{disc['rank']}" + (f" ({disc['tied']} tied)" if disc["tied"] > 1 else "")
        beside = [f"{modes['mean']:.4f}", f"{modes['script']:.4f}", f"{modes['rank']}"]
        rows.append([str(dataset), str(disc["seeds"]), str(disc["seed"]), *means, rank, *beside])
    head = [
        "data set",
        "seeds",
        "script's seed",
        "mean over seeds",
        "lowest",
        "highest",
        "script's",
        "printed",
    ]
    head += ["rank", "k-modes: mean", "script's", "rank"]
    most, fewest = int(places["seeds"].max()), int(places["seeds"].min())
    return (
        "This figure is not in the paper. Each seed gives a mean ACC of ten runs of the published program, "
        f"from starts drawn as its script draws them. The seeds are 1, 2, 3, ... up to {most}, on some data "
        f"sets fewer (at least {fewest}; the table has the numbers), and the script's seed. Rank 1 is the "
        "highest mean. k-modes runs from the very same rows."
        f"\n\n{markdown(head, rows)}"
    )


NOTES: Mapping[int, tuple[str, Callable[[pd.DataFrame], str]]] = {
    1: ("k-modes with random relations, and DISC", _relations_note),
    2: ("objective of DISC after every iteration", _convergence_note),
    3: ("seconds of one fit", _seconds_note),
    4: ("rows by learned distances", _embedding_note),
    5: ("the script's seed among others", _seeds_note),
}
