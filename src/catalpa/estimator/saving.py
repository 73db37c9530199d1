"""A fitted estimator taken elsewhere: into a model file, a database or a service."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import catalpa
from catalpa.errors import CatalpaError, OnnxError, ParameterError, SqlError, needing
from catalpa.estimator.fitted import Fitted
from catalpa.estimator.parameters import WATCHING
from catalpa.model.codecs import array_to_json, counts_to_json, scores_to_json
from catalpa.model.file import FORMAT, write
from catalpa.model.scoring import Scorer, Scoring
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from onnx import ModelProto


def model_document(method: str, parameters: Mapping[str, Any], fitted: Fitted) -> dict[str, Any]:
    """What a model file holds of a fit with these settings."""
    outcome = fitted.outcome
    return {
        "catalpa_model": FORMAT,
        "catalpa_version": catalpa.__version__,
        "method": method,
        "parameters": plain_parameters(parameters),
        "schema": fitted.schema.to_dict(),
        "scores": scores_to_json(outcome.scores),
        "counts": counts_to_json(outcome.counts),
        "soft_counts": None if outcome.soft is None else counts_to_json(outcome.soft),
        "centers": array_to_json(outcome.centers),
        "names": {str(cluster): name for cluster, name in fitted.names.items()},
        "extra": {
            "learned": {name: array_to_json(array) for name, array in outcome.learned.items()},
            "shared": {name: array_to_json(array) for name, array in outcome.shared.items()},
            "ragged": {name: [*map(array_to_json, arrays)] for name, arrays in outcome.ragged.items()},
            "facts": {name: _known(fact) for name, fact in outcome.facts.items()},
        },
        "fit": {
            "rows": fitted.rows,
            "cost": _known(outcome.cost),
            "converged": outcome.converged,
            "units_per_weight": fitted.units_per_weight,
            "history": [asdict(event) for event in outcome.history],
            "batches": [asdict(batch) for batch in fitted.batches],
            "quartiles": array_to_json(fitted.quartiles),
        },
    }


def _known(number: float) -> float | None:
    """A number for a file; None where it is not known, which is nan here."""
    return None if math.isnan(number) else number


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that JSON can hold; the others (a table of centres, a generator) only matter at fit."""
    plain = {}
    for name, value in parameters.items():
        if name in WATCHING:
            continue
        value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        try:  # by trying: what JSON holds inside lists and dictionaries is for JSON to say
            json.dumps(value)
        except (TypeError, ValueError):
            continue
        plain[name] = value
    return plain


def identity(method: str, parameters: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """What makes two fits the same fit, given the same rows, as JSON values."""
    settings = plain_parameters(parameters)
    seed = settings.get("random_state")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ParameterError(
            f"checkpoint needs random_state to be a whole number, not {parameters['random_state']!r}: "
            "otherwise a fit that continues would draw other rows."
        )
    free = ("checkpoint", "n_jobs")  # they do not change the result
    return {
        "version": catalpa.__version__,
        "method": method,
        **{name: value for name, value in settings.items() if name not in free},
        "columns": schema.to_dict(),
    }


class Taken:
    """What takes a fitted estimator out of the program that fitted it."""

    _fitted: Fitted
    _decisive: Any
    handle_unknown: Any
    get_params: Any
    cluster_names_: Any

    def scorer(self) -> Scorer:
        """The fitted model made ready for a service that asks row by row.

        Returns
        -------
        Scorer
            ``predict_one(row)`` gives the cluster of one row, a dict or a list of cells: the answer of
            ``predict``, without the time that a frame of one row takes. A later fit leaves it as it is.

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).fit([{"colour": "red"}, {"colour": "blue"}])
        >>> model.scorer().predict_one({"colour": "red"}) == int(model.labels_[0])
        True
        """
        check_is_fitted(self)
        return Scorer(self)

    def to_sql(
        self,
        *,
        dialect: str = "duckdb",
        table: str | Sequence[str] = "rows",
        keep: Sequence[str] | None = None,
        label: str = "cluster",
    ) -> str:
        """One SQL query that gives the rows of a database table the labels of ``predict``.

        A row that ``predict`` refuses, for a missing cell or an unseen category, gets no label: NULL.

        Parameters
        ----------
        dialect : str, default="duckdb"
            "duckdb", "postgres", "sqlite", or another that sqlglot knows.
        table : str or sequence of str, default="rows"
            Name of the table, or the parts of a qualified name such as ``("sales", "rows")``.
        keep : sequence of str, optional
            Columns to select beside the label, such as a key; the columns of fit if not given.
        label : str, default="cluster"
            Name of the column of labels; where clusters have names, ``<label>_name`` follows it.

        Returns
        -------
        str
        """
        scoring = self._scoring(SqlError)
        from catalpa.model.sql import sql_query  # needs sqlglot, which is optional

        names = self.cluster_names_ if self._fitted.names else None
        return sql_query(scoring, dialect=dialect, table=table, keep=keep, label=label, names=names)

    def to_onnx(self, *, missing_text: str = "") -> ModelProto:
        """An ONNX graph that gives rows the labels of ``predict``, in any program with an ONNX runtime.

        It has an input per column of the table, (rows, 1): strings for texts, 64-bit integers or Booleans for
        such categories, doubles for numbers and for categories with fractions or gaps, where NaN is a missing
        cell. Its output ``label`` is -1 where ``predict`` refuses a row.

        Parameters
        ----------
        missing_text : str, default=""
            What stands for a missing cell in a column of texts.

        Returns
        -------
        onnx.ModelProto
            For ``onnx.save``, or ``SerializeToString``.

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).fit([["red", 1], ["red", 1], ["blue", 2]])
        >>> [column.name for column in model.to_onnx().graph.input]
        ['x0', 'x1']
        """
        scoring = self._scoring(OnnxError)
        with needing("to_onnx needs onnx", '"catalpa[onnx]"'):
            from catalpa.model.onnx import onnx_model
        method, names = type(self).__name__, self.cluster_names_
        return onnx_model(scoring, missing_text=missing_text, method=method, names=names)

    def _scoring(self, refused: type[CatalpaError]) -> Scoring:
        check_is_fitted(self)
        self._check_sum(refused)
        schema = self._fitted.schema
        return Scoring(schema, self._decisive(schema.axis.with_holes), self.handle_unknown)

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        """Raise this where the labels of ``predict`` are no sum over columns that other programs can take."""

    def save(self, path: str | Path) -> None:
        """Write the fitted model as a JSON file that ``catalpa.load`` reads; no pickle involved."""
        check_is_fitted(self)
        write(path, self._document())

    def _document(self) -> dict[str, Any]:
        """The fitted model as JSON values."""
        return model_document(type(self).__name__, self.get_params(deep=False), self._fitted)
