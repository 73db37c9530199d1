"""Agreement between clusterings of random samples of the rows, measured on first access."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import clone

from catalpa.engines.local import LocalEngine
from catalpa.estimator.diagnose import Finding, diagnose
from catalpa.estimator.problem import Fitted, Outcome, Problem, fitted_of
from catalpa.estimator.verdict import LEAST_GAIN, LEAST_ROWS, CheapestJoin, Verdict, verdict_of
from catalpa.loop.progress import in_parts
from catalpa.table.blocks import Block, IntArray, Rows

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

PAIRS, MOST_ROWS = (
    3,
    1000,
)  # pairs of samples, and rows per sample; a fixed size makes agreement comparable between tables
CHECK_ROWS = 2 * PAIRS * MOST_ROWS  # so that all samples of a large table are disjoint


class VerdictMixin:
    """``verdict_`` and ``check`` of a fitted estimator."""

    _fitted: Fitted
    _made_verdict: tuple[Outcome, Verdict] | None = None  # and the clusters to which it applies
    _rows_to_check: Problem | None = None  # random rows of the fit, kept until the agreement is measured

    @property
    def verdict_(self) -> Verdict:
        """Whether the table has these clusters: none, weak or clear, with the evidence for it.

        On first access, clusterings of random samples of the rows are compared. A model that was loaded from
        a file has no rows to sample; :meth:`check` measures the agreement on a table.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> planted = datasets.make_categorical(300, columns=8, clusters=3, noise=0.2, seed=0)
        >>> Grove(3, random_state=0).fit(planted.frame).verdict_.level
        'clear'
        """
        fitted, rows = fitted_of(self), self._rows_to_check
        if rows is not None:
            checked = _checked(self._as_clusterer, fitted, rows)
            if self._fitted is fitted:  # unless another thread has fitted or checked the model meanwhile
                self._fitted, self._rows_to_check = checked, None
        return self._full_verdict()

    def check(self, X: Any) -> Verdict:
        """Measure how well clusterings of random samples of a table agree.

        Parameters
        ----------
        X : table
            The table of the fit, or another with the same columns; at most 6 000 random rows are used.

        Returns
        -------
        Verdict
            Also stored as ``verdict_``.

        Examples
        --------
        >>> from catalpa import KModes, datasets
        >>> planted = datasets.make_categorical(300, columns=8, clusters=3, noise=0.2, seed=0)
        >>> KModes(3, random_state=0).fit(planted.frame).check(planted.frame).level
        'clear'
        """
        fitted_of(self)
        self._rows_to_check = None
        self._fitted = self._checked_on(X)
        return self._full_verdict()

    def _verdict_on(self, X: Any) -> Verdict:
        """The verdict, measured on the table of the fit if the model no longer stores rows."""
        if self._rows_to_check is not None or self._verdict().level != "unchecked":
            return self.verdict_
        fitted = self._checked_on(X)
        return verdict_of(fitted, *self._joins(fitted))

    def _checked_on(self, X: Any) -> Fitted:
        """The fit with the agreement measured on a table."""
        model = self._as_clusterer
        return _checked(model, self._fitted, model._problem_of(model._engine(X)).gathered(CHECK_ROWS))

    @property
    def _as_clusterer(self) -> Clusterer:
        return cast("Clusterer", self)

    def _verdict(self) -> Verdict:
        """The verdict without new measurements."""
        verdict = self._made_verdict
        return (
            verdict[1]
            if verdict is not None and verdict[0] is self._fitted.outcome
            else verdict_of(self._fitted)
        )

    def _full_verdict(self) -> Verdict:
        """The verdict with the two clusters that differ least, computed once."""
        outcome = self._fitted.outcome
        if self._made_verdict is None or self._made_verdict[0] is not outcome:
            self._made_verdict = outcome, verdict_of(self._fitted, *self._joins(self._fitted))
        return self._made_verdict[1]

    def _findings(self, verdict: Verdict | None = None) -> list[Finding]:
        """Findings that call the clusters into question."""
        model = self._as_clusterer
        n_clusters, advice = getattr(model, "n_clusters", None), model._not_converged_advice
        most = getattr(model, "max_clusters", None)
        return diagnose(
            self._fitted, asked=n_clusters, most=most, advice=advice, verdict=verdict or self._verdict()
        )

    def _joins(self, _fitted: Fitted) -> tuple[CheapestJoin | None, int | None]:
        """The two clusters that differ least, and how many clusters are enough."""
        return None, None


def _checked(model: Clusterer, fitted: Fitted, problem: Problem) -> Fitted:
    outcome = fitted.outcome
    verdict = verdict_of(fitted)
    if outcome.k == 1 or fitted.rows < LEAST_ROWS or outcome.checks.agreement is not None:
        return fitted
    if verdict.gain is not None and verdict.gain <= LEAST_GAIN:
        return fitted
    checks = replace(outcome.checks, agreement=agreement(model, problem, outcome.k))
    if verdict.gain is None:
        checks = replace(checks, silhouette=_silhouette(model, problem))
    return replace(fitted, outcome=replace(outcome, checks=checks))


def agreement(model: Clusterer, problem: Problem, k: int) -> float:
    """Mean adjusted Rand index between clusterings of disjoint random samples of a problem's rows.

    Three pairs of samples of half the rows each, at most 1 000. Each sample is clustered with one start, and
    both clusterings label all rows of the problem.
    """
    from catalpa.metrics import adjusted_rand  # here: it takes a while, and most fits do not need it

    block = _rows_of(problem)
    n = len(block)
    m, rng = min(n // 2, MOST_ROWS), np.random.default_rng([problem.search_seed, 1])
    values = []
    with in_parts(None):  # their progress is not that of the whole fit
        for _ in range(PAIRS):
            order = rng.permutation(n)
            samples = np.sort(order[:m]), np.sort(order[m : 2 * m])
            # In the order of the table, because some methods visit rows in it.
            labels = [_labels_from(model, problem, sample, k, int(rng.integers(2**31))) for sample in samples]
            values.append(adjusted_rand(*labels))
    return float(np.mean(values))


def _labels_from(model: Clusterer, problem: Problem, sample: IntArray, k: int, seed: int) -> IntArray:
    """Labels of all rows of a problem by the clusters of a sample."""
    block, axis = _rows_of(problem), problem.engine.axis
    fresh = clone(model)
    wanted = {"n_clusters": min(k, len(sample)), "n_init": 1, "random_state": seed}
    known = fresh.get_params(deep=False)
    fresh.set_params(**{name: wanted[name] for name in wanted if name in known}, callback=None, verbose=0)
    init = problem.loop.init if isinstance(problem.loop.init, str) else type(model)().init
    part = replace(
        problem,
        engine=LocalEngine(Rows(axis, [block.take(sample)])),
        n_clusters=min(k, len(sample)),
        random_state=np.random.RandomState(seed),
        loop=replace(problem.loop, init=init, n_init=1),
        search_rows=len(sample),
        search_seed=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings would be about an internal sample
        outcome = fresh._solve(part).without_empty()
    fresh._publish(Fitted(problem.schema, outcome, problem.units_per_weight, len(sample)))
    return np.asarray(fresh._label(LocalEngine(Rows(axis, [block]))))


def _silhouette(model: Clusterer, problem: Problem) -> float | None:
    """Silhouette of the clusters on the rows of a problem; None if all rows are in one cluster."""
    from catalpa.metrics import categorical_silhouette  # as above

    block = _rows_of(problem)
    labels = np.asarray(model._label(LocalEngine(Rows(problem.engine.axis, [block]))))
    if len(np.unique(labels)) < 2:
        return None
    return categorical_silhouette(block.codes, labels, numbers=block.numbers)


def _rows_of(problem: Problem) -> Block:
    return Block.together(cast(LocalEngine, problem.engine).blocks)
