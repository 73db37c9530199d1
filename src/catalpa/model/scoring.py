"""A fitted model for other programs: what decides its labels, and a scorer for services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from catalpa.errors import CatalpaError, ColumnMismatch, ParameterError
from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import IGNORED, UNSEEN, IntArray
from catalpa.table.schema import Column, Schema, category_key


@dataclass(frozen=True)
class DensityScale:
    """Scale of outlier scores: a row scores by how far its log density is below ``low``, over ``spread``."""

    low: float
    spread: float


@dataclass(frozen=True, eq=False)
class Scoring:
    """What decides the labels of a fitted model."""

    schema: Schema
    fixed: FixedScores  # on the schema's axis with holes
    handle_unknown: str
    density_scale: DensityScale | None = None  # None for methods without probabilities

    @property
    def derived(self) -> list[str]:
        """Columns of the table that were taken by parts of them."""
        origins = [column.origin.column for column in self.schema.columns if column.origin is not None]
        return list(dict.fromkeys(origins))

    @property
    def parents(self) -> list[Column | None]:
        """For every categorical column the one that it is tied to, if there is one."""
        columns = self.schema.categorical
        if self.fixed.joined is None:
            return [None] * len(columns)
        return [None if parent < 0 else columns[parent] for parent in self.fixed.joined.parents]

    @property
    def parts(self) -> list[tuple[Column, IntArray]]:
        """Every categorical column with what its cells cost, (size + holes, k): categories, then holes.

        Those of a tied column follow each other for every category, and hole, of its parent.
        """
        cuts = zip(self.schema.categorical, pairwise(self.fixed.axis.offsets), strict=True)
        return [(column, self.fixed.table[start:stop]) for column, (start, stop) in cuts]

    def refused_place(self, column: Column) -> int:
        """The place behind all costs of a column's part, for cells that predict refuses."""
        return column.size + 1 + max(IGNORED, UNSEEN)

    def unseen_place(self, column: Column) -> int:
        """Where in its column's part the cost of an unseen category stands."""
        return self.refused_place(column) if self.handle_unknown == "error" else column.size + UNSEEN

    def missing_place(self, column: Column) -> int:
        """The same of a missing cell."""
        if column.missing_code is not None:
            return column.missing_code
        left_out = {"error": self.refused_place(column), "ignore": column.size + IGNORED}
        return left_out.get(self.schema.missing, self.unseen_place(column))


def types_of(column: Column, refused: type[CatalpaError], holder: str) -> set[str]:
    """The type of a column's categories, if there are any: several are refused."""
    types = {category_key(value)[0] for value in column.known}
    if len(types) > 1:
        raise refused(
            f"Column {column.name!r} holds {' and '.join(sorted(types))} categories, and {holder} holds "
            "values of one type. Convert it to text and fit again."
        )
    return types


def no_probabilities(method: str, instead: str) -> ParameterError:
    """The error for probabilities of a method that has none."""
    return ParameterError(
        f"{method} assigns every row to one cluster and has no membership probabilities. Fit Grove, or "
        f"{instead}."
    )


def holds_moments(column: Column) -> bool:
    """Whether the categories are dates or times, written as text."""
    told = f"{column.dtype.name} {column.dtype.inner}".lower()
    return not column.binned and ("date" in told or "time" in told)


KeysPolicy: TypeAlias = Literal["error", "ignore"]


class Scorer:
    """Clusters of rows as they come, made by ``model.scorer()``.

    It returns what the model returns, with the same warnings and errors. A row of plain cells that fit knew
    takes about a fifth of a millisecond if it is a dict or a list. No call changes the results of another, so
    threads may share a scorer, and it can be pickled.

    Parameters
    ----------
    model : fitted estimator
    unknown_keys : {"error", "ignore"}, default="error"
        What a key of a row means that is no column of fit: an error that names it, or nothing.
    missing_keys : {"error", "ignore"}, default="error"
        What a column means that a row has no key for: an error that names it, or a missing value.

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
        for name, value in (("unknown_keys", unknown_keys), ("missing_keys", missing_keys)):
            if value not in ("error", "ignore"):
                raise ParameterError(f"{name} is {value!r}; it can be 'error' or 'ignore'.")
        self._model = copy(model)  # a later fit of the model leaves this one as it is
        self._unknown_keys, self._missing_keys = unknown_keys, missing_keys
        self._columns: dict[str, None] = dict.fromkeys(model.schema_.inputs)

    def predict_one(self, row: Mapping[str, Any] | Sequence[Any]) -> int:
        """Cluster of one row: a dict of cells by column, or the cells in the order of the columns."""
        return int(self.predict([row])[0])

    def predict(self, rows: Any) -> Any:
        """Cluster of every row, (n,): a list of rows, or any table that the model takes."""
        return self._model.predict(self._checked(rows))

    def predict_proba_one(self, row: Mapping[str, Any] | Sequence[Any]) -> Any:
        """Probability of every cluster for one row, (k,)."""
        return self.predict_proba([row])[0]

    def predict_proba(self, rows: Any) -> Any:
        """Probability of every cluster for every row, (n, k); of methods that know any, such as Grove."""
        if not hasattr(self._model, "predict_proba"):
            raise no_probabilities(type(self._model).__name__, "use predict")
        return self._model.predict_proba(self._checked(rows))

    def _checked(self, rows: Any) -> Any:
        """Mappings as dicts with the columns of fit; other rows and tables are left to the model."""
        if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
            return rows
        records = [self._record(at, row) for at, row in enumerate(rows)]
        return records if self._model.schema_.named else [list(record.values()) for record in records]

    def _record(self, at: int, row: Mapping[Any, Any]) -> dict[str, Any]:
        columns = self._columns
        unknown = [] if self._unknown_keys == "ignore" else [key for key in row if key not in columns]
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
