"""Row weights in integer units, from an array or from a column of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from catalpa.errors import ParameterError, UnknownColumn, columns_hint
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.exact import as_float, exact_sums
from catalpa.table.open import Table, open_table

EXACT_UNITS = 1 << 30  # of weights that need no rounding; other weights have more
SAME_WEIGHT = 1e-12  # weights that differ by this share are equal
# Total weight in units. A soft pass adds numbers in 2**-30 of a unit: with more, sums would pass 64 bits.
MOST_UNITS = 2**32


@dataclass(frozen=True)
class WeightFacts:
    """Properties of some weights; those of several parts of a table can be added."""

    rows: int
    zeros: int
    least: float  # above 0; infinite if there is none
    greatest: float
    total: int  # exact, in units of 2**-1126
    integral: bool
    divisor: int  # greatest common divisor of whole weights; 0 if weights are too large for it to matter

    @staticmethod
    def of(weights: FloatArray) -> WeightFacts:
        positive = weights[weights > 0]
        integral = bool((weights == np.rint(weights)).all())
        few = integral and float(weights.max(initial=0.0)) <= EXACT_UNITS
        return WeightFacts(
            len(weights),
            len(weights) - len(positive),
            float(positive.min(initial=math.inf)),
            float(weights.max(initial=0.0)),
            int(exact_sums(weights, np.zeros(len(weights), dtype=np.int64), 1)[0]),
            integral,
            int(np.gcd.reduce(weights.astype(np.int64), initial=0)) if few else 0,
        )

    def __add__(self, other: WeightFacts) -> WeightFacts:
        return WeightFacts(
            self.rows + other.rows,
            self.zeros + other.zeros,
            min(self.least, other.least),
            max(self.greatest, other.greatest),
            self.total + other.total,
            self.integral and other.integral,
            math.gcd(self.divisor, other.divisor),
        )

    @property
    def sum(self) -> float:
        return as_float(self.total)

    @property
    def may_be_multiples(self) -> bool:
        """True if the total is few enough multiples of the smallest weight for it to be the unit."""
        return self.sum / self.least <= EXACT_UNITS

    def check(self) -> None:
        """Raise an error if all weights are zero."""
        if self.least == math.inf:
            raise ParameterError("All sample weights are zero, so there is nothing to cluster.")


@dataclass(frozen=True)
class WeightScale:
    """The unit in which weights are counted."""

    unit: float | None  # the number that all weights are multiples of, or None if they are rounded
    per_weight: float  # units per weight of 1
    all_one: bool  # True if every row weighs one unit: unweighted counting is faster

    @staticmethod
    def of(facts: WeightFacts, multiples: bool) -> WeightScale:
        """The scale for these weights; ``multiples``: all are multiples of the smallest.

        Weights that are multiples of one number are exact, in units of that number. Others are rounded to the
        finest power of two that keeps the total below 2**32 units.
        """
        facts.check()
        unit: float | None = None
        if multiples:
            unit = facts.least
        elif facts.integral and facts.sum <= EXACT_UNITS:
            unit = float(facts.divisor)
        if unit is None:
            # A power of two: dividing by it later loses nothing.
            return WeightScale(None, 2.0 ** math.floor(math.log2(MOST_UNITS / facts.sum)), False)
        all_one = facts.zeros == 0 and round(facts.greatest / unit) == 1
        return WeightScale(unit, 1.0 / unit, all_one)

    def units(self, weights: FloatArray) -> IntArray:  # (n,) int64
        scaled = weights * self.per_weight if self.unit is None else weights / self.unit
        return np.rint(scaled).astype(np.int64)


@dataclass(frozen=True)
class WeightColumn:
    """A column of weights and its scale, which can be sent to workers."""

    name: str
    scale: WeightScale
    some_are_zero: bool = False

    def units(self, part: Table) -> IntArray | None:  # (n,) int64
        """Weights of some rows in units; None if all rows of the table weigh one unit."""
        return None if self.scale.all_one else self.scale.units(column_weights(part, self.name))


def weight_units(sample_weight: ArrayLike, n_rows: int) -> tuple[IntArray | None, float]:
    """Weights in integer units, and the number of units in a weight of 1.

    Weights that are multiples of one number are exact, in units of that number. Others are rounded to the
    finest power of two that keeps the total below 2**32 units: with a million rows, about one part in 4 000
    of the mean weight. If all weights are equal, the units are None.

    Examples
    --------
    >>> weight_units([1, 2, 0], 3)
    (array([1, 2, 0]), 1.0)
    >>> weight_units([0.5, 1.0, 0.0], 3)
    (array([1, 2, 0]), 2.0)
    >>> weight_units([4, 4, 4], 3)
    (None, 0.25)
    """
    weights = checked_weights(sample_weight, n_rows)
    facts = WeightFacts.of(weights)
    scale = WeightScale.of(facts, facts.may_be_multiples and not_multiples(weights, facts.least) == 0)
    return None if scale.all_one else scale.units(weights), scale.per_weight


def checked_weights(sample_weight: ArrayLike, n_rows: int) -> FloatArray:  # (n_rows,)
    """The weights as numbers; raises an error if they are invalid."""
    if isinstance(sample_weight, str):
        raise ParameterError(
            f"sample_weight is {sample_weight!r}, the name of a column, but there is no table to take it "
            "from: give one weight per row."
        )
    weights = _as_numbers(sample_weight, "sample_weight")
    if weights.shape != (n_rows,):
        raise ParameterError(
            f"sample_weight has shape {weights.shape}, but the table has {n_rows} rows: "
            "give one weight per row."
        )
    if not weights.any():
        WeightFacts.of(weights).check()
    return weights


def column_weights(part: Table, name: str) -> FloatArray:  # (n,)
    """The weights in a column of some rows."""
    return _as_numbers(part.native(name), f"The weight column {name!r}")


def _as_numbers(column: Any, what: str) -> FloatArray:
    try:
        values = np.asarray(column)
        weights = values.astype(np.float64, casting="unsafe" if values.dtype == object else "same_kind")
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{what} holds values that are not numbers: give one weight of 0 or more per row."
        ) from error
    if weights.ndim == 1 and (not np.isfinite(weights).all() or (weights < 0).any()):
        raise ParameterError(f"{what} holds negative, infinite or missing values; weights are 0 or more.")
    return weights


def not_multiples(weights: FloatArray, unit: float) -> int:
    """Number of weights that are not multiples of a unit."""
    ratios = weights / unit
    return int((np.abs(ratios - np.rint(ratios)) > SAME_WEIGHT * ratios).sum())


# Functions that run on the workers, one per pass over the column of weights.


def facts_of_part(part: Any, name: str) -> WeightFacts:
    """Properties of the weights of some rows."""
    return WeightFacts.of(column_weights(open_table(part), name))


def not_multiples_in_part(part: Any, name: str, unit: float) -> int:
    """Number of weights of some rows that are not multiples of a unit."""
    return not_multiples(column_weights(open_table(part), name), unit)


def check_weight_name(name: str, names: tuple[str, ...]) -> None:
    """Raise an error if the column of weights does not exist or is the only one."""
    if name not in names:
        raise UnknownColumn(
            f"sample_weight is {name!r}, which is not a column of the table. {columns_hint(name, names)}"
        )
    if len(names) == 1:
        raise ParameterError(f"{name!r}, the column of weights, is the only column of the table.")
