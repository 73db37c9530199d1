"""Every folder says what it is for, and tests stand in the folder of the room they test."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "catalpa"
FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*") if path.suffix in (".py", ".cpp")} - {PACKAGE})


def layers() -> dict[str, int]:
    """The height of every room, as import-linter holds it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rooms = next(each for each in settings["tool"]["importlinter"]["contracts"] if each["id"] == "rooms")
    return {room: -at for at, line in enumerate(rooms["layers"]) for room in line.split(" | ")}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_every_folder_says_what_it_holds_and_where_a_new_thing_goes(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {folder.relative_to(PACKAGE).as_posix()}\n")
    named = re.findall(r"`([\w/]+(?:\.\w+|/))`", text)
    assert [name for name in named if not ((folder / name).exists() or (PACKAGE / name).exists())] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_a_folder_says_it_may_import_only_rooms_below_it(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    height, room = layers(), folder.relative_to(PACKAGE).parts[0]
    (told,) = re.findall(r"\*\*May import\*\* (.*?)\n\n", text, re.DOTALL)
    named = [name for name in re.findall(r"`(\w+)`", told) if name in height and name != room]
    assert [name for name in named if height[name] >= height[room]] == []


def test_every_folder_of_tests_belongs_to_a_room_or_says_what_else_it_holds():
    others = {
        "browser",
        "fuzz",
        "golden",
        "offline",
        "oracle",
        "properties",
    }  # no rooms: pages, odd inputs ...
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert folders - others <= set(layers())
    # A method is compared with its paper where its other tests are; here a paper's transcription is checked.
    checks = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "oracle").glob("test_*.py")]
    assert not any("catalpa" in text for text in checks)


def test_a_class_has_a_name_of_its_own():
    names = [
        found[1]
        for file in PACKAGE.rglob("*.py")
        for found in re.finditer(r"^class (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_a_name_with_an_underscore_stays_in_its_module():
    # So that no module needs a list of what it offers: only those with public names have one.
    private = re.compile(r"^\s*from catalpa\.\S+ import [^\n]*\b_(?!core\b)\w+", re.MULTILINE)
    texts = {file: unfolded(file.read_text(encoding="utf-8")) for file in PACKAGE.rglob("*.py")}
    assert [str(file) for file, text in texts.items() if private.search(text)] == []


def unfolded(text: str) -> str:
    """The text with every import on one line."""
    return re.sub(r"import \(([^)]*)\)", lambda found: "import " + " ".join(found[1].split()), text)


def test_no_file_is_a_drawer_for_odds_and_ends():
    drawers = {"utils", "util", "helpers", "common", "misc"}
    assert [file for file in PACKAGE.rglob("*.py") if file.stem.strip("_") in drawers] == []


def test_the_floors_that_are_tested_are_those_that_are_declared():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = dict(each.split(">=") for each in settings["project"]["dependencies"])
    lines = (ROOT / "tools" / "floors.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert tested.keys() == declared.keys()
    assert [name for name in declared if not f"{tested[name]}.".startswith(f"{declared[name]}.")] == []
