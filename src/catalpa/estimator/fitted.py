"""What a method hands back after clustering, and all that a fitted estimator keeps of a fit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from catalpa.loop.history import Batch, Pass
from catalpa.relations.relations import Relations
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores, Scores
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Outcome:
    """A clustering: the scores that are the model, and what was learned on the way."""

    # scores, counts: of all clusters asked for; empty ones are dropped by ``without_empty``.
    scores: Scores
    counts: Counts
    centers: IntArray  # (k, columns); code of each centre's category
    cost: float
    history: tuple[Pass, ...]
    converged: bool
    # What the method learned per cluster (first axis k), by name; goes into the model file.
    learned: Mapping[str, FloatArray] = field(default_factory=dict)
    # What it learned for all clusters together.
    shared: Mapping[str, FloatArray] = field(default_factory=dict)
    # Settings that were worked out from the data, published as ``<name>_``.
    facts: Mapping[str, float] = field(default_factory=dict)
    # Like ``shared``, where every column or partition has an array of its own shape.
    ragged: Mapping[str, tuple[FloatArray, ...]] = field(default_factory=dict)
    # (n,): labels where they are not simply those that ``scores`` give, or None.
    labels: IntArray | None = None
    # Counts by share, in 2**-20 of a weight of 1, of a method whose rows count in every cluster, or None.
    soft: Counts | None = None

    @property
    def k(self) -> int:
        return self.scores.k

    def without_empty(self) -> Outcome:
        """The same clustering with the clusters that hold no row left out."""
        kept = np.flatnonzero(self.counts.sizes > 0)
        if len(kept) == self.k:
            return self
        scores = self.scores
        return replace(
            self,
            scores=replace(
                scores,
                table=np.ascontiguousarray(scores.table[:, kept]),  # the core reads rows of it as they lie
                **{name: getattr(scores, name)[kept] for name in ("anchor", "means", "scale", "level")},
            ),
            counts=self.counts.take(kept),
            centers=self.centers[kept],
            learned={name: values[kept] for name, values in self.learned.items()},
            soft=None if self.soft is None else self.soft.take(kept),
            labels=None if self.labels is None else np.searchsorted(kept, self.labels).astype(np.int32),
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that an estimator keeps of a fit, apart from the labels.

    Attributes, model files, SQL, the notebook card, reports and charts are made from this.
    """

    schema: Schema  # the columns as fit saw them, and the grid that their numbers lie on
    outcome: Outcome  # without clusters that hold no row
    units_per_weight: float  # whole units in which counts and sizes count a weight of 1
    rows: int  # rows of the fit, and of all batches since
    # (k, numeric, 3): lower quartile, median and upper quartile of the numbers on the grid of the fit, of the
    # first batch with ``partial_fit``; NaN where no row has a number. Empty until rows have their labels.
    quartiles: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    batches: tuple[Batch, ...] = ()  # what each call of ``partial_fit`` met; empty after ``fit``
    names: Mapping[int, str] = field(default_factory=dict)  # names that clusters were given since
    # The integers that decide labels, by whether their axis has holes; made when first needed, never saved.
    fixed: dict[bool, FixedScores] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "fixed": {}}

    @property
    def shares(self) -> FloatArray:  # (k, V)
        """Share of each category among the rows of each cluster that have its column."""
        return self.outcome.counts.shares(self.schema.axis)

    def relations(self, matrices: Sequence[FloatArray]) -> Relations:
        """What these distances, a matrix for each categorical column, say to people."""
        return Relations.from_distances(self.schema, matrices, n_clusters=self.outcome.k, shares=self.shares)

    def in_weights(self, units: NDArray[Any]) -> NDArray[Any]:
        """Counts in the user's weights; whole numbers stay whole where nothing was weighted."""
        if self.units_per_weight == 1.0:
            return units
        # Every row's weight was rounded to a unit, and errors of n rows add up to about the root of n: digits
        # beyond that are noise, and 134.343 would read as 134.342999.
        digits = max(int(math.log10(self.units_per_weight / math.sqrt(max(self.rows, 1)))), 0)
        return np.round(units / self.units_per_weight, digits)


def fitted_of(model: Any) -> Fitted:
    """What a fitted estimator keeps; NotFittedError before ``fit``."""
    check_is_fitted(model)
    return model._fitted  # type: ignore[no-any-return]


def warn_if_short(asked: Any, outcome: Outcome, advice: str) -> None:
    """Say where a fit found fewer clusters than it was asked for, or did not come to rest and what helps."""
    if isinstance(asked, Integral) and outcome.k < int(asked):
        said = (
            f"Only {outcome.k} of {asked} clusters hold rows: the table has too few rows that differ for "
            "this distance, or clusters were kept empty. Ask for fewer clusters."
        )
    elif not outcome.converged:
        said = f"Stopped after {len(outcome.history)} passes before the clusters came to rest. {advice}"
    else:
        return
    warnings.warn(said, ConvergenceWarning, stacklevel=3)
