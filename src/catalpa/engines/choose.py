"""The one place that looks at what kind of table came, and picks the engine for it."""

from __future__ import annotations

import importlib
from typing import Any

from catalpa.engines.base import Engine
from catalpa.engines.local import LocalEngine
from catalpa.engines.opening import Encoding, Header, Opened, Opener, TableSettings, in_memory
from catalpa.engines.stream import InFiles
from catalpa.table import open_table
from catalpa.table.files.scan import Scan
from catalpa.table.scaling import Scaling
from catalpa.table.schema import Schema

__all__ = ["InMemory", "opener_for"]


class InMemory:
    """Frames, arrays and lists: the rows are here."""

    def header(self, X: Any) -> Header:
        table = open_table(X)
        return Header(X, table.names, table.named, len(table))

    def for_fit(self, X: Any, settings: TableSettings, sample_weight: Any) -> Opened:
        schema, scaling, rows, units_per_weight = in_memory(X, settings, sample_weight)
        return Opened(schema, scaling, LocalEngine(rows, settings.n_jobs), units_per_weight)

    def for_predict(self, X: Any, schema: Schema, scaling: Scaling, settings: TableSettings) -> Engine:
        return LocalEngine(Encoding(schema, scaling, settings).rows(X), settings.n_jobs)


def opener_for(X: Any) -> Opener:
    """The opener of a table's kind, told by the package of its type; no such package is imported to ask."""
    if isinstance(X, Scan):
        return InFiles()
    package = type(X).__module__.partition(".")[0]
    if package in ("dask", "dask_expr"):
        return importlib.import_module("catalpa.engines.dask").InDask()  # type: ignore[no-any-return]
    if package == "pyspark":
        return importlib.import_module("catalpa.engines.spark").InSpark()  # type: ignore[no-any-return]
    return InMemory()
