"""Write the table of starts on the page about DISC from the stored results.

Run from the root of the repository::

    python tools/write_starts.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from catalpa.lab.grids import Cell, Grid, to_markdown
from catalpa.lab.journal import read_results
from catalpa.lab.protocol import read_protocol
from catalpa.lab.tables import LOPSIDED

PAGE = Path("docs/methods/disc.md")
RESULTS = Path("results/protocol.parquet")
BEGIN, END = "<!-- starts: made by tools/write_starts.py -->\n", "\n<!-- end of starts -->"
SHOWN = {"equations": ("disc", "equations"), "program": ("disc", "program")}


def written(page: str) -> str:
    """The page with the table made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = starts_text(read_results(RESULTS), SHOWN, read_protocol().categorical)
    return before + BEGIN + "\n" + table + "\n" + END + after


def starts_text(results: pd.DataFrame, columns: Mapping[str, tuple[str, str]], order: tuple[str, ...]) -> str:
    """A table in Markdown: per data set and column the ARI from worst to best seed, and the runs that failed.

    Parameters
    ----------
    results : pandas.DataFrame
        Rows of :func:`catalpa.lab.run`.
    columns : mapping of str to (method, variant)
        What is shown, by its heading.
    order : tuple of str
        Data sets, in this order; the tables of categories only.
    """
    categories = results[results["columns"] == "categorical"]
    parts = {
        name: categories[(categories["method"] == method) & (categories["variant"] == variant)]
        for name, (method, variant) in columns.items()
    }
    rows = []
    for dataset in order:
        runs = {name: part[part["dataset"] == dataset] for name, part in parts.items()}
        cells = [dataset, str(max(map(len, runs.values())))]
        for part in runs.values():
            cells += _text(part)
        rows.append([Cell(text) for text in cells])
    told = [
        (f"{name}: ARI, mean (worst to best)", "fewer clusters", "one nearly holds all") for name in columns
    ]
    head = ["data set", "starts", *(text for three in told for text in three)]
    return to_markdown(Grid("starts", head, rows))


def _text(runs: pd.DataFrame) -> tuple[str, str, str]:
    score = runs["ARI"]
    lost = (runs["clusters_left"] < runs["clusters_asked"]).sum()
    swallowed = (runs["largest_share"] > LOPSIDED).sum()
    # Adding 0 makes a zero of minus zero.
    mean, worst, best = (round(float(one), 3) + 0.0 for one in (score.mean(), score.min(), score.max()))
    spread = f"{mean:.3f} ({worst:.3f} to {best:.3f})"
    return spread, str(int(lost)), str(int(swallowed))


def main() -> None:
    """Write the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
