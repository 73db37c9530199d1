"""``catalpa export``: files for other programs."""

from __future__ import annotations

import pandas as pd
import pytest

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("xlsxwriter")

PARTIES = ["red", "red", "blue", "blue", "blue", "red"]


@pytest.fixture
def voters(fruit):
    """The six rows with a column that takes no part and a weight."""
    frame = pd.read_csv(fruit).assign(party=PARTIES, weight=[1.0, 2.0, 1.0, 1.0, 1.0, 3.0])
    frame.to_csv(fruit, index=False)
    return fruit


@pytest.fixture
def model(run, voters):
    assert run("cluster", voters, "-k", 2, "--drop", "person,party,weight", "-o", "out").code == 0
    return "out/model.json"


def test_the_workbook_has_the_cross_tabulation(run, model, voters, tmp_path):
    ended = run("export", model, voters, "--xlsx", "a/out.xlsx", "--against", "party", "--weight", "weight")
    assert (ended.code, ended.out) == (0, "")
    assert "wrote a/out.xlsx" in ended.err
    book = openpyxl.load_workbook(tmp_path / "a" / "out.xlsx")
    assert "By party" in book.sheetnames
    weights = next(row for row in book["By party"].iter_rows(values_only=True) if row[0] == "All rows")
    assert sum(weights[1:-1]) == weights[-1] == 9
    head = next(book["Labelled table"].iter_rows(values_only=True))
    assert head == ("cluster", "person", "colour", "shape", "price", "party", "weight")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "xlsx"])
def test_the_table_keeps_its_columns_behind_the_cluster(run, model, voters, tmp_path, suffix):
    assert run("export", model, voters, "--append", f"labelled.{suffix}").code == 0
    path = tmp_path / f"labelled.{suffix}"
    read = {
        "csv": pd.read_csv,
        "tsv": lambda file: pd.read_csv(file, sep="\t"),
        "parquet": pd.read_parquet,
        "feather": pd.read_feather,
        "xlsx": lambda file: pd.read_excel(file, engine="openpyxl"),
    }[suffix]
    table = read(path)
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")
    assert table["cluster"].tolist() == labels["cluster"].tolist()
    assert table["person"].tolist() == ["p1", "p2", "p3", "p4", "p5", "p6"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "No output file is given"),
        (["--append", "out.docx"], "must end in .csv"),
        (["--form", "out.docx"], "must end in .html"),
        (["--xlsx", "out.xlsx", "--against", "colour"], "which was clustered"),
        (["--xlsx", "out.xlsx", "--against", "nation"], "which is not a column"),
        (["--xlsx", "out.xlsx", "--weight", "nation"], "which is not a column"),
    ],
)
def test_what_cannot_be_written_is_said(run, model, voters, tmp_path, arguments, message):
    ended = run("export", model, voters, *arguments)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())
    assert not (tmp_path / "out.xlsx").exists()


def test_files_are_not_overwritten_unasked(run, model, voters):
    assert run("export", model, voters, "--xlsx", "out.xlsx").code == 0
    assert run("export", model, voters, "--xlsx", "out.xlsx").code == 2
    assert run("export", model, voters, "--xlsx", "out.xlsx", "--force").code == 0


def test_one_command_writes_everything(run, model, voters, tmp_path):
    pytest.importorskip("pptx")
    pytest.importorskip("vl_convert")
    files = ["--xlsx", "a.xlsx", "--pptx", "a.pptx", "--md", "a.md", "--charts", "charts"]
    ended = run("export", model, voters, *files, "--against", "party", "--title", "Fruit")
    assert ended.code == 0
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# Fruit\n")
    assert (tmp_path / "a.pptx").stat().st_size > 0
    assert (tmp_path / "charts" / "sizes.svg").exists()


@pytest.mark.parametrize("suffix", ["html", "xlsx", "sql"])
def test_a_form_is_written_and_its_columns_are_said(run, model, voters, tmp_path, suffix):
    ended = run("export", model, voters, "--form", f"form.{suffix}", "--form-columns", 1)
    assert ended.code == 0
    assert "the form asks for " in ended.err
    assert (tmp_path / f"form.{suffix}").stat().st_size > 0
