"""Write the measured part of docs/inside/performance.md, and its chart, from results/performance.json.

    python tools/performance_page.py

``make bench`` measures and then calls this; no figure on the page is typed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "performance.json"
PAGE = ROOT / "docs" / "inside" / "performance.md"
CHART = ROOT / "docs" / "images" / "performance.svg"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

WIDTH, LINE, LABEL, TOP = 760, 17, 330, 34
GREY, AHEAD, BEHIND = "#7d8590", "#3b82c4", "#c2703d"  # to be read on white and on black
Line = Mapping[str, Any]


def duration(seconds: float) -> str:
    """A time in the unit that reads best.

    >>> duration(0.00123), duration(21.3)
    ('1.23 ms', '21.3 s')
    """
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def times(ratio: float) -> str:
    """How many times as long the other program takes."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def table(lines: Sequence[Line]) -> str:
    """Every comparison, in Markdown."""
    head = "| work | Catalpa | time | beside | time | ratio | bar | ARI | |"
    rule = "|---|---|--:|---|--:|--:|--:|--:|---|"
    return "\n".join([head, rule, *(_row(line) for line in lines)])


def _row(line: Line) -> str:
    agree = [line["ours_agreement"], line["program_agreement"]]
    scores = " / ".join("-" if one is None else f"{one:.3f}" for one in agree) if any(agree) else ""
    program = f"{line['program']} ({line['note']})" if line["note"] else line["program"]
    cells = (
        line["work"],
        line["ours"],
        duration(line["ours_seconds"]),
        program,
        duration(line["program_seconds"]),
        f"**{times(line['ratio'])}**" if line["met"] else times(line["ratio"]),
        times(line["bar"]),
        scores,
        "" if line["met"] else "below the bar",
    )
    return f"| {' | '.join(cells)} |"


def measured(stored: Mapping[str, Any]) -> str:
    """The part of the page that figures make."""
    lines, machine = stored["lines"], stored["machine"]
    versions = ", ".join(f"{name} {text}" for name, text in machine["versions"].items() if name != "catalpa")
    met = sum(line["met"] for line in lines)
    return "\n".join(
        [
            f"Measured on {machine['day']} on one machine: {machine['processor']}; Python "
            f"{machine['python']}, {versions}; core: {machine['core']}.",
            f"{met} of {len(lines)} bars are met.",
            "",
            "![How many times as long other programs take](../images/performance.svg)",
            "",
            table(lines),
            "",
            "**Where Catalpa is not ahead:**",
            "",
            *(_behind(lines) or ["- nowhere in this table."]),
        ]
    )


def _behind(lines: Sequence[Line]) -> list[str]:
    return [
        f"- {line['work']}: {line['ours']} takes {duration(line['ours_seconds'])}, {line['program']} "
        f"{duration(line['program_seconds'])};"
        for line in lines
        if line["ratio"] < 1
    ]


def with_measured(page: str, text: str) -> str:
    """The page with the part between the marks replaced."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def chart(lines: Sequence[Line]) -> str:
    """A dot for every ratio on a logarithmic axis, a tick for its bar, a line where both are level."""
    low = min(0.0, *(math.log10(min(line["ratio"], line["bar"])) for line in lines))
    high = max(math.log10(max(line["ratio"], line["bar"])) for line in lines)
    scale = (WIDTH - LABEL - 90) / (high - low)

    def place(ratio: float) -> float:
        return LABEL + (math.log10(ratio) - low) * scale

    height = TOP + LINE * len(lines) + 12
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="11" fill="#7d8590">',
        "<title>How many times as long other programs take as Catalpa</title>",
    ]
    for power in range(math.ceil(low), math.floor(high) + 1):
        x = place(10.0**power)
        drawn.append(_stroke((x, TOP - 8), (x, height - 8), GREY, 1.6 if power == 0 else 0.4))
        drawn.append(f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="middle">{10**power:g}x</text>')
    for at, line in enumerate(lines):
        drawn += _drawn(line, TOP + LINE * at + LINE / 2, place)
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _drawn(line: Line, y: float, place: Callable[[float], float]) -> list[str]:
    colour = AHEAD if line["ratio"] >= 1 else BEHIND
    words = escape(f"{line['key']}: {line['program']}")
    x, bar = place(line["ratio"]), place(line["bar"])
    return [
        f'<text x="{LABEL - 12}" y="{y + 4:.1f}" text-anchor="end">{words}</text>',
        _stroke((place(1.0), y), (x, y), colour, 3),
        _stroke((bar, y - 6), (bar, y + 6), GREY, 2),
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
        f'<text x="{max(x, bar) + 9:.1f}" y="{y + 4:.1f}">{times(line["ratio"])}</text>',
    ]


def _stroke(begin: tuple[float, float], end: tuple[float, float], colour: str, width: float) -> str:
    (x1, y1), (x2, y2) = begin, end
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width:g}"/>'


def main() -> None:
    """Write the page and the chart."""
    stored = json.loads(RESULTS.read_text("utf-8"))
    PAGE.write_text(with_measured(PAGE.read_text("utf-8"), measured(stored)), encoding="utf-8")
    CHART.write_text(chart(stored["lines"]), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(stored['lines'])} comparisons")


if __name__ == "__main__":
    main()
