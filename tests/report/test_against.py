"""Clusters beside a column that took no part: counts, agreement, means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import catalpa
from catalpa.errors import ParameterError
from catalpa.metrics import adjusted_rand
from catalpa.report.against import crossed

LABELS = np.array([0, 0, 0, 1, 1, 1])


def test_categories_are_counted_in_every_cluster():
    found = crossed(LABELS, 2, pd.Series(["x", "x", "y", "y", "y", None], name="answer"))
    assert found["column"] == "answer"
    assert dict(zip(found["categories"], np.transpose(found["counts"]).tolist(), strict=True)) == {
        "x": [2, 0],
        "y": [1, 2],
        "(missing)": [0, 1],
    }
    whole = crossed(LABELS, 2, ["x", "x", "y", "y", "y", "y"])
    assert whole["adjusted_rand"] == pytest.approx(adjusted_rand(LABELS, [0, 0, 1, 1, 1, 1]))
    assert whole["column"] == "the column kept out"


def test_a_number_has_means_and_a_share_of_variance_that_clusters_explain():
    values = np.array([1.5, 2.5, 3.5, 7.25, np.nan, 9.25])
    found = crossed(LABELS, 2, values, name="price")
    there = ~np.isnan(values)
    groups = [values[there & (LABELS == cluster)] for cluster in (0, 1)]
    overall = values[there].mean()
    between = sum(len(group) * (group.mean() - overall) ** 2 for group in groups)
    assert found["means"] == pytest.approx([group.mean() for group in groups])
    assert found["explained"] == pytest.approx(between / ((values[there] - overall) ** 2).sum())
    absent = crossed(LABELS, 3, np.full(6, 1.5))
    assert (absent["means"][2], absent["explained"]) == (None, 0.0)


def test_rows_count_by_their_weights():
    weights = np.array([1.0, 2.0, 1.0, 0.5, 0.5, 0.0])
    found = crossed(LABELS, 2, list("xxyyyx"), weights=weights)
    assert found["counts"] == [[3.0, 1.0], [0.0, 1.0]]
    numbers = crossed(LABELS, 2, [1.5, 2.5, 3.5, 7.5, 8.5, 1e9], weights=weights)
    assert numbers["means"] == pytest.approx([2.5, 8.0])


def test_a_page_shows_the_table_of_a_class_that_was_kept_out():
    zoo = catalpa.datasets.load("zoo")
    model = catalpa.Grove(7, random_state=0).fit(zoo.frame)
    found = model.report(zoo.frame, against=zoo.target)
    assert found.summary["against"]["adjusted_rand"] == pytest.approx(
        adjusted_rand(zoo.target, model.labels_)
    )
    assert 0.8 < found.summary["against"]["association"] <= 1
    assert '<section id="against">' in found.html
    weights = np.linspace(0.5, 40.25, 101)
    numbers = model.report(zoo.frame, against=pl.Series("weight", weights)).html
    assert "of its variance" in numbers
    many = model.report(zoo.frame, against=[f"animal {at % 50}" for at in range(101)]).html
    assert "and 10 more categories" in many
    assert '<section id="against">' not in model.report(zoo.frame).html


def test_as_many_values_as_rows_are_asked_for():
    with pytest.raises(ParameterError, match="against has 2 values, but the table has 6 rows"):
        crossed(LABELS, 2, ["x", "y"])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_of_the_table_is_crossed_by_its_name(library):
    rows = {"a": ["x"] * 6 + ["y"] * 6, "b": ["u"] * 6 + ["v"] * 6}
    model = catalpa.KModes(2, random_state=0).fit(library(rows))
    wide = library({**rows, "class": ["p", "q"] * 6})
    named, given = (
        model.report(wide, against=against).summary["against"] for against in ("class", wide["class"])
    )
    assert named == given
    assert named["column"] == "class"
    assert np.sum(named["counts"]) == 12
    with pytest.raises(ParameterError, match="against is 'klass', which is not a column of the table"):
        model.report(wide, against="klass")
    with pytest.raises(ParameterError, match="against is 'class', which is not a column"):
        model.report(np.array([["x", "u"], ["y", "v"]]), against="class")
