"""Small protocols and the results made with them."""

from __future__ import annotations

import pytest

from catalpa.lab import read_protocol, run


@pytest.fixture(scope="session")
def small():
    """Four methods on two data sets with two seeds."""
    return read_protocol().restricted(
        methods=["kmodes", "cbdm", "disc", "sigdt"], datasets=["CA", "ZO"], repeats=2
    )


@pytest.fixture(scope="session")
def results(small, tmp_path_factory):
    """Rows of the small protocol."""
    return run(small, tmp_path_factory.mktemp("lab") / "results.parquet")


@pytest.fixture(scope="session")
def tiny():
    """Three quick methods, one of them undefined on one of two data sets."""
    return read_protocol().restricted(methods=["kmodes", "cbdm", "sigdt"], datasets=["CA", "ZO"], repeats=2)


@pytest.fixture(scope="session")
def tiny_results(tiny, tmp_path_factory):
    """Rows of the tiny protocol."""
    return run(tiny, tmp_path_factory.mktemp("lab") / "results.parquet")
