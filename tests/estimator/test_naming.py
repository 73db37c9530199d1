"""Clusters are called what people call them, wherever they are shown."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import catalpa
from catalpa.errors import ModelFileError, ParameterError
from catalpa.estimator.naming import suggested
from catalpa.explain.batteries import items_of_questions
from catalpa.explain.reasons import CategoryReason, NumberReason

ROWS = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["c", "z"]]


@pytest.fixture
def model():
    return catalpa.KModes(3, random_state=0).fit(ROWS)


def test_names_are_added_changed_and_taken_away(model):
    assert model.cluster_names_ == ["0", "1", "2"]
    assert model.name_clusters({0: " first ", np.int32(2): "last"}) is model
    assert model.cluster_names_ == ["first", "1", "last"]
    assert model.name_clusters({2: "end", 0: None}).cluster_names_ == ["0", "1", "end"]
    assert model.predict(ROWS).dtype.kind == "i"


def test_another_fit_begins_without_names_and_a_batch_keeps_them(model):
    model.name_clusters({1: "middle"})
    assert model.partial_fit(ROWS).cluster_names_ == ["0", "middle", "2"]
    assert model.fit(ROWS).cluster_names_ == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({3: "none"}, r"\[3\], but the clusters are 0 to 2"),
        ({"0": "text"}, r"\['0'\], but the clusters"),
        ({True: "truth"}, "the clusters are 0 to 2"),
        ({0.5: "half"}, "the clusters are 0 to 2"),
        ({float("nan"): "none"}, "the clusters are 0 to 2"),
        ({0: "same", 1: "same"}, "Clusters 0 and 1 would both be called 'same'"),
        ({0: "2"}, "Clusters 0 and 2 would both be called '2'"),
        ({0: 5}, "The name of cluster 0 is 5; pass a string"),
        ({0: "  "}, "pass a string on one line"),
        ({0: "two\nlines"}, "pass a string on one line"),
        ({0: "long" * 30}, "has 120 characters; the maximum is 80"),
        (["first"], "give a dictionary"),
    ],
)
def test_what_is_no_name_is_refused_and_nothing_changes(model, names, said):
    with pytest.raises(ParameterError, match=said):
        model.name_clusters(names)
    assert model.cluster_names_ == ["0", "1", "2"]


def test_before_fit_there_is_nothing_to_name():
    with pytest.raises(NotFittedError):
        catalpa.KModes(2).name_clusters({0: "first"})
    with pytest.raises(NotFittedError):
        _ = catalpa.KModes(2).cluster_names_


def test_a_model_file_keeps_names(model, tmp_path):
    path = tmp_path / "model.json"
    model.name_clusters({0: 'the "first"', 2: "Ünde"}).save(path)
    assert catalpa.load(path).cluster_names_ == model.cluster_names_
    document = json.loads(path.read_text())
    del document["names"]
    path.write_text(json.dumps(document))
    assert catalpa.load(path).cluster_names_ == ["0", "1", "2"]


@pytest.mark.parametrize("names", [["first"], {"9": "ninth"}, {"01": "first"}, {"0": 3}, {"0": "1"}])
def test_damaged_names_of_a_model_file_are_refused(model, tmp_path, names):
    path = tmp_path / "model.json"
    model.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"names": names}))
    with pytest.raises(ModelFileError, match="names"):
        catalpa.load(path)


def test_a_query_gives_the_name_beside_the_label(model):
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE "rows" (x0 TEXT, x1 TEXT)')
    database.executemany('INSERT INTO "rows" VALUES (?, ?)', ROWS)
    model.name_clusters({int(model.labels_[0]): "O'Brien's"})
    found = database.execute(model.to_sql(dialect="sqlite", keep=[])).fetchall()
    assert found == [(label, model.cluster_names_[label]) for label in model.labels_]
    with pytest.raises(ParameterError, match="two columns of one name"):
        model.to_sql(keep=["Cluster_Name"])


def test_names_are_suggested_from_what_sets_clusters_apart():
    milk, wings = CategoryReason("milk", "1", 0.9, 0.1, 0.5), CategoryReason("wings", "no", 0.9, 0.1, 0.4)
    price, colour = (
        NumberReason("price", 9.0, 2.0, 1.0, 1.0, 3.0, 0.5),
        CategoryReason("colour", "red", 1, 0, 1),
    )
    cheap, legs = NumberReason("price", 1.0, 2.0, 1.0, 1.0, -1.0, 0.5), CategoryReason("legs", "4", 1, 0, 1)
    rare, lacks = (
        CategoryReason("colour", "blue", 0.0, 0.5, 0.1),
        CategoryReason("eggs", "yes", 0.0, 0.5, 0.1),
    )
    has = CategoryReason("tail", "0", 0.0, 0.5, 0.1)
    middling = NumberReason("price", 2.456789, 2.0, 0.1, 1.0, 0.2, 0.5)
    found = [
        [wings, milk],
        [price, colour],
        [cheap, legs],
        [lacks, has],
        [rare],
        [],
        [milk, wings],
        [milk, wings, legs],
        [middling, legs],
    ]
    assert suggested(found) == {
        0: "milk, no wings",
        1: "high price, red",
        2: "low price, legs 4",
        3: "tail, no eggs",
        4: "no blue",
        5: "cluster 5",
        6: "milk, no wings (6)",
        7: "milk, legs 4",
        8: "price near 2.46, legs 4",
    }
    long = CategoryReason("a", "b" * 100 + "\n\u200d", 1, 0, 1)
    assert len(suggested([[long, long]])[0]) <= 80
    assert suggested([[CategoryReason("a", "b\nc", 1, 0, 1)]]) == {0: "b c"}


def test_an_answer_to_several_questions_is_named_with_its_question():
    rows = [["often", "rarely", "red"]] * 20 + [["rarely", "often", "blue"]] * 20
    table = pd.DataFrame(rows, columns=["sport", "music", "colour"])
    names = catalpa.KModes(2, random_state=0).fit(table).suggest_names()
    assert set(names.values()) == {"sport often, music rarely", "sport rarely, music often"}


def test_suggested_names_can_be_taken_as_they_are():
    zoo = catalpa.datasets.load("zoo").frame
    model = catalpa.Grove(7, random_state=0).fit(zoo)
    names = model.suggest_names()
    assert model.name_clusters(names).cluster_names_ == list(names.values())
    assert any("feathers" in name for name in names.values())


def test_pages_charts_and_the_card_carry_names():
    zoo = catalpa.datasets.load("zoo").frame
    model = catalpa.Grove(4, random_state=0).fit(zoo).name_clusters({1: "<b> & co"})
    page = model.report(zoo).html
    assert "<strong><bdi>&lt;b&gt; &amp; co</bdi></strong>" in page
    assert "<strong><bdi>Cluster 0</bdi></strong>" in page
    assert "<b> & co" not in page
    assert "<th>&lt;b&gt; &amp; co</th>" in model._repr_html_()
    for chart in (
        catalpa.plot.profile_map(model),
        catalpa.plot.cluster_sizes(model),
        catalpa.plot.row_map(model, zoo),
    ):
        assert "<b> & co" in json.dumps(chart.to_dict())


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (CategoryReason("Do you eat steak?", "No", 1.0, 0.0, 1.0), "Do you eat steak? No"),
        (CategoryReason("Do you eat steak?", "Yes", 0.0, 0.9, 1.0), "Do you eat steak? No"),
        (CategoryReason("milk", "0", 1.0, 0.1, 1.0), "no milk"),
        (CategoryReason("income", "(missing)", 0.9, 0.1, 1.0), "income missing"),
        (CategoryReason("income", "(missing)", 0.0, 0.6, 1.0), "income given"),
    ],
)
def test_a_question_is_named_with_its_answer(reason, name):
    assert suggested([[reason]]) == {0: name}


def test_several_missing_columns_are_one_name():
    reasons = [CategoryReason(name, "(missing)", 1.0, 0.1, 1.0) for name in ("age", "income", "job")]
    assert suggested([reasons]) == {0: "many missing values"}


def test_tick_boxes_are_named_by_their_items():
    names = [f"Which of these pies do you serve? - {pie}" for pie in ("Apple", "Pecan")]
    reasons = [CategoryReason(names[0], "yes", 1.0, 0.1, 1.0), CategoryReason(names[1], "no", 1.0, 0.1, 0.9)]
    assert suggested([reasons], (), items_of_questions(names)) == {0: "Apple, no Pecan"}
