"""The page of ``catalpa.look``: all findings about a table, and their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import catalpa
from catalpa.report.document import Document, needs_packages

if TYPE_CHECKING:
    from catalpa.inspection.look import Look

# Heading of each kind of finding.
TITLES = {
    "file": "The file",
    "constant": "Constant or empty",
    "tick": "Tick boxes",
    "weight": "Survey weights",
    "date": "Dates",
    "time": "Times of day",
    "number": "Numbers written as text",
    "list": "Several answers per cell",
    "identifier": "Identifiers",
    "text": "Names and free text",
    "order": "Ordered answers",
    "sentinel": "Codes for a missing value",
    "unknown": "Words for a missing value",
    "block": "Missing together",
    "word": "The same word in the same rows",
    "copy": "Copies",
    "follows": "Follows from another column",
    "rise": "Numbers that rise together",
    "many": "Many categories",
}


@dataclass(frozen=True, eq=False, repr=False)
class LookPage(Document):
    """A page with the findings about a table, and the recipe."""

    template = "look.html.jinja"

    def _content(self) -> dict[str, Any]:
        return {"titles": TITLES}

    def __repr__(self) -> str:
        return f"LookPage({len(self.summary['findings'])} findings; .save('look.html') writes the page)"


def look_page(seen: Look, title: str) -> LookPage:
    """All findings as a page; see ``Look.report``."""
    needs_packages()
    return LookPage(
        {
            "title": title,
            "made_by": {"catalpa": catalpa.__version__},
            "rows": seen.rows,
            "looked_at": seen.looked_at,
            "columns": seen.columns,
            "findings": [line.record() for line in seen.lines],
            "notes": list(seen.notes),
            "recipe": seen.recipe.to_dict(),
        }
    )
