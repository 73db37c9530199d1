"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml import converter
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def convert(node: nodes.Element, display: str) -> str:
    """The formula; a warning where a command is not known, which would stand on the page as it is written."""
    drawn = converter.convert(node.astext().replace("\\arg", "\\operatorname{arg}"), display=display)
    for unknown in re.findall(r">\\(\w+)<", drawn):
        LOGGER.warning("no MathML for \\%s", unknown, location=node)
    return drawn


def inline(writer: Any, node: nodes.Element) -> None:
    """A formula inside a sentence."""
    writer.body.append(convert(node, "inline"))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """A formula on lines of its own, which scrolls where it is wider than the page."""
    writer.body.append(f'<div class="math">{convert(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx asks for this by name."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
