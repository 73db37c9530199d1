"""What is found in a table does not depend on where its rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.engines.test_weight_column import KINDS

import catalpa
from catalpa.inspection import look as module

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
ROWS = 900


@pytest.fixture(scope="module")
def survey() -> pd.DataFrame:
    """A name per row, an ordered scale, numbers in text, and an answer that only the last rows have."""
    rng = np.random.default_rng(0)
    likes: Any = np.array(["never", "sometimes", "often", "always"])[rng.integers(4, size=ROWS)]
    return pd.DataFrame(
        {
            "person": [f"p{at}" for at in range(ROWS)],
            "likes": likes,
            "spent": [f"{value:.2f} EUR" for value in rng.gamma(2, 30, ROWS)],
            "code": np.where(np.arange(ROWS) < 600, rng.integers(1, 6, ROWS), -99),
        }
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pandas"])
def test_every_kind_of_table_has_the_findings_of_the_frame(kind, survey, request):
    known = catalpa.look(survey)
    seen = catalpa.look(KINDS[kind](survey, request))
    assert (str(seen), seen.recipe) == (str(known), known.recipe)


@pytest.mark.parametrize("kind", ["streamed", "lazy", "dask"])
def test_the_rows_of_a_large_table_are_drawn_from_all_of_it(kind, survey, request, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 300)
    seen = catalpa.look(KINDS[kind](survey, request))
    assert (seen.rows, seen.looked_at) == (ROWS, 300)
    # The first rows have no -99.
    assert "-99" in str(seen.findings["message"].tolist())
    assert seen.recipe == catalpa.look(survey).recipe
