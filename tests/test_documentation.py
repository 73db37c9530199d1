"""The pages say what is true: their code runs, and the architecture page draws the house as it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ARCHITECTURE = ROOT / "docs" / "architecture.md"


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


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_code_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = code_blocks(ROOT / page, "python")
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": page})


def test_the_architecture_page_draws_the_layers_that_are_checked():
    drawn = code_blocks(ARCHITECTURE, "")[0].splitlines()
    assert drawn == contracts()["rooms"]["layers"]


def test_the_architecture_page_describes_every_room_and_no_other():
    described = re.findall(r"^\| `(\w+)` \|", ARCHITECTURE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(described) == sorted(rooms())
