"""How the site is built."""

from __future__ import annotations

from pathlib import Path

from catalpa import __version__
from catalpa.cluster.registry import METHODS, MethodEntry

project = "Catalpa"
author = "The Catalpa developers"
copyright = "The Catalpa developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
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
myst_substitutions = {"methods": "\n".join([_HEAD, *(_line(entry) for entry in METHODS.values())])}

html_theme = "pydata_sphinx_theme"
html_title = "Catalpa"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
