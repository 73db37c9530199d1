"""Pictures of the gallery: a chart that ends a block of an example is drawn below it, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair
import vl_convert
from pictures import SCHEMES, Colours

from catalpa.plot.theme import GRID, INK, MUTED

# Halfway between the pages: one picture in the list of examples is for both.
BETWEEN = Colours(ink="#7d8793", muted="#8a94a0", line="#9aa3ad", page="#ffffff")
# On a dark page little is dark and much is bright, and words on it change sides with it.
DARK_RANGES = {"blues": ["#1c2630", "#8cc4f5"], "purpleorange": ["#f0a04b", "#262c34", "#b3a4e6"]}


def dyed(spec: Any, colours: Colours) -> Any:
    """The chart, its words and lines in these colours, on whatever it is laid."""
    names = {INK: colours.ink, MUTED: colours.muted, GRID: colours.line, "white": colours.page}
    if isinstance(spec, dict):
        dark = DARK_RANGES.get(spec.get("scheme", "")) if colours is SCHEMES["dark"] else None
        kept = {name: part for name, part in spec.items() if not (dark and name == "scheme")}
        kept |= {"range": dark} if dark else {}
        return {name: part if name == "values" else dyed(part, colours) for name, part in kept.items()}
    if isinstance(spec, list):
        return [dyed(part, colours) for part in spec]
    return names.get(spec, spec) if isinstance(spec, str) else spec


def plain(colours: Colours) -> dict[str, Any]:
    """Default colours, for examples that draw a chart directly."""
    words = {"labelColor": colours.muted, "titleColor": colours.ink}
    lines = {"gridColor": colours.line, "domainColor": colours.line, "tickColor": colours.line}
    return {
        "axis": words | lines,
        "header": words,
        "legend": words,
        "text": {"color": colours.ink},
        "title": {"color": colours.ink, "subtitleColor": colours.muted},
        "view": {"stroke": None},
    }


def laid_on(spec: dict[str, Any], colours: Colours) -> dict[str, Any]:
    """The chart for a page of these colours."""
    own = dyed(spec, colours)
    told = own.get("config", {})
    config = {name: part | told.get(name, {}) for name, part in plain(colours).items()}
    return own | {"background": "transparent", "config": told | config}


def last_chart(_: Any, script: dict[str, Any], gallery: dict[str, Any]) -> str:
    """The chart as SVG for the page and as PNG for the list of examples; see sphinx-gallery's scrapers."""
    shown = script["example_globals"].get("___")  # where sphinx-gallery keeps the last expression
    if not isinstance(shown, altair.TopLevelMixin) or shown is script.get("drawn"):
        return ""
    script["drawn"] = shown  # a block without a last expression leaves that of the block before
    picture, spec = Path(next(script["image_path_iterator"])), shown.to_dict()
    picture.with_suffix(".png").write_bytes(vl_convert.vegalite_to_png(laid_on(spec, BETWEEN), ppi=144))
    lines = []
    for scheme, colours in SCHEMES.items():
        place = picture.with_name(f"{picture.stem}-{scheme}.svg")
        place.write_text(vl_convert.vegalite_to_svg(laid_on(spec, colours)), encoding="utf-8")
        lines += [
            f".. image:: /{place.relative_to(gallery['src_dir']).as_posix()}",
            f"   :alt: {spec.get('description', '')}",
            f"   :class: only-{scheme} drawn",
            "",
        ]
    return "\n".join(lines)
