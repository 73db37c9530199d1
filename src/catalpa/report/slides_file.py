"""Results of a model on a table as PowerPoint slides with editable charts."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catalpa.errors import needing
from catalpa.estimator.base import Clusterer
from catalpa.explain.formatting import percent, row_count_text, shortened
from catalpa.plot.theme import GRID, INK, MUTED, PALETTE, cluster_colour
from catalpa.report.crossings import association_text, how_tested
from catalpa.report.document import PALE
from catalpa.report.findings import Findings, findings
from catalpa.report.workbook_file import EXTRA, about, notes, plain_text, save_bytes

BARS = 8  # categories in the chart of a cluster
REASONS = 6  # lines of text next to it
SERIES = 8  # categories in a stacked bar; the rarer ones are combined
WIDTH, HEIGHT, MARGIN = 13.333, 7.5, 0.6  # inches
TITLE_SIZE, TEXT_SIZE, SMALL = 28, 16, 11  # points
OTHER, REST = "(other)", "#C4CBD3"


@dataclass(frozen=True, eq=False, repr=False)
class Slides:
    """Results of a model on a table as PowerPoint slides; returned by :func:`slides`."""

    findings: Findings = field(repr=False)

    def to_bytes(self) -> bytes:
        """The file."""
        deck, findings = _Deck(), self.findings
        _title_slide(deck, findings)
        _size_slide(deck, findings)
        for one in findings.summary["clusters"]:
            _cluster_slide(deck, findings, one)
        for record in findings.crossings:
            (_mean_slide if record["kind"] == "numbers" else _share_slide)(deck, findings, record)
        stream = io.BytesIO()
        deck.file.save(stream)
        return stream.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the slides."""
        save_bytes(path, self.to_bytes())

    def __repr__(self) -> str:
        count = 2 + self.findings.view.k + len(self.findings.crossings)
        return (
            f"Slides({count} slides on {self.findings.view.k} clusters; .save('clusters.pptx') writes them)"
        )


def slides(
    model: Clusterer, X: Any, *, against: Any = None, sample_weight: Any = None, title: str = "Clusters"
) -> Slides:
    """PowerPoint slides on a clustering, whose charts are native: their data can be edited.

    The slides are the verdict, the sizes, one slide for each cluster with its reasons and the shares of its
    typical categories, and a comparison for each column of ``against``.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The fitted table, or another one with the same columns.
    against : str, array-like (n,), or list of them, optional
        Columns that were not clustered: names in the table, or values.
    sample_weight : array-like (n,), optional
        Weight of each row, as at fit.
    title : str
        Title of the first slide.

    Returns
    -------
    Slides
        ``save(path)`` writes them; this needs ``pip install "catalpa[office]"``.

    Examples
    --------
    >>> import catalpa
    >>> from catalpa.report import slides
    >>> zoo = catalpa.datasets.load("zoo")
    >>> model = catalpa.Grove(4, random_state=0).fit(zoo.frame)
    >>> slides(model, zoo.frame, against=zoo.target)
    Slides(7 slides on 4 clusters; .save('clusters.pptx') writes them)
    """
    needs_pptx()
    return Slides(findings(model, X, against, sample_weight, title))


def needs_pptx() -> Any:
    """The module pptx, or an error that says how to get it."""
    with needing("Slides need python-pptx", EXTRA):
        import pptx
    return pptx


class _Deck:
    """Slides that are being written."""

    def __init__(self) -> None:
        pptx = needs_pptx()
        from pptx.util import Inches

        self.inches: Any = Inches
        self.file: Any = pptx.Presentation()
        self.file.slide_width, self.file.slide_height = Inches(WIDTH), Inches(HEIGHT)

    def slide(self, title: str) -> Any:
        """A slide with a title, which outlines and screen readers use."""
        slide = self.file.slides.add_slide(self.file.slide_layouts[5])
        shape = slide.shapes.title
        shape.left, shape.top = self.inches(MARGIN), self.inches(0.35)
        shape.width, shape.height = self.inches(WIDTH - 2 * MARGIN), self.inches(1)
        _write(shape.text_frame, [title], TITLE_SIZE, bold=True)
        return slide

    def text(self, slide: Any, lines: Sequence[str], box: tuple[float, ...], size: int, **style: Any) -> None:
        """Paragraphs in a box: left, top, width and height in inches."""
        shape = slide.shapes.add_textbox(*map(self.inches, box))
        _write(shape.text_frame, lines, size, **style)

    def chart(self, slide: Any, kind: str, data: Any, box: tuple[float, ...]) -> Any:
        """A native chart of a kind of ``XL_CHART_TYPE``."""
        from pptx.enum.chart import XL_CHART_TYPE
        from pptx.util import Pt

        shape = slide.shapes.add_chart(getattr(XL_CHART_TYPE, kind), *map(self.inches, box), data)
        chart = shape.chart
        chart.font.size, chart.font.color.rgb = Pt(12), _rgb(INK)
        chart.has_title = False
        chart.category_axis.format.line.color.rgb = _rgb(GRID)
        chart.category_axis.reverse_order = True  # the first category at the top
        return chart


def _rgb(colour: str) -> Any:
    from pptx.dml.color import RGBColor

    return RGBColor.from_string(colour.removeprefix("#"))


def _write(frame: Any, lines: Sequence[str], size: int, *, bold: bool = False, colour: str = INK) -> None:
    """Fill a text frame with paragraphs."""
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
    from pptx.util import Pt

    frame.word_wrap, frame.vertical_anchor = True, MSO_ANCHOR.TOP
    for at, line in enumerate(lines):
        paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
        paragraph.alignment, paragraph.space_after = PP_ALIGN.LEFT, Pt(size / 2)
        run = paragraph.add_run()
        run.text = printable(line)
        run.font.size, run.font.bold, run.font.color.rgb = Pt(size), bold, _rgb(colour)


def printable(text: str) -> str:
    """Text without characters that XML does not allow."""
    return "".join(letter if letter.isprintable() else " " for letter in plain_text(text))


def _data(names: Sequence[str], series: Mapping[str, Sequence[float | None]], number_format: str) -> Any:
    """The data of a chart, which it keeps as a small workbook."""
    from pptx.chart.data import CategoryChartData

    data = CategoryChartData(number_format=number_format)
    data.categories = [printable(name) for name in names]
    for name, values in series.items():
        data.add_series(printable(name), values)
    return data


def _title_slide(deck: _Deck, findings: Findings) -> None:
    slide = deck.slide(findings.summary["title"])
    wide = WIDTH - 2 * MARGIN
    deck.text(slide, [findings.summary["verdict"]["sentence"]], (MARGIN, 1.6, wide, 2.4), 24)
    small = [about(findings), findings.summary["telling"], *notes(findings)]
    deck.text(slide, small, (MARGIN, 4.2, wide, 2.6), 14, colour=MUTED)


def _size_slide(deck: _Deck, findings: Findings) -> None:
    slide, clusters = deck.slide("How large are the clusters?"), findings.summary["clusters"]
    data = _data(findings.titles, {"Share": [one["share"] for one in clusters]}, "0%")
    chart = deck.chart(slide, "BAR_CLUSTERED", data, (MARGIN, 1.4, WIDTH - 2 * MARGIN, 5.5))
    chart.has_legend = False
    plot = chart.plots[0]
    plot.gap_width, plot.vary_by_categories = 60, False
    _in_percent(chart)
    for at in range(len(clusters)):
        fill = plot.series[0].points[at].format.fill
        fill.solid()
        fill.fore_color.rgb = _rgb(cluster_colour(at))


def _in_percent(chart: Any) -> None:
    """Show shares in percent."""
    chart.value_axis.minimum_scale = 0
    _label(chart, "0%")


def _label(chart: Any, number_format: str) -> None:
    """Write the numbers at the bars instead of an axis."""
    chart.value_axis.visible, chart.value_axis.has_major_gridlines = False, False
    plot = chart.plots[0]
    plot.has_data_labels = True
    plot.data_labels.number_format, plot.data_labels.number_format_is_linked = number_format, False


def _cluster_slide(deck: _Deck, findings: Findings, one: Mapping[str, Any]) -> None:
    """Name and share, reasons as text, and its typical categories here and elsewhere."""
    amount = f"{row_count_text(one['size'])} {'by weight' if findings.weighted else 'rows'}"
    title = findings.titles[one["cluster"]]
    slide = deck.slide(f"{shortened(title[:1].upper() + title[1:], 60)}: {percent(one['share'])} ({amount})")
    reasons = [*one["reasons"], *one["more_reasons"]]
    lines = [f"• {reason['text']}" for reason in reasons[:REASONS]] or ["Close to the whole table."]
    bars = [reason for reason in reasons if reason["kind"] != "number"][:BARS]
    deck.text(slide, lines, (MARGIN, 1.5, 5.2 if bars else WIDTH - 2 * MARGIN, 5.4), TEXT_SIZE)
    if not bars:
        return
    names = [shortened(f"{reason['column']} = {reason['category']}", 48) for reason in bars]
    series = {
        "in this cluster": [reason["share"] for reason in bars],
        "elsewhere": [reason["share_elsewhere"] for reason in bars],
    }
    chart = deck.chart(slide, "BAR_CLUSTERED", _data(_unique(names), series, "0%"), (6, 1.4, 6.8, 5.6))
    _legend(chart)
    _in_percent(chart)
    chart.value_axis.maximum_scale = 1
    chart.plots[0].gap_width, chart.plots[0].overlap = 60, 0
    for part, colour in zip(chart.plots[0].series, (cluster_colour(one["cluster"]), REST), strict=True):
        _fill(part, colour)


def _unique(names: Sequence[str]) -> list[str]:
    """Unique names, because a chart merges categories of the same name."""
    seen: dict[str, int] = {}
    texts = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        texts.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return texts


def _legend(chart: Any) -> None:
    from pptx.enum.chart import XL_LEGEND_POSITION

    chart.has_legend = True
    chart.legend.position, chart.legend.include_in_layout = XL_LEGEND_POSITION.BOTTOM, False


def _fill(series: Any, colour: str) -> None:
    series.format.fill.solid()
    series.format.fill.fore_color.rgb = _rgb(colour)


def _share_slide(deck: _Deck, findings: Findings, record: Mapping[str, Any]) -> None:
    """Stacked bars: the shares of the categories of a column in every cluster."""
    slide = deck.slide(f"{shortened(record['column'], 60)} in the clusters")
    names, lines = _few_categories(record)
    data = _data(
        [*findings.titles, "all rows"],
        {name: [line[at] for line in lines] for at, name in enumerate(_unique(names))},
        "0%",
    )
    chart = deck.chart(slide, "BAR_STACKED_100", data, (MARGIN, 1.3, WIDTH - 2 * MARGIN, 4.4))
    _legend(chart)
    _in_percent(chart)
    chart.plots[0].gap_width, chart.plots[0].overlap = 50, 100
    for at, part in enumerate(chart.plots[0].series):
        colour = REST if names[at] == OTHER else PALETTE[at % len(PALETTE)]
        _fill(part, colour)
        labels = part.data_labels
        labels.show_value, labels.number_format, labels.number_format_is_linked = True, "0%", False
        labels.font.color.rgb = _rgb(INK if colour in (*PALE, REST) else "#FFFFFF")
    text = [
        *_findings_in_words(findings, record),
        f"{association_text(record)} {how_tested(record, findings.weighted)}",
    ]
    deck.text(slide, text, (MARGIN, 5.8, WIDTH - 2 * MARGIN, 1.5), SMALL, colour=MUTED)


def _few_categories(record: Mapping[str, Any]) -> tuple[list[str], list[list[float]]]:
    """The most common categories with their shares in every cluster and overall; the rest is combined."""
    overall = record["overall"]
    order = sorted(range(len(overall)), key=lambda at: -overall[at])
    most = order if len(order) <= SERIES else order[: SERIES - 1]
    names = [shortened(record["categories"][at], 40) for at in most]
    lines = [[row[at] for at in most] for row in (*record["shares"], overall)]
    if len(most) < len(order):
        names.append(OTHER)
        lines = [[*line, max(0.0, 1.0 - sum(line)) if sum(line) else 0.0] for line in lines]
    return names, lines


def _findings_in_words(findings: Findings, record: Mapping[str, Any]) -> list[str]:
    """The cells that differ, by cluster."""
    parts = []
    for title, marks, shares in zip(findings.titles, record["marks"], record["shares"], strict=True):
        more = [
            f"{'▲' if mark > 0 else '▼'} {shortened(name, 30)} ({percent(share)})"
            for name, mark, share in zip(record["categories"], marks, shares, strict=True)
            if mark
        ]
        if more:
            parts.append(f"{title}: {', '.join(more[:4])}{', ...' if len(more) > 4 else ''}")
    return [" · ".join(parts)] if parts else ["No cell differs from what independence would give."]


def _mean_slide(deck: _Deck, findings: Findings, record: Mapping[str, Any]) -> None:
    """Bars: the mean of a number in every cluster."""
    slide = deck.slide(f"Mean {shortened(record['column'], 60)} in the clusters")
    data = _data([*findings.titles, "all rows"], {"Mean": [*record["means"], record["overall"]]}, "General")
    chart = deck.chart(slide, "BAR_CLUSTERED", data, (MARGIN, 1.3, WIDTH - 2 * MARGIN, 4.6))
    chart.has_legend = False
    plot = chart.plots[0]
    plot.vary_by_categories = False
    _label(chart, "#,##0.0")
    for at in range(len(findings.titles) + 1):
        fill = plot.series[0].points[at].format.fill
        fill.solid()
        fill.fore_color.rgb = _rgb(cluster_colour(at) if at < len(findings.titles) else REST)
    marks = zip(findings.titles, record["marks"], strict=True)
    differ = [f"{'▲' if mark > 0 else '▼'} {title}" for title, mark in marks if mark]
    text = [", ".join(differ) or "No mean differs from that of the other rows."]
    text.append(f"{association_text(record)} {how_tested(record, findings.weighted)}")
    deck.text(slide, text, (MARGIN, 6.0, WIDTH - 2 * MARGIN, 1.3), SMALL, colour=MUTED)
