"""The same steps in the compiled core, where it is installed."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import cast

import numpy as np

from catalpa.errors import ParameterError, SlowCoreWarning
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, code_dtype

try:
    from catalpa.steps import _core
except ImportError:  # pragma: no cover - an installation without a compiler
    _core = None  # type: ignore[assignment]

CHOICE = "CATALPA_CORE"  # environment variable: "numpy", or one of the core's instruction sets
WIDEST_GROUP = 256  # fused codes stay in one byte
CACHE_BYTES = 1 << 20  # of the second cache, for the fused table of the clusters looked up together
CLUSTERS_TOGETHER = 32
ROWS_PER_PLACE = 16  # a fused place must pay for being filled at every pass
NO_ROWS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Packed:
    """Codes of a block with neighbouring columns fused into one code each."""

    axis: Axis  # the axis that the codes were fused on
    starts: tuple[int, ...]  # first column of each group, and the number of columns
    # The fused codes, in the core's own memory. The last column of a group turns fastest.
    fused: _core.Fused
    present: IntArray | None  # (n,) int64; cells of each row that are not left out; None where all are there

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Travel to another process as None: to fuse the codes again costs less than to send them."""
        return type(None), ()


def available() -> bool:
    """Whether the compiled core can be used; warns, once, where it should be there and is not."""
    return core_level() is not None


def core_level() -> str | None:
    """The instruction set to use, None where the reference runs; asked once per call of the core."""
    asked = os.environ.get(CHOICE, "")
    if asked.lower() == "numpy":
        return None
    if _core is None:
        _warn_slow()
        return None
    return _level(asked)


@cache
def _warn_slow() -> None:
    warnings.warn(
        "Catalpa's compiled core is not installed, so the slower NumPy code runs instead, with the same "
        "results. Install a C++17 compiler (GCC 12, Clang 11 or newer) and reinstall catalpa to get it; set "
        f"{CHOICE}=numpy to accept this and hear no more of it.",
        SlowCoreWarning,
        stacklevel=2,
    )


def description() -> str:
    """Which code runs the passes, in a few words."""
    return f"C++ core ({chosen_level()})" if available() else "NumPy reference"


def chosen_level() -> str:
    """The instruction set to use: the fastest one, unless the environment names another."""
    return _level(os.environ.get(CHOICE, ""))


@cache
def _level(asked: str) -> str:
    levels = _core.levels()
    chosen = asked or levels[0]
    for level in levels:
        if level.lower() == chosen.lower():
            return level
    raise ParameterError(
        f"{CHOICE} is {chosen!r}, but this machine can use {', '.join(['numpy', *levels])}. "
        "Choose one of these or unset it."
    )


def pack(block: Block, axis: Axis, k: int, rows_per_place: int = ROWS_PER_PLACE) -> Packed:
    """Fuse the block's columns into groups that suit a table of ``k`` clusters."""
    starts = _plan(axis, k, len(block), rows_per_place)
    codes = np.ascontiguousarray(block.codes)
    fused = _core.fuse_codes(codes, axis.widths, np.asarray(starts))
    if fused is None:
        raise ParameterError(
            "A block holds codes beyond the categories of its columns. Encode the table with the schema "
            "that the axis was made from."
        )
    return Packed(axis, starts, fused, block.present_cells(axis))


def _plan(axis: Axis, k: int, n: int, rows_per_place: int = ROWS_PER_PLACE) -> tuple[int, ...]:
    """First column of each group: the widest fusion whose table suits the cache and the block."""
    entry_bytes = 4 * min(-(-k // 8) * 8, CLUSTERS_TOGETHER)
    for widest in (WIDEST_GROUP, 64, 16):
        starts = _greedy(axis, widest)
        places = sum(_group_widths(axis, starts))
        if places * entry_bytes <= CACHE_BYTES and places * rows_per_place <= n:
            return starts
    return tuple(range(axis.n_columns + 1))


def _greedy(axis: Axis, widest: int) -> tuple[int, ...]:
    starts, width = [0], 1
    for column, own in enumerate(axis.widths.tolist()):
        if column > starts[-1] and width * own > widest:
            starts.append(column)
            width = 1
        width *= own
    return (*starts, axis.n_columns) if axis.n_columns else (0,)


def _group_widths(axis: Axis, starts: tuple[int, ...]) -> list[int]:
    return [math.prod(axis.widths[first:end].tolist()) for first, end in pairwise(starts)]


def assign_and_count(
    block: Block, packed: Packed, fixed: FixedScores, before: IntArray | None, counts: Counts | None
) -> tuple[IntArray, Counts]:
    """Labels and counts of a block, given those of the pass before if there was one."""
    labels = np.empty(len(block), dtype=code_dtype(fixed.k))
    if before is None or counts is None:
        old, into = NO_ROWS.astype(labels.dtype), Counts.none(fixed.k, fixed.axis.length, fixed.n_numeric)
    else:
        old, into = before.astype(labels.dtype, copy=False), counts.map(np.ndarray.copy)
    moved, high, low = _core.assign_and_count(
        _tables(packed, fixed),
        packed.fused,
        core_numbers(block),
        core_weights(block),
        NO_ROWS if packed.present is None else packed.present,
        old,
        labels,
        *into.arrays,
        chosen_level(),
    )
    return labels, Counts(*into.arrays, cost=(high << 64) + low, moved=moved)


def core_numbers(block: Block) -> FloatArray:
    """The block's numbers as the core reads them."""
    return np.ascontiguousarray(block.numbers, dtype=np.float64)


def core_weights(block: Block) -> IntArray:
    """The block's weights as the core reads them; empty where every row weighs one."""
    return NO_ROWS if block.weights is None else np.ascontiguousarray(block.weights, dtype=np.int64)


def label_rows(block: Block, packed: Packed, fixed: FixedScores) -> IntArray:  # (n,) int32
    """Nearest cluster of every row."""
    labels = np.empty(len(block), dtype=np.int32)
    _core.label(_tables(packed, fixed), packed.fused, core_numbers(block), labels, chosen_level())
    return labels


def least_sums(block: Block, packed: Packed, fixed: FixedScores) -> IntArray:  # (n,) int64
    """Cost of every row in the cluster where it costs least, in quanta, before any rescaling or root."""
    least = np.empty(len(block), dtype=np.int64)
    _core.least_sums(_tables(packed, fixed), packed.fused, core_numbers(block), least, chosen_level())
    return least


def _tables(packed: Packed, fixed: FixedScores) -> _core.Tables:
    """The fused tables for these groups of columns, made once per pass.

    Two threads that ask at the same moment may both make them: they are alike, and the later one stays.
    """
    key = packed.starts
    if key not in fixed.prepared:
        fixed.prepared[key] = _core.Tables(
            fixed.table,
            fixed.anchor,
            fixed.axis.widths,
            np.asarray(packed.starts),
            fixed.means,
            fixed.scale,
            fixed.level,
            fixed.power,
            bool(fixed.root),
            fixed.shift,
            fixed.tie,
            fixed.number_limit,
        )
    return cast("_core.Tables", fixed.prepared[key])
