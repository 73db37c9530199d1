"""A fitted model becomes a page: summary (dict) -> charts -> one HTML file."""

from catalpa.report.comparing import Comparison, compare
from catalpa.report.document import Report, report
from catalpa.report.drifting import Drift, drift

__all__ = ["Comparison", "Drift", "Report", "compare", "drift", "report"]
