"""Clusters that go on learning: batches of rows come one after another and are not kept."""

from __future__ import annotations

from dataclasses import asdict, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from catalpa.engines.local import LocalEngine
from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_in
from catalpa.estimator.outcome import Outcome
from catalpa.estimator.parameters import check_parameters
from catalpa.loop.history import Batch, Pass
from catalpa.steps.assign import label_rows, measure_rows
from catalpa.steps.counts import Counts
from catalpa.steps.labelled import count_labelled
from catalpa.steps.scores import fix
from catalpa.table import encode, open_table
from catalpa.table.blocks import Axis, IntArray, Rows
from catalpa.table.extend import extend, places_in
from catalpa.table.intake import Table
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer as Estimator
else:
    Estimator = object  # estimators derive from Clusterer themselves; this only adds to them

__all__ = ["Incremental", "faded", "widened"]

FINE = 1024  # units of a row's weight where old rows fade, so that rare categories fade too


class Incremental(Estimator):
    """What estimators share whose clusters can be made from counts alone."""

    decay: float

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one more batch of rows, which is not kept.

        The first batch is clustered as ``fit`` does it and needs rows for every cluster. The rows of later
        ones go to their nearest clusters and are counted there, after ``decay`` has made the rows before
        lighter; categories that are new join the columns. ``labels_`` are those of the batch, ``history_``
        has a line per batch, and ``predict`` can be called in between. Numbers are measured on the range of
        the first batch.

        Parameters
        ----------
        X : table
            In memory, with the columns of the first batch.
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).partial_fit([["a", "x"], ["a", "x"], ["b", "y"]])
        >>> model.partial_fit([["b", "z"], ["a", "x"]]).cluster_sizes_.sum()
        np.int64(5)
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules)
        if self.__sklearn_is_fitted__():
            self._learn(X)
        else:
            self._begin(X)
        return self

    def _from_counts(self, axis: Axis, counts: Counts, units_per_weight: float) -> Outcome:
        """The clusters that hold these counts, without a history."""
        raise NotImplementedError

    def _begin(self, X: Any) -> None:
        self.fit(X)
        asked, found = self.n_clusters, self.n_clusters_
        if isinstance(asked, Integral) and found < int(asked):
            del self._outcome
            raise ParameterError(
                f"The first batch has rows for {found} of {asked} clusters only. Begin with a larger batch, "
                "or ask for fewer clusters."
            )
        self._batches = (Batch(self._n_rows, self.cost_ / self._n_rows),)
        whole = Pass("batch", self.cost_, self._n_rows, False, self.n_clusters_)
        self._outcome = replace(self._outcome, history=(whole,))
        self.n_iter_ = 1

    def _learn(self, X: Any) -> None:
        self._check_columns(X)
        table = open_table(X)
        labels, cost, unseen = self._assigned(table)
        wider = extend(self.schema_, table)
        units = 1.0 if self.decay == 1.0 and self._units_per_weight == 1.0 else float(FINE)
        before = widened(self._outcome.counts, self.schema_, wider).times(units / self._units_per_weight)
        rows = encode(table, wider, handle_unknown="ignore").rows.map(self._scaling.apply)
        batch = count_labelled(rows.blocks[0], labels, self.n_clusters_, rows.axis)
        counts = faded(before, self.decay) + batch.times(units)
        outcome = self._relearned(wider, counts, units, rows)
        event = Pass("batch", cost * len(table), len(table), False, outcome.k)
        history, batches = (*self._outcome.history, event), self._batches
        shift = _shift(before, counts, wider.axis)
        self._publish(
            wider, self._scaling, replace(outcome, history=history), units, self._n_rows + len(table)
        )
        self._batches = (*batches, Batch(len(table), cost, unseen, shift))
        self.labels_ = labels

    def _relearned(self, schema: Schema, counts: Counts, units_per_weight: float, rows: Rows) -> Outcome:
        """The clusters after a batch, whose rows are in the codes of the wider schema."""
        return self._from_counts(schema.axis, counts, units_per_weight)

    def _assigned(self, table: Table) -> tuple[IntArray, float, float]:
        """Labels of a batch in the clusters as they are, mean cost, share of cells with new categories."""
        handling = "error" if self.handle_unknown == "error" else "ignore"
        encoded = encode(table, self.schema_, handle_unknown=handling)  # type: ignore[arg-type]
        engine = LocalEngine(encoded.rows.map(self._scaling.apply), self.n_jobs)
        fixed = fix(self._outcome.scores, engine.axis)
        costs = engine.each(measure_rows, fixed).min(axis=1)
        cells = len(table) * max(len(self.schema_.categorical), 1)
        return engine.each(label_rows, fixed), float(costs.mean()), sum(encoded.unseen.values()) / cells

    @property
    def history_(self) -> Any:
        """Phase, cost, moved rows, relearnings and clusters of every pass.

        After ``partial_fit`` a line per batch: its rows, their mean cost in the clusters before it, the share
        of cells with new categories, and how far the clusters shifted.
        """
        if not self._batches:
            return super().history_
        lines = [{"batch": number, **asdict(batch)} for number, batch in enumerate(self._batches, start=1)]
        columns = {name: [line[name] for line in lines] for name in lines[0]}
        return frame_in(self.schema_.library, columns)


def widened(counts: Counts, schema: Schema, wider: Schema) -> Counts:
    """The counts with places for the categories that are new."""
    by_category = np.zeros((counts.k, wider.axis.length), dtype=np.int64)
    by_category[:, places_in(schema, wider)] = counts.by_category
    return replace(counts, by_category=by_category)


def faded(counts: Counts, decay: float) -> Counts:
    """The counts made lighter; a cluster that would vanish keeps what it has."""
    lighter = counts.times(decay)
    gone = lighter.sizes == 0
    if not gone.any():
        return lighter
    pairs = zip(counts.arrays, lighter.arrays, strict=True)
    by_category, sizes, sums, squares, seen = (
        np.where(gone.reshape(-1, *(1,) * (whole.ndim - 1)), whole, light) for whole, light in pairs
    )
    return Counts(by_category, sizes, sums, squares, seen, lighter.cost, lighter.moved)


def _shift(before: Counts, after: Counts, axis: Axis) -> float:
    moved = np.abs(after.shares(axis) - before.shares(axis)).sum(axis=1) / (2 * max(axis.n_columns, 1))
    return float(np.average(moved, weights=after.sizes))
