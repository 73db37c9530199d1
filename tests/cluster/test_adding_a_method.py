"""A new method is one file in ``cluster`` and one line of the registry; everything else follows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.offline import python_path

import catalpa
from catalpa.datasets import load

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "inside" / "adding-a-method.md"
# The code that the tutorial tells to write.
BLOCK = re.compile(r"^```\{code-block\} python\n:caption: \S+\n\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE, LINE = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
# An editable install finds the package by a finder of its own, before any path is looked at.
FROM_COPY = (
    "import sys, warnings; warnings.simplefilter('ignore')\n"
    "sys.meta_path[:] = [one for one in sys.meta_path if 'ScikitBuild' not in type(one).__name__]\n"
)
COMMAND = "from catalpa.cli.main import main; sys.argv[0] = 'catalpa'; main()"
CHECKS = """
from sklearn.utils.estimator_checks import check_estimator
import catalpa
# What every method of categories that draws its rows fails: see test_scikit_learn.py.
failing = ["check_sample_weight_equivalence_on_dense_data", "check_clustering"]
failing += ["check_positive_only_tag_during_fit"]
found = check_estimator(
    catalpa.Doubles(), expected_failed_checks=dict.fromkeys(failing, "as in KModes"), on_skip=None
)
print({one["status"] for one in found} - {"passed", "skipped", "xfail"}, len(found))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the package in which the method was added."""
    folder = tmp_path_factory.mktemp("house")
    here = Path(catalpa.__file__).parent
    shutil.copytree(here, folder / "catalpa", ignore=shutil.ignore_patterns("__pycache__", "*.cpp", "*.hpp"))
    cluster = folder / "catalpa" / "cluster"
    (cluster / "doubles.py").write_text(FILE, encoding="utf-8")
    registry = (cluster / "registry.py").read_text(encoding="utf-8")
    head, found, tail = registry.partition("    for entry in (\n")
    assert found
    (cluster / "registry.py").write_text(head + found + LINE + tail, encoding="utf-8")
    data = load("zoo")
    data.frame.assign(kind=data.target).to_csv(folder / "zoo.csv", index=False)
    return folder


def ran(copy: Path, code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", FROM_COPY + code, *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": python_path(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_a_name_of_the_package(copy):
    told = ran(copy, "import catalpa; print(catalpa.Doubles.__module__, 'Doubles' in dir(catalpa))")
    assert told.split() == ["catalpa.cluster.doubles", "True"]


def test_the_command_line_lists_and_runs_it(copy):
    listed = json.loads(ran(copy, COMMAND, "methods", "--json"))
    assert listed[0]["estimator"] == "Doubles"
    out = copy / "out"
    ran(copy, COMMAND, "cluster", "zoo.csv", "--method", "doubles", "-k", "3", "--output", str(out))
    model = json.loads((out / "model.json").read_text(encoding="utf-8"))
    assert model["method"] == "Doubles"
    code = "import catalpa; print(type(catalpa.load(sys.argv[1])).__name__)"
    assert ran(copy, code, str(out / "model.json")).strip() == "Doubles"


def test_the_laboratory_compares_it(copy):
    command = ("lab", "compare", "zoo.csv", "--target", "kind", "-m", "doubles,kmodes", "--seeds", "1")
    assert "doubles" in ran(copy, COMMAND, *command)


def test_the_documentation_lists_it(copy):
    code = "import runpy; print(runpy.run_path(sys.argv[1])['myst_substitutions']['methods'])"
    table = ran(copy, code, str(DOCS / "conf.py"))
    assert "| `Doubles` | k-modes in which a mismatch costs two |" in table
    assert "| [KModes](kmodes.md) |" in table


def test_it_passes_the_checks_of_scikit_learn(copy):
    failed, number = ran(copy, CHECKS).strip().rsplit(" ", 1)
    assert failed == "set()"
    assert int(number) > 40
