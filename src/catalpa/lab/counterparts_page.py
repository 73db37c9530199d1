"""The page of the counterparts in Markdown, made from stored runs alone."""

from __future__ import annotations

from importlib.resources import files
from string import Template

import pandas as pd

from catalpa.lab.counterparts import (
    MEASURES,
    printed_grid,
    printed_scores,
    reproduced,
    same_rows_grid,
    scores,
)
from catalpa.lab.grids import Grid, markdown, to_markdown
from catalpa.lab.significance import significance, tests_text


def counterparts_page(rows: pd.DataFrame) -> str:
    """The page of the stored runs."""
    same = []
    for measure in MEASURES:
        same.append(_titled(same_rows_grid(rows, measure)))
        ours, theirs = scores(rows, measure), printed_scores(rows, measure)
        same.append(tests_text(significance(ours, measure)))
        same.append(f"The same tests on the printed {measure}:")
        same.append(tests_text(significance(theirs, measure)))
    template = files("catalpa.lab").joinpath("counterparts_template.md").read_text("utf-8")
    return Template(template).substitute(
        hits=_counts(reproduced(rows)),
        printed="\n\n".join(_titled(printed_grid(rows, measure)) for measure in MEASURES),
        same="\n\n".join(part.strip() for part in same),
    )


def _counts(hits: pd.DataFrame) -> str:
    """How many data sets of each column come out, and which do not."""
    lines = []
    for label in hits.columns:
        matches = hits[label].dropna().astype(bool)
        lines.append(
            [str(label), f"{matches.sum()} of {len(matches)}", ", ".join(matches.index[~matches]) or "-"]
        )
    return markdown(["column", "data sets that come out", "that do not"], lines)


def _titled(grid: Grid) -> str:
    return f"**{grid.title}**\n\n{to_markdown(grid)}"
