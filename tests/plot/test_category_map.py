"""The chart of categories: what stands near what, which names are shown, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import ParameterError
from catalpa.plot import category_map
from catalpa.plot.category_map import MOST_PAIRED, category_map_of, category_points, draw_categories
from catalpa.plot.view import make_view


@pytest.fixture(scope="module")
def zoo_view() -> object:
    zoo = catalpa.datasets.load("zoo").frame
    return make_view(catalpa.Grove(4, random_state=0).fit(zoo), zoo)


def test_feathers_stand_nearer_to_wings_than_to_fins(zoo_view: object) -> None:
    places = {
        (point["column"], point["category"]): np.array([point["x"], point["y"]])
        for point in category_points(zoo_view)["points"]
    }
    feathers = places["feathers", "1"]
    wings, fins = (np.linalg.norm(feathers - places[column, "1"]) for column in ("airborne", "fins"))
    assert wings < fins


def test_names_cover_neither_each_other_nor_a_cluster(zoo_view: object) -> None:
    chart = draw_categories(category_points(zoo_view)).to_dict()
    layers = [layer for layer in chart["layer"] if layer.get("mark", {}).get("align")]
    points = next(layer["data"]["values"] for layer in layers)
    named = [point for point in points if point["side"]]
    assert 10 < len(named) < len(points)
    assert len({layer["mark"]["align"] for layer in layers}) == 2


def test_names_of_clusters_cover_neither_each_other_nor_a_square(zoo_view: object) -> None:
    titles = ["first of all", "second", "third", "fourth"]
    crowded = [[0.0, 0.0], [0.01, 0.0], [0.005, 0.0], [0.5, 0.5]]
    record = {**category_points(zoo_view), "clusters": crowded, "titles": titles}
    chart = draw_categories(record).to_dict()
    clusters = next(
        layer["data"]["values"]
        for layer in chart["layer"]
        if layer.get("mark", {}).get("type") == "square" or layer.get("mark") == "square"
    )
    assert [one["side"] for one in clusters] == ["above", "below", "", "above"]
    shown = [layer for layer in chart["layer"] if "dy" in layer.get("mark", {})]
    assert {layer["mark"]["dy"] for layer in shown} == {-16, 16}


def test_a_table_of_numbers_has_no_categories_to_map() -> None:
    table = pd.DataFrame({"a": [0.5, 1.5, 9.5, 8.25]})
    model = catalpa.KPrototypes(2, random_state=0).fit(table)
    with pytest.raises(ParameterError, match="numbers only"):
        category_map(model, table)


@pytest.mark.filterwarnings("ignore::catalpa.errors.ColumnWarning")
def test_very_many_categories_are_mapped_by_clusters_alone() -> None:
    table = [[f"a{row % MOST_PAIRED}", f"b{row % 2}"] for row in range(MOST_PAIRED + 2)]
    found = category_map_of(make_view(catalpa.KModes(2, random_state=0).fit(table), table))
    assert len(found.categories) == MOST_PAIRED + 2
    assert found.inertia[0] == pytest.approx(1.0)


def test_missing_cells_that_are_left_out_have_no_point() -> None:
    table = pd.DataFrame({"a": ["x", None, "y", "y"], "b": ["u", "u", "v", None]})
    model = catalpa.KModes(2, missing="ignore", random_state=0).fit(table)
    assert set(category_map_of(make_view(model, table)).categories) == {"x", "y", "u", "v"}


def test_a_model_gives_the_map_as_a_frame():
    table = catalpa.datasets.load("zoo").frame
    model = catalpa.KModes(3, random_state=0).fit(table)
    frame = model.category_map(table, axes=3)
    points = [f"{name}{axis}" for name in ("x", "contribution", "quality") for axis in range(3)]
    assert frame.columns.tolist() == ["column", "category", "count", *points]
    assert frame[["contribution0", "contribution1"]].sum().tolist() == pytest.approx([1.0, 1.0])
    drawn = category_points(make_view(model, table))["points"]
    assert [point["x"] for point in drawn] == pytest.approx(frame["x0"].tolist(), abs=1e-4)


def test_rows_without_any_known_category_give_an_empty_map() -> None:
    table = pd.DataFrame({"a": list("xxyyxy"), "b": list("uvuvuv")})
    model = catalpa.KModes(2, missing="ignore", handle_unknown="ignore", random_state=0).fit(table)
    unseen = pd.DataFrame({"a": ["p", "p"], "b": ["q", "r"]})
    assert len(model.category_map(unseen)) == 0
    category_map(model, unseen).to_json()
