"""Short labels of questions, from a codebook to reasons, the page, SQL and the model file."""

from __future__ import annotations

import json
import re
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

import catalpa
from catalpa.inspection.recipe import Recipe
from catalpa.report.explore_server import Session

BOOK = """column,code,label,order
Q1,,Drives to work,
Q1,1,by car,
Q1,2,on foot,
Q2,,Has children,
Q2,1,yes,
Q2,2,no,
Q3,,Lives in,
"""


@pytest.fixture
def survey(tmp_path):
    generator = np.random.default_rng(0)
    kind = np.repeat([0, 1], 100)
    noisy = [np.where(generator.random(200) < 0.1, 1 - kind, kind) + 1 for _ in range(3)]
    rows = zip(noisy[0], noisy[1], np.where(noisy[2] == 1, "town", "village"), strict=True)
    (tmp_path / "book.csv").write_text(BOOK)
    (tmp_path / "survey.csv").write_text("Q1,Q2,Q3\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    return tmp_path


def test_titles_of_a_codebook_are_in_reasons_the_page_and_sql(survey, run):
    told = run(
        *("cluster", survey / "survey.csv", "-k", 2, "--codebook", survey / "book.csv", "-o", survey / "out"),
        *("--report", survey / "page.html", "--json"),
    )
    texts = " ".join(reason["text"] for one in json.loads(told.out)["clusters"] for reason in one["reasons"])
    assert "Drives to work=by car" in texts
    assert "Q1" not in texts
    page = (survey / "page.html").read_text("utf-8")
    assert 'title="Q1">Drives to work<' in page
    model = catalpa.load(survey / "out" / "model.json")
    assert model.recipe_.titles == {"Q1": "Drives to work", "Q2": "Has children", "Q3": "Lives in"}
    assert model.to_sql(table="survey").startswith(
        "-- Q1: Drives to work\n-- Q2: Has children\n-- Q3: Lives in\n"
    )
    assert any("Lives in" in str(text) for text in model.reasons()["text"])


def test_look_writes_titles_into_the_recipe(survey, run):
    run("look", survey / "survey.csv", "--codebook", survey / "book.csv", "--save", survey / "recipe.json")
    fields = json.loads((survey / "recipe.json").read_text("utf-8"))["schema"]["fields"]
    assert {one["name"]: one["title"] for one in fields}["Q2"] == "Has children"
    told = run("cluster", survey / "survey.csv", "-k", 2, "--recipe", survey / "recipe.json", "--json")
    assert "Has children" in told.out


def test_a_title_cannot_leave_its_comment_in_sql():
    recipe = Recipe().with_titles({"a": "x\nDROP TABLE t; --\u2028y"})
    model = catalpa.KModes(2, random_state=0, recipe=recipe).fit(
        pd.DataFrame({"a": ["p", "q"] * 20, "b": ["r", "s"] * 20})
    )
    assert model.to_sql(table="t").splitlines()[0] == "-- a: x DROP TABLE t; -- y"


@pytest.fixture
def clustered(survey, run):
    """The model of the survey, and its rows with the labels of the codebook."""
    run("cluster", survey / "survey.csv", "-k", 2, "--codebook", survey / "book.csv", "-o", survey / "out")
    rows = pd.read_csv(survey / "survey.csv")
    rows["Q1"] = rows["Q1"].map({1: "by car", 2: "on foot"})
    rows["Q2"] = rows["Q2"].map({1: "yes", 2: "no"})
    return catalpa.load(survey / "out" / "model.json"), rows


def texts_in(chart):
    return set(re.findall(r'"([^"]*)"', json.dumps(chart.to_dict())))


def test_titles_are_in_every_chart_that_names_columns(clustered):
    model, rows = clustered
    for chart in (
        catalpa.plot.profile_map(model),
        catalpa.plot.category_map(model, rows),
        catalpa.plot.relation_comparison(model, "Q1", [0, 1]),
        catalpa.plot.relation_grid(model, ["Q1"]),
    ):
        texts = texts_in(chart)
        assert any("Drives to work" in text for text in texts)
        assert not any(re.match(r"Q1\b", text) for text in texts)


def test_titles_of_numbers_are_in_charts_even_if_they_begin_alike():
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        np.vstack([generator.normal(0, 1, (30, 2)), generator.normal(9, 1, (30, 2))]), columns=["n1", "n2"]
    )
    titles = {"n1": "Hours on the way from home to work", "n2": "Hours on the way from shop to work"}
    model = catalpa.KPrototypes(2, random_state=0, recipe=Recipe().with_titles(titles)).fit(table)
    for chart in (catalpa.plot.profile_map(model), catalpa.plot.number_boxes(model, table)):
        # A chart joins lines of one text, so that titles cut to the same beginning would lose one.
        assert set(titles.values()) <= texts_in(chart)


def test_columns_of_one_title_are_told_apart():
    table = pd.DataFrame({"a": ["p", "q"] * 20, "b": ["r", "s"] * 20, "c": ["t", "u"] * 20})
    recipe = Recipe().with_titles({"a": "Trust", "b": "Trust", "c": "Age"})
    model = catalpa.KModes(2, random_state=0, recipe=recipe).fit(table)
    assert {"Trust (a)", "Trust (b)", "Age"} <= texts_in(catalpa.plot.profile_map(model))


def test_titles_are_in_office_files(clustered, tmp_path):
    model, rows = clustered
    rows["Q9"] = ["north", "south"] * 100
    text = str(catalpa.report.markdown(model, rows, against="Q9"))
    assert "| Drives to work = by car |" in text
    assert "Q1" not in text
    assert "Drives to work=by car" in text
    catalpa.report.workbook(model, rows).save(tmp_path / "out.xlsx")
    profiles = openpyxl.load_workbook(tmp_path / "out.xlsx")["Profiles"]
    assert "Drives to work" in {row[0].value for row in profiles.iter_rows()}
    catalpa.report.slides(model, rows).save(tmp_path / "out.pptx")
    with zipfile.ZipFile(tmp_path / "out.pptx") as file:
        charts = "".join(file.read(one).decode() for one in file.namelist() if "charts/chart" in one)
    assert "Drives to work = " in charts
    assert "Q1" not in charts


def test_titles_are_in_the_explorer_and_the_short_form(clustered):
    model, rows = clustered
    record = catalpa.report.explore(model, rows).summary
    assert {one["name"]: one["title"] for one in record["columns"]}["Q1"] == "Drives to work"
    form = catalpa.report.short_form(model, rows)
    assert set(form.columns) <= {"Q1", "Q2", "Q3"}
    titles = {"Q1": "Drives to work", "Q2": "Has children", "Q3": "Lives in"}
    assert [one["title"] for one in form.summary["questions"]] == [titles[name] for name in form.columns]


def test_rows_with_codes_are_refused_with_the_codebook_of_the_fit(survey, clustered, run):
    model, _ = clustered
    assert model.recipe_.codebook == "book.csv"
    for command in (("predict",), ("report", "-o", survey / "again.html")):
        told = run(command[0], survey / "out" / "model.json", survey / "survey.csv", *command[1:])
        assert told.code == 2
        assert "--codebook book.csv" in told.err
    assert "--codebook book.csv" in run("drift", survey / "out" / "model.json", survey / "survey.csv").err
    told = run(
        *("predict", survey / "out" / "model.json", survey / "survey.csv"),
        *("--codebook", survey / "book.csv", "-o", survey / "labels.csv"),
    )
    assert len((survey / "labels.csv").read_text().splitlines()) == 201


def test_other_errors_do_not_name_a_codebook(survey, run):
    run("cluster", survey / "survey.csv", "-k", 2, "-o", survey / "out")
    (survey / "other.csv").write_text("Q1,Q2,Q3\nx,y,town\n")
    told = run("predict", survey / "out" / "model.json", survey / "other.csv")
    assert told.code == 2
    assert "No value of column" in told.err
    assert "codebook" not in told.err


def test_the_form_of_the_explorer_lists_columns_by_title(clustered):
    model, rows = clustered
    session = Session("survey.csv", rows, lambda k: catalpa.KModes(k), recipe=model.recipe_)
    titles = {one["name"]: one["title"] for one in session.state()["columns"]}
    assert titles == {"Q1": "Drives to work", "Q2": "Has children", "Q3": "Lives in"}
