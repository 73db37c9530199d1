"""Find phrases to avoid in pages, docstrings, messages and templates, and print what to write instead.

    python tools/check_words.py README.md docs src/catalpa/report/page

Folders are searched for ``.md``, ``.py`` and ``.jinja`` files. Code, formulas and the inside of tags are not
checked. The phrases are in ``tools/words.toml``. Exits with 1 if there is a hit.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = ROOT / "tools" / "words.toml"

FENCE = re.compile(
    r"^(?P<indent> *)(?P<mark>`{3,})(?P<info>[^\n`]*)\n.*?^(?P=indent)(?P=mark) *$", re.DOTALL | re.MULTILINE
)
# Fenced directives that contain prose, such as the description of a picture.
PROSE = re.compile(r"\{(?!code-block|literalinclude|toctree|math|eval-rst)")
NOT_PROSE = {
    "markdown": [
        r"<!--.*?-->",
        r"\$\$.*?\$\$",
        r"``.+?``",
        r"`[^`]+`",
        r"(?<!\$)\$[^$\n]+\$",
        r"\]\([^)]*\)",
        r"https?://\S+",
    ],
    "docstring": [r"^ *(?:>>>|\.\.\.)[^\n]*", r"``.+?``", r"`[^`]+`", r"https?://\S+"],
    "template": [r"\{#.*?#\}", r"\{\{.*?\}\}", r"\{%.*?%\}", r"<(script|style)\b.*?</\1>", r"<[^>]*>"],
}


@dataclass(frozen=True)
class Rule:
    """A phrase to avoid, and what to write instead."""

    pattern: re.Pattern[str]
    write: str


@dataclass(frozen=True)
class Hit:
    """A phrase in a file."""

    path: Path
    line: int
    phrase: str
    write: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.phrase}': write '{self.write}'"


def read_rules(path: Path = WORDS) -> list[Rule]:
    """Rules of a TOML file."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["avoid"]
    return [Rule(_whole_words(entry["pattern"]), entry["write"]) for entry in entries]


def read_pending(path: Path = WORDS) -> set[Path]:
    """Pages that are not checked yet."""
    return {ROOT / page for page in tomllib.loads(path.read_text(encoding="utf-8")).get("pending", [])}


def _whole_words(pattern: str) -> re.Pattern[str]:
    spaced = pattern.replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-])(?:{spaced})(?![\w-])", re.IGNORECASE)


def check(path: Path, rules: Sequence[Rule]) -> list[Hit]:
    """Hits in one file, in the order of its lines."""
    text = path.read_text(encoding="utf-8")
    hits = [
        Hit(path, start + prose[: match.start()].count("\n"), " ".join(match[0].split()), rule.write)
        for start, prose in PARTS[path.suffix](text)
        for rule in rules
        for match in rule.pattern.finditer(prose)
    ]
    return sorted(hits, key=lambda hit: hit.line)


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """The page without code; line breaks stay, so lines can be counted."""
    yield 1, _blanked(FENCE.sub(_without_code, text), "markdown")


def _without_code(fence: re.Match[str]) -> str:
    # The marks of a fence with prose go too, or they would pair with those of code.
    marks = r"`{3,}[^\n]*" if PROSE.match(fence["info"].strip()) else r".+"
    return re.sub(marks, _blank, fence[0])


def template(text: str) -> Iterator[tuple[int, str]]:
    """The words of a Jinja template, without tags and expressions."""
    yield 1, _blanked(text, "template")


def python(text: str) -> Iterator[tuple[int, str]]:
    """Docstrings and other string literals with more than one word, each with its first line.

    The parts of an f-string are one text, with a space for each expression.
    """
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            inside.update(ast.walk(node))
            parts = [part.value if isinstance(part, ast.Constant) else " " for part in node.values]
            yield node.lineno, _blanked("".join(map(str, parts)), "docstring")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node.lineno, _blanked(node.value if " " in node.value.strip() else "", "docstring")


def _blanked(text: str, kind: str) -> str:
    for pattern in NOT_PROSE[kind]:
        text = re.sub(pattern, _blank, text, flags=re.DOTALL | re.MULTILINE)
    return text


def _blank(match: re.Match[str]) -> str:
    # Not a space, so that words on both sides of code are not one phrase; and no mark of any of the patterns.
    return re.sub(r"[^\n]", "\0", match[0])


PARTS: dict[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    ".md": markdown,
    ".py": python,
    ".jinja": template,
}


def files(paths: Sequence[Path]) -> list[Path]:
    """The files to check: those named, and those in folders that are not pending or built."""
    pending = read_pending()
    return [
        file
        for path in paths
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.suffix in PARTS and file.resolve() not in pending and "_build" not in file.parts
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the hits in these files and folders; 1 if there are any, 2 if there is nothing to check."""
    paths = files([Path(name) for name in arguments])
    if not paths:
        print("Nothing to check: name .md, .py or .jinja files, or folders of them.", file=sys.stderr)
        return 2
    rules = read_rules()
    hits = [hit for path in paths for hit in check(path, rules)]
    print(*hits, f"{len(hits)} phrases to rewrite in {len(paths)} files", sep="\n")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
