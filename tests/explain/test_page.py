"""The page about relations prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "relations.md"


def test_the_page_prints_what_it_shows(capsys):
    text = PAGE.read_text(encoding="utf-8")
    code, shown = (re.findall(rf"^```{kind}\n(.*?)^```$", text, re.S | re.M) for kind in ("python", "text"))
    exec(compile("\n".join(code), str(PAGE), "exec"), {})
    assert capsys.readouterr().out == "".join(shown)
