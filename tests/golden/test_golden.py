"""Results stay what they were; a change is written by tools/write_golden.py and explained in its commit."""

from __future__ import annotations

import json

import pytest
from tests.golden.runs import FOLDER, SEEDS, TABLES, golden_file, run

from catalpa.cluster.registry import METHODS
from catalpa.table import fused


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", METHODS)
def test_a_run_gives_what_it_gave_before(method, table, seed):
    check_run(method, table, seed)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_gives_the_same_where_the_codes_of_columns_are_kept_fused(method, monkeypatch):
    monkeypatch.setattr(fused, "MANY_ROWS", 1)
    monkeypatch.setattr(fused, "PLACE_COST", 0)
    check_run(method, "zoo", 0)


def check_run(method: str, table: str, seed: int) -> None:
    path = golden_file(method)
    assert path.is_file(), f"no results of {method!r} are kept: run tools/write_golden.py {method}"
    kept = json.loads(path.read_text(encoding="utf-8"))
    expected = next(one for one in kept if one["table"] == table and one["seed"] == seed)
    result = run(method, table, seed)
    assert result["labels"] == expected["labels"]
    assert result["n_iter"] == expected["n_iter"]
    assert result["cost"] == pytest.approx(expected["cost"], rel=1e-9)


def test_no_results_are_kept_of_a_method_that_is_gone():
    assert {path.stem for path in FOLDER.glob("*.json")} <= set(METHODS)
