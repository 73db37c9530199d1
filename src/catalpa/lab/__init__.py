"""The published tables and figures, run again, and honest baselines for any other table."""

from catalpa.lab.journal import read_results
from catalpa.lab.measure import compare
from catalpa.lab.protocol import Entry, Job, Protocol, read_protocol
from catalpa.lab.run import run

__all__ = ["Entry", "Job", "Protocol", "compare", "read_protocol", "read_results", "run"]
