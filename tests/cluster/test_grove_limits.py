"""The limits that Grove's documentation gives: a table that just reaches each, and one that does not."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import LopsidedClustersWarning
from catalpa.estimator.checking import CHECK_ROWS
from catalpa.estimator.problem import Problem


@pytest.mark.parametrize(("largest", "warned"), [(95, False), (96, True)])
def test_one_cluster_with_more_than_95_percent_of_the_rows_is_warned_about(
    largest: int, warned: bool
) -> None:
    frame = pd.DataFrame({f"q{at}": ["a"] * largest + ["b"] * (100 - largest) for at in range(12)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = catalpa.Grove(2, sizes="equal", random_state=0).fit(frame)
    assert sorted(model.cluster_sizes_) == [100 - largest, largest]
    assert any(one.category is LopsidedClustersWarning for one in caught) == warned


@pytest.mark.parametrize(
    ("k", "rows"), [(2, 20_000), (40, 20_000), (41, 20_500), (60, 30_000), ("auto", 20_000)]
)
def test_clusters_are_sought_on_20_000_rows_or_500_per_cluster(
    monkeypatch: pytest.MonkeyPatch, k: int | str, rows: int
) -> None:
    asked = []
    some_rows = Problem.some_rows

    def watched(self: Problem, most: int, seed: int) -> object:
        asked.append(most)
        return some_rows(self, most, seed)

    monkeypatch.setattr(Problem, "some_rows", watched)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer clusters than asked for
        catalpa.Grove(k, n_init=1, random_state=0).fit([["a", "x"], ["b", "y"], ["c", "z"]] * 25)
    assert asked[0] == rows


@pytest.mark.filterwarnings("ignore::catalpa.errors.NoStructureWarning")
def test_a_search_looks_at_no_more_rows_than_it_says() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.choice(list("xyz"), 20_001), "b": rng.choice(list("uv"), 20_001)})
    seen: list[int] = []
    some_rows = Problem.some_rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Problem,
            "some_rows",
            lambda self, most, seed: seen.append(len(block := some_rows(self, most, seed))) or block,
        )
        for rows in (20_000, 20_001):
            catalpa.Grove(2, n_init=1, prior=1.0, random_state=0).fit(table[:rows])
    assert [rows for rows in seen if rows > CHECK_ROWS] == [20_000, 20_000]
