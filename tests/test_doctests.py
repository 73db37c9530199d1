"""Every example in a docstring runs and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import catalpa
from catalpa.errors import MissingDependency

OPTIONAL = {"altair", "dask", "distributed", "jinja2", "networkx", "polars", "pyspark", "vl_convert"}
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(catalpa.__path__, "catalpa.", onerror=lambda _: None)
    if not found.name.endswith("._core")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_give_what_they_say(name):
    try:
        module = importlib.import_module(name)
    except MissingDependency as absent:
        pytest.skip(str(absent))
    except ModuleNotFoundError as absent:
        if absent.name is None or absent.name.partition(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"{absent.name} is not installed")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
