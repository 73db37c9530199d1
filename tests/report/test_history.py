"""Clusters over months: sizes, who continues whom, and what has changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import catalpa
from catalpa.errors import ParameterError
from catalpa.report.history_page import HEIGHT


@pytest.fixture(scope="module")
def months() -> list[tuple[str, Any, pd.DataFrame]]:
    """Three months of planted groups: the third one comes in June, and grows."""
    made = catalpa.datasets.make_categorical(900, columns=8, categories=4, clusters=3, noise=0.2, seed=0)
    frame, groups = made.frame.astype(str), made.clusters
    may, june, july = (
        frame[np.isin(groups, kept) & (np.arange(900) % 3 == at)]
        for at, kept in enumerate([[0, 1], [0, 1, 2], [0, 1, 2]])
    )
    first = catalpa.Grove(2, random_state=0).fit(may).name_clusters({0: "a <b>", 1: "others"})
    second = catalpa.Grove(3, random_state=0).fit(june).match_to(first, june)
    return [("May", first, may), ("June", second, june), ("July", second, july)]


def test_sizes_are_those_of_the_labels(months: Any) -> None:
    found = catalpa.history(months)
    frame = found.to_frame()
    for label, model, table in months:
        lines = frame[frame["period"] == label]
        assert lines["rows"].tolist() == np.bincount(model.predict(table)).tolist()
        assert lines["share"].sum() == pytest.approx(1.0)
    assert found.summary["periods"][1]["rows"] == len(months[1][2])


def test_clusters_that_continue_each_other_are_on_one_line(months: Any) -> None:
    lines = catalpa.history(months).summary["lines"]
    assert [line["name"] for line in lines] == ["a <b>", "others", "2"]
    assert lines[2]["shares"][0] is None
    assert all(share is not None for line in lines[:2] for share in line["shares"])


def test_the_model_of_the_period_before_is_taken(months: Any) -> None:
    short = [months[0], months[1], ("July", months[2][2])]
    assert catalpa.history(short).summary == catalpa.history(months).summary


def test_rows_that_stay_by_hand() -> None:
    old = catalpa.KModes(2, random_state=0).fit([["a"], ["b"]])
    a, b = old.predict([["a"], ["b"]])
    rows = [["a"]] * 6 + [["b"]] * 4
    found = catalpa.history([("one", old, rows), ("two", rows[:5] + rows[8:])])
    frame = found.to_frame().set_index(["period", "cluster"])
    assert frame["rows"].loc["one"].to_dict() == {a: 6.0, b: 4.0}
    assert frame["rows"].loc["two"].to_dict() == {a: 5.0, b: 2.0}
    assert frame["stays"].loc["one"].tolist() == [1.0, 1.0]
    assert found.summary["periods"][1]["staying"] == 1.0


def test_what_has_changed_is_that_of_drift(months: Any) -> None:
    changed = [period["changed"] for period in catalpa.history(months).summary["periods"]]
    assert changed[0] == []
    assert changed[1] == catalpa.drift(months[0][1], months[1][2]).changed != []


def test_the_page_shows_every_period_and_escapes_names(months: Any) -> None:
    found = catalpa.history(months, title="Our customers")
    assert "Our customers" in found.html
    assert "a &lt;b&gt;" in found.html
    assert "a <b>" not in found.html
    assert all(f">{label}</th>" in found.html for label in ("May", "June", "July"))
    assert "3 periods, May to July" in repr(found)
    picture = found._content()["picture"]
    for column in picture["columns"]:
        ends = [box["y"] + box["height"] for box in column["boxes"].values()]
        assert max(ends) <= picture["height"] + 1
        assert sum(box["height"] for box in column["boxes"].values()) <= HEIGHT
    # Ribbons fill the boxes that they leave.
    assert {one["source"] for one in picture["ribbons"]} == {"a <b>", "others", "2"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda months: months[:1], "two or more periods, but got 1"),
        (lambda months: [("May", months[0][2]), months[1]], r"\(label, model, X\)"),
        (lambda months: [months[0], months[0]], "a unique label"),
        (lambda months: [("May", "model.json", months[0][2]), months[1]], "give a fitted model"),
        (lambda months: [months[0], 7], r"\(label, model, X\)"),
    ],
)
def test_what_is_refused(months: Any, change: Any, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        catalpa.history(change(months))


def test_the_frame_is_of_the_library_of_the_first_table() -> None:
    zoo = catalpa.datasets.load("zoo").frame
    model = catalpa.KModes(3, random_state=0).fit(zoo)
    found = catalpa.history([("May", model, pl.from_pandas(zoo)), ("June", zoo)])
    assert isinstance(found.to_frame(), pl.DataFrame)
