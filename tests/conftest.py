"""What every test may ask for: steady examples, the folder of data sets, tables of each frame library."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

import catalpa
from catalpa.steps import compiled

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
    "tests/oracle",
    "tests/properties",
    "tests/cluster/test_adding_a_method.py",
    "tests/cluster/test_published_results.py",
    "tests/cluster/test_scikit_learn.py",
    "tests/engines/test_same_everywhere.py",
    "tests/test_",
)

MakeTable = Callable[[Mapping[str, Sequence[Any]]], Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests untraced that run through everything, or through the same lines for every example."""
    for item in items:
        if item.nodeid.startswith(THROUGH_EVERYTHING) or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect untraced; a module runs once, so all are imported before, for their definitions to be seen."""
    if session.config.pluginmanager.hasplugin("_cov"):
        for found in pkgutil.walk_packages(catalpa.__path__, "catalpa."):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)
    with untraced():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Leave what an untraced test asks for untraced too: pytest-cov does so with the test itself."""
    with untraced() if item.get_closest_marker("no_cover") else contextlib.nullcontext():
        return (yield)


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """Pause coverage, where it runs."""
    tracer = coverage.Coverage.current() if (coverage := sys.modules.get("coverage")) else None
    if tracer is None:
        yield
        return
    tracer.stop()
    try:
        yield
    finally:
        tracer.start()


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


@contextmanager
def chosen(name: str) -> Iterator[None]:
    held = os.environ.get(compiled.CHOICE, "")
    os.environ[compiled.CHOICE] = name
    try:
        yield
    finally:
        os.environ[compiled.CHOICE] = held


@pytest.fixture(scope="session")
def core() -> Callable[[str], AbstractContextManager[None]]:
    """Run passes with the named core, "numpy" or an instruction set: ``with core("numpy"): ...``."""
    return chosen


@pytest.fixture(scope="session")
def levels() -> list[str]:
    """Every instruction set that the compiled core can use here."""
    return pytest.importorskip("catalpa.steps._core").levels()
