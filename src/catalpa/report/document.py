"""The base class of pages: a dict, JSON, or one HTML file that needs no network."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from catalpa.errors import OutputError, needing
from catalpa.explain.formatting import figure, percent, row_count_text, shortened
from catalpa.files import check_path, reraise_as, write_atomically
from catalpa.plot.theme import cluster_colour, cluster_shape, needs_altair, themed

NAME_WIDTH = 60  # longer names of columns and categories are truncated; tooltips have them in full
PALE = ("#E69F00", "#56B4E9", "#CC79A7", "#B8A90A")  # colours on which white numbers are hard to read
EXTRA = '"catalpa[report]"'
ADDRESSES = 64 << 30  # address space that vl-convert reserves; with less, it ends the process


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A summary as a dict, JSON or a page."""

    template: ClassVar[str]
    summary: Mapping[str, Any]  # the contents of the page, as plain values

    def _charts(self) -> Mapping[str, Any]:
        """The charts of the page by name, without empty ones."""
        return {}

    def _content(self) -> Mapping[str, Any]:
        """Variables of the template, in addition to the summary, the charts and the shared words."""
        return {}

    @cached_property
    def html(self) -> str:
        """The page as HTML: one file that opens without a network."""
        jinja2 = _jinja()
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("catalpa.report", "page"),
            # Names come from the user's table, so everything is escaped. An undefined name is an error, not
            # blank.
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
        )
        page = environment.get_template(self.template).render(
            s=self.summary,
            charts={name: _svg(chart) for name, chart in self._charts().items()},
            file=lambda name: environment.loader.get_source(environment, name)[0],
            colour=cluster_colour,
            chip_class=chip_class,
            percent=percent,
            amount=row_count_text,
            figure=figure,
            short=self._short,
            many=lambda number, thing: f"{row_count_text(number)} {thing}{'' if number == 1 else 's'}",
            **self._content(),
        )
        return str(page)

    def _short(self, name: str) -> str:
        """The name to display: the title if the summary has one, shortened."""
        return shortened(self.summary.get("titles", {}).get(name, name), NAME_WIDTH)

    def to_json(self) -> str:
        """The summary as JSON."""
        # JSON has no NaN: a summary with one is an error.
        return json.dumps(self.summary, ensure_ascii=False, allow_nan=False, indent=2)

    def save(self, path: str | Path) -> None:
        """Save the page, or the summary if the name ends in ``.json``."""
        check_path(path)
        target = Path(path)
        text = self.to_json() if target.suffix.lower() == ".json" else self.html
        with reraise_as(OutputError, f"{str(path)!r} cannot be written"):
            write_atomically(target, text.encode("utf-8", "replace"))  # half a surrogate pair

    def _repr_html_(self) -> str:
        # An iframe keeps the styles of the notebook and the page apart.
        frame = 'style="width: 100%; height: 720px; border: 1px solid #8884; border-radius: 8px"'
        return f'<iframe {frame} title="Catalpa report" srcdoc="{escape(self.html)}"></iframe>'


def chip_class(cluster: int) -> str:
    """Class names of a cluster's round number."""
    colour, shape = cluster_colour(cluster), cluster_shape(cluster)
    return " ".join(["chip", *["dark-ink"] * (colour in PALE), *[shape] * (shape != "circle")])


def needs_packages() -> None:
    """Raise an error if packages are missing, or if vl-convert would run out of address space."""
    # Called first, so that missing packages are reported before the work.
    needs_altair()
    _jinja()
    needs_vl_convert()
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ADDRESSES:
        raise OutputError(
            f"A page cannot be drawn here: vl-convert reserves {ADDRESSES >> 30} GB of addresses "
            f"(not memory), and this program may use only {limit / 2**30:.1f} GB. Lift the limit "
            "(ulimit -v unlimited), or make the page on another machine: catalpa report."
        )


def _svg(chart: Any) -> str:
    # Tests validate the charts against their schema, which takes longer than drawing them.
    spec = themed(chart).properties(background="transparent").to_dict(validate=False)
    # The newest Vega-Lite version supported by both Altair and vl-convert.
    return str(needs_vl_convert().vegalite_to_svg(spec))


def _jinja() -> Any:
    with needing("A report needs Jinja2", EXTRA):
        import jinja2
    return jinja2


def needs_vl_convert() -> Any:
    """The module vl_convert, or an error that says how to install it."""
    with needing("A report needs vl-convert-python", EXTRA):
        import vl_convert
    return vl_convert
