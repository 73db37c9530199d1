"""Fitted models for charts."""

from __future__ import annotations

import pytest

import catalpa

pytest.importorskip("altair")


@pytest.fixture(scope="session")
def zoo():
    return catalpa.datasets.load("zoo").frame


@pytest.fixture(scope="session")
def disc(zoo):
    return catalpa.DISC(4, random_state=0).fit(zoo)


@pytest.fixture(scope="session")
def kmodes(zoo):
    return catalpa.KModes(4, random_state=0).fit(zoo)
