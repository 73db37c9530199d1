"""Every public function on every kind of table: works on all rows, samples, or is refused with a reason."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.engines import every_function
from tests.engines.test_weight_column import KINDS as MAKERS

import catalpa

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::catalpa.errors.LopsidedClustersWarning"),
]
ELSEWHERE = ("scan", "LazyFrame", "DuckDB", "Dask", "Spark")
# A pass of Spark takes long: one function of each way to visit rows, and all of them if CATALPA_SLOW is set.
QUICK_IN_SPARK = ("predict", "outlier_scores", "score", "report", "drift", "compare", "look", "short_form")


@cache
def models() -> tuple[Any, Any]:
    frame = every_function.rows()
    return every_function.MODEL.fit(frame), catalpa.KPrototypes(3, random_state=0, n_init=1).fit(frame)


def outcome(name: str, kind: str, request: Any) -> tuple[str, Any]:
    frame = every_function.wide_rows()[every_function.columns_of(name)]
    table = MAKERS[every_function.KINDS[kind]](frame, request)
    return every_function.outcome(name, table, models())


@cache
def in_memory(name: str) -> Any:
    return outcome(name, "pandas", None)[1]


@pytest.mark.parametrize("name", every_function.FUNCTIONS)
@pytest.mark.parametrize("kind", every_function.KINDS)
def test_the_page_has_what_comes_of_every_table_and_results_are_those_of_memory(kind, name, request):
    if kind == "Spark" and name not in QUICK_IN_SPARK and not os.environ.get("CATALPA_SLOW"):
        pytest.skip("a pass of Spark takes long")
    word, result = outcome(name, kind, request)
    assert word == every_function.written()[name][kind], result
    if not word.startswith("refused"):
        np.testing.assert_equal(_plain(result), _plain(in_memory(name)))


def test_tables_in_memory_are_used_completely():
    for name, cells in every_function.written().items():
        assert {cells[kind] for kind in ("pandas", "polars", "Arrow")} == {"all"}, name


def test_only_rows_one_by_one_are_refused():
    """Counts, weights and models of sums work everywhere."""
    refused = {
        name
        for name, cells in every_function.written().items()
        if any(cells[kind].startswith("refused") for kind in ELSEWHERE)
    }
    assert refused == {
        "MCDC.fit",
        "WOCIL.fit",
        "explain_rows",
        "onnx_inputs",
        "metrics.compactness",
        "metrics.categorical_silhouette",
    }


def _plain(value: Any) -> Any:
    """A result with its numbers to twelve digits: sums over all rows may differ in the last ones."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return float(f"{value:.10e}") if isinstance(value, float) else value
