"""A map of categories: those that point to the same clusters, and occur together, stand close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.relations.names import category_names
from catalpa.relations.numbers import Amounts, over
from catalpa.table.blocks import FloatArray
from catalpa.table.schema import Schema

CLUSTERS_PART = 0.5  # of a distance that speaks of clusters, where other columns are looked at as well


@dataclass(frozen=True, eq=False)
class CategoryMap:
    """Where every category that occurs stands, and how far that can be trusted."""

    # columns, categories: what each point is; "(missing)" stands for missing cells.
    columns: tuple[str, ...]
    categories: tuple[str, ...]
    counts: FloatArray  # (points,); weight of the rows that hold the category
    # (points, axes): straight distances between points are distances between categories, as far as axes go.
    coordinates: FloatArray
    contributions: FloatArray  # (points, axes); part of an axis that is due to the point, 1 in sum
    # (points, axes): part of the point's distance from the centre that the axis shows; less than 1 in sum
    # where the map has fewer axes than there are differences.
    quality: FloatArray
    clusters: FloatArray  # (k, axes); each cluster among the categories that its rows hold
    inertia: FloatArray  # (axes,); part of all differences that each axis shows

    def tidy(self) -> dict[str, Any]:
        """Columns of a table with a row for every category: ``x0``, ``x1``, ... are the axes."""
        points = {"column": self.columns, "category": self.categories, "count": self.counts}
        along = {"x": self.coordinates, "contribution": self.contributions, "quality": self.quality}
        numbered = {f"{name}{at}": part for name, own in along.items() for at, part in enumerate(own.T)}
        return {**points, **numbered}


def map_categories(
    by_category: Amounts, sizes: Amounts, schema: Schema, *, together: Amounts | None = None, axes: int = 2
) -> CategoryMap:
    """Put the categories of all columns on one map.

    A category is described by how the rows that hold it spread over the clusters, beside how all rows of its
    column do; with ``together`` also by how they spread over the categories of every other column. The
    distance of two categories is the chi-square distance of these descriptions, a part of which counts as
    much as any other however many categories it has, and the map is their correspondence analysis. A column
    says nothing of its own categories: they never occur together, which would only push them apart. Given are
    the weight of the rows of each cluster that hold each category (k, V), and of those that hold both of two
    categories (V, V).
    """
    by_cluster = np.asarray(by_category, dtype=np.float64)
    weights = by_cluster.sum(axis=0)
    here = weights > 0
    part = 1.0 if together is None else CLUSTERS_PART
    described = [part**0.5 * _beside_column(by_cluster.T, sizes, schema)]
    if together is not None:
        others = max(len(schema.categorical) - 1, 1)
        both = np.asarray(together, dtype=np.float64)
        for own in schema.axis.slices():
            block = _beside_column(both[:, own], both[own, own].sum(axis=1), schema, own)
            described.append(((1.0 - part) / others) ** 0.5 * block)
    described_by = np.concatenate(described, axis=1)[here]
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
        over(coordinates**2, around),
        _clusters(by_cluster[:, here], coordinates, inertia),
        inertia / total if total > 0 else inertia,
    )


def _beside_column(
    spread: FloatArray, sizes: Amounts, schema: Schema, silent: slice | None = None
) -> FloatArray:
    """How each category's rows spread over groups, less how all rows of its column do, (V, groups).

    In units in which rare groups count as much. A column whose categories are the groups is silent about
    them.
    """
    overall = np.asarray(sizes, dtype=np.float64) / max(float(np.sum(sizes)), 1.0)
    # The largest chi-square of a table grows with its groups less one; divided by that, every part of a
    # description can say as much as any other.
    unit = np.sqrt(overall * max(int((overall > 0).sum()) - 1, 1))
    described = np.zeros_like(spread)
    for part in schema.axis.slices():
        if part != silent:
            rows, column = spread[part].sum(axis=1, keepdims=True), spread[part].sum(axis=0)
            apart = np.where(rows > 0, over(spread[part], rows) - over(column, column.sum()), 0.0)
            described[part] = over(apart, unit)
    return described


def _axes(described_by: FloatArray, mass: FloatArray, axes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates, inertia and contributions along the axes that show most."""
    weighed = described_by * np.sqrt(mass)[:, None]
    left, strength, _ = np.linalg.svd(weighed, full_matrices=False)
    kept = min(axes, int((strength > 1e-9 * max(strength[0], 1e-300)).sum())) if len(strength) else 0
    left, strength = left[:, :kept], strength[:kept]
    if kept:  # no axis where no row has any category
        # An axis has no direction of its own: the category that makes most of it stands on the right.
        most = np.abs(left).round(9).argmax(axis=0)
        left = left * np.where(left[most, np.arange(kept)] < 0, -1.0, 1.0)
    lacking = (0, axes - kept)  # axes along which nothing differs
    left, strength = np.pad(left, ((0, 0), lacking)), np.pad(strength, lacking)
    return left * strength / np.sqrt(mass)[:, None], strength**2, left**2


def _clusters(by_category: FloatArray, coordinates: FloatArray, inertia: FloatArray) -> FloatArray:
    """The mean of the categories that a cluster's rows hold, stretched to the scale of the categories."""
    held = by_category.sum(axis=1, keepdims=True)
    means = over(by_category, held) @ coordinates
    # Means huddle in the middle. On every axis clusters are spread as widely as categories, as in the
    # correspondence analysis of clusters and categories alone.
    spread = (held * means**2).sum(axis=0) / max(float(held.sum()), 1.0)
    return over(means * np.sqrt(inertia), np.sqrt(spread))
