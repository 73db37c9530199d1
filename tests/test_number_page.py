"""The page of measurements of the number of clusters says what is stored."""

from __future__ import annotations

import csv
from pathlib import Path

from tools.number_page import PAGE, RESULTS, page

PROJECT = Path(__file__).parents[1]


def test_the_page_is_made_from_the_stored_results():
    with (PROJECT / RESULTS).open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert page(lines) == (PROJECT / PAGE).read_text("utf-8")
    # Another result makes another page.
    assert page([{**line, "k": "2"} for line in lines]) != page(lines)
