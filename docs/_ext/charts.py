"""Pictures of the gallery: a chart that ends a block of an example is drawn below it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair
from sphinx_gallery.scrapers import figure_rst


def last_chart(_: Any, script: dict[str, Any], gallery: dict[str, Any]) -> str:
    """The chart as SVG for the page and as PNG for the list of examples; see sphinx-gallery's scrapers."""
    shown = script["example_globals"].get("___")  # where sphinx-gallery keeps the last expression
    if not isinstance(shown, altair.TopLevelMixin) or shown is script.get("drawn"):
        return ""
    script["drawn"] = shown  # a block without a last expression leaves that of the block before
    picture = Path(next(script["image_path_iterator"]))
    shown.save(picture.with_suffix(".png"), ppi=144)
    shown.save(picture.with_suffix(".svg"))
    return figure_rst(
        [str(picture.with_suffix(".svg"))], gallery["src_dir"], shown.to_dict().get("description", "")
    )
