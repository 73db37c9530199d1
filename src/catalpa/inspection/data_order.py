"""The order of a column's categories that the other columns suggest: proposed, never applied by default.

Categories are sorted by their mean on the first principal component of all other columns. For scales without
telling words, such as codes, this order is right about half of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from catalpa.inspection.columns import ColumnView, Form
from catalpa.table.blocks import FloatArray, IntArray

ROWS = 4000
FEWEST, MOST = 3, 12  # levels
MOST_CATEGORIES = 30  # of another column; columns with more are not used
FEWEST_ROWS = 10  # of a level; with fewer its mean is not reliable


def order_by_data(
    views: Sequence[ColumnView], name: str, orders: Mapping[str, Sequence[str]] | None = None
) -> list[str] | None:
    """The levels of a column in the order that the other columns suggest; None if there is no clear order.

    ``orders`` are the known orders of other columns. The direction of the order is arbitrary.
    """
    column = next(view for view in views if view.name == name)
    levels = np.flatnonzero(column.counts >= FEWEST_ROWS)
    if (
        column.form is not Form.TEXT
        or not FEWEST <= column.different <= MOST
        or len(levels) < column.different
    ):
        return None
    at = np.sort(np.random.default_rng(0).permutation(column.rows)[:ROWS])
    parts = [
        part
        for view in views
        if view.name != name and (part := _part(view, at, (orders or {}).get(view.name))) is not None
    ]
    if not parts:
        return None
    table = np.hstack(parts)  # (rows, entries); the entries of each column have a total variance of 1
    component = np.linalg.eigh(table.T @ table)[1][:, -1]
    scores, codes = table @ component, column.codes[at]
    means = [
        float(scores[codes == level].mean()) if (codes == level).any() else np.nan
        for level in range(column.different)
    ]
    if not np.isfinite(means).all():
        return None
    return [column.values[level] for level in np.argsort(means, kind="stable").tolist()]


def _part(view: ColumnView, at: IntArray, order: Sequence[str] | None) -> FloatArray | None:
    """A column as numbers: ranks for numbers and ordered levels, indicators for other categories."""
    codes = view.codes[at]
    if view.numbers is not None or order is not None:
        places = np.arange(view.different, dtype=np.float64)
        if order is not None:
            ranks = {level: place for place, level in enumerate(order)}
            places = np.array([ranks.get(value, np.nan) for value in view.values], dtype=np.float64)
        values = np.append(places, np.nan)[codes][:, None]
    elif view.form in (Form.TEXT, Form.BOOLEAN) and 2 <= view.different <= MOST_CATEGORIES:
        values = (codes[:, None] == np.arange(view.different)).astype(np.float64)
    else:
        return None
    filled = np.isfinite(values)
    if not filled.any():
        return None
    values = np.where(filled, values, values[filled].mean()) - np.nanmean(
        np.where(filled, values, np.nan), axis=0
    )
    scale = float(np.sqrt((values**2).sum() / len(at)))
    return values / scale if scale > 0 else None
