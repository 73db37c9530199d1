"""The published figures as charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from catalpa.errors import OutputError
from catalpa.files import told_as
from catalpa.lab.figures import experiments
from catalpa.lab.figures.pieces import Pieces
from catalpa.lab.protocol import Protocol
from catalpa.lab.significance import Significance
from catalpa.plot.theme import INK, MUTED, PALETTE, alt, dressed

# Methods beyond the eighth take the colours again, with another dash.
DASHES = [[1, 0], [6, 3], [2, 2]]


@dataclass(frozen=True)
class Figure:
    """The pieces that a figure's data are made of, and how they are drawn."""

    pieces: Callable[[Protocol], Pieces]
    draw: Callable[[pd.DataFrame], Any]


def draw_relations(frame: pd.DataFrame) -> Any:
    """Figure 1: box plots of ACC by strategy, a panel per data set."""
    strategies = list(frame["strategy"].unique())
    chart = (
        alt.Chart(frame, width=150, height=220)
        .mark_boxplot(extent="min-max", size=22)
        .encode(
            alt.X("strategy:N", sort=strategies, title=None),
            alt.Y("ACC:Q", title="clustering accuracy", scale=alt.Scale(zero=False)),
            alt.Color("strategy:N", scale=alt.Scale(domain=strategies, range=list(PALETTE[:4])), legend=None),
        )
    )
    return dressed(_panels(chart, frame, "dataset", 4, "k-modes with relations drawn at random"))


def draw_convergence(frame: pd.DataFrame) -> Any:
    """Figure 2: cost per pass, relearnings as triangles, the end as a square."""
    last = frame.groupby(["dataset", "variant"])["number"].transform("max") == frame["number"]
    event = pd.Series("", index=frame.index).mask(frame["relearned"].astype(bool), "relations made anew")
    frame = frame.assign(event=event.mask(last, "at rest"))
    base = alt.Chart(width=260, height=200).encode(
        alt.X("number:Q", title="pass", axis=alt.Axis(tickMinStep=1)),
        alt.Y("cost:Q", title="objective z"),
        alt.Color("variant:N", title="reading", scale=alt.Scale(range=list(PALETTE[:2]))),
    )
    shapes = alt.Scale(domain=["relations made anew", "at rest"], range=["triangle-up", "square"])
    points = base.transform_filter("datum.event != ''").mark_point(filled=True, size=70)
    marked = points.encode(alt.Shape("event:N", title=None, scale=shapes))
    chart = alt.layer(base.mark_line(), marked, data=frame)
    # Costs of data sets have nothing to do with each other.
    panels = _panels(chart, frame, "dataset", 3, "Cost of every pass of DISC").resolve_scale(y="independent")
    return dressed(panels)


def draw_seconds(frame: pd.DataFrame) -> Any:
    """Figure 3: seconds against rows and against columns on log axes, with fitted slopes."""
    fitted = experiments.slopes(frame)
    panels = []
    for against in frame["against"].unique():
        part = frame[frame["against"] == against].dropna(subset="seconds")
        slope = fitted[fitted["against"] == against].set_index("method")["slope"]
        names = {
            name: f"{name} (slope {slope[name]:.2f})" if name in slope else name for name in part["method"]
        }
        part = part.assign(line=part["method"].map(names))
        order = list(dict.fromkeys(part["line"]))
        colours = [PALETTE[at % len(PALETTE)] for at in range(len(order))]
        dashes = [DASHES[at // len(PALETTE) % len(DASHES)] for at in range(len(order))]
        panels.append(
            alt.Chart(part, width=330, height=320, title=f"against {against}")
            .mark_line(point=True)
            .encode(
                # On log axes growth with a power is a straight line, whose slope is the power.
                alt.X(f"{against}:Q", scale=alt.Scale(type="log", nice=False)),
                alt.Y("seconds:Q", scale=alt.Scale(type="log")),
                alt.Color("line:N", title=None, sort=order, scale=alt.Scale(domain=order, range=colours)),
                alt.StrokeDash("line:N", title=None, sort=order, scale=alt.Scale(domain=order, range=dashes)),
            )
        )
    joined = alt.hconcat(*panels).resolve_scale(color="independent", strokeDash="independent")
    return dressed(joined.properties(title="Seconds of one fit"))


def draw_embedding(frame: pd.DataFrame) -> Any:
    """Figure 4: rows in the plane, coloured by known class, a panel per method."""
    frame = frame.assign(**{"class": frame["class"].astype(str)})
    chart = (
        alt.Chart(frame, width=230, height=230)
        .mark_circle(size=22)
        .encode(
            alt.X("x:Q", axis=None),
            alt.Y("y:Q", axis=None),
            alt.Color("class:N", scale=alt.Scale(range=list(PALETTE))),
        )
    )
    panels = _panels(chart, frame, "method", 4, "t-SNE of the rows by learned distances")
    return dressed(panels.resolve_scale(x="independent", y="independent"))


def critical_differences(found: Significance) -> Any:
    """Average ranks on a line; a bar joins methods that Nemenyi's test does not tell apart."""
    ranks = found.ranks
    order = sorted(ranks, key=lambda name: ranks[name])
    points = pd.DataFrame({"method": order, "rank": [ranks[name] for name in order]})
    beside = len(order) + 0.4  # the bars stand to the right of the worst rank there can be
    bars = pd.DataFrame(
        [(beside + 0.4 * at, group[0], group[-1]) for at, group in enumerate(found.groups)],
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
    reach = min(ranks.values()) + found.nemenyi
    # Beyond the worst rank there is, the line would lie outside the chart.
    if reach <= len(order):
        limit = alt.Chart(pd.DataFrame({"place": [reach]})).mark_rule(color=MUTED, strokeDash=[4, 3])
        layers.append(limit.encode(alt.X("place:Q")))
    design = f"{found.n_sets} data sets (dashed: that far from the best)"
    subtitle = f"Nemenyi's critical difference is {found.nemenyi:.2f} on {design}"
    title = alt.TitleParams("Average ranks", subtitle=subtitle)
    return dressed(alt.layer(*layers).properties(width=420, title=title))


FIGURES: Mapping[int, Figure] = {
    1: Figure(experiments.random_relations, draw_relations),
    2: Figure(experiments.convergence, draw_convergence),
    3: Figure(experiments.seconds, draw_seconds),
    4: Figure(experiments.embedding, draw_embedding),
}


def save(chart: Any, paths: Sequence[Path]) -> None:
    """Write a chart as each of these files, by their suffix."""
    for path in paths:
        with told_as(OutputError, f"{str(path)!r} cannot be written"):
            # Pixels are doubled for screens with small ones; SVG has none.
            chart.save(str(path), **({"scale_factor": 2} if path.suffix == ".png" else {}))


def _panels(chart: Any, frame: pd.DataFrame, by: str, columns: int, title: str) -> Any:
    field = alt.Facet(f"{by}:N", title=None, sort=list(frame[by].unique()))
    return chart.facet(field, columns=columns, title=title)
