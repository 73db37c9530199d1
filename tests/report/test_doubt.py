"""Rows that are hard to place, what rows and clusters are called, and the map of categories, on the page."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import catalpa
from catalpa.errors import ColumnMismatch, ParameterError
from catalpa.report.rows import separate_extra_columns


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Two groups, a row between them, and one that is like none."""
    return pd.DataFrame(
        [["a", "b", "c", "d"]] * 20
        + [["p", "q", "r", "s"]] * 20
        + [["a", "b", "r", "s"], ["x", "y", "z", "w"]],
        columns=list("efgh"),
    )


@pytest.fixture(scope="module")
def grove(rows) -> catalpa.Grove:
    return catalpa.Grove(2, random_state=0).fit(rows)


def test_rows_on_a_border_are_told_with_both_clusters(grove, rows):
    found = grove.report(rows).summary["borders"]
    sure = np.sort(grove.predict_proba(rows), axis=1)
    between = np.flatnonzero(sure[:, -2] >= 0.5 * sure[:, -1])
    assert 40 in between
    assert found["by"] == "probability"
    assert found["rows"] == len(between)
    assert found["pairs"] == [
        {"clusters": [0, 1], "rows": len(between), "examples": [str(row) for row in between[:5]]}
    ]


def test_methods_without_probabilities_have_borders_by_cost_and_no_outliers(rows):
    summary = catalpa.KModes(2, random_state=0).fit(rows).report(rows).summary
    assert summary["borders"]["by"] == "cost"
    assert summary["borders"]["pairs"][0]["examples"] == ["40", "41"]  # both are as far from either centre
    assert summary["outliers"] is None


def test_the_row_that_is_like_none_is_the_outlier(grove, rows):
    report = grove.report(rows)
    farthest = report.summary["outliers"]["farthest"]
    assert farthest[0]["name"] == "41"
    assert farthest[0]["score"] > 3.0
    assert report.summary["outliers"]["rows"] == len(farthest) == 2
    assert "Rows far from every cluster" in report.html
    assert "Rows on a border" in report.html


def test_an_outlier_is_one_in_any_company(grove, rows, tmp_path):
    scores = grove.outlier_scores(rows)
    assert (scores > 3.0).any()
    assert grove.outlier_scores(rows[41:]).tolist() == scores[41:].tolist()
    odd = pd.concat([rows[41:]] * 5)
    assert grove.report(odd).summary["outliers"]["rows"] == 5
    grove.save(tmp_path / "model.json")
    assert catalpa.load(tmp_path / "model.json").outlier_scores(rows).tolist() == scores.tolist()


def test_a_table_without_either_says_so(rows):
    html = catalpa.Grove(2, random_state=0).fit(rows[:40]).report(rows[:40]).html
    assert "No outliers." in html
    assert "None: rows for which another cluster" in html


def test_one_cluster_has_no_border_and_no_map_of_categories(rows):
    report = catalpa.Grove(1, random_state=0).fit(rows).report(rows)
    assert report.summary["borders"]["rows"] == 0
    assert report.summary["categories"] is None
    assert "Rows on a border" not in report.html
    assert "Which answers belong together" not in report.html


def test_typical_rows_are_told_by_the_index_of_the_frame(grove, rows):
    named = rows.set_axis([f"animal {at}" for at in range(len(rows))])
    summary = grove.report(named).summary
    shown = [row["name"] for one in summary["clusters"] for row in one["examples"]["typical"]]
    assert all(name.startswith("animal ") for name in shown)
    assert summary["outliers"]["farthest"][0]["name"] == "animal 41"


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_that_took_no_part_stand_beside_typical_rows(grove, rows, library):
    wide = library(
        {
            "person": [f"p{at}" for at in range(len(rows))],
            **{name: rows[name].tolist() for name in rows},
            "city <b>": ["Oslo"] * 41 + [None],
        }
    )
    report = grove.report(wide, id="person")
    plain = grove.report(rows).summary
    assert report.summary["rows"] == {"heading": "person", "beside": ["city <b>"]}
    odd = report.summary["outliers"]["farthest"][0]
    assert (odd["name"], odd["beside"]) == ("p41", ["(missing)"])
    assert [one["size"] for one in report.summary["clusters"]] == [one["size"] for one in plain["clusters"]]
    assert "Not clustered: city &lt;b&gt;." in report.html
    assert "city <b>" not in report.html.split("<script")[0]
    json.loads(report.to_json())


def test_names_of_rows_may_be_given_beside_the_table(grove, rows):
    names = pd.Series([f"p{at}" for at in range(len(rows))], name="person")
    for given in (names, names.tolist()):
        assert grove.report(rows, id=given).summary["outliers"]["farthest"][0]["name"] == "p41"
    assert grove.report(rows, id=names).summary["rows"]["heading"] == "person"
    unnamed = catalpa.Grove(2, random_state=0).fit(rows.to_numpy())
    found = unnamed.report(rows.to_numpy(), id=names.tolist()).summary["outliers"]
    assert found["farthest"][0]["name"] == "p41"


def test_a_column_that_was_clustered_may_name_the_rows_too(grove, rows):
    known, beside = separate_extra_columns(rows, grove.schema_, "e")
    assert list(known) == list(rows)
    assert (beside.heading, beside.name(41), beside.columns) == ("e", "x", {})


def test_ids_that_do_not_fit_are_refused(grove, rows):
    with pytest.raises(ParameterError, match="id is 'nobody', which is not a column"):
        grove.report(rows, id="nobody")
    with pytest.raises(ParameterError, match="id has 2 values, but the table has 42 rows"):
        grove.report(rows, id=["a", "b"])
    with pytest.raises(ColumnMismatch):
        grove.report(rows.drop(columns="e").assign(other=1))


def test_the_map_of_categories_is_a_part_of_the_page(grove, rows):
    report = grove.report(rows)
    told = {(point["column"], point["category"]) for point in report.summary["categories"]["points"]}
    assert ("e", "a") in told
    assert 'href="#categories"' in report.html
    assert "e = a" in report.html


def test_a_wide_table_shows_the_categories_that_tell_most():
    made = catalpa.datasets.make_categorical(300, columns=30, categories=6, clusters=3, seed=0).frame
    found = catalpa.KModes(3, random_state=0, n_init=1).fit(made).report(made).summary["categories"]
    assert len(found["points"]) == 100
    assert found["left_out"] == 80
    parts = [point["part"] for point in found["points"]]
    assert parts == sorted(parts, reverse=True)


def test_names_of_clusters_are_everywhere_on_the_page(rows):
    model = catalpa.Grove(2, random_state=0).fit(rows).name_clusters({0: "letters & more"})
    html = model.report(rows).html
    page, script = html.split('<script type="application/json"')
    assert (
        page.count("letters &amp; more") >= 9
    )  # glance, card, chips, chooser, legend, maps, rows, silhouettes
    assert "letters \\u0026 more" in script
    tree = catalpa.SigDT().fit(rows)
    tree.name_clusters({0: "the first"})
    assert "the first" in tree.report(rows).html.split('id="splits"')[1].split("</section>")[0]


def test_trees_keep_the_order_of_ordered_columns():
    scale = ["never", "rarely", "sometimes", "often", "always"]
    answers = ["always"] * 30 + ["often"] * 20 + ["never"] * 30 + ["rarely"] * 8
    table = pd.DataFrame(
        {
            "often": pd.Categorical(answers, scale, ordered=True),
            "b": ["x"] * 50 + ["y"] * 38,
            "c": ["u"] * 49 + ["v"] * 39,
        }
    )
    summary = catalpa.Grove(2, random_state=0).fit(table).report(table).summary["relations"]
    for trees in summary["trees"]:
        lines = [row[0] for row in trees[summary["columns"].index("often")]["rows"]]
        assert lines == [name for name in scale if name in lines]
        assert len(lines) > 1
