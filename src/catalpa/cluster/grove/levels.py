"""Coarser and finer: clusters of a fitted model merged, or one of them split.

A merged cluster has the sum of the soft counts of its parts, and the parts of a split cluster have soft
counts of their own. In both cases the result is an ordinary mixture with all methods of a fitted model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import clone

from catalpa.cluster.grove.em import MixtureFit, hard_counts, with_evidence
from catalpa.cluster.grove.merges import merge_tree
from catalpa.cluster.grove.mixture import Mixture
from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine, opener_for
from catalpa.engines.sources import weight_column, weight_name, without
from catalpa.errors import NoStructureWarning, ParameterError, UnknownCluster, warn_user
from catalpa.estimator.base import Problem
from catalpa.estimator.checking import CHECK_ROWS
from catalpa.estimator.merge_tree import MergeTree
from catalpa.estimator.naming import LONGEST, all_names, free_names
from catalpa.estimator.parameters import check_parameters, choice, either, integer, rules
from catalpa.estimator.problem import Checks, Fitted, Outcome, fitted_of
from catalpa.explain.formatting import shortened
from catalpa.steps.assign import largest_shares, share_and_count
from catalpa.steps.counts import FULL_SHARE, Counts, SharedCounts, most_frequent
from catalpa.steps.scores import density_quartiles, posterior, to_fixed_point
from catalpa.steps.soft.scores import to_fixed_point_shares
from catalpa.table.blocks import IntArray, Rows
from catalpa.table.open import open_table
from catalpa.table.weights import MOST_UNITS, check_weight_name, column_weights, weight_units

if TYPE_CHECKING:
    from catalpa.cluster.grove.estimator import Grove

SPLIT_ROWS = 100_000  # by which a cluster is split if the table is not in memory
PARTS_OF_A_ROW = 1 << 6  # a row counts inside a cluster by its membership probability, in such parts


class LevelsMixin:
    """Coarser and finer models from a fitted Grove."""

    _fitted: Fitted
    cluster_names_: list[str]

    @property
    def tree_(self) -> MergeTree:
        """Which clusters differ least: all clusters merged two at a time, down to one.

        Each time the two clusters are merged whose merge loses least evidence. The tree is computed from the
        model alone; no rows are needed. ``catalpa.plot.merge_tree`` draws it.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> tree = Grove(4, random_state=0).fit(datasets.load("zoo").frame).tree_
        >>> tree.to_frame()[["clusters", "merged", "with"]].values.tolist()
        [[3, '2', '3'], [2, '0', '2 + 3'], [1, '1', '0 + 2 + 3']]
        """
        fitted = fitted_of(self)
        soft = _soft_counts(fitted)
        gain = fitted.outcome.facts["gain"] * float(soft.sizes.sum()) / FULL_SHARE
        tree = merge_tree(mixture_of(fitted), soft, gain)
        return replace(tree, names=tuple(self.cluster_names_), library=fitted.schema.library)

    def cut(self, k: int, X: Any = None, *, sample_weight: Any = None) -> Self:
        """A coarser model: the clusters of ``tree_`` merged until ``k`` are left.

        The shares of a merged cluster are estimated again from the counts of its parts, so the result is an
        ordinary model: ``predict``, ``predict_proba``, SQL, ONNX and the model file work, and labels are the
        most probable of the ``k`` clusters. A row between two clusters may therefore get a cluster that does
        not contain its former one. Larger merged clusters attract more rows, even if ``sizes_`` was "equal".

        A merged cluster takes the lowest number of its parts, and later clusters are renumbered. Its name
        joins the names of its parts if all of them have one.

        Parameters
        ----------
        k : int
            Number of clusters, at most ``n_clusters_``.
        X : table, optional
            The table of the fit. With it, the model has ``labels_``, ``evidence_``, ``gain_``, ``certainty_``
            and quartiles, and sizes and profiles are computed from its labels. Without it they are unknown
            (nan), sizes and profiles are sums over the parts, and ``outlier_scores`` are corrected for the
            evidence lost by the merges. sample_weight : str or array-like (n,), optional Weight of each row
            of ``X``, as at fit.

        Returns
        -------
        Grove
            A new fitted model; this one stays as it is.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> model = Grove(7, random_state=0).fit(zoo)
        >>> coarse = model.cut(3, zoo)
        >>> coarse.n_clusters_, coarse.labels_.shape
        (3, (101,))
        """
        most = fitted_of(self).outcome.k
        check_parameters("cut", {"k": k}, rules(k=integer(1, most)))
        return self._merged(self.tree_.groups(k), X, sample_weight)

    def merge(self, clusters: Any, X: Any = None, *, sample_weight: Any = None) -> Self:
        """A model in which some clusters are one; see :meth:`cut`.

        Parameters
        ----------
        clusters : sequence of int or str
            Two or more clusters, by their numbers or names.
        X, sample_weight
            As in :meth:`cut`.

        Returns
        -------
        Grove
            A new fitted model; this one stays as it is.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> model = Grove(4, random_state=0).fit(datasets.load("zoo").frame)
        >>> model.name_clusters({0: "fish", 2: "birds", 3: "mammals"}).merge([1, 3]).cluster_names_
        ['fish', '1', 'birds']
        """
        names = self.cluster_names_
        listed = isinstance(clusters, Sequence | np.ndarray) and not isinstance(clusters, str)
        numbers = sorted({cluster_number(one, names) for one in clusters} if listed else ())
        if len(numbers) < 2:
            raise ParameterError(
                f"merge takes two or more different clusters, as in merge([1, 4]); it was given {clusters!r}."
            )
        others = [(cluster,) for cluster in range(len(names)) if cluster not in numbers]
        return self._merged(sorted([tuple(numbers), *others]), X, sample_weight)

    def _merged(self, groups: Sequence[tuple[int, ...]], X: Any, sample_weight: Any) -> Self:
        fitted = fitted_of(self)
        model = self._with(
            merged(fitted, groups, float(self.tree_.losses[: fitted.outcome.k - len(groups)].sum()))
        )
        return model if X is None else model._counted_on(X, sample_weight, fitted)

    def split(
        self, cluster: int | str, X: Any, n_clusters: int | str = "auto", *, sample_weight: Any = None
    ) -> Self:
        """A finer model: one cluster is clustered again, and its parts replace it.

        Every row counts by its membership probability in the cluster. The parts replace the cluster in the
        mixture, so the result is an ordinary model: ``predict``, ``predict_proba``, SQL, ONNX and the model
        file work. The first part keeps the cluster's number, the others get new numbers at the end, and all
        other clusters keep theirs. Parts are named after the cluster: "3a", "3b", or "fish a", "fish b".

        The membership probabilities of the parts add up to nearly that of the former cluster; rows at a
        border move towards the part that fits them better.

        Parameters
        ----------
        cluster : int or str
            Number or name of a cluster.
        X : table
            The table of the fit. Of a table that is not in memory, 100,000 random rows are used.
        n_clusters : int or "auto", default="auto"
            Number of parts. "auto" chooses it as ``Grove("auto")`` does; if it finds no parts, the model is
            returned with a ``NoStructureWarning``.
        sample_weight : str or array-like (n,), optional
            Weight of each row of ``X``, as at fit.

        Returns
        -------
        Grove
            A new fitted model; this one stays as it is.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> finer = Grove(3, random_state=0).fit(zoo).split(0, zoo, 2)
        >>> finer.n_clusters_, finer.cluster_names_
        (4, ['0a', '1', '2', '0b'])
        """
        fitted = fitted_of(self)
        settings = {"n_clusters": n_clusters}
        check_parameters("split", settings, rules(n_clusters=either(choice("auto"), integer(2))))
        number = cluster_number(cluster, self.cluster_names_)
        estimator: Any = self
        engine, units = weighted_engine(estimator, X, sample_weight)
        parts = _parts(estimator, engine, units, number, n_clusters)
        if parts is None or parts.k == 1:
            name = self.cluster_names_[number]
            warn_user(f"No cluster structure found inside cluster {name}: it stays one.", NoStructureWarning)
            return self._with(fitted)
        return self._with(split(fitted, number, parts))._counted_on(X, sample_weight, fitted)

    def _with(self, fitted: Fitted) -> Self:
        """The same model with other clusters, without labels."""
        model: Any = copy(self)
        for name in ("labels_", "published_labels_", "matched_", "_match_records"):
            model.__dict__.pop(name, None)
        model.n_clusters = fitted.outcome.k
        model._publish(fitted)
        return model  # type: ignore[no-any-return]

    def _counted_on(self, X: Any, sample_weight: Any, before: Fitted) -> Self:
        """The model with labels, sizes, profiles and evidence computed on a table."""
        model: Any = self
        engine, units = weighted_engine(model, X, sample_weight)
        problem = replace(model._problem_of(engine), units_per_weight=units)
        model._publish(_on_rows(self._fitted, problem, before))
        model.labels_ = model._label(engine)
        model._publish(replace(model._fitted, quartiles=model._quartiles(problem)))
        model.labels_ = model._with_outliers(engine, model.labels_)
        model._rows_to_check = problem.gathered(CHECK_ROWS)
        return self


def cluster_number(cluster: Any, names: Sequence[str]) -> int:
    """Number of a cluster, given its number or name."""
    if isinstance(cluster, str) and cluster in names:
        return names.index(cluster)
    if integer(0, len(names) - 1).allows(cluster):
        return int(cluster)
    raise UnknownCluster(
        f"{cluster!r} is not a cluster of this model. Its clusters are 0 to {len(names) - 1}, called "
        f"{list(names)}."
    )


def mixture_of(fitted: Fitted) -> Mixture:
    """Mixture of a fitted model."""
    outcome = fitted.outcome
    return Mixture.of_fit(fitted.schema, _soft_counts(fitted), outcome.shared, outcome.facts)


def _soft_counts(fitted: Fitted) -> Counts:
    soft = fitted.outcome.soft
    assert soft is not None  # every fit of Grove has them
    return soft


def merged(fitted: Fitted, groups: Sequence[tuple[int, ...]], loss: float) -> Fitted:
    """Fitted state after clusters were merged; ``loss`` is the evidence lost, in nats."""
    outcome, soft = fitted.outcome, _soft_counts(fitted)
    if len(groups) == outcome.k:
        return fitted
    facts = dict(outcome.facts)
    lower = loss * FULL_SHARE / float(soft.sizes.sum())
    facts |= {name: facts[name] - lower for name in ("density_low", "density_high")}
    quartiles = np.full(
        (len(groups), *fitted.quartiles.shape[1:]), np.nan
    )  # unknown if a cluster has several parts
    for at, group in enumerate(groups):
        if len(group) == 1:
            quartiles[at] = fitted.quartiles[group[0]]
    names = {at: name for at, group in enumerate(groups) if (name := _merged_name(group, fitted.names))}
    counts = pooled(outcome.counts, groups)
    return _with_clusters(replace(fitted, quartiles=quartiles), facts, pooled(soft, groups), counts, names)


def pooled(counts: Counts, groups: Sequence[tuple[int, ...]]) -> Counts:
    """Counts of groups of clusters."""
    return counts.map(lambda part: np.stack([part[list(group)].sum(axis=0) for group in groups]))


def _merged_name(group: tuple[int, ...], names: Mapping[int, str]) -> str | None:
    part_names = [names[cluster] for cluster in group if cluster in names]
    return shortened(" + ".join(part_names), LONGEST) if len(part_names) == len(group) else None


def _with_clusters(
    fitted: Fitted, facts: Mapping[str, float], soft: Counts, counts: Counts, names: Mapping[int, str]
) -> Fitted:
    """Fitted state with other clusters, given their soft counts and counts of labels."""
    past, schema = fitted.outcome, fitted.schema
    facts = {**facts, "free_sizes": 1.0, **dict.fromkeys(("evidence", "gain", "certainty"), math.nan)}
    arrays = dict(past.shared)
    mixture, shared = Mixture.of_fit(schema, soft, arrays, facts), SharedCounts.of(soft)
    if mixture.forest is not None:  # the same columns stay tied
        forest = mixture.forest_of(soft, arrays["pair_counts"])
        mixture, arrays["lift"] = replace(mixture, forest=forest), forest.tied.lift
    outcome = replace(
        past,
        scores=mixture.scores(shared),
        counts=counts,
        centers=most_frequent(mixture.log_shares(shared), schema.axis),
        cost=math.nan,
        shared=arrays,
        facts=facts,
        soft=soft,
        labels=None,
        checks=Checks(),
    )
    # Rows of first batches are not searched again: that would undo what was merged or split.
    return replace(fitted, outcome=outcome, names=free_names(names, soft.k), reservoir=None)


def split(fitted: Fitted, cluster: int, parts: Counts) -> Fitted:
    """Fitted state after one cluster was replaced by parts with these soft counts."""
    outcome, soft = fitted.outcome, _soft_counts(fitted)
    k, scale = soft.k, float(soft.sizes[cluster]) / float(parts.sizes.sum())
    places = np.array([cluster, *range(k, k + parts.k - 1)])
    together = [
        np.concatenate([before, np.zeros_like(part[1:])])
        for before, part in zip(soft.arrays, parts.arrays, strict=True)
    ]
    for before, part in zip(together, parts.times(scale).arrays, strict=True):
        before[places] = part
    finer = Counts.from_arrays(together)
    called = all_names(fitted.names, k)[cluster]
    ends = [ascii_lowercase[at] if parts.k <= len(ascii_lowercase) else f".{at + 1}" for at in range(parts.k)]
    between = " " if cluster in fitted.names else ""
    names = dict(fitted.names) | {
        int(place): f"{shortened(called, LONGEST - 6)}{between}{end}"
        for place, end in zip(places, ends, strict=True)
    }
    blank = np.full((finer.k, *fitted.quartiles.shape[1:]), np.nan)
    # Replaced once the rows are labelled; a model file cannot contain a cluster without rows.
    return _with_clusters(replace(fitted, quartiles=blank), outcome.facts, finer, finer, names)


def weighted_engine(model: Any, X: Any, sample_weight: Any) -> tuple[Engine, float]:
    """The weighted rows of a table (by an array or a column's name), and the units per weight of 1."""
    if sample_weight is None:
        return model._engine(X), 1.0
    source = opener_for(X)
    if not source.in_memory:
        column = weight_column(source, cast("str", weight_name(sample_weight)))
        return model._engine(X, column), column.scale.per_weight
    if isinstance(sample_weight, str):
        table = open_table(X)
        check_weight_name(sample_weight, table.names)
        X, sample_weight = (
            table.only(without(table.names, sample_weight)),
            column_weights(table, sample_weight),
        )
    rows = model._engine(X).rows_in_memory()
    units, per_weight = weight_units(sample_weight, sum(map(len, rows.blocks)))
    return _with_units(rows, units), per_weight


def _with_units(rows: Rows, units: IntArray | None) -> LocalEngine:
    starts = np.cumsum([0, *map(len, rows.blocks)])
    blocks = [
        replace(block, weights=None if units is None else units[start : start + len(block)])
        for block, start in zip(rows.blocks, starts, strict=False)
    ]
    return LocalEngine(Rows(rows.axis, blocks))


def _on_rows(fitted: Fitted, problem: Problem, before: Fitted) -> Fitted:
    """Fitted state with counts of labels and evidence computed on a table."""
    outcome, mixture = fitted.outcome, mixture_of(fitted)
    engine, units = problem.engine, problem.units_per_weight
    counts, _ = hard_counts(engine, MixtureFit(mixture, SharedCounts.of(_soft_counts(fitted)), 0.0))
    shares = to_fixed_point_shares(outcome.scores, engine.axis)
    shared = shares.folded(engine.total(_counted_by_share, shares))
    fit = with_evidence(engine, MixtureFit(replace(mixture, units=FULL_SHARE * units), shared, 0.0))
    rows = int(counts.sizes.sum())
    certain = int(engine.total(largest_shares, shares)[0]) / (FULL_SHARE * rows)
    past, weight = before.outcome, rows / units
    # Evidence of a single cluster on the same rows, if these are as many as at fit.
    weight_before = float(before.in_weights(past.counts.sizes).sum())
    alone = past.facts["evidence"] - past.facts["gain"] * weight_before
    same = math.isclose(weight, weight_before, rel_tol=1e-6)
    block = problem.some_rows(SPLIT_ROWS, 0)
    low, high = density_quartiles(block, to_fixed_point(outcome.scores, engine.axis))
    facts = {
        **outcome.facts,
        "evidence": fit.evidence,
        "gain": (fit.evidence - alone) / weight if same else math.nan,
        "certainty": certain,
        "density_low": low,
        "density_high": high,
    }
    outcome = replace(outcome, counts=counts, facts=facts, cost=-fit.evidence)
    there = np.flatnonzero(counts.sizes > 0).tolist()  # a part may not be the most probable one of any row
    names = {at: fitted.names[cluster] for at, cluster in enumerate(there) if cluster in fitted.names}
    outcome, quartiles = outcome.without_empty(), fitted.quartiles[there]
    return replace(
        fitted,
        outcome=outcome,
        quartiles=quartiles,
        units_per_weight=units,
        rows=engine.n_rows,
        names=free_names(names, outcome.k),
    )


def _counted_by_share(block: Any, fixed: Any) -> SharedCounts:
    return share_and_count(block, None, fixed, False)[0]


def _parts(model: Grove, engine: Engine, units: float, cluster: int, n_clusters: int | str) -> Counts | None:
    """Soft counts of the clusters inside one cluster, by membership probability; None if too few rows."""
    fitted = model._fitted
    problem = model._problem_of(engine)
    block = problem.some_rows(SPLIT_ROWS if engine.rows_in_memory() is None else engine.n_rows, 0)
    memberships = posterior(block, to_fixed_point(fitted.outcome.scores, engine.axis))[:, cluster]
    fine = min(float(PARTS_OF_A_ROW), MOST_UNITS / float(block.row_weights.sum()))
    weights = np.rint(memberships * block.row_weights * fine).astype(np.int64)
    inside = weights > 0
    inner = clone(model).set_params(n_clusters=n_clusters, categorical_features=None)
    rows = int(inside.sum())
    wanted = inner._clusters_for(rows) if isinstance(n_clusters, str) else int(n_clusters)
    if rows < max(wanted, 2) and not isinstance(n_clusters, str):
        raise ParameterError(
            f"Cluster {cluster} holds {rows} rows of the table, fewer than n_clusters={n_clusters}."
        )
    if rows < 2:
        return None
    settings = inner._with_search(inner._table_settings(), problem.random_state)
    weighted = replace(block.take(np.flatnonzero(inside)), weights=weights[inside])
    rows_engine = LocalEngine(Rows(engine.axis, [weighted]), model.n_jobs)
    problem = replace(
        problem,
        engine=rows_engine,
        n_clusters=wanted,
        units_per_weight=units * fine,
        search_rows=settings.search_rows or rows,
        search_seed=settings.search_seed,
    )
    parts: Outcome = inner._solve(problem)
    return parts.without_empty().soft
