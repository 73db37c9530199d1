"""Names of clusters, given by users or suggested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from catalpa.errors import ParameterError
from catalpa.estimator.attributes import reasons_of
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.explain.batteries import items_of_questions
from catalpa.explain.formatting import category_names, figure, shortened
from catalpa.explain.reasons import NumberReason, Reason
from catalpa.table.gap_blocks import UP_TO

TRAITS, MOST_TRAITS = 2, 5  # reasons in a suggested name, and at most if names would be equal
YES, NO = ("1", "yes", "true", "y"), ("0", "no", "false", "n")
LONGEST = 80  # characters of a name, which is shown in tables and charts


class ClusterNamesMixin:
    """Methods of an estimator for names of clusters."""

    _fitted: Fitted

    def name_clusters(self, names: Mapping[int, str | None]) -> Self:
        """Name or rename clusters; reports, charts, SQL queries and the model file use the names.

        Labels stay integers. Earlier names are kept unless they are replaced, None removes a name, and
        ``fit`` removes all.

        Parameters
        ----------
        names : mapping of int to str
            New names by cluster number; names must be unique.

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
        """Suggest a short name for every cluster from its reasons, to edit and pass to ``name_clusters``.

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
        items = items_of_questions(fitted.schema.names)
        return suggested(reasons_of(fitted, MOST_TRAITS), shared, items)

    @property
    def cluster_names_(self) -> list[str]:
        """The name of each cluster, or its number as text."""
        fitted = fitted_of(self)
        return all_names(fitted.names, fitted.outcome.k)


def suggested(
    reasons: Sequence[Sequence[Reason]],
    shared: Container[str] = (),
    items: Mapping[str, tuple[str, str]] | None = None,
) -> dict[int, str]:
    """A name for every cluster from two of its reasons, or more if names would be equal.

    Categories in ``shared`` occur in several columns, so that the name needs the column. ``items`` has the
    question and the item of columns that share a question.
    """
    names: dict[int, str] = {}
    for cluster, of_cluster in enumerate(reasons):
        traits = _traits(of_cluster, shared, items or {}) or [f"cluster {cluster}"]
        # Common categories come before absent ones.
        traits.sort(key=lambda trait: trait.startswith("no "))
        texts = [", ".join(traits[:most]) for most in range(min(TRAITS, len(traits)), len(traits) + 1)]
        printed = ("".join(one if one.isprintable() else " " for one in name).strip() for name in texts)
        texts = [shortened(name, LONGEST) for name in printed]
        free = [name for name in texts if name not in names.values()]
        names[cluster] = free[0] if free else f"{shortened(texts[0], LONGEST - 10)} ({cluster})"
    return names


def _traits(
    reasons: Sequence[Reason], shared: Container[str], items: Mapping[str, tuple[str, str]]
) -> list[str]:
    """Short texts for the reasons of a cluster; a category that occurs in several columns is used once."""
    texts = Counter(getattr(one, "category", "") for one in reasons if not one.rare)
    traits = []
    for one in reasons:
        text = getattr(one, "category", "")
        repeated = texts[text] > 1 and not one.rare and text.casefold() not in YES + NO
        if repeated and one.missing:
            trait = "many missing values"
        elif repeated and text[:1].isalpha():
            trait = text
        else:
            column = one.title or items.get(one.column, ("", one.column))[1]
            trait = _trait(one, column, shared)
        if trait not in traits:
            traits.append(trait)
    return traits


def _trait(reason: Reason, column: str, shared: Container[str]) -> str:
    """A short text for a reason that includes the name of its column if needed."""
    if isinstance(reason, NumberReason):
        if not reason.far:
            return f"{column} near {figure(reason.mean, reason.sd)}"
        return f"{'high' if reason.shift > 0 else 'low'} {column}"
    if reason.missing:
        return f"{column} {'given' if reason.rare else 'missing'}"
    if reason.column.endswith(UP_TO):
        return f'{"stopped before" if reason.rare else "answered up to"} "{reason.category}"'
    answer = reason.category.casefold()
    if answer in YES + NO:  # the column is more informative than the answer
        is_yes = (answer in YES) != reason.rare
        if column.endswith("?"):  # a question needs its answer
            return f"{column} {'Yes' if is_yes else 'No'}"
        return column if is_yes else f"no {column}"
    # A unique word is clear by itself; numbers and ambiguous categories need their column.
    alone = reason.category[:1].isalpha() and reason.category not in shared
    trait = reason.category if alone else f"{column} {reason.category}"
    return f"no {trait}" if reason.rare else trait


def named(before: Mapping[int, str], new_names: Any, k: int) -> dict[int, str]:
    """Update names of clusters; None removes a name.

    Names in ``before`` are kept unless they are replaced.

    Examples
    --------
    >>> named({0: "fish"}, {1: "birds"}, 3)
    {0: 'fish', 1: 'birds'}
    >>> named({0: "fish"}, {0: None}, 3)
    {}
    """
    if not isinstance(new_names, Mapping):
        raise ParameterError(f'names is {new_names!r:.80}; give a dictionary such as {{0: "sea mammals"}}.')
    # NumPy integers too, because clusters are read from labels_.
    unknown = [cluster for cluster in new_names if not _is_cluster(cluster, k)]
    if unknown:
        raise ParameterError(f"names contains {unknown}, but the clusters are 0 to {k - 1}.")
    merged: dict[int, Any] = {**before, **{int(cluster): name for cluster, name in new_names.items()}}
    names = {cluster: _name(name, cluster) for cluster, name in sorted(merged.items()) if name is not None}
    owner: dict[str, int] = {}
    # The number of an unnamed cluster is its name, so no other cluster can have it.
    for cluster, name in enumerate(all_names(names, k)):
        if name in owner:
            raise ParameterError(
                f"Clusters {owner[name]} and {cluster} would both be called {name!r}. "
                "Give each a unique name."
            )
        owner[name] = cluster
    return names


def all_names(names: Mapping[int, str], k: int) -> list[str]:
    """The name of every cluster, or its number as text."""
    return [names.get(cluster, str(cluster)) for cluster in range(k)]


def free_names(names: Mapping[int, str], k: int) -> dict[int, str]:
    """Names that are neither the number of an unnamed cluster nor the name of an earlier one."""
    free: dict[int, str] = {}
    numbers = {str(cluster) for cluster in range(k) if cluster not in names}
    for cluster, name in sorted(names.items()):
        if name not in numbers and name not in free.values():
            free[cluster] = name
    return free


def _is_cluster(cluster: Any, k: int) -> bool:
    try:
        return not isinstance(cluster, bool) and 0 <= cluster < k and cluster == int(cluster)
    except (TypeError, ValueError):
        return False


def _name(name: Any, cluster: int) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ParameterError(f"The name of cluster {cluster} is {name!r:.80}; pass a string on one line.")
    if len(name.strip()) > LONGEST:
        raise ParameterError(
            f"The name of cluster {cluster} has {len(name.strip())} characters; the maximum is {LONGEST}."
        )
    return name.strip()
