"""Everything Catalpa raises or warns about, in one tree.

::

    CatalpaError (Exception)
    ├── TableError (ValueError)             the table cannot be used as it is
    │   ├── UnknownColumn                   a named column is not in the table
    │   ├── ColumnMismatch                  predict got other columns than fit
    │   ├── MissingValues                   missing cells where none are allowed
    │   ├── UnseenCategories                categories that fit never saw, and handle_unknown="error"
    │   ├── NumericColumns                  numbers given to a purely categorical method
    │   └── UnsupportedTable (TypeError)    not a table of a known kind
    ├── ParameterError (ValueError)         a setting that cannot work
    │   └── UnknownCluster (IndexError)     a cluster number that the model does not have
    ├── UndefinedMetric (ValueError)        the method is not defined on this table
    ├── ModelFileError (ValueError)         a model file that cannot be read
    ├── CheckpointError (ValueError)        a checkpoint of another fit, or one that cannot be used
    ├── SqlError (ValueError)               a model that no SQL query can express
    ├── OnnxError (ValueError)              a model that no ONNX graph can express
    ├── DatasetError (OSError)              a data set that is not here and cannot be fetched
    ├── OutputError (OSError)               a file that cannot, or must not, be written
    ├── EngineStopped (RuntimeError)        a Dask cluster or Spark session that stopped during the work
    └── MissingDependency (ImportError)     an optional package is needed

    CatalpaWarning (UserWarning)
    ├── ColumnWarning                       a column looks like an identifier, or is very wide
    ├── LopsidedClustersWarning             one big cluster, and crumbs
    ├── NoStructureWarning                  no number of clusters describes the table better than one
    ├── UnseenCategoryWarning               predict met categories that fit never saw
    └── SlowCoreWarning                     the compiled core is not available
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = [
    "CatalpaError",
    "CatalpaWarning",
    "CheckpointError",
    "ColumnMismatch",
    "ColumnWarning",
    "DatasetError",
    "EngineStopped",
    "LopsidedClustersWarning",
    "MissingDependency",
    "MissingValues",
    "ModelFileError",
    "NoStructureWarning",
    "NumericColumns",
    "OnnxError",
    "OutputError",
    "ParameterError",
    "SlowCoreWarning",
    "SqlError",
    "TableError",
    "UndefinedMetric",
    "UnknownCluster",
    "UnknownColumn",
    "UnseenCategories",
    "UnseenCategoryWarning",
    "UnsupportedTable",
]


# Most are a ValueError or TypeError too, as scikit-learn's own: code that catches these goes on working.
class CatalpaError(Exception):
    """Base of every error that Catalpa raises on purpose."""


class TableError(CatalpaError, ValueError):
    """The table cannot be used as it is."""


class UnknownColumn(TableError):
    """A column was named that the table does not have."""


class ColumnMismatch(TableError):
    """The table at predict has other columns than the table at fit."""


class MissingValues(TableError):
    """Missing cells where none are allowed."""


class UnseenCategories(TableError):
    """Categories that fit never saw, with ``handle_unknown="error"``."""


class NumericColumns(TableError):
    """Numbers given to a method that knows categories only."""


class UnsupportedTable(TableError, TypeError):
    """The object is not a table of a kind that can be read."""


class ParameterError(CatalpaError, ValueError):
    """A setting that cannot work, alone or with this table."""


class UnknownCluster(ParameterError, IndexError):
    """A cluster was asked for that the model does not have."""


class UndefinedMetric(CatalpaError, ValueError):
    """The method is not defined on this table."""


class ModelFileError(CatalpaError, ValueError):
    """A model file that cannot be read."""


class CheckpointError(CatalpaError, ValueError):
    """A checkpoint that belongs to another fit, or cannot be read or written."""


class SqlError(CatalpaError, ValueError):
    """A model that no SQL query can express."""


class OnnxError(CatalpaError, ValueError):
    """A model that no ONNX graph can express."""


class DatasetError(CatalpaError, OSError):
    """A data set that is neither here nor can be fetched."""


class OutputError(CatalpaError, OSError):
    """A file that cannot be written, or must not be overwritten."""


class EngineStopped(CatalpaError, RuntimeError):
    """A Dask cluster or Spark session stopped while Catalpa worked on its table."""


class MissingDependency(CatalpaError, ImportError):
    """An optional package is needed; the message has the pip command."""


@contextmanager
def needing(need: str, package: str) -> Iterator[None]:
    """Around the import of an optional package: where it is missing, say what needs it and how to get it."""
    try:
        yield
    except ImportError as error:
        raise MissingDependency(f"{need}. Install it with: pip install {package}") from error


# Packages whose lines are never the user's: what calls us, and what stands between two of our own calls.
_NOT_THE_USER = frozenset(("catalpa", "sklearn", "joblib")) | sys.stdlib_module_names


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user: the innermost one outside Catalpa, scikit-learn and Python itself."""
    caller = sys._getframe(1)
    frame: FrameType | None = caller
    while frame is not None and _package_of(frame) in _NOT_THE_USER:
        frame = frame.f_back
    place = caller if frame is None else frame  # a thread of ours has no line of the user
    warnings.warn_explicit(
        message,
        category,
        filename=place.f_code.co_filename,
        lineno=place.f_lineno,
        module=str(place.f_globals.get("__name__", "<unknown>")),
        registry=place.f_globals.setdefault("__warningregistry__", {}),
    )


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


class CatalpaWarning(UserWarning):
    """Base of every warning that Catalpa gives."""


class ColumnWarning(CatalpaWarning):
    """A column looks like an identifier, or has very many categories."""


class LopsidedClustersWarning(CatalpaWarning):
    """One cluster holds nearly all rows, and the others are crumbs."""


class NoStructureWarning(CatalpaWarning):
    """No number of clusters describes the table better than one cluster does."""


class UnseenCategoryWarning(CatalpaWarning):
    """Predict met categories that fit never saw."""


class SlowCoreWarning(CatalpaWarning):
    """The compiled core is not available; the NumPy reference is used."""
