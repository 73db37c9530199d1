"""Bootstrap standard errors and intervals of the sizes, shares and means of clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from catalpa.arrays import safe_divide
from catalpa.cluster.grove.em import MixtureFit, hard_counts, plain_passes
from catalpa.cluster.grove.levels import mixture_of, weighted_engine
from catalpa.engines.local import LocalEngine, thread_count
from catalpa.estimator.attributes import frame_in, profile_of
from catalpa.estimator.intervals import Intervals
from catalpa.estimator.parameters import between, check_parameters, integer, rules
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.explain.formatting import category_names
from catalpa.loop.progress import side_by_side
from catalpa.steps.assign import label_rows
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts
from catalpa.steps.scores import to_fixed_point
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray, Rows

BOOTSTRAP_ROWS = 20_000  # larger tables are represented by that many random rows; errors are scaled
BOOTSTRAP_PASSES = 10  # EM iterations from the fitted model on every resample
FIGURES = ("se", "low", "high")


class IntervalsMixin:
    """Standard errors and intervals of Grove."""

    _fitted: Fitted

    def intervals(
        self,
        X: Any,
        *,
        n_boot: int = 200,
        level: float = 0.95,
        sample_weight: Any = None,
        random_state: int = 0,
    ) -> Intervals:
        """Bootstrap standard errors and intervals of sizes, shares and means.

        The rows are resampled with replacement ``n_boot`` times. Ten EM iterations from the fitted model
        follow on every resample; prior strength, tied columns and the number of clusters stay fixed.
        An interval is the fitted value plus quantiles of the deviations from the same iterations on all rows.

        Starting from the fitted model keeps the clusters in their order, so labels do not switch. The
        intervals therefore describe sampling error given these clusters. Whether another sample would give
        other clusters is a different question: see ``verdict_``. If ``kept`` in ``sizes`` is low, the cluster
        changed in the resamples, and its intervals mean little. Intervals of shares near 0 or 1 tend to be
        too narrow, as usual for a percentile bootstrap.

        Parameters
        ----------
        X : table
            The table of the fit. Of more than 20 000 rows, that many random ones are resampled, and errors
            are scaled to the number of rows.
        n_boot : int, default=200
        level : float, default=0.95
            Confidence level.
        sample_weight : str or array-like (n,), optional
            Weight of each row, as at fit. Rows are resampled, and keep their weights.
        random_state : int, default=0
            The same seed gives the same result for any number of threads (``n_jobs``).

        Returns
        -------
        Intervals

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> found = Grove(3, random_state=0).fit(zoo).intervals(zoo, n_boot=20)
        >>> bool((found.sizes["low"] <= found.sizes["share"]).all())
        True
        >>> found.profiles[["cluster", "column", "category", "share", "se", "low", "high"]].shape
        (108, 7)
        """
        arguments = {"n_boot": n_boot, "level": level, "random_state": random_state}
        allowed = rules(n_boot=integer(2), level=between(0.0, 1.0), random_state=integer(0))
        check_parameters("intervals", arguments, allowed)
        fitted, model = fitted_of(self), self
        engine, units = weighted_engine(model, X, sample_weight)
        problem = replace(model._problem_of(engine), search_seed=int(random_state))  # type: ignore[attr-defined]
        sample = problem.gathered(BOOTSTRAP_ROWS).engine
        block = Block.together(sample.blocks)
        shrink = math.sqrt(len(block) / max(engine.n_rows, 1))
        threads = thread_count(model.n_jobs)  # type: ignore[attr-defined]
        figures = _bootstrap(fitted, block, engine.axis, units, n_boot, int(random_state), threads)
        return _intervals(fitted, figures, level, shrink, n_boot)


@dataclass(frozen=True, eq=False)
class _Figures:
    """Estimates of one fit: sizes (k,), shares (k, V), means (k, numeric), stability (k,)."""

    sizes: FloatArray
    shares: FloatArray  # nan if no row of the cluster has the column
    means: FloatArray  # on the grid of the fit; nan if no row of the cluster has a number
    stability: FloatArray


def _bootstrap(
    fitted: Fitted, block: Block, axis: Axis, units: float, n_boot: int, seed: int, threads: int
) -> list[_Figures]:
    """Estimates from all rows, followed by those of every resample."""
    n, row_weights = len(block), block.row_weights
    labels = label_rows(block, to_fixed_point(fitted.outcome.scores, axis))

    def run(number: int, _tool: None) -> _Figures:
        weights = row_weights
        if number:
            rng = np.random.default_rng([seed, number])
            weights = row_weights * rng.multinomial(n, np.full(n, 1.0 / n))
        return _refitted(fitted, replace(block, weights=weights), axis, units, labels, row_weights)

    runs = [partial(run, number) for number in range(n_boot + 1)]
    return side_by_side(runs, tools=[None] * threads, begin=_nothing)


def _nothing() -> None:
    """No progress report for single resamples."""


def _refitted(
    fitted: Fitted, block: Block, axis: Axis, units: float, labels: IntArray, weights: IntArray
) -> _Figures:
    """Estimates after EM with other weights of the rows, starting from the fitted model."""
    there = block.take(np.flatnonzero(block.row_weights > 0))
    soft = fitted.outcome.soft
    assert soft is not None
    # The counts of the fit, scaled to the number of rows here.
    scale = float(there.row_weights.sum()) * FULL_SHARE / float(soft.sizes.sum())
    mixture = replace(mixture_of(fitted), units=FULL_SHARE * units)
    engine = LocalEngine(Rows(axis, [there]))
    fit = MixtureFit(mixture, SharedCounts.of(soft.times(scale)), 0.0)
    fit = plain_passes(engine, fit, BOOTSTRAP_PASSES, phase="resample")
    counts, _ = hard_counts(LocalEngine(Rows(axis, [there])), fit)
    same = label_rows(block, to_fixed_point(mixture.scores(fit.shared), axis)) == labels
    k = counts.k
    shares = safe_divide(
        np.bincount(labels, weights * same, k)[:k], np.bincount(labels, weights, k)[:k].astype(np.float64)
    )
    return _Figures(counts.sizes / counts.sizes.sum(), _shares(counts, axis), _means(counts), shares)


def _shares(counts: Counts, axis: Axis) -> FloatArray:  # (k, V)
    shares = counts.shares(axis)
    for part in axis.base.slices():
        shares[counts.of_column(part).sum(axis=1) == 0, part] = np.nan
    return shares


def _means(counts: Counts) -> FloatArray:  # (k, numeric)
    return np.where(counts.seen > 0, counts.means(), np.nan)


def _intervals(
    fitted: Fitted, figures: list[_Figures], level: float, shrink: float, n_boot: int
) -> Intervals:
    first, *others = figures
    schema, counts, library = fitted.schema, fitted.outcome.counts, fitted.schema.library

    def around(name: str, published: FloatArray, low: float, high: float) -> tuple[FloatArray, ...]:
        """Standard errors and both ends of the intervals around published figures."""
        away = (np.stack([getattr(one, name) for one in others]) - getattr(first, name)) * shrink
        known = ~np.isnan(away).all(axis=0) & ~np.isnan(published)
        away = np.where(known, away, 0.0)
        ends = np.nanquantile(away, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
        parts = np.nanstd(away, axis=0, ddof=1), *(np.clip(published + end, low, high) for end in ends)
        return tuple(np.where(known, part, np.nan) for part in parts)

    published = counts.sizes / counts.sizes.sum()
    k, names = counts.k, [fitted.names.get(cluster) for cluster in range(counts.k)]
    columns: dict[str, Any] = {"cluster": range(k)} | ({"name": names} if fitted.names else {})
    columns |= {"share": published.tolist()}
    columns |= {
        name: values.tolist()
        for name, values in zip(FIGURES, around("sizes", published, 0.0, 1.0), strict=True)
    }
    columns["kept"] = np.mean([one.stability for one in others], axis=0).tolist()
    of_shares = around("shares", _shares(counts, schema.axis), 0.0, 1.0)
    errors, *ends = around("means", _means(counts), -np.inf, np.inf)
    # A standard error is scaled to original units; an end is scaled and shifted.
    of_means = [errors * 2.0 * schema.scaling.half_span, *(schema.scaling.restore(end) for end in ends)]
    bounds: dict[tuple[int, str, str | None], list[float]] = {}
    for column, part in zip(schema.categorical, schema.axis.slices(), strict=True):
        for at, text in enumerate(category_names(column.categories)):
            for cluster in range(k):
                place = cluster, part.start + at
                bounds[cluster, column.name, text] = [float(values[place]) for values in of_shares]
    for at, column in enumerate(schema.numeric):
        for cluster in range(k):
            bounds[cluster, column.name, None] = [float(values[cluster, at]) for values in of_means]
    profile = profile_of(fitted)
    keys = zip(profile["cluster"].tolist(), profile["column"], profile["category"], strict=True)
    lines = [bounds[key] for key in keys]
    for at, name in enumerate(FIGURES):
        profile[name] = [line[at] for line in lines]
    return Intervals(frame_in(library, columns), frame_in(library, profile), level, n_boot)
