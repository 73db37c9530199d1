"""Choosing which core runs a pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from catalpa.steps import compiled


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
