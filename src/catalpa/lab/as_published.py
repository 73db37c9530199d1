"""The start of the published runs: MATLAB's old generator, its random rows, and the authors' category codes.

The program of the paper begins with ``rand('seed', s)``, which selects the generator of MATLAB 4, with one
seed per data set. The same generator then draws the rows that all ten runs start from. The order of the
categories decides ties, so tables are recoded to the authors' integers first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd

from catalpa.datasets import Dataset
from catalpa.datasets.load import data_folders
from catalpa.datasets.registry import dataset_info
from catalpa.errors import DatasetError, ParameterError
from catalpa.lab.protocol import PublishedStart
from catalpa.table.blocks import IntArray

MODULUS = 2**31 - 1
MULTIPLIER = 16807  # the minimal standard generator of Park and Miller (1988)
SCRAMBLE = 65536  # state after rand('seed', 1)

CategoryOrder = Mapping[str, Sequence[str]]  # column -> its categories in the order of the authors' codes


class Matlab4Generator:
    """MATLAB's ``rand('seed', s)``: a multiplicative congruential generator.

    Examples
    --------
    >>> generator = Matlab4Generator(1)
    >>> [round(generator.random(), 4) for _ in range(5)]
    [0.5129, 0.4605, 0.3504, 0.095, 0.4337]
    """

    def __init__(self, seed: int) -> None:
        if not 1 <= seed < MODULUS:
            raise ParameterError(f"seed={seed}, but MATLAB's old generator takes 1 to {MODULUS - 1}.")
        self._state = SCRAMBLE * seed % MODULUS

    def random(self) -> float:
        """One draw from the open interval (0, 1)."""
        return self._next() / MODULUS

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1: the floor of n times one draw."""
        # In integers: n * state / MODULUS is never whole, so the floor of the float is the same.
        return n * self._next() // MODULUS

    def _next(self) -> int:
        self._state = MULTIPLIER * self._state % MODULUS
        return self._state


def distinct_rows(generator: Matlab4Generator, rows: IntArray, k: int) -> IntArray:  # (k,)
    """Positions of k random rows that differ from each other, as DISC's program draws them.

    A row equal to one drawn before is drawn again, and its draw is used up.

    Parameters
    ----------
    generator : Matlab4Generator
        Not reset between runs: all ten runs of a data set use up one stream.
    rows : array (n, columns) of int
        The table as integer codes.
    k : int

    Examples
    --------
    >>> rows = np.array([[1, 1], [1, 1], [2, 1]])
    >>> distinct_rows(Matlab4Generator(1), rows, 2).tolist()
    [1, 2]
    """
    if len(np.unique(rows, axis=0)) < k:
        raise ParameterError(f"The table has fewer than {k} distinct rows to start from.")
    chosen: list[int] = []
    known: set[bytes] = set()
    table = np.ascontiguousarray(rows)
    while len(chosen) < k:
        at = generator.below(len(table))
        content = table[at].tobytes()
        if content not in known:
            known.add(content)
            chosen.append(at)
    return np.array(chosen, dtype=np.int64)


def randperm_rows(generator: Matlab4Generator, n: int, k: int) -> IntArray:  # (k,)
    """Positions of k random rows as MATLAB's ``randperm(n, k)`` draws them; the rows may be equal.

    A Fisher-Yates shuffle from the end, one draw per row: the start of the published counterparts.

    Examples
    --------
    >>> randperm_rows(Matlab4Generator(1), 5, 3).tolist()
    [2, 1, 3]
    """
    if not 0 <= k <= n:
        raise ParameterError(f"{k} different positions cannot be drawn from {n}.")
    positions = list(range(n))
    chosen = []
    for place in range(k):
        at = generator.below(n - place)
        chosen.append(positions[at])
        positions[at] = positions[n - 1 - place]
    return np.array(chosen, dtype=np.int64)


def published_starts(start: PublishedStart, table: pd.DataFrame, k: int) -> list[IntArray]:
    """Positions of the k rows that each run starts from, in the order of the runs.

    ``table`` is that of :func:`coded`.

    Examples
    --------
    >>> from catalpa.datasets import load
    >>> from catalpa.lab import read_protocol
    >>> start = read_protocol().as_published.start("distinct", "CV")
    >>> published_starts(start, coded(load("CV")), 2)[0].tolist()
    [223, 200]
    """
    generator, rows = Matlab4Generator(start.seed), codes_of(table)
    if start.kind == "distinct":
        return [distinct_rows(generator, rows, k) for _ in range(start.runs)]
    return [randperm_rows(generator, len(rows), k) for _ in range(start.runs)]


def category_order(name: str, data_home: str | None = None) -> CategoryOrder:
    """Categories of every column of a data set in the order of the authors' codes.

    The order is part of the package for the bundled data sets. That of the others is read from
    ``paper/codes.json`` in a data folder. ``""`` stands for a missing value that has a code.

    Examples
    --------
    >>> category_order("CA")["safety"]
    ['low', 'med', 'high']
    """
    alias = dataset_info(name).alias
    if alias in _bundled_orders():
        return _bundled_orders()[alias]
    for folder in data_folders(data_home):
        path = folder / "paper" / "codes.json"
        if path.is_file():
            codes = json.loads(path.read_text("utf-8"))[alias]
            return {column: sorted(firsts, key=firsts.__getitem__) for column, firsts in codes.items()}
    raise DatasetError(
        f"The order of the authors' category codes is not known for {alias}: it is not bundled, and no data "
        "folder has paper/codes.json. Name a folder that holds it with CATALPA_DATA."
    )


def coded(data: Dataset, order: CategoryOrder | None = None) -> pd.DataFrame:
    """The table with categories replaced by the authors' codes, as text that sorts in their order.

    Examples
    --------
    >>> from catalpa.datasets import load
    >>> coded(load("car"))["safety"].cat.categories.tolist()
    ['01', '02', '03']
    """
    known = category_order(data.name) if order is None else order
    return data.frame.apply(lambda column: _coded_column(column, known[str(column.name)]))


def codes_of(table: pd.DataFrame) -> IntArray:  # (n, columns)
    """A coded table as integers, counted from 0."""
    return np.column_stack([table[name].cat.codes.to_numpy(np.int64) for name in table.columns])


def _coded_column(column: pd.Series, order: Sequence[str]) -> pd.Series:
    values = column.astype("object").fillna("")
    missing = sorted(set(values) - set(order))
    if missing:
        raise DatasetError(f"The authors' codes of column {column.name!r} lack the categories {missing}.")
    names = {category: f"{code:02d}" for code, category in enumerate(order, start=1)}
    return values.map(names).astype(pd.CategoricalDtype(list(names.values())))


@cache
def _bundled_orders() -> Mapping[str, CategoryOrder]:
    path = files("catalpa.lab").joinpath("published", "category_order.json")
    orders: dict[str, CategoryOrder] = json.loads(path.read_text("utf-8"))
    return orders
