"""What every estimator shares: a raw table in, attributes in the user's own words out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
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

from catalpa.engines.base import Engine
from catalpa.engines.choose import opener_for
from catalpa.engines.opening import TableSettings
from catalpa.errors import ColumnMismatch, ParameterError
from catalpa.estimator.attributes import balance, centers_frame, history_frame, profiles_frame
from catalpa.estimator.checkpoint import CheckpointedEngine, checkpointed
from catalpa.estimator.notebook import Shown
from catalpa.estimator.outcome import Outcome
from catalpa.estimator.parameters import Rule, check_parameters, rules_with
from catalpa.estimator.problem import Problem
from catalpa.estimator.saving import identity, saved
from catalpa.loop.history import Batch
from catalpa.model.scoring import Scoring
from catalpa.steps.assign import label_rows, measure_rows
from catalpa.steps.scores import FixedScores, fix
from catalpa.table.blocks import Axis, FloatArray
from catalpa.table.scaling import Scaling
from catalpa.table.schema import Schema

__all__ = ["Clusterer", "Outcome", "Problem"]


class Clusterer(Shown, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):
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
        problem = self._kept(self._pose(X, sample_weight))
        outcome = self._solve(problem)
        engine = problem.engine
        self._publish(problem.schema, problem.scaling, outcome, problem.units_per_weight, engine.n_rows)
        _warn_if_short(getattr(self, "n_clusters", None), self._outcome)
        self._warn_if_odd()
        labels = self._outcome.labels
        if labels is None:
            labels = engine.answer(label_rows, fix(self._outcome.scores, engine.axis))
        self.labels_ = labels
        if isinstance(engine, CheckpointedEngine):
            engine.finished()
        return self

    def _kept(self, problem: Problem) -> Problem:
        """The same problem with every pass kept, if the user named a folder for that."""
        folder = getattr(self, "checkpoint", None)
        if folder is None:
            return problem
        fit = identity(self, problem.schema)
        return replace(problem, engine=checkpointed(problem.engine, Path(folder), fit))

    def _pose(self, X: Any, sample_weight: Any = None) -> Problem:
        """The table made ready to be solved."""
        opener = opener_for(X)
        random_state = check_random_state(getattr(self, "random_state", None))
        settings = self._searched(self._table_settings(), random_state)
        opened = opener.for_fit(X, settings, self._checked_weight(X, sample_weight))
        validate_data(self, opener.header(X).sample, skip_check_array=True)
        return Problem(
            opened.engine,
            opened.schema,
            opened.scaling,
            self._clusters_for(opened.engine.n_rows),
            getattr(self, "init", "random"),
            random_state,
            opened.units_per_weight,
            settings.search_rows or opened.engine.n_rows,
            settings.search_seed,
        )

    def _searched(self, settings: TableSettings, _random_state: np.random.RandomState) -> TableSettings:
        """The settings with the rows that a search looks at; by default none is made on some rows only."""
        return settings

    def _solve(self, problem: Problem) -> Outcome:
        raise NotImplementedError

    def _warn_if_odd(self) -> None:
        """Say what a method knows to be odd about its fit; by default nothing."""

    def _balance(self, outcome: Outcome) -> dict[str, float]:
        return balance(outcome)

    def _table_settings(self) -> TableSettings:
        return TableSettings(
            categorical_features=self.categorical_features,
            missing=self.missing,
            handle_unknown=self.handle_unknown,
            numbers=self._numbers,
            bins=getattr(self, "bins", None),
            n_jobs=self.n_jobs,
        )

    def _checked_weight(self, X: Any, sample_weight: Any) -> Any:
        if sample_weight is None:
            return None
        n_rows = opener_for(X).header(X).n_rows
        if n_rows is None:
            return sample_weight
        return _check_sample_weight(sample_weight, np.zeros((n_rows, 1)), ensure_non_negative=True)

    def _clusters_for(self, n_rows: int) -> int:
        if self.n_clusters > n_rows:
            raise ParameterError(
                f"n_clusters={self.n_clusters}, but the table has n_samples={n_rows} rows: "
                "ask for at most one cluster per row."
            )
        return int(self.n_clusters)

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
        self._batches: tuple[Batch, ...] = ()
        self._n_features_out = outcome.k
        self.n_clusters_ = outcome.k
        self.n_iter_ = len(outcome.history)
        self.cost_ = outcome.cost
        self.cluster_sizes_ = _in_weights(outcome.counts.sizes, units_per_weight)
        for name, value in outcome.facts.items():
            setattr(self, f"{name}_", value)
        if schema.numeric and schema.categorical:
            self.balance_ = self._balance(outcome)

    @property
    def centers_(self) -> Any:
        """One row per cluster in original values, in the table's own frame library."""
        return centers_frame(self.schema_, self._scaling, self._outcome)

    @property
    def profiles_(self) -> Any:
        """Share, share overall and lift of every category, per cluster and column."""
        return profiles_frame(self.schema_, self._outcome, self._units_per_weight)

    @property
    def history_(self) -> Any:
        """Phase, cost, moved rows, relearnings and clusters of every pass."""
        return history_frame(self.schema_, self._outcome)

    @property
    def _learned(self) -> Mapping[str, FloatArray]:
        return self._outcome.learned

    def predict(self, X: Any) -> Any:
        """Cluster of every row of a table with the columns of fit."""
        engine, fixed = self._measure(X)
        return engine.answer(label_rows, fixed)

    def transform(self, X: Any) -> Any:
        """Cost of every row in every cluster, (n, k)."""
        engine, fixed = self._measure(X)
        return engine.answer(measure_rows, fixed)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean cost of a row in its cluster; higher is better."""
        engine, fixed = self._measure(X)
        return float(-engine.each(measure_rows, fixed).min(axis=1).mean())

    def _check_columns(self, X: Any) -> None:
        """Refuse a table that has other columns than at fit."""
        header = opener_for(X).header(X)  # what is no table is said before its columns are counted
        try:
            validate_data(self, header.sample, reset=False, skip_check_array=True)
        except ValueError as error:
            if header.named and self.schema_.named:
                raise ColumnMismatch(f"{error}{_elsewhere(header.names, self.schema_.names)}") from error
            raise

    def _measure(self, X: Any) -> tuple[Engine, FixedScores]:
        check_is_fitted(self)
        self._check_columns(X)
        opener = opener_for(X)
        engine = opener.for_predict(X, self.schema_, self._scaling, self._table_settings())
        return engine, self._fixed(engine.axis)

    def _fixed(self, axis: Axis) -> FixedScores:
        """The integers that decide labels, with the costs of holes where the axis has places for them."""
        return fix(self._outcome.scores, axis)

    def to_sql(
        self,
        *,
        dialect: str = "duckdb",
        table: str | Sequence[str] = "rows",
        keep: Sequence[str] | None = None,
        label: str = "cluster",
    ) -> str:
        """One SQL query that gives the rows of a database table the labels of ``predict``.

        A row that ``predict`` refuses, for a missing cell or an unseen category, gets no label: NULL.

        Parameters
        ----------
        dialect : str, default="duckdb"
            "duckdb", "postgres", "sqlite", or another that sqlglot knows.
        table : str or sequence of str, default="rows"
            Name of the table, or the parts of a qualified name such as ``("sales", "rows")``.
        keep : sequence of str, optional
            Columns to select beside the label, such as a key; the columns of fit if not given.
        label : str, default="cluster"
            Name of the column of labels.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        from catalpa.model.sql import sql_query

        return sql_query(self._scoring(), dialect=dialect, table=table, keep=keep, label=label)

    def _scoring(self) -> Scoring:
        """What decides labels, for a query; methods that are no sum over columns refuse."""
        axis = self.schema_.axis.with_holes
        return Scoring(self.schema_, self._scaling, self._fixed(axis), self.handle_unknown)

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


def _elsewhere(came: Sequence[str], expected: Sequence[str]) -> str:
    """Names the columns that are there but not where fit had them; scikit-learn's message does not."""
    moved = [name for name, other in zip(came, expected, strict=False) if name != other]
    return f" These columns stand elsewhere than at fit: {moved}." if sorted(came) == sorted(expected) else ""


def _in_weights(units: NDArray[Any], units_per_weight: float) -> NDArray[Any]:
    return units if units_per_weight == 1.0 else units / units_per_weight


def _warn_if_short(asked: Any, outcome: Outcome) -> None:
    if isinstance(asked, Integral) and outcome.k < int(asked):
        warnings.warn(
            f"Only {outcome.k} of {asked} clusters hold rows: the table has too few rows that differ for "
            "this distance, or clusters were kept empty. Ask for fewer clusters.",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif not outcome.converged:
        warnings.warn(
            f"Stopped after {len(outcome.history)} passes before the clusters came to rest. "
            "Raise max_iter (or max_rounds), or look at history_.",
            ConvergenceWarning,
            stacklevel=3,
        )
