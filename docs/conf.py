"""How the site is built."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pandas as pd

from catalpa import __version__
from catalpa.cluster.registry import METHODS, MethodEntry

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import survey

project = "Catalpa"
author = "The Catalpa developers"
copyright = "The Catalpa developers"
version = release = __version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "pictures",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "survey",
]
nitpicky = True
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
templates_path = ["_templates"]
exclude_patterns = ["_build"]

autosummary_generate = True
autosummary_ignore_module_all = False  # a module's public names are those in its __all__
autosummary_imported_members = True
autodoc_mock_imports = ["pyspark"]  # hundreds of megabytes, for the one page of catalpa.spark
autodoc_typehints = "none"  # the docstrings say types in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False


def _line(entry: MethodEntry) -> str:
    described = (Path(__file__).parent / "methods" / f"{entry.name}.md").exists()
    page = f"[{entry.class_name}]({entry.name}.md)" if described else f"`{entry.class_name}`"
    abilities = (entry.mixed, entry.ordinal, entry.learns_k, entry.streams)
    marks = " | ".join("yes" if able else "" for able in abilities)
    return f"| {page} | {entry.summary} | {', '.join(entry.aliases)} | {marks} |"


_HEAD = (
    "| method | what it does | aliases | numbers | order | finds k | streams |\n|---|---|---|---|---|---|---|"
)


def _unreleased() -> str:
    """What waits in ``changes/``, as ``make changelog`` would put it together."""
    root = Path(__file__).parents[1]
    kinds = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]["type"]
    lines = []
    for kind in kinds:
        news = sorted((root / "changes").glob(f"*.{kind['directory']}.md"))
        lines += [f"### {kind['name']}\n"] if news else []
        lines += [f"- {path.read_text('utf-8').strip()}" for path in news] + [""]
    return "\n".join(["## Not released yet\n", *lines]) if any(lines) else ""


def _table(frame: pd.DataFrame) -> str:
    """The frame in Markdown."""
    rows = [list(frame.columns), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


myst_substitutions = {
    "survey": _table(survey.table()),
    "survey_clusters": _table(survey.clusters()),
    "survey_votes": survey.votes(),
    "methods": "\n".join([_HEAD, *(_line(entry) for entry in METHODS.values())]),
    "unreleased": _unreleased(),
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "image_scrapers": ("charts.last_chart",),
    "reset_modules": (),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": "altair",  # drawn, not spelled
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "Catalpa"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["catalpa.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_sidebars = {"**": ["navigation.html"]}
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "Catalpa"},
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
