"""A fitted model becomes a page: summary (dict) -> charts -> one HTML file."""

from catalpa.estimator.base import Clusterer
from catalpa.report.comparing import Comparison, compare
from catalpa.report.drifting import Drift, drift
from catalpa.report.reporting import Report

report = Clusterer.report  # report(model, X), as model.report(X)

__all__ = ["Comparison", "Drift", "Report", "compare", "drift", "report"]
