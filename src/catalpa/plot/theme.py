"""The theme of all charts: colours for colour-blind readers, light axes, one typeface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalpa.errors import needing

# Okabe and Ito's colours, ordered so that neighbours also differ in lightness; grey instead of black, which
# is invisible on a dark page.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A90A", "#7A7A7A")
# Further clusters repeat the colours with another shape.
SHAPES = ("circle", "square", "triangle-up", "diamond")
INK, MUTED, GRID = "#1f2933", "#6b7785", "#dfe4ea"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"


def cluster_colour(cluster: int) -> str:
    """Colour of a cluster."""
    return PALETTE[cluster % len(PALETTE)]


def cluster_shape(cluster: int) -> str:
    """Shape of a cluster's points, which distinguishes clusters of the same colour."""
    # 32 pairs of colour and shape; further clusters are distinguished by their numbers.
    return SHAPES[cluster // len(PALETTE) % len(SHAPES)]


def needs_altair() -> Any:
    """The module altair, or an error that says how to install it."""
    with needing("Charts and reports need Altair", '"catalpa[report]"'):
        import altair
    return altair


class _Altair:
    """The module altair, imported when a chart is drawn: the rest of the package works without it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(needs_altair(), name)


alt: Any = _Altair()


def themed(chart: Any) -> Any:
    """The chart with the common axes, grid and font."""
    settings: Mapping[str, Any] = {
        "labelColor": MUTED,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelLimit": 220,
    }
    return (
        chart.configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(**settings)
        .configure_header(labelColor=INK, titleColor=INK, labelFontSize=12, titleFontSize=12)
        .configure_legend(labelColor=INK, titleColor=MUTED, labelFontSize=12, titleFontSize=12)
        .configure_title(color=INK, fontSize=14, fontWeight=600, anchor="start", subtitleColor=MUTED)
    )
