"""The methods that DISC is compared with, each in the reading that prints its published column.

An estimator keeps the meaning of its publication. The programs behind the printed numbers differ from that in
details that decide ties and empty clusters: a reading has these details, and is used by the laboratory only.
All readings take a table as the authors' integer codes and the positions of the start rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from catalpa.costs.cooccurrence import Contexts, conditional_shares, symmetric_uncertainty
from catalpa.costs.hdc import homogeneous_distances
from catalpa.errors import UndefinedMetric
from catalpa.explain.tree import spanning_tree
from catalpa.lab.as_published import Matlab4Generator, codes_of, distinct_rows, randperm_rows
from catalpa.lab.estimators import find_estimator
from catalpa.lab.published_disc import PublishedDISC
from catalpa.lab.readings_het2hom import Het2HomProgram
from catalpa.lab.readings_in_order import Granules, similarity_clusters
from catalpa.steps.counts import cooccurrences
from catalpa.table.blocks import Axis, Block, FloatArray, IntArray

MOST_PASSES = 51  # of the authors' programs, in every loop
SHORTEST = 1e-8  # edge between two categories that are spread over the clusters alike, in CoForest's program
CONTEXT_SHARE = 0.1  # of the mean uncertainty: a column that has less is not in the context


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table in the authors' codes."""

    frame: pd.DataFrame  # categories as text that sorts like the codes, for estimators

    @cached_property
    def codes(self) -> IntArray:  # (n, columns)
        return codes_of(self.frame)

    @cached_property
    def axis(self) -> Axis:
        return Axis(tuple(len(self.frame[name].cat.categories) for name in self.frame))

    @cached_property
    def places(self) -> IntArray:  # (n, columns)
        """Place of every cell among all categories."""
        return self.codes + self.axis.offsets[:-1]

    @cached_property
    def together(self) -> IntArray:  # (V, V)
        """Rows that hold both of two categories."""
        block = Block(self.codes.astype(self.axis.dtype), np.zeros((len(self.codes), 0)))
        return cooccurrences(block, self.axis)

    @cached_property
    def het2hom(self) -> Het2HomProgram:
        """HARR's axes, which all runs share."""
        return Het2HomProgram.of(self.places, self.axis, self.together)

    def granules(self, k: int) -> Granules:
        """MCDC's first stage, which all runs share."""
        if k not in self._granules:
            self._granules[k] = Granules(self.frame, k)
        return self._granules[k]

    @cached_property
    def _granules(self) -> dict[int, Granules]:
        return {}

    def counts(self, labels: IntArray, k: int, rows: IntArray | slice = slice(None)) -> IntArray:  # (k, V)
        """Rows of every cluster with every category, of all rows or of some."""
        at = (labels[:, None] * self.axis.length + self.places[rows]).ravel()
        return np.bincount(at, minlength=k * self.axis.length).reshape(k, self.axis.length)

    def totals(self, costs: FloatArray) -> FloatArray:  # (n, k)
        """Sum over the columns, in their order, of what a row's categories cost in every cluster."""
        totals = np.zeros((len(self.codes), costs.shape[1]))
        for places in self.places.T:
            totals += costs[places]
        return totals


Labels = IntArray  # (n,); clusters without rows have no label
Reading = Callable[[CodedTable, IntArray], Labels]


def modes(table: CodedTable, counts: IntArray, before: IntArray) -> IntArray:  # (k, columns)
    """Most frequent category of every column; the lowest of equals, as before in a cluster without rows."""
    categories = np.column_stack([counts[:, part].argmax(axis=1) for part in table.axis.slices()])
    present = np.asarray(counts[:, : table.axis.sizes[0]].any(axis=1))
    return np.where(present[:, None], categories, before)


def k_modes(table: CodedTable, rows: IntArray, distances: list[FloatArray] | None = None) -> Labels:
    """Batch k-modes; the lowest index on ties, and a cluster without rows keeps its mode.

    With ``distances`` a category costs its distance from the mode, else 1 unless it is the mode.
    """
    apart = [1.0 - np.eye(size) for size in table.axis.sizes] if distances is None else distances
    centers, labels = table.codes[rows], np.full(len(table.codes), -1)
    for _ in range(MOST_PASSES):
        costs = [each[:, center] for each, center in zip(apart, centers.T, strict=True)]
        nearest = table.totals(np.vstack(costs)).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centers = modes(table, table.counts(labels, len(rows)), centers)
    return labels


def cbdm(table: CodedTable, rows: IntArray) -> Labels:
    """k-modes with distances from context; the sum of squares is divided by the number of context columns.

    The publication, and so the estimator unless ``divisor="columns"``, divides by the number of their
    categories. The context of a column are the columns whose symmetric uncertainty with it is at least a
    tenth of the mean of all others.
    """
    distances = context_distances(table)
    if not any(each.any() for each in distances):
        raise UndefinedMetric("No column tells anything about another, so all distances are 0.")
    return k_modes(table, rows, distances)


def context_distances(table: CodedTable) -> list[FloatArray]:
    """Distances of the categories of every column in the printed reading of CBDM."""
    axis = table.axis
    parts = list(axis.slices())
    uncertainty = symmetric_uncertainty(table.together, axis)
    np.fill_diagonal(uncertainty, 0.0)
    mean = uncertainty.sum(axis=1) / max(axis.n_columns - 1, 1)
    shares = conditional_shares(table.together, axis)  # row x, column u: P(u | x)
    distances = []
    for column, part in enumerate(parts):
        of_column = uncertainty[column]
        context = np.flatnonzero((of_column >= CONTEXT_SHARE * mean[column]) & (of_column > 0))
        conditional = np.vstack([shares[parts[other], part] for other in context]) if len(context) else None
        if conditional is None:
            distances.append(np.zeros((axis.sizes[column],) * 2))
            continue
        squares = ((conditional[:, :, None] - conditional[:, None, :]) ** 2).sum(axis=0)
        distances.append(np.sqrt(squares / len(context)))
    return distances


def hdc(table: CodedTable, rows: IntArray) -> Labels:
    """HDC without weights: the root of summed squared distances from a central category per column.

    The central category has the least summed distance by shares that are rounded as percentages, which is
    what MATLAB's ``tabulate`` returns: that decides ties which the estimator, comparing exactly, leaves to
    the lowest code. A cluster without rows keeps its centre; in the estimator it takes no row any more.
    """
    axis = table.axis
    contexts = Contexts.of(table.together, axis, (0,) * axis.n_columns)
    distances = homogeneous_distances(contexts)
    k = len(rows)
    centers, labels = table.codes[rows], np.full(len(table.codes), -1)
    for _ in range(MOST_PASSES):
        costs = [each[:, center] ** 2 for each, center in zip(distances, centers.T, strict=True)]
        nearest = np.sqrt(table.totals(np.vstack(costs))).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        counts = table.counts(labels, k)
        sizes = np.bincount(labels, minlength=k)
        shares = tabulated_shares(counts, sizes)
        parts = zip(axis.slices(), distances, strict=True)
        fresh = np.column_stack([_central(shares[:, part], each) for part, each in parts])
        centers = np.where(sizes[:, None] > 0, fresh, centers)
    return labels


def tabulated_shares(counts: IntArray, sizes: IntArray) -> FloatArray:  # (k, V)
    """Shares in the rounding of MATLAB's ``tabulate``: percentages, divided by 100."""
    return np.asarray(100.0 * counts / np.maximum(sizes, 1)[:, None] / 100.0)


def _central(shares: FloatArray, distances: FloatArray) -> IntArray:  # (k,)
    summed = np.zeros(shares.shape)
    for category in range(shares.shape[1]):  # in the order of the codes: rounding decides ties
        summed += shares[:, category, None] * distances[category]
    return np.asarray(summed.argmin(axis=1))


def coforest(table: CodedTable, rows: IntArray) -> Labels:
    """CoForest in the arithmetic of its program, which stops when the labels' sum of changes is 0.

    Sums are compared as floats and rows may change places without ending the loop's test; the estimator
    compares exactly and stops when no row moves.
    """
    k, axis = len(rows), table.axis
    labels = k_modes(table, rows)
    sizes = np.bincount(labels, minlength=k)
    fresh = table.counts(labels, k) / np.maximum(sizes, 1)[:, None]
    # A cluster that k-modes left without rows has those of its start.
    shares = np.where(sizes[:, None] > 0, fresh, table.counts(np.arange(k), k, rows))
    last, trees = labels, _forest(table, labels, k)
    for _ in range(MOST_PASSES):
        current = np.full(len(labels), -1)
        for _ in range(MOST_PASSES):
            costs = [
                tree @ shares[:, part].T / max(size - 1, 1)
                for tree, part, size in zip(trees, axis.slices(), axis.sizes, strict=True)
            ]
            nearest = (table.totals(np.vstack(costs)) / axis.n_columns).argmin(axis=1)
            sizes = np.bincount(nearest, minlength=k)
            fresh = table.counts(nearest, k) / np.maximum(sizes, 1)[:, None]
            shares = np.where(sizes[:, None] > 0, fresh, shares)
            if np.array_equal(nearest, current):
                break
            current = nearest
        if int((last - current).sum()) == 0:
            break
        last, trees = current, _forest(table, current, k)
    return current


def _forest(table: CodedTable, labels: IntArray, k: int) -> list[FloatArray]:
    """Way between any two categories through the spanning tree of their column."""
    counts = table.counts(labels, k)
    trees = []
    for part in table.axis.slices():
        cells = counts[:, part]
        spread = (cells / cells.sum(axis=0)).T
        edges = np.sqrt(((spread[:, None, :] - spread[None, :, :]) ** 2).sum(axis=2)) / k
        edges[edges == 0.0] = SHORTEST
        np.fill_diagonal(edges, 0.0)
        trees.append(spanning_tree(edges).path_lengths())
    return trees


def harr(table: CodedTable, rows: IntArray) -> Labels:
    """The Het2Hom rule, which the printed column of HARR follows, in the arithmetic of its program.

    ``HARR(variant="H2H", empty_clusters="keep")`` compares exactly.
    """
    return table.het2hom.clusters(rows)


def disc(table: CodedTable, rows: IntArray) -> Labels:
    """DISC as its program runs it, rounding included."""
    return PublishedDISC(len(rows), init=table.frame.iloc[rows]).fit(table.frame).labels_


def _labels_of(method: str, table: CodedTable, rows: IntArray, **settings: Any) -> Labels:
    """Labels of an estimator from given rows."""
    model = find_estimator(method)(n_clusters=len(rows), init=table.frame.iloc[rows], n_init=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lost clusters, which the printed runs have too
        return np.asarray(model.fit(table.frame).labels_)


def cure(table: CodedTable, rows: IntArray) -> Labels:
    """CURE's vectors, then k-means from the rows given. Groups of categories are found by chance, seed 0."""
    return _labels_of("cure", table, rows, random_state=0)


def cdcdr(table: CodedTable, rows: IntArray) -> Labels:
    """CDC_DR's vectors, then k-means from the rows given."""
    return _labels_of("cdcdr", table, rows)


def sigdt(table: CodedTable, _rows: IntArray) -> Labels:
    """SigDT, which has no start."""
    return np.asarray(find_estimator("sigdt")().fit(table.frame).labels_)


def mcdc(table: CodedTable, rows: IntArray) -> Labels:
    """Competition from oriented rows, then weighted k-modes from the rows given; what is empty stays so."""
    return table.granules(len(rows)).agree(rows)


def wocil(table: CodedTable, rows: IntArray) -> Labels:
    """Similarity of rows to clusters in which the start rows stay counted; weights from the first pass on."""
    return similarity_clusters(table.places, table.axis, rows)


PRINTED: dict[str, Reading] = {
    "KMD": k_modes,
    "CBDM": cbdm,
    "WOCIL": wocil,
    "HDC": hdc,
    "CoForest": coforest,
    "MCDC": mcdc,
    "HARR": harr,
}
"""Readings whose printed column is known to come from start rows, by the label of the column."""

FROM_ROWS: dict[str, Reading] = {**PRINTED, "CURE": cure, "CDCDR": cdcdr, "SigDT": sigdt, "DISC": disc}
"""All methods of the table, each from given rows; SigDT has no start."""

TWICE = frozenset({"CoForest"})  # its demo draws distinct rows twice per run, and uses the second draw


def printed_starts(label: str, table: CodedTable, k: int, seed: int, runs: int) -> list[IntArray]:
    """Positions of the start rows of every printed run, from one stream of draws.

    The counterparts draw ``randperm`` rows, of which two may be equal. CoForest's demo draws distinct rows
    twice per run and uses the second.
    """
    if label not in TWICE:
        return same_starts(table, k, seed, runs)
    generator = Matlab4Generator(seed)
    return [distinct_rows(generator, table.codes, k) for _ in range(2 * runs)][1::2]


def same_starts(table: CodedTable, k: int, seed: int, runs: int) -> list[IntArray]:
    """Positions of ``randperm`` rows for every run, from one stream of draws."""
    generator = Matlab4Generator(seed)
    return [randperm_rows(generator, len(table.codes), k) for _ in range(runs)]
