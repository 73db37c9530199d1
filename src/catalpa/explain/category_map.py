"""A map of categories: categories of the same clusters that occur together are close to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.arrays import safe_divide
from catalpa.explain.formatting import category_names
from catalpa.explain.numbers import Amounts
from catalpa.table.blocks import FloatArray
from catalpa.table.schema import Schema

CLUSTERS_PART = 0.5  # weight of the clusters in a distance that also uses other columns


@dataclass(frozen=True, eq=False)
class CategoryMap:
    """Coordinates of all categories that occur, and the quality of their representation."""

    # columns, categories: of each point; "(missing)" is the category of missing values.
    columns: tuple[str, ...]
    categories: tuple[str, ...]
    counts: FloatArray  # (points,); weight of the rows with the category
    # (points, axes): Euclidean distances between points approximate the distances between categories.
    coordinates: FloatArray
    contributions: FloatArray  # (points, axes); contribution of the point to the axis, with sum 1
    # (points, axes): squared cosines, the share of the point's squared distance from the centre along the
    # axis; the sum is below 1 if the map has fewer axes than dimensions.
    quality: FloatArray
    clusters: FloatArray  # (k, axes); each cluster among the categories of its rows
    inertia: FloatArray  # (axes,); share of the total inertia on each axis

    def tidy(self) -> dict[str, Any]:
        """Columns of a table with a row for every category: ``x0``, ``x1``, ... are the axes."""
        points = {"column": self.columns, "category": self.categories, "count": self.counts}
        along = {"x": self.coordinates, "contribution": self.contributions, "quality": self.quality}
        numbered = {f"{name}{at}": part for name, array in along.items() for at, part in enumerate(array.T)}
        return {**points, **numbered}


def map_categories(
    by_category: Amounts, sizes: Amounts, schema: Schema, *, together: Amounts | None = None, axes: int = 2
) -> CategoryMap:
    """Correspondence analysis of the categories of all columns.

    The profile of a category is the distribution of its rows over the clusters, relative to all rows of its
    column; with ``together`` also their distributions over the categories of every other column. The distance
    of two categories is the chi-square distance of their profiles, in which every column has the same weight
    regardless of its number of categories. A category has no profile over its own column, because its
    categories never co-occur. ``by_category`` (k, V) is the weight of the rows of each cluster with each
    category, ``together`` (V, V) of the rows with both of two categories.
    """
    by_cluster = np.asarray(by_category, dtype=np.float64)
    weights = by_cluster.sum(axis=0)
    here = weights > 0
    part = 1.0 if together is None else CLUSTERS_PART
    tables = [part**0.5 * _beside_column(by_cluster.T, sizes, schema)]
    if together is not None:
        others = max(len(schema.categorical) - 1, 1)
        both = np.asarray(together, dtype=np.float64)
        for places in schema.axis.slices():
            block = _beside_column(both[:, places], both[places, places].sum(axis=1), schema, places)
            tables.append(((1.0 - part) / others) ** 0.5 * block)
    described_by = np.concatenate(tables, axis=1)[here]
    mass = weights[here] / weights.sum()
    coordinates, inertia, contributions = _axes(described_by, mass, axes)
    around = (described_by**2).sum(axis=1, keepdims=True)
    names = [(one.name, name) for one in schema.categorical for name in category_names(one.categories)]
    shown = [names[at] for at in np.flatnonzero(here)]
    total = float((mass[:, None] * described_by**2).sum())
    return CategoryMap(
        tuple(column for column, _ in shown),
        tuple(category for _, category in shown),
        weights[here],
        coordinates,
        contributions,
        safe_divide(coordinates**2, around),
        _clusters(by_cluster[:, here], coordinates, inertia),
        inertia / total if total > 0 else inertia,
    )


def _beside_column(
    spread: FloatArray, sizes: Amounts, schema: Schema, silent: slice | None = None
) -> FloatArray:
    """Chi-square residuals of each category's distribution over groups relative to its column, (V, groups).

    0 for a column whose categories are the groups.
    """
    overall = np.asarray(sizes, dtype=np.float64) / max(float(np.sum(sizes)), 1.0)
    # The largest chi-square of a table grows with its groups less one; divided by that, every part of a
    # description can say as much as any other.
    unit = np.sqrt(overall * max(int((overall > 0).sum()) - 1, 1))
    result = np.zeros_like(spread)
    for part in schema.axis.slices():
        if part != silent:
            rows, column = spread[part].sum(axis=1, keepdims=True), spread[part].sum(axis=0)
            apart = np.where(
                rows > 0, safe_divide(spread[part], rows) - safe_divide(column, column.sum()), 0.0
            )
            result[part] = safe_divide(apart, unit)
    return result


def _axes(described_by: FloatArray, mass: FloatArray, axes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates, inertia and contributions on the axes with the largest inertia."""
    weighed = described_by * np.sqrt(mass)[:, None]
    left, strength, _ = np.linalg.svd(weighed, full_matrices=False)
    n_axes = min(axes, int((strength > 1e-9 * max(strength[0], 1e-300)).sum())) if len(strength) else 0
    left, strength = left[:, :n_axes], strength[:n_axes]
    if n_axes:  # no axis if no row has any category
        # The sign of an axis is arbitrary: the category that contributes most is on the right.
        most = np.abs(left).round(9).argmax(axis=0)
        left = left * np.where(left[most, np.arange(n_axes)] < 0, -1.0, 1.0)
    padding = (0, axes - n_axes)  # axes without inertia
    left, strength = np.pad(left, ((0, 0), padding)), np.pad(strength, padding)
    return left * strength / np.sqrt(mass)[:, None], strength**2, left**2


def _clusters(by_category: FloatArray, coordinates: FloatArray, inertia: FloatArray) -> FloatArray:
    """The mean of the categories of a cluster's rows, scaled to the spread of the categories."""
    totals = by_category.sum(axis=1, keepdims=True)
    means = safe_divide(by_category, totals) @ coordinates
    # Means concentrate in the middle. Scaled, clusters are spread as widely as categories on every axis, as
    # in the correspondence analysis of clusters and categories alone.
    spread = (totals * means**2).sum(axis=0) / max(float(totals.sum()), 1.0)
    return safe_divide(means * np.sqrt(inertia), np.sqrt(spread))
