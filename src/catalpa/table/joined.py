"""Columns coded together with a parent column: one code per pair of categories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import code_dtype
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray


@dataclass(frozen=True)
class JoinedAxis:
    """An axis on which some columns are coded together with their parent column.

    The code of a tied column is ``code of the parent * width + code``. The counts of such a column are those
    of pairs of categories; otherwise a pass over the data is the same.

    Examples
    --------
    >>> joined = JoinedAxis(Axis((2, 3)), (-1, 0))
    >>> joined.axis.sizes
    (2, 6)
    >>> joined.join(Block(np.array([[1, 2]], dtype=np.uint8), np.zeros((1, 0)))).codes.tolist()
    [[1, 5]]
    """

    plain: Axis  # of the blocks' codes
    parents: tuple[int, ...]  # (columns,); -1 for a column of its own

    @cached_property
    def axis(self) -> Axis:
        """The axis of the joined codes."""
        widths = self.plain.widths.tolist()
        return Axis(
            tuple(
                width if parent < 0 else width * widths[parent]
                for width, parent in zip(widths, self.parents, strict=True)
            )
        )

    @cached_property
    def pairs(self) -> int:
        """Number of pairs of categories of all tied columns."""
        sizes = self.plain.sizes
        return sum(sizes[column] * sizes[parent] for column, parent in self.edges)

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Tied columns with their parents, in the order of the columns."""
        return tuple((column, parent) for column, parent in enumerate(self.parents) if parent >= 0)

    def parts(self) -> Iterator[tuple[int, int, slice]]:
        """Tied columns, their parents, and the slices of their pairs of categories."""
        at = 0
        for column, parent in self.edges:
            size = self.plain.sizes[column] * self.plain.sizes[parent]
            yield column, parent, slice(at, at + size)
            at += size

    def join(self, block: Block) -> Block:
        """The block with the codes of tied columns joined with those of their parents."""
        plain = block.codes
        codes = plain.astype(code_dtype(int(self.axis.widths.max(initial=1))))
        for column, parent in self.edges:
            codes[:, column] += plain[:, parent].astype(codes.dtype) * codes.dtype.type(
                self.plain.widths[column]
            )
        return replace(block, storage=codes)

    def expand(self, table: FloatArray, pairs: FloatArray) -> FloatArray:  # (axis.length, k)
        """Costs of all places, from costs of categories (V, k) and of pairs of categories (pairs, k).

        If the parent is missing or unknown, a tied cell has its marginal cost; a cell that is missing or
        unknown itself has cost 0.
        """
        wide = self.plain.expand(table)
        tables = [wide[start:stop] for start, stop in pairwise(self.plain.offsets)]
        sizes, widths = self.plain.sizes, self.plain.widths
        for column, parent, part in self.parts():
            joint = np.zeros((widths[parent], widths[column], table.shape[1]))
            joint[:, : sizes[column]] = tables[column][: sizes[column]]
            joint[: sizes[parent], : sizes[column]] = pairs[part].reshape(sizes[parent], sizes[column], -1)
            tables[column] = joint.reshape(-1, table.shape[1])
        return np.concatenate(tables)

    def split(self, by_place: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """Counts of categories (k, V) and of pairs of categories (k, pairs), from counts of all places."""
        k, sizes, widths = len(by_place), self.plain.sizes, self.plain.widths
        counts = [by_place[:, start:stop] for start, stop in pairwise(self.axis.offsets)]
        pairs = np.zeros((k, self.pairs), dtype=by_place.dtype)
        for column, parent, part in self.parts():
            joint = counts[column].reshape(k, widths[parent], widths[column])
            pairs[:, part] = joint[:, : sizes[parent], : sizes[column]].reshape(k, -1)
            counts[column] = joint.sum(axis=1)
        together = np.concatenate(counts, axis=1) if counts else by_place
        return np.ascontiguousarray(self.plain.fold(together)), pairs
