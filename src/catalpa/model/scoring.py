"""Scoring with a fitted model: the data that exports need, and a scorer for services.

Exports do not use the table of cell types (``table.cell_types``). That table converts cells of Python, NumPy,
pandas and Arrow to categories; an SQL query or ONNX graph gets cells of a database or a tensor, which have
types of their own. Exports need the type of the categories (``types_of``), and whether they are dates or
times (``holds_moments``), which are categories of text here but not in a database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from catalpa.errors import CatalpaError, ColumnMismatch, ParameterError
from catalpa.inspection.recipe import Recipe
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import IGNORED, UNSEEN, IntArray
from catalpa.table.schema import Column, Schema, category_key


@dataclass(frozen=True)
class DensityScale:
    """Scale of outlier scores: ``(low - log density) / spread``, at least 0."""

    low: float
    spread: float


@dataclass(frozen=True, eq=False)
class Scoring:
    """The parts of a fitted model that determine labels."""

    schema: Schema
    fixed: FixedScores  # on the schema's axis, with special places
    handle_unknown: str
    density_scale: DensityScale | None = None  # None for methods without probabilities
    outliers_above: float | None = None  # outlier score above which the label is -1; None for no such label
    recipe: Recipe | None = None  # what is done to a table before

    @property
    def derived(self) -> list[str]:
        """Columns of the table that are used through parts of them."""
        origins = [column.origin for column in self.schema.columns if column.origin is not None]
        return list(dict.fromkeys(origin.column for origin in origins if not origin.steps))

    @property
    def blocks(self) -> list[str]:
        """Columns that say whether a block of the table's columns was answered."""
        return [column.name for column in self.schema.columns if column.origin and column.origin.steps]

    @property
    def parents(self) -> list[Column | None]:
        """For every categorical column its parent, or None."""
        columns = self.schema.categorical
        if self.fixed.joined is None:
            return [None] * len(columns)
        return [None if parent < 0 else columns[parent] for parent in self.fixed.joined.parents]

    @property
    def parts(self) -> list[tuple[Column, IntArray]]:
        """Every categorical column with its costs (places, k): of categories, then of special places.

        For a tied column there is one such part for every category and special place of its parent.
        """
        cuts = zip(self.schema.categorical, pairwise(self.fixed.axis.offsets), strict=True)
        return [(column, self.fixed.table[start:stop]) for column, (start, stop) in cuts]

    def refused_place(self, column: Column) -> int:
        """Index after all costs of a column's part, for cells that predict rejects."""
        return column.size + 1 + max(IGNORED, UNSEEN)

    def unseen_place(self, column: Column) -> int:
        """Index of the cost of an unseen category in its column's part."""
        return self.refused_place(column) if self.handle_unknown == "error" else column.size + UNSEEN

    def missing_place(self, column: Column) -> int:
        """Index of the cost of a missing value in its column's part."""
        if column.missing_code is not None:
            return column.missing_code
        left_out = {"error": self.refused_place(column), "ignore": column.size + IGNORED}
        return left_out.get(self.schema.missing_of(column), self.unseen_place(column))


def types_of(column: Column, refused: type[CatalpaError], holder: str) -> set[str]:
    """The type of a column's categories; raises an error if there are several."""
    types = {category_key(value)[0] for value in column.known}
    if len(types) > 1:
        raise refused(
            f"Column {column.name!r} has {' and '.join(sorted(types))} categories, but {holder} has values "
            "of one type. Convert it to text and fit again."
        )
    return types


def no_probabilities(method: str, instead: str) -> ParameterError:
    """The error for methods without membership probabilities."""
    return ParameterError(
        f"{method} assigns every row to one cluster and has no membership probabilities. Fit Grove, or "
        f"{instead}."
    )


def holds_moments(column: Column) -> bool:
    """True if the categories are dates or times as text."""
    dtype_text = f"{column.dtype.name} {column.dtype.inner}".lower()
    return not column.binned and ("date" in dtype_text or "time" in dtype_text)


KeysPolicy: TypeAlias = Literal["error", "ignore"]


class Scorer:
    """Low-latency predictions for single rows, created by ``model.scorer()``.

    Predictions, warnings and errors are those of the model. A row of known categories takes about 0.2 ms if
    it is a dict or a list. A scorer has no mutable state, so it can be shared between threads and pickled.

    Parameters
    ----------
    model : fitted estimator
    unknown_keys : {"error", "ignore"}, default="error"
        How to treat keys of a row that are not columns of fit: raise an error, or ignore them.
    missing_keys : {"error", "ignore"}, default="error"
        How to treat columns without a key in a row: raise an error, or treat them as missing values.

    Examples
    --------
    >>> from catalpa import Grove
    >>> rows = [{"colour": "red", "size": "big"}, {"colour": "blue", "size": "small"}] * 4
    >>> scorer = Grove(2, random_state=0).fit(rows).scorer()
    >>> scorer.predict([{"size": "big", "colour": "red"}, rows[1]]).shape
    (2,)
    >>> scorer.predict_proba_one({"colour": "red", "size": "big"}).argmax() == scorer.predict_one(rows[0])
    np.True_
    """

    def __init__(
        self, model: Any, unknown_keys: KeysPolicy = "error", missing_keys: KeysPolicy = "error"
    ) -> None:
        settings: dict[str, Any] = {"unknown_keys": unknown_keys, "missing_keys": missing_keys}
        for name, value in settings.items():
            if not isinstance(value, str) or value not in ("error", "ignore"):
                raise ParameterError(f"{name} is {value!r}; it can be 'error' or 'ignore'.")
        self._model = copy(model)  # not affected by a later fit of the model
        self._unknown_keys, self._missing_keys = unknown_keys, missing_keys
        self._columns: dict[str, None] = dict.fromkeys(model.schema_.inputs)
        recipe = getattr(model, "recipe_", None)
        self._left_out = frozenset(recipe.left_out if recipe is not None else ())  # known, and not clustered

    def predict_one(self, row: Mapping[str, Any] | Sequence[Any]) -> int:
        """Cluster of one row: a dict of cells by column, or the cells in the order of the columns."""
        return int(self.predict([row])[0])

    def predict(self, rows: Any) -> Any:
        """Cluster of every row, (n,), of a list of rows or any supported table."""
        return self._model.predict(self._checked(rows))

    def predict_proba_one(self, row: Mapping[str, Any] | Sequence[Any]) -> Any:
        """Membership probabilities of one row, (k,)."""
        return self.predict_proba([row])[0]

    def predict_proba(self, rows: Any) -> Any:
        """Membership probabilities of every row, (n, k), for methods such as Grove."""
        if not hasattr(self._model, "predict_proba"):
            raise no_probabilities(type(self._model).__name__, "use predict")
        return self._model.predict_proba(self._checked(rows))

    def explain(self, row: Mapping[str, Any] | Sequence[Any]) -> Any:
        """Why a row is in its cluster and not in the next best one: ``explain`` of the model."""
        (checked,) = self._checked([row])
        return self._model.explain(checked)

    def _checked(self, rows: Any) -> Any:
        """Mappings as dicts with the columns of fit; other rows and tables are passed on unchanged."""
        if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
            return rows
        records = [self._record(at, row) for at, row in enumerate(rows)]
        return records if self._model.schema_.named else [list(record.values()) for record in records]

    def _record(self, at: int, row: Mapping[Any, Any]) -> dict[str, Any]:
        columns = self._columns
        unknown = (
            []
            if self._unknown_keys == "ignore"
            else [key for key in row if not (key in columns or key in self._left_out)]
        )
        absent = [] if self._missing_keys == "ignore" else [name for name in columns if name not in row]
        if unknown or absent:
            problems = [f"has the unknown keys {unknown}"] * bool(unknown)
            problems += [f"has no {absent}"] * bool(absent)
            settings = ["unknown_keys='ignore'"] * bool(unknown) + ["missing_keys='ignore'"] * bool(absent)
            raise ColumnMismatch(
                f"Row {at} {' and '.join(problems)}. The columns of fit are {list(columns)}. To accept such "
                f"rows, call scorer({', '.join(settings)})."
            )
        return {name: row.get(name) for name in columns}

    def __repr__(self) -> str:
        return f"Scorer of {type(self._model).__name__}, {self._model.n_clusters_} clusters"
