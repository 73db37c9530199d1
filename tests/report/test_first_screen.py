"""The first screen of a report: names, reasons answer first, and what was done to the columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.explain.batteries import items_of_questions
from catalpa.explain.reasons import CategoryReason, NumberReason
from catalpa.inspection.recipe import Field, Recipe
from catalpa.report.first_screen import answer_lines
from catalpa.table.gap_blocks import GapBlock


def lines_of(*reasons):
    return answer_lines(reason.record() for reason in reasons)


@pytest.mark.parametrize(
    ("reason", "answer", "columns", "figures"),
    [
        (CategoryReason("net", "Fiber", 1.0, 0.0, 1.0), "Fiber", ["net"], "100 %, nowhere else"),
        (CategoryReason("churn", "Yes", 0.6, 0.2, 1.0), "churn: Yes", [], "60 %, elsewhere 20 %"),
        (CategoryReason("legs", "4", 0.01, 0.4, 1.0), "not legs: 4", [], "1 %, elsewhere 40 %"),
        (CategoryReason("age", "(missing)", 0.1, 0.6, 1.0), "age: answered", [], "90 %, elsewhere 40 %"),
        (CategoryReason("Is it rude to recline?" * 2, "Yes", 0.6, 0.2, 1.0), "Yes", ..., ...),
        (NumberReason("age", 50.0, 30.0, 5.0, 9.0, 1.2, 1.0), "high age", [], "mean 50, elsewhere 30"),
        (NumberReason("age", 20.0, 30.0, 5.0, 9.0, -1.2, 1.0), "low age", [], "mean 20, elsewhere 30"),
        (NumberReason("age", 30.0, 30.5, 2.0, 9.0, 0.1, 1.0), "age around 30", [], "SD 2, elsewhere 9"),
    ],
)
def test_the_answer_comes_first(reason, answer, columns, figures):
    (line,) = lines_of(reason)
    assert line["answer"] == answer
    assert columns is ... or line["columns"] == columns
    assert figures is ... or line["figures"] == figures


def test_the_item_of_a_question_is_part_of_the_answer():
    pies = [f"Which pies do you serve at dinner? - {pie}" for pie in ("Apple", "Pecan")]
    records = [CategoryReason(name, "yes", 0.9, 0.1, 0.5).record() for name in pies]
    lines = answer_lines(records, items=items_of_questions(pies))
    assert [(line["answer"], line["columns"]) for line in lines] == [
        ("Apple: yes", ["Which pies do you serve at dinner?"]),
        ("Pecan: yes", ["Which pies do you serve at dinner?"]),
    ]


def test_a_range_is_no_answer_without_its_column():
    assert (
        lines_of(CategoryReason("amount", "up to 1,049", 0.9, 0.1, 0.5))[0]["answer"] == "amount: up to 1,049"
    )


def test_rows_that_stopped_answering_are_said_to():
    name = GapBlock((("age", "job"), ("income",))).name
    (line,) = lines_of(CategoryReason(name, "income", 0.1, 0.8, 0.5))
    assert (line["answer"], line["figures"]) == ('stopped before "income"', "90 %, elsewhere 20 %")


def test_equal_answers_of_several_columns_are_one_line():
    same = [CategoryReason(name, "no internet", 1.0, 0.0, 1.0) for name in ("backup", "tv", "films")]
    other = CategoryReason("plan", "basic", 0.9, 0.1, 0.5)
    lines = lines_of(same[0], other, *same[1:])
    assert [line["answer"] for line in lines] == ["no internet", "basic"]
    assert lines[0]["columns"] == ["backup", "tv", "films"]


def test_there_are_at_most_three_lines():
    reasons = [CategoryReason(f"c{at}", f"word{at}", 0.9, 0.1, 0.5) for at in range(9)]
    assert [line["answer"] for line in lines_of(*reasons)] == ["word0", "word1", "word2"]


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=200)
    answer = np.where(rng.random(200) < 0.9, np.array(["tea", "coffee"])[group], "water")
    return pd.DataFrame(
        {
            "person": [f"p{at}" for at in range(200)],
            "drink": answer,
            "food": np.where(rng.random(200) < 0.9, np.array(["rice", "bread"])[group], "soup"),
            "often": np.where(rng.random(200) < 0.9, np.array(["never", "daily"])[group], "weekly"),
            "city": rng.choice(["Oslo", "Rome"], 200),
        }
    )


def test_the_page_tells_what_was_done_to_the_columns(survey):
    recipe = Recipe(fields=(Field("person", role="id"),)).with_order("often", ["never", "weekly", "daily"])
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(survey.drop(columns="city"))
    report = model.report(survey)
    use = report.summary["table"]["use"]
    assert {one["column"]: one["why"] for one in use["left_out"]} == {
        "person": "identifier",
        "city": "shown only",
    }
    assert use["line"].startswith("2 left out, 1 in order")
    assert "Left out: person (identifier); city (shown only)." in report.html
    assert "recipe" not in report.summary["made_by"]["settings"]


def test_clusters_without_a_name_show_a_suggested_one(survey):
    model = catalpa.Grove(2, random_state=0).fit(survey[["drink", "food", "often"]])
    report = model.report(survey[["drink", "food", "often"]])
    suggested = model.suggest_names()
    assert [one["suggested_name"] for one in report.summary["clusters"]] == list(suggested.values())
    assert report.html.count('class="suggested"') == 2
    named = model.name_clusters({0: "tea people"}).report(survey[["drink", "food", "often"]])
    assert named.html.count('class="suggested"') == 1
    model.name_clusters({0: None})
