"""Findings on the labelled files of the data folder: what is applied by default is right."""

from __future__ import annotations

import pytest
from tools.check_look import PAGE, RESULT, SAFE, checked, page, read_result


@pytest.mark.data
@pytest.mark.slow
def test_what_is_applied_by_default_is_right_in_nineteen_of_twenty_columns(data_home):
    counted, _, _ = checked(data_home / "raw")
    lines = {line["finding"]: line for line in counted.lines()}
    wrong = {kind: line for kind in SAFE if (line := lines[kind])["found"] * 0.95 > line["right"]}
    assert wrong == {}
    assert lines["its order right"]["right"] == lines["its order right"]["found"] > 50
    assert lines["sentinel (proposed)"]["right"] >= 83


def test_the_page_has_the_stored_result():
    lines = read_result(RESULT)
    assert PAGE.read_text(encoding="utf-8") == page(lines)
    applied = [line for line in lines if line["applied"] == "yes" and line["precision"]]
    assert {line["finding"] for line in applied} >= {"identifier", "date", "number", "list", "order (safe)"}
    assert [line["finding"] for line in applied if float(line["precision"]) < 0.95] == []
