"""Names and shapes of the arrays in the model file of a method, and their validation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalpa.estimator.problem import Fitted, Outcome
from catalpa.model.codecs import COUNTS_SHAPES, SCORES_SHAPES, Shape, damaged
from catalpa.steps.counts import Counts
from catalpa.table.blocks import FARTHEST, FloatArray
from catalpa.table.joined import JoinedAxis
from catalpa.table.schema import Schema

MOST_WEIGHT = 2.0**62  # a sum of counts beyond it would not fit 64 bits


@dataclass(frozen=True)
class ModelContents:
    """Names and shapes of the learned arrays of a method.

    Sizes are words: "clusters", "places" (of the category axis), "columns" (categorical ones), "numbers"
    (numeric ones), "cells" (both) and, in a ragged array, "categories" (of the current column). Other words
    are sizes of the method, which must be consistent; "any" is never compared.
    """

    learned: Mapping[str, Shape] = field(default_factory=dict)
    shared: Mapping[str, Shape] = field(default_factory=dict)
    # The first word is the number of arrays, the others are the shape of each.
    ragged: Mapping[str, Shape] = field(default_factory=dict)
    integers: tuple[str, ...] = ()  # arrays of integers or booleans; all others are floats
    # facts, open_facts: numbers that are always finite, and numbers that may be unknown (NaN).
    facts: tuple[str, ...] = ()
    open_facts: tuple[str, ...] = ()
    private_facts: tuple[str, ...] = ()  # in the file, but not an attribute


def check_contents(fitted: Fitted, expected: ModelContents) -> None:
    """Validate a loaded model, so that no look-up can read beyond an array.

    Checks that all parts are consistent with the columns, the clusters and the method.
    """
    schema, outcome = fitted.schema, fitted.outcome
    sizes = {
        "clusters": outcome.k,
        "places": schema.axis.length,
        "columns": len(schema.categorical),
        "numbers": len(schema.numeric),
        "cells": len(schema.columns),
    }
    counted = [(owner, counts, COUNTS_SHAPES) for owner, counts in _all_counts(outcome)]
    for owner, part, shapes in [("scores", outcome.scores, SCORES_SHAPES), *counted]:
        for name, shape in shapes.items():
            _check_array(f"{owner}.{name}", getattr(part, name), shape, sizes)
    _check_ties(schema, outcome, sizes)
    _check_array("centers", outcome.centers, ("clusters", "columns"), sizes)
    _check_quartiles(fitted.quartiles, sizes)
    _check_names("extra.facts", outcome.facts, (*expected.facts, *expected.open_facts))
    for name in expected.facts:
        if not np.isfinite(outcome.facts[name]):
            raise damaged(f"extra.facts.{name}", "is not a finite number")
    for owner in ("learned", "shared"):
        arrays, shapes = getattr(outcome, owner), getattr(expected, owner)
        _check_names(f"extra.{owner}", arrays, shapes)
        for name, shape in shapes.items():
            _check_array(
                f"extra.{owner}.{name}", arrays[name], shape, sizes, integers=name in expected.integers
            )
    _check_names("extra.ragged", outcome.ragged, expected.ragged)
    for name, shape in expected.ragged.items():
        _check_ragged(f"extra.ragged.{name}", outcome.ragged[name], shape, sizes, schema)
    _check_values(schema, outcome)


def _check_ties(schema: Schema, outcome: Outcome, sizes: dict[str, int]) -> None:
    """Check that costs of pairs of categories match the tied columns."""
    scores = outcome.scores
    if scores.pairs is None:
        return
    if len(scores.parents) != sizes["columns"]:
        raise damaged(
            "scores.parents", f"has {len(scores.parents)} columns, but {sizes['columns']} are there"
        )
    sizes["pairs"] = JoinedAxis(schema.axis, scores.parents).pairs
    _check_array("scores.pairs", scores.pairs, ("pairs", "clusters"), sizes)


def _all_counts(outcome: Outcome) -> list[tuple[str, Counts]]:
    soft = [] if outcome.soft is None else [("soft_counts", outcome.soft)]
    return [("counts", outcome.counts), *soft]


def _check_names(owner: str, came: Mapping[str, object], expected: Collection[str]) -> None:
    if came.keys() != set(expected):
        allowed = f"{sorted(expected)}" if expected else "nothing"
        raise damaged(owner, f"has {sorted(came)}, but this method stores {allowed}")


def _check_array(
    name: str, array: NDArray[Any], shape: Shape, sizes: dict[str, int], *, integers: bool | None = None
) -> None:
    if array.ndim != len(shape):
        raise damaged(name, f"has {array.ndim} dimensions, but {len(shape)} are expected")
    for word, came in zip(shape, array.shape, strict=True):
        expected = came if word == "any" else sizes.setdefault(word, came)
        if came != expected:
            raise damaged(name, f"has {came} {word}, but {expected} fit the other fields")
    if integers is not None and (array.dtype.kind == "f") is integers:
        raise damaged(name, f"has the dtype {array.dtype}, which this method does not use there")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise damaged(name, "has numbers that are not finite")


def _check_ragged(
    name: str, arrays: tuple[FloatArray, ...], shape: Shape, sizes: dict[str, int], schema: Schema
) -> None:
    if len(arrays) != sizes.setdefault(shape[0], len(arrays)):
        raise damaged(name, f"has {len(arrays)} arrays, but {sizes[shape[0]]} fit the other fields")
    for at, array in enumerate(arrays):
        size = {"categories": schema.axis.sizes[at]} if shape[0] == "columns" else {}
        _check_array(f"{name}[{at}]", array, shape[1:], {**sizes, **size}, integers=False)
        if 0 in array.shape and "any" in shape:
            raise damaged(f"{name}[{at}]", "is empty")


def _check_quartiles(quartiles: FloatArray, sizes: dict[str, int]) -> None:
    """Check that quartiles are in order; either all three are unknown or none."""
    name, unknown = "fit.quartiles", np.isnan(quartiles).all(axis=2, keepdims=True)
    known = np.where(unknown, 0, quartiles)
    _check_array(name, known, ("clusters", "numbers", "quartiles"), {**sizes, "quartiles": 3}, integers=False)
    if (np.diff(known, axis=2) < 0).any():
        raise damaged(name, "has a quartile that is above the next one")
    if (np.abs(known) > FARTHEST).any():
        raise damaged(name, f"has a quartile farther than {FARTHEST:g} ranges of its column")


def _check_values(schema: Schema, outcome: Outcome) -> None:
    """Check codes of categories and counts."""
    beyond = (outcome.centers < 0) | (outcome.centers >= np.maximum(schema.axis.sizes, 1))
    if outcome.centers.size and beyond.any():
        raise damaged("centers", "names categories that its columns do not have")
    if (np.abs(outcome.scores.means) > FARTHEST).any():
        raise damaged("scores.means", f"has a mean farther than {FARTHEST:g} ranges of its column")
    for owner, counts in _all_counts(outcome):
        # Only sums may be negative: a batch may have numbers below those of the first one.
        if any((part < 0).any() for part in (counts.by_category, counts.sizes, counts.squares, counts.seen)):
            raise damaged(owner, "has negative counts")
        if any(np.abs(part.astype(np.float64)).sum() > MOST_WEIGHT for part in counts.arrays):
            raise damaged(owner, "has counts that are too large")
        if not (counts.sizes > 0).all():
            raise damaged(f"{owner}.sizes", "has a cluster without rows")
