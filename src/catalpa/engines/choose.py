"""The one place that looks at what kind of table came, and picks the engine for it."""

from __future__ import annotations

from typing import Any

from catalpa.engines.local import InMemory
from catalpa.engines.opening import Opener
from catalpa.table import open_table


def opener_for(X: Any) -> Opener:
    """The opener of a table, by the package of its type; no such package is imported to ask."""
    # isinstance would need the package, and to import Spark takes longer than many a fit.
    package, _, rest = type(X).__module__.partition(".")
    if (package, rest) == ("catalpa", "table.files.scan"):
        from catalpa.engines.stream import InFiles  # who has all rows in memory needs no files

        return InFiles(X)
    if package in ("dask", "dask_expr"):
        from catalpa.engines.dask import InDask

        return InDask(X)
    if package == "pyspark":
        from catalpa.engines.spark import InSpark

        return InSpark(X)
    return InMemory(open_table(X))
