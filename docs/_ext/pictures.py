"""Pictures that the build draws, for light pages and for dark ones, with words for those who do not see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import altair
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


@dataclass(frozen=True)
class Colours:
    """What a drawing is made with; the colours of clusters are the same on both pages."""

    ink: str
    muted: str
    line: str
    page: str


SCHEMES = {
    "light": Colours(ink="#1f2933", muted="#56616e", line="#d3d9e0", page="#ffffff"),
    "dark": Colours(ink="#e6e9ed", muted="#a3adb8", line="#3d4752", page="#14181e"),
}
ILLUSTRATION = (
    "An illustration, and no evidence: of sixty draws the shirts were chosen so that the ideas of most "
    "methods can be seen on them. Every method is fitted once, with random_state=0."
)
Drawing = Callable[[Colours], altair.TopLevelMixin]


def themed(chart: Any, colours: Colours) -> Any:
    """The chart on a page of these colours."""
    words = {
        "labelColor": colours.muted,
        "titleColor": colours.muted,
        "labelFontSize": 12,
        "titleFontSize": 12,
    }
    return (
        chart.configure(background="transparent", font="system-ui, 'DejaVu Sans', sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            **words,
            titleFontWeight="normal",
            gridColor=colours.line,
            domainColor=colours.line,
            tickColor=colours.line,
            labelLimit=260,
        )
        .configure_header(
            **words | {"titleColor": colours.ink, "labelColor": colours.ink}, labelFontWeight=600
        )
        .configure_legend(**words)
        .configure_title(color=colours.ink, subtitleColor=colours.muted, fontSize=13, anchor="start")
    )


def drawings() -> dict[str, Drawing]:
    """Every picture by its name."""
    from methods_drawn import METHODS_DRAWN

    from peers import peers

    return {"peers": peers, **METHODS_DRAWN}


class Picture(SphinxDirective):
    """The picture of that name; what stands below it are the words for those who do not see it."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"width": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Draw it beside the pages, once for each scheme."""
        from methods_drawn import METHODS_DRAWN  # which draws with the colours above

        name, folder = self.arguments[0], Path(self.env.srcdir) / "made"
        folder.mkdir(exist_ok=True)
        found: list[nodes.Node] = []
        for scheme, colours in SCHEMES.items():
            themed(drawings()[name](colours), colours).save(folder / f"{name}-{scheme}.svg")
            image = nodes.image(
                uri=f"/made/{name}-{scheme}.svg",
                alt=" ".join(self.content),
                classes=[f"only-{scheme}", "drawn"],
            )
            if "width" in self.options:
                image["width"] = self.options["width"]
            found.append(image)
        if name in METHODS_DRAWN:
            found.append(nodes.paragraph(text=ILLUSTRATION, classes=["illustration"]))
        for source in Path(__file__).parent.glob("*.py"):
            self.env.note_dependency(str(source))
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx asks for this by name."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
