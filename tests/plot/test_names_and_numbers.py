"""Charts call clusters by their names, and the profile shows numbers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa import plot
from catalpa.errors import UnknownColumn


@pytest.fixture(scope="module")
def rows():
    return pd.DataFrame(
        {
            "colour": ["red"] * 6 + ["blue"] * 6,
            "shape": ["round"] * 5 + ["square"] * 7,
            "price": [*np.linspace(1.5, 2.5, 6), *np.linspace(8.5, 9.5, 5), np.nan],
            "nothing": [np.nan] * 6 + list(np.linspace(0.5, 1.5, 6)),
        }
    )


@pytest.fixture(scope="module")
def model(rows):
    found = catalpa.KPrototypes(2, random_state=0).fit(rows)
    return found.name_clusters({int(found.labels_[0]): "red & round"})


def values(chart):
    return [row for part in _data(chart.to_dict()) for row in part]


def _data(part):
    if isinstance(part, dict):
        if isinstance(part.get("values"), list):
            yield part["values"]
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _data(one)


def test_the_profile_shows_the_mean_of_every_number_and_its_shift(model):
    cells = [row for row in values(plot.profile_map(model)) if "mean" in row]
    profile = model.profiles_[model.profiles_["column"].isin(["price", "nothing"])].dropna(subset=["mean"])
    assert sorted(row["mean"] for row in cells) == pytest.approx(sorted(profile["mean"]))
    of_price = {row["cluster"]: row["shift"] for row in cells if row["column"] == "price"}
    assert of_price["red & round"] < -1.5
    assert len([row for row in cells if row["column"] == "nothing"]) == 1  # one cluster has none


def test_columns_of_either_kind_can_be_chosen(model):
    cells = values(plot.profile_map(model, ["price"]))
    assert {row["column"] for row in cells} == {"price"}
    both = values(plot.profile_map(model, ["price", "colour"]))
    assert {row["column"] for row in both} == {"price", "colour"}
    with pytest.raises(UnknownColumn, match="'price'"):
        plot.profile_map(model, ["weight"])


@pytest.mark.parametrize(
    "chart",
    [
        lambda model, _: plot.profile_map(model),
        lambda model, _: plot.cluster_sizes(model),
        plot.category_map,
        plot.number_boxes,
        plot.row_map,
        plot.silhouettes,
    ],
    ids=["profile", "sizes", "categories", "numbers", "rows", "silhouettes"],
)
def test_charts_call_clusters_by_their_names(chart, model, rows):
    assert "red & round" in json.dumps(chart(model, rows).to_dict())


def test_trees_call_clusters_by_their_names(rows):
    named = catalpa.DISC(2, random_state=0).fit(rows[["colour", "shape"]]).name_clusters({0: "the first"})
    assert "shape in the first" in json.dumps(plot.relation_tree(named, 0, "shape").to_dict())
    assert "shape in cluster 1" in json.dumps(plot.relation_tree(named, 1, "shape").to_dict())


def test_profiles_have_names_where_clusters_do(model, rows):
    profiles = model.profiles_
    (named,) = set(profiles["name"].dropna())
    assert named == "red & round"
    assert set(profiles["cluster"][profiles["name"].notna()]) == {model.cluster_names_.index(named)}
    assert "name" not in catalpa.KPrototypes(2, random_state=0).fit(rows).profiles_
