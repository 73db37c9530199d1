"""The compiled core, where it is installed: whether it is used, and rows laid out as it reads them."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np

from catalpa.errors import ParameterError, SlowCoreWarning
from catalpa.steps.scores import FixedTable
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

try:
    from catalpa.steps import _core as _core  # the other steps take it from here
except ImportError:  # pragma: no cover - an installation without a compiler
    _core = None  # type: ignore[assignment]

CHOICE = "CATALPA_CORE"  # environment variable: "numpy", or one of the core's instruction sets
WIDEST_GROUP = 256  # fused codes stay in one byte
CACHE_BYTES = 1 << 20  # of the second cache, for the fused table of the clusters looked up together
CLUSTERS_TOGETHER = 32
PLACE_COST = 60  # look-ups that take as long as to fill a fused place, which is done at every pass
NO_ROWS = np.zeros(0, dtype=np.int64)
CoreTables = TypeVar("CoreTables")


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
    level = core_level()
    return "NumPy reference" if level is None else f"C++ core ({level})"


@cache
def _level(asked: str) -> str:
    """The fastest instruction set, unless the environment names another."""
    levels = _core.levels()
    chosen = asked or levels[0]
    for level in levels:
        if level.lower() == chosen.lower():
            return level
    raise ParameterError(
        f"{CHOICE} is {chosen!r}, but this machine can use {', '.join(['numpy', *levels])}. "
        "Choose one of these or unset it."
    )


def pack(block: Block, axis: Axis, k: int) -> Packed:
    """Fuse the block's columns into groups that suit a table of ``k`` clusters."""
    starts = _plan(axis, k, len(block))
    codes = np.ascontiguousarray(block.codes)
    fused = _core.fuse_codes(codes, axis.widths, np.asarray(starts))
    if fused is None:
        raise ParameterError(
            "A block holds codes beyond the categories of its columns. Encode the table with the schema "
            "that the axis was made from."
        )
    return Packed(axis, starts, fused, block.present_cells(axis))


def _plan(axis: Axis, k: int, n: int) -> tuple[int, ...]:
    """First column of each group: the fusion with the least work among those whose table suits the cache."""
    entry_bytes = 4 * min(-(-k // 8) * 8, CLUSTERS_TOGETHER)
    best, least = tuple(range(axis.n_columns + 1)), axis.n_columns * n + PLACE_COST * axis.length
    for widest in (16, 64, WIDEST_GROUP):
        starts = _greedy(axis, widest)
        places = sum(_group_widths(axis, starts))
        work = (len(starts) - 1) * n + PLACE_COST * places
        if places * entry_bytes <= CACHE_BYTES and work < least:
            best, least = starts, work
    return best


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


def core_numbers(block: Block) -> FloatArray:
    """The block's numbers as the core reads them."""
    return np.ascontiguousarray(block.numbers, dtype=np.float64)


def core_weights(block: Block) -> IntArray:
    """The block's weights as the core reads them; empty where every row weighs one."""
    return NO_ROWS if block.weights is None else np.ascontiguousarray(block.weights, dtype=np.int64)


def whole(halves: tuple[int, int]) -> int:
    """A sum that the core gives as two halves of 128 bits."""
    high, low = halves
    return (high << 64) + low


def prepared(
    make: Callable[..., CoreTables], packed: Packed, fixed: FixedTable, *own: float | IntArray
) -> CoreTables:
    """The core's tables for these groups of columns, made once per pass of what all costs share and ``own``.

    Two threads that ask at the same moment may both make them: they are alike, and the later one stays.
    """
    if packed.starts not in fixed.prepared:
        places = fixed.table, fixed.anchor, fixed.axis.widths, np.asarray(packed.starts)
        fixed.prepared[packed.starts] = make(*places, fixed.means, fixed.scale, fixed.level, *own)
    return cast(CoreTables, fixed.prepared[packed.starts])
