"""Synthetic tables of any size with planted clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from catalpa.errors import ParameterError

# Rows are generated in chunks of this size, each with its own random stream, so a row depends on its number
# and the seed but not on the number of rows that are requested.
_CHUNK_ROWS = 8192
Sizes: TypeAlias = int | Sequence[int]  # number of categories, of all columns or of each


@dataclass(frozen=True, eq=False, repr=False)
class Planted:
    """Rows with planted clusters.

    Attributes
    ----------
    codes : ndarray of shape (n, columns)
        The category of each cell as an integer, in the smallest sufficient unsigned type.
    clusters : ndarray of shape (n,)
        The planted cluster of each row.
    cardinalities : tuple of int
        Number of categories per column.
    frame : pandas.DataFrame
        The same cells as a frame with ``category`` columns, created on first access.
    target : pandas.Series
        The planted clusters, with the index of `frame`.
    first_row : int
        Number of the first row within the whole table; 0 unless this is a later block.
    """

    codes: NDArray[np.unsignedinteger]
    clusters: NDArray[np.int64]
    cardinalities: tuple[int, ...]
    first_row: int = 0

    @cached_property
    def frame(self) -> pd.DataFrame:
        columns = {
            f"column_{at}": pd.Categorical.from_codes(codes, pd.Index([f"c{code}" for code in range(size)]))
            for at, (codes, size) in enumerate(zip(self.codes.T, self.cardinalities, strict=True))
        }
        return pd.DataFrame(columns, index=self._index)

    @cached_property
    def target(self) -> pd.Series:
        return pd.Series(self.clusters, index=self._index, name="cluster")

    @property
    def _index(self) -> pd.RangeIndex:
        return pd.RangeIndex(self.first_row, self.first_row + len(self.clusters))

    def __repr__(self) -> str:
        rows, columns = self.codes.shape
        return f"Planted({rows} rows, {columns} columns)"


def make_categorical(
    n: int, *, columns: int = 12, categories: Sizes = 4, clusters: int = 5, noise: float = 0.5, seed: int = 0
) -> Planted:
    """Generate a categorical table with planted clusters.

    Every cluster has a preferred category in every column. A cell has the preferred category of its cluster
    with probability ``1 - noise``, and otherwise a category of the column chosen uniformly at random.

    Parameters
    ----------
    n : int
        Number of rows.
    columns : int
        Number of columns.
    categories : int or sequence of int
        Number of categories: one number for all columns, or one per column.
    clusters : int
        Number of clusters, of about equal size.
    noise : float
        From 0 (all rows of a cluster are equal) to 1 (no cluster structure).
    seed : int
        The same seed gives the same rows. The first rows do not depend on `n`.

    Returns
    -------
    Planted
        With ``frame`` and ``target``, and the integer ``codes``.

    See Also
    --------
    iter_categorical : The same rows in blocks.

    Examples
    --------
    >>> planted = make_categorical(4, columns=3, clusters=2, noise=0.1, seed=1)
    >>> planted.frame.shape, len(planted.target)
    ((4, 3), 4)
    """
    design = _Design.checked(columns, categories, clusters, noise, seed)
    _check("n", n, _is_count(n), "at least one row is needed")
    return design.rows(0, n)


def iter_categorical(
    n: int,
    *,
    columns: int = 12,
    categories: Sizes = 4,
    clusters: int = 5,
    noise: float = 0.5,
    seed: int = 0,
    block_rows: int = 65_536,
) -> Iterator[Planted]:
    """Generate the rows of :func:`make_categorical` block by block, for tables larger than memory.

    Parameters
    ----------
    n, columns, categories, clusters, noise, seed
        As in :func:`make_categorical`.
    block_rows : int
        Rows per block; the last block may be smaller. The rows do not depend on it.

    Yields
    ------
    Planted

    Examples
    --------
    >>> [len(block.target) for block in iter_categorical(10, block_rows=4)]
    [4, 4, 2]
    """
    design = _Design.checked(columns, categories, clusters, noise, seed)
    _check("block_rows", block_rows, _is_count(block_rows), "a block holds at least one row")
    _check("n", n, _is_count(n), "at least one row is needed")
    return (design.rows(start, min(start + block_rows, n)) for start in range(0, n, block_rows))


@dataclass(frozen=True)
class _Design:
    """Parameters of the distribution of all rows."""

    cardinalities: NDArray[np.int64]  # (columns,)
    preferred: NDArray[np.int64]  # (clusters, columns)
    noise: float
    seed: int

    @classmethod
    def checked(cls, columns: int, categories: Sizes, clusters: int, noise: float, seed: int) -> _Design:
        _check("columns", columns, columns >= 1, "at least one is needed")
        _check("clusters", clusters, clusters >= 1, "at least one is needed")
        _check("noise", noise, 0 <= noise <= 1, "it is a probability from 0 to 1")
        _check("seed", seed, seed >= 0, "it must be 0 or more")
        each = [categories] * columns if isinstance(categories, int) else list(categories)
        if len(each) != columns:
            mismatch = f"categories gives {len(each)} numbers for columns={columns}"
            raise ParameterError(f"{mismatch}. Give one per column or one for all.")
        _check("categories", categories, min(each) >= 1, "a column has at least one category")
        cardinalities = np.asarray(each, dtype=np.int64)
        rng = _stream(seed, 0)
        # Clusters share the categories of a column as evenly as they can.
        spread = [rng.permutation(np.arange(max(clusters, c)) % c)[:clusters] for c in cardinalities]
        return cls(cardinalities, np.stack(spread, axis=1), noise, seed)

    def rows(self, start: int, stop: int) -> Planted:
        chunks = range(start // _CHUNK_ROWS, -(-stop // _CHUNK_ROWS))
        pieces = [self._chunk(at, start, stop) for at in chunks]
        return Planted(
            codes=np.concatenate([codes for codes, _ in pieces]),
            clusters=np.concatenate([clusters for _, clusters in pieces]),
            cardinalities=tuple(self.cardinalities.tolist()),
            first_row=start,
        )

    def _chunk(self, at: int, start: int, stop: int) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
        """The rows of one chunk between start and stop."""
        rng = _stream(self.seed, at + 1)  # stream 0 is used for the design
        shape = _CHUNK_ROWS, len(self.cardinalities)
        # Always generate whole chunks: rows must not depend on where a block begins.
        clusters = rng.integers(0, len(self.preferred), size=_CHUNK_ROWS)
        anything = (rng.random(shape) * self.cardinalities).astype(np.int64)
        codes = np.where(rng.random(shape) < self.noise, anything, self.preferred[clusters])
        first = at * _CHUNK_ROWS
        part = slice(max(start - first, 0), min(stop - first, _CHUNK_ROWS))
        return codes[part].astype(np.min_scalar_type(int(self.cardinalities.max()) - 1)), clusters[part]


def _stream(seed: int, position: int) -> np.random.Generator:
    # One stream per chunk, so that any rows can be generated without those before them.
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(position,))))


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return int(value) >= 1


def _check(name: str, value: object, holds: bool, needed: str) -> None:
    if not holds:
        raise ParameterError(f"{name}={value}, but {needed}.")
