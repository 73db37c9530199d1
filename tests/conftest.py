"""What every test may ask for: steady examples, the folder of data sets, tables of each frame library."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from tests import kinds, offline

import catalpa
from catalpa.steps import compiled

# Programs that tests start are offline too.
os.environ["PYTHONPATH"] = offline.python_path(os.environ.get("PYTHONPATH"))

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

DATA_FOLDER = os.environ.get("CATALPA_DATA")
MakeTable = Callable[[Mapping[str, Sequence[Any]]], Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only tests that stay in this process, quickly")


def pytest_configure(config: pytest.Config) -> None:
    """Hold a quick run to its promise: a test that needs more fails, instead of taking its time."""
    if config.getoption("--quick"):
        sys.meta_path.insert(0, kinds.RefuseHeavyImports())
        sys.addaudithook(kinds.refuse_processes)


@pytest.hookimpl(tryfirst=True)  # before pytest looks at marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by what they need, and leave out what a quick run has no time for.

    Untraced are tests that run through everything, or through the same lines for every example.
    """
    for item in items:
        for mark in kinds.marks_of(item):
            item.add_marker(mark)
        if item.nodeid.startswith(THROUGH_EVERYTHING) or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)
    if config.getoption("--quick"):
        slow = [item for item in items if any(item.get_closest_marker(mark) for mark in kinds.NOT_QUICK)]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect untraced; a module runs once, so all are imported before, for their definitions to be seen."""
    if session.config.pluginmanager.hasplugin("_cov"):
        engines = {module for modules in kinds.MODULES.values() for module in modules}
        import_all({found.name for found in pkgutil.walk_packages(catalpa.__path__, "catalpa.")} - engines)
    with untraced():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Leave what an untraced test asks for untraced too: pytest-cov does so with the test itself."""
    if item.config.pluginmanager.hasplugin("_cov"):
        # The modules of an engine, and with them Dask or Spark, are for tests of that engine.
        for engine, modules in kinds.MODULES.items():
            if item.get_closest_marker(engine):
                import_all(modules)
    with untraced() if item.get_closest_marker("no_cover") else contextlib.nullcontext():
        return (yield)


def import_all(modules: Iterable[str]) -> None:
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Hide the data folder: only a test that asks for ``data_home`` knows it, and has the mark for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CATALPA_DATA", raising=False)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that tried to reach another machine, even if the code caught the error."""
    result = yield
    if attempts := offline.refused[:]:
        offline.refused.clear()
        pytest.fail(f"{item.nodeid} tried to reach another machine: {', '.join(attempts)}")
    return result


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
    """Folder of data sets that are not bundled, named by CATALPA_DATA when the run began."""
    if not DATA_FOLDER:
        pytest.skip("CATALPA_DATA does not name a folder of data sets")
    return Path(DATA_FOLDER)


@pytest.fixture
def refused_connections() -> Iterator[list[str]]:
    """Attempts to reach another machine, of a test that makes them on purpose."""
    yield offline.refused
    offline.refused.clear()


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame_library(request: pytest.FixtureRequest) -> MakeTable:
    """Make a table of one frame library from a dict of columns."""
    library = pytest.importorskip(request.param)
    return library.table if request.param == "pyarrow" else library.DataFrame


@contextlib.contextmanager
def chosen(name: str) -> Iterator[None]:
    held = os.environ.get(compiled.CHOICE, "")
    os.environ[compiled.CHOICE] = name
    try:
        yield
    finally:
        os.environ[compiled.CHOICE] = held


@pytest.fixture(scope="session")
def core() -> Callable[[str], contextlib.AbstractContextManager[None]]:
    """Run passes with the named core, "numpy" or an instruction set: ``with core("numpy"): ...``."""
    return chosen


@pytest.fixture(scope="session")
def levels() -> list[str]:
    """Every instruction set that the compiled core can use here."""
    return pytest.importorskip("catalpa.steps._core").levels()
