"""Explanations of single rows by a fitted estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from catalpa.engines.base import Engine
from catalpa.engines.local import opener_for
from catalpa.errors import ParameterError, UnsupportedTable
from catalpa.estimator.attributes import number_profile
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.explain.formatting import MISSING, category_names, figure
from catalpa.explain.row import ExplainedCell, RowExplanation
from catalpa.steps.scores import cell_costs
from catalpa.table.blocks import Block, FloatArray

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

RARE = 0.15  # share, and part of the largest share, below which a category is unusual in a cluster
FAR = 2.0  # standard deviations from the mean of a cluster from which a number is unusual
UNKNOWN = "(not seen at fit)"  # a new category, or a missing cell of a column that had none


class RowExplanationMixin:
    """The part of an estimator that explains the cluster of a row."""

    def explain(self, row: Any) -> RowExplanation:
        """Why a row is in its cluster, why not in the next best one, and which of its cells are unusual.

        Parameters
        ----------
        row : dict, list of cells, or table of one row
            With the columns of fit.

        Returns
        -------
        RowExplanation
            ``print`` shows it, ``to_dict()`` is for JSON.

        Examples
        --------
        >>> from catalpa import Grove
        >>> rows = [{"colour": "red", "size": "big"}, {"colour": "blue", "size": "small"}] * 20
        >>> explanation = Grove(2, random_state=0).fit(rows).explain({"colour": "red", "size": "small"})
        >>> [cell.column for cell in explanation.odd_cells] in (["colour"], ["size"])
        True
        """
        explanations = self.explain_rows(_as_table(row))
        if len(explanations) != 1:
            raise ParameterError(
                f"explain takes one row, but this table has {len(explanations):,}: use explain_rows."
            )
        return explanations[0]

    def explain_rows(self, X: Any) -> list[RowExplanation]:
        """Explanations of all rows of a table in memory; see :meth:`explain`.

        Examples
        --------
        >>> from catalpa import KModes
        >>> rows = [["red", "big"], ["blue", "small"]] * 3
        >>> model = KModes(2, random_state=0).fit(rows)
        >>> len(model.explain_rows(rows[:2]))
        2
        """
        model = cast("Clusterer", self)
        fitted = fitted_of(model)
        model._check_sum(ParameterError)
        if not opener_for(X).in_memory:
            raise UnsupportedTable(
                "explain_rows explains every row, so the rows must be in memory. Give it some of them as a "
                "frame or a list of rows; model.report(X) explains a table of any size."
            )
        engine = model._engine(X)
        rows = engine.rows_in_memory()
        assert rows is not None
        return _explained(model, fitted, engine, Block.together(rows.blocks))


def _as_table(row: Any) -> Any:
    if isinstance(row, Mapping):
        return [dict(row)]
    if isinstance(row, list | tuple) and not any(isinstance(cell, Mapping | list | tuple) for cell in row):
        return [row]
    return row


def _explained(model: Clusterer, fitted: Fitted, engine: Engine, block: Block) -> list[RowExplanation]:
    fixed = model._fixed_scores(engine.axis)
    costs, labels = cell_costs(block, fixed), np.asarray(model._label(engine))  # (n, cells, k) and (n,)
    anchor = fixed.anchor * fixed.quantum
    totals = costs.sum(axis=1) + anchor
    soft = hasattr(model, "predict_proba")
    probabilities = model.predict_proba(engine) if soft else None
    outliers = model.outlier_scores(engine) if soft else None
    texts, here, unusual = _texts(fitted, block), _figures(fitted, block), _unusual(fitted, block)
    schema, names = fitted.schema, model.cluster_names_
    columns = [*schema.categorical, *schema.numeric]
    place = {name: at for at, name in enumerate(schema.names)}
    order = sorted(range(len(columns)), key=lambda at: place[columns[at].name])
    explanations = []
    for row, label in enumerate(labels.tolist()):
        others = totals[row].copy()
        others[label] = np.inf
        rival = int(others.argmin()) if fitted.outcome.k > 1 else None
        ahead = None if rival is None else costs[row, :, rival] - costs[row, :, label]
        cells = [
            ExplainedCell(
                columns[at].name,
                texts[row][at],
                None if ahead is None else float(ahead[at]),
                _known(here[row, at, label]),
                None if rival is None else _known(here[row, at, rival]),
                bool(unusual[row, at, label]),
                at >= len(schema.categorical),
            )
            for at in order
        ]
        sizes = None if rival is None else float(anchor[rival] - anchor[label])
        explanations.append(
            RowExplanation(
                label,
                names[label],
                None if probabilities is None else float(probabilities[row, label]),
                rival,
                None if rival is None else names[rival],
                None if rival is None or probabilities is None else float(probabilities[row, rival]),
                None if outliers is None else float(outliers[row]),
                None if ahead is None else float(totals[row, rival] - totals[row, label]),
                sizes,
                tuple(sorted(cells, key=lambda cell: -(cell.contribution or 0.0))),
                "nats" if soft else "distance",
            )
        )
    return explanations


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _texts(fitted: Fitted, block: Block) -> list[list[str]]:
    """Text of every cell: categorical columns, then numeric ones."""
    schema = fitted.schema
    names = [
        [*category_names(column.categories), MISSING, UNKNOWN]  # IGNORED, UNSEEN
        for column in schema.categorical
    ]
    numbers = schema.scaling.restore(block.numbers)
    return [
        [named[code] for named, code in zip(names, codes, strict=True)]
        + [MISSING if np.isnan(number) else figure(number) for number in numbers_of_row]
        for codes, numbers_of_row in zip(block.codes.tolist(), numbers.tolist(), strict=True)
    ]


def _figures(fitted: Fitted, block: Block) -> FloatArray:  # (n, cells, k)
    """Share of each cell's category in every cluster (NaN if there is none), or mean of the number."""
    shares, schema, k = fitted.shares, fitted.schema, fitted.outcome.k
    parts = []
    for column, part in enumerate(schema.axis.slices()):
        by_place = np.concatenate([shares[:, part].T, np.full((2, k), np.nan)])
        parts.append(by_place[block.codes[:, column]][:, None])
    if schema.numeric:
        means = number_profile(fitted).means.T[None]
        parts.append(np.where(np.isnan(block.numbers)[:, :, None], np.nan, means))
    return np.concatenate(parts, axis=1)


def unusual_places(fitted: Fitted) -> list[NDArray[np.bool_]]:  # (categories + special places, k) each
    """Whether a category is unusual in each cluster, for every column of categories."""
    columns = []
    for part in fitted.schema.axis.slices():
        by_category = fitted.shares[:, part].T
        rare = (by_category < RARE) & (by_category <= RARE * by_category.max(axis=0, initial=0.0))
        present = by_category.sum(axis=0) > 0  # nothing is unusual in a cluster that has no such cells
        # A missing cell that is left out is not unusual, an unknown category is.
        special = [np.zeros_like(present), present]  # IGNORED, UNSEEN
        columns.append(np.concatenate([rare & present, special]))
    return columns


def _unusual(fitted: Fitted, block: Block) -> NDArray[np.bool_]:  # (n, cells, k)
    """Whether a cell is unusual in each cluster."""
    schema = fitted.schema
    parts = [places[block.codes[:, column]][:, None] for column, places in enumerate(unusual_places(fitted))]
    if schema.numeric:
        profile = number_profile(fitted)
        numbers = schema.scaling.restore(block.numbers)[:, :, None]
        away, sds = np.abs(numbers - profile.means.T[None]), profile.sds.T[None]
        parts.append((away > FAR * sds) & (sds > 0))
    return np.concatenate(parts, axis=1)
