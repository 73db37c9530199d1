"""Charts of the cost per pass, and of the choice of the number of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

from catalpa.errors import ParameterError
from catalpa.estimator.auto_k import COARSE, FINE, FLOOR, MEDIUM
from catalpa.estimator.base import Clusterer
from catalpa.estimator.parameters import shortened_value
from catalpa.estimator.problem import fitted_of
from catalpa.plot.arguments import checked_arguments
from catalpa.plot.theme import INK, PALETTE, alt, themed


@checked_arguments
def cost_per_pass(model: Clusterer, *, width: int = 420, height: int = 220) -> Any:
    """Cost after every pass; passes before which relations were relearned are marked.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> chart = cost_per_pass(catalpa.Grove(4, random_state=0).fit(zoo))
    """
    return themed(draw_passes([asdict(event) for event in fitted_of(model).outcome.history], width, height))


def draw_passes(passes: Sequence[Mapping[str, Any]], width: int = 420, height: int = 220) -> Any:
    """Chart of passes given as plain values."""
    points = [
        {
            "pass": at,
            "cost": event["cost"],
            "phase": event["phase"],
            "kind": "relearned" if event["relearned"] else "pass",
            "told": f"pass {at} ({event['phase']}): cost {event['cost']:.6g}, {event['moved']:,} rows moved",
        }
        for at, event in enumerate(passes, start=1)
    ]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("pass:Q", title="pass", axis=alt.Axis(tickMinStep=1, format="d", grid=False)),
        # The axis does not start at zero, because costs of passes differ little.
        y=alt.Y("cost:Q", title="cost", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
    )
    line = base.mark_line(color=PALETTE[0], strokeWidth=2)
    dots = base.mark_point(filled=True, size=58, opacity=1).encode(
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=["pass", "relearned"], range=[PALETTE[0], PALETTE[5]]),
            legend=alt.Legend(orient="top") if any(event["relearned"] for event in passes) else None,
        ),
        # Shapes as well as colours, for colour-blind readers.
        shape=alt.Shape(
            "kind:N", scale=alt.Scale(domain=["pass", "relearned"], range=["circle", "diamond"]), legend=None
        ),
        tooltip=["pass:Q", "phase:N", "cost:Q"],
        description="told:N",
    )
    return alt.layer(line, dots).properties(width=width, height=height)


@checked_arguments
def choosing_k(scores: Any, *, chosen: int | None = None, name: str = "score", width: int = 420) -> Any:
    """A score for every number of clusters, with the chosen one marked.

    Parameters
    ----------
    scores : KChoice or mapping of int to float
        What ``catalpa.choose_k`` gave, whose gains are drawn, or a score of each k.
    chosen : int, optional
    name : str
        What the score is called.
    width : int

    Examples
    --------
    >>> chart = choosing_k({2: 0.31, 3: 0.44, 4: 0.4}, chosen=3, name="silhouette")
    """
    if not isinstance(scores, Mapping):
        if not hasattr(scores, "gains"):
            raise ParameterError(
                f"scores is {shortened_value(scores)}; give the result of choose_k, or a dict of scores by k."
            )
        chosen, name = scores.k, "gain over one cluster"
        scores = scores.gains
    if not scores:
        raise ParameterError("scores is empty; give a score for at least one number of clusters.")
    wrong = [k for k, score in scores.items() if not (isinstance(k, Integral) and isinstance(score, Real))]
    if wrong:
        raise ParameterError(
            f"scores has {shortened_value(wrong[0])}; its keys must be integers, and its values numbers."
        )
    if chosen is not None and chosen not in scores:
        raise ParameterError(f"chosen={chosen}, which is none of the numbers tried: {sorted(scores)}.")
    points = [{"k": int(k), "score": float(scores[k])} for k in sorted(scores)]
    base = _over_k(points, sorted(scores), "score", name, alt.Scale(zero=False))
    layers = [
        base.mark_line(color=PALETTE[0], strokeWidth=2),
        base.mark_circle(color=PALETTE[0], size=50, opacity=1),
    ]
    if chosen is not None:
        mark = base.transform_filter(alt.datum.k == chosen)
        layers += [
            mark.mark_point(color=PALETTE[5], size=190, strokeWidth=2.5),
            mark.mark_text(dy=-16, color=INK, fontWeight=600).encode(text=alt.value(f"k = {chosen}")),
        ]
    return themed(alt.layer(*layers).properties(width=width, height=220))


def _over_k(points: Sequence[Any], ks: Sequence[int], field: str, title: str, scale: Any) -> Any:
    """A field of the points over the number of clusters, with ticks at those that were tried."""
    return alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("k:Q", title="clusters", axis=alt.Axis(values=ks, format="d", grid=False)),
        y=alt.Y(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=4)),
    )


AGREEMENTS = {"agreement": "samples of the rows", "restarts": "other starts"}
LEVELS = {"10 %, coarse": COARSE, "3 %, medium": MEDIUM, "1 %, fine": FINE}


def draw_added(lines: Sequence[Mapping[str, Any]], chosen: int) -> Any:
    """Gain of every additional cluster, in nats per row, and the threshold of each level of detail."""
    known = [line for line in lines if line["adds"] is not None]
    ks = [line["k"] for line in lines]
    bars = [{"k": line["k"], "value": line["adds"], "chosen": line["k"] == chosen} for line in known]
    # A logarithmic scale: the first clusters add a hundred times as much as the last ones.
    least = min([FLOOR, *(bar["value"] for bar in bars if bar["value"] > 0)])
    scale = alt.Scale(type="log", domainMin=least / 2)
    points = [bar for bar in bars if bar["value"] > 0]
    title = "added per row, in nats"
    marks = _over_k(points, ks, "value", title, scale).mark_point(filled=True, size=70, opacity=1)
    levels = [
        {"k": line["k"], "value": max(share * line["gain"], FLOOR), "level": name}
        for name, share in LEVELS.items()
        for line in known
    ]
    rules = _over_k(levels, ks, "value", title, scale).mark_line(strokeWidth=1.5, strokeDash=[4, 3])
    colours = alt.Scale(domain=list(LEVELS), range=[PALETTE[5], PALETTE[0], INK])
    legend = alt.Legend(orient="top")
    rules = rules.encode(color=alt.Color("level:N", title=None, scale=colours, legend=legend))
    mark = marks.transform_filter(alt.datum.chosen)
    ring = mark.mark_point(color=PALETTE[5], size=190, strokeWidth=2.5)
    layers = [rules, marks.encode(color=alt.value(PALETTE[0])), ring]
    return alt.layer(*layers).properties(width=420, height=220)


def draw_agreement(lines: Sequence[Mapping[str, Any]]) -> Any:
    """Agreement of repeated runs for every number of clusters, from the lines of a choice."""
    points = [
        {"k": line["k"], "agreement": line[name], "between": text}
        for line in lines
        for name, text in AGREEMENTS.items()
        if line[name] is not None
    ]
    names, legend = list(AGREEMENTS.values()), alt.Legend(orient="top")
    colours = alt.Scale(domain=names, range=[PALETTE[0], PALETTE[5]])
    shapes = alt.Scale(domain=names, range=["circle", "square"])
    ks = [line["k"] for line in lines]
    base = _over_k(points, ks, "agreement", "adjusted Rand index", alt.Scale(domainMax=1)).encode(
        color=alt.Color("between:N", title=None, scale=colours, legend=legend)
    )
    # Shapes as well as colours, for colour-blind readers.
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        shape=alt.Shape("between:N", title=None, scale=shapes, legend=legend)
    )
    return alt.layer(base.mark_line(strokeWidth=2), dots).properties(width=420, height=220)
