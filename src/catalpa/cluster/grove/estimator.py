"""Grove: soft clusters with shrunk relations, the library's default."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from catalpa.cluster.grove.criteria import CriteriaMixin
from catalpa.cluster.grove.em import MixtureFit
from catalpa.cluster.grove.fit import PRIORS, Search
from catalpa.cluster.grove.intervals import IntervalsMixin
from catalpa.cluster.grove.levels import LevelsMixin
from catalpa.cluster.grove.merges import merge_tree
from catalpa.cluster.grove.mixture import Mixture
from catalpa.cluster.grove.rows import SearchTable
from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine, thread_count
from catalpa.estimator.attributes import NUMBER_REPEATS, frame_in, repeated_numbers, unavailable
from catalpa.estimator.auto_k import MOST_CLUSTERS, Candidate, broad_groups, outcome_by_rule
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.incremental import (
    AfterBatch,
    decayed,
    learn_batch,
    on_wider_axis,
    pairs_on_wider,
    scores_on_wider,
)
from catalpa.estimator.model_shapes import ModelContents
from catalpa.estimator.parameters import choice, either, integer, positive, rules
from catalpa.estimator.problem import Fitted, passes_in_weights
from catalpa.estimator.verdict import CHEAP, LEAST_GAIN, CheapestJoin
from catalpa.explain.borders import LABELLED_FROM, density_spread, outlier_scores
from catalpa.explain.relations import Relations
from catalpa.explain.repeats import common_share
from catalpa.loop.progress import in_parts
from catalpa.model.codecs import damaged
from catalpa.model.scoring import DensityScale
from catalpa.steps.assign import label_rows_above, largest_shares, share_and_count, summed_exactly
from catalpa.steps.counts import FULL_SHARE, SharedCounts, most_frequent
from catalpa.steps.scores import (
    FixedScores,
    density_quartiles,
    log_mixture,
    minus_logs,
    posterior,
    rows_below,
    to_fixed_point,
)
from catalpa.steps.soft.scores import to_fixed_point_shares
from catalpa.table.blocks import Block, FloatArray, Rows
from catalpa.table.exact import as_float
from catalpa.table.joined import JoinedAxis
from catalpa.table.schema import Schema, TableSettings

# On tables of 100,000 rows, a search on this many rows reaches the evidence of a search on all rows (within
# .0004 nats per row) in a fraction of the time; 2000 rows were enough for at most five clusters.
SEARCH_ROWS, ROWS_PER_CLUSTER = 20_000, 500
# On generated tables of 20 000 rows with numbers, a search on 5000 rows found clusters that were as good.
NUMBER_ROWS = 5_000
UNIT = "distance (0.69: half as common)"


@dataclass(eq=False, repr=False)
class Grove(LevelsMixin, CriteriaMixin, IntervalsMixin, Clusterer):
    """Soft clustering of mixed data by a mixture model with shrunk category shares.

    Grove is a latent class model fitted by EM. A row counts in every cluster with its membership probability.
    In each cluster, the shares of the categories of every column are shrunk towards the overall shares, with
    a prior strength chosen from the data. The logarithms of the shares define relations between categories:
    categories that are about equally common in the cluster are close to each other. Numeric columns are
    normally distributed within clusters, or cut into ordered bins if a normal distribution does not fit.
    Starts, prior strengths and other options are compared by evidence (a lower bound of the log marginal
    likelihood).

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning. "auto" takes
        the largest number at which every cluster adds at least 3 % of what all clusters gain in evidence;
        see :func:`catalpa.choose_k`.
    n_init : int, default=3
        Number of starts: the first is spectral (k-means on the leading axes of the table), the others are
        k-means++.
    prior : "auto" or float, default="auto"
        Prior strength in pseudo-counts per category: estimates for small clusters are shrunk towards the
        whole table. "auto" chooses from 1, 2.5 and 6 by evidence.
    sizes : {"auto", "equal", "free"}, default="auto"
        Mixing weights of the clusters: all equal, or free (estimated from their sizes), so that large
        clusters attract more rows. "auto" chooses by evidence.
    ties : "auto" or None, default="auto"
        "auto" finds columns that are dependent within clusters (city and ZIP code, questions that were
        skipped together) and models their dependence, so that they do not count twice. None treats all
        columns as independent within clusters.
    max_clusters : int, default=20
        Largest number of clusters that "auto" tries.
    outliers : {"label"} or None, default=None
        "label" gives rows that are far from all clusters (``outlier_scores`` above 3) the label -1, in
        ``labels_`` and ``predict``, SQL and ONNX. Sizes and profiles still count them in their nearest
        cluster.
    missing : {"category", "ignore", "error"} or dict, default="category"
        Treat missing values as a category of their own, ignore them, or raise an error. A missing number is
        always ignored; with "category" there is also an indicator of missing values for numeric columns of
        which 1 % to 99 % are missing. A dict gives it by column; columns that it does not list have
        "category".
    handle_unknown : {"warn", "ignore", "error"}, default="warn"
        How ``predict`` treats categories that were not seen by ``fit``: with or without a warning they count
        as the rarest category of their column, or an error is raised.
    categorical_features, n_jobs, random_state, checkpoint, decay, verbose, callback, recipe
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
        The most probable cluster of every row, as returned by ``predict``.
    evidence_ : float
        Lower bound of the log marginal likelihood of the table, in nats; use it to compare numbers of
        clusters and settings.
    gain_ : float
        Evidence relative to a single cluster, in nats per row; about 0 or less without cluster structure.
    certainty_ : float
        Mean membership probability of the rows in their clusters.
    density_low_, density_high_ : float
        Quartiles of ``score_samples`` over the fitted rows, the reference of ``outlier_scores`` (for large
        tables and with ``partial_fit``, of the rows of the last search).
    prior_ : float
        The prior strength that was used.
    sizes_ : str
        "equal" or "free".
    relations_ : Relations
        For each cluster and column: the order of the categories, edge lengths, distances, drawing.
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
        The most probable category of each categorical column, and the mean of each number.
    cost_ : float
        Minus the evidence.
    n_clusters_ : int
        Number of non-empty clusters, which may be smaller than ``n_clusters``.
    n_iter_ : int
        Number of EM iterations of the best run.
    history_ : frame
        Phase, minus log-likelihood, moved rows (equal ones count once) and clusters of every iteration.
    tied_columns_ : frame
        Columns that are dependent on another column within clusters, and their parents.
    columns_used_ : list of str
        Columns that differ between clusters: all, unless most columns of the table are noise.
    cluster_sizes_, profiles_
        As in :class:`KModes`.
    balance_ : dict
        Shares of the evidence gain due to categorical and numeric columns, for mixed tables.
    schema_ : Schema
        The columns and categories of the fitted table, and the treatment of each number.

    Examples
    --------
    >>> from catalpa import Grove, datasets
    >>> zoo = datasets.load("zoo")
    >>> model = Grove(n_clusters=7, random_state=0).fit(zoo.frame)
    >>> model.cluster_sizes_.sum()
    np.int64(101)
    """

    n_clusters: int | str = 8
    _: KW_ONLY
    n_init: int = 3  # with the spectral start alone the mean adjusted Rand index falls by .002
    prior: float | str = "auto"
    sizes: str = "auto"
    ties: str | None = "auto"
    max_clusters: int = MOST_CLUSTERS
    outliers: str | None = None
    random_state: Any = None
    checkpoint: str | PathLike[str] | None = None
    decay: float = 1.0

    _unavailable = unavailable(inertia_="rows count by their membership probabilities, see evidence_")
    _uses_order = True
    _numbers = "shape"  # columns that are not normally distributed are cut into ordered bins
    _rules = rules(
        n_clusters=either(choice("auto"), integer(1)),
        prior=either(choice("auto"), positive()),
        sizes=choice("auto", "equal", "free"),
        ties=choice("auto", None),
        max_clusters=integer(1),
        outliers=choice(None, "label"),
    )
    _contents = ModelContents(
        shared={
            **dict.fromkeys(("middle", "spread"), ("numbers",)),
            # 1 for a column that is the same in all clusters, 2 and more for a number that repeats the first,
            # second, ... number (those that became bins are the last ones); categories, then numbers.
            "common": ("cells",),
            # Tied columns: parents (-1 for none), evidence, lift and counts of pairs of categories.
            "parents": ("columns",),
            "tie_evidence": ("ties",),
            **dict.fromkeys(("lift", "pair_counts"), ("pairs",)),
        },
        integers=("parents", "pair_counts", "common"),
        facts=("prior", "free_sizes", "density_low", "density_high"),
        open_facts=("evidence", "gain", "certainty"),
        private_facts=("free_sizes",),  # read as ``sizes_``
    )

    def _with_search(self, settings: TableSettings, random_state: np.random.RandomState) -> TableSettings:
        k = self.max_clusters if self._finds_k else int(self.n_clusters)
        # The rows are sampled where the table is read, possibly on other machines, so a seed is passed on.
        seed = int(random_state.randint(np.iinfo(np.int32).max))
        return replace(settings, search_rows=max(SEARCH_ROWS, ROWS_PER_CLUSTER * k), search_seed=seed)

    @property
    def _finds_k(self) -> bool:
        return isinstance(self.n_clusters, str)

    def _clusters_for(self, n_rows: int) -> int:
        # No warning about few rows, because no number of clusters was requested.
        return min(self.max_clusters, n_rows) if self._finds_k else super()._clusters_for(n_rows)

    def _solve(self, problem: Problem) -> Outcome:
        if self._finds_k:
            untied = clone(self).set_params(ties=None)
            groups = partial(broad_groups, untied._candidates, problem)
            return outcome_by_rule(self, self._candidates, problem, groups)
        search = self._search(problem)
        return _outcome(problem, search, search.best(problem.n_clusters))

    def _candidates(self, problem: Problem, most: int) -> Iterator[Candidate]:
        """Clusterings with 1, 2, ... clusters and their evidence, on the rows of the search."""
        search = self._search(problem)
        weight = problem.in_weights(int(search.table.block.row_weights.sum()))
        with in_parts(None):  # the number of candidates is not known in advance
            for k in range(1, min(most, len(search.table.block)) + 1):
                fit = search.best(k)
                finish = partial(_outcome, problem, search, fit)
                yield Candidate(k, fit.evidence, weight, finish, tied=fit.mixture.forest is not None)

    def _search(self, problem: Problem) -> Search:
        engine = problem.engine
        most = problem.search_rows
        if problem.schema.numeric:
            k = self.max_clusters if self._finds_k else problem.n_clusters
            most = min(most, max(NUMBER_ROWS, ROWS_PER_CLUSTER * k))
        rows = problem.some_rows(most, problem.search_seed)
        return Search(
            SearchTable.of(engine, problem.schema, rows, problem.units_per_weight),
            seed=problem.search_seed,
            # On one thread, because the runs of the search are parallel and have few rows.
            open_engine=lambda axis, some: LocalEngine(Rows(axis, [some])),
            threads=thread_count(self.n_jobs),
            n_init=self.n_init,
            priors=PRIORS if isinstance(self.prior, str) else (float(self.prior),),
            sizes=self.sizes,
            ties=self.ties is not None,
        )

    def partial_fit(self, X: Any, y: Any = None) -> Grove:
        """Update the clusters with a batch of rows; see :meth:`KModes.partial_fit`.

        Rows of later batches count in every cluster with their membership probabilities. Unless the batch
        led to a new search, the evidence is then not known: ``evidence_``, ``gain_``, ``certainty_`` and
        ``cost_`` are NaN. What columns are (numbers or bins, for example) is decided by the first batch;
        which columns are tied, and with ``n_clusters="auto"`` the number of clusters, by the last search.
        """
        learn_batch(self, X, self._relearned)
        return self

    def _relearned(self, before: Fitted, after: AfterBatch) -> Outcome:
        """The clusters after a batch is added with its responsibilities."""
        past, schema, axis = before.outcome, after.schema, after.rows.axis
        assert past.soft is not None
        # Responsibilities are computed from the clusters before the batch.
        fixed = to_fixed_point_shares(scores_on_wider(past.scores, before.schema, schema), axis)
        batch = fixed.folded(share_and_count(after.rows.blocks[0], None, fixed, False)[0])
        known = decayed(on_wider_axis(past.soft, before.schema, schema), self.decay)
        soft = known + batch.counts
        decayed_counts = _shared_after(past.shared, before.schema, schema, self.decay, batch)
        mixture, shared = Mixture.of_fit(schema, soft, decayed_counts, past.facts), SharedCounts.of(soft)
        if mixture.forest is not None:  # the same columns stay tied
            forest = mixture.forest_of(soft, decayed_counts["pair_counts"])
            mixture, decayed_counts["lift"] = replace(mixture, forest=forest), forest.tied.lift
        positions = mixture.log_shares(shared)
        return replace(
            past,
            scores=mixture.scores(shared),
            counts=after.counts,
            centers=most_frequent(positions, schema.axis),
            cost=math.nan,  # evidence needs the entropies of all rows, which are not stored
            history=(),
            shared=decayed_counts,
            facts={**past.facts, "evidence": math.nan, "gain": math.nan, "certainty": math.nan},
            soft=soft,
        )

    def _joins(self, fitted: Fitted) -> tuple[CheapestJoin | None, int | None]:
        outcome = fitted.outcome
        gain = outcome.facts["gain"] * float(fitted.in_weights(outcome.counts.sizes).sum())
        if outcome.k == 1 or not gain > LEAST_GAIN:  # nothing is gained, or it is not known
            return None, None
        assert outcome.soft is not None
        mixture = Mixture.of_fit(fitted.schema, outcome.soft, outcome.shared, outcome.facts)
        tree = merge_tree(mixture, outcome.soft, gain)
        one, other = tree.joins[0].tolist()
        lost = float(tree.losses[0])
        # As many merges as together lose less than that share.
        spared = int((np.cumsum(np.maximum(tree.losses, 0.0)) < CHEAP * gain).sum())
        return CheapestJoin((one, other), float(tree.heights[0]), lost / gain), outcome.k - spared

    def _balance(self, fitted: Fitted) -> dict[str, float]:
        soft = fitted.outcome.soft
        assert soft is not None
        mixture = Mixture.of_fit(fitted.schema, soft, fitted.outcome.shared, fitted.outcome.facts)
        categorical, numeric = mixture.gain_by_kind(soft)
        total = categorical + numeric or 1.0  # without any gain: shares of 0, not NaN
        return {"categorical": categorical / total, "numeric": numeric / total}

    def _check_read(self, fitted: Fitted) -> None:
        if fitted.outcome.soft is None:
            raise damaged("soft_counts", "is missing")
        prior = fitted.outcome.facts["prior"]
        if not prior > 0:
            raise damaged("extra.facts.prior", f"is {prior:g}; it must be above 0")
        if fitted.outcome.facts["density_low"] > fitted.outcome.facts["density_high"]:
            raise damaged("extra.facts.density_low", "is above the upper quartile")

    def predict_proba(self, X: Any) -> Any:
        """Membership probabilities of every row, (n, k).

        Ignored missing values have no effect.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["a", "y"]]
        >>> Grove(2, random_state=0).fit(rows).predict_proba(rows).shape
        (5, 2)
        """
        engine, fixed = self._opened(X)
        return engine.map_rows(posterior, fixed)

    def score_samples(self, X: Any) -> Any:
        """Log density of every row under the mixture, (n,); low for outliers.

        Numbers are in units of the standard deviation of their column at fit.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [["a", "x", "u"]] * 9 + [["b", "y", "v"]] * 9 + [["a", "y", "v"]]
        >>> int(Grove(2, random_state=0).fit(rows).score_samples(rows).argmin())
        18
        """
        engine, fixed = self._opened(X)
        return engine.map_rows(log_mixture, fixed)

    def outlier_scores(self, X: Any) -> Any:
        """Outlier score of every row, (n,).

        The score is that of a box plot of ``score_samples`` over the fitted rows: 0 for a row above their
        lower quartile, else the distance below it in interquartile ranges (at least 1 nat). More than 1.5 is
        an outlier, more than 3 an extreme one. A row's score does not depend on the other rows passed.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [["a", "x", "u"]] * 9 + [["b", "y", "v"]] * 9 + [["a", "y", "v"]]
        >>> model = Grove(2, random_state=0).fit(rows)
        >>> model.outlier_scores(rows[:1]), model.outlier_scores([["b", "x", "v"]]) > 1.5
        (array([0.]), array([ True]))
        """
        engine, fixed = self._opened(X)
        return engine.map_rows(_outlier_rows, fixed, self.density_low_, self.density_high_)

    @property
    def _outliers_above(self) -> float | None:
        return None if self.outliers is None else LABELLED_FROM

    def _with_outliers(self, engine: Engine, labels: Any) -> Any:
        if self.outliers is None:
            return labels
        scale = self._density_scale()
        least = scale.low - LABELLED_FROM * scale.spread
        fixed = self._fixed_scores(engine.axis)
        if isinstance(labels, np.ndarray):
            far = engine.map_rows(rows_below, fixed, least)
            return np.where(far, np.int32(-1), labels)
        return engine.map_rows(label_rows_above, fixed, least)

    def _density_scale(self) -> DensityScale:
        return DensityScale(self.density_low_, density_spread(self.density_low_, self.density_high_))

    def transform(self, X: Any) -> Any:
        """Minus the joint log-likelihood of every row and cluster, (n, k)."""
        engine, fixed = self._opened(X)
        return engine.map_rows(minus_logs, fixed)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows; higher is better."""
        engine, fixed = self._opened(X)
        return as_float(engine.total(summed_exactly, log_mixture, fixed)) / engine.n_rows

    @property
    def sizes_(self) -> str:
        """Mixing weights of the clusters: "equal" or "free"."""
        return "free" if self._fitted.outcome.facts["free_sizes"] else "equal"

    @property
    def tied_columns_(self) -> Any:
        """Columns that depend on another column, their parent, within clusters.

        A frame of the table's library: ``column``, ``parent``, the ``evidence`` for the dependence in nats
        (with ``partial_fit``, of the last search), and the ``share`` of the smaller entropy that is mutual
        information: 1 for an exact copy. A number whose rank correlation with another one is at least
        .98 is left out; its evidence is nan and its share 1.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [[city, city[0], "xy"[at % 2]] for at, city in enumerate(["Ulm", "Bonn", "Hof"] * 50)]
        >>> tied = Grove(1, random_state=0).fit(rows).tied_columns_
        >>> tied[["column", "parent"]].values.tolist(), tied["share"].round(2).tolist()
        ([['x1', 'x0']], [1.0])
        """
        fitted = self._fitted
        shared, names = fitted.outcome.shared, [column.name for column in fitted.schema.categorical]
        joined, sizes = self._joined_axis, fitted.schema.axis.sizes
        counts = [shared["pair_counts"][part] for _, _, part in joined.parts()]
        repeats = repeated_numbers(fitted)
        columns = {
            "column": [names[column] for column, _ in joined.edges] + [column for column, _ in repeats],
            "parent": [names[parent] for _, parent in joined.edges] + [other for _, other in repeats],
            "evidence": shared["tie_evidence"].tolist() + [math.nan] * len(repeats),
            "share": [
                common_share(pair_counts.reshape(sizes[parent], -1).astype(np.float64))
                for pair_counts, (_, parent) in zip(counts, joined.edges, strict=True)
            ]
            + [1.0] * len(repeats),
        }
        return frame_in(fitted.schema.library, columns)

    @property
    def _joined_axis(self) -> JoinedAxis:
        fitted = self._fitted
        return JoinedAxis(fitted.schema.axis, tuple(fitted.outcome.shared["parents"].tolist()))

    @property
    def columns_used_(self) -> list[str]:
        """Columns that differ between clusters, in the order of the table.

        All columns, unless most columns of the table are associated with no other column. Then columns are
        selected by evidence, and the others have the same distribution in every cluster.
        """
        schema, common = self._fitted.schema, self._fitted.outcome.shared["common"]
        ordered = (*schema.categorical, *schema.numeric)
        same = {column.name for column, one in zip(ordered, common.tolist(), strict=True) if one}
        return [name for name in schema.names if name not in same]

    @property
    def relations_(self) -> Relations:
        """Relations between the categories of every column in every cluster."""
        fitted = self._fitted
        # Log shares are minus the costs, so a model file stores them once.
        lines = Relations.on_lines(fitted.schema, -fitted.outcome.scores.table.T, shares=fitted.shares)
        return replace(lines, unit=UNIT)


def _outlier_rows(block: Block, fixed: FixedScores, low: float, high: float) -> FloatArray:  # (n,)
    """How far rows lie below what was usual at fit."""
    return outlier_scores(log_mixture(block, fixed), low, high)


def _outcome(problem: Problem, search: Search, fit: MixtureFit) -> Outcome:
    """The outcome of a fit of all rows, from a fit of the rows of the search."""
    engine, units, table = problem.engine, problem.units_per_weight, search.table
    fit, counts = search.finish(engine, fit)
    mixture, shared, rows = fit.mixture, fit.shared, int(table.totals.sizes[0])
    positions, scores = mixture.log_shares(shared), mixture.scores(shared)
    most_probable = engine.total(largest_shares, to_fixed_point_shares(scores, engine.axis))
    # On the rows of the search, which are the same on every engine.
    low, high = density_quartiles(table.block, to_fixed_point(scores, table.axis))
    return Outcome(
        scores=scores,
        counts=counts,
        centers=most_frequent(positions, mixture.marginals.axis),
        cost=-fit.evidence,
        history=passes_in_weights(fit.history, units),
        converged=True,  # the number of passes is part of the method
        shared=_shared_arrays(mixture, shared, units),
        facts={
            "prior": mixture.prior,
            "free_sizes": float(mixture.free_sizes),
            "evidence": fit.evidence,
            "gain": (fit.evidence - search.evidence_of_one(engine)) / problem.in_weights(rows),
            "certainty": int(most_probable[0]) / (FULL_SHARE * rows),
            "density_low": low,
            "density_high": high,
        },
        soft=shared.counts.times(1.0 / units),
    )


def _shared_after(
    shared: Mapping[str, NDArray[Any]], schema: Schema, wider: Schema, decay: float, batch: SharedCounts
) -> dict[str, NDArray[Any]]:
    """Shared state after a batch: counts of tied pairs decay, and those of the batch are added."""
    shared = dict(shared)
    if batch.pairs is not None:
        parents = tuple(shared["parents"].tolist())
        faded_pairs = np.rint(shared["pair_counts"] * decay).astype(np.int64)
        wide, _ = pairs_on_wider(faded_pairs[:, None], parents, schema, wider)
        shared["pair_counts"] = wide[:, 0] + batch.pairs.sum(axis=0)
        shared["lift"] = np.ones(len(wide))  # learned again from the pairs
    return shared


def _shared_arrays(mixture: Mixture, shared: SharedCounts, units: float) -> dict[str, NDArray[Any]]:
    """State of the mixture that is shared by all clusters."""
    joined, forest = mixture.joined, mixture.forest
    pairs = np.zeros(0) if shared.pairs is None else shared.pairs.sum(axis=0)
    n = mixture.marginals.axis.n_columns
    common = np.isin(np.arange(n + len(mixture.marginals.middle)), mixture.common).astype(np.int64)
    numbers = len(mixture.marginals.middle)
    bins = [column for column, may_be in enumerate(mixture.marginals.may_be_tied) if not may_be]
    for column, other in mixture.repeats:
        common[n + column if column < numbers else bins[column - numbers]] = NUMBER_REPEATS + other
    return {
        "middle": mixture.marginals.middle,
        "spread": mixture.marginals.spread,
        "common": common,
        "parents": np.asarray(joined.parents, dtype=np.int64),
        "tie_evidence": np.asarray(mixture.tie_gains(shared), dtype=np.float64),
        "lift": np.zeros(0) if forest is None else forest.tied.lift,
        "pair_counts": np.rint(pairs / units).astype(np.int64),
    }
