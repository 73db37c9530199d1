"""Distinct rows merged from the bottom, as the outcome of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from catalpa.costs.embedding import JointVectors
from catalpa.errors import ParameterError
from catalpa.estimator.fitted import Outcome
from catalpa.estimator.problem import Problem
from catalpa.loop.history import Pass, report_pass
from catalpa.loop.ward import ward_labels
from catalpa.steps.assign import label_rows
from catalpa.steps.collapse import collapse, row_weights
from catalpa.steps.labelled import count_labelled
from catalpa.steps.scores import fix
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

__all__ = ["merge_rows"]

MOST_DISTINCT = 10_000  # rows; the time grows with their square


def merge_rows(
    problem: Problem,
    coordinates: Sequence[FloatArray],
    means: JointVectors,
    shared: Mapping[str, FloatArray],
    ragged: Mapping[str, tuple[FloatArray, ...]],
) -> Outcome:
    """Ward's clustering of rows whose categories have these coordinates, one array per column.

    Equal rows are merged first, so only distinct rows are compared. The model that is left for new rows
    is the mean of every cluster.
    """
    engine, axis = problem.engine, problem.engine.axis
    codes, weights = engine.each(row_codes), engine.each(row_weights)
    numbers = np.zeros((len(codes), 0))
    distinct = collapse(Block(codes, numbers, weights), axis)
    if len(distinct.block) > MOST_DISTINCT:
        raise ParameterError(
            f"clusterer='ward' compares every two distinct rows, and the table has {len(distinct.block)} of "
            f"them; it takes at most {MOST_DISTINCT}. Use clusterer='kmodes' or 'embedding', or fit a sample."
        )
    points = _row_points(distinct.block, coordinates, means, axis)
    merged = ward_labels(points, row_weights(distinct.block), problem.n_clusters)
    k = int(merged.max()) + 1
    counts = count_labelled(distinct.block, merged, k, axis)
    state = means.start(counts)
    scores = means.scores(state)
    cost = float((counts.by_category * scores.table.T).sum()) / problem.units_per_weight
    # Rows without weight took no part; they get their nearest cluster.
    nearest = engine.each(label_rows, fix(scores, axis))
    labels = np.where(distinct.row_of < 0, nearest, merged[distinct.row_of]).astype(np.int32)
    history = (report_pass(Pass("merge", cost, engine.n_rows, False, k)),)
    return Outcome(
        scores, counts, state.centers, cost, history, True, shared=shared, ragged=ragged, labels=labels
    )


def row_codes(block: Block) -> IntArray:
    """The codes of a block's rows."""
    return block.codes


def _row_points(
    block: Block, coordinates: Sequence[FloatArray], means: JointVectors, axis: Axis
) -> FloatArray:
    """The coordinates of a row's categories one after the other; the column's mean where one is left out."""
    parts = []
    for column, (part, points) in enumerate(zip(axis.base.slices(), coordinates, strict=True)):
        hole = means.overall[part] @ points
        wide = np.vstack([points, np.repeat(hole[None, :], axis.widths[column] - len(points), axis=0)])
        parts.append(wide[block.codes[:, column]])
    return np.concatenate(parts, axis=1)
