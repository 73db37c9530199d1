"""A fitted estimator taken elsewhere: into a model file, a database or a service."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from catalpa.errors import CatalpaError, OnnxError, SqlError, needing
from catalpa.estimator.document import model_document
from catalpa.estimator.parameters import check_parameters, choice, either, rules, text, texts
from catalpa.estimator.problem import Fitted
from catalpa.model.file import write
from catalpa.model.scoring import Scorer, Scoring

if TYPE_CHECKING:
    from onnx import ModelProto


class ExportMixin:
    """The methods that take a fitted estimator out of the program that fitted it."""

    _fitted: Fitted
    _fixed_scores: Any
    handle_unknown: Any
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
        check_parameters(
            "to_sql",
            {"dialect": dialect, "table": table, "keep": keep, "label": label},
            rules(
                dialect=text(),
                table=either(text(), texts()),
                keep=either(choice(None), text(), texts()),
                label=text(),
            ),
        )
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
        check_parameters("to_onnx", {"missing_text": missing_text}, rules(missing_text=text()))
        scoring = self._scoring(OnnxError)
        with needing("to_onnx needs onnx", '"catalpa[onnx]"'):
            from catalpa.model.onnx import onnx_model
        method, names = type(self).__name__, self.cluster_names_
        return onnx_model(scoring, missing_text=missing_text, method=method, names=names)

    def _scoring(self, refused: type[CatalpaError]) -> Scoring:
        check_is_fitted(self)
        self._check_sum(refused)
        schema = self._fitted.schema
        return Scoring(schema, self._fixed_scores(schema.axis.with_holes), self.handle_unknown)

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        """Raise this where the labels of ``predict`` are no sum over columns that other programs can take."""

    def save(self, path: str | Path) -> None:
        """Write the fitted model as a JSON file that ``catalpa.load`` reads; no pickle involved."""
        check_is_fitted(self)
        write(path, model_document(self))
