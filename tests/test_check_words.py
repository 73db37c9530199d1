"""The check of words finds phrases to avoid in prose, and leaves code alone."""

from __future__ import annotations

import pytest
from tools.check_words import check, main, read_rules

BAD = {
    "page.md": "# Title\n\nSome `code`, then two\ngaps in `more` code.\n",
    "module.py": '"""Fit.\n\nA cell that is a gap.\n"""\n',
    "message.py": 'x = 3\n\nraise ValueError(f"{x} rows have a gap" " here")\n',
    "page.jinja": "<p>\n{{ rows }}\nrows have gaps</p>\n",
}
GOOD = {
    "page.md": "Use `gaps` or $gap$.\n\n```python\ngap = 1\n```\n\n"
    "```{picture} disc\nShirts\n```\n\n`gap` [a](gap.md)\n",
    "module.py": '"""Fit ``gap``.\n\n>>> gap = 1\n"""\nkey = "gap"\n',
    "page.jinja": '<p class="a gap">{{ gap }}{# a gap #}</p><style>.a gap {}</style>\n',
}


@pytest.mark.parametrize("name", BAD)
def test_a_phrase_to_avoid_is_reported_with_its_line_and_what_to_write(name, tmp_path, capsys):
    (tmp_path / name).write_text(BAD[name], encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    line = 4 if name == "page.md" else 3
    report = capsys.readouterr().out.splitlines()[0]
    assert report.startswith(f"{tmp_path / name}:{line}: 'gap")
    assert "missing value" in report


@pytest.mark.parametrize("name", GOOD)
def test_code_formulas_links_and_tags_are_not_prose(name, tmp_path):
    (tmp_path / name).write_text(GOOD[name], encoding="utf-8")
    assert check(tmp_path / name, read_rules()) == []
    assert main([str(tmp_path)]) == 0


def test_the_description_of_a_picture_is_prose_and_code_after_it_is_not(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```{picture} disc\nA gap\n```\n\nA hole in `gap`.\n", encoding="utf-8")
    assert [(hit.line, hit.phrase) for hit in check(page, read_rules())] == [(2, "gap"), (5, "hole")]


def test_a_phrase_over_two_lines_is_one_phrase(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("It takes one more\npass.\n", encoding="utf-8")
    assert [hit.phrase for hit in check(page, read_rules())] == ["one more pass"]


def test_nothing_to_check_is_an_error(tmp_path):
    assert main([str(tmp_path)]) == 2
