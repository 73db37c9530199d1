"""A new table beside the fitted one: what changed is named, what did not is not."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import catalpa


def made(rows: int, seed: int, red: float = 0.5, mean: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "colour": np.where(rng.random(rows) < red, "red", "blue"),
            "size": rng.choice(["s", "m", "l"], rows),
            "age": rng.normal(mean, 2.0, rows),
        }
    )


@pytest.fixture(scope="module")
def model() -> catalpa.Grove:
    return catalpa.Grove(2, random_state=0).fit(made(2000, 0))


def test_more_of_the_same_has_not_changed(model: catalpa.Grove) -> None:
    found = catalpa.drift(model, made(1500, 1))
    assert [one["column"] for one in found.summary["columns"] if one["changed"]] == []
    assert found.summary["rows"] == 1500
    assert found.summary["rows_at_fit"] == 2000


def test_a_category_that_rose_is_named_with_its_shares(model: catalpa.Grove) -> None:
    found = catalpa.drift(model, made(1500, 1, red=0.7))
    first = found.summary["columns"][0]
    assert (first["column"], first["changed"], first["rose"]["category"]) == ("colour", True, "red")
    assert first["distance"] == pytest.approx(0.2, abs=0.04)
    assert "colour" in repr(found)
    assert "red: 5" in found.html


def test_a_column_says_the_same_things_whether_it_changed_or_not(model: catalpa.Grove) -> None:
    columns = catalpa.drift(model, made(1500, 1, red=0.7)).summary["columns"]
    assert {one["changed"] for one in columns} == {True, False}
    for kind, own in {"categories": {"rose", "fell"}, "numbers": {"mean_at_fit", "mean", "shift"}}.items():
        told = [one.keys() for one in columns if one["kind"] == kind]
        assert all(keys == {"column", "kind", "distance", "changed"} | own for keys in told)


def test_weights_of_new_rows_count(model: catalpa.Grove) -> None:
    table = made(1500, 1)
    weights = np.where(table["colour"] == "red", 3.0, 1.0)
    for given in (weights, weights / weights.sum()):  # chance is a matter of rows, whatever weights add up to
        found = catalpa.drift(model, table, sample_weight=given)
        first = found.summary["columns"][0]
        share = weights[table["colour"] == "red"].sum() / weights.sum()
        assert (first["column"], first["changed"], first["rose"]["category"]) == ("colour", True, "red")
        assert first["rose"]["share"] == pytest.approx(share, abs=1e-6)
    assert not any(one["changed"] for one in catalpa.drift(model, table).summary["columns"])


def test_names_of_clusters_stand_beside_their_numbers() -> None:
    named = catalpa.Grove(2, random_state=0).fit(made(200, 0)).name_clusters({1: "the <old>"})
    found = catalpa.drift(named, made(100, 1))
    assert [one["name"] for one in found.summary["clusters"]] == [None, "the <old>"]
    assert "<bdi>the &lt;old&gt;</bdi>" in found.html


def test_a_shift_of_a_number_is_in_standard_deviations(model: catalpa.Grove) -> None:
    found = catalpa.drift(model, made(1500, 1, mean=1.0))
    age = next(one for one in found.summary["columns"] if one["column"] == "age")
    assert age["changed"]
    assert age["shift"] == pytest.approx(0.5, abs=0.08)
    assert age["mean_at_fit"] == pytest.approx(made(2000, 0)["age"].mean(), abs=1e-3)


def test_new_categories_and_numbers_that_are_gone_are_told(model: catalpa.Grove) -> None:
    table = made(60, 1).assign(age=np.nan)
    table.loc[:9, "colour"] = "green"
    with pytest.warns(catalpa.errors.UnseenCategoryWarning):
        found = catalpa.drift(model, table)
    assert found.summary["unseen"] == {"colour": 10}
    assert "no cell is there any more" in found.html
    assert "10 cells of colour" in found.html


def test_clusters_that_grew_are_told_and_certainty_only_where_there_are_probabilities() -> None:
    table = pd.DataFrame({"a": list("xy") * 100, "b": list("uv") * 100})
    grown = pd.DataFrame({"a": list("xxxy") * 50, "b": list("uuuv") * 50})
    model = catalpa.KModes(2, random_state=0).fit(table)
    found = catalpa.drift(model, grown)
    assert sum(one["changed"] for one in found.summary["clusters"]) == 2
    assert found.summary["certainty"] is None
    soft = catalpa.drift(catalpa.Grove(2, random_state=0).fit(table), grown)
    assert soft.summary["certainty"]["now"] == pytest.approx(soft.summary["certainty"]["at_fit"], abs=0.01)
    assert "Mean certainty" in soft.html


def test_a_column_that_is_all_one_cannot_change() -> None:
    table = pd.DataFrame({"a": list("xy") * 20, "b": ["u"] * 40, "c": [1.5] * 20 + [2.5] * 20})
    model = catalpa.KPrototypes(2, random_state=0).fit(table)
    found = catalpa.drift(model, table.assign(c=1.5))
    changed = {one["column"]: one["changed"] for one in found.summary["columns"]}
    assert changed == {"a": False, "b": False, "c": True}


def test_a_column_whose_cells_are_all_left_out_has_not_changed() -> None:
    frame = pd.DataFrame({"a": list("xyxy"), "none": pd.Series([None] * 4, dtype=object)})
    with pytest.warns(catalpa.errors.ColumnWarning):
        model = catalpa.KModes(2, random_state=0, missing="ignore").fit(frame)
    assert [one["column"] for one in catalpa.drift(model, frame).summary["columns"]] == ["a"]


def test_clusters_have_the_chips_of_the_report() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(list("abcdef"), 300) for name in ("one", "two", "three")})
    model = catalpa.KModes(10, n_init=1, random_state=0).fit(table)
    drifted, reported = (
        re.findall(r'<span class="(chip[^"]*)" style="--c: (#\w+)">(\d)</span>', page)
        for page in (catalpa.drift(model, table).html, model.report(table).html)
    )
    assert [int(cluster) for _, _, cluster in drifted] == list(range(10))
    assert set(drifted) <= set(reported)
    assert drifted[1] == ("chip dark-ink", "#E69F00", "1")
    assert drifted[8][0] == "chip square"


def test_tables_that_scroll_can_be_reached_by_keys(model: catalpa.Grove) -> None:
    table = made(200, 1)
    pages = (
        catalpa.drift(model, table).html,
        catalpa.compare(model.predict(table), catalpa.Grove(3, random_state=0).fit(table), table).html,
    )
    for page, boxes in zip(pages, (1, 2), strict=True):
        assert page.count('<div class="scroll"') == boxes
        named = re.findall(r'<div class="scroll" tabindex="0" role="region" aria-label="([^"]+)">', page)
        assert len(set(named)) == boxes
