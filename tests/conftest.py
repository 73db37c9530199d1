"""What every test may ask for: steady examples, the folder of data sets, tables of each frame library."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import catalpa

# Derandomised by default, so that a red run is red for everyone; "search" looks for new counterexamples.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
settings.register_profile(
    "search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Tests that run through the whole package, and would call every line covered that they come across. Tracing
# them takes minutes, and what counts as covered is what the tests of a room cover.
THROUGH_EVERYTHING = (
    "tests/browser",
    "tests/fuzz",
    "tests/golden",
    "tests/properties",
    "tests/cluster/test_scikit_learn.py",
    "tests/engines/test_same_everywhere.py",
    "tests/test_documentation.py",
)

MakeTable = Callable[[Mapping[str, Sequence[Any]]], Any]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests untraced that run through everything."""
    for item in items:
        if item.nodeid.startswith(THROUGH_EVERYTHING):
            item.add_marker(pytest.mark.no_cover)
    if config.pluginmanager.hasplugin("_cov"):
        # A module runs once: were an untraced test the first to import it, its definitions would seem missed.
        for found in pkgutil.walk_packages(catalpa.__path__, "catalpa."):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)


@pytest.fixture(scope="session")
def data_home() -> Path:
    """Folder of data sets that are not bundled, named by CATALPA_DATA."""
    folder = os.environ.get("CATALPA_DATA")
    if not folder:
        pytest.skip("CATALPA_DATA does not name a folder of data sets")
    return Path(folder)


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame_library(request: pytest.FixtureRequest) -> MakeTable:
    """Make a table of one frame library from a dict of columns."""
    library = pytest.importorskip(request.param)
    return library.table if request.param == "pyarrow" else library.DataFrame
