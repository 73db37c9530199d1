"""Spark whose executors, session or driver die: the labels of memory, or one sentence."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.spark]

PROGRAM = Path(__file__).with_name("faulty_spark.py")
DRIVER_GROWTH = 60 << 20  # bytes that the driver may grow by during a fit of a table of 600 MB
METHODS = ["kmodes", "grove"]


@pytest.fixture(scope="module")
def results():
    """What came of fits in a program of its own."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    # What a session of this process left in the environment would reach the other.
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "PYSPARK_"))
    }
    environment = inherited | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_executor_does_not_change_the_labels(method, results):
    spec = importlib.util.spec_from_file_location("faulty_spark", PROGRAM)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    known = program.METHODS[method]().fit(program.planted())
    assert results[f"killed executor, {method}"] == known.labels_.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_the_driver_does_not_grow_with_the_table(method, results):
    assert results[f"driver growth, {method}"] < DRIVER_GROWTH


@pytest.mark.parametrize("end", ["stopped, kmodes", "stopped, grove", "killed driver, kmodes"])
def test_a_session_that_ends_during_a_fit_is_one_sentence(end, results):
    assert results[end].startswith("The Spark session was stopped, or its driver died")
