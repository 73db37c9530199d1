"""Every chart of a model and a table as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from catalpa.plot import cluster_sizes, number_boxes, profile_map
from catalpa.plot.theme import themed
from catalpa.report.document import needs_packages, needs_vl_convert
from catalpa.report.findings import Findings
from catalpa.report.report_page import Report

FORMATS = ("svg", "png")
CHARTS = ("sizes", "profiles", "numbers", "map", "tree", "passes", "silhouettes", "categories")
FILES = tuple(f"{name}.{suffix}" for name in CHARTS for suffix in FORMATS)
SCALE = 2.0  # pixels of a PNG for one of the chart


def chart_files(findings: Findings, formats: Sequence[str] = FORMATS) -> Iterator[tuple[str, bytes]]:
    """Name and content of a file for each chart and format."""
    needs_packages()
    for name, chart in _charts(findings).items():
        spec = themed(chart).properties(background="white").to_dict()
        for suffix in formats:
            yield f"{name}.{suffix}", _image(spec, suffix)


def _charts(findings: Findings) -> dict[str, Any]:
    """The charts of the report, and those of profiles, numbers and sizes."""
    model = findings.view.model
    charts = {"sizes": cluster_sizes(model), "profiles": profile_map(model)}
    if any(record["low"] is not None for record in findings.summary["numbers"]):
        charts["numbers"] = number_boxes(model, findings.rows)
    return charts | Report(findings.summary)._charts()


def _image(spec: dict[str, Any], suffix: str) -> bytes:
    if suffix == "svg":
        return str(needs_vl_convert().vegalite_to_svg(spec)).encode("utf-8")
    return bytes(needs_vl_convert().vegalite_to_png(spec, scale=SCALE))
