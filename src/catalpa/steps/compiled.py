"""The compiled core, if installed: whether it is used, and the layout of rows for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar, cast

import numpy as np

from catalpa.errors import ParameterError, SlowCoreWarning, warn_user
from catalpa.steps.scores import FixedTable
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray
from catalpa.table.fused import Fused, Groups, pass_groups

try:
    from catalpa.steps import _core as _core  # imported from here by the other steps
except ImportError:  # pragma: no cover - an installation without a compiler
    _core = None  # type: ignore[assignment]

CHOICE = "CATALPA_CORE"  # environment variable: "numpy", or one of the core's instruction sets
NO_ROWS = np.zeros(0, dtype=np.int64)
CoreTables = TypeVar("CoreTables")


@dataclass(frozen=True, eq=False)
class PackedCodes:
    """Codes of a block with several columns fused into one code each."""

    axis: Axis  # the axis that the codes were fused on
    groups: Groups
    # The fused codes, in the core's own memory or in the block.
    fused: _core.Fused
    present: IntArray | None  # (n,) int64; present cells of each row; None if all are

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Pickled as None: fusing the codes again costs less than sending them."""
        return type(None), ()


def available() -> bool:
    """Whether the compiled core can be used; warns once if it is missing but expected."""
    return core_level() is not None


def core_level() -> str | None:
    """The instruction set to use; None for the reference."""
    level = os.environ.get(CHOICE, "")
    if level.lower() == "numpy":
        return None
    if _core is None:
        _warn_slow()
        return None
    return _level(level)


@cache
def _warn_slow() -> None:
    warn_user(
        "Catalpa's compiled core is not installed, so the slower NumPy code runs instead, with the same "
        "results. Install a C++17 compiler (GCC 12, Clang 11 or newer) and reinstall catalpa to get it; set "
        f"{CHOICE}=numpy to accept this and hear no more of it.",
        SlowCoreWarning,
    )


def description() -> str:
    """A short description of the code that runs the passes."""
    level = core_level()
    return "NumPy reference" if level is None else f"C++ core ({level})"


@cache
def _level(choice: str) -> str:
    """The fastest instruction set, unless the environment variable names another."""
    levels = _core.levels()
    chosen = choice or levels[0]
    for level in levels:
        if level.lower() == chosen.lower():
            return level
    raise ParameterError(
        f"{CHOICE} is {chosen!r}, but this machine can use {', '.join(['numpy', *levels])}. "
        "Choose one of these or unset it."
    )


def pack(block: Block, axis: Axis, k: int) -> PackedCodes:
    """The block's columns fused into groups that suit a table of ``k`` clusters."""
    groups, storage = pass_groups(axis.widths, k, len(block)), block.storage
    # Stored groups suit any number of clusters. With few clusters, larger groups are faster.
    if (
        isinstance(storage, Fused)
        and storage.widths == tuple(axis.widths)
        and len(storage.groups) <= len(groups)
    ):
        groups = storage.groups
        fused = _core.fused_codes(storage.cells, len(storage), *core_groups(axis, groups))
    else:
        fused = _core.fuse_codes(np.ascontiguousarray(block.codes), *core_groups(axis, groups))
    if fused is None:
        raise ParameterError(
            "A block holds codes beyond the categories of its columns. Encode the table with the schema "
            "that the axis was made from."
        )
    return PackedCodes(axis, groups, fused, block.present_cells(axis))


def core_groups(axis: Axis, groups: Groups) -> tuple[IntArray, IntArray, IntArray]:
    """Widths of the columns, the columns group by group, and where each group starts among them."""
    return axis.widths, *_members_and_starts(groups)


@lru_cache(maxsize=256)
def _members_and_starts(groups: Groups) -> tuple[IntArray, IntArray]:
    """Cached, because every pass needs those of its table."""
    members = np.asarray([column for group in groups for column in group], dtype=np.int64)
    return members, np.cumsum([0, *(len(group) for group in groups)])


def core_numbers(block: Block) -> FloatArray:
    """The block's numbers in the core's layout."""
    return np.ascontiguousarray(block.numbers, dtype=np.float64)


def soft_numbers(block: Block) -> _core.SoftNumbers:
    """The block's numbers in the layout of the core's soft passes."""
    return _core.SoftNumbers(core_numbers(block))


def core_weights(block: Block) -> IntArray:
    """The block's weights in the core's layout; empty if all are 1."""
    return NO_ROWS if block.weights is None else np.ascontiguousarray(block.weights, dtype=np.int64)


def join_halves(halves: Sequence[int]) -> int:
    """A 128-bit sum from the two halves that the core returns."""
    high, low = halves
    return (high << 64) + low


def core_arguments(
    make: Callable[..., CoreTables], packed: PackedCodes, fixed: FixedTable, *arguments: float | IntArray
) -> CoreTables:
    """The core's tables for these groups of columns, built once per pass.

    Two threads may build them at the same time: they are equal, and the later one is stored.
    """
    if packed.groups not in fixed.prepared:
        places = fixed.table, fixed.anchor, *core_groups(fixed.axis, packed.groups)
        fixed.prepared[packed.groups] = make(*places, *fixed.number_costs, *arguments)
    return cast(CoreTables, fixed.prepared[packed.groups])
