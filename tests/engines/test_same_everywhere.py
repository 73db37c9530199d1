"""The same labels, counts, cost and history bit for bit, wherever the passes run."""

from __future__ import annotations

import os
from datetime import date, timedelta
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.engines.elsewhere import ENGINES

from catalpa import CDCDR, CURE, DISC, Grove, KModes, KPrototypes, datasets

# Spark warns of every pandas that is newer than itself; the other warnings are known of
# these methods on these tables, and no concern of the engines.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::catalpa.errors.LopsidedClustersWarning"),
]
EVERYTHING = bool(os.environ.get("CATALPA_SLOW"))  # a million rows, and every method on every table in Spark
# More rows than a block in memory holds, and than a search of Grove looks at.
GENERATED = 1_000_000 if EVERYTHING else 70_000

METHODS: dict[str, Any] = {
    "kmodes": lambda: KModes(4, n_init=1, random_state=1),
    "grove": lambda: Grove(4, n_init=1, random_state=1),
    "disc": lambda: DISC(4, n_init=1, random_state=1, max_rounds=5),
    "kprototypes": lambda: KPrototypes(4, n_init=1, random_state=1),
    "cure": lambda: CURE(4, n_init=1, random_state=1),
    "cdcdr": lambda: CDCDR(4, n_init=1, random_state=1),
}
TABLES = ["zoo", "votes", "car", "generated"]
MIXED = ("grove", "disc", "kprototypes")


@cache
def table_of(name: str, method: str) -> pd.DataFrame:
    if name != "generated":
        return datasets.load(name).frame
    rng = np.random.default_rng(7)
    group = rng.integers(4, size=GENERATED)
    words = np.array(["never", "seldom", "often", "always", "unknown"], dtype=object)
    columns: dict[str, Any] = {}
    for at in range(6):
        drawn = np.where(rng.random(GENERATED) < 0.6, group, rng.integers(5, size=GENERATED))
        columns[f"q{at}"] = words[drawn]
    columns["q5"][rng.random(GENERATED) < 0.01] = None
    if method in MIXED:
        columns["price"] = np.round(group + rng.normal(size=GENERATED), 3)
    return pd.DataFrame(columns)


def cases() -> list[Any]:
    every = [(engine, table, method) for engine in ENGINES for table in TABLES for method in METHODS]
    return [case for case in every if EVERYTHING or case[0] != "spark" or _told_apart_in_spark(*case[1:])]


def _told_apart_in_spark(table: str, method: str) -> bool:
    """A pass of Spark takes long however few the rows: every method once, and every table once.

    Grove looks at some rows of a large table only, and must find the same ones.
    """
    return table == "zoo" or method == "kmodes" or (table, method) == ("generated", "grove")


@cache
def in_memory(name: str, method: str) -> Any:
    return METHODS[method]().fit(table_of(name, method))


def labels_of(labels: Any) -> np.ndarray:
    if hasattr(labels, "select"):
        return np.array([row.cluster for row in labels.select("cluster").collect()])
    return np.asarray(labels)


@pytest.mark.parametrize(("engine", "table", "method"), cases())
def test_the_fit_is_that_of_memory(engine, table, method, request):
    known = in_memory(table, method)
    frame = table_of(table, method)
    other = METHODS[method]().fit(ENGINES[engine](frame, request))
    np.testing.assert_array_equal(labels_of(other.labels_), known.labels_)
    assert other.cost_ == known.cost_
    for name in ("by_category", "sizes", "sums", "squares", "seen"):
        expected, found = (
            getattr(known._fitted.outcome.counts, name),
            getattr(other._fitted.outcome.counts, name),
        )
        np.testing.assert_array_equal(found, expected, err_msg=name)
    np.testing.assert_array_equal(other._fitted.quartiles, known._fitted.quartiles)
    assert other._fitted.outcome.facts == known._fitted.outcome.facts
    assert other._fitted.outcome.history == known._fitted.outcome.history


@pytest.mark.parametrize("engine", ENGINES)
def test_values_of_another_type_are_known_everywhere(engine, request):
    text = pd.DataFrame({"a": ["1", "1", "2", "2", "none"], "b": ["True", "False", "True", "False", "True"]})
    model = KModes(2, random_state=0).fit(text)
    typed = pd.DataFrame({"a": [1, 1, 2, 2], "b": [True, False, True, False]})
    found = labels_of(model.predict(ENGINES[engine](typed, request)))
    np.testing.assert_array_equal(found, model.labels_[:4])


@pytest.mark.parametrize("engine", ["streamed", "spark"])  # Dask turns lists into text before we see them
def test_parts_of_dates_and_items_of_lists_are_the_same_everywhere(engine, request):
    first = date(2023, 11, 1)
    frame = pd.DataFrame(
        {
            "day": [first + timedelta(days=3 * at) for at in range(40)],
            "tools": [["saw", "drill"] if at % 2 else ["saw"] if at % 3 else [] for at in range(40)],
        }
    )
    known = KModes(2, random_state=0).fit(frame)
    given = ENGINES[engine](frame, request)
    other = KModes(2, random_state=0).fit(given)
    assert [column.categories for column in other.schema_.columns] == [
        column.categories for column in known.schema_.columns
    ]
    np.testing.assert_array_equal(labels_of(other.labels_), known.labels_)
    np.testing.assert_array_equal(labels_of(known.predict(given)), known.labels_)
