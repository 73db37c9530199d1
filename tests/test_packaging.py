"""What the package promises to installers is said the same way everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
from tools.requirements import requirements

import catalpa

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_conda_recipe_asks_for_what_the_package_asks_for() -> None:
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    asked = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()]
    assert asked == [f"python{PROJECT['project']['requires-python']}", *PROJECT["project"]["dependencies"]]


@pytest.mark.parametrize("file", ["CITATION.cff", "packaging/conda/recipe.yaml"])
def test_the_version_is_the_same_everywhere(file: str) -> None:
    assert f'version: "{catalpa.__version__}"' in (ROOT / file).read_text(encoding="utf-8")


def test_the_changelog_begins_with_this_version_and_its_day() -> None:
    released = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("notes start -->")[1]
    told = re.match(rf"\s*## {re.escape(catalpa.__version__)} \((\d{{4}}-\d\d-\d\d)\)\n", released)
    assert told
    assert f"date-released: {told[1]}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_python_that_gets_a_wheel_is_named_as_supported() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    built = re.findall(r"cp3(\d+)-", PROJECT["tool"]["cibuildwheel"]["build"])
    # The last of them, by the stable ABI, is for those after it.
    assert [f"3.{minor}" for minor in built] == named[: len(built)]
    assert PROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == f"cp3{built[-1]}"
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


def test_badges_are_true() -> None:
    project, readme = PROJECT["project"], (ROOT / "README.md").read_text(encoding="utf-8")
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    said = (f"Python {pythons[0]} to {pythons[-1]}", f"License {project['license']}")
    said += (f"Paper arXiv:{project['urls']['Paper'].rpartition('/')[2]}",)
    badges = dict(re.findall(r"\[!\[(.+?)\]\(\S+/badge/(\S+?)-[0-9a-f]{6}\)\]", readme))
    assert tuple(badges) == said
    # A badge shows its address: two dashes are one, and one dash parts the name from what is said of it.
    shown = [re.sub(r"(?<!-)-(?!-)", " ", unquote(text)).replace("--", "-") for text in badges.values()]
    assert tuple(shown) == said


def test_the_lines_for_an_environment_are_all_that_the_extras_ask_for() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    lines = requirements(["test", "docs"])
    assert len(lines) == len(set(lines))
    assert not [line for line in lines if line.startswith("catalpa")]
    asked = {*PROJECT["project"]["dependencies"], *extras["test"][1:], *extras["docs"][1:], *extras["report"]}
    assert asked <= set(lines)
    assert set(extras["spark"]) <= set(lines)  # by way of the tests' own extras


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_tests_run_on_every_supported_python(python: str) -> None:
    assert f'"{python}"' in (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")


def test_workflows_ask_for_targets_that_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = file.read_text(encoding="utf-8")
        listed = re.findall(r"target: \[(.*?)\]", text)
        asked = re.findall(r"make ([a-z-]+)", text) + [name for names in listed for name in names.split(", ")]
        assert set(asked) <= targets, file.name


def test_the_archive_keeps_what_its_tests_read() -> None:
    excluded = PROJECT["tool"]["scikit-build"]["sdist"]["exclude"]
    read = re.findall(r'ROOT / "([^"]+)"', Path(__file__).read_text(encoding="utf-8"))
    assert not {name.split("/")[0] for name in read} & set(excluded)
