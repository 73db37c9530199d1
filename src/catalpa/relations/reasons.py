"""What sets a cluster apart, as reasons that a person would accept, in one set of words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from catalpa.relations.names import category_names, figure, percent, shortened
from catalpa.relations.numbers import Amounts, NumberProfile, over
from catalpa.table.blocks import FloatArray
from catalpa.table.schema import Column, Schema

NAME_WIDTH = 60  # of columns and categories in a sentence
ROWS = 5  # that a reason needs, or all rows of a smaller cluster
COMMON = 0.1  # share below which a category is not what a cluster is like
POINTS, TIMES = 0.1, 2.0  # how much more common: by so many of all rows, or so many times
MISSED, RARELY = 0.2, 0.25  # a category of that share elsewhere is missed, where it is so much rarer
FAR = 0.5  # standard deviations between a mean and that of the rest
TIGHT = 0.5  # of the spread elsewhere: numbers that lie so close together are told, wherever their mean is
# Of a profile, as a reason has them.
FIGURES = ("means", "elsewhere", "sds", "sds_elsewhere", "shifts", "bits")
CHANCE = 6.63  # likelihood ratio that one comparison in a hundred exceeds where nothing differs


@dataclass(frozen=True)
class CategoryReason:
    """A category that is more common in a cluster than elsewhere, or much rarer."""

    column: str
    category: str
    # share, share_elsewhere: in the cluster and in all other rows, of the rows that have the column.
    share: float
    share_elsewhere: float
    bits: float  # what the category says about being in the cluster, per row that has the column

    @property
    def rare(self) -> bool:
        """Whether it is what the cluster lacks."""
        return self.share < self.share_elsewhere

    @property
    def text(self) -> str:
        """The reason in words; "elsewhere" means outside the cluster.

        Examples
        --------
        >>> CategoryReason("feathers", "1", 0.92, 0.18, 0.4).text
        '92 % feathers=1 (18 % elsewhere)'
        >>> CategoryReason("smokes", "daily", 0.01, 0.3, 0.1).text
        'hardly any smokes=daily (1 % here, 30 % elsewhere)'
        """
        named = f"{shortened(self.column, NAME_WIDTH)}={shortened(self.category, NAME_WIDTH)}"
        elsewhere = f"{percent(self.share_elsewhere)} elsewhere"
        if not self.rare:
            return f"{percent(self.share)} {named} ({elsewhere if self.share_elsewhere else 'nowhere else'})"
        if not self.share:
            return f"no {named} ({elsewhere})"
        return f"hardly any {named} ({percent(self.share)} here, {elsewhere})"

    def record(self) -> dict[str, Any]:
        """The reason as plain values, for JSON."""
        return {"kind": "rare" if self.rare else "common", **asdict(self), "text": self.text}


@dataclass(frozen=True)
class NumberReason:
    """A number whose mean in a cluster lies far from that elsewhere, or that varies much less in it."""

    column: str
    # mean, mean_elsewhere, sd, sd_elsewhere: mean and standard deviation in the cluster and in all other
    # rows.
    mean: float
    mean_elsewhere: float
    sd: float
    sd_elsewhere: float
    shift: float  # distance of the means in standard deviations of the column
    bits: float  # what the number says about being in the cluster, per row that has one

    @property
    def far(self) -> bool:
        """Whether the mean lies far from that of the rest, or the numbers are only closer together."""
        return abs(self.shift) >= FAR

    @property
    def text(self) -> str:
        """The reason in words.

        Examples
        --------
        >>> NumberReason("age", 53.25, 41.0, 8.0, 14.0, 0.9, 0.2).text
        'age 12.25 above the rest (mean 53.25)'
        >>> NumberReason("age", 41.5, 41.0, 2.0, 14.0, 0.05, 0.2).text
        'age close to 41.5 (± 2, elsewhere ± 14)'
        """
        name = shortened(self.column, NAME_WIDTH)
        if not self.far:
            spreads = f"± {figure(self.sd)}, elsewhere ± {figure(self.sd_elsewhere)}"
            return f"{name} close to {figure(self.mean)} ({spreads})"
        away = figure(abs(self.mean / 2 - self.mean_elsewhere / 2) * 2)
        side = "above" if self.shift > 0 else "below"
        return f"{name} {away} {side} the rest (mean {figure(self.mean)})"

    def record(self) -> dict[str, Any]:
        """The reason as plain values, for JSON."""
        return {"kind": "number", **asdict(self), "text": self.text}


Reason: TypeAlias = CategoryReason | NumberReason


def reasons(
    by_category: Amounts,
    schema: Schema,
    numbers: NumberProfile | None = None,
    *,
    top: int = 3,
    rows_per_weight: float = 1.0,
    groups: Mapping[str, int] | None = None,
) -> list[list[Reason]]:
    """For each cluster what sets it apart from the rest of the table, the most telling first.

    A category counts if it is more common in the cluster than elsewhere: at least a tenth of the cluster's
    rows and five of them (all, in a smaller cluster) hold it, and it is twice as common, or more common by
    ten in a hundred rows. One that a fifth of the other rows hold counts as well where it is hardly there: a
    quarter as common or less, and at least five rows would hold it otherwise. A number counts if its mean
    lies half a standard deviation or more from that of the rest, or if it varies less than half as much. All
    have to exceed chance: a likelihood ratio of 6.63, which one in a hundred comparisons reaches where
    nothing differs. A column speaks once: by what is common rather than by what is rare, unless that tells
    twice as much. A cluster that nothing sets apart gets no reason. At most ``top`` are given for a cluster.
    ``by_category`` (k, V) is the weight of the rows of each cluster that hold each category, and
    ``rows_per_weight`` how many rows a weight of 1 stands for, where weights are not counted in rows.
    Of columns that repeat each other, which have the same number in ``groups``, the best reason is given.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["red"], ["blue"]])
    >>> [found.text for found in reasons(np.array([[2, 18], [17, 3]]), schema)[0]]
    ['90 % x0=red (15 % elsewhere)']
    """
    counts = np.asarray(by_category, dtype=np.float64) * rows_per_weight
    found: list[list[Reason]] = [[] for _ in counts]
    for column, part in zip(schema.categorical, schema.axis.slices(), strict=True):
        for cluster, reason in _of_column(column, counts[:, part]):
            found[cluster].append(reason)
    if numbers is not None:
        for cluster, told in enumerate(found):
            told += _of_numbers(numbers, cluster, rows_per_weight)
    place = {name: at for at, name in enumerate(schema.names)}
    ordered = (
        sorted(told, key=lambda reason: (-round(reason.bits, 9), place[reason.column])) for told in found
    )
    return [_without_repeats(told, groups or {})[:top] for told in ordered]


def _without_repeats(found: Sequence[Reason], groups: Mapping[str, int]) -> list[Reason]:
    """The first reason of every group of columns that repeat each other."""
    kept: dict[str | int, Reason] = {}
    for reason in found:
        kept.setdefault(groups.get(reason.column, reason.column), reason)
    return list(kept.values())


def rows_per_weight(rows: int, weight: float) -> float:
    """What a weight of 1 counts in rows: 1, or more where all weigh less than they are many.

    Weights of a survey may add up to 1, which makes a reason no weaker; those that add up to more than the
    rows stand for rows.

    Examples
    --------
    >>> rows_per_weight(200, 1.0), rows_per_weight(200, 5000.0)
    (200.0, 1.0)
    """
    return max(1.0, rows / weight) if weight > 0 else 1.0


def sentence(found: Sequence[Reason]) -> str:
    """Reasons as one sentence, the same in every output.

    Examples
    --------
    >>> sentence([CategoryReason("milk", "1", 0.92, 0.18, 0.4), NumberReason("legs", 2, 5, 1, 3, -1.2, 0.3)])
    '92 % milk=1 (18 % elsewhere); legs 3 below the rest (mean 2)'
    >>> sentence([])
    'nothing sets it apart'
    """
    return "; ".join(reason.text for reason in found) or "nothing sets it apart"


def _of_column(column: Column, counts: FloatArray) -> list[tuple[int, CategoryReason]]:
    """The best reason that a column gives for each cluster, where it gives one."""
    rows_in, rows_out = _both(counts.sum(axis=1, keepdims=True))
    inside, outside = _both(counts)
    share, elsewhere = over(inside, rows_in), over(outside, rows_out)
    bits = _information(inside, outside, rows_in, rows_out)
    enough = np.minimum(ROWS, rows_in)
    common = (share >= COMMON) & (inside >= enough) & (rows_in > 0)
    common &= (share >= elsewhere + POINTS) | ((share >= TIMES * elsewhere) & (share > 0))
    rare = (elsewhere >= MISSED) & (share <= RARELY * elsewhere) & (elsewhere * rows_in >= ROWS)
    likely = 2 * math.log(2) * bits * (rows_in + rows_out) >= CHANCE
    # What a cluster is like is easier to grasp than what it lacks, which has to tell twice as much.
    weight = np.where((common | rare) & likely & (rows_out > 0), bits * np.where(common, 2.0, 1.0), 0.0)
    best = weight.argmax(axis=1) if column.size else np.zeros(0, dtype=np.int64)
    texts, figures = category_names(column.categories), np.stack([share, elsewhere, bits], axis=2)
    return [
        (cluster, CategoryReason(column.name, texts[at], *figures[cluster, at].tolist()))
        for cluster, at in enumerate(best)
        if weight[cluster, at] > 0
    ]


def _of_numbers(numbers: NumberProfile, cluster: int, rows_per_weight: float) -> list[NumberReason]:
    rows = numbers.seen * rows_per_weight
    seen, total = rows[cluster], rows.sum(axis=0)
    figures = {name: getattr(numbers, name)[cluster] for name in FIGURES}
    shifts, sds, elsewhere = (np.nan_to_num(figures[name]) for name in ("shifts", "sds", "sds_elsewhere"))
    far = (np.abs(shifts) >= FAR) | (sds < TIGHT * elsewhere)
    likely = 2 * math.log(2) * numbers.bits[cluster] * total >= CHANCE
    enough = seen >= np.minimum(ROWS, seen / np.maximum(1.0 - numbers.missing[cluster], 1e-9))
    return [
        NumberReason(numbers.columns[at], *(float(values[at]) for values in figures.values()))
        for at in np.flatnonzero(far & likely & enough)
    ]


def _both(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Counts of each cluster, and of all others together; weights that cancel leave no trace of rounding."""
    total = counts.sum(axis=0)
    others = total - counts
    return counts, np.where(others > 1e-9 * total, others, 0.0)


def _information(
    inside: FloatArray, outside: FloatArray, rows_in: FloatArray, rows_out: FloatArray
) -> FloatArray:
    """Mutual information of "in the cluster" and "has the category" in bits per row that has the column."""
    rows = rows_in + rows_out
    held = inside + outside
    bits = np.zeros(inside.shape)
    for count, of_rows, of_kind in (
        (inside, rows_in, held),
        (outside, rows_out, held),
        (rows_in - inside, rows_in, rows - held),
        (rows_out - outside, rows_out, rows - held),
    ):
        some = count > 1e-12
        ratio = np.divide(count * rows, of_rows * of_kind, out=np.ones(inside.shape), where=some)
        bits += over(count, rows) * np.log2(ratio)
    return np.maximum(bits, 0.0)
