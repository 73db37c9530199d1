"""Two clusterings side by side: who moved, how movers differ, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import catalpa
from catalpa.errors import MissingValues, ParameterError


@pytest.fixture(scope="module")
def zoo() -> pd.DataFrame:
    return catalpa.datasets.load("zoo").frame


def test_two_models_are_compared_on_the_rows_of_a_table(zoo: pd.DataFrame) -> None:
    first, second = (method(5, random_state=0).fit(zoo) for method in (catalpa.Grove, catalpa.KModes))
    found = catalpa.compare(first, second, zoo)
    assert found.crossing.adjusted_rand == pytest.approx(adjusted_rand_score(first.labels_, second.labels_))
    assert found.to_frame().to_numpy().sum() == len(zoo)
    assert "Grove" in found.html
    assert "101 rows" in repr(found)


def test_a_model_agrees_with_its_own_labels(zoo: pd.DataFrame) -> None:
    model = catalpa.KModes(3, random_state=0).fit(zoo)
    found = catalpa.compare(model, [f"group {label}" for label in model.labels_], zoo)
    assert found.crossing.staying == 1.0
    assert found.summary["moves"] == []
    assert "Who moved" not in found.html


def test_those_who_moved_are_told_from_those_who_stayed() -> None:
    table = pd.DataFrame({"colour": ["red"] * 20 + ["blue"] * 10, "size": ["s", "m", "l"] * 10})
    first = [0] * 30
    found = catalpa.compare(first, [0] * 20 + [1] * 10, table)
    assert found.summary["moves"][0]["rows"] == 10
    assert found.summary["moves"][0]["differ"].startswith("100 % colour=blue (nowhere else)")


def test_few_movers_and_no_table_have_nothing_to_say() -> None:
    found = catalpa.compare([0, 0, 0, 1], [0, 0, 1, 1])
    assert [move["differ"] for move in found.summary["moves"]] == [None]
    assert "too few rows to say" in found.html


def test_weights_count_as_rows() -> None:
    found = catalpa.compare([0, 0, 1], [0, 1, 1], sample_weight=[3, 1, 0.5])
    assert found.crossing.counts.tolist() == [[3.0, 1.0], [0.0, 0.5]]


@pytest.mark.parametrize(
    ("first", "second", "weight", "said"),
    [
        ([0, 1], [0, 1, 1], None, "2 rows and the second 3"),
        ([0, 1], [0, 1], [1.0], "one number of at least 0 for each of 2 rows"),
        ([0, 1], [0, 1], [1.0, -1.0], "at least 0"),
        ([0, 1], [[0], [1]], None, "one value per row"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    first: object, second: object, weight: object, said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        catalpa.compare(first, second, sample_weight=weight)


def test_a_model_needs_the_table_and_labels_must_be_there(zoo: pd.DataFrame) -> None:
    model = catalpa.KModes(3, random_state=0).fit(zoo)
    with pytest.raises(ParameterError, match="give the table"):
        catalpa.compare(model, model)
    with pytest.raises(MissingValues, match="the second clustering has 1 missing"):
        catalpa.compare([0, 1], [0, None])


def test_the_page_shows_texts_of_the_table_as_texts() -> None:
    page = catalpa.compare(["<b>", "<b>", "x"], ["y", "<i>", "<i>"]).html
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert np.char.count(page, "<table") == 2
