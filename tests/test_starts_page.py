"""How much the start decides, and that the page about DISC says what is stored."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from tools.write_starts import SHOWN, starts_text

from catalpa.lab import read_protocol
from catalpa.lab.journal import read_results

PROJECT = Path(__file__).parents[1]


def test_runs_that_lose_clusters_or_let_one_swallow_the_others_are_counted():
    facts = {"method": "m", "variant": "v", "dataset": "ZO", "clusters_asked": 3}
    runs = [(0.2, 3, 0.5), (0.4, 2, 0.96), (0.9, 1, 1.0)]
    rows = [
        {**facts, "columns": "categorical", "ARI": ari, "clusters_left": left, "largest_share": share}
        for ari, left, share in runs
    ]
    rows.append({**rows[0], "columns": "mixed", "ARI": -1.0})
    text = starts_text(pd.DataFrame(rows), {"M": ("m", "v")}, ("ZO",))
    assert text.splitlines()[-1] == "| ZO | 3 | 0.500 (0.200 to 0.900) | 2 | 2 |"


def test_the_table_on_the_page_about_disc_is_made_from_the_stored_results():
    made = starts_text(
        read_results(PROJECT / "results" / "protocol.parquet"), SHOWN, read_protocol().categorical
    )
    assert made in (PROJECT / "docs" / "methods" / "disc.md").read_text("utf-8")
