"""A newcomer can read it: files and functions stay small, and no file is a drawer for odds and ends."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "catalpa"
FILES = sorted(PACKAGE.rglob("*.py"))
LINES_PER_FILE = 350
LINES_PER_FUNCTION = 40  # without the docstring


def own_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def functions(file: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_and_its_functions_are_short(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LINES_PER_FILE
    assert [function.name for function in functions(file) if own_lines(function) > LINES_PER_FUNCTION] == []


def test_no_file_is_a_drawer_for_odds_and_ends():
    drawers = {"utils", "util", "helpers", "common", "misc"}
    assert [file for file in FILES if file.stem.strip("_") in drawers] == []
