"""Short labels of questions, from a codebook to reasons, the page, SQL and the model file."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.inspection.recipe import Recipe

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
