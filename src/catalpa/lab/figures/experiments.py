"""The data of the published figures, measured piece by piece."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from catalpa.datasets import load
from catalpa.datasets.synthetic import make_categorical
from catalpa.explain.relations import Relations
from catalpa.lab.estimators import fitted
from catalpa.lab.figures.pieces import Pieces
from catalpa.lab.figures.random_relations import STRATEGIES, cluster_with
from catalpa.lab.protocol import Entry, Protocol
from catalpa.metrics import adjusted_rand, clustering_accuracy
from catalpa.table import encode
from catalpa.table.blocks import FloatArray, IntArray

Cluster: TypeAlias = Callable[[pd.DataFrame, int, int], IntArray]  # of a table, k and a seed

# Enough for every method to load what it needs.
WARM_UP_ROWS = 100
PASS_COLUMNS = ["dataset", "variant", "number", "phase", "cost", "moved", "relearned", "clusters"]


def quick_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the figures made small: five draws, and two small sizes for each line."""
    small = {"rows": [500, 1000], "columns": [10, 20], "rows_columns": 10, "columns_rows": 500}
    changed: dict[str, dict[str, Any]] = {
        "relations": {"draws": 5},
        "seconds": small,
        "seeds": {"seeds": 5, "fewer": {}},
        "claims": {"starts": 2},
    }
    return {**settings, **{name: {**settings[name], **change} for name, change in changed.items()}}


def random_relations(protocol: Protocol) -> Pieces:
    """Figure 1: k-modes with random relations, and DISC; a row per data set, strategy and draw."""
    settings = protocol.figures["relations"]
    draws = settings["draws"]
    # As the published program reads the paper: the box of the paper's figure is its.
    disc = next(entry for entry in protocol.entries if (entry.method, entry.variant) == ("disc", "program"))
    strategies: dict[str, Cluster] = {name: partial(cluster_with, name) for name in STRATEGIES}
    strategies["DISC"] = lambda frame, k, seed: np.asarray(fitted(disc, frame, k, seed).labels_)
    return {
        f"{name}, {strategy}, {draws} draws": partial(_drawn, name, strategy, cluster, draws)
        for name in settings["data"]
        for strategy, cluster in strategies.items()
    }


def _drawn(name: str, strategy: str, cluster: Cluster, draws: int) -> pd.DataFrame:
    data = load(name)
    rows: list[dict[str, Any]] = []
    for draw in range(draws):
        labels = cluster(data.frame, data.n_clusters, draw)
        accuracy, rand = clustering_accuracy(data.target, labels), adjusted_rand(data.target, labels)
        key = {"dataset": name, "k": data.n_clusters, "strategy": strategy, "draw": draw}
        rows.append({**key, "ACC": accuracy, "ARI": rand})
    return pd.DataFrame(rows)


def convergence(protocol: Protocol) -> Pieces:
    """Figure 2: cost of every pass of DISC, in the reading of the equations and of the program."""
    data, seed = protocol.figures["convergence"]["data"], protocol.figures["convergence"]["seed"]
    return {
        f"{name}, {entry.variant}, seed {seed}": partial(_passes, name, entry, seed)
        for name, entry in itertools.product(data, protocol.entries)
        if entry.method == "disc" and entry.variant in ("equations", "program")
    }


def _passes(name: str, entry: Entry, seed: int) -> pd.DataFrame:
    data = load(name)
    history = fitted(entry, data.frame, data.n_clusters, seed).history_
    facts = {"dataset": name, "variant": entry.variant, "number": range(1, len(history) + 1)}
    return pd.DataFrame(history.assign(**facts), columns=PASS_COLUMNS)


def seconds(protocol: Protocol) -> Pieces:
    """Figure 3: seconds of a fit on planted clusters, against rows and against columns."""
    settings = protocol.figures["seconds"]
    sizes = [("rows", n, settings["rows_columns"]) for n in settings["rows"]]
    sizes += [("columns", settings["columns_rows"], columns) for columns in settings["columns"]]
    shape = settings["categories"], settings["clusters"]
    pieces = {}
    for (against, n, columns), (name, entry) in itertools.product(sizes, _shown(protocol)):
        size = f"{n} rows, {columns} columns, {shape[0]} categories, {shape[1]} clusters"
        measure = partial(_timed_fit, name, entry, against, (n, columns), shape)
        pieces[f"{name}, {size}, {against}"] = measure
    return pieces


def _timed_fit(
    name: str, entry: Entry, against: str, size: tuple[int, int], shape: tuple[int, int]
) -> pd.DataFrame:
    (n, columns), (categories, clusters) = size, shape
    planted = make_categorical(n, columns=columns, categories=categories, clusters=clusters)
    seconds, message = float("nan"), ""
    try:
        # What a method loads when it is first used is no part of its growth.
        fitted(entry, planted.frame.head(WARM_UP_ROWS), clusters, 0)
        began = time.perf_counter()
        fitted(entry, planted.frame, clusters, 0)
        seconds = time.perf_counter() - began
    except Exception as error:  # a method that cannot take a size leaves a gap in the figure
        message = f"{type(error).__name__}: {error}"
    facts = {"against": against, "method": name, "rows": n, "columns": columns}
    return pd.DataFrame([{**facts, "seconds": seconds, "error": message}])


def slopes(frame: pd.DataFrame) -> pd.DataFrame:
    """Exponent of the growth of seconds for each method, by least squares on log axes."""
    records = []
    for (against, method), part in frame.dropna(subset="seconds").groupby(["against", "method"], sort=False):
        if part[against].nunique() > 1:
            line = np.polyfit(np.log(part[against]), np.log(part["seconds"]), 1)
            records.append({"against": against, "method": method, "slope": float(line[0])})
    return pd.DataFrame(records, columns=["against", "method", "slope"])


def embedding(protocol: Protocol) -> Pieces:
    """Figure 4: rows in the plane by t-SNE of the distances that methods learned."""
    settings = protocol.figures["embedding"]
    data, seed = settings["data"], settings["seed"]
    return {
        f"{data}, {name}, seed {seed}": partial(_placed, data, name, entry, seed)
        for name, entry in _shown(protocol)
        if entry.method in settings["methods"]
    }


def _placed(dataset: str, name: str, entry: Entry, seed: int) -> pd.DataFrame:
    from sklearn.manifold import TSNE

    data = load(dataset)
    model = fitted(entry, data.frame, data.n_clusters, seed)
    distances = row_distances(model, data.frame)
    tsne = TSNE(
        # Distances of rows are given; t-SNE can then start from random places only.
        metric="precomputed",
        init="random",
        random_state=seed,
        perplexity=min(30.0, (len(distances) - 1) / 3),
    )
    places = tsne.fit_transform(distances)
    points = {"x": places[:, 0], "y": places[:, 1], "class": data.target.to_numpy(), "cluster": model.labels_}
    return pd.DataFrame(points).assign(method=name, **discrimination(distances, data.target.to_numpy()))


def discrimination(distances: FloatArray, classes: NDArray[Any]) -> dict[str, float]:
    """How well distances of rows (n, n) separate known classes.

    ``neighbour`` is the share of rows whose nearest other row is of their class (ties count in part),
    ``silhouette`` the mean silhouette width of the classes.

    Examples
    --------
    >>> apart = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 5.0, 0.0]])
    >>> discrimination(apart, np.array(["a", "a", "b"]))["neighbour"]
    0.6666666666666666
    """
    from sklearn.metrics import silhouette_score

    others = distances + np.diag(np.full(len(distances), np.inf))
    nearest = np.isclose(others, others.min(axis=1, keepdims=True))
    same = classes[:, None] == classes
    hits = (nearest & same).sum(axis=1) / nearest.sum(axis=1)
    width = silhouette_score(distances, classes, metric="precomputed")
    return {"neighbour": float(hits.mean()), "silhouette": float(width)}


def row_distances(model: Any, frame: pd.DataFrame) -> FloatArray:  # (n, n)
    """Distance of every two rows: learned distances of their categories, added over the columns.

    Relations that differ between clusters are averaged with the clusters' sizes.
    """
    relations: Relations = model.relations_
    codes = np.concatenate([block.codes for block in encode(frame, model.schema_).rows])
    weights = np.asarray(model.cluster_sizes_, dtype=float) / np.sum(model.cluster_sizes_)
    total = np.zeros((len(codes), len(codes)))
    for column, cells in enumerate(codes.T):
        averaged = sum(share * relations[at, column].distances for at, share in enumerate(weights))
        total += np.asarray(averaged)[np.ix_(cells, cells)]
    return total


def _shown(protocol: Protocol) -> Sequence[tuple[str, Entry]]:
    """One variant of every method in Table 2."""
    # The ranked one, as in the table: a method is one line of a figure.
    return [(place.label, entry) for place, entry in protocol.shown_in("2") if place.ranked]
