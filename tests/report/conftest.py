"""Reports to read."""

from __future__ import annotations

import pytest

import catalpa

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


@pytest.fixture(scope="session")
def zoo():
    return catalpa.datasets.load("zoo").frame


@pytest.fixture(scope="session")
def model(zoo):
    return catalpa.Grove(7, random_state=0).fit(zoo)


@pytest.fixture(scope="session")
def report(model, zoo):
    return model.report(zoo, title="Animals")
