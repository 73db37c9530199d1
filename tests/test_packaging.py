"""What the package promises to installers is said the same way everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
from packaging.requirements import Requirement
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


def test_workflows_ask_for_extras_that_are_there() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"])
    for file in WORKFLOWS:
        for names in re.findall(r'"\.\[(.*?)\]"', file.read_text(encoding="utf-8")):
            assert set(names.split(",")) <= extras, file.name


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Runners, the table of cibuildwheel that builds there, and the classifier.
SYSTEMS = {
    "ubuntu": ("linux", "Operating System :: POSIX :: Linux"),
    "macos": ("macos", "Operating System :: MacOS"),
    "windows": ("windows", "Operating System :: Microsoft :: Windows"),
}


@pytest.mark.parametrize("file", ["tests.yml", "release.yml"])
def test_systems_that_are_named_get_wheels_and_tests(file: str) -> None:
    text = (ROOT / ".github" / "workflows" / file).read_text(encoding="utf-8")
    runners = {name.strip().split("-")[0] for name in re.findall(r"os: \[(.*?)\]", text)[0].split(",")}
    assert runners == set(SYSTEMS)
    named = [line for line in PROJECT["project"]["classifiers"] if line.startswith("Operating System")]
    assert sorted(named) == sorted(classifier for _, classifier in SYSTEMS.values())
    assert {table for table, _ in SYSTEMS.values()} <= set(PROJECT["tool"]["cibuildwheel"])


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actions_are_pinned_by_commit(file: Path) -> None:
    used = re.findall(r"uses:(.*)", file.read_text(encoding="utf-8"))
    assert used
    pinned = re.compile(r" [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+")
    assert [action for action in used if not pinned.fullmatch(action)] == []


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_jobs_have_the_rights_they_need_and_no_others(file: Path) -> None:
    head, *jobs = re.split(
        r"^  (?=[\w-]+:$)", file.read_text(encoding="utf-8").split("\njobs:\n")[1], flags=re.M
    )
    assert not head.strip()
    assert "\npermissions: {}\n" in file.read_text(encoding="utf-8")
    for job in jobs:
        rights = re.findall(r"^    permissions:\n((?:      .*\n)+)", job, re.M)
        publishes = "gh-action-pypi-publish" in job
        assert rights == ["      id-token: write\n" if publishes else "      contents: read\n"], job
        # A token that is not left in the checkout cannot be read by what is built there.
        assert job.count("actions/checkout@") == job.count("persist-credentials: false")


def test_releases_are_built_with_locked_versions() -> None:
    text = (ROOT / "tools" / "build-requirements.txt").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", text, re.M))
    assert len(locked) == text.count("==")
    assert {"build", "cmake", "ninja"} <= set(locked)
    for asked in map(Requirement, PROJECT["build-system"]["requires"]):
        assert asked.specifier.contains(locked[asked.name])
    wheels = PROJECT["tool"]["cibuildwheel"]
    assert "--require-hashes -r {project}/tools/build-requirements.txt" in wheels["before-build"]
    assert "--no-isolation" in wheels["build-frontend"]["args"]


def test_the_archive_keeps_what_its_tests_read() -> None:
    excluded = PROJECT["tool"]["scikit-build"]["sdist"]["exclude"]
    read = re.findall(r'ROOT / "([^"]+)"', Path(__file__).read_text(encoding="utf-8"))
    assert not {name.split("/")[0] for name in read} & set(excluded)
