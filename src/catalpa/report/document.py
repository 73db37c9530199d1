"""The report of a fitted model: a dict, JSON, or a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from catalpa.errors import OutputError
from catalpa.estimator.base import Clusterer
from catalpa.estimator.fitted import fitted_of
from catalpa.files import told_as, write_atomically
from catalpa.plot.view import look
from catalpa.report.beside import column_given, crossed, set_aside
from catalpa.report.html import needs_packages, page, plain_page
from catalpa.report.summary import summarise


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """Something to tell, as a dict, JSON or a page."""

    template: ClassVar[str]
    summary: Mapping[str, Any]  # everything the page says, as plain values

    def _page(self) -> str:
        return plain_page(self.template, self.summary)

    @cached_property
    def html(self) -> str:
        """The page as text: one file that opens without a network."""
        return self._page()

    def to_json(self) -> str:
        """The summary as JSON."""
        # NaN is no JSON: a summary that has one is a mistake, to be seen here and not by a reader.
        return json.dumps(self.summary, ensure_ascii=False, allow_nan=False, indent=2)

    def save(self, path: str | Path) -> None:
        """Write the page, or the summary where the name ends in ``.json``."""
        target = Path(path)
        text = self.to_json() if target.suffix.lower() == ".json" else self.html
        with told_as(OutputError, f"{str(path)!r} cannot be written"):
            write_atomically(target, text.encode("utf-8", "replace"))  # a title may hold half a character

    def _repr_html_(self) -> str:
        # In a frame of its own, so that the notebook's style and the page's leave each other alone.
        frame = 'style="width: 100%; height: 720px; border: 1px solid #8884; border-radius: 8px"'
        return f'<iframe {frame} title="Catalpa report" srcdoc="{escape(self.html)}"></iframe>'


@dataclass(frozen=True, eq=False, repr=False)
class Report(Document):
    """What a model found in a table."""

    def _page(self) -> str:
        return page(self.summary)

    def __repr__(self) -> str:
        return (
            f"Report({self.summary['title']!r}: {self.summary['table']['rows']:,} rows in "
            f"{len(self.summary['clusters'])} clusters; .save('report.html') writes the page)"
        )


def report_of(model: Clusterer, X: Any, sample_weight: Any, against: Any, names: Any, title: str) -> Report:
    """Look at a table through a fitted model; see ``Clusterer.report``."""
    needs_packages()
    known, beside = set_aside(X, fitted_of(model).schema, names)
    kept_out = column_given(X, against, "against")
    view = look(model, known, sample_weight=sample_weight)
    crossing = None if against is None else crossed(view.labels, view.k, kept_out, weights=view.weights)
    return Report(summarise(view, title, beside) | {"against": crossing})
