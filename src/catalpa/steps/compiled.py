"""The same steps in the compiled core, where it is installed."""

from __future__ import annotations

from dataclasses import dataclass

from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Axis, Block, IntArray

__all__ = ["Packed", "assign_and_count", "available", "label_rows", "pack"]


@dataclass(frozen=True, eq=False)
class Packed:
    """Codes of a block with neighbouring columns fused into one code each."""

    fused: IntArray  # (n, groups)


def available() -> bool:
    """Whether the compiled core can be used."""
    return False


def pack(block: Block, axis: Axis, k: int) -> Packed:
    raise NotImplementedError


def assign_and_count(
    block: Block, packed: Packed, fixed: FixedScores, before: IntArray | None, counts: Counts | None
) -> tuple[IntArray, Counts]:
    raise NotImplementedError


def label_rows(block: Block, packed: Packed, fixed: FixedScores) -> IntArray:
    raise NotImplementedError
