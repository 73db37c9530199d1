"""How the time of a fit grows, and that the pages of the methods say what is stored."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tools.growth_pages import BASE, SHOWN, growth_text

PROJECT = Path(__file__).parents[1]


def test_the_power_is_that_of_the_last_two_doublings_with_and_without_the_passes():
    fits = [("rows", 10, 9.0, 3), ("rows", 20, 1.0, 1), ("rows", 40, 4.0, 2), ("rows", 80, 16.0, 4)]
    results = pd.DataFrame(fits, columns=["varied", "size", "seconds", "passes"]).assign(method="m")
    assert growth_text(results, "m").splitlines()[-1] == "| rows | 10 | 80 | 9 to 16 | 3 to 4 | 2.0 | 1.0 |"


@pytest.mark.parametrize("method", SHOWN)
def test_the_table_on_a_page_is_made_from_the_stored_measurements(method):
    results = pd.read_csv(PROJECT / "results" / "growth.csv")
    page = (PROJECT / "docs" / "methods" / f"{method}.md").read_text("utf-8")
    assert growth_text(results, method) in page
    rows, columns, clusters, categories = BASE.values()
    thousands = f"{rows:,}".replace(",", " ")
    assert f"{thousands} rows, {columns} columns, {clusters} clusters and {categories} categories" in page
