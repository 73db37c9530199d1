"""Packages that are imported by the first test that uses them, not when tests are collected."""

from __future__ import annotations

from typing import Any

import pytest


class OptionalPackage:
    """A module that is imported when it is first used; the test that uses it is skipped if it is absent."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # pytest asks everything in a test module whether it is, or wraps, a fixture or a mock.
        if attribute.startswith(("__", "_mock", "_pytest")):
            raise AttributeError(attribute)
        return getattr(pytest.importorskip(self._name), attribute)
