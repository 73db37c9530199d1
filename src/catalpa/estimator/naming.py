"""Names that people give to clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from catalpa.errors import ParameterError
from catalpa.estimator.attributes import reasons_of
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.relations.names import category_names, figure, shortened
from catalpa.relations.reasons import NumberReason, Reason

TRAITS, MOST_TRAITS = 2, 5  # reasons in a name that is suggested, and where names would be the same
YES, NO = ("1", "yes", "true", "y"), ("0", "no", "false", "n")
LONGEST = 80  # letters of a name; it stands in tables and beside points


class ClusterNamesMixin:
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

    def suggest_names(self) -> dict[int, str]:
        """A short name for every cluster, from what sets it apart, for ``name_clusters`` to take or change.

        Returns
        -------
        dict of int to str

        Examples
        --------
        >>> import catalpa
        >>> rows = [["red", "yes"]] * 9 + [["blue", "no"]] * 9
        >>> model = catalpa.KModes(2, random_state=0).fit(rows)
        >>> sorted(model.suggest_names().values())
        ['blue, no x1', 'red, x1']
        """
        fitted = fitted_of(self)
        named = [set(category_names(column.categories)) for column in fitted.schema.categorical]
        texts = Counter(text for of_column in named for text in of_column)
        shared = {text for text, columns in texts.items() if columns > 1}
        return suggested(reasons_of(fitted, MOST_TRAITS), shared)

    @property
    def cluster_names_(self) -> list[str]:
        """What each cluster is called: its name, or else its number."""
        fitted = fitted_of(self)
        return all_names(fitted.names, fitted.outcome.k)


def suggested(found: Sequence[Sequence[Reason]], shared: Container[str] = ()) -> dict[int, str]:
    """A name for every cluster from its reasons: two of them, and more where two clusters would be one.

    Categories in ``shared`` are those of several columns, so that the column has to be said.
    """
    names: dict[int, str] = {}
    for cluster, of_cluster in enumerate(found):
        traits = [_trait(one, shared) for one in of_cluster] or [f"cluster {cluster}"]
        # What a cluster has comes before what it lacks.
        traits.sort(key=lambda trait: trait.startswith("no "))
        tried = [", ".join(traits[:most]) for most in range(min(TRAITS, len(traits)), len(traits) + 1)]
        printed = ("".join(one if one.isprintable() else " " for one in name).strip() for name in tried)
        tried = [shortened(name, LONGEST) for name in printed]
        free = [name for name in tried if name not in names.values()]
        names[cluster] = free[0] if free else f"{shortened(tried[0], LONGEST - 10)} ({cluster})"
    return names


def _trait(reason: Reason, shared: Container[str]) -> str:
    """A reason in a word or two."""
    if isinstance(reason, NumberReason):
        if not reason.far:
            return f"{reason.column} near {figure(reason.mean)}"
        return f"{'high' if reason.shift > 0 else 'low'} {reason.column}"
    answer = reason.category.casefold()
    if answer in YES + NO:  # the question says more than the answer
        return reason.column if (answer in YES) != reason.rare else f"no {reason.column}"
    # A word says what it is; a number, a missing cell or an answer to several questions needs its column.
    alone = reason.category[:1].isalpha() and reason.category not in shared
    told = reason.category if alone else f"{reason.column} {reason.category}"
    return f"no {told}" if reason.rare else told


def named(before: Mapping[int, str], given: Any, k: int) -> dict[int, str]:
    """The names of clusters after some are given; None takes one away.

    Names from ``before`` stay where none is given.

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
