"""Redundant columns: normalised mutual information of pairs, groups of columns, and their description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from catalpa.arrays import entropy
from catalpa.explain.formatting import shortened
from catalpa.table.blocks import FloatArray

REPEATED = 0.25  # mutual information relative to the smaller entropy from which columns repeat each other
NAME_WIDTH = 60  # of columns in a sentence
MOST_NAMED = 5  # columns of a group in a sentence


def common_share(counts: FloatArray) -> float:
    """Mutual information of two columns as a share of the smaller entropy, from counts of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> common_share(np.array([[5.0, 0.0], [0.0, 3.0]]))
    1.0
    """
    rows = float(counts.sum())
    if not rows > 0:
        return 0.0
    one, other = (entropy(counts.sum(axis=axis) / rows) for axis in (1, 0))
    least = min(one, other)
    return min(max((one + other - entropy(counts / rows)) / least, 0.0), 1.0) if least > 0 else 0.0


def groups_of(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Connected groups of columns, in order of appearance.

    Examples
    --------
    >>> groups_of([("city", "zip"), ("age", "year"), ("zip", "region")])
    [['city', 'zip', 'region'], ['age', 'year']]
    """
    groups: list[list[str]] = []
    for pair in pairs:
        joined = [group for group in groups if set(group) & set(pair)]
        merged = [name for group in joined for name in group]
        merged += [name for name in pair if name not in merged]
        at = groups.index(joined[0]) if joined else len(groups)
        groups = [group for group in groups if group not in joined]
        groups.insert(at, merged)
    return groups


def group_numbers(groups: Sequence[Sequence[str]]) -> Mapping[str, int]:
    """Number of the group of every column that is in a group."""
    return {name: at for at, group in enumerate(groups) for name in group}


def repeats_in_words(groups: Sequence[Sequence[str]]) -> list[str]:
    """A sentence for every group of columns.

    Examples
    --------
    >>> repeats_in_words([["city", "zip"], ["q1", "q2", "q3", "q4", "q5", "q6", "q7"]])[0]
    "'city' and 'zip' repeat each other and count once"
    >>> repeats_in_words([["q1", "q2", "q3", "q4", "q5", "q6", "q7"]])
    ["'q1', 'q2', 'q3', 'q4', 'q5' and 2 more repeat each other and count once"]
    """
    sentences = []
    for group in groups:
        names = [repr(shortened(name, NAME_WIDTH)) for name in group]
        shown, more = names[:MOST_NAMED], len(names) - MOST_NAMED
        last = f"{more} more" if more > 0 else shown.pop()
        sentences.append(f"{', '.join(shown)} and {last} repeat each other and count once")
    return sentences
