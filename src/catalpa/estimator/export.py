"""A fitted estimator taken elsewhere: into a model file, a database or a service."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from catalpa.errors import CatalpaError, OnnxError, SqlError, needing
from catalpa.estimator.document import model_document
from catalpa.estimator.parameters import check_parameters, choice, either, rules, text, texts
from catalpa.estimator.problem import Fitted
from catalpa.model.file import write
from catalpa.model.onnx_inputs import onnx_feed
from catalpa.model.scoring import DensityScale, KeysPolicy, Scorer, Scoring, no_probabilities
from catalpa.model.sql import sql_query

if TYPE_CHECKING:
    from onnx import ModelProto


class ExportMixin:
    """The methods that take a fitted estimator out of the program that fitted it."""

    _fitted: Fitted
    _fixed_scores: Any
    handle_unknown: Any
    cluster_names_: Any

    def scorer(self, *, unknown_keys: KeysPolicy = "error", missing_keys: KeysPolicy = "error") -> Scorer:
        """A scorer for services that ask row by row.

        Parameters
        ----------
        unknown_keys : {"error", "ignore"}, default="error"
            A key of a row that is no column of fit: an error that names it, or ignored.
        missing_keys : {"error", "ignore"}, default="error"
            A column that a row has no key for: an error that names it, or a missing value, which
            ``missing=`` then decides about.

        Returns
        -------
        Scorer
            ``predict_one(row)`` returns the cluster of one row, a dict or a list of cells: the label of
            ``predict``, without the time that a frame of one row takes. A later fit leaves it as it is.

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
        """One SQL query that gives the rows of a database table the labels of ``predict``.

        A row that ``predict`` refuses, for a missing value or an unseen category, gets no label: NULL.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite"}, default="duckdb"
        table : str or sequence of str, default="rows"
            Name of the table, or the parts of a qualified name such as ``("sales", "rows")``.
        keep : sequence of str, optional
            Columns to select beside the label, such as a key; the columns of fit if not given.
        label : str, default="cluster"
            Name of the column of labels; where clusters have names, ``<label>_name`` follows it.
        probabilities : bool, default=False
            Add the columns ``probability_0``, ``probability_1``, ... as in ``predict_proba``, ``certainty``,
            the largest of them, and ``outlier_score`` as in ``outlier_scores``. For methods that have
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
            {"dialect": dialect, "table": table, "keep": keep, "label": label},
            rules(
                dialect=text(),
                table=either(text(), texts()),
                keep=either(choice(None), text(), texts()),
                label=text(),
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
        """An ONNX graph that gives rows the labels of ``predict``, in any program with an ONNX runtime.

        It has an input per column of the table, (rows, 1): strings for text, doubles for everything else.
        ``missing_text`` is a missing value among strings, NaN among doubles. :meth:`onnx_inputs` makes the
        arrays for a table. The output ``label``, (rows,), is -1 where ``predict`` refuses a row.

        Parameters
        ----------
        missing_text : str, default=""
            What stands for a missing value in a column of text.
        probabilities : bool, default=False
            Add the outputs ``probabilities``, (rows, k), as in ``predict_proba``; ``certainty``, (rows,), the
            largest of them; and ``outlier_score``, (rows,), as in ``outlier_scores``. All are NaN where
            ``predict`` refuses a row. For methods that have probabilities, such as Grove.

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
        """The rows of a table as the graph of ``to_onnx`` takes them: an array (rows, 1) per input.

        It takes every table that ``predict`` takes and whose columns have inputs. Cells are given as the
        category that ``predict`` sees in them: "2" becomes 2 where fit saw numbers. A category that fit never
        saw is replaced by a value that is no category.

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
        return onnx_feed(self._scoring(OnnxError), X, missing_text)

    def _scoring(self, refused: type[CatalpaError]) -> Scoring:
        check_is_fitted(self)
        self._check_sum(refused)
        schema = self._fitted.schema
        fixed = self._fixed_scores(schema.axis.with_holes)
        return Scoring(schema, fixed, self.handle_unknown, self._density_scale())

    def _density_scale(self) -> DensityScale | None:
        """Scale of the outlier scores; None for methods without probabilities."""
        return None

    def _check_soft(self) -> None:
        if self._density_scale() is None:
            raise no_probabilities(type(self).__name__, "leave out probabilities=True")

    def _check_sum(self, refused: type[CatalpaError]) -> None:
        """Raise this where the labels of ``predict`` are no sum over columns that other programs can take."""

    def save(self, path: str | Path) -> None:
        """Write the fitted model as a JSON file that ``catalpa.load`` reads; no pickle involved."""
        check_is_fitted(self)
        write(path, model_document(self))
