"""Write how the time of a fit grows on the pages of the methods, from the stored measurements.

Run from the root of the repository::

    python tools/growth_pages.py

``benchmarks/growth.py`` makes the measurements, and prints these tables as its summary.
"""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from catalpa.lab.grids import Cell, Grid, to_markdown

PAGES = Path("docs/methods")
RESULTS = Path("results/growth.csv")
SHOWN = ("harr", "mcdc", "cure", "cdcdr", "disc")  # those whose growth is not the same in everything
BEGIN, END = "<!-- growth: made by tools/growth_pages.py -->\n", "\n<!-- end of growth -->"
BASE = {"rows": 10_000, "columns": 10, "clusters": 5, "categories": 5}
LAST = 3  # sizes that a power is taken from: small ones are the time that every fit takes
HEAD = ["doubled", "from", "to", "seconds", "passes", "power", "power of a pass"]


def growth_text(results: pd.DataFrame, method: str) -> str:
    """A table in Markdown: what grew from where to where, how long it took and by which power that grows.

    Parameters
    ----------
    results : pandas.DataFrame
        A row per fit with the columns method, varied, size, seconds and passes, sizes from small to large.
    method : str
        The method to show.
    """
    rows = []
    for varied, fits in results[results["method"] == method].groupby("varied", sort=False):
        first, last = fits.iloc[0], fits.iloc[-1]
        cells = [
            str(varied),
            _short(first["size"]),
            _short(last["size"]),
            f"{first['seconds']:.2g} to {last['seconds']:.2g}",
            f"{first['passes']:.0f} to {last['passes']:.0f}",
            f"{_power(fits, fits['seconds']):.1f}",
            f"{_power(fits, fits['seconds'] / fits['passes']):.1f}",
        ]
        rows.append([Cell(text) for text in cells])
    return to_markdown(Grid("growth", HEAD, rows))


def written(page: str, results: pd.DataFrame, method: str) -> str:
    """A page with its table made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + growth_text(results, method) + "\n" + END + after


def _power(fits: pd.DataFrame, seconds: pd.Series) -> float:
    """The slope from the first to the last of the largest sizes, both in logarithms."""
    size, took = fits["size"].iloc[-LAST:], seconds.iloc[-LAST:]
    grown = math.log(size.iloc[-1] / size.iloc[0])
    # Adding 0 makes a zero of minus zero.
    return round(math.log(took.iloc[-1] / took.iloc[0]) / grown, 1) + 0.0 if grown else math.nan


def _short(size: int) -> str:
    return f"{size:,}".replace(",", " ")


def main() -> None:
    """Write the pages."""
    results = pd.read_csv(RESULTS)
    for method in SHOWN:
        page = PAGES / f"{method}.md"
        page.write_text(written(page.read_text(encoding="utf-8"), results, method), encoding="utf-8")


if __name__ == "__main__":
    main()
