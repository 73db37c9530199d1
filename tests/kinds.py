"""What a test needs beyond this process: the marks by which a run leaves tests out, set in one place."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

# A test that asks for one of these fixtures, directly or through another one, has the mark.
BY_FIXTURE: Mapping[str, str] = {
    "data_home": "data",
    "spark": "spark",
    "cluster": "process",
    "driver": "browser",
    "program": "process",
}
# So does a test in one of these places.
BY_PLACE: Mapping[str, str] = {
    "tests/browser/": "browser",
    "tests/engines/test_dask.py": "dask",
    "tests/engines/test_spark.py": "spark",
    "tests/model/test_mlflow.py": "mlflow",
    "tests/model/test_skops.py": "slow",  # it imports all of scikit-learn, and with it Dask
    "tests/fuzz/test_fuzzers.py::test_every_case_is_used_or_refused_with_a_sentence[engines": "dask",
}
# And a test with a parameter that is the name of an engine, or one of its modules.
MODULES: Mapping[str, tuple[str, ...]] = {
    "dask": ("catalpa.engines.dask",),
    "spark": ("catalpa.engines.spark", "catalpa.spark"),
}
# A quick run has none of these, and holds the other tests to it.
NOT_QUICK = ("process", "dask", "spark", "mlflow", "browser", "slow", "data")
HEAVY = ("dask", "distributed", "mlflow", "pyspark")


def marks_of(item: pytest.Item) -> Iterator[str]:
    """Marks that follow from the fixtures, the place and the parameters of a test."""
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in BY_FIXTURE:
            yield BY_FIXTURE[fixture]
    for place, mark in BY_PLACE.items():
        if item.nodeid.startswith(place):
            yield mark
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    texts = {value for value in parameters if isinstance(value, str)}
    yield from (engine for engine, modules in MODULES.items() if texts & {engine, *modules})


class TooMuchForQuick(AssertionError):
    """A test of a quick run needs more than this process; its mark is missing."""


class RefuseHeavyImports:
    """Finder before all others that refuses the packages that take seconds to import."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if name.partition(".")[0] in HEAVY:
            raise TooMuchForQuick(f"A quick test imports {name}: mark it in tests/kinds.py.")


def refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: refuse to start another Python while a test runs."""
    if event != "subprocess.Popen" or "PYTEST_CURRENT_TEST" not in os.environ:
        return
    if sys.executable in (arguments[0], *list(arguments[1])[:1]):
        raise TooMuchForQuick("A quick test starts Python: mark it with pytest.mark.process.")
