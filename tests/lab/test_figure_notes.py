"""What the page says of the figures, and that the page in the docs is made from what is stored."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from catalpa.lab import read_protocol
from catalpa.lab.conclusions import StoredResults
from catalpa.lab.counterparts import read_counterparts
from catalpa.lab.figures.notes import figures_text, stored_figures
from catalpa.lab.journal import read_results
from catalpa.lab.page import page

PROJECT = Path(__file__).parents[2]


def lines_of(folder, number, frame, *, drawn=False):
    frame.to_csv(folder / f"figure{number}.csv", index=False)
    if drawn:
        (folder / f"figure{number}.svg").write_text("<svg/>", "utf-8")
    return figures_text(folder, "there").splitlines()


def test_the_leader_of_every_data_set_is_named(tmp_path):
    scores = {("ZO", "Customized"): [0.1, 0.3, 0.5], ("ZO", "Hamming"): [0.2, 0.4, 0.3]}
    scores |= {("TA", "Customized"): [0.9, 0.1, 0.2], ("TA", "Hamming"): [0.3, 0.4, 0.3]}
    scores |= {("ZO", "DISC"): [0.2, 0.2, 0.2], ("TA", "DISC"): [0.5, 0.5, 0.4]}
    rows = [
        {"dataset": data, "strategy": strategy, "draw": draw, "ACC": score}
        for (data, strategy), values in scores.items()
        for draw, score in enumerate(values)
    ]
    lines = lines_of(tmp_path, 1, pd.DataFrame(rows), drawn=True)
    assert "![Figure 1: k-modes with random relations, and DISC](there/figure1.svg)" in lines
    assert (
        "| ZO | **0.300 (0.100 to 0.500)** | **0.300 (0.200 to 0.400)** | 0.200 (0.200 to 0.200) |" in lines
    )
    assert "| TA | 0.200 (0.100 to 0.900) | 0.300 (0.300 to 0.400) | **0.500 (0.400 to 0.500)** |" in lines
    assert any("over 3 draws" in line and "highest median on TA." in line for line in lines)
    assert any("is that of Customized on ZO, Hamming on TA." in line for line in lines)


def test_relearnings_after_which_the_cost_is_higher_are_counted(tmp_path):
    facts = {"dataset": "ZO", "variant": "program"}
    # The start costs less than the first z, which is another objective and does not count.
    cost, relearned = [1.0, 5.0, 6.0, 4.0, 4.5], [False, True, True, False, False]
    phase = ["start"] + ["learn"] * 4
    frame = pd.DataFrame(
        {**facts, "number": range(1, 6), "phase": phase, "cost": cost, "relearned": relearned}
    )
    lines = lines_of(tmp_path, 2, frame)
    assert "| ZO | program | 1 | 4 | 1 | 1 |" in lines
    assert not any(line.startswith("![") for line in lines)


def test_growth_is_told_and_gaps_are_named(tmp_path):
    rows = [
        {"against": "rows", "method": name, "rows": n, "columns": 2, "seconds": n**power / 100, "error": ""}
        for name, power in (("linear", 1), ("square", 2))
        for n in (10, 100)
    ]
    rows += [
        {
            "against": "columns",
            "method": name,
            "rows": 5,
            "columns": c,
            "seconds": float("nan") if name == "square" else c,
            "error": "MemoryError: too wide" if name == "square" else "",
        }
        for name in ("linear", "square")
        for c in (1, 10)
    ]
    lines = lines_of(tmp_path, 3, pd.DataFrame(rows))
    head = "| method | seconds at 100 rows | slope in rows | seconds at 10 columns | slope in columns |"
    assert head in lines
    assert "| linear | 1.00 | 1.00 | 10.00 | 1.00 |" in lines
    assert "| square | 100.00 | 2.00 | - | - |" in lines
    assert "- square, 5 rows and 10 columns: MemoryError: too wide" in lines


def test_methods_that_are_not_slower_than_disc_are_named(tmp_path):
    seconds = {"DISC": 1.0, "HARR": 3.0, "MCDC": 2.0, "CDCDR": 0.5, "CoForest": 1.0}
    rows = [
        {"against": "rows", "method": name, "rows": n, "columns": 2, "seconds": taken * n, "error": ""}
        for name, taken in seconds.items()
        for n in (10, 100)
    ]
    text = "\n".join(lines_of(tmp_path, 3, pd.DataFrame(rows)))
    assert "2 of 4 are slower here; not CDCDR, CoForest." in text


def test_the_method_that_separates_best_is_named(tmp_path):
    numbers = {"DISC": (0.9, 0.1), "HARR": (0.8, 0.3)}
    rows = [
        {"x": 0.0, "y": 0.0, "class": "a", "method": name, "neighbour": near, "silhouette": width}
        for name, (near, width) in numbers.items()
    ]
    lines = lines_of(tmp_path, 4, pd.DataFrame(rows))
    assert "| DISC | 0.900 | 0.100 |" in lines
    assert any("DISC has the highest 1-NN accuracy and HARR the widest silhouette" in line for line in lines)


def test_a_folder_without_figures_says_nothing(tmp_path):
    assert figures_text(tmp_path, "there") == ""
    text = page(read_results(PROJECT / "results" / "protocol.parquet"), read_protocol())
    assert "No data of figures are stored." in text


@pytest.mark.skipif(not (PROJECT / "results" / "protocol.parquet").exists(), reason="results are not here")
def test_the_page_in_the_docs_is_made_from_the_stored_results():
    results = PROJECT / "results"
    notes = figures_text(results / "figures", "../../results/figures")
    stored = StoredResults(
        read_results(results / "as_published.parquet"),
        pd.read_csv(results / "claims.csv"),
        stored_figures(results / "figures"),
        read_counterparts(results / "counterparts.csv"),
    )
    made = page(read_results(results / "protocol.parquet"), read_protocol(), notes, stored)
    assert (PROJECT / "docs" / "inside" / "results.md").read_text("utf-8") == made
