"""What every estimator shares: a raw table in, attributes in the user's own words out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from catalpa.cluster.attributes import balance, centers_frame, history_frame, profiles_frame
from catalpa.cluster.outcome import Outcome
from catalpa.cluster.parameters import Rule, check_parameters, rules_with
from catalpa.cluster.problem import Problem
from catalpa.cluster.saving import saved
from catalpa.engines.local import LocalEngine
from catalpa.errors import ParameterError
from catalpa.steps.assign import label_rows, measure_rows
from catalpa.steps.scores import FixedScores, fix
from catalpa.table import encode, infer, open_table
from catalpa.table.blocks import Block, FloatArray, Rows
from catalpa.table.scaling import Scaling
from catalpa.table.schema import Schema
from catalpa.table.weights import weight_units

__all__ = ["Clusterer", "Outcome", "Problem"]


class Clusterer(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: they differ in ``_solve`` and in their settings."""

    _numbers: ClassVar[str] = "keep"
    _rules: ClassVar[Mapping[str, Rule]] = rules_with({})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Clusterer:
        """Cluster the rows of a table.

        Parameters
        ----------
        X : table
            pandas, polars or Arrow frame, array, or list of rows; strings and missing cells welcome.
        y : ignored
        sample_weight : array-like (n,), optional
            Weight of each row; weight 2 counts as the row twice.

        Returns
        -------
        self
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules)
        schema = self._infer(X)
        rows, scaling = self._prepare(X, schema)
        validate_data(self, X, skip_check_array=True)
        rows, units_per_weight = _weighted(rows, X, sample_weight)
        engine = LocalEngine(rows, self.n_jobs)
        problem = Problem(
            engine,
            schema,
            scaling,
            self._clusters_for(len(rows)),
            getattr(self, "init", "random"),
            check_random_state(getattr(self, "random_state", None)),
            units_per_weight,
        )
        outcome = self._solve(problem)
        self._publish(schema, scaling, outcome, units_per_weight, len(rows))
        _warn_if_short(getattr(self, "n_clusters", None), self._outcome)
        labels = self._outcome.labels
        if labels is None:
            labels = engine.each(label_rows, fix(self._outcome.scores, engine.axis))
        self.labels_ = labels
        return self

    def _solve(self, problem: Problem) -> Outcome:
        raise NotImplementedError

    def _infer(self, X: Any) -> Schema:
        return infer(
            X,
            categorical_features=self.categorical_features,
            missing=self.missing,
            numbers=self._numbers,  # type: ignore[arg-type]
            bins=getattr(self, "bins", None),
        )

    def _clusters_for(self, n_rows: int) -> int:
        if self.n_clusters > n_rows:
            raise ParameterError(
                f"n_clusters={self.n_clusters}, but the table has n_samples={n_rows} rows: "
                "ask for at most one cluster per row."
            )
        return int(self.n_clusters)

    def _prepare(self, X: Any, schema: Schema) -> tuple[Rows, Scaling]:
        low = np.array([column.low for column in schema.numeric], dtype=np.float64)
        high = np.array([column.high for column in schema.numeric], dtype=np.float64)
        scaling = Scaling(low, high)
        return encode(X, schema, handle_unknown=self.handle_unknown).rows.map(scaling.apply), scaling

    def _publish(
        self, schema: Schema, scaling: Scaling, outcome: Outcome, units_per_weight: float, n_rows: int
    ) -> None:
        outcome = outcome.without_empty()
        self.schema_ = schema
        if schema.named:
            self.feature_names_in_ = np.asarray(schema.names, dtype=object)
        self._scaling = scaling
        self._outcome = outcome
        self._units_per_weight = units_per_weight
        self._n_rows = n_rows
        self._n_features_out = outcome.k
        self.n_clusters_ = outcome.k
        self.n_iter_ = len(outcome.history)
        self.cost_ = outcome.cost
        self.cluster_sizes_ = _in_weights(outcome.counts.sizes, units_per_weight)
        for name, value in outcome.facts.items():
            setattr(self, f"{name}_", value)
        if schema.numeric and schema.categorical:
            self.balance_ = balance(outcome)

    @property
    def centers_(self) -> Any:
        """One row per cluster in original values, in the table's own frame library."""
        return centers_frame(self.schema_, self._scaling, self._outcome)

    @property
    def profiles_(self) -> Any:
        """Share, share overall and lift of every category, per cluster and column."""
        return profiles_frame(self.schema_, self._outcome)

    @property
    def history_(self) -> Any:
        """Phase, cost, moved rows, relearnings and clusters of every pass."""
        return history_frame(self.schema_, self._outcome)

    @property
    def _learned(self) -> Mapping[str, FloatArray]:
        return self._outcome.learned

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Cluster of every row of a table with the columns of fit."""
        engine, fixed = self._measure(X)
        return engine.each(label_rows, fixed)

    def transform(self, X: Any) -> FloatArray:
        """Cost of every row in every cluster, (n, k)."""
        engine, fixed = self._measure(X)
        return engine.each(measure_rows, fixed)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean cost of a row in its cluster; higher is better."""
        engine, fixed = self._measure(X)
        return float(-engine.each(measure_rows, fixed).min(axis=1).mean())

    def _measure(self, X: Any) -> tuple[LocalEngine, FixedScores]:
        check_is_fitted(self)
        open_table(X)  # what is no table is said before its columns are counted
        validate_data(self, X, reset=False, skip_check_array=True)
        encoded = encode(X, self.schema_, handle_unknown=self.handle_unknown)
        rows = encoded.rows.map(self._scaling.apply)
        return LocalEngine(rows, self.n_jobs), fix(self._outcome.scores, rows.axis)

    def save(self, path: str | Path) -> None:
        """Write the fitted model as a JSON file that ``catalpa.load`` reads; no pickle involved."""
        check_is_fitted(self)
        saved(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_outcome")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _weighted(rows: Rows, X: Any, sample_weight: Any) -> tuple[Rows, float]:
    if sample_weight is None:
        return rows, 1.0
    checked = _check_sample_weight(sample_weight, np.zeros((len(rows), 1)), ensure_non_negative=True)
    units, per_weight = weight_units(checked, len(rows))
    if units is None:
        return rows, 1.0

    def weigh(block: Block) -> Block:
        return replace(block, weights=units[block.start : block.start + len(block)])

    return rows.map(weigh), per_weight


def _in_weights(units: NDArray[Any], units_per_weight: float) -> NDArray[Any]:
    return units if units_per_weight == 1.0 else units / units_per_weight


def _warn_if_short(asked: Any, outcome: Outcome) -> None:
    if isinstance(asked, Integral) and outcome.k < asked:
        warnings.warn(
            f"Only {outcome.k} of {asked} clusters hold rows: the table has too few rows that differ for "
            "this distance, or clusters were kept empty. Ask for fewer clusters.",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif not outcome.converged:
        warnings.warn(
            f"Stopped after {len(outcome.history)} passes before the clusters came to rest. "
            "Raise max_iter, or look at history_.",
            ConvergenceWarning,
            stacklevel=3,
        )
