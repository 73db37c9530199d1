"""Draw the picture on the page about Grove from a fit of the zoo table.

Run from the root of the repository::

    python tools/draw_grove.py
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np

from catalpa import Grove, datasets

PICTURE = Path("docs/images/grove.svg")
COLUMN = "legs"
WIDTH, HEIGHT = 720, 262
LEFT, RIGHT, NOWHERE = 262, 690, 222  # where the least and greatest share stand, and a share of nothing
LEAST = 0.004
LEVELS = {"table": 62, "counted": 122, "shrunk": 182}
GREY, DOT, LINE = "#7d8590", "#3b82c4", "#c2703d"  # to be read on white and on black


def place(share: float) -> float:
    """Where a share stands on the logarithmic axis."""
    if share <= 0:
        return NOWHERE
    return LEFT + (RIGHT - LEFT) * (1 - math.log(share) / math.log(LEAST))


def text(
    x: float, y: float, words: str, *, anchor: str = "middle", colour: str = GREY, size: int = 13
) -> str:
    """Words at a point."""
    looks = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {looks}>{words}</text>'


def line(
    x1: float, y1: float, x2: float, y2: float, *, colour: str = GREY, width: float = 1, dash: str = ""
) -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"{dashes}/>'
    )


def shares_of(model: Grove, cluster: int) -> dict[str, dict[str, float]]:
    """Of every category: its share in the table, in the cluster as counted, and as the cluster uses it."""
    profile = model.profiles_
    known = profile[(profile["cluster"] == cluster) & (profile["column"] == COLUMN)].set_index("category")
    relation = model.relations_[cluster, COLUMN]
    names = [str(name) for name in relation.categories]
    # Distances are differences of logarithms, so from any category they give all shares up to a factor.
    ahead = names.index(str(relation.order[-1]))
    shrunk = np.exp(-np.asarray(relation.distances)[ahead])
    return {
        name: {
            "table": float(known.loc[name, "share_overall"]),
            "counted": float(known.loc[name, "share"]),
            "shrunk": float(part),
        }
        for name, part in zip(names, shrunk / shrunk.sum(), strict=True)
    }


def axis() -> list[str]:
    """Shares that are easy to read, below everything."""
    parts = [text(NOWHERE, HEIGHT - 18, "none", size=12)]
    for share in (0.01, 0.1, 1.0):
        x = place(share)
        parts += [line(x, 40, x, HEIGHT - 34, dash="2 4"), text(x, HEIGHT - 18, f"{share:.0%}", size=12)]
    return parts


def drawn(model: Grove, cluster: int) -> str:
    """The picture."""
    shares = shares_of(model, cluster)
    titles = {
        "table": f"all {int(model.cluster_sizes_.sum())} animals",
        "counted": f"cluster {cluster}, counted",
        "shrunk": f"cluster {cluster}, shrunk",
    }
    parts = [text(10, 24, "Share of each number of legs", anchor="start", size=15), *axis()]
    for level, y in LEVELS.items():
        parts.append(text(10, y + 4, titles[level], anchor="start"))
    on_line = sorted(place(one["shrunk"]) for one in shares.values())
    y = LEVELS["shrunk"]
    parts.append(line(on_line[0], y, on_line[-1], y, colour=LINE, width=2.5))
    held = 0  # categories that no row of the cluster has stand side by side
    for name, one in sorted(shares.items(), key=lambda item: item[1]["shrunk"]):
        places = {level: place(share) for level, share in one.items()}
        if not one["counted"]:
            places["counted"] += 13 * held - 30
            held += 1
        levels = list(LEVELS)
        for above, below in pairwise(levels):
            parts.append(line(places[above], LEVELS[above], places[below], LEVELS[below], dash="3 3"))
        for level, x in places.items():
            parts.append(f'<circle cx="{x:.1f}" cy="{LEVELS[level]}" r="5" fill="{DOT}"/>')
        parts.append(text(places["table"], LEVELS["table"] - 10, name, colour=DOT))
        parts.append(text(places["shrunk"], y + 20, name, colour=DOT))
    parts.append(text(10, y + 24, "its line of relations", anchor="start", colour=LINE))
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" role="img">\n  <title>{titles["shrunk"]}: the line of relations of '
        f"{COLUMN}</title>\n  {body}\n</svg>\n"
    )


def main() -> None:
    """Fit, draw and write."""
    zoo = datasets.load("zoo")
    model = Grove(n_clusters=7, random_state=0).fit(zoo.frame)
    insects = int(np.bincount(model.labels_[np.asarray(zoo.target) == "insect"]).argmax())
    PICTURE.write_text(drawn(model, insects), encoding="utf-8")


if __name__ == "__main__":
    main()
