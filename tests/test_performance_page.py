"""The performance page is generated from the stored measurements."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from tools import performance_page
from tools.performance_page import (
    CHART,
    PAGE,
    RESULTS,
    chart,
    duration,
    measured,
    summary,
    times,
    with_measurements,
    with_part,
)


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
    assert "| whole fit | KModes | 4 ms | one-hot KMeans | 36 ms | **9** | 1.5 | 0.990 / 0.987 |  |" in text
    assert "| read a file | KModes | 4 ms | polars (one thread) | 2 ms | 0.5 | 1.5 |" in text


def test_the_summary_has_the_range_of_ratios_by_task_and_program():
    small, large = line(work="whole fit, 1e3", ratio=1.94), line(work="whole fit, 1e5", ratio=2479.8)
    other = line(work="whole fit, 1e3", program="StepMix", ratio=9.0)
    text = summary({"lines": [small, other, large, SLOWER]})
    assert "3 of 4" in text
    assert "1 of 4" in text  # comparisons in which Catalpa is slower
    assert [row for row in text.splitlines() if "KModes" in row] == [
        "| whole fit | KModes | one-hot KMeans | 1.9 to 2,500 |  |",
        "| whole fit | KModes | StepMix | 9 |  |",
        "| read a file | KModes | polars | 0.5 | 1 of 1: one thread; 1 of 1: target missed |",
    ]


def test_the_summary_tells_which_ratios_are_extrapolated_or_in_wall_time():
    tenfold = line(note="ten times one start", ratio=88.0)
    threads = line(work="iteration, k=5, wall time", ours="2 threads", program="1 thread", ratio=1.8)
    rows = summary({"lines": [line(), tenfold, threads]}).splitlines()
    assert "| whole fit | KModes | one-hot KMeans | 9 to 88 | 1 of 2: ten times one start |" in rows
    assert "| iteration | 2 threads | 1 thread | 1.8 | 1 of 1: wall time |" in rows


def test_the_page_lists_the_comparisons_in_which_catalpa_is_slower():
    items = [
        text
        for text in measured({"machine": MACHINE, "lines": [line(), SLOWER]}).splitlines()
        if text[:1] == "-"
    ]
    assert items == ["- read a file: KModes takes 4 ms, polars 2 ms."]
    (none,) = [
        text for text in measured({"machine": MACHINE, "lines": [line()]}).splitlines() if text[:1] == "-"
    ]
    assert "none" in none


def test_a_line_without_labels_has_no_agreement():
    text = measured({"machine": MACHINE, "lines": [line(ours_agreement=None, program_agreement=None)]})
    assert "| 1.5 |  |  |" in text
    text = measured({"machine": MACHINE, "lines": [line(program_agreement=None)]})
    assert "0.990 / -" in text


def test_figures_read_well_whatever_their_size():
    assert [duration(one) for one in (2.5e-5, 0.0213, 3.21)] == ["25 µs", "21.3 ms", "3.21 s"]
    assert [times(one) for one in (0.667, 12.34, 1234.5)] == ["0.667", "12.3", "1,234"]


def test_only_what_stands_between_the_marks_is_written_anew():
    page = "before\n<!-- part: begin -->\nold\n<!-- part: end -->\nafter\n"
    once = with_part(page, "part", "new")
    assert once == "before\n<!-- part: begin -->\n\nnew\n\n<!-- part: end -->\nafter\n"
    assert with_part(once, "part", "new") == once


def test_the_chart_has_a_dot_for_every_line_right_of_level_where_catalpa_is_ahead():
    drawn = ET.fromstring(chart([line(), SLOWER]))
    dots = [float(one.get("cx")) for one in drawn if one.tag.endswith("circle")]
    marks = [one for one in drawn if one.tag.endswith("text") and one.text == "1x"]
    level = float(marks[0].get("x"))
    assert dots[1] < level < dots[0]


def test_the_tool_writes_the_page_and_the_chart(tmp_path, monkeypatch, capsys):
    (tmp_path / "performance.json").write_text(json.dumps({"machine": MACHINE, "lines": [line()]}))
    marks = [f"<!-- {part}: begin --><!-- {part}: end -->" for part in ("summary", "measured")]
    (tmp_path / "page.md").write_text("\n".join(marks))
    for name, file in (("RESULTS", "performance.json"), ("PAGE", "page.md"), ("CHART", "chart.svg")):
        monkeypatch.setattr(performance_page, name, tmp_path / file)
    monkeypatch.setattr(performance_page, "ROOT", tmp_path)
    performance_page.main()
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "| whole fit | KModes | one-hot KMeans | 9 |  |" in page
    assert "| whole fit | KModes | 4 ms |" in page
    assert (tmp_path / "chart.svg").read_text("utf-8").startswith("<svg")
    assert capsys.readouterr().out == "page.md: 1 comparisons\n"


@pytest.mark.skipif(not RESULTS.exists(), reason="measurements are not here")
def test_the_page_and_the_chart_in_the_docs_are_made_from_the_stored_measurements():
    stored = json.loads(RESULTS.read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert page == with_measurements(page, stored)
    assert CHART.read_text("utf-8") == chart(stored["lines"])
