"""Everything Catalpa raises or warns about, in one tree.

::

    CatalpaError (Exception)
    ├── TableError (ValueError)             the table cannot be used as it is
    │   ├── UnknownColumn                   a named column is not in the table
    │   ├── ColumnMismatch                  predict got different columns than fit
    │   ├── MissingValues                   missing values are not supported here
    │   ├── UnseenCategories                categories not seen at fit, and handle_unknown="error"
    │   ├── NumericColumns                  numeric columns given to a purely categorical method
    │   └── UnsupportedTable (TypeError)    not a supported type of table
    ├── ParameterError (ValueError)         an invalid parameter
    │   └── UnknownCluster (IndexError)     a cluster number that the model does not have
    ├── UndefinedMetric (ValueError)        the method is not defined on this table
    ├── ModelFileError (ValueError)         a model file that cannot be read
    ├── CheckpointError (ValueError)        a checkpoint of another fit, or an unusable one
    ├── SqlError (ValueError)               a model that cannot be exported as SQL
    ├── OnnxError (ValueError)              a model that cannot be exported as ONNX
    ├── DatasetError (OSError)              a data set that was not found and cannot be downloaded
    ├── OutputError (OSError)               a file that cannot, or must not, be written
    ├── EngineStopped (RuntimeError)        a Dask cluster or Spark session that stopped
    └── MissingDependency (ImportError)     an optional package is not installed

    CatalpaWarning (UserWarning)
    ├── ColumnWarning                       a column looks like an identifier, or has very many categories
    ├── LopsidedClustersWarning             one cluster holds nearly all rows
    ├── MostClustersWarning                 the answer is the largest number of clusters that was tried
    ├── NoStructureWarning                  no number of clusters describes the table better than one
    ├── UnseenCategoryWarning               predict got categories not seen at fit
    └── SlowCoreWarning                     the compiled core is not available
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
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
    "MostClustersWarning",
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


# Most are also a ValueError or TypeError, like scikit-learn's own, so code that catches those still works.
class CatalpaError(Exception):
    """Base of every error that Catalpa raises on purpose."""


class TableError(CatalpaError, ValueError):
    """The table cannot be used as it is."""


class UnknownColumn(TableError):
    """A column was named that the table does not have."""


class ColumnMismatch(TableError):
    """The table at predict has different columns than the table at fit."""


class MissingValues(TableError):
    """Missing values are not supported here."""


class UnseenCategories(TableError):
    """Categories not seen at fit, with ``handle_unknown="error"``."""


class NumericColumns(TableError):
    """Numeric columns were given to a method for categorical columns only."""


class UnsupportedTable(TableError, TypeError):
    """The object is not a supported type of table."""


class ParameterError(CatalpaError, ValueError):
    """A parameter is invalid, by itself or for this table."""


class UnknownCluster(ParameterError, IndexError):
    """The model has no cluster with this number."""


class UndefinedMetric(CatalpaError, ValueError):
    """The method is not defined on this table."""


class ModelFileError(CatalpaError, ValueError):
    """A model file that cannot be read."""


class CheckpointError(CatalpaError, ValueError):
    """A checkpoint that belongs to another fit, or cannot be read or written."""


class SqlError(CatalpaError, ValueError):
    """The model cannot be exported as an SQL query."""


class OnnxError(CatalpaError, ValueError):
    """The model cannot be exported as an ONNX graph."""


class DatasetError(CatalpaError, OSError):
    """The data set was not found and cannot be downloaded."""


class OutputError(CatalpaError, OSError):
    """A file that cannot be written, or must not be overwritten."""


class EngineStopped(CatalpaError, RuntimeError):
    """A Dask cluster or Spark session stopped during a computation."""


class MissingDependency(CatalpaError, ImportError):
    """An optional package is not installed; the message has the pip command."""


MOST_LETTERS = 400  # of the names of columns in a message


def columns_hint(wanted: str, names: Iterable[str]) -> str:
    """A sentence about a column that a table lacks: the name that was probably meant, or what there is.

    Examples
    --------
    >>> columns_hint("Contrac", ["Contract", "Partner"])
    "Did you mean 'Contract'?"
    >>> columns_hint("age", ["colour", "size"])
    "Its columns are ['colour', 'size']."
    >>> columns_hint("age", [f"a rather long question, number {at}" for at in range(90)])[-20:]
    "mber 2' and 87 more."
    """
    known = list(map(str, names))
    lowered = {name.casefold(): name for name in reversed(known)}
    if close := get_close_matches(wanted.casefold(), lowered, 1, cutoff=0.75):
        return f"Did you mean {lowered[close[0]]!r}?"
    listed = str(known)
    return f"Its columns are {listed if len(listed) <= MOST_LETTERS else names_listed(known)}."


def names_listed(names: Iterable[str]) -> str:
    """Names for a message: all, or so many that the message can be read.

    Examples
    --------
    >>> names_listed(["colour", "size"])
    "'colour', 'size'"
    >>> names_listed([f"a rather long question, number {at}" for at in range(90)])[-12:]
    ' and 87 more'
    """
    known = list(map(str, names))
    if sum(map(len, known)) + 4 * len(known) <= MOST_LETTERS:
        return ", ".join(map(repr, known))
    shown: list[str] = []
    for name in known:
        shown.append(repr(name if len(name) <= 60 else f"{name[:59]}…"))
        if sum(map(len, shown)) > MOST_LETTERS // 4:
            break
    more = len(known) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


@contextmanager
def needing(need: str, package: str) -> Iterator[None]:
    """Wrap the import of an optional package: if it is missing, the error says how to install it."""
    try:
        yield
    except ImportError as error:
        raise MissingDependency(f"{need}. Install it with: pip install {package}") from error


# Packages whose frames are never the user's: our callers, and what runs between two of our own calls.
_NOT_THE_USER = frozenset(("catalpa", "sklearn", "joblib")) | sys.stdlib_module_names


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: the innermost frame outside Catalpa, scikit-learn and the standard library."""
    caller = sys._getframe(1)
    frame: FrameType | None = caller
    while frame is not None and _package_of(frame) in _NOT_THE_USER:
        frame = frame.f_back
    place = caller if frame is None else frame  # our own threads have no frame of the user
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
    """Base of every warning that Catalpa issues."""


class ColumnWarning(CatalpaWarning):
    """A column looks like an identifier, or has very many categories."""


class LopsidedClustersWarning(CatalpaWarning):
    """One cluster holds nearly all rows."""


class MostClustersWarning(CatalpaWarning):
    """The number of clusters is the largest that was tried: larger ones may be better."""


class NoStructureWarning(CatalpaWarning):
    """The clusters describe the table no better than one cluster does."""


class UnseenCategoryWarning(CatalpaWarning):
    """Predict got categories not seen at fit."""


class SlowCoreWarning(CatalpaWarning):
    """The compiled core is not available; the NumPy reference is used."""
