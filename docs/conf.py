"""How the site is built."""

from __future__ import annotations

from catalpa import __version__

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
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
templates_path = ["_templates"]
exclude_patterns = ["_build"]

autosummary_generate = True
autosummary_ignore_module_all = False  # a module's public names are those in its __all__
autosummary_imported_members = True
autodoc_typehints = "none"  # the docstrings say types in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "Catalpa"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
