"""Scores and counts as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalpa.errors import ModelFileError
from catalpa.model.arrays import array_from_json, array_to_json
from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores

__all__ = ["counts_from_json", "counts_to_json", "scores_from_json", "scores_to_json"]


def scores_to_json(scores: Scores) -> dict[str, Any]:
    """Scores as JSON values.

    Examples
    --------
    >>> import numpy as np
    >>> entry = scores_to_json(Scores.of(np.array([[0.0, 1.0]])))
    >>> entry["table"]["values"], entry["power"], entry["root"]
    ([[0.0, 1.0]], 2, False)
    """
    return {
        "table": array_to_json(scores.table),
        "anchor": array_to_json(scores.anchor),
        "means": array_to_json(scores.means),
        "scale": array_to_json(scores.scale),
        "level": array_to_json(scores.level),
        "power": int(scores.power),
        "root": bool(scores.root),
    }


def scores_from_json(entry: Mapping[str, Any]) -> Scores:
    """The scores that ``scores_to_json`` described.

    Examples
    --------
    >>> import numpy as np
    >>> scores = Scores.of(np.array([[0.0, 1.0]]))
    >>> scores_from_json(scores_to_json(scores)).same_as(scores)
    True
    """
    scores = Scores(
        table=array_from_json(_part(entry, "scores", "table"), "scores.table", ndim=2),
        anchor=array_from_json(_part(entry, "scores", "anchor"), "scores.anchor", ndim=1),
        means=array_from_json(_part(entry, "scores", "means"), "scores.means", ndim=2),
        scale=array_from_json(_part(entry, "scores", "scale"), "scores.scale", ndim=2),
        level=array_from_json(_part(entry, "scores", "level"), "scores.level", ndim=2),
        power=_whole(entry, "scores", "power"),
        root=_truth(entry, "scores", "root"),
    )
    if scores.power not in (1, 2):
        raise ModelFileError(
            f"The model file is damaged: field 'scores.power' is {scores.power}, not 1 or 2."
        )
    _check_shapes(
        {
            "scores.anchor": (scores.anchor.shape, (scores.k,)),
            "scores.means": (scores.means.shape, (scores.k, scores.means.shape[1])),
            "scores.scale": (scores.scale.shape, scores.means.shape),
            "scores.level": (scores.level.shape, scores.means.shape),
        }
    )
    return scores


def counts_to_json(counts: Counts) -> dict[str, Any]:
    """Counts as JSON values; the cost is a whole number of any size.

    Examples
    --------
    >>> import numpy as np
    >>> none = np.zeros((1, 0), dtype=np.int64)
    >>> counts = Counts(np.array([[2, 1]]), np.array([3]), none, none, none, cost=2**70, moved=0)
    >>> counts_to_json(counts)["cost"]
    1180591620717411303424
    """
    return {
        "by_category": array_to_json(counts.by_category),
        "sizes": array_to_json(counts.sizes),
        "sums": array_to_json(counts.sums),
        "squares": array_to_json(counts.squares),
        "seen": array_to_json(counts.seen),
        "cost": int(counts.cost),
        "moved": int(counts.moved),
    }


def counts_from_json(entry: Mapping[str, Any]) -> Counts:
    """The counts that ``counts_to_json`` described.

    Examples
    --------
    >>> import numpy as np
    >>> none = np.zeros((1, 0), dtype=np.int64)
    >>> counts = Counts(np.array([[2, 1]]), np.array([3]), none, none, none, cost=7, moved=0)
    >>> counts_from_json(counts_to_json(counts)).by_category
    array([[2, 1]])
    """
    counts = Counts(
        by_category=array_from_json(_part(entry, "counts", "by_category"), "counts.by_category", ndim=2),
        sizes=array_from_json(_part(entry, "counts", "sizes"), "counts.sizes", ndim=1),
        sums=array_from_json(_part(entry, "counts", "sums"), "counts.sums", ndim=2),
        squares=array_from_json(_part(entry, "counts", "squares"), "counts.squares", ndim=2),
        seen=array_from_json(_part(entry, "counts", "seen"), "counts.seen", ndim=2),
        cost=_whole(entry, "counts", "cost"),
        moved=_whole(entry, "counts", "moved"),
    )
    _check_shapes(
        {
            "counts.by_category": (counts.by_category.shape, (counts.k, counts.by_category.shape[1])),
            "counts.sums": (counts.sums.shape, (counts.k, counts.sums.shape[1])),
            "counts.squares": (counts.squares.shape, counts.sums.shape),
            "counts.seen": (counts.seen.shape, counts.sums.shape),
        }
    )
    return counts


def _part(entry: Mapping[str, Any], owner: str, name: str) -> Any:
    if name not in entry:
        raise ModelFileError(
            f"The model file is damaged: field '{owner}.{name}' is missing. Save the model again."
        )
    return entry[name]


def _whole(entry: Mapping[str, Any], owner: str, name: str) -> int:
    value = _part(entry, owner, name)
    if type(value) is not int:
        raise ModelFileError(
            f"The model file is damaged: field '{owner}.{name}' is {value!r}, not a whole number."
        )
    return value


def _truth(entry: Mapping[str, Any], owner: str, name: str) -> bool:
    value = _part(entry, owner, name)
    if type(value) is not bool:
        raise ModelFileError(
            f"The model file is damaged: field '{owner}.{name}' is {value!r}, not true or false."
        )
    return value


def _check_shapes(fields: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    for field, (came, expected) in fields.items():
        if came != expected:
            raise ModelFileError(
                f"The model file is damaged: field {field!r} has shape {came}, but {expected} fits the other "
                "fields. Save the model again."
            )
