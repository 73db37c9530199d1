"""The comparison with other methods, from the stored runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import altair as alt
from pictures import Colours

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
OURS, OTHERS = "#3f9142", "#8a97a5"


def peers(colours: Colours) -> Any:
    """Mean ARI of every method on each group of tables, from results/quality.csv."""
    from tools.quality_page import GROUPS, METHODS, RESULTS, read_results, scores

    means = scores(read_results(RESULTS), "ari").rename_axis(columns="method")
    sizes = means.groupby("group").size()
    titles = {group: f"{sizes[group]} {words}" for group, words in GROUPS.items()}
    shown = means.groupby("group").mean().stack().rename("ari").reset_index()
    shown["tables"] = shown["group"].map(titles)
    order = list(means.mean().sort_values(ascending=False).index)
    assert set(order) == set(METHODS)
    base = alt.Chart().encode(
        y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        x=alt.X("ari:Q", title="mean ARI", scale=alt.Scale(domain=[0, 0.5]), axis=alt.Axis(tickCount=5)),
        color=alt.condition(alt.datum.method == "Grove", alt.value(OURS), alt.value(OTHERS)),
    )
    bars = base.mark_bar(height=13, cornerRadiusEnd=3)
    words = base.mark_text(align="left", dx=4, fontSize=11).encode(
        text=alt.Text("ari:Q", format=".2f"), color=alt.value(colours.ink)
    )
    header = alt.Header(labelAnchor="start", labelOrient="top")
    by_group = alt.Row("tables:N", sort=list(titles.values()), title=None, header=header)
    return (
        alt.layer(bars, words, data=shown).properties(width=440, height=118).facet(row=by_group, spacing=12)
    )
