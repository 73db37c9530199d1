"""Fused codes: the codes of several columns stored as one number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import code_dtype

Groups: TypeAlias = tuple[tuple[int, ...], ...]  # the columns of each group; the last one varies fastest

BYTES = 256  # different ones
WIDEST_GROUP = BYTES  # fused codes stay in one byte
CACHE_BYTES = 1 << 20  # of the level 2 cache, for the fused table of clusters looked up together
CLUSTERS_TOGETHER = 32
PLACE_COST = 60  # cost of filling one entry of the fused table, in look-ups
MANY_ROWS = 1 << 16  # with fewer rows, the saved memory is not worth the time of unfusing
ROWS_BEHIND = 8  # the core reads this many rows at a time
ROWS_AT_ONCE = 8192  # fused or unfused at a time, to stay in the cache


@dataclass(frozen=True, eq=False)
class Fused:
    """Rows with fused codes: a quarter to a half of the memory, and the format that passes read.

    Attributes
    ----------
    widths : tuple of int
        Places of each column.
    groups : tuple of tuple of int
        The columns that share a code.
    cells : array (n + 8, groups), unsigned
        The fused codes. After the last row there are codes of other rows, or zeros.
    n : int
        Number of rows.
    dtype : dtype
        Of plain codes.
    """

    widths: tuple[int, ...]
    groups: Groups
    cells: NDArray[Any]
    n: int
    dtype: np.dtype[Any]

    @staticmethod
    def room(widths: NDArray[Any], groups: Groups, n: int, dtype: np.dtype[Any]) -> Fused:
        """An uninitialised table for n rows."""
        sizes = tuple(widths.tolist())
        widest = max((math.prod(sizes[column] for column in group) for group in groups), default=1)
        cells = np.empty((n + ROWS_BEHIND, len(groups)), dtype=code_dtype(widest))
        cells[n:] = 0
        return Fused(sizes, groups, cells, n, dtype)

    def written(self, lookups: list[NDArray[Any]], places: list[NDArray[Any]]) -> NDArray[Any] | Fused:
        """Write the codes ``lookup[places]`` of each column; returns plain codes if no columns share one."""
        cells, n = self.cells, self.n
        tables = [
            [(quick_table((lookups[at] * factor).astype(cells.dtype)), places[at]) for at, factor in group]
            for group in self.with_factors()
        ]
        for start in range(0, n, ROWS_AT_ONCE):
            rows = slice(start, min(start + ROWS_AT_ONCE, n))
            for group, columns in enumerate(tables):
                cells[rows, group] = reduce(
                    np.add, (lookup_codes(table, codes[rows]) for table, codes in columns)
                )
        if len(self.groups) == len(self.widths):
            return cells[:n]
        cells.setflags(write=False)  # the core keeps a pointer to them
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the plain codes."""
        return self.n, len(self.widths)

    def __len__(self) -> int:
        return self.n

    def with_factors(self) -> Iterator[list[tuple[int, int]]]:
        """Columns of each group, with the factor of each column in the fused code."""
        for group in self.groups:
            after = [[self.widths[other] for other in group[at + 1 :]] for at in range(len(group))]
            yield [(column, math.prod(widths)) for column, widths in zip(group, after, strict=True)]

    def __getitem__(self, rows: NDArray[Any] | slice) -> NDArray[Any] | Fused:
        """Plain codes of some rows; for a slice, a view that is still fused."""
        if not isinstance(rows, slice):
            return self.plain(rows)
        first, last, _ = rows.indices(self.n)
        last = max(first, last)
        return replace(self, cells=self.cells[first : last + ROWS_BEHIND], n=last - first)

    def plain(self, rows: NDArray[Any] | slice = slice(None)) -> NDArray[Any]:  # (rows, columns)
        """Plain codes of some rows."""
        cells = self.cells[: self.n][rows]
        codes = np.empty((len(cells), len(self.widths)), dtype=self.dtype)
        for start in range(0, len(cells), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            for at, group in enumerate(self.groups):
                fused = np.ascontiguousarray(cells[part, at])
                for column in group:
                    codes[part, column] = lookup_codes(self._tables[column][1], fused)
        return codes

    def column(self, column: int) -> NDArray[Any]:  # (n,)
        """The codes of one column."""
        at, table = self._tables[column]
        return lookup_codes(table, self.cells[: self.n, at])

    @cached_property
    def _tables(self) -> dict[int, tuple[int, NDArray[Any]]]:
        """For each column its group, and its code for every fused code of the group."""
        tables = {}
        for at, group in enumerate(self.with_factors()):
            fused = np.arange(math.prod(self.widths[column] for column, _ in group))
            for column, factor in group:
                codes = fused // factor % max(self.widths[column], 1)
                tables[column] = at, quick_table(codes.astype(self.dtype))
        return tables


def quick_table(entries: NDArray[Any]) -> NDArray[Any]:
    """Table for fast look-up if entries are bytes; -1 reads the last entry."""
    if entries.dtype != np.uint8 or not 0 < len(entries) <= BYTES:
        return entries
    table = np.zeros(BYTES, dtype=np.uint8)
    table[: len(entries)] = entries
    table[-1] = entries[-1]
    return table


def lookup_codes(table: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:  # (n,)
    """Look up codes in such a table."""
    if table.dtype != np.uint8 or len(table) != BYTES:
        return np.asarray(table[codes])
    # bytes.translate maps bytes several times faster than an index does; -1 is the byte 255.
    return np.frombuffer(codes.astype(np.uint8).tobytes().translate(table.tobytes()), dtype=np.uint8)


def storage_groups(widths: NDArray[Any], n: int) -> Groups:
    """Groups for storage, when the number of clusters is not known yet."""
    return pass_groups(widths, CLUSTERS_TOGETHER, n) if n >= MANY_ROWS else plain_groups(widths, n)


def plain_groups(widths: NDArray[Any], _n: int) -> Groups:
    """Each column in its own group."""
    return tuple((column,) for column in range(len(widths)))


def pass_groups(widths: NDArray[Any], k: int, n: int) -> Groups:
    """The groups with the least work per pass whose table of ``k`` clusters fits into the cache."""
    entry_bytes = 4 * min(-(-k // 8) * 8, CLUSTERS_TOGETHER)
    sizes = tuple(widths.tolist())
    best, least = plain_groups(widths, n), len(sizes) * n + PLACE_COST * sum(sizes)
    for widest in (16, 64, WIDEST_GROUP):
        groups = _filled(sizes, widest)
        places = sum(math.prod(sizes[column] for column in group) for group in groups)
        work = len(groups) * n + PLACE_COST * places
        if places * entry_bytes <= CACHE_BYTES and work < least:
            best, least = groups, work
    return best


@lru_cache(maxsize=64)
def _filled(widths: tuple[int, ...], widest: int) -> Groups:
    """Groups of up to ``widest`` places: the widest remaining column with those that fill its group best.

    This is "minimum bin slack" (Gupta and Ho, 1999), with products for sums.
    """
    columns: dict[int, list[int]] = {}
    for column, size in enumerate(widths):
        columns.setdefault(max(size, 1), []).append(column)
    same = columns.pop(1, [])  # they take no room
    groups = []
    for width in sorted(columns, reverse=True):
        while columns[width]:
            group = [columns[width].pop(0)]
            left = tuple((width, len(columns[width])) for width in sorted(columns, reverse=True))
            groups.append(group + [columns[width].pop(0) for width in _filling(left, widest // width)])
    if same:
        groups = [groups[0] + same, *groups[1:]] if groups else [same]
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def _filling(left: tuple[tuple[int, int], ...], room: int) -> tuple[int, ...]:
    """Widths, from pairs of width and count, whose product is closest to ``room`` from below."""
    best: tuple[int, ...] = ()
    for at, (width, count) in enumerate(left):
        if width <= room and count:
            widths = width, *_filling(((width, count - 1), *left[at + 1 :]), room // width)
            best = max(
                best, widths, key=math.prod
            )  # the first of equals, so that narrow columns remain for other groups
    return best
