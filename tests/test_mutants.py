"""The tool that mutates the code: which changes it makes, and that a mutant runs in place of its module."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "mutants.py"
SOURCE = """
LIMIT = 0.5

def enough(rows: int, more: bool) -> bool:
    \"\"\"Whether 3 rows are enough.\"\"\"
    if rows < 3 and not more:
        raise ValueError(f"{rows + 1} rows")
    return max(rows, 2) >= LIMIT
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    if not hasattr(sys.modules["os"], "fork"):
        pytest.skip("the tool needs a system that forks")
    spec = importlib.util.spec_from_file_location("mutants", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def test_every_kind_of_change_is_made_once_and_no_message_or_docstring_is_touched(tool: ModuleType) -> None:
    found = {
        (ast.unparse(node), ast.unparse(replacement()))
        for node, replacement, _ in tool.changes(ast.parse(SOURCE))
    }
    assert found == {
        ("0.5", "0.625"),
        ("rows < 3 and (not more)", "rows < 3 or not more"),
        ("rows < 3", "rows <= 3"),
        ("3", "4"),
        ("not more", "more"),
        ("return max(rows, 2) >= LIMIT", "return not max(rows, 2) >= LIMIT"),
        ("max(rows, 2) >= LIMIT", "max(rows, 2) > LIMIT"),
        ("max", "min"),
        ("2", "3"),
    }


def test_a_mutant_is_the_module_with_one_change(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(SOURCE)
    mutants = tool.mutants_of("module.py")
    for mutant in mutants:
        text = ast.unparse(tool.mutated(mutant))
        assert text != ast.unparse(ast.parse(SOURCE))
        assert mutant.after in text
    assert len({mutant.key for mutant in mutants}) == len(mutants)


def test_lines_of_a_limit_are_those_that_use_it(tool: ModuleType) -> None:
    mutant = next(one for one in tool.mutants_of("src/catalpa/explain/reasons.py") if one.scope == "module")
    lines = tool.places(mutant)
    name = tool.source_line(mutant).split(" ")[0].rstrip(",")
    assert lines
    for path, line in lines:
        text = (tool.ROOT / path).read_text(encoding="utf-8").splitlines()[line - 1]
        assert name in text


def test_a_process_that_uses_up_its_time_or_fails_is_reported(tool: ModuleType) -> None:
    def broken() -> int:
        raise ValueError("no such file")

    results = {
        key: (code, report)
        for key, code, _, report in tool.in_processes([("well", lambda: 0), ("broken", broken)], 2, limit=60)
    }
    assert results == {"well": (0, ""), "broken": (tool.BROKEN, "ValueError: no such file")}
