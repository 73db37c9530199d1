"""What every estimator shares: a raw table in, attributes in the user's own words out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine, opener_for
from catalpa.errors import ColumnMismatch, ParameterError
from catalpa.estimator.attributes import ExplanationMixin, balance, card
from catalpa.estimator.checkpoint import CheckpointedEngine, checkpointed
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.export import ExportMixin
from catalpa.estimator.naming import ClusterNamesMixin
from catalpa.estimator.parameters import Rule, check_parameters
from catalpa.estimator.problem import (
    Fitted,
    Outcome,
    Problem,
    count_weighted,
    rows_in_memory,
    warn_if_short,
)
from catalpa.loop.progress import Tell, watched
from catalpa.relations.numbers import quantiles
from catalpa.steps.assign import label_rows, measure_rows
from catalpa.steps.counts import Counts
from catalpa.steps.scores import FixedScores, fix
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows
from catalpa.table.encode import Encoding
from catalpa.table.few import few_rows
from catalpa.table.intake import Header
from catalpa.table.schema import MissingPolicy, NumbersPolicy, Schema, TableSettings, UnknownPolicy

__all__ = ["Clusterer", "Outcome", "Problem"]

QUARTILE_ROWS = 100_000  # that quartiles are taken from, where a table has more
LOOP_SETTINGS = ("init", "n_init", "max_iter", "max_rounds", "empty_clusters")  # those that a method has


@dataclass(eq=False, repr=False)
class Clusterer(
    ExplanationMixin,
    ClusterNamesMixin,
    ExportMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Base of the estimators: they differ in ``_solve`` and in their settings.

    Settings are fields of a dataclass, of which Python makes the ``__init__`` that scikit-learn asks for: one
    that keeps them and does nothing else.
    """

    _: KW_ONLY
    missing: MissingPolicy = "category"
    handle_unknown: UnknownPolicy = "warn"
    categorical_features: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    callback: Tell | None = None

    _numbers: ClassVar[NumbersPolicy] = "keep"
    _uses_order: ClassVar[bool] = False  # whether the order of ordered categories counts
    _rules: ClassVar[Mapping[str, Rule]] = {}
    _contents: ClassVar[ModelContents] = ModelContents()
    _restless: ClassVar[str] = "Raise max_iter (or max_rounds), or look at history_."  # after passes in vain

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
        began = time.monotonic()
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules)
        problem = self._with_checkpoint(self._pose(X, sample_weight))
        with self._watched(problem.units_per_weight, began):
            outcome, engine = self._solve(problem).without_empty(), problem.engine
        self._publish(Fitted(problem.schema, outcome, problem.units_per_weight, engine.n_rows))
        self.labels_ = self._labelled(engine, outcome.labels)
        fitted = self._fitted
        self._fitted = replace(fitted, quartiles=self._quartiles(problem))
        self._fitted.fixed.update(fitted.fixed)  # the clusters are the same ones
        warn_if_short(getattr(self, "n_clusters", None), self._fitted.outcome, self._restless)
        self._warn_if_odd()
        # Last: a fit that is stopped while it labels its rows can still go on.
        if isinstance(engine, CheckpointedEngine):
            engine.finished()
        return self

    def _watched(self, units: float, began: float) -> AbstractContextManager[None]:
        """Who is told of the passes inside the ``with`` block, as ``verbose`` and ``callback`` say."""
        asked = getattr(self, "n_clusters", None)
        k = int(asked) if isinstance(asked, Integral) else None
        return watched(
            type(self).__name__, self.callback, int(self.verbose), k=k, units_per_weight=units, began=began
        )

    def _label(self, engine: Engine) -> Any:
        """The clusters of an engine's rows: what ``fit`` and ``predict`` both say."""
        return engine.answer(label_rows, self._fixed_scores(engine.axis))

    def _labelled(self, engine: Engine, found: IntArray | None) -> Any:
        """Labels as ``predict`` gives them; where a method found others on its way, counts follow these."""
        self.__dict__.pop("published_labels_", None)  # of an earlier fit
        labels = self._label(engine)
        if found is None:
            return labels
        found = np.where(
            found < 0, labels, found
        )  # a method that visits rows in order omits those of weight 0
        self.published_labels_ = found
        if np.array_equal(found, labels):
            return labels
        # What merges rows, or visits them in order, leaves clusters that rows at a border are not nearest to.
        fitted, block = self._fitted, Block.together(rows_in_memory(engine, type(self).__name__).blocks)
        counts = Counts.of(block, labels, fitted.outcome.k, engine.axis)
        self._publish(replace(fitted, outcome=replace(fitted.outcome, counts=counts).without_empty()))
        return self._label(engine)

    def _quartiles(self, problem: Problem) -> FloatArray:  # (k, numeric, 3)
        """Lower quartile, median and upper quartile of every number in every cluster, on the grid."""
        k = self._fitted.outcome.k
        if not problem.schema.numeric:  # rows are not read once more for the sake of no column
            return np.zeros((k, 0, 3))
        positions = problem.positions(QUARTILE_ROWS, seed=0)
        block = problem.rows_at(positions)
        if isinstance(self.labels_, np.ndarray):
            labels = self.labels_[positions]
        else:  # they are where the table is
            labels = self._label(LocalEngine(Rows(problem.engine.axis, [block]), self.n_jobs))
        return quantiles(block.numbers, labels, block.row_weights, k)[:, :, 1:4]

    def _with_checkpoint(self, problem: Problem) -> Problem:
        """The same problem with every pass kept, if the user named a folder for that."""
        folder = getattr(self, "checkpoint", None)
        if folder is None:
            return problem
        return replace(problem, engine=checkpointed(problem.engine, Path(folder), self, problem.schema))

    def _pose(self, X: Any, sample_weight: Any = None) -> Problem:
        """The table made ready to be solved."""
        opener = opener_for(X)
        # Drawn from before the table is read: which rows a search sees must not depend on the engine.
        random_state = check_random_state(getattr(self, "random_state", None))
        settings = self._with_search(self._table_settings(), random_state)
        opened = opener.for_fit(settings, sample_weight)
        validate_data(self, opener.header.sample, skip_check_array=True)
        given: dict[str, Any] = {name: getattr(self, name) for name in LOOP_SETTINGS if hasattr(self, name)}
        # Words as the loop spells them.
        given |= {name: word.lower() for name, word in given.items() if isinstance(word, str)}
        return Problem(
            opened.engine,
            self._with_order_told(opened.schema),
            self._clusters_for(count_weighted(opened.engine)),
            random_state,
            **given,
            units_per_weight=opened.units_per_weight,
            search_rows=settings.search_rows or opened.engine.n_rows,
            search_seed=settings.search_seed,
        )

    def _with_order_told(self, schema: Schema) -> Schema:
        """The schema with a sentence about declared orders that the method takes no notice of."""
        named = [] if self._uses_order else [repr(name) for name in schema.declared_orders]
        if not named:
            return schema
        shown = ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")
        told = (
            f"{type(self).__name__} does not use the declared order of {shown}: any two categories are as "
            "different as any others to begin with. Grove, HDC and HARR use it"
        )
        return replace(schema, decisions=(*schema.decisions, told))

    def _with_search(self, settings: TableSettings, _random_state: np.random.RandomState) -> TableSettings:
        """The settings with how many rows a search draws, and by which seed; by default all rows are used."""
        return settings

    def _solve(self, problem: Problem) -> Outcome:
        raise NotImplementedError

    def _warn_if_odd(self) -> None:
        """Say what a method knows to be odd about its fit; by default nothing."""

    def _check_read(self, fitted: Fitted) -> None:
        """Refuse what was read from a file and cannot be; names, shapes and finite numbers are checked."""

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
                "ask for at most one cluster per row."
            )
        return int(self.n_clusters)

    def _publish(self, fitted: Fitted) -> None:
        """Keep what a fit found, and show it as attributes."""
        schema, outcome = fitted.schema, fitted.outcome
        self._fitted = fitted
        self.schema_ = schema
        if schema.named:  # as scikit-learn does it: no names where the table had none
            self.feature_names_in_ = np.asarray(schema.inputs, dtype=object)
        self._n_features_out = outcome.k  # scikit-learn names the columns of transform by it
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
        return self._label(self._engine(X))

    def transform(self, X: Any) -> Any:
        """Cost of every row in every cluster, (n, k)."""
        engine, fixed = self._opened(X)
        return engine.answer(measure_rows, fixed)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean cost of a row in its cluster; higher is better."""
        engine, fixed = self._opened(X)
        return float(-engine.each(measure_rows, fixed).min(axis=1).mean())

    def _check_columns(self, header: Header) -> None:
        """Refuse a table that has other columns than at fit."""
        # Records are put in order by name when they are encoded, and what they lack is missing.
        if header.records and self.schema_.named:
            return
        try:
            validate_data(self, header.sample, reset=False, skip_check_array=True)
        except ValueError as error:
            if not header.named or not self.schema_.named:
                raise
            came, expected = header.names, self.schema_.inputs
            moved = [name for name, other in zip(came, expected, strict=False) if name != other]
            # Names that are there but elsewhere; scikit-learn's message does not say which.
            same = sorted(came) == sorted(expected)
            told = f" These columns stand elsewhere than at fit: {moved}." if same else ""
            raise ColumnMismatch(f"{error}{told}") from error

    def _opened(self, X: Any) -> tuple[Engine, FixedScores]:
        engine = self._engine(X)
        return engine, self._fixed_scores(engine.axis)

    def _fixed_scores(self, axis: Axis) -> FixedScores:
        """The integers that decide labels, made once for an axis with holes and once for one without."""
        kept = self._fitted.fixed
        if axis.holes not in kept:
            kept[axis.holes] = self._new_fixed_scores(axis)
        return kept[axis.holes]

    def _new_fixed_scores(self, axis: Axis) -> FixedScores:
        """The integers that decide labels, with the costs of holes where the axis has places for them."""
        return fix(self._fitted.outcome.scores, axis)

    def _engine(self, X: Any) -> Engine:
        """The rows of a table with the columns of fit, encoded."""
        check_is_fitted(self)
        if isinstance(X, LocalEngine):  # rows that were encoded before
            return X
        schema = self._fitted.schema
        if (few := few_rows(X, schema)) is not None:
            return LocalEngine(few)
        opener = opener_for(X)  # what is no table is said before its columns are counted
        self._check_columns(opener.header)
        return opener.for_predict(Encoding(schema, schema.scaling, self._table_settings()))

    def _repr_html_inner(self) -> str:
        return self._card() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._card() + bundle["text/html"]
        return bundle

    def _card(self) -> str:
        return card(type(self).__name__, self._fitted) if self.__sklearn_is_fitted__() else ""

    def __getstate__(self) -> dict[str, Any]:
        # Who watched a fit is no part of the model, and may be a function that no pickle can hold.
        return {**super().__getstate__(), "callback": None}

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    if not TYPE_CHECKING:  # to the type checker any name would be an attribute

        def __getattr__(self, name: str) -> Any:
            """Say that fit comes first, where a fitted attribute is asked for before it."""
            learned = name == "_fitted" or (name.endswith("_") and not name.startswith("_"))
            if learned and not self.__sklearn_is_fitted__():
                raise NotFittedError(
                    f"This {type(self).__name__} is not fitted yet: call fit(table) before asking for {name}."
                )
            if learned:
                self._check_meant(name)  # Python asks here once more when a property has raised
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = replace(tags.input_tags, categorical=True, string=True, allow_nan=True)
        return tags
