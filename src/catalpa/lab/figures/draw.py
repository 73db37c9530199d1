"""The published figures as charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from catalpa.errors import OutputError
from catalpa.files import reraise_as
from catalpa.lab.figures import experiments
from catalpa.lab.figures.pieces import Pieces
from catalpa.lab.figures.seeds import ranks_of_seeds, seed_places
from catalpa.lab.protocol import Protocol, read_protocol
from catalpa.lab.significance import Significance
from catalpa.plot.theme import INK, MUTED, PALETTE, alt, themed

# Methods beyond the eighth take the colours again, with another dash.
DASHES = [[1, 0], [6, 3], [2, 2]]
BINS = 30  # of a distribution over seeds
DECADES = [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000]  # of seconds


@dataclass(frozen=True)
class Figure:
    """The pieces that a figure's data are made of, and how they are drawn."""

    name: str  # of its settings in the protocol
    pieces: Callable[[Protocol], Pieces]
    draw: Callable[[pd.DataFrame], Any]


def draw_relations(frame: pd.DataFrame) -> Any:
    """Figure 1: box plots of ACC by strategy, a panel per data set."""
    strategies = list(frame["strategy"].unique())
    panel = frame["dataset"] + " (k = " + frame["k"].astype(str) + ")"
    colours = alt.Scale(domain=strategies, range=list(PALETTE[: len(strategies)]))
    chart = (
        alt.Chart(frame.assign(panel=panel), width=170, height=220)
        .mark_boxplot(extent="min-max", size=22)
        .encode(
            alt.X("strategy:N", sort=strategies, title=None, axis=alt.Axis(labelAngle=-40)),
            alt.Y("ACC:Q", title="clustering accuracy", scale=alt.Scale(zero=False)),
            alt.Color("strategy:N", scale=colours, legend=None),
        )
    )
    title = "k-modes with random relations, and DISC: accuracy over draws"
    return themed(_panels(chart, frame.assign(panel=panel), "panel", 4, title))


def draw_convergence(frame: pd.DataFrame) -> Any:
    """Figure 2: z after every iteration of DISC; triangles are updates of the trees, a square is the end."""
    # The k-modes start counts differing cells, which is not z.
    learning = frame[frame["phase"] != "start"]
    number = learning.groupby(["dataset", "variant"]).cumcount() + 1
    panel = learning["dataset"] + ", " + learning["variant"]
    learning = learning.assign(number=number, panel=panel).sort_values("variant", kind="stable")
    last = learning.groupby("panel")["number"].transform("max") == learning["number"]
    event = pd.Series("", index=learning.index).mask(learning["relearned"].astype(bool), "trees updated")
    learning = learning.assign(event=event.mask(last, "converged"))
    base = alt.Chart(width=250, height=170).encode(
        alt.X("number:Q", title="iteration after the start", axis=alt.Axis(tickMinStep=1)),
        alt.Y("cost:Q", title="objective z", scale=alt.Scale(zero=False)),
    )
    shapes = alt.Scale(domain=["trees updated", "converged"], range=["triangle-up", "square"])
    colours = alt.Scale(domain=["trees updated", "converged"], range=[PALETTE[5], PALETTE[0]])
    points = base.transform_filter("datum.event != ''").mark_point(filled=True, size=80, opacity=1)
    legend = alt.Legend(orient="top", labelFontSize=12)
    marked = points.encode(
        alt.Shape("event:N", title=None, scale=shapes, legend=legend),
        alt.Color("event:N", title=None, scale=colours, legend=legend),
    )
    chart = alt.layer(base.mark_line(color=MUTED), marked, data=learning)
    # Objectives of data sets and readings have nothing to do with each other.
    panels = _panels(chart, learning, "panel", 3, "Objective z after every iteration of DISC")
    return themed(panels.resolve_scale(y="independent", x="independent"))


def draw_seconds(frame: pd.DataFrame) -> Any:
    """Figure 3: seconds against rows and against columns on log axes."""
    methods = list(frame["method"].unique())
    # DISC is what the figure is about: the one thick line, in black.
    others = [name for name in methods if name != "DISC"]
    looks = {
        name: (PALETTE[at % len(PALETTE)], DASHES[at // len(PALETTE) % len(DASHES)])
        for at, name in enumerate(others)
    } | {"DISC": (INK, DASHES[0])}
    colours, dashes = ([looks[name][part] for name in methods] for part in (0, 1))
    legend = alt.Legend(
        title=None, labelFontSize=13, symbolSize=600, symbolStrokeWidth=2.5, rowPadding=5, labelLimit=220
    )
    panels = []
    for against in frame["against"].unique():
        part = frame[frame["against"] == against].dropna(subset="seconds")
        line = alt.Chart(part, width=330, height=330, title=f"against {against}").encode(
            # On log axes growth with a power is a straight line, whose slope is the power.
            alt.X(
                f"{against}:Q",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=_round_sizes(part[against]), format=",", labelFlush=True),
            ),
            alt.Y("seconds:Q", scale=alt.Scale(type="log"), axis=alt.Axis(values=DECADES, format="~g")),
            alt.Color(
                "method:N", sort=methods, legend=legend, scale=alt.Scale(domain=methods, range=colours)
            ),
            alt.StrokeDash(
                "method:N", sort=methods, legend=legend, scale=alt.Scale(domain=methods, range=dashes)
            ),
        )
        width = alt.condition("datum.method == 'DISC'", alt.value(4), alt.value(1.8))
        panels.append(line.mark_line().encode(strokeWidth=width))
    # One legend for both panels.
    return themed(alt.hconcat(*panels, spacing=24).properties(title="Seconds of one fit (DISC: thick line)"))


def _round_sizes(sizes: pd.Series) -> list[int]:
    """Sizes whose first digit is 1, 2 or 5: labels of the others would overlap."""
    return [size for size in sorted(map(int, sizes.unique())) if str(size)[0] in "125"]


def draw_embedding(frame: pd.DataFrame) -> Any:
    """Figure 4: rows in the plane, coloured by known class, a framed panel per method."""
    numbers = zip(frame["method"], frame["neighbour"], frame["silhouette"], strict=True)
    panel = [f"{name}: 1-NN {nearest:.2f}, silhouette {width:.2f}" for name, nearest, width in numbers]
    frame = frame.assign(panel=panel, **{"class": frame["class"].astype(str)})
    inside = alt.Scale(padding=12, nice=False, zero=False)
    chart = (
        alt.Chart(frame, width=240, height=240, view=alt.ViewConfig(stroke=MUTED, strokeWidth=1))
        .mark_circle(size=22, opacity=0.85)
        .encode(
            # The frame stands for axes: coordinates of t-SNE have no unit.
            alt.X("x:Q", axis=None, scale=inside),
            alt.Y("y:Q", axis=None, scale=inside),
            alt.Color("class:N", scale=alt.Scale(range=list(PALETTE)), legend=alt.Legend(symbolSize=90)),
        )
    )
    panels = _panels(chart, frame, "panel", 2, "t-SNE of the rows by learned distances")
    return themed(panels.resolve_scale(x="independent", y="independent"))


def draw_seeds(frame: pd.DataFrame) -> Any:
    """Figure 5: the ten-run means of DISC over many seeds, with the script's seed and the printed mean."""
    known = read_protocol().as_published
    assert known is not None
    places = ranks_of_seeds(frame, known.seeds)
    panels = []
    for place in places[places["method"] == "DISC"].to_dict("records"):
        runs = frame[(frame["dataset"] == place["dataset"]) & (frame["method"] == "DISC")]
        low, high = min(runs["ACC"].min(), place["printed"]), max(runs["ACC"].max(), place["printed"])
        margin = max(0.05 * (high - low), 0.01)
        tied = f" ({place['tied']} tied)" if place["tied"] > 1 else ""
        title = f"{place['dataset']}: rank {place['rank']} of {place['seeds']}{tied}"
        counts, edges = np.histogram(runs["ACC"], bins=BINS, range=(low - margin, high + margin))
        scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
        across = alt.Axis(tickCount=4, format=".2f", labelFlush=False)
        bars = (
            alt.Chart(pd.DataFrame({"from": edges[:-1], "to": edges[1:], "seeds": counts}))
            .mark_bar(color=PALETTE[4], orient="vertical")
            .encode(
                alt.X("from:Q", scale=scale, axis=across, title=None),
                alt.X2("to:Q"),
                alt.Y("seeds:Q", axis=alt.Axis(tickCount=4), title=None),
                alt.Y2(datum=0),
            )
        )
        lines = pd.DataFrame(
            {"ACC": [place["printed"], place["mean"]], "value": ["printed", "mean over seeds"]}
        )
        colours = alt.Scale(domain=["printed", "mean over seeds"], range=[PALETTE[5], INK])
        dashes = alt.Scale(domain=["printed", "mean over seeds"], range=[[1, 0], [4, 3]])
        legend = alt.Legend(title=None, orient="top", labelFontSize=13, symbolSize=400, symbolStrokeWidth=2.5)
        rules = (
            alt.Chart(lines)
            .mark_rule(strokeWidth=2.5)
            .encode(
                alt.X("ACC:Q"),
                alt.Color("value:N", scale=colours, legend=legend),
                alt.StrokeDash("value:N", scale=dashes, legend=legend),
            )
        )
        panels.append(alt.layer(bars, rules).properties(width=190, height=120, title=title))
    title = alt.TitleParams(
        "ACC of DISC over seeds of the published generator",
        subtitle="Number of seeds by their mean of ten runs. Rank of the script's seed: 1 is best.",
    )
    return themed(alt.concat(*panels, columns=4).properties(title=title))


def critical_differences(result: Significance) -> Any:
    """Average ranks on a line; a bar joins methods that Nemenyi's test does not tell apart."""
    ranks = result.ranks
    order = sorted(ranks, key=lambda name: ranks[name])
    points = pd.DataFrame({"method": order, "rank": [ranks[name] for name in order]})
    beside = len(order) + 0.4  # the bars stand to the right of the worst rank there can be
    bars = pd.DataFrame(
        [(beside + 0.4 * at, group[0], group[-1]) for at, group in enumerate(result.groups)],
        columns=["place", "first", "last"],
    )
    # The layers share one axis, which keeps an order only where it is its domain.
    downwards = alt.Scale(domain=order)
    rows = alt.Y("method:N", scale=downwards, title=None)
    scale = alt.Scale(domain=[1, beside + 0.4 * max(1, len(bars))], zero=False, nice=False)
    across = alt.X("rank:Q", title="average rank (1 is best)", scale=scale, axis=alt.Axis(tickMinStep=1))
    dots = alt.Chart(points).mark_circle(size=80, color=PALETTE[0]).encode(across, rows)
    joined = alt.Chart(bars).mark_rule(strokeWidth=4, color=INK)
    ends = alt.Y("first:N", scale=downwards), alt.Y2("last:N")
    layers = [dots, joined.encode(alt.X("place:Q"), *ends)]
    reach = min(ranks.values()) + result.nemenyi
    # Beyond the worst rank there is, the line would lie outside the chart.
    if reach <= len(order):
        limit = alt.Chart(pd.DataFrame({"place": [reach]})).mark_rule(color=MUTED, strokeDash=[4, 3])
        layers.append(limit.encode(alt.X("place:Q")))
    design = f"{result.n_sets} data sets (dashed: that far from the best)"
    subtitle = f"Nemenyi's critical difference is {result.nemenyi:.2f} on {design}"
    title = alt.TitleParams("Average ranks", subtitle=subtitle)
    return themed(alt.layer(*layers).properties(width=420, title=title))


FIGURES: Mapping[int, Figure] = {
    1: Figure("relations", experiments.random_relations, draw_relations),
    2: Figure("convergence", experiments.convergence, draw_convergence),
    3: Figure("seconds", experiments.seconds, draw_seconds),
    4: Figure("embedding", experiments.embedding, draw_embedding),
    5: Figure("seeds", seed_places, draw_seeds),
}


def save(chart: Any, paths: Sequence[Path]) -> None:
    """Write a chart as each of these files, by their suffix."""
    for path in paths:
        with reraise_as(OutputError, f"{str(path)!r} cannot be written"):
            # Pixels are doubled for screens with small ones; SVG has none.
            chart.save(str(path), **({"scale_factor": 2} if path.suffix == ".png" else {}))


def _panels(chart: Any, frame: pd.DataFrame, by: str, columns: int, title: str) -> Any:
    field = alt.Facet(f"{by}:N", title=None, sort=list(frame[by].unique()))
    return chart.facet(field, columns=columns, title=title)
