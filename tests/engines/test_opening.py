"""A table is opened once per call, whoever looks at its names, its rows and its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from catalpa import Grove, KModes
from catalpa.engines.local import opener_for


class CountedTable:
    """A table that can be had as a stream of Arrow batches only, and counts how often it is."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.table = pa.Table.from_pandas(frame)
        self.openings = 0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self.openings += 1
        return self.table.__arrow_c_stream__(requested_schema)


FRAME = pd.DataFrame({"colour": ["red", "red", "blue", "blue"] * 5, "size": list("sslm") * 5})
WEIGHTS = np.arange(20) % 3


@pytest.fixture
def counted() -> CountedTable:
    return CountedTable(FRAME)


@pytest.mark.parametrize("sample_weight", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("method", [KModes, Grove])
def test_fit_opens_the_table_once(counted, method, sample_weight):
    model = method(2, random_state=0).fit(counted, sample_weight=sample_weight)
    assert counted.openings == 1
    known = method(2, random_state=0).fit(FRAME, sample_weight=sample_weight)
    np.testing.assert_array_equal(model.labels_, known.labels_)
    assert model.feature_names_in_.tolist() == ["colour", "size"]


@pytest.mark.parametrize("ask", ["predict", "transform", "score", "partial_fit"])
def test_a_fitted_model_opens_the_table_once(counted, ask):
    getattr(KModes(2, random_state=0).fit(FRAME), ask)(counted)
    assert counted.openings == 1


def test_a_table_is_opened_when_its_opener_is_made(counted):
    opener = opener_for(counted)
    assert opener.header.names == ("colour", "size")
    assert counted.openings == 1
