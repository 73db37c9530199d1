"""The idea of every method in a picture: the same twenty shirts, and what the method learned about them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from pictures import Colours

import catalpa
from catalpa.plot.theme import cluster_colour

SHIRTS = pd.DataFrame(
    [
        ("red", "slim", "large", 34),
        ("red", "slim", "small", 35),
        ("red", "slim", "small", 39),
        ("crimson", "slim", "small", 43),
        ("red", "slim", "medium", 26),
        ("blue", "slim", "small", 28),
        ("crimson", "slim", "small", 40),
        ("crimson", "slim", "small", 43),
        ("red", "slim", "small", 30),
        ("red", "slim", "medium", 31),
        ("red", "slim", "small", 41),
        ("blue", "slim", "large", 47),
        ("blue", "wide", "large", 44),
        ("blue", "wide", "medium", 56),
        ("navy", "wide", "large", 43),
        ("blue", "wide", "large", 47),
        ("blue", "wide", "large", 52),
        ("blue", "wide", "medium", 50),
        ("blue", "wide", "large", 39),
        ("blue", "wide", "large", 38),
    ],
    columns=["colour", "cut", "size", "price"],
)
WORDS = ["colour", "cut", "size"]
DYES = ["crimson", "red", "navy", "blue"]


def fitted(name: str, columns: list[str], **settings: Any) -> Any:
    """The method, fitted to the shirts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twenty rows are few, which is the point of a picture
        return getattr(catalpa, name)(**settings).fit(SHIRTS[columns])


def table(model: Any, columns: list[str], colours: Colours) -> Any:
    """The shirts, sorted by cluster; the stripe at the left is the cluster."""
    order = np.argsort(model.labels_, kind="stable")
    cells = [
        {"row": place, "column": name, "cell": str(SHIRTS[name][row]), "cluster": int(model.labels_[row])}
        for place, row in enumerate(order)
        for name in columns
    ]
    k = int(model.labels_.max()) + 1
    paint = alt.Scale(domain=list(range(k)), range=[cluster_colour(cluster) for cluster in range(k)])
    base = alt.Chart(pd.DataFrame(cells)).encode(
        y=alt.Y("row:O", axis=None),
        x=alt.X("column:N", sort=columns, title=None, axis=alt.Axis(labelAngle=0, orient="top")),
    )
    back = base.mark_rect(opacity=0.28).encode(color=alt.Color("cluster:O", scale=paint, legend=None))
    words = base.mark_text(fontSize=11, color=colours.ink).encode(text="cell:N")
    return (back + words).properties(width=68 * len(columns), height=320, title="the clusters")


def matrix(distances: np.ndarray, title: str, colours: Colours) -> Any:
    """How far apart the four colours are taken to be."""
    cells = [
        {"from": a, "to": b, "distance": float(distances[i, j])}
        for i, a in enumerate(DYES)
        for j, b in enumerate(DYES)
    ]
    base = alt.Chart(pd.DataFrame(cells), title=title).encode(
        x=alt.X("from:N", sort=DYES, title=None, axis=alt.Axis(labelAngle=0, orient="top")),
        y=alt.Y("to:N", sort=DYES, title=None),
    )
    shade = alt.Scale(range=[colours.page, "#c2703d"], domainMin=0)
    back = base.mark_rect(stroke=colours.line).encode(color=alt.Color("distance:Q", scale=shade, legend=None))
    words = base.mark_text(fontSize=12, color=colours.ink).encode(text=alt.Text("distance:Q", format=".2f"))
    return (back + words).properties(width=212, height=120)


def beside(left: Any, *right: Any) -> Any:
    """The table, and beside it what was learned."""
    return alt.hconcat(left, alt.vconcat(*right, spacing=28), spacing=44).resolve_scale(color="independent")


def with_distances(name: str, colours: Colours, *, every_cluster: bool = False) -> Any:
    """Distances of the colours, learned for all clusters together or for each."""
    model = fitted(name, WORDS, n_clusters=2, random_state=0)
    shown = []
    for cluster in range(2 if every_cluster else 1):
        relation = model.relations_[cluster, "colour"]
        places = [list(relation.categories).index(dye) for dye in DYES]
        title = f"colours apart in cluster {cluster}" if every_cluster else "colours apart, in every cluster"
        shown.append(matrix(np.asarray(relation.distances)[np.ix_(places, places)], title, colours))
    return beside(table(model, WORDS, colours), *shown)


def kmodes(colours: Colours) -> Any:
    """Equal or different, nothing else."""
    model = fitted("KModes", WORDS, n_clusters=2, random_state=0)
    return beside(
        table(model, WORDS, colours), matrix(1 - np.eye(4), "colours apart, by definition", colours)
    )


def kprototypes(colours: Colours) -> Any:
    """The number joins in: prices of the clusters and their means."""
    columns = ["colour", "cut", "price"]
    model = fitted("KPrototypes", columns, n_clusters=2, random_state=0)
    rows = SHIRTS.assign(cluster=model.labels_)
    paint = alt.Color(
        "cluster:O", scale=alt.Scale(domain=[0, 1], range=[cluster_colour(0), cluster_colour(1)]), legend=None
    )
    axis = alt.X("price:Q", scale=alt.Scale(zero=False), title="price")
    dots = (
        alt.Chart(rows)
        .mark_circle(size=60)
        .encode(x=axis, y=alt.Y("cluster:O", title="cluster"), color=paint)
    )
    means = model.cluster_centers_[["price"]].reset_index(names="cluster").astype(float)
    ticks = alt.Chart(means).mark_tick(thickness=3, size=30, color=colours.ink).encode(x=axis, y="cluster:O")
    costs = pd.DataFrame(
        {
            "part": ["differing categories", "prices"],
            "share": [model.balance_["categorical"], model.balance_["numeric"]],
        }
    )
    bars = alt.Chart(costs, title="what the cost is made of").mark_bar(color="#c2703d", height=16)
    bars = bars.encode(
        x=alt.X("share:Q", axis=alt.Axis(format="%"), title=None), y=alt.Y("part:N", title=None)
    )
    prices = (dots + ticks).properties(width=212, height=80, title="prices and their means")
    return beside(table(model, columns, colours), prices, bars.properties(width=212, height=60))


def with_weights(name: str, colours: Colours) -> Any:
    """What a column weighs in a cluster."""
    model = fitted(name, WORDS, n_clusters=2, **({"random_state": 0} if name == "HARR" else {}))
    weights = model.weights_.reset_index(drop="cluster" in model.weights_)
    long = weights.rename(columns={"index": "cluster"}).melt("cluster", WORDS, "column", "weight")
    base = alt.Chart(long, title="weight of each column in each cluster").encode(
        x=alt.X("column:N", sort=WORDS, title=None, axis=alt.Axis(labelAngle=0, orient="top")),
        y=alt.Y("cluster:O", title="cluster"),
    )
    shade = alt.Scale(range=[colours.page, "#c2703d"], domainMin=0)
    back = base.mark_rect(stroke=colours.line).encode(color=alt.Color("weight:Q", scale=shade, legend=None))
    words = base.mark_text(fontSize=12, color=colours.ink).encode(text=alt.Text("weight:Q", format=".2f"))
    return beside(table(model, WORDS, colours), (back + words).properties(width=212, height=70))


def mcdc(colours: Colours) -> Any:
    """Partitions from fine to coarse, and their weights."""
    model = fitted("MCDC", WORDS, n_clusters=2, random_state=0)
    order = np.argsort(model.labels_, kind="stable")
    stages = [f"{k} clusters" for k in model.granularities_]
    names = [
        f"{stage}, weight {weight:.2f}"
        for stage, weight in zip(stages, model.granularity_weights_, strict=True)
    ]
    cells = [
        {"row": place, "partition": name, "cluster": str(model.granularity_labels_[row, at])}
        for at, name in enumerate(names)
        for place, row in enumerate(order)
    ]
    base = alt.Chart(pd.DataFrame(cells), title="partitions, fine to coarse").encode(
        y=alt.Y("row:O", axis=None),
        x=alt.X("partition:N", sort=names, title=None, axis=alt.Axis(orient="top", labelAngle=-25)),
    )
    paint = alt.Scale(domain=[str(c) for c in range(8)], range=[cluster_colour(c) for c in range(8)])
    back = base.mark_rect(opacity=0.45).encode(color=alt.Color("cluster:N", scale=paint, legend=None))
    words = base.mark_text(fontSize=11, color=colours.ink).encode(text="cluster:N")
    return beside(table(model, WORDS, colours), (back + words).properties(width=90 * len(names), height=320))


def sigdt(colours: Colours) -> Any:
    """The questions that lead to each cluster."""
    model = fitted("SigDT", WORDS)
    rules = model.rules_.assign(words=lambda found: found["rule"].astype(str))
    base = alt.Chart(rules, title="the rule of each cluster").encode(y=alt.Y("cluster:O", title="cluster"))
    words = base.mark_text(align="left", fontSize=12, color=colours.ink).encode(
        text="words:N", x=alt.value(0)
    )
    return beside(table(model, WORDS, colours), words.properties(width=212, height=26 * len(rules)))


METHODS_DRAWN: dict[str, Callable[[Colours], Any]] = {
    "kmodes": kmodes,
    "kprototypes": kprototypes,
    "wocil": partial(with_weights, "WOCIL"),
    "harr": partial(with_weights, "HARR"),
    "mcdc": mcdc,
    "sigdt": sigdt,
    "disc": partial(with_distances, "DISC", every_cluster=True),
    "cbdm": partial(with_distances, "CBDM"),
    "cdcdr": partial(with_distances, "CDCDR"),
    "cure": partial(with_distances, "CURE"),
    "hdc": partial(with_distances, "HDC"),
    "coforest": partial(with_distances, "CoForest"),
}
