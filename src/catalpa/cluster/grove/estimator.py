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

from catalpa.cluster.grove.em import MixtureFit
from catalpa.cluster.grove.fit import PRIORS, Search
from catalpa.cluster.grove.mixture import Mixture
from catalpa.cluster.grove.rows import SearchTable
from catalpa.engines.local import LocalEngine, thread_count
from catalpa.errors import LopsidedClustersWarning, warn_user
from catalpa.estimator.attributes import frame_in, lacking
from catalpa.estimator.base import Clusterer, Outcome, Problem
from catalpa.estimator.by_number_of_clusters import MOST_CLUSTERS, Candidate, outcome_by_evidence
from catalpa.estimator.contents import ModelContents
from catalpa.estimator.incremental import Grown, faded, learn_batch, pairs_on_wider, scores_on_wider, widened
from catalpa.estimator.parameters import choice, either, positive, rules, whole
from catalpa.estimator.problem import Fitted, passes_in_weights
from catalpa.loop.progress import in_parts
from catalpa.model.codecs import damaged
from catalpa.model.scoring import DensityScale
from catalpa.relations.doubt import density_spread, outlier_scores
from catalpa.relations.relations import Relations
from catalpa.relations.repeats import common_share
from catalpa.steps.assign import foremost_shares, share_and_count
from catalpa.steps.counts import WHOLE, SharedCounts, most_frequent
from catalpa.steps.scores import density_quartiles, fix, log_mixture, minus_logs, posterior
from catalpa.steps.soft.scores import soften
from catalpa.table.blocks import Rows
from catalpa.table.joined import JoinedAxis
from catalpa.table.schema import Schema, TableSettings

# On tables of 100 000 rows, clusters sought on so many have the evidence of a search on all rows (within
# .0004 nats per row) at a fraction of the time; 2000 rows were enough for at most five clusters.
SEARCH_ROWS, ROWS_PER_CLUSTER = 20_000, 500
UNIT = "distance (0.69: half as common)"
BIG = 0.95  # share of the rows from which one cluster among several is worth a warning


@dataclass(eq=False, repr=False)
class Grove(Clusterer):
    """Soft clusters in which every cluster learns its own relations between categories.

    A row counts in every cluster by its probability there. Each cluster has its own shares of the categories
    of every column, drawn towards the whole table's by a strength that the table itself chooses, and the
    logarithms of these shares are its relations: categories that are about as common in the cluster lie near
    each other. Numbers are normal, or cut into ordered bins where they are not. Several starts and strengths
    are tried, and the evidence decides between them. It is a close relative of latent class analysis.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. A table with fewer distinct rows gives fewer clusters and a warning. "auto" takes
        the number from 1 to 20 that most evidence speaks for; see :func:`catalpa.choose_k`.
    n_init : int, default=3
        Starts: the first along the leading axes of the table, the others around rows far from each other.
    prior : "auto" or float, default="auto"
        Rows of the whole table that stand beside every category of a cluster, so that a small cluster does
        not believe its own shares too much. "auto" chooses from 1, 2.5 and 6 by evidence.
    sizes : {"auto", "equal", "free"}, default="auto"
        Whether large clusters win rows by being large. "auto" decides by evidence.
    ties : "auto" or None, default="auto"
        "auto" finds columns that repeat each other inside clusters (city and ZIP code, questions that were
        skipped together) and lets them count once. None treats all columns as independent.
    missing : {"category", "ignore", "error"}, default="category"
        Missing cells are a category of their own, add nothing, or are refused. A missing number adds nothing;
        with "category" it also counts whether a number is there, if 1 % to 99 % of the column are missing.
    handle_unknown : {"warn", "ignore", "error"}, default="warn"
        What ``predict`` does with categories that ``fit`` never saw. They count as their column's rarest.
    categorical_features, n_jobs, random_state, checkpoint, decay, verbose, callback
        As in :class:`KModes`.

    Attributes
    ----------
    labels_ : array (n,) of int32
        The most probable cluster of every row, as ``predict`` says it.
    evidence_ : float
        Lower bound of the log probability of the table, in nats; compares numbers of clusters and settings.
    gain_ : float
        Evidence beyond that for a single cluster, in nats per row; about 0 or less without structure.
    certainty_ : float
        Mean probability of the rows' own clusters.
    density_low_, density_high_ : float
        Quartiles of ``score_samples`` over the rows of the fit (of the first batch, with ``partial_fit``; of
        the rows that the search saw, where the table has more), which ``outlier_scores`` compares with.
    prior_ : float
        The prior that was used.
    sizes_ : str
        "equal" or "free".
    relations_ : Relations
        For a cluster and a column: the line of categories, edge lengths, distances, a drawing.
    cluster_centers_ : frame of the table's library, one row per cluster, in original values
        The most probable category, and the mean of each number.
    cost_ : float
        Minus the evidence.
    n_clusters_ : int
        Number of clusters found; fewer than asked for if some were lost.
    n_iter_ : int
        Passes that led to the kept clusters.
    history_ : frame
        Phase, minus log likelihood, moved rows (equal ones count once) and clusters of every pass.
    tied_columns_ : frame
        Columns that repeat another one inside clusters, and so count once.
    columns_used_ : list of str
        Columns that differ between clusters: all, unless most of the table's columns are noise.
    cluster_sizes_, profiles_
        As in :class:`KModes`.
    balance_ : dict
        Shares of categories and of numbers in the evidence for the clusters; for tables that have both.
    schema_ : Schema
        The columns as fit saw them, and what became of each number.

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
    random_state: Any = None
    checkpoint: str | PathLike[str] | None = None
    decay: float = 1.0

    _lacks = lacking(inertia_="rows are shared out by probability, see evidence_")
    _uses_order = True
    _numbers = "shape"  # what a normal curve does not fit is cut into ordered bins
    _rules = rules(
        n_clusters=either(choice("auto"), whole(1)),
        prior=either(choice("auto"), positive()),
        sizes=choice("auto", "equal", "free"),
        ties=choice("auto", None),
    )
    _contents = ModelContents(
        shared={
            **dict.fromkeys(("middle", "spread"), ("numbers",)),
            "common": ("cells",),  # 1 for a column that is the same in all clusters; categories, then numbers
            # Tied columns: parents (-1 for none), evidence, lift and counts of pairs of categories.
            "parents": ("columns",),
            "tie_evidence": ("ties",),
            **dict.fromkeys(("lift", "pair_counts"), ("pairs",)),
        },
        whole=("parents", "pair_counts", "common"),
        facts=("prior", "free_sizes", "density_low", "density_high"),
        open_facts=("evidence", "gain", "certainty"),
        private_facts=("free_sizes",),  # read as ``sizes_``
    )

    def _with_search(self, settings: TableSettings, random_state: np.random.RandomState) -> TableSettings:
        k = MOST_CLUSTERS if self._finds_k else int(self.n_clusters)
        # The rows are drawn by whoever reads the table, here or on other computers, so a number is handed on.
        seed = int(random_state.randint(np.iinfo(np.int32).max))
        return replace(settings, search_rows=max(SEARCH_ROWS, ROWS_PER_CLUSTER * k), search_seed=seed)

    @property
    def _finds_k(self) -> bool:
        return isinstance(self.n_clusters, str)

    def _clusters_for(self, n_rows: int) -> int:
        # No complaint about few rows: nobody asked for a number.
        return min(MOST_CLUSTERS, n_rows) if self._finds_k else super()._clusters_for(n_rows)

    def _solve(self, problem: Problem) -> Outcome:
        if self._finds_k:
            return outcome_by_evidence(self._candidates, problem)
        search = self._search(problem)
        return _outcome(problem, search, search.best(problem.n_clusters))

    def _candidates(self, problem: Problem, most: int) -> Iterator[Candidate]:
        """Clusterings with 1, 2, ... clusters, with the evidence for them, on the rows of the search."""
        search = self._search(problem)
        with in_parts(None):  # how many are tried is seen on the way
            for k in range(1, min(most, len(search.table.block)) + 1):
                fit = search.best(k)
                yield Candidate(k, fit.evidence, partial(_outcome, problem, search, fit))

    def _search(self, problem: Problem) -> Search:
        engine = problem.engine
        rows = problem.some_rows(problem.search_rows, problem.search_seed)
        return Search(
            SearchTable.of(engine, problem.schema, rows, problem.units_per_weight),
            seed=problem.search_seed,
            # On one thread: runs of the search are made at once, and their rows are few.
            open_engine=lambda axis, some: LocalEngine(Rows(axis, [some])),
            threads=thread_count(self.n_jobs),
            n_init=self.n_init,
            priors=PRIORS if isinstance(self.prior, str) else (float(self.prior),),
            sizes=self.sizes,
            ties=self.ties is not None,
        )

    def partial_fit(self, X: Any, y: Any = None) -> Grove:
        """Learn from one more batch of rows, which is not kept; see :meth:`KModes.partial_fit`.

        The rows of later batches count in every cluster by their probability there. The evidence for the
        clusters is then not known: ``evidence_``, ``gain_``, ``certainty_`` and ``cost_`` are nan.
        """
        learn_batch(self, X, self._relearned)
        return self

    def _relearned(self, before: Fitted, grown: Grown) -> Outcome:
        """The clusters with a batch added by share."""
        past, schema, axis = before.outcome, grown.schema, grown.rows.axis
        assert past.soft is not None
        # Rows are shared out by the clusters before the batch: a batch must not vouch for itself.
        fixed = soften(scores_on_wider(past.scores, before.schema, schema), axis)
        batch = fixed.folded(share_and_count(grown.rows.blocks[0], None, fixed, False)[0])
        known = faded(widened(past.soft, before.schema, schema), self.decay)
        soft = known + batch.counts
        kept = _kept_after(past.shared, before.schema, schema, self.decay, batch)
        mixture, shared = Mixture.of_fit(schema, soft, kept, past.facts), SharedCounts.of(soft)
        if mixture.forest is not None:  # the same columns are tied as before
            forest = mixture.forest_of(soft, kept["pair_counts"])
            mixture, kept["lift"] = replace(mixture, forest=forest), forest.tied.lift
        positions = mixture.log_shares(shared)
        return replace(
            past,
            scores=mixture.scores(shared),
            counts=grown.counts,
            centers=most_frequent(positions, schema.axis),
            cost=math.nan,  # evidence needs the entropy of all rows, and those before are gone
            history=(),
            shared=kept,
            facts={**past.facts, "evidence": math.nan, "gain": math.nan, "certainty": math.nan},
            soft=soft,
        )

    def _balance(self, fitted: Fitted) -> dict[str, float]:
        soft = fitted.outcome.soft
        assert soft is not None
        mixture = Mixture.of_fit(fitted.schema, soft, fitted.outcome.shared, fitted.outcome.facts)
        categorical, numeric = mixture.gain_by_kind(soft)
        total = categorical + numeric or 1.0  # nothing gained by either kind: shares of 0, not of nan
        return {"categorical": categorical / total, "numeric": numeric / total}

    def _check_read(self, fitted: Fitted) -> None:
        if fitted.outcome.soft is None:
            raise damaged("soft_counts", "is not there, and rows count by their shares")
        prior = fitted.outcome.facts["prior"]
        if not prior > 0:
            raise damaged("extra.facts.prior", f"is {prior:g}, and a mass is above 0")
        if fitted.outcome.facts["density_low"] > fitted.outcome.facts["density_high"]:
            raise damaged("extra.facts.density_low", "is above the upper quartile")

    def _warn_if_odd(self) -> None:
        largest, total = self.cluster_sizes_.max(), self.cluster_sizes_.sum()
        if self.n_clusters_ > 1 and largest > BIG * total:
            warn_user(
                f"One cluster holds {largest:,.0f} of {total:,.0f} rows: this table shows little structure "
                f"at {self.n_clusters_} clusters (gain_ is {self.gain_:.3g} nats per row). catalpa.choose_k "
                "says which number the evidence speaks for; sizes='equal' makes sizes more equal.",
                LopsidedClustersWarning,
            )

    def predict_proba(self, X: Any) -> Any:
        """Probability of every cluster for every row, (n, k).

        Cells that are left out add nothing.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["a", "y"]]
        >>> Grove(2, random_state=0).fit(rows).predict_proba(rows).shape
        (5, 2)
        """
        engine, fixed = self._opened(X)
        return engine.answer(posterior, fixed)

    def score_samples(self, X: Any) -> Any:
        """How typical every row is, (n,): log density under all clusters together; low for outliers.

        Numbers count in standard deviations of their column at fit.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [["a", "x", "u"]] * 9 + [["b", "y", "v"]] * 9 + [["a", "y", "v"]]
        >>> int(Grove(2, random_state=0).fit(rows).score_samples(rows).argmin())
        18
        """
        engine, fixed = self._opened(X)
        return engine.answer(log_mixture, fixed)

    def outlier_scores(self, X: Any) -> Any:
        """How far every row lies below what was usual at fit, (n,).

        As in a box plot of ``score_samples`` over the rows of the fit: 0 for a row above their lower
        quartile, below it the distance from it in distances between the quartiles (of 1 nat at least). More
        than 1.5 is an outlier, more than 3 far out. A row has the same score in whatever company it comes.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [["a", "x", "u"]] * 9 + [["b", "y", "v"]] * 9 + [["a", "y", "v"]]
        >>> model = Grove(2, random_state=0).fit(rows)
        >>> model.outlier_scores(rows[:1]), model.outlier_scores([["b", "x", "v"]]) > 1.5
        (array([0.]), array([ True]))
        """
        return outlier_scores(self.score_samples(X), self.density_low_, self.density_high_)

    def _density_scale(self) -> DensityScale:
        return DensityScale(self.density_low_, density_spread(self.density_low_, self.density_high_))

    def transform(self, X: Any) -> Any:
        """Minus the log of each cluster's share times the row's probability in it, (n, k)."""
        engine, fixed = self._opened(X)
        return engine.answer(minus_logs, fixed)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows; higher is better."""
        engine, fixed = self._opened(X)
        return float(engine.each(log_mixture, fixed).mean())

    @property
    def sizes_(self) -> str:
        """Whether large clusters win rows by being large: "equal" or "free"."""
        return "free" if self._fitted.outcome.facts["free_sizes"] else "equal"

    @property
    def tied_columns_(self) -> Any:
        """Columns that repeat another one, their parent, inside clusters: such columns count once.

        A frame of the table's library: ``column``, ``parent``, the ``evidence`` for the tie in nats (that of
        the first batch, with ``partial_fit``), and the mutual information as a ``share`` of the smaller
        entropy: 1 for an exact copy.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [[city, city[0], "xy"[at % 2]] for at, city in enumerate(["Ulm", "Bonn", "Hof"] * 50)]
        >>> tied = Grove(2, random_state=0).fit(rows).tied_columns_
        >>> tied[["column", "parent"]].values.tolist(), tied["share"].round(2).tolist()
        ([['x1', 'x0']], [1.0])
        """
        fitted = self._fitted
        kept, names = fitted.outcome.shared, [column.name for column in fitted.schema.categorical]
        joined, sizes = self._joined, fitted.schema.axis.sizes
        counts = [kept["pair_counts"][part] for _, _, part in joined.parts()]
        columns = {
            "column": [names[column] for column, _ in joined.edges],
            "parent": [names[parent] for _, parent in joined.edges],
            "evidence": kept["tie_evidence"].tolist(),
            "share": [
                common_share(own.reshape(sizes[parent], -1).astype(np.float64))
                for own, (_, parent) in zip(counts, joined.edges, strict=True)
            ],
        }
        return frame_in(fitted.schema.library, columns)

    @property
    def _joined(self) -> JoinedAxis:
        fitted = self._fitted
        return JoinedAxis(fitted.schema.axis, tuple(fitted.outcome.shared["parents"].tolist()))

    @property
    def columns_used_(self) -> list[str]:
        """Columns that differ between clusters, in the order of the table.

        All of them, unless most columns of the table are associated with no other column: then the evidence
        decides which differ, and the others have the same distribution in every cluster.
        """
        schema, common = self._fitted.schema, self._fitted.outcome.shared["common"]
        ordered = (*schema.categorical, *schema.numeric)
        same = {column.name for column, one in zip(ordered, common.tolist(), strict=True) if one}
        return [name for name in schema.names if name not in same]

    @property
    def relations_(self) -> Relations:
        """What every cluster learned about the categories of every column."""
        found = self._fitted
        # Log shares, which are minus the costs: a model file keeps them once.
        lines = Relations.on_lines(found.schema, -found.outcome.scores.table.T, shares=found.shares)
        return replace(lines, unit=UNIT)


def _outcome(problem: Problem, search: Search, fit: MixtureFit) -> Outcome:
    """A fit of the search's rows as the outcome of a fit of all rows."""
    engine, units, table = problem.engine, problem.units_per_weight, search.table
    fit, counts = search.finish(engine, fit)
    mixture, shared, rows = fit.mixture, fit.shared, int(table.totals.sizes[0])
    positions, scores = mixture.log_shares(shared), mixture.scores(shared)
    most_probable = engine.total(foremost_shares, soften(scores, engine.axis))
    # Of the search's rows, which are the same on every engine.
    low, high = density_quartiles(table.block, fix(scores, table.axis))
    return Outcome(
        scores=scores,
        counts=counts,
        centers=most_frequent(positions, mixture.marginals.axis),
        cost=-fit.evidence,
        history=passes_in_weights(fit.history, units),
        converged=True,  # the number of passes is part of the method
        shared=_kept(mixture, shared, units),
        facts={
            "prior": mixture.prior,
            "free_sizes": float(mixture.free_sizes),
            "evidence": fit.evidence,
            "gain": (fit.evidence - search.evidence_of_one(engine)) / problem.in_weights(rows),
            "certainty": int(most_probable[0]) / (WHOLE * rows),
            "density_low": low,
            "density_high": high,
        },
        soft=shared.counts.times(1.0 / units),
    )


def _kept_after(
    kept: Mapping[str, NDArray[Any]], schema: Schema, wider: Schema, decay: float, batch: SharedCounts
) -> dict[str, NDArray[Any]]:
    """What a fit keeps for all clusters together, after a batch: counts of tied pairs fade, and grow."""
    kept = dict(kept)
    if batch.pairs is not None:
        parents = tuple(kept["parents"].tolist())
        faded_pairs = np.rint(kept["pair_counts"] * decay).astype(np.int64)
        wide, _ = pairs_on_wider(faded_pairs[:, None], parents, schema, wider)
        kept["pair_counts"] = wide[:, 0] + batch.pairs.sum(axis=0)
        kept["lift"] = np.ones(len(wide))  # learned again from the pairs
    return kept


def _kept(mixture: Mixture, shared: SharedCounts, units: float) -> dict[str, NDArray[Any]]:
    """What a fit keeps of its mixture for all clusters together."""
    joined, forest = mixture.joined, mixture.forest
    pairs = np.zeros(0) if shared.pairs is None else shared.pairs.sum(axis=0)
    columns = mixture.marginals.axis.n_columns + len(mixture.marginals.middle)
    return {
        "middle": mixture.marginals.middle,
        "spread": mixture.marginals.spread,
        "common": np.isin(np.arange(columns), mixture.common).astype(np.int64),
        "parents": np.asarray(joined.parents, dtype=np.int64),
        "tie_evidence": np.asarray(mixture.tie_gains(shared), dtype=np.float64),
        "lift": np.zeros(0) if forest is None else forest.tied.lift,
        "pair_counts": np.rint(pairs / units).astype(np.int64),
    }
