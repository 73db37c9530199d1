"""Reports on fitted models: summary (dict) -> charts -> one HTML file."""

from catalpa.estimator.base import Clusterer
from catalpa.report.compare_page import Comparison, compare
from catalpa.report.drift_page import Drift, drift
from catalpa.report.explore_page import Explorer, explore
from catalpa.report.history_page import History, history
from catalpa.report.markdown_file import Markdown, markdown
from catalpa.report.report_page import Report
from catalpa.report.short_form_page import ShortForm, short_form
from catalpa.report.slides_file import Slides, slides
from catalpa.report.workbook_file import Workbook, workbook

report = Clusterer.report  # report(model, X), as model.report(X)

__all__ = [
    "Comparison",
    "Drift",
    "Explorer",
    "History",
    "Markdown",
    "Report",
    "ShortForm",
    "Slides",
    "Workbook",
    "compare",
    "drift",
    "explore",
    "history",
    "markdown",
    "report",
    "short_form",
    "slides",
    "workbook",
]
