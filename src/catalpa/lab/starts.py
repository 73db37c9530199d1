"""How much the start decides: the spread of a method over its seeds, and what it loses."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from catalpa.lab.grids import Cell, Grid, to_markdown
from catalpa.lab.tables import LOPSIDED

__all__ = ["starts_text"]


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

    Examples
    --------
    >>> row = {"method": "m", "variant": "v", "columns": "categorical", "dataset": "ZO", "ARI": 0.5}
    >>> row |= {"clusters_asked": 7, "clusters_left": 6, "largest_share": 0.4}
    >>> other = {**row, "ARI": 0.7, "clusters_left": 7}
    >>> print(starts_text(pd.DataFrame([row, other]), {"M": ("m", "v")}, ("ZO",)))
    | data set | starts | M: ARI, mean (worst to best) | fewer clusters | one nearly holds all |
    |---|--:|--:|--:|--:|
    | ZO | 2 | 0.600 (0.500 to 0.700) | 1 | 0 |
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
            cells += _told(part)
        rows.append([Cell(text) for text in cells])
    told = [
        (f"{name}: ARI, mean (worst to best)", "fewer clusters", "one nearly holds all") for name in columns
    ]
    head = ["data set", "starts", *(text for three in told for text in three)]
    return to_markdown(Grid("starts", head, rows))


def _told(runs: pd.DataFrame) -> tuple[str, str, str]:
    score = runs["ARI"]
    lost = (runs["clusters_left"] < runs["clusters_asked"]).sum()
    swallowed = (runs["largest_share"] > LOPSIDED).sum()
    # Adding 0 makes a zero of minus zero.
    mean, worst, best = (round(float(one), 3) + 0.0 for one in (score.mean(), score.min(), score.max()))
    spread = f"{mean:.3f} ({worst:.3f} to {best:.3f})"
    return spread, str(int(lost)), str(int(swallowed))
