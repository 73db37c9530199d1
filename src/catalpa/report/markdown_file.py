"""Results of a model on a table as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catalpa.estimator.base import Clusterer
from catalpa.explain.formatting import figure, percent, row_count_text
from catalpa.report.crossings import association_text, how_tested
from catalpa.report.findings import Findings, findings
from catalpa.report.workbook_file import about, notes, save_bytes

MARKED = {0: "", 1: " ▲", -1: " ▼"}
CATEGORIES, COLUMNS = 6, 12  # of a column, and columns, in the table of shares


@dataclass(frozen=True, eq=False, repr=False)
class Markdown:
    """Results of a model on a table as Markdown text; returned by :func:`markdown`."""

    findings: Findings = field(repr=False)

    def __str__(self) -> str:
        return "\n".join(_lines(self.findings))

    def save(self, path: str | Path) -> None:
        """Write the text."""
        save_bytes(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """The file."""
        return str(self).encode("utf-8", "replace")

    def _repr_markdown_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"Markdown({self.findings.view.k} clusters; .save('clusters.md') writes it)"


def markdown(
    model: Clusterer, X: Any, *, against: Any = None, sample_weight: Any = None, title: str = "Clusters"
) -> Markdown:
    """A summary of a clustering as Markdown: verdict, clusters, shares, numbers and cross-tabulations.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The fitted table, or another one with the same columns.
    against : str, array-like (n,), or list of them, optional
        Columns that were not clustered: names in the table, or values.
    sample_weight : array-like (n,), optional
        Weight of each row, as at fit.
    title : str
        Heading.

    Returns
    -------
    Markdown
        ``str()`` gives the text, ``save(path)`` writes it.

    Examples
    --------
    >>> import catalpa
    >>> from catalpa.report import markdown
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> text = markdown(catalpa.Grove(4, random_state=0).fit(zoo), zoo, title="Animals")
    >>> print(str(text).splitlines()[0])
    # Animals
    """
    return Markdown(findings(model, X, against, sample_weight, title))


def escaped(text: str) -> str:
    r"""Text in which no character is read as Markdown or HTML, on one line.

    Examples
    --------
    >>> print(escaped("a|b *c* <i>"))
    a\|b \*c\* \<i\>
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of formatted cells; numbers are right-aligned."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' + '---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _lines(findings: Findings) -> Iterator[str]:
    summary, titles = findings.summary, [escaped(title) for title in findings.titles]
    yield from (f"# {escaped(summary['title'])}", "", f"**{escaped(summary['verdict']['sentence'])}**", "")
    yield from (escaped(about(findings)), "")
    for title, one in zip(titles, summary["clusters"], strict=True):
        amount = f"{row_count_text(one['size'])} {'by weight' if findings.weighted else 'rows'}"
        yield from (f"## {title[:1].upper()}{title[1:]}: {percent(one['share'])} ({amount})", "")
        yield from (f"- {escaped(reason['text'])}" for reason in one["reasons"])
        yield ""
    yield from (escaped(summary["telling"]), "")
    yield from (line for note in notes(findings) for line in (escaped(note), ""))
    yield from _shares(findings, titles)
    yield from _numbers(findings, titles)
    for record in findings.crossings:
        yield from _crossed(findings, record, titles)


def _shares(findings: Findings, titles: Sequence[str]) -> Iterator[str]:
    profile = findings.summary["profile"]
    if not profile:
        return
    yield from ("## Shares", "")
    rows = []
    for record in profile[:COLUMNS]:
        common = sorted(record["categories"], key=lambda one: -one["overall"])[:CATEGORIES]
        for one in (one for one in record["categories"] if one in common):
            name = f"{escaped(record['column'])} = {escaped(one['category'])}"
            rows.append([name, percent(one["overall"]), *map(percent, one["shares"])])
    yield from _table(["category", "all rows", *titles], rows)
    if len(profile) > COLUMNS:
        yield from (f"And {len(profile) - COLUMNS} columns that differ less between the clusters.", "")


def _numbers(findings: Findings, titles: Sequence[str]) -> Iterator[str]:
    if not findings.summary["numbers"]:
        return
    yield from ("## Numbers", "", "Mean ± standard deviation, and the median in brackets.", "")
    rows = []
    for record in findings.summary["numbers"]:
        cells = [
            "none"
            if one["mean"] is None
            else f"{figure(one['mean'], one['sd'])} ± {figure(one['sd'])}"
            + (f" ({figure(one['quantiles'][2], one['sd'])})" if one["quantiles"] else "")
            for one in record["clusters"]
        ]
        rows.append([escaped(record["column"]), *cells])
    yield from _table(["column", *titles], rows)


def _crossed(findings: Findings, record: Mapping[str, Any], titles: Sequence[str]) -> Iterator[str]:
    yield from (f"## By {escaped(record['column'])}", "", escaped(association_text(record)), "")
    if record["kind"] == "numbers":
        means = zip(titles, record["means"], record["marks"], strict=True)
        rows = [[name, "none" if mean is None else figure(mean) + MARKED[mark]] for name, mean, mark in means]
        yield from _table(["cluster", "mean"], rows)
    else:
        rows = [
            [title, *(percent(share) + MARKED[mark] for share, mark in zip(shares, marks, strict=True))]
            for title, shares, marks in zip(titles, record["shares"], record["marks"], strict=True)
        ]
        rows.append(["all rows", *map(percent, record["overall"])])
        yield from _table(["cluster", *map(escaped, record["categories"])], rows)
    yield from (escaped(how_tested(record, findings.weighted)), "")
