"""The pages say what is true: their code runs, and the architecture page draws the house as it stands."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from tools.write_outputs import renewed

from catalpa.cluster.registry import METHODS

ROOT = Path(__file__).resolve().parents[1]
ARCHITECTURE = ROOT / "docs" / "inside" / "architecture.md"


def code_blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def contracts() -> dict[str, dict]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def rooms() -> set[str]:
    package = ROOT / "src" / "catalpa"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    return folders | {path.stem for path in package.glob("*.py") if path.stem != "__init__"}


WITH_CODE = [
    path for path in sorted((ROOT / "docs").rglob("*.md")) if code_blocks(path, "(?:python|console)")
]
PAGES = ["README.md", *(path.relative_to(ROOT).as_posix() for path in WITH_CODE)]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_on_the_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert renewed(ROOT / page) == (ROOT / page).read_text(encoding="utf-8")


def test_what_a_page_says_is_held_against_what_its_code_prints(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n\n```console\n$ echo 3\n4\n```\n")
    assert renewed(page) == page.read_text().replace("2", "1").replace("4", "3")


def test_the_page_on_choosing_a_method_has_every_method():
    page = (ROOT / "docs" / "guides" / "choosing-a-method.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"`(\w+) </methods/(\w+)>`", page)) - {("numbers", "grove")}
    assert linked == {(entry.class_name, entry.name) for entry in METHODS.values()}


def test_the_picture_of_grove_is_drawn_from_a_fit(tmp_path, monkeypatch):
    # Fitted here as on the page; only the place to write to is another one.
    drawing = importlib.util.spec_from_file_location("draw_grove", ROOT / "tools" / "draw_grove.py")
    module = importlib.util.module_from_spec(drawing)
    drawing.loader.exec_module(module)
    monkeypatch.setattr(module, "PICTURE", tmp_path / "grove.svg")
    module.main()
    shown = (ROOT / "docs" / "images" / "grove.svg").read_text(encoding="utf-8")
    assert (tmp_path / "grove.svg").read_text(encoding="utf-8") == shown


def test_the_architecture_page_draws_the_layers_that_are_checked():
    drawn = code_blocks(ARCHITECTURE, "")[0].splitlines()
    assert drawn == contracts()["rooms"]["layers"]


def test_the_architecture_page_describes_every_room_and_no_other():
    described = re.findall(r"^\| `(\w+)` \|", ARCHITECTURE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(described) == sorted(rooms())


def test_every_module_that_the_architecture_page_names_is_there():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rooms_named = "|".join(room for room in rooms() if room != "__main__")
    named = re.findall(rf"`((?:{rooms_named})[./][\w./]+)`", text)
    there = [name for name in named if not _is_there(name)]
    assert named
    assert there == []


def _is_there(name):
    place = ROOT / "src" / "catalpa" / name.removesuffix(".py").replace(".", "/")
    return place.is_dir() or place.with_suffix(".py").is_file()
