"""Any methods on the user's own table, with the same measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from catalpa.errors import ParameterError, UnknownColumn
from catalpa.lab.estimators import is_by_chance, method_name
from catalpa.lab.measure import measured
from catalpa.lab.protocol import Entry
from catalpa.lab.published import HIGHER_IS_BETTER

MEASURES = list(HIGHER_IS_BETTER)


def compare(
    frame: pd.DataFrame,
    target: str,
    methods: Sequence[str],
    *,
    seeds: int = 20,
    n_clusters: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Run methods with several seeds on a table with known classes.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, with the classes in one of its columns.
    target : str
        That column; methods do not see it.
    methods : list of str
        Names of methods; ``"stepmix"`` (latent class analysis, needs that package) or ``"mca-kmeans"``
        (k-means on leading axes); or ``"package.module:Class"`` for any scikit-learn clusterer. Each is run
        once, however often and by whichever of its names it is given.
    seeds : int
        Seeds 0, 1, ..., seeds - 1; a method that takes no seed is run once.
    n_clusters : int, optional
        By default the number of classes.
    watch : callable, optional
        Called with the number of finished runs and of all runs.

    Returns
    -------
    pandas.DataFrame
        One row per method and seed: ``method``, ``seed``, the measures, ``clusters_left``,
        ``largest_share``, ``one_cluster`` (the ACC of all rows in one cluster), ``cost``, ``passes``,
        ``seconds`` and ``error``.

    Examples
    --------
    >>> import catalpa.datasets
    >>> zoo = catalpa.datasets.load("zoo")
    >>> runs = compare(zoo.frame.assign(kind=zoo.target), "kind", ["kmodes"], seeds=2)
    >>> runs[["method", "seed", "clusters_left"]].values.tolist()
    [['kmodes', 0, 7], ['kmodes', 1, 7]]
    """
    if target not in frame.columns:
        raise UnknownColumn(
            f"target={target!r} is not a column of the table. Its columns are {list(frame.columns)}."
        )
    if seeds < 1 or not methods:
        raise ParameterError(f"seeds={seeds} and {len(methods)} methods: give at least one of each.")
    if frame[target].isna().any():
        raise ParameterError(
            f"The column {target!r} has missing classes in {int(frame[target].isna().sum())} rows. "
            "Leave those rows out first."
        )
    classes, table = frame[target], frame.drop(columns=target)
    if classes.nunique() < 2:
        raise ParameterError(
            f"The column {target!r} has fewer than two classes, so that there is nothing for a clustering to "
            "agree with. Name a column that tells rows apart."
        )
    k = int(classes.nunique()) if n_clusters is None else n_clusters
    # By the registry's names, or k-modes and kmodes would be run twice.
    names = list(dict.fromkeys(map(method_name, methods)))
    plan = [(name, seed) for name in names for seed in range(seeds if is_by_chance(name) else 1)]
    rows = []
    for name, seed in plan:
        # A run that fails is a row too: one method must not end the comparison of the others.
        row = measured(Entry(name, "default"), table, classes, k, seed)
        rows.append({"method": name, "seed": seed, **row})
        if watch is not None:
            watch(len(rows), len(plan))
    wanted = ["method", "seed", *MEASURES, "clusters_left", "largest_share", "one_cluster"]
    return pd.DataFrame(rows).reindex(columns=[*wanted, "cost", "passes", "seconds", "error"])


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread of each method over its seeds, best ARI first.

    Indexed by method; ``ARI`` and so on are means, ``ARI_std`` their spread.
    """
    groups = runs.groupby("method", sort=False)
    means = groups[[*MEASURES, "clusters_left", "largest_share", "one_cluster", "seconds"]].mean()
    # Over these seeds, not an estimate for others: a single run has the spread 0, not NaN.
    spreads = groups[MEASURES].std(ddof=0).add_suffix("_std")
    counts = groups.agg(runs=("seed", "size"), failed=("error", lambda errors: int((errors != "").sum())))
    # By ARI, which chance does not lift; stable, so that ties keep the order in which methods were named.
    return pd.concat([means, spreads, counts], axis=1).sort_values("ARI", ascending=False, kind="stable")
