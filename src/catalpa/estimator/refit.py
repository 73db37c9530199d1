"""Refit a model to new rows so that clusters keep their numbers and names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import ClusterMixin, clone

from catalpa.engines.local import renumbered
from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_of_lines
from catalpa.estimator.matching import MATCHED, ClusterMatching
from catalpa.estimator.naming import all_names, free_names
from catalpa.estimator.preparing import recipe_weights
from catalpa.estimator.problem import fitted_of
from catalpa.table.blocks import IntArray

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

LEAST_SHARED = 0.5  # smallest share of common rows for a new cluster to keep the name of an old one


class RefitMixin:
    """``refit`` and ``match_to`` of a fitted estimator."""

    _match_records: list[dict[str, Any]]  # lines of ``matched_``

    def refit(self, X: Any, *, sample_weight: Any = None) -> Self:
        """Fit a new model with the same settings to new rows; its clusters keep their numbers and names.

        The same as ``clone(model).fit(X).match_to(model, X)``.

        Parameters
        ----------
        X : table
            New rows, with the columns of fit.
        sample_weight : str or array-like (n,), optional
            Weight of each row, as in ``fit``.

        Returns
        -------
        fitted estimator
            A new model with ``matched_``, see :meth:`match_to`; this model is not changed.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> model = Grove(4, random_state=0).fit(zoo.sample(90, random_state=0))
        >>> model = model.name_clusters({1: "sea and air"})
        >>> model.refit(zoo).cluster_names_
        ['0', 'sea and air', '2', '3']
        """
        recipe = fitted_of(self).recipe
        fresh: Any = clone(cast("Clusterer", self))
        if recipe is not None:  # also one found by "auto": both tables must be prepared in the same way
            fresh.set_params(recipe=recipe)
        return cast(
            "Self", fresh.fit(X, sample_weight=sample_weight).match_to(self, X, sample_weight=sample_weight)
        )

    def match_to(self, model: Any, X: Any, *, sample_weight: Any = None) -> Self:
        """Number and name the clusters of this model as those of an earlier one.

        Both models assign the rows of a table. Clusters are matched one to one so that most rows stay; a
        match needs more than half of the rows of the smaller cluster. Matched clusters get the number and the
        name of the earlier cluster, other clusters the remaining numbers and their own names.
        An earlier number can only be kept if the model has that many clusters.

        Parameters
        ----------
        model : fitted estimator
            The earlier model, of any method.
        X : table
            Rows with the columns of both models.
        sample_weight : str or array-like (n,), optional
            Weight of each row, as in ``fit``.

        Returns
        -------
        self
            With ``matched_``: a frame with a row per cluster, the cluster ``before`` that it continues
            (missing for a new cluster) and its name, their ``rows`` in ``X``, ``stays``, the share of the
            earlier cluster's rows that are in this one, and ``from_before``, the share of this cluster's
            rows that were in the earlier one. Unmatched earlier clusters come last. ``matched_`` is not part
            of the model file.

        Examples
        --------
        >>> from catalpa import Grove, datasets
        >>> zoo = datasets.load("zoo").frame
        >>> old = Grove(4, random_state=0).fit(zoo).name_clusters({0: "first", 2: "third"})
        >>> new = Grove(4, random_state=1).fit(zoo).match_to(old, zoo)
        >>> new.matched_[["before", "name_before", "stays"]].values.tolist()[0]
        [0, 'first', 1.0]
        """
        from catalpa.estimator.labelled import crosstab_of_models  # which knows estimators

        fitted = fitted_of(self)
        if not isinstance(model, ClusterMixin):
            raise ParameterError(f"match_to needs a fitted model, but got {model!r:.80}.")
        earlier = fitted_of(model)
        estimator = cast("Clusterer", self)
        weights = recipe_weights(fitted.recipe, X, sample_weight)
        cross_table = crosstab_of_models(cast("Clusterer", model), estimator, X, weights)
        matching = ClusterMatching.of(cross_table, LEAST_SHARED)
        self._renumber(matching.order)
        k = fitted.outcome.k
        carried = {at: earlier.names[old] for at, old in matching.partners.items() if old in earlier.names}
        new_names = {at: name for at, name in estimator._fitted.names.items() if name not in carried.values()}
        names = free_names({**new_names, **carried}, k)
        estimator._fitted = replace(estimator._fitted, names=names)
        lines = matching.records(all_names(names, k), all_names(earlier.names, earlier.outcome.k))
        self.matched_ = frame_of_lines(estimator.schema_.library, lines, MATCHED)
        self._match_records = lines
        return self

    def _renumber(self, order: IntArray) -> None:
        """Renumber the clusters: ``order`` are the clusters in the order of their new numbers."""
        model = cast("Clusterer", self)
        fitted = model._fitted
        names = {at: fitted.names[old] for at, old in enumerate(order.tolist()) if old in fitted.names}
        outcome, quartiles = fitted.outcome.take(order), fitted.quartiles[order]
        model._publish(replace(fitted, outcome=outcome, quartiles=quartiles, names=names))
        numbers = np.append(np.argsort(order), -1).astype(np.int32)  # -1 for rows that are labelled outliers
        for attribute in ("labels_", "published_labels_"):
            labels = model.__dict__.get(attribute)
            if labels is not None:
                setattr(model, attribute, renumbered(labels, numbers))
