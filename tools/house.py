"""The size of the house: lines, files and comments of every room, and the walks through it.

    python -m tools.house            # rooms
    python -m tools.house --walks    # and what a fit, a prediction and a report enter

A module is a file of Python, a stub or a file of C++. A comment counts once for every line that holds one;
directives for linters and the shapes of arrays give no reason, so they do not count.
"""

from __future__ import annotations

import argparse
import io
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).resolve().parents[1] / "src" / "catalpa"
MODULES = (".py", ".pyi", ".cpp", ".hpp")
NO_REASON = re.compile(r"#\s*(noqa|type: ignore|\([^)]*\))")


@dataclass(frozen=True)
class Module:
    """One file: its place in the package, and how many of its lines there are and hold a comment."""

    place: Path
    lines: int
    comments: int

    @property
    def room(self) -> str:
        return self.place.parts[0].partition(".")[0]


def modules(source: Path = SOURCE) -> list[Module]:
    """Every module of the package."""
    found = []
    for path in sorted(source.rglob("*")):
        if path.suffix in MODULES:
            text = path.read_text(encoding="utf-8")
            found.append(
                Module(path.relative_to(source), len(text.splitlines()), comments(text, path.suffix))
            )
    return found


def comments(text: str, suffix: str = ".py") -> int:
    """Lines of a text that hold a comment with a reason."""
    if suffix in (".cpp", ".hpp"):
        return sum("//" in line for line in text.splitlines())
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and not NO_REASON.match(token.string) for token in tokens)


def files_per_folder(found: Iterable[Module]) -> Counter[str]:
    """Modules of each folder, those of the folders inside it left out."""
    return Counter(module.place.parent.as_posix() for module in found)


def table(found: list[Module]) -> list[str]:
    """A line for every room, and one for all of them."""
    rooms = sorted({module.room for module in found})
    parts = {room: [module for module in found if module.room == room] for room in rooms} | {"all": found}
    lines = [f"{'room':12}{'modules':>8}{'lines':>8}{'median':>8}{'longest':>9}{'comments per 100':>18}"]
    for name, part in parts.items():
        sizes = [module.lines for module in part]
        share = 100 * sum(module.comments for module in part) / max(sum(sizes), 1)
        lines.append(f"{name:12}{len(part):8}{sum(sizes):8}{median(sizes):8.0f}{max(sizes):9}{share:18.1f}")
    folder, most = files_per_folder(found).most_common(1)[0]
    return [*lines, f"most modules in a folder: {most} in {folder}"]


def main() -> None:
    """Print the table, and the walks if they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--walks", action="store_true", help="Trace the walks too; they take some seconds.")
    asked = parser.parse_args()
    print("\n".join(table(modules())))
    if asked.walks:
        from tools.walk import walked, walks

        warnings.simplefilter("ignore")
        print(f"\n{'walk':20}{'functions':>10}{'files':>7}{'depth':>7}")
        for name, call in walks().items():
            print(f"{name:20}{walked(call).line}")


if __name__ == "__main__":
    main()
