"""Edits of an explorer page: names, merges and splits, and their application to a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from catalpa.errors import ParameterError
from catalpa.estimator.base import Clusterer


@dataclass(frozen=True)
class Edits:
    """The edits of one page, which it saves as ``clusters.json``.

    Attributes
    ----------
    n_clusters : int
        The number of clusters that was shown when they were saved.
    model_clusters : int
        The number of clusters of the page's model, after splits.
    fitted_clusters : int
        The number of clusters of the fit, before splits.
    splits : tuple of int
        Clusters that were split, one after another.
    merges : tuple of tuple of int
        Groups of merged clusters, by their numbers on the page.
    names : mapping of int to str
        Names by the number of a shown cluster; a merged cluster has the number of one of its parts. None
        keeps the names of the model.
    """

    n_clusters: int
    model_clusters: int
    fitted_clusters: int
    splits: tuple[int, ...] = ()
    merges: tuple[tuple[int, ...], ...] = ()
    names: Mapping[int, str] | None = None

    @classmethod
    def of(cls, document: Any) -> Edits:
        """Edits from the JSON of a page; raises an error if they are invalid."""
        if not isinstance(document, Mapping) or not _is_number(document.get("n_clusters")):
            raise ParameterError("The edits have no n_clusters: a page of catalpa explore saves them.")
        shown = document["n_clusters"]
        own = document.get("model_clusters", shown)
        fitted, splits = document.get("fitted_clusters", own), document.get("splits", [])
        if not (_is_number(own) and _is_number(fitted) and _are_clusters(splits)):
            raise ParameterError("model_clusters, fitted_clusters and splits of the edits are whole numbers.")
        merges, names = document.get("merges", []), document.get("names")
        if not isinstance(merges, list) or not all(_are_clusters(parts) for parts in merges):
            raise ParameterError(f"merges is {merges!r:.80}; it is a list of lists of clusters.")
        if names is not None and not (
            isinstance(names, Mapping) and all(str(cluster).isdecimal() for cluster in names)
        ):
            raise ParameterError(f"names is {names!r:.80}; it is an object with a name for each cluster.")
        return cls(
            shown,
            own,
            fitted,
            tuple(splits),
            tuple(map(tuple, merges)),
            None if names is None else {int(cluster): str(name) for cluster, name in names.items()},
        )

    @classmethod
    def read(cls, path: str | Path) -> Edits:
        """The edits of a file that a page saved."""
        try:
            document = json.loads(Path(path).read_text("utf-8"))
        except OSError as error:
            raise ParameterError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
        except ValueError:
            raise ParameterError(
                f"{str(path)!r} is not JSON. Give the clusters.json that a page of catalpa explore saved."
            ) from None
        return cls.of(document)

    def number_to_fit(self, *, has_levels: bool) -> int:
        """The number of clusters to fit before the edits are applied.

        Levels of a merge tree come from the fit of the model; other numbers need a separate fit.
        """
        is_level = self.n_clusters == self.model_clusters or (
            has_levels and self.n_clusters < self.model_clusters
        )
        return self.fitted_clusters if is_level else self.n_clusters

    def split(self, model: Any, X: Any, sample_weight: Any = None) -> Any:
        """The model after the splits of the page."""
        if self.n_clusters > self.model_clusters:
            return model  # the page showed a separate fit
        for cluster in self.splits:
            if not hasattr(model, "split"):
                raise ParameterError("Only clusters of Grove can be split.")
            model = model.split(cluster, X, sample_weight=sample_weight)
        return model

    def apply(self, model: Any) -> Clusterer:
        """Apply the number of clusters, the merges and the names of the page to the model."""
        k = int(model.n_clusters_)
        if self.n_clusters != k:
            if not hasattr(model, "cut") or k != self.model_clusters or self.n_clusters > k:
                raise ParameterError(
                    f"The edits are for {self.n_clusters} clusters, but the model has {k}. "
                    f"Fit it with -k {self.n_clusters}, or save the edits of {k} clusters."
                )
            model = model.cut(self.n_clusters)
        groups: list[tuple[int, ...]] = [(cluster,) for cluster in range(self.n_clusters)]
        for parts in self.merges:
            if not hasattr(model, "merge"):
                raise ParameterError("Only clusters of Grove can be merged in a model.")
            at = [place for place, group in enumerate(groups) if set(group) & set(parts)]
            model = model.merge(at)
            rest = [(group[0], group) for place, group in enumerate(groups) if place not in at]
            union = tuple(sorted(cluster for place in at for cluster in groups[place]))
            groups = [group for _, group in sorted([(groups[at[0]][0], union), *rest])]
        model = copy(model)  # the model of the page keeps its own names
        if self.names is not None:
            place_of = {cluster: place for place, group in enumerate(groups) for cluster in group}
            named = {place_of[cluster]: name for cluster, name in self.names.items() if cluster in place_of}
            model.name_clusters({place: named.get(place) for place in range(len(groups))})
        return cast("Clusterer", model)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _are_clusters(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in values
    )
