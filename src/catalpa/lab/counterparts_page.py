"""The page of the counterparts in Markdown, made from stored runs alone."""

from __future__ import annotations

from importlib.resources import files
from string import Template

import pandas as pd

from catalpa.lab.counterparts import (
    MEASURES,
    cells,
    printed_scores,
    reproduced,
    same_rows_grid,
    scores,
)
from catalpa.lab.grids import Grid, folded, known, markdown, to_markdown
from catalpa.lab.significance import Significance, significance


def counterparts_page(rows: pd.DataFrame) -> str:
    """The page of the stored runs."""
    hits = reproduced(rows)
    template = files("catalpa.lab").joinpath("counterparts_template.md").read_text("utf-8")
    first, *others = (same_rows_grid(rows, measure) for measure in MEASURES)
    same = [f"**{first.title}**\n\n{to_markdown(first)}", *(_folded(grid) for grid in others)]
    return Template(template).substitute(
        hits=_counts(hits), misses=_misses(rows, hits), same="\n\n".join(same), tests=_tests(rows)
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


def _misses(rows: pd.DataFrame, hits: pd.DataFrame) -> str:
    """Ours and the difference from the print, of what does not come out."""
    found = {measure: cells(rows, "printed", measure).set_index(["label", "dataset"]) for measure in MEASURES}
    lines = []
    for label in hits.columns:
        own = hits[label].dropna().astype(bool)
        for dataset in own.index[~own]:
            at = [found[measure].loc[(label, dataset)] for measure in MEASURES]
            texts = [f"{cell['mean']:.4f} ({cell['mean'] - cell['printed']:+.4f})" for cell in at]
            lines.append([str(label), str(dataset), *texts])
    return markdown(["column", "data set", *MEASURES], lines)


def _tests(rows: pd.DataFrame) -> str:
    """Friedman's test, critical differences, and average ranks with p after Holm: ours and printed."""
    found: dict[str, Significance] = {}
    for measure in MEASURES:
        found[measure] = significance(scores(rows, measure), measure)
        found[f"{measure}, printed"] = significance(printed_scores(rows, measure), measure)
    tests = list(found.values())
    lines = [
        [
            "Friedman's chi-square (p)",
            *(_with_p(one.friedman.chi_square, one.friedman.chi_square_p_value) for one in tests),
        ],
        [
            "Iman and Davenport's F (p)",
            *(_with_p(one.friedman.f_statistic, one.friedman.f_p_value) for one in tests),
        ],
        ["critical difference, any two (Nemenyi)", *(f"{one.nemenyi:.2f}" for one in tests)],
        ["critical difference from DISC (Bonferroni-Dunn)", *(f"{one.bonferroni_dunn:.2f}" for one in tests)],
    ]
    adjusted = [{pair.second: pair.adjusted_p_value for pair in one.against_control} for one in tests]
    for method in tests[0].ranks:
        texts = [
            _with_p(one.ranks[method], own[method]) if method in own else known(one.ranks[method], ".2f")
            for one, own in zip(tests, adjusted, strict=True)
        ]
        lines.append([method, *texts])
    return markdown(["", *found], lines)


def _with_p(value: float, p: float) -> str:
    return f"{value:.2f} ({p:.2g})"


def _folded(grid: Grid) -> str:
    return folded(grid.title, to_markdown(grid))
