"""A fitted model becomes a page: summary (dict) -> charts -> one HTML file."""

from catalpa.report.document import Report, report

__all__ = ["Report", "report"]
