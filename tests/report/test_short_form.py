"""The short form: few columns, honest accuracy, and one answer from page, query and spreadsheet."""

from __future__ import annotations

import json
import re
import sqlite3

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import OutputError, ParameterError, SqlError
from catalpa.report.form_scores import askable, points, questions_of, select

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("xlsxwriter")


@pytest.fixture(scope="module")
def people():
    """Three groups told apart by two columns of texts and a number; two columns are noise."""
    rng = np.random.default_rng(0)
    group = np.arange(300) % 3
    odd = rng.random((300, 2)) < 0.25
    drink = np.where(odd[:, 0], (group + 1) % 3, group)
    pet = np.where(odd[:, 1], (group + 1) % 3, group)
    return pd.DataFrame(
        {
            "noise": rng.choice(["a", "b"], 300),
            "drink": np.array(["tea?", "Tea", "O'Brien's *"])[drink],
            "pet": np.where(rng.random(300) < 0.1, None, np.array(["cat", "dog", ""])[pet]),
            "age": np.where(rng.random(300) < 0.1, np.nan, 20.25 + 8 * group + rng.integers(0, 40, 300) / 4),
            "more noise": rng.choice(["x", "y", "z"], 300),
        }
    )


@pytest.fixture(scope="module")
def model(people):
    return catalpa.Grove(3, random_state=0).fit(people)


@pytest.fixture(scope="module")
def form(model, people):
    return catalpa.short_form(model, people, most=4)


def test_noise_is_not_asked_for(form):
    assert set(form.columns) == {"drink", "pet", "age"}
    assert form.accuracy > 0.9 > 0.5 > form.baseline
    assert len(form.accuracies) == 4
    assert form.accuracy == form.accuracies[len(form.columns) - 1]
    assert len(form.recalls) == 3


def test_labels_are_nearly_those_of_the_model(form, model, people):
    assert np.mean(form.predict(people) == model.labels_) > 0.9
    chances = form.predict_proba(people[form.columns])
    assert np.allclose(chances.sum(axis=1), 1)
    assert (chances.argmax(axis=1) == form.predict(people)).all()


def test_labels_that_cannot_be_known_have_no_accuracy():
    """Columns of many answers reproduce random labels on their own rows, but not on others."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({f"q{at}": rng.integers(0, 25, 200).astype(str) for at in range(12)})
    model = catalpa.KModes(2, random_state=0).fit(rows)
    asked = questions_of(rows, askable(model.schema_))
    chosen = select(asked, rng.integers(0, 2, 200), 2, 6, np.ones(200), 0)
    assert max(chosen.accuracies) < 0.65


def test_a_column_of_many_answers_is_not_chosen_for_fitting_its_own_rows():
    rng = np.random.default_rng(2)
    labels = np.arange(90) % 2
    flipped = np.where(rng.random(90) < 0.35, 1 - labels, labels)
    frame = pd.DataFrame({"many": rng.permutation(90) % 30, "signal": flipped}).astype(str)
    model = catalpa.KModes(2, random_state=0).fit(frame)
    chosen = select(questions_of(frame, askable(model.schema_)), labels, 2, 1, np.ones(90), 0)
    assert [question.name for question in chosen.questions] == ["signal"]


def test_points_by_hand():
    # Two answers, two clusters with 3:1 and 1:3 rows; half of all rows give each answer.
    share = (3 + 2 * 0.5) / (4 + 2)
    expected = [round(100 * np.log(share / 0.5)), round(100 * np.log((1 - share) / 0.5))]
    assert points(np.array([[3.0, 1.0], [1.0, 3.0]])).tolist() == [expected, expected[::-1]]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_the_query_gives_the_labels_of_predict(form, people, dialect):
    query = form.to_sql(dialect=dialect, table="the people", keep=["noise"])
    if dialect == "sqlite":
        with sqlite3.connect(":memory:") as database:
            people.to_sql("the people", database, index=False)
            found = database.execute(query).fetchall()
    else:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as database:
            database.register("the people", people)
            found = database.execute(query).fetchall()
    assert [row[0] for row in found] == people["noise"].tolist()
    assert [row[1] for row in found] == form.predict(people).tolist()


def looked_up(sheet, answers):
    """What the formulas of the form do, with the points of the workbook: the label of some answers."""
    head, start, *lines = sheet.iter_rows(values_only=True)
    total = list(start[3:])
    for column, given in answers.items():
        own = [line for line in lines if line[0] == column]
        if isinstance(given, float):
            own = [line for line in own if line[2] is not None and line[2] <= given][-1:]
        else:
            own = [line for line in own if line[1] == ("(missing)" if given is None else given)]
        total = [sum(pair) for pair in zip(total, own[0][3:] if own else [0] * len(total), strict=True)]
    return head[3 + total.index(max(total))]


def test_the_spreadsheet_gives_the_labels_of_predict(form, people, tmp_path):
    rows = people.head(60)
    form.to_xlsx(tmp_path / "form.xlsx", rows)
    book = openpyxl.load_workbook(tmp_path / "form.xlsx")
    shown = openpyxl.load_workbook(tmp_path / "form.xlsx", data_only=True)["Form"]
    head = [cell.value for cell in shown[4]]
    labels = form.predict(rows).tolist()
    for at, label in enumerate(labels):
        line = dict(zip(head, [cell.value for cell in shown[5 + at]], strict=True))
        answers = {name: line[name] for name in form.columns}
        answers = {
            name: float(one) if name == "age" and one is not None else one for name, one in answers.items()
        }
        assert looked_up(book["Points"], answers) == label
        assert line["Cluster"] == label
    formulas = [cell.value for cell in book["Form"][5] if cell.data_type == "f"]
    assert len(formulas) == 3 + 3
    assert "EXACT" in formulas[-1]


def test_an_empty_form_waits_for_answers(form, tmp_path):
    form.save(tmp_path / "form.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "form.xlsx", data_only=True)["Form"]
    assert [cell.value for cell in sheet[5]][1:] == [None] * (len(form.columns) + 6)
    asked = [rule.formula1 for rule in sheet.data_validations.dataValidation]
    assert len(asked) == len([name for name in form.columns if name != "age"])


def test_the_page_holds_the_points_and_asks_no_network(form, tmp_path):
    pytest.importorskip("jinja2")
    form.save(tmp_path / "form.html")
    page = (tmp_path / "form.html").read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="form-data">(.*?)</script>', page, re.S)
    assert json.loads(data[1]) == form.summary
    assert "connect-src" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_an_answer_that_was_not_seen_has_no_points(form, people):
    rows = people.head(1).assign(drink="lemonade")
    rest = [one for one in form.selection.questions if one.name != "drink"]
    assert len(rest) < len(form.columns)
    seen = form.points(people.head(1))
    drink = next(one for one in form.selection.questions if one.name == "drink")
    points_of_answer = drink.scores[drink.values.index(people["drink"][0])]
    assert (form.points(rows) == seen - points_of_answer).all()


def test_weights_count(people, model):
    heavy = np.where(people["drink"] == "Tea", 50.0, 1.0)
    weighted = catalpa.short_form(model, people, most=2, sample_weight=heavy)
    plain = catalpa.short_form(model, people, most=2)
    assert weighted.baseline > plain.baseline + 0.3


def test_the_same_seed_chooses_the_same(people, model, form):
    again = catalpa.short_form(model, people, most=4)
    assert again.summary == form.summary


def test_rows_without_names_have_the_columns_of_the_form():
    rows = [[letter, letter, "ab"[at % 2]] for at, letter in enumerate("pqr" * 40)]
    model = catalpa.KModes(3, random_state=0).fit(rows)
    form = catalpa.short_form(model, rows, most=1)
    places = [model.schema_.inputs.index(name) for name in form.columns]
    short = [[row[at] for at in places] for row in rows]
    assert form.predict(short).tolist() == model.labels_.tolist()


def test_wrong_arguments_are_refused(model, people, form, tmp_path):
    with pytest.raises(ParameterError, match="most"):
        catalpa.short_form(model, people, most=0)
    with pytest.raises(ParameterError, match="fitted estimator"):
        catalpa.short_form("model.json", people)
    with pytest.raises(OutputError, match="must end in"):
        form.save(tmp_path / "form.docx")
    with pytest.raises(ParameterError, match="list of names"):
        form.to_sql(keep="noise")


def test_one_cluster_has_nothing_to_ask_for(people):
    one = catalpa.KModes(1, random_state=0).fit(people[["drink"]])
    with pytest.raises(ParameterError, match="one cluster"):
        catalpa.short_form(one, people)


def test_columns_of_too_many_categories_are_not_asked_for():
    rows = pd.DataFrame({"street": [f"s{at % 40}" for at in range(120)], "town": ["a", "b"] * 60})
    model = catalpa.KModes(2, random_state=0).fit(rows)
    assert catalpa.short_form(model, rows).columns == ["town"]
    with pytest.raises(ParameterError, match="more than 30 categories"):
        catalpa.short_form(catalpa.KModes(2, random_state=0).fit(rows[["street"]]), rows[["street"]])


def test_a_column_of_weights_is_named(people, model):
    weights = np.arange(len(people)) % 4.0
    named = catalpa.short_form(model, people.assign(w=weights), most=2, sample_weight="w")
    given = catalpa.short_form(model, people, most=2, sample_weight=weights)
    assert named.summary == given.summary


def test_a_recipe_is_applied_to_the_rows_that_are_labelled(people):
    told = {"schema": {"fields": [{"name": "age", "type": "number", "decimalChar": ","}]}}
    raw = people.assign(age=[str(age).replace(".", ",") if age == age else None for age in people["age"]])
    model = catalpa.Grove(3, random_state=0).fit(people)
    plain = catalpa.short_form(model, people, most=3)
    with_recipe = catalpa.Grove(3, random_state=0, recipe=told).fit(raw)
    form = catalpa.short_form(with_recipe, raw, most=3)
    assert "age" in form.columns
    assert form.columns == plain.columns
    assert form.predict(raw).tolist() == plain.predict(people).tolist()
    with pytest.raises(SqlError, match=r"recipe of the model changes \['age'\]"):
        form.to_sql()
