"""Names that people give to clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from catalpa.errors import ParameterError
from catalpa.estimator.fitted import Fitted, fitted_of

__all__ = ["Named", "all_names", "named"]

LONGEST = 80  # letters of a name; it stands in tables and beside points


class Named:
    """The part of an estimator that knows what its clusters are called."""

    _fitted: Fitted

    def name_clusters(self, names: Mapping[int, str | None]) -> Self:
        """Give clusters names, which reports, charts, SQL queries and the model file then carry.

        Labels stay numbers. Names given before stay, None takes one away, and another ``fit`` begins without.

        Parameters
        ----------
        names : mapping of int to str
            Name of each cluster that is to have one; no two the same.

        Returns
        -------
        self

        Examples
        --------
        >>> import catalpa
        >>> model = catalpa.KModes(2, random_state=0).fit([["a", "x"], ["b", "y"]])
        >>> model.name_clusters({0: "first letters"}).cluster_names_
        ['first letters', '1']
        """
        fitted = fitted_of(self)
        self._fitted = replace(fitted, names=named(fitted.names, names, fitted.outcome.k))
        return self

    @property
    def cluster_names_(self) -> list[str]:
        """What each cluster is called: its name, or else its number."""
        fitted = fitted_of(self)
        return all_names(fitted.names, fitted.outcome.k)


def named(before: Mapping[int, str], given: Any, k: int) -> dict[int, str]:
    """The names of clusters after some are given; None takes one away.

    Parameters
    ----------
    before : mapping of int to str
        Names so far, which stay where none is given.
    given : mapping of int to str or None
    k : int
        Number of clusters.

    Examples
    --------
    >>> named({0: "fish"}, {1: "birds"}, 3)
    {0: 'fish', 1: 'birds'}
    >>> named({0: "fish"}, {0: None}, 3)
    {}
    """
    if not isinstance(given, Mapping):
        raise ParameterError(f'names is {given!r:.80}; give a dictionary such as {{0: "sea mammals"}}.')
    # numpy's whole numbers too: clusters are read from labels_.
    unknown = [cluster for cluster in given if not _is_cluster(cluster, k)]
    if unknown:
        raise ParameterError(f"names has {unknown}, which are no clusters: these are 0 to {k - 1}.")
    merged: dict[int, Any] = {**before, **{int(cluster): name for cluster, name in given.items()}}
    names = {cluster: _name(name, cluster) for cluster, name in sorted(merged.items()) if name is not None}
    taken: dict[str, int] = {}
    # The number of a cluster without a name stands for it, so no other cluster can have that as its name.
    for cluster, name in enumerate(all_names(names, k)):
        if name in taken:
            raise ParameterError(
                f"Clusters {taken[name]} and {cluster} would both be called {name!r}. "
                "Give each a name of its own."
            )
        taken[name] = cluster
    return names


def all_names(names: Mapping[int, str], k: int) -> list[str]:
    """A text for every cluster: its name, or else its number."""
    return [names.get(cluster, str(cluster)) for cluster in range(k)]


def _is_cluster(cluster: Any, k: int) -> bool:
    try:
        return not isinstance(cluster, bool) and 0 <= cluster < k and cluster == int(cluster)
    except (TypeError, ValueError):
        return False


def _name(name: Any, cluster: int) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ParameterError(f"The name of cluster {cluster} is {name!r:.80}; give a text on one line.")
    if len(name.strip()) > LONGEST:
        raise ParameterError(
            f"The name of cluster {cluster} has {len(name.strip())} letters; {LONGEST} at most can be shown."
        )
    return name.strip()
