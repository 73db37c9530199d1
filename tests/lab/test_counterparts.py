"""The counterparts' printed columns, from the starts of the printed runs."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from catalpa import CBDM
from catalpa.cli.main import app
from catalpa.datasets import load
from catalpa.errors import ParameterError
from catalpa.lab import read_protocol
from catalpa.lab.as_published import category_order, coded
from catalpa.lab.counterparts import (
    HALF_DIGIT,
    MEASURES,
    cells,
    read_counterparts,
    reproduced,
    run_counterparts,
)
from catalpa.lab.counterparts_page import counterparts_page
from catalpa.lab.readings import (
    FROM_ROWS,
    PRINTED,
    CodedTable,
    cbdm,
    coforest,
    context_distances,
    k_modes,
    printed_starts,
    same_starts,
    tabulated_shares,
)
from catalpa.lab.readings_het2hom import Het2HomProgram
from catalpa.metrics import adjusted_rand
from catalpa.table.blocks import Axis

# Columns whose ACC, ARI and CMP come out to four digits on bundled data sets.
COME_OUT = {
    "KMD": ["CA", "TA", "CV", "ZO", "DT"],
    "CBDM": ["TA", "CV", "ZO", "DT"],
    "HDC": ["CA", "TA", "CV", "ZO", "DT"],
    "CoForest": ["CA", "CV", "DT"],
    "MCDC": ["CA", "TA", "CV"],
    "HARR": ["TA", "CV", "ZO"],
    "WOCIL": ["ZO"],
}
TOY = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2], [1, 1, 1], [1, 2, 2]]


def toy(rows=TOY):
    frame = pd.DataFrame(rows, columns=list("pqr")).astype(str).astype("category")
    return CodedTable(frame)


@pytest.mark.parametrize("label", COME_OUT)
def test_the_printed_column_comes_out_to_four_digits(label, tmp_path):
    plan = read_protocol().restricted(datasets=COME_OUT[label])
    rows = run_counterparts(plan, tmp_path / "runs.csv", labels=[label])
    assert reproduced(rows)[label].tolist() == [True] * len(COME_OUT[label])
    for measure in MEASURES:
        table = cells(rows, "printed", measure)
        assert (table["mean"] - table["printed"]).abs().max() <= HALF_DIGIT


def test_distances_from_context_are_divided_by_the_columns_of_the_context():
    # As published they are divided by the categories of the context: 0.827759 and 0.510990, by 6 and 5.
    distances = context_distances(toy())
    assert distances[0][0, 1] == pytest.approx(0.827759 * np.sqrt(6 / 2), abs=1e-5)
    assert distances[1][0, 2] == pytest.approx(0.510990 * np.sqrt(5 / 2), abs=1e-5)


@pytest.mark.parametrize("name", COME_OUT["CBDM"])
def test_the_estimator_divides_by_the_columns_if_asked_to(name):
    data, published = load(name), read_protocol().as_published
    table = CodedTable(coded(data, category_order(name)))
    settings = {"context": "M", "sigma": 0.1, "divisor": "columns", "empty_clusters": "keep"}
    for rows in printed_starts("CBDM", table, data.n_clusters, published.seeds[name], 10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of two equal starts the second finds no rows
            model = CBDM(data.n_clusters, init=table.frame.iloc[rows], **settings).fit(table.frame)
        assert adjusted_rand(cbdm(table, rows), model.labels_) == 1.0


def test_shares_are_rounded_as_percentages():
    shares = tabulated_shares(np.array([[29, 20]]), np.array([49]))
    assert shares[0, 0] == 100 * 29 / 49 / 100
    counts = np.arange(1, 100)[None, :]
    assert (tabulated_shares(counts, np.array([99])) != counts / 99).any()


def test_k_modes_worked_by_hand():
    assert k_modes(toy(), np.array([1, 5])).tolist() == [0, 0, 0, 1, 1, 1]


def test_of_equal_starts_the_second_has_no_rows():
    table = toy([[0, 0, 0]] * 3 + [[1, 1, 1]] * 3)
    assert k_modes(table, np.array([0, 1, 5])).tolist() == [0, 0, 0, 2, 2, 2]
    assert coforest(table, np.array([0, 1, 5])).tolist() == [0, 0, 0, 2, 2, 2]


def test_coforest_uses_the_second_of_two_draws():
    table = CodedTable(coded(load("zoo")))
    starts = printed_starts("CoForest", table, 7, 267, 3)
    others = same_starts(table, 7, 267, 3)
    assert len(starts) == 3
    assert all(len(np.unique(table.codes[rows], axis=0)) == 7 for rows in starts)
    assert [rows.tolist() for rows in starts] != [rows.tolist() for rows in others]


def test_runs_are_kept_and_not_repeated(tmp_path, monkeypatch):
    plan, path = read_protocol().restricted(datasets=["ZO"]), tmp_path / "runs.csv"
    first = run_counterparts(plan, path, labels=["KMD"])
    monkeypatch.setattr("catalpa.lab.counterparts._runs", lambda *_: pytest.fail("a run was repeated"))
    again = run_counterparts(plan, path, labels=["KMD"])
    pd.testing.assert_frame_equal(first, again, check_dtype=False)
    assert len(again) == 20
    assert read_counterparts(path)["CMP"].notna().all()


def test_an_unknown_column_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"'Grove'.*KMD"):
        run_counterparts(read_protocol(), tmp_path / "runs.csv", labels=["Grove"])


def test_the_command_prints_both_tables_and_the_tests(tmp_path):
    path = tmp_path / "runs.csv"
    arguments = ["lab", "counterparts", "-d", "ZO,TA", "-m", "KMD,HDC", "--runs", str(path)]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.output
    assert "2 of 2" in told.output
    assert "average rank, printed" in told.output
    assert "Friedman" in told.output
    again = CliRunner().invoke(
        app, ["lab", "counterparts", "--stored", "--runs", str(path), "--measure", "cmp"]
    )
    assert again.exit_code == 0, again.output
    assert "CMP of all methods from the same rows" in again.output
    wrong = CliRunner().invoke(app, ["lab", "counterparts", "--stored", "--measure", "NMI"])
    assert wrong.exit_code != 0


PROJECT = Path(__file__).parents[2]
STORED = PROJECT / "results" / "counterparts.csv"


@pytest.mark.skipif(not STORED.exists(), reason="results are not here")
def test_the_page_in_the_docs_is_made_from_the_stored_runs():
    made = counterparts_page(read_counterparts(STORED))
    assert (PROJECT / "docs" / "inside" / "counterparts.md").read_text("utf-8") == made


def test_the_page_lists_what_does_not_come_out_with_the_difference(tmp_path):
    rows = run_counterparts(
        read_protocol().restricted(datasets=["ZO", "TA"]),
        tmp_path / "runs.csv",
        labels=["KMD", "HDC", "DISC"],
    )
    moved = rows["label"].eq("HDC") & rows["dataset"].eq("ZO") & rows["start"].eq("printed")
    text = counterparts_page(rows.assign(ACC=rows["ACC"] + 0.1 * moved))
    misses = [line for line in text.splitlines() if line.startswith("| HDC | ZO |")]
    assert len(misses) == 1
    assert "(+0.1000)" in misses[0]
    assert not any(line.startswith("| KMD | ") and "(+" in line for line in text.splitlines()[:40])


def test_equal_weights_leave_sums_that_are_equal_on_paper_equal():
    ways = [np.array([[[0.0, apart], [apart, 0.0]]]) for apart in (0.25, 0.25, 0.5, 0.25, 1.0)]
    program = Het2HomProgram(np.arange(0, 10, 2)[None, :], Axis((2,) * 5), ways)
    # The row is 0.25, 0.25 and 0.5 away from both prototypes, in another order of columns.
    prototypes = [np.array(pair)[:, None] for pair in ([1, 0], [1, 1], [1, 1], [0, 1], [0, 0])]
    even = program._totals(prototypes, [np.full(1, 1.0 / 5.0)] * 5)
    assert even[0, 0] == even[0, 1]
    # With weights that differ the sums round, and the order decides.
    learned = program._totals(prototypes, [np.full(1, 0.2), *[np.full(1, 0.2)] * 3, np.full(1, 0.3)])
    assert learned[0, 0] != learned[0, 1]


@pytest.mark.skipif(not STORED.exists(), reason="results are not here")
def test_the_stored_runs_have_every_method_on_every_data_set():
    rows = read_counterparts(STORED)
    runs = rows.groupby(["start", "label", "dataset"]).size().unstack()
    assert runs.shape == (len(PRINTED) + len(FROM_ROWS), 12)
    assert (runs.drop(index=("same", "SigDT")) == 10).all().all()
