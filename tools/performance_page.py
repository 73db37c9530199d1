"""Write the measured parts of docs/inside/performance.md, and its chart, from results/performance.json.

    python tools/performance_page.py

``make bench`` measures and then calls this; no figure on the page is typed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "performance.json"
PAGE = ROOT / "docs" / "inside" / "performance.md"
CHART = ROOT / "docs" / "images" / "performance.svg"

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
    """Ratio of two times, with three digits or more."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def about(ratio: float) -> str:
    """Ratio of two times, with two significant digits.

    >>> about(0.991), about(13.79), about(2479.8)
    ('0.99', '14', '2,500')
    """
    return f"{float(f'{ratio:.2g}'):,g}"


def summary(stored: Mapping[str, Any]) -> str:
    """Range of ratios by task and program, with notes, and the number of targets met, in Markdown."""
    lines = stored["lines"]
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        task = line["work"].partition(",")[0]
        groups.setdefault((task, line["ours"], line["program"]), []).append(line)
    rows = [f"| {' | '.join((*names, _range(group), _notes(group)))} |" for names, group in groups.items()]
    met, slower = sum(line["met"] for line in lines), sum(line["ratio"] < 1 for line in lines)
    return "\n".join(
        [
            f"{met} of {len(lines)} targets are met; "
            f"Catalpa is slower in {slower} of {len(lines)} comparisons.",
            "",
            "| task | Catalpa | compared with | times faster | notes |",
            "|---|---|---|--:|---|",
            *rows,
        ]
    )


def _range(lines: Sequence[Line]) -> str:
    ratios = [line["ratio"] for line in lines]
    return " to ".join(dict.fromkeys((about(min(ratios)), about(max(ratios)))))


def _notes(lines: Sequence[Line]) -> str:
    """What qualifies these ratios: how often each note applies, the clock, and targets that are missed."""
    counts = Counter(line["note"] for line in lines if line["note"])
    counts["wall time"] = sum(line["work"].endswith("wall time") for line in lines)
    counts["target missed"] = sum(not line["met"] for line in lines)
    return "; ".join(f"{count} of {len(lines)}: {note}" for note, count in counts.items() if count)


def table(lines: Sequence[Line]) -> str:
    """Every comparison, in Markdown."""
    head = "| task | Catalpa | time | compared with | time | ratio | target | ARI | |"
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
        "" if line["met"] else "target missed",
    )
    return f"| {' | '.join(cells)} |"


def measured(stored: Mapping[str, Any]) -> str:
    """Machine, chart and table of every comparison, in Markdown."""
    lines, machine = stored["lines"], stored["machine"]
    versions = ", ".join(f"{name} {text}" for name, text in machine["versions"].items() if name != "catalpa")
    return "\n".join(
        [
            f"Measured on {machine['day']} on one machine: {machine['processor']}; Python "
            f"{machine['python']}, {versions}; core: {machine['core']}.",
            "",
            "![Time of other programs relative to Catalpa](../images/performance.svg)",
            "",
            "**Where Catalpa is slower:**",
            "",
            *(_slower(lines) or ["- in none of these comparisons."]),
            "",
            "<details>",
            "<summary>Times, ratios and targets of every comparison</summary>",
            "",
            table(lines),
            "",
            "</details>",
        ]
    )


def _slower(lines: Sequence[Line]) -> list[str]:
    return [
        f"- {line['work']}: {line['ours']} takes {duration(line['ours_seconds'])}, {line['program']} "
        f"{duration(line['program_seconds'])}."
        for line in lines
        if line["ratio"] < 1
    ]


def with_part(page: str, name: str, text: str) -> str:
    """Replace what is between the begin and end marks of one part of the page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def with_measurements(page: str, stored: Mapping[str, Any]) -> str:
    """Renew the summary and the measured part of the page."""
    return with_part(with_part(page, "summary", summary(stored)), "measured", measured(stored))


def chart(lines: Sequence[Line]) -> str:
    """A dot per ratio on a logarithmic axis, a tick for its target, and a line at ratio 1."""
    low = min(0.0, *(math.log10(min(line["ratio"], line["bar"])) for line in lines))
    high = max(math.log10(max(line["ratio"], line["bar"])) for line in lines)
    scale = (WIDTH - LABEL - 90) / (high - low)

    def place(ratio: float) -> float:
        return LABEL + (math.log10(ratio) - low) * scale

    height = TOP + LINE * len(lines) + 12
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="11" fill="#7d8590">',
        "<title>Time of other programs relative to Catalpa</title>",
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
    PAGE.write_text(with_measurements(PAGE.read_text("utf-8"), stored), encoding="utf-8")
    CHART.write_text(chart(stored["lines"]), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(stored['lines'])} comparisons")


if __name__ == "__main__":
    main()
