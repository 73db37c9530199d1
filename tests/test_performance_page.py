"""The page on speed says what its stored measurements say."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from tools import performance_page
from tools.performance_page import CHART, PAGE, RESULTS, chart, duration, measured, times, with_measured


def line(**changed):
    usual = {
        "key": "fit-1e3-k5",
        "work": "whole fit",
        "ours": "KModes",
        "program": "one-hot KMeans",
        "ours_seconds": 0.004,
        "program_seconds": 0.036,
        "ratio": 9.0,
        "bar": 1.5,
        "met": True,
        "ours_agreement": 0.99,
        "program_agreement": 0.9871,
        "note": "",
    }
    return usual | changed


MACHINE = {
    "day": "2026-01-02",
    "processor": "a processor",
    "python": "3.11",
    "core": "avx2",
    "versions": {"catalpa": "0.1.0", "polars": "2.1"},
}
SLOWER = line(
    work="read a file", program="polars", program_seconds=0.002, ratio=0.5, met=False, note="one thread"
)


def test_every_measurement_has_a_line_with_times_ratio_bar_and_agreement():
    text = measured({"machine": MACHINE, "lines": [line(), SLOWER]})
    assert "Measured on 2026-01-02 on one machine: a processor; Python 3.11, polars 2.1; core: avx2." in text
    assert "1 of 2 bars are met." in text
    assert "| whole fit | KModes | 4 ms | one-hot KMeans | 36 ms | **9** | 1.5 | 0.990 / 0.987 |  |" in text
    assert "| read a file | KModes | 4 ms | polars (one thread) | 2 ms | 0.5 | 1.5 |" in text


def test_the_page_names_where_others_are_quicker_or_says_that_nobody_is():
    behind = measured({"machine": MACHINE, "lines": [line(), SLOWER]}).split("not ahead:**")[1]
    assert "- read a file: KModes takes 4 ms, polars 2 ms;" in behind
    assert "whole fit" not in behind
    assert "- nowhere in this table." in measured({"machine": MACHINE, "lines": [line()]})


def test_a_line_without_labels_has_no_agreement():
    text = measured({"machine": MACHINE, "lines": [line(ours_agreement=None, program_agreement=None)]})
    assert "| 1.5 |  |  |" in text
    text = measured({"machine": MACHINE, "lines": [line(program_agreement=None)]})
    assert "0.990 / -" in text


def test_figures_read_well_whatever_their_size():
    assert [duration(one) for one in (2.5e-5, 0.0213, 3.21)] == ["25 µs", "21.3 ms", "3.21 s"]
    assert [times(one) for one in (0.667, 12.34, 1234.5)] == ["0.667", "12.3", "1,234"]


def test_only_what_stands_between_the_marks_is_written_anew():
    page = "before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n"
    once = with_measured(page, "new")
    assert once == "before\n<!-- measured: begin -->\n\nnew\n\n<!-- measured: end -->\nafter\n"
    assert with_measured(once, "new") == once


def test_the_chart_has_a_dot_for_every_line_right_of_level_where_catalpa_is_ahead():
    drawn = ET.fromstring(chart([line(), SLOWER]))
    dots = [float(one.get("cx")) for one in drawn if one.tag.endswith("circle")]
    marks = [one for one in drawn if one.tag.endswith("text") and one.text == "1x"]
    level = float(marks[0].get("x"))
    assert dots[1] < level < dots[0]


def test_the_tool_writes_the_page_and_the_chart(tmp_path, monkeypatch, capsys):
    (tmp_path / "performance.json").write_text(json.dumps({"machine": MACHINE, "lines": [line()]}))
    (tmp_path / "page.md").write_text("<!-- measured: begin --><!-- measured: end -->")
    for name, file in (("RESULTS", "performance.json"), ("PAGE", "page.md"), ("CHART", "chart.svg")):
        monkeypatch.setattr(performance_page, name, tmp_path / file)
    monkeypatch.setattr(performance_page, "ROOT", tmp_path)
    performance_page.main()
    assert "1 of 1 bars are met" in (tmp_path / "page.md").read_text("utf-8")
    assert (tmp_path / "chart.svg").read_text("utf-8").startswith("<svg")
    assert capsys.readouterr().out == "page.md: 1 comparisons\n"


@pytest.mark.skipif(not RESULTS.exists(), reason="measurements are not here")
def test_the_page_and_the_chart_in_the_docs_are_made_from_the_stored_measurements():
    stored = json.loads(RESULTS.read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert page == with_measured(page, measured(stored))
    assert CHART.read_text("utf-8") == chart(stored["lines"])
