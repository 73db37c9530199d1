"""What an extra asks for, one requirement a line, with what the package itself asks for.

``python tools/requirements.py test docs`` reads ``pyproject.toml``. An environment filled from its lines
needs no build of the package, which the Makefile compiles beside, and once.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def requirements(extras: list[str]) -> list[str]:
    """Every requirement once, in the order in which they are declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {"": project["dependencies"], **project["optional-dependencies"]}
    return list(dict.fromkeys(_of(["", *extras], declared, project["name"])))


def _of(extras: list[str], declared: dict[str, list[str]], package: str) -> Iterator[str]:
    for line in (line for extra in extras for line in declared[extra]):
        own = re.fullmatch(rf"{package}\[(.*)\]", line)
        if own:
            yield from _of(own[1].split(","), declared, package)
        else:
            yield line


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
