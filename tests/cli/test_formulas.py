"""Texts that a spreadsheet would run as a formula: written as they are, or quoted on request."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from catalpa.cli.tables import csv_text

CELLS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a=1", "", None, "'=1"]
QUOTED = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", "a=1", "", None, "'=1"]
TABLE = "=id,kind,n\n=1+1,@a,-1\n+2,@a,-1\n-3,@a,-2\np,b,7\nq,b,8\nr,b,9\n"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_every_text_that_begins_a_formula_is_quoted_and_nothing_else(kind):
    table = pa.table({"=name": pa.array(CELLS, pa.string()).cast(kind), "number": range(-5, 5)})
    wanted = pa.table({"'=name": QUOTED, "number": range(-5, 5)})
    assert csv_text(table, quote_formulas=True) == csv_text(wanted)
    assert csv_text(table) == csv_text(pa.table({"=name": CELLS, "number": range(-5, 5)}))


def test_frames_of_pandas_are_quoted_too():
    frame = pd.DataFrame({"a": pd.Categorical(["=1", "b"]), "b": ["+1", "c"], "c": [-1, 2]})
    assert csv_text(frame, quote_formulas=True) == "a,b,c\n'=1,'+1,-1\nb,c,2\n"


@pytest.mark.parametrize("how", [[], ["--stream", "--method", "kmodes", "--drop", "n"]])
def test_files_of_a_clustering_keep_cells_unless_they_shall_be_quoted(run, tmp_path, how):
    (tmp_path / "t.csv").write_text(TABLE)
    for folder, option in (("kept", []), ("quoted", ["--quote-formulas"])):
        assert run("cluster", "t.csv", "-k", 2, "--id", "=id", "-o", folder, *how, *option).code == 0
    first = [line.split(",")[0] for line in (tmp_path / "kept" / "labels.csv").read_text().splitlines()]
    assert first == ["=id", "=1+1", "+2", "-3", "p", "q", "r"]
    first = [line.split(",")[0] for line in (tmp_path / "quoted" / "labels.csv").read_text().splitlines()]
    assert first == ["'=id", "'=1+1", "'+2", "'-3", "p", "q", "r"]
    assert ",'@a," in (tmp_path / "quoted" / "profiles.csv").read_text()
    assert ",@a," in (tmp_path / "kept" / "profiles.csv").read_text()
    # The model knows the categories by their own names.
    done = run("predict", "quoted/model.json", "t.csv", "--id", "=id", "--quote-formulas")
    assert done.out == (tmp_path / "quoted" / "labels.csv").read_text()
