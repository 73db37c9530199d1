"""Base class of all estimators: from a raw table to attributes in original values."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, fields, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine
from catalpa.errors import ColumnMismatch, ParameterError, warn_user
from catalpa.estimator.attributes import ExplanationMixin, balance, card, size_line
from catalpa.estimator.checking import CHECK_ROWS, VerdictMixin
from catalpa.estimator.checkpoint import CheckpointedEngine, checkpointed
from catalpa.estimator.export import ExportMixin
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.naming import ClusterNamesMixin
from catalpa.estimator.parameters import Rule, check_parameters
from catalpa.estimator.preparing import (
    recipe_for,
    recipe_weights,
    source_for_fit,
    source_for_predict,
    with_blocks,
)
from catalpa.estimator.problem import (
    Fitted,
    Outcome,
    Problem,
    count_weighted,
    rows_in_memory,
)
from catalpa.estimator.refit import RefitMixin
from catalpa.estimator.row_explanations import RowExplanationMixin
from catalpa.explain.numbers import quantiles
from catalpa.loop.progress import Tell, watched
from catalpa.loop.settle import LoopSettings
from catalpa.steps.assign import label_rows, measure_rows, nearest_costs, summed_exactly
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores, to_fixed_point
from catalpa.table.blocks import Axis, Block, FloatArray, Rows
from catalpa.table.encode import Encoding
from catalpa.table.encode_few import few_rows
from catalpa.table.exact import as_float
from catalpa.table.open import Header
from catalpa.table.schema import MissingPolicies, NumbersPolicy, Schema, TableSettings, UnknownPolicy
from catalpa.table.weights import WeightColumn

__all__ = ["Clusterer", "Outcome", "Problem"]

QUARTILE_ROWS = 100_000  # sample size for quartiles of larger tables


@dataclass(eq=False, repr=False)
class Clusterer(
    VerdictMixin,
    ExplanationMixin,
    RowExplanationMixin,
    ClusterNamesMixin,
    RefitMixin,
    ExportMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Base class of the estimators, which differ in ``_solve`` and in their parameters.

    Parameters are fields of a dataclass, which generates the ``__init__`` that scikit-learn requires: one
    that only stores them.
    """

    _: KW_ONLY
    missing: MissingPolicies = "category"
    handle_unknown: UnknownPolicy = "warn"
    categorical_features: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    callback: Tell | None = None
    recipe: Any = None

    _numbers: ClassVar[NumbersPolicy] = "keep"
    _uses_order: ClassVar[bool] = False  # whether the order of ordered categories is used
    _rules: ClassVar[Mapping[str, Rule]] = {}
    _contents: ClassVar[ModelContents] = ModelContents()
    _not_converged_advice: ClassVar[str] = (
        "Raise max_iter (or max_rounds), or look at history_."  # if the fit does not converge
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Clusterer:
        """Cluster the rows of a table.

        Parameters
        ----------
        X : table
            pandas, polars or Arrow frame, array, or list of rows; strings and missing cells welcome. Also
            ``catalpa.scan``, a polars LazyFrame, a DuckDB relation, a Dask or a Spark table.
        y : ignored
        sample_weight : str or array-like (n,), optional
            Weight of each row; weight 2 counts as the row twice. A name is that of a column of the table,
            which then takes no part in the clustering.

        Returns
        -------
        self
        """
        began = time.monotonic()
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules)
        problem = self._with_checkpoint(self._open_problem(X, sample_weight))
        with self._watched(problem.units_per_weight, began):
            outcome, engine = self._solve(problem).without_empty(), problem.engine
        self._publish(
            Fitted(
                problem.schema,
                outcome,
                problem.units_per_weight,
                engine.n_rows,
                weight_column=problem.weight_column,
                recipe=problem.recipe,
            )
        )
        self.labels_ = self._final_labels(engine, outcome.labels)
        self._fitted = replace(self._fitted, quartiles=self._quartiles(problem))
        self.labels_ = self._with_outliers(engine, self.labels_)
        self._rows_to_check = problem.gathered(CHECK_ROWS)
        for finding in self._findings():
            if finding.warning is not None:
                warn_user(finding.text, finding.warning)
        # Last, so that a fit interrupted while labelling its rows can be resumed.
        if isinstance(engine, CheckpointedEngine):
            engine.finished()
        return self

    def _watched(self, units: float, began: float) -> AbstractContextManager[None]:
        """Report progress inside the ``with`` block according to ``verbose`` and ``callback``."""
        n_clusters = getattr(self, "n_clusters", None)
        k = int(n_clusters) if isinstance(n_clusters, Integral) else None
        return watched(
            type(self).__name__, self.callback, int(self.verbose), k=k, units_per_weight=units, began=began
        )

    def _label(self, engine: Engine) -> Any:
        """Labels of an engine's rows, for ``fit`` and ``predict``."""
        return engine.map_rows(label_rows, self._fixed_scores(engine.axis))

    def _final_labels(self, engine: Engine, own_labels: Any) -> Any:
        """Labels as returned by ``predict``; counts are updated if the method itself gave different ones."""
        for name in ("published_labels_", "matched_", "_match_records"):  # of an earlier fit
            self.__dict__.pop(name, None)
        labels = self._label(engine)
        if own_labels is None:
            return labels
        if not isinstance(own_labels, np.ndarray):  # distributed, as the labels of predict
            self.published_labels_ = own_labels
            return labels
        lazy = not isinstance(labels, np.ndarray)
        here = engine.each(label_rows, self._fixed_scores(engine.axis)) if lazy else labels
        # Methods that visit rows in order skip those with weight 0.
        own_labels = np.where(own_labels < 0, here, own_labels)
        self.published_labels_ = own_labels
        if np.array_equal(own_labels, here):
            return labels
        # Methods that merge rows or visit them in order may leave rows that are nearer to another cluster.
        fitted, block = self._fitted, Block.together(rows_in_memory(engine, type(self).__name__).blocks)
        counts = Counts.of(block, labels, fitted.outcome.k, engine.axis)
        self._publish(replace(fitted, outcome=replace(fitted.outcome, counts=counts).without_empty()))
        return self._label(engine)

    def _quartiles(self, problem: Problem) -> FloatArray:  # (k, numeric, 3)
        """Lower quartile, median and upper quartile of every number in every cluster, on the grid."""
        k = self._fitted.outcome.k
        if not problem.schema.numeric:  # avoids another pass over the rows
            return np.zeros((k, 0, 3))
        sample = problem.sample(QUARTILE_ROWS, seed=0).sorted()
        block = sample.rows
        if isinstance(self.labels_, np.ndarray):
            labels = self.labels_[sample.index]
        else:  # distributed labels
            labels = self._label(LocalEngine(Rows(problem.engine.axis, [block]), self.n_jobs))
        return quantiles(block.numbers, labels, block.row_weights, k)[:, :, 1:4]

    def _with_checkpoint(self, problem: Problem) -> Problem:
        """The problem with checkpoints, if ``checkpoint`` is set."""
        folder = getattr(self, "checkpoint", None)
        if folder is None:
            return problem
        return replace(problem, engine=checkpointed(problem.engine, Path(folder), self, problem.schema))

    def _open_problem(self, X: Any, sample_weight: Any = None) -> Problem:
        """Read and encode the table."""
        recipe = recipe_for(self.recipe, X)
        sample_weight = recipe_weights(recipe, X, sample_weight)
        weight = sample_weight if isinstance(sample_weight, str) else None
        opener = source_for_fit(recipe, X, weight)
        # Used before the table is read: the rows of a search must not depend on the engine.
        random_state = check_random_state(getattr(self, "random_state", None))
        settings = self._with_search(self._table_settings(), random_state)
        settings = with_blocks(settings, recipe, opener.header.names)
        source = opener.for_fit(settings, sample_weight)
        validate_data(self, opener.header.without(weight).sample, skip_check_array=True)
        return Problem(
            source.engine,
            self._with_order_told(source.schema),
            self._clusters_for(count_weighted(source.engine)),
            random_state,
            self._loop_settings,
            units_per_weight=source.units_per_weight,
            search_rows=settings.search_rows or source.engine.n_rows,
            search_seed=settings.search_seed,
            recipe=recipe,
            weight_column=weight,
        )

    @property
    def _loop_settings(self) -> LoopSettings:
        """Settings of the loop that the method has as parameters; words are lower-case."""
        names = [field.name for field in fields(LoopSettings) if hasattr(self, field.name)]
        settings = {name: getattr(self, name) for name in names}
        words = {name: value.lower() for name, value in settings.items() if isinstance(value, str)}
        return LoopSettings(**{**settings, **words})

    def _problem_of(self, engine: Engine) -> Problem:
        """Rows of a table with the columns of the fit, to be clustered again as at fit."""
        random_state = check_random_state(getattr(self, "random_state", None))
        settings = self._with_search(self._table_settings(), random_state)
        return Problem(
            engine,
            self._fitted.schema,
            self._fitted.outcome.k,
            random_state,
            self._loop_settings,
            search_seed=settings.search_seed,
        )

    def _with_order_told(self, schema: Schema) -> Schema:
        """Add a remark to the schema if the method does not use declared orders."""
        named = [] if self._uses_order else [repr(name) for name in schema.declared_orders]
        if not named:
            return schema
        shown = ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")
        message = (
            f"{type(self).__name__} does not use the declared order of {shown}: they are treated as nominal. "
            "Grove, HDC and HARR use it"
        )
        return replace(schema, decisions=(*schema.decisions, message))

    def _with_search(self, settings: TableSettings, _random_state: np.random.RandomState) -> TableSettings:
        """The settings with size and seed of the search sample; by default all rows are used."""
        return settings

    def _solve(self, problem: Problem) -> Outcome:
        raise NotImplementedError

    def _check_read(self, fitted: Fitted) -> None:
        """Hook to check a loaded model; names, shapes and finite numbers are already checked."""

    def _balance(self, fitted: Fitted) -> dict[str, float]:
        return balance(fitted.outcome)

    def _table_settings(self) -> TableSettings:
        return TableSettings(
            categorical_features=self.categorical_features,
            missing=self.missing,
            handle_unknown=self.handle_unknown,
            numbers=self._numbers,
            bins=getattr(self, "bins", None),
            n_jobs=self.n_jobs,
        )

    def _clusters_for(self, n_rows: int) -> int:
        if self.n_clusters > n_rows:
            raise ParameterError(
                f"n_clusters={self.n_clusters}, but the table has n_samples={n_rows} rows: "
                "use at most one cluster per row."
            )
        return int(self.n_clusters)

    def _publish(self, fitted: Fitted) -> None:
        """Store the result of a fit and set the fitted attributes."""
        schema, outcome = fitted.schema, fitted.outcome
        self._fitted = fitted
        self.schema_ = schema
        if fitted.recipe is not None:
            self.recipe_ = fitted.recipe
        if schema.named:  # as in scikit-learn: no attribute if the table has no names
            self.feature_names_in_ = np.asarray(schema.inputs, dtype=object)
        self._n_features_out = outcome.k  # scikit-learn derives the output names of transform from it
        self.n_clusters_ = outcome.k
        self.n_iter_ = len(outcome.history)
        self.cost_ = outcome.cost
        self.cluster_sizes_ = fitted.in_weights(outcome.counts.sizes)
        for name, value in outcome.facts.items():
            if name not in self._contents.private_facts:
                setattr(self, f"{name}_", value)
        if schema.numeric and schema.categorical:
            self.balance_ = self._balance(fitted)

    def predict(self, X: Any) -> Any:
        """Cluster of every row of a table with the columns of fit."""
        engine = self._engine(X)
        return self._with_outliers(engine, self._label(engine))

    def _nearest(self, X: Any) -> Any:
        """Cluster of every row, also of outliers."""
        return self._label(self._engine(X))

    def _with_outliers(self, _engine: Engine, labels: Any) -> Any:
        """Labels of an engine's rows with -1 for outliers, in methods that label them."""
        return labels

    def transform(self, X: Any) -> Any:
        """Cost of every row in every cluster, (n, k)."""
        engine, fixed = self._opened(X)
        return engine.map_rows(measure_rows, fixed)

    def score(self, X: Any, y: Any = None) -> float:
        """Negative mean cost of the rows in their clusters; higher is better."""
        engine, fixed = self._opened(X)
        return -as_float(engine.total(summed_exactly, nearest_costs, fixed)) / engine.n_rows

    def _check_columns(self, header: Header) -> None:
        """Raise an error if the columns differ from those at fit."""
        # Records are encoded by name, and absent keys are missing values.
        if header.records and self.schema_.named:
            return
        try:
            validate_data(self, header.sample, reset=False, skip_check_array=True)
        except ValueError as error:
            if not header.named or not self.schema_.named:
                raise
            came, expected = header.names, self.schema_.inputs
            moved = [name for name, other in zip(came, expected, strict=False) if name != other]
            # scikit-learn's message does not name columns in a different order.
            same = sorted(came) == sorted(expected)
            remark = f" Columns are in a different order than at fit: {moved}." if same else ""
            raise ColumnMismatch(f"{error}{remark}") from error

    def _opened(self, X: Any) -> tuple[Engine, FixedScores]:
        engine = self._engine(X)
        return engine, self._fixed_scores(engine.axis)

    def _fixed_scores(self, axis: Axis) -> FixedScores:
        """Integer costs, cached for an axis with special places and for one without."""
        costs = self._fitted.outcome.integer_costs
        if axis.special_places not in costs:
            costs[axis.special_places] = self._new_fixed_scores(axis)
        return costs[axis.special_places]

    def _new_fixed_scores(self, axis: Axis) -> FixedScores:
        """Integer costs, with those of special places if the axis has them."""
        return to_fixed_point(self._fitted.outcome.scores, axis)

    def _engine(self, X: Any, weighed_by: WeightColumn | None = None) -> Engine:
        """An engine for a table with the columns of fit, weighted if ``weighed_by`` is given."""
        check_is_fitted(self)
        if isinstance(X, LocalEngine):  # rows that are already encoded
            return X
        schema = self._fitted.schema
        recipe = self._fitted.recipe
        if recipe is None and (few := few_rows(X, schema)) is not None:
            return LocalEngine(few)
        # Raise the error for objects that are not tables before columns are counted.
        opener = source_for_predict(recipe, X, None if weighed_by is None else weighed_by.name)
        given = rows = opener
        for weight in {self._fitted.weight_column, None if weighed_by is None else weighed_by.name}:
            if weight in rows.header.names and weight not in schema.inputs:  # not a column of the fit
                rows = rows.only(rows.header.without(weight).names)
        self._check_columns(rows.header)
        source = rows if weighed_by is None else given
        return source.for_predict(Encoding(schema, schema.scaling, self._table_settings(), weighed_by))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        settings = str(super().__repr__(N_CHAR_MAX))
        if not self.__sklearn_is_fitted__():
            return settings
        # Without new measurements, which would take too long for a repr.
        return f"{self._verdict()}\n{size_line(self._fitted)}\n{settings}"

    def _repr_html_inner(self) -> str:
        return self._card() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._card() + bundle["text/html"]
        return bundle

    def _card(self) -> str:
        if not self.__sklearn_is_fitted__():
            return ""
        return card(type(self).__name__, self.verdict_, self._fitted)

    def __getstate__(self) -> dict[str, Any]:
        # The callback is not part of the model and may not be picklable; nor are the rows of a later verdict.
        return {**super().__getstate__(), "callback": None, "_rows_to_check": None, "_made_verdict": None}

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    if not TYPE_CHECKING:  # otherwise type checkers accept any attribute

        def __getattr__(self, name: str) -> Any:
            """Raise a helpful error for fitted attributes before ``fit``."""
            learned = name == "_fitted" or (name.endswith("_") and not name.startswith("_"))
            if learned and not self.__sklearn_is_fitted__():
                raise NotFittedError(
                    f"This {type(self).__name__} is not fitted yet: call fit(table) before accessing {name}."
                )
            if learned:
                self._check_meant(name)  # Python calls __getattr__ again if a property raised
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = replace(tags.input_tags, categorical=True, string=True, allow_nan=True)
        return tags
