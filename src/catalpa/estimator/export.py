"""Export of fitted estimators: model files, SQL, ONNX, and scorers for services."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from catalpa.errors import CatalpaError, OnnxError, SqlError, needing
from catalpa.estimator.model_json import model_document
from catalpa.estimator.parameters import check_parameters, choice, either, rules, text, texts
from catalpa.estimator.preparing import prepared_rows
from catalpa.estimator.problem import Fitted
from catalpa.model.file import write
from catalpa.model.onnx_inputs import onnx_feed
from catalpa.model.scoring import DensityScale, KeysPolicy, Scorer, Scoring, no_probabilities
from catalpa.model.sql import sql_query

if TYPE_CHECKING:
    from onnx import ModelProto


class ExportMixin:
    """Methods that export a fitted estimator."""

    _fitted: Fitted
    _fixed_scores: Any
    handle_unknown: Any
    cluster_names_: Any

    def scorer(self, *, unknown_keys: KeysPolicy = "error", missing_keys: KeysPolicy = "error") -> Scorer:
        """A low-latency scorer for single rows, for example in a web service.

        Parameters
        ----------
        unknown_keys : {"error", "ignore"}, default="error"
            How to treat keys of a row that are not columns of fit: raise an error, or ignore them.
        missing_keys : {"error", "ignore"}, default="error"
            How to treat columns without a key in a row: raise an error, or treat them as missing values
            according to ``missing=``.

        Returns
        -------
        Scorer
            ``predict_one(row)`` returns the cluster of one row, a dict or a list of cells. It equals the
            label of ``predict`` but avoids the overhead of a frame. A later fit does not change the scorer.

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).fit([{"colour": "red"}, {"colour": "blue"}])
        >>> model.scorer().predict_one({"colour": "red"}) == int(model.labels_[0])
        True
        >>> scorer = model.scorer(unknown_keys="ignore")
        >>> scorer.predict_one({"colour": "red", "id": 7}) == int(model.labels_[0])
        True
        """
        check_is_fitted(self)
        return Scorer(self, unknown_keys, missing_keys)

    def to_sql(
        self,
        *,
        dialect: str = "duckdb",
        table: str | Sequence[str] = "rows",
        keep: Sequence[str] | None = None,
        label: str = "cluster",
        probabilities: bool = False,
    ) -> str:
        """Export the model as one SQL query that computes the labels of ``predict``.

        If ``predict`` raises an error for a row, because of a missing value or an unseen category, its label
        is NULL.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite"}, default="duckdb"
        table : str or sequence of str, default="rows"
            Name of the table, or the parts of a qualified name such as ``("sales", "rows")``.
        keep : sequence of str, optional
            Columns to select in addition to the label, such as a key; default: the columns of fit.
        label : str, default="cluster"
            Name of the label column; if clusters have names, ``<label>_name`` follows it.
        probabilities : bool, default=False
            Add the columns ``probability_0``, ``probability_1``, ... as in ``predict_proba``, ``certainty``,
            the largest of them, and ``outlier_score`` as in ``outlier_scores``. For methods with membership
            probabilities, such as Grove.

        Returns
        -------
        str

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).fit([["red", 1], ["red", 1], ["blue", 2]])
        >>> print(model.to_sql(dialect="sqlite", table="shirts").splitlines()[-1])
        FROM catalpa_smallest
        """
        check_parameters(
            "to_sql",
            {
                "dialect": dialect,
                "table": table,
                "keep": keep,
                "label": label,
                "probabilities": probabilities,
            },
            rules(
                dialect=text(),
                table=either(text(), texts()),
                keep=either(choice(None), text(), texts()),
                label=text(),
                probabilities=choice(False, True),
            ),
        )
        scoring = self._scoring(SqlError)
        if probabilities:
            self._check_soft()
        return sql_query(
            scoring,
            dialect=dialect,
            table=table,
            keep=keep,
            label=label,
            names=self.cluster_names_ if self._fitted.names else None,
            probabilities=probabilities,
        )

    def to_onnx(self, *, missing_text: str = "", probabilities: bool = False) -> ModelProto:
        """Export the model as an ONNX graph that computes the labels of ``predict``.

        There is one input per column of the table, (rows, 1): strings for text, doubles for everything else.
        Missing values are ``missing_text`` in strings and NaN in doubles. :meth:`onnx_inputs` creates the
        arrays for a table. The output ``label``, (rows,), is -1 if ``predict`` raises an error for a row.

        Parameters
        ----------
        missing_text : str, default=""
            String that represents a missing value in a text column.
        probabilities : bool, default=False
            Add the outputs ``probabilities``, (rows, k), as in ``predict_proba``; ``certainty``, (rows,), the
            largest of them; and ``outlier_score``, (rows,), as in ``outlier_scores``. They are NaN if
            ``predict`` raises an error for a row. For methods with membership probabilities, such as Grove.

        Returns
        -------
        onnx.ModelProto
            To be saved with ``onnx.save`` or ``SerializeToString``.

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).fit([["red", 1], ["red", 1], ["blue", 2]])
        >>> [column.name for column in model.to_onnx().graph.input]
        ['x0', 'x1']
        """
        check_parameters(
            "to_onnx",
            {"missing_text": missing_text, "probabilities": probabilities},
            rules(missing_text=text(), probabilities=choice(False, True)),
        )
        scoring = self._scoring(OnnxError)
        if probabilities:
            self._check_soft()
        with needing("to_onnx needs onnx", '"catalpa[onnx]"'):
            from catalpa.model.onnx import onnx_model
        return onnx_model(
            scoring,
            missing_text=missing_text,
            probabilities=probabilities,
            method=type(self).__name__,
            names=self.cluster_names_,
        )

    def onnx_inputs(self, X: Any, *, missing_text: str = "") -> dict[str, NDArray[Any]]:
        """Inputs of the graph of ``to_onnx`` for a table: one array (rows, 1) per column.

        Supports the same tables as ``predict``. Cells are converted to the categories of fit: "2" becomes 2
        if the column was numeric at fit. An unseen category is replaced by a value that is not a category.

        Parameters
        ----------
        X : table
            With the columns of fit.
        missing_text : str, default=""
            As in ``to_onnx``.

        Returns
        -------
        dict of arrays
            For ``InferenceSession.run(None, ...)`` of onnxruntime.

        Examples
        --------
        >>> from catalpa import KModes
        >>> model = KModes(2, random_state=0).fit([["red", 1], ["red", 1], ["blue", 2]])
        >>> {name: cells.tolist() for name, cells in model.onnx_inputs([["red", 1], [None, 2]]).items()}
        {'x0': [['red'], ['']], 'x1': [[1.0], [2.0]]}
        """
        return onnx_feed(self._scoring(OnnxError), prepared_rows(self._fitted, X), missing_text)

    def _scoring(self, refused: type[CatalpaError]) -> Scoring:
        check_is_fitted(self)
        self._check_sum(refused)
        schema = self._fitted.schema
        fixed = self._fixed_scores(schema.axis.with_special_places)
        scale, recipe = self._density_scale(), self._fitted.recipe
        return Scoring(schema, fixed, self.handle_unknown, scale, self._outliers_above, recipe)

    @property
    def _outliers_above(self) -> float | None:
        """Outlier score above which the label is -1; None if outliers get the label of a cluster."""
        return None

    def _density_scale(self) -> DensityScale | None:
        """Scale of the outlier scores; None for methods without probabilities."""
        return None

    def _check_soft(self) -> None:
        if self._density_scale() is None:
            raise no_probabilities(type(self).__name__, "leave out probabilities=True")

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        """Raise this error if the costs are not a sum over columns, so that they cannot be exported."""

    def save(self, path: str | Path) -> None:
        """Save the fitted model as a JSON file for ``catalpa.load``; pickle is not used."""
        check_is_fitted(self)
        write(path, model_document(self))
