"""Tables as engines hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalpa.engines.local import LocalEngine
from catalpa.table import encode, infer


@pytest.fixture
def engine_of():
    """An engine that holds a table, in blocks of any size."""

    def make(table, *, n_jobs=None, rows_per_block=1 << 16, missing="category", weights=None):
        schema = infer(table, missing=missing)
        rows = encode(table, schema).rows.map(schema.scaling.apply)
        if weights is not None:
            rows = rows.map(lambda block: replace(block, weights=np.asarray(weights, dtype=np.int64)))
        return LocalEngine(rows, n_jobs, rows_per_block)

    return make
