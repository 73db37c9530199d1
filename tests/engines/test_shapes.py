"""The shape of numbers, and rows gathered by position, are the same wherever the table is."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.engines.elsewhere import ENGINES

import catalpa
from catalpa.engines.local import opener_for
from catalpa.table.blocks import gather_rows, search_positions
from catalpa.table.schema import TableSettings

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

ROWS = 6000


def in_text(frame: pd.DataFrame, request: Any) -> Any:
    folder = request.getfixturevalue("tmp_path")
    frame.to_csv(folder / "rows.csv", index=False)
    return catalpa.scan(folder / "rows.csv", memory="4MB")


@cache
def mixed() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue", "green"], ROWS),
            "bell of *": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(50.0, 5.0, ROWS)),
            "age": rng.integers(0, 90, ROWS),
            "tail": np.where(rng.random(ROWS) < 0.05, np.nan, rng.exponential(size=ROWS)),
            "spike": np.where(rng.random(ROWS) < 0.4, 0.0, rng.random(ROWS)),
            "one": 2.5,
        }
    )


def settings_of(missing: str) -> TableSettings:
    return TableSettings(missing=missing, numbers="shape", search_rows=700, search_seed=3)


def told(schema: Any) -> Any:
    parts = ("name", "kind", "categories", "low", "high", "edges", "clipped")
    return [[getattr(column, part) for part in parts] for column in schema.columns], schema.decisions


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("make", [*ENGINES.values(), in_text], ids=[*ENGINES, "text"])
def test_shapes_and_gathered_rows_are_those_of_memory(make, missing, request):
    known = opener_for(mixed()).for_fit(settings_of(missing), None)
    table = make(mixed(), request)
    found = opener_for(table).for_fit(settings_of(missing), None)
    assert told(found.schema) == told(known.schema)
    positions = search_positions(ROWS, 500, seed=8)
    expected = known.engine.total(gather_rows, positions).block()
    gathered = found.engine.total(gather_rows, positions).block()
    np.testing.assert_array_equal(gathered.codes, expected.codes)
    np.testing.assert_array_equal(gathered.numbers, expected.numbers)
    assert gathered.start == 0
    assert gathered.weights is None


def test_the_columns_of_a_dask_array_are_shaped(request):
    request.getfixturevalue("monkeypatch").setitem(
        pytest.importorskip("dask").config.config, "scheduler", "sync"
    )
    numbers = mixed()[["tail", "one", "spike", "bell of *"]].to_numpy()
    numbers = np.column_stack([np.repeat([0.0, 1.0], ROWS // 2), numbers])
    table = pytest.importorskip("dask.array").from_array(numbers, chunks=(1700, 2))
    found = opener_for(table).for_fit(settings_of("category"), None)
    known = opener_for(numbers).for_fit(settings_of("category"), None)
    assert told(found.schema) == told(known.schema)


def test_a_table_without_numbers_is_not_looked_at_twice(request, monkeypatch):
    frame = mixed()[["colour"]]
    table = ENGINES["streamed"](frame, request)
    read = []
    whole = type(table).batches
    monkeypatch.setattr(type(table), "batches", lambda self: read.append(self.names) or whole(self))
    opener_for(table).for_fit(settings_of("category"), None)
    assert read == [("colour",)] * 2
