"""Additive scores of a short form: forward selection of questions, evaluated on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from catalpa.arrays import equal_parts, log_sum_exp
from catalpa.explain.formatting import MISSING, category_names, range_names, reading_order
from catalpa.report.rows import separate_extra_columns
from catalpa.table import encode
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Category, Column, ColumnKind, Schema

OTHER = "(other)"  # an answer that was not seen at fit
FOLDS = 5
SCALE = 100  # points per nat: integers have the same sum in every program
PRIOR = 2.0  # prior strength: pseudo-counts that shrink a cluster's shares towards those of all rows
RANGES = 5  # of a number, each with about as many rows
MOST_ANSWERS = 30  # of a question; columns with more categories are not used
MOST_ROWS = 20_000  # rows used to choose columns
WORTH = 0.005  # accuracy that a further column must add


@dataclass(frozen=True, eq=False)
class Question:
    """A column, its answers, and the points of each answer for each cluster."""

    column: Column
    answers: tuple[str, ...]  # texts; ranges of a number
    values: tuple[Category, ...]  # cells of categories, None for a missing value; empty for a number
    borders: tuple[float, ...]  # between the ranges of a number
    scores: IntArray  # (answers, k)

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_number(self) -> bool:
        return self.column.kind is ColumnKind.NUMERIC

    @property
    def missing(self) -> int | None:
        """Place of the answer for missing values, which is the last; None if there is none."""
        return len(self.answers) - 1 if self.answers[-1] == MISSING else None


@dataclass(frozen=True, eq=False)
class FormSelection:
    """The columns that were chosen, and how well they reproduce held-out labels."""

    questions: tuple[Question, ...]
    start: IntArray  # (k,); points before the first answer
    # Share of held-out rows whose label is reproduced, with one question, two, ...
    accuracies: tuple[float, ...]
    recalls: tuple[float, ...]  # (k,); of the rows of each cluster, with the chosen questions
    baseline: float  # share of the largest cluster


def askable(schema: Schema) -> Schema:
    """The columns that a form can use; binned columns of the model are used as numbers."""
    columns = [
        replace(column, kind=ColumnKind.NUMERIC, categories=(), edges=None, clipped=False)
        if column.binned
        else column
        for column in schema.columns
        if column.origin is None
    ]
    return replace(
        schema, columns=tuple(one for one in columns if one.kind is ColumnKind.NUMERIC or _few(one))
    )


def _few(column: Column) -> bool:
    return 1 < column.size <= MOST_ANSWERS


def questions_of(X: Any, schema: Schema) -> list[tuple[Question, IntArray]]:
    """Every column as a question without points, and the answer of each row; -1 for none."""
    block = encode(separate_extra_columns(X, schema)[0], schema, handle_unknown="ignore").rows.blocks[0]
    questions = []
    for column, codes in zip(schema.categorical, block.codes.T, strict=True):
        questions.append(_words(column, np.asarray(codes, dtype=np.int64)))
    for at, column in enumerate(schema.numeric):
        questions.append(_ranges(column, block.numbers[:, at]))
    place = {name: at for at, name in enumerate(schema.names)}
    able = [one for one in questions if len(one[0].answers) > 1]
    return sorted(able, key=lambda one: place[one[0].name])


def _words(column: Column, codes: IntArray) -> tuple[Question, IntArray]:
    counts = np.bincount(np.minimum(codes, column.size), minlength=column.size + 1)[: column.size]
    order = [int(code) for code in reading_order(column, counts)]
    # A missing value comes last.
    order.sort(key=lambda code: column.categories[code] is None)
    names = category_names(column.categories)
    values = tuple(column.categories[code] for code in order)
    question = Question(column, tuple(names[code] for code in order), values, (), np.zeros((0, 0), np.int64))
    return question, answers_of(question, codes)


def _ranges(column: Column, numbers: FloatArray) -> tuple[Question, IntArray]:
    texts, borders = range_names(equal_parts(numbers, RANGES))
    if not np.isfinite(numbers).all():
        texts = [*texts, MISSING]
    question = Question(column, tuple(texts), (), tuple(borders), np.zeros((0, 0), np.int64))
    return question, answers_of(question, numbers)


def answers_of(question: Question, cells: Any) -> IntArray:
    """The answer of each cell, given as codes of the column or as numbers; -1 for none."""
    if question.is_number:
        there = np.isfinite(cells)
        places = np.searchsorted(question.borders, np.where(there, cells, 0.0), side="right")
        absent = -1 if question.missing is None else question.missing
        return np.where(there, places, absent).astype(np.int64)
    column = question.column
    place_of = {code: at for at, code in enumerate(map(column.categories.index, question.values))}
    places = np.array([*(place_of[code] for code in range(column.size)), -1], dtype=np.int64)
    return np.asarray(places[np.minimum(cells, column.size)])


def texts_of(question: Question, cells: Any) -> list[Any]:
    """What a form shows in each cell: a number, the text of an answer, or None for a missing value."""
    if question.is_number:
        return [float(cell) if np.isfinite(cell) else None for cell in cells]
    texts = [
        None if value is None else text for text, value in zip(question.answers, question.values, strict=True)
    ]
    return [texts[at] if at >= 0 else OTHER for at in answers_of(question, cells)]


def points(counts: FloatArray) -> IntArray:
    """Points of every answer for every cluster, from counts (..., answers, k).

    The points of an answer are 100 times the logarithm of its share in the cluster divided by its share in
    all rows. Shares in a cluster are shrunk towards those of all rows.

    Examples
    --------
    >>> points(np.array([[8.0, 0.0], [0.0, 8.0]])).tolist()
    [[59, -161], [-161, 59]]
    """
    answers = counts.shape[-2]
    totals = counts.sum(axis=-1, keepdims=True)
    overall = (totals + 1 / answers) / (totals.sum(axis=-2, keepdims=True) + 1)
    share = (counts + PRIOR * overall) / (counts.sum(axis=-2, keepdims=True) + PRIOR)
    return np.asarray(np.rint(SCALE * np.log(share / overall)), dtype=np.int64)


def start_points(sizes: FloatArray) -> IntArray:
    """Points of every cluster before the first answer, from its size."""
    return np.asarray(np.rint(SCALE * np.log((sizes + 1) / (sizes.sum() + len(sizes)))), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Folded:
    """Answers, labels and weights of rows in random parts, and the counts of every part."""

    answers: Sequence[IntArray]  # of each column (n,)
    labels: IntArray
    weights: FloatArray
    folds: IntArray  # (n,)
    counts: Sequence[FloatArray]  # of each column (folds, answers, k)
    sizes: FloatArray  # (folds, k)


def select(
    candidates: Sequence[tuple[Question, IntArray]],
    labels: IntArray,
    k: int,
    most: int,
    weights: FloatArray,
    seed: int,
) -> FormSelection:
    """Choose at most ``most`` questions by forward selection and measure their accuracy on held-out rows.

    Each step adds the question that increases the out-of-fold log-probability of the labels most. The
    accuracy is measured by five-fold cross-validation of the whole selection.
    """
    n = len(labels)
    rng = np.random.default_rng(seed)
    sample = np.arange(n) if n <= MOST_ROWS else np.sort(rng.choice(n, MOST_ROWS, replace=False))
    weights = weights * (n / weights.sum())
    data = _folded(candidates, labels, k, weights, sample, rng)
    right, of_cluster = np.zeros((2, most, k))
    for fold in range(FOLDS):
        chosen = _forward(data, k, most, fold)
        held_out = data.folds == fold
        _count_right(data, chosen, fold, held_out, right, of_cluster)
    accuracies = right.sum(axis=1) / max(of_cluster[0].sum(), 1e-300)
    enough = int(np.argmax(accuracies >= accuracies.max() - WORTH)) + 1
    final = _forward(data, k, enough, None)
    parts = [candidates[at] for at in final]
    questions = tuple(
        replace(question, scores=points(_counts(answers, labels, weights, len(question.answers), k)))
        for question, answers in parts
    )
    sizes = np.asarray(np.bincount(labels, weights, minlength=k), dtype=np.float64)
    recalls = right[enough - 1] / np.maximum(of_cluster[enough - 1], 1e-300)
    return FormSelection(
        questions,
        start_points(sizes),
        tuple(map(float, accuracies)),
        tuple(map(float, recalls)),
        float(sizes.max() / sizes.sum()),
    )


def _counts(answers: IntArray, labels: IntArray, weights: FloatArray, size: int, k: int) -> FloatArray:
    there = answers >= 0
    places = answers[there] * k + labels[there]
    counts = np.bincount(places, weights[there], minlength=size * k).reshape(size, k)
    return np.asarray(counts, dtype=np.float64)


def _folded(
    questions: Sequence[tuple[Question, IntArray]],
    labels: IntArray,
    k: int,
    weights: FloatArray,
    sample: IntArray,
    rng: np.random.Generator,
) -> _Folded:
    of, weight = labels[sample].astype(np.int64), weights[sample]
    folds = rng.permutation(len(sample)) % FOLDS
    counts, columns = [], []
    for question, answers in questions:
        codes, size = answers[sample], len(question.answers)
        columns.append(codes)
        parts = [
            _counts(codes[folds == fold], of[folds == fold], weight[folds == fold], size, k)
            for fold in range(FOLDS)
        ]
        counts.append(np.stack(parts))
    sizes = np.stack(
        [np.bincount(of[folds == fold], weight[folds == fold], minlength=k) for fold in range(FOLDS)]
    )
    return _Folded(columns, of, weight, folds, counts, np.asarray(sizes, dtype=np.float64))


def _forward(data: _Folded, k: int, most: int, without: int | None) -> list[int]:
    """Columns in the order of selection, without the rows of the fold ``without``."""
    rows = np.flatnonzero(data.folds != (-1 if without is None else without))
    labels, weights = data.labels[rows], data.weights[rows]
    parts = [_out_of_fold(data, at, rows, without) for at in range(len(data.answers))]
    sizes = data.sizes.sum(axis=0) - (0 if without is None else data.sizes[without])
    present = np.broadcast_to(start_points(sizes) / SCALE, (len(rows), k))
    chosen: list[int] = []
    best = _surprise(present, labels, weights)
    while len(chosen) < most:
        left = [at for at in range(len(parts)) if at not in chosen]
        losses = [_surprise(present + parts[at], labels, weights) for at in left]
        if not losses or min(losses) >= best:
            break
        best = min(losses)
        chosen.append(left[losses.index(best)])
        present = present + parts[chosen[-1]]
    return chosen


def _out_of_fold(data: _Folded, at: int, rows: IntArray, without: int | None) -> FloatArray:
    """Nats of each row's answer for every cluster, (rows, k), from the rows of other folds."""
    counts = data.counts[at]
    total = counts.sum(axis=0) - (0 if without is None else counts[without])
    tables = points(np.maximum(total - counts, 0.0)) / SCALE  # (folds, answers, k)
    none = np.zeros((FOLDS, 1, tables.shape[2]))
    return np.concatenate([tables, none], axis=1)[data.folds[rows], data.answers[at][rows]]


def _surprise(nats: FloatArray, labels: IntArray, weights: FloatArray) -> float:
    """Weighted sum of minus the log-probability of the labels."""
    costs = nats[np.arange(len(labels)), labels]
    return float((weights * (log_sum_exp(nats) - costs)).sum())


def _count_right(
    data: _Folded,
    chosen: Sequence[int],
    fold: int,
    held_out: Any,
    right: FloatArray,
    of_cluster: FloatArray,
) -> None:
    """Add the weight of the held-out rows, and of those labelled right, with one question, two, ..."""
    k = right.shape[1]
    labels, weights = data.labels[held_out], data.weights[held_out]
    total = np.broadcast_to(start_points(data.sizes.sum(axis=0) - data.sizes[fold]), (len(labels), k))
    for step in range(len(right)):
        if step < len(chosen):
            at = chosen[step]
            table = points(data.counts[at].sum(axis=0) - data.counts[at][fold])
            total = total + np.vstack([table, np.zeros((1, k), np.int64)])[data.answers[at][held_out]]
        hit = total.argmax(axis=1) == labels
        right[step] += np.bincount(labels[hit], weights[hit], minlength=k)
        of_cluster[step] += np.bincount(labels, weights, minlength=k)
