"""Two clusterings side by side: who moved, how movers differ, and what cannot be compared."""

from __future__ import annotations

import re

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
    assert found.crosstab.adjusted_rand == pytest.approx(adjusted_rand_score(first.labels_, second.labels_))
    assert found.to_frame().to_numpy().sum() == len(zoo)
    assert "Grove" in found.html
    assert "101 rows" in repr(found)


def test_a_model_agrees_with_its_own_labels(zoo: pd.DataFrame) -> None:
    model = catalpa.KModes(3, random_state=0).fit(zoo)
    found = catalpa.compare(model, [f"group {label}" for label in model.labels_], zoo)
    assert found.crosstab.staying == 1.0
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
    assert "too few rows moved or stayed to say" in found.html


def test_weights_count_as_rows() -> None:
    found = catalpa.compare([0, 0, 1], [0, 1, 1], sample_weight=[3, 1, 0.5])
    assert found.crosstab.counts.tolist() == [[3.0, 1.0], [0.0, 0.5]]


def test_large_weights_are_written_out_on_the_page() -> None:
    html = catalpa.compare([0, 0, 1], [0, 1, 1], sample_weight=[23456.75, 12345.75, 0.5]).html
    assert "23,457" in html
    assert "12,346" in html
    assert "e+04" not in html


def test_those_who_moved_are_described_by_their_weights() -> None:
    # Of those that moved half are blue by number, and nearly all by weight.
    table = pd.DataFrame({"colour": ["red"] * 20 + ["blue"] * 10 + ["red"] * 10 + ["green"] * 8})
    first, second = [0] * 40 + [1] * 8, [0] * 20 + [1] * 28
    weights = [10.0] * 20 + [9.0] * 10 + [1.0] * 10 + [1.0] * 8
    told = [
        catalpa.compare(first, second, table, sample_weight=weight).summary["moves"][0]["differ"]
        for weight in (None, weights, np.array(weights) / 500)
    ]
    assert told[0].startswith("50 % colour=blue")
    assert told[1].startswith("90 % colour=blue")
    assert told[2].startswith("90 % colour=blue")  # weights that add up to less than the rows


def test_names_of_clusters_head_the_table(zoo: pd.DataFrame) -> None:
    model = catalpa.KModes(3, random_state=0).fit(zoo).name_clusters({1: "birds"})
    found = catalpa.compare(model, model.labels_, zoo)
    assert found.summary["first"]["clusters"] == ["0", "birds", "2"]
    assert list(found.to_frame().index) == ["0", "birds", "2"]


@pytest.mark.parametrize(
    ("first", "second", "weight", "said"),
    [
        ([0, 1], [0, 1, 1], None, "2 rows and the second 3"),
        ([0, 1], [0, 1], [1.0], "give one weight per row"),
        ([0, 1], [0, 1], [1.0, -1.0], "weights are 0 or more"),
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
    assert "<i>" not in page
    assert not re.search(
        r"<b>(?!<bdi>(first|second)</bdi>)", page
    )  # bold are the names of the clusterings alone
    assert "&lt;b&gt;" in page
    assert np.char.count(page, "<table") == 2


def test_models_take_their_own_columns_of_a_table() -> None:
    """Names of rows, weights and the like are no concern of a model, whatever the kind of the table."""
    zoo = catalpa.datasets.load("zoo").frame
    one, other = (catalpa.KModes(3, random_state=seed).fit(zoo.iloc[:, seed:]) for seed in (0, 1))
    wide = zoo.assign(animal=[f"animal {at}" for at in range(len(zoo))])
    counts = catalpa.compare(one, other, wide).crosstab.counts
    assert counts.tolist() == catalpa.metrics.codes.pair_counts(one.labels_, other.labels_, (3, 3)).tolist()


@pytest.mark.parametrize(("movers", "described"), [(5, True), (4, False)])
def test_movers_are_described_from_five_rows_on(movers, described):
    table = [["a"]] * (20 - movers) + [["b"]] * movers + [["c"]] * 20
    first = [0] * 20 + [1] * 20
    second = [0] * (20 - movers) + [1] * movers + [1] * 20
    (move,) = catalpa.compare(first, second, table).summary["moves"]
    assert (move["differ"] is not None) == described
