"""Every public function on every kind of table: works on all rows, samples, or is refused with a reason."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.engines import every_function
from tests.engines.test_weight_column import KINDS

import catalpa

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::catalpa.errors.LopsidedClustersWarning"),
]
# A pass of Spark takes long: what it makes of a few functions is what Dask makes of them.
TABLES = {"streamed": "scan", "lazy": "LazyFrame", "duckdb": "DuckDB", "dask": "Dask", "spark": "Dask"}
QUICK_IN_SPARK = ("predict", "outlier_scores", "score", "report", "drift", "compare")


@cache
def models() -> tuple[Any, Any]:
    frame = every_function.rows()
    return every_function.MODEL.fit(frame), catalpa.KPrototypes(3, random_state=0, n_init=1).fit(frame)


@cache
def in_memory(name: str) -> tuple[str, Any]:
    return every_function.outcome(name, every_function.rows(), models())


@pytest.mark.parametrize("name", every_function.FUNCTIONS)
def test_the_page_says_what_comes_of_frames(name):
    assert in_memory(name)[0] == every_function.written()[name]["frame or array"]


@pytest.mark.parametrize("name", every_function.FUNCTIONS)
@pytest.mark.parametrize("kind", ["streamed", "lazy", "duckdb", "dask", "spark"])
def test_the_page_says_what_comes_of_tables_elsewhere_and_results_are_those_of_memory(kind, name, request):
    if kind == "spark" and name not in QUICK_IN_SPARK:
        pytest.skip("a pass of Spark takes long")
    word, result = every_function.outcome(name, KINDS[kind](every_function.rows(), request), models())
    assert word == every_function.written()[name][TABLES[kind]], result
    if word.startswith("error"):
        return
    known = in_memory(name)[1]
    if isinstance(known, list | float | tuple):
        np.testing.assert_equal(_plain(result), _plain(known))
    else:
        assert result == known


def _plain(value: Any) -> Any:
    """A result with its numbers to twelve digits: sums over all rows may differ in the last ones."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return float(f"{value:.10e}") if isinstance(value, float) else value
