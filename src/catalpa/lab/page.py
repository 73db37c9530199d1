"""The page of results: what reproduces, what does not, and why, all of it made from stored results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from string import Template
from typing import Any

import pandas as pd

from catalpa.lab.conclusions import StoredResults, mixed_gain, verdicts
from catalpa.lab.grids import folded, markdown, to_markdown
from catalpa.lab.protocol import Protocol
from catalpa.lab.published import PRINTED_MEASURES, contradictions, printed, printed_ranks, ranks_of, table_of
from catalpa.lab.published_table import as_published_table
from catalpa.lab.significance import significance, tests_text
from catalpa.lab.tables import LOPSIDED, PublishedTable, table

NEAR = 0.03  # a mean this far from the print, or within its deviation, counts as reproduced


def page(
    results: pd.DataFrame, protocol: Protocol, figures: str = "", stored: StoredResults | None = None
) -> str:
    """The page in Markdown.

    ``figures`` is what :func:`catalpa.lab.figures.notes.figures_text` says of the stored figures, ``stored``
    what else is kept.
    """
    stored = stored or StoredResults()
    # All of them once: several parts of the page ask for the same table.
    parts = {
        (number, measure): table(results, protocol, number, measure) for number, measure in PRINTED_MEASURES
    }
    accuracy, rand = parts["2", "ACC"], parts["2", "ARI"]
    template = Template(files("catalpa.lab").joinpath("results_template.md").read_text("utf-8"))
    return template.substitute(
        verdicts=verdicts(parts, results, protocol, stored),
        as_published=_as_published(results, protocol, stored),
        claims=_claims(stored),
        mixed=_mixed(parts["4", "ACC"]),
        runs=_runs(results),
        near=NEAR,
        reproduced=_reproduced(accuracy, rand),
        verdict=_verdict(accuracy),
        one_cluster=_one_cluster(accuracy),
        collapsed=_collapsed(accuracy),
        nearly_all=f"{LOPSIDED:.0%}",
        lopsided=_lopsided(accuracy),
        tables="\n\n".join(text for one in parts.values() if len(one.cells) for text in _section(one)),
        figures=figures or "## Figures\n\nNo data of figures are stored.",
        ranks=_printed_ranks(),
        contradictions=_contradictions(),
    )


def _as_published(results: pd.DataFrame, protocol: Protocol, stored: StoredResults) -> str:
    """The tables from the published starts, of every measure that was printed."""
    if stored.published is None:
        return (
            "No runs from the published starts are stored. Make them with: `catalpa lab run --as-published`"
        )
    first, *others = [
        grid
        for number, measure in PRINTED_MEASURES
        if number in ("2", "3")
        for grid in as_published_table(stored.published, results, protocol, number, measure).against_kmodes()
    ]
    parts = [f"**{first.title}**\n\n{to_markdown(first)}"]
    parts += [folded(grid.title, to_markdown(grid)) for grid in others]
    return "\n\n".join(parts)


def _claims(stored: StoredResults) -> str:
    """What the theorems claim, counted; a line per data set and reading."""
    if stored.claims is None:
        return "Nothing is stored. Count it with: `catalpa lab claims`"
    rows = []
    for (dataset, variant), part in stored.claims.groupby(["dataset", "variant"], sort=False):
        starts, sums = len(part), part.drop(columns=["dataset", "variant", "seed"]).sum()
        swaps = int((part["stops"] & ~part["literal_stops"]).sum())
        texts = [
            f"{sums['rises']} of {sums['relearnings']}",
            f"{starts - sums['stops']} of {starts}",
            f"{swaps} of {starts}",
            f"{sums['pairs_at_0']} of {sums['pairs']}",
            f"{sums['present_pairs_at_0']} of {sums['present_pairs']}",
        ]
        rows.append([str(dataset), str(variant), *texts])
    head = [
        "data set",
        "reading",
        "z rises",
        "cycles",
        "swaps names for ever",
        "pairs at 0",
        "of those that occur",
    ]
    return folded("By data set and reading", markdown(head, rows))


def _mixed(one: PublishedTable) -> str:
    """The claim about numbers, in a sentence."""
    gains = mixed_gain(one)
    if gains.empty:
        return "No runs on tables with numbers are stored."
    below = gains[gains["mean"] <= 0]
    lost = ", ".join(f"{name} by {-gain:.3f}" for name, gain in below["mean"].items())
    claim = "The paper prints that DISC gains by the numbers on all five data sets"
    remark = f"here, with the best setting of each, it loses ACC on {lost}" if lost else "here it does so too"
    return f"{claim} ({gains['printed'].min():.3f} to {gains['printed'].max():.3f} in ACC); {remark}."


def _section(one: PublishedTable) -> Iterator[str]:
    """A table, and the tests on Table 2."""
    yield folded(one.title, to_markdown(one.side_by_side()))
    if one.number == "2":
        scores = one.scores().dropna(axis=1, how="all")
        # Tests need two data sets on which every method has a score.
        if len(scores.dropna()) > 1:
            yield folded(
                f"Tests on our means of {one.measure}", tests_text(significance(scores, one.measure))
            )


def _runs(results: pd.DataFrame) -> str:
    failed = results[results["error"] != ""]
    versions = "; ".join(sorted(set(results["versions"]) - {""}))
    text = (
        f"{len(results):,} runs, {results['seconds'].sum() / 60:,.0f} minutes of computing, with {versions}. "
        f"{len(failed)} runs have no result"
    )
    groups = failed.groupby(["method", "error"], sort=False)["dataset"]
    reasons = [f"- {method} on {_listed(names)}: {error}" for (method, error), names in groups]
    return text + (":\n\n" + "\n".join(reasons) if reasons else ".")


def _reproduced(accuracy: PublishedTable, rand: PublishedTable) -> str:
    """Per column of Table 2, on how many data sets our means are near the printed ones."""
    rows = []
    for column, part in accuracy.cells.groupby("column", sort=False):
        other = rand.cells[rand.cells["column"] == column]
        # Methods that the paper does not have cannot be near its print.
        if part["printed"].notna().any():
            away = part["difference"]
            means = f"{away.abs().mean():.3f}", f"{away.mean():+.3f}"
            rows.append([str(column), _near(part), _near(other), *means])
    head = ["method", "ACC near", "ARI near", "mean distance of ACC", "mean difference of ACC"]
    return markdown(head, rows)


def _near(part: pd.DataFrame) -> str:
    known = part.dropna(subset=["difference"])
    # Tables 3 and 4 print no deviations.
    allowed = known["printed_std"].fillna(0).clip(lower=NEAR)
    # Means are compared as they are printed, to four digits.
    return f"{(known['difference'].abs().round(4) <= allowed).sum()} of {len(known)}"


def _verdict(accuracy: PublishedTable) -> str:
    cells = accuracy.cells[accuracy.cells["label"] == "DISC"]
    lines = []
    for variant, part in cells.dropna(subset=["difference"]).groupby("variant", sort=False):
        below, above = part["difference"] < -NEAR, part["difference"] > NEAR
        lines.append(
            f"- DISC, {variant}: mean ACC {part['mean'].mean():.3f} where {part['printed'].mean():.3f} is "
            f"printed; lower by more than {NEAR} on {_listed(part['dataset'][below])}, higher by more on "
            f"{_listed(part['dataset'][above])}."
        )
    return "\n".join(lines)


def _one_cluster(accuracy: PublishedTable) -> str:
    rows = []
    for dataset, part in accuracy.cells.groupby("dataset", sort=False):
        alone, ours, there = part["one_cluster"].iloc[0], part["mean"].max(), part["printed"].max()
        # Where the best of ours or of the print is no better than no clustering at all.
        if alone > min(ours, there):
            rows.append([str(dataset), f"{alone:.4f}", f"{ours:.4f}", f"{there:.4f}"])
    head = ["data set", "all rows in one cluster", "best of ours", "best printed"]
    return markdown(head, rows) if rows else "None."


def _collapsed(accuracy: PublishedTable) -> str:
    cells = accuracy.cells
    # Means are shown to one digit; SigDT is not asked for a number, so it cannot lose clusters.
    lost = cells[(cells["clusters_left"] < cells["clusters_asked"] - 0.05) & (cells["label"] != "SigDT")]
    return _by_column(lost, lambda row: f"{row.dataset} {row.clusters_left:.1f} of {row.clusters_asked}")


def _lopsided(accuracy: PublishedTable) -> str:
    cells = accuracy.cells[accuracy.cells["lopsided"] > 0]
    return _by_column(cells, lambda row: f"{row.dataset} {row.lopsided} of {row.runs}")


def _by_column(cells: pd.DataFrame, text: Callable[[Any], str]) -> str:
    """A line for every column of the table that has such cells."""
    lines = [
        f"- {column}: {', '.join(map(text, part.itertuples()))}"
        for column, part in cells.groupby("column", sort=False)
    ]
    return "\n".join(lines) or "Nowhere."


def _printed_ranks() -> str:
    """Average ranks recomputed from the printed means, beside the printed ranks."""
    rows = []
    for number, measure in PRINTED_MEASURES:
        there = printed_ranks(number, measure)
        again = ranks_of(table_of(printed(number, measure)), measure)
        for label in there.index:
            # Ranks are printed to two digits: half of the last one, and a little for floating point.
            if abs(there[label] - again[label]) > 0.0051:
                ranks = f"{there[label]:.2f}", f"{again[label]:.2f}"
                rows.append([f"Table {number}, {measure}", str(label), *ranks])
    return markdown(["table", "method", "printed rank", "from the printed means"], rows)


def _contradictions() -> str:
    rows = [
        (dataset, method, f"{main:.4f}", f"{other:.4f}", f"Table {number}")
        for dataset, method, main, other, number in contradictions().itertuples(index=False, name=None)
    ]
    return markdown(["data set", "method", "Table 2", "elsewhere", "where"], rows)


def _listed(names: Sequence[str] | pd.Series) -> str:
    return ", ".join(dict.fromkeys(map(str, names))) or "none"
