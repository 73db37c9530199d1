"""What is typical of a cluster: reasons, and their wording in all outputs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from catalpa.arrays import safe_divide
from catalpa.explain.formatting import MISSING, category_names, figure, percent, shortened
from catalpa.explain.numbers import Amounts, NumberProfile
from catalpa.table.blocks import FloatArray
from catalpa.table.gap_blocks import ANSWERED, UP_TO
from catalpa.table.schema import Column, Schema

NAME_WIDTH = 60  # of columns and categories in a sentence
ROWS = 5  # fewest rows of a reason, or all rows of a smaller cluster
COMMON = 0.1  # smallest share of a typical category
POINTS, TIMES = 0.1, 2.0  # smallest difference or ratio of shares of a typical category
MISSED, RARELY = 0.2, 0.25  # smallest share elsewhere, and largest ratio, of a typically absent category
FAR = 0.5  # smallest shift of a mean, in standard deviations
TIGHT = 0.5  # largest ratio of the standard deviations inside and elsewhere of a concentrated number
# Fields of a profile that a reason copies.
FIGURES = ("means", "elsewhere", "sds", "sds_elsewhere", "shifts", "bits")
ITEM_OF_LIST = ("True", "False")  # categories of one answer out of several in a cell
_BLOCK = re.compile(r" and [0-9]+ more$")  # of columns that are missing together
QUESTION_BLANKS = 5  # fewest spaces in a name that is a question or a statement
CHANCE = 6.63  # 99 % quantile of the likelihood ratio under independence (chi-square, 1 df)


def _is_question(column: str) -> bool:
    """True if the column's name is a question or a statement that respondents answer."""
    return column.endswith("?") or column.count(" ") >= QUESTION_BLANKS


def _plain(reason: Any) -> dict[str, Any]:
    """The fields of a reason, without an empty title."""
    return {name: value for name, value in asdict(reason).items() if name != "title" or value}


@dataclass(frozen=True)
class CategoryReason:
    """A category that is more common in a cluster than elsewhere, or much rarer."""

    column: str
    category: str
    # share, share_elsewhere: in the cluster and in all other rows, of the rows that have the column.
    share: float
    share_elsewhere: float
    bits: float  # mutual information with membership in the cluster, per row with a value
    title: str = ""  # short label of the column, if a codebook or a recipe has one

    @property
    def called(self) -> str:
        """The short label of the column, or its name."""
        return self.title or self.column

    @property
    def rare(self) -> bool:
        """True if the category is rarer in the cluster than elsewhere."""
        return self.share < self.share_elsewhere

    @property
    def missing(self) -> bool:
        """True if the reason is about missing values."""
        return self.category == MISSING

    def _text_of_missing(self) -> str:
        """The reason in words: the values are missing, or they are given."""
        share, elsewhere = self.share, self.share_elsewhere
        column = shortened(self.called.removesuffix(UP_TO), NAME_WIDTH)
        is_question = _is_question(self.called) or self.column.endswith(UP_TO) or bool(_BLOCK.search(column))
        if self.rare:
            if is_question and not share:
                return f'all answered "{column}" (elsewhere {percent(elsewhere)} did not)'
            share, elsewhere = 1.0 - share, 1.0 - elsewhere
        comparison = f"{percent(elsewhere)} elsewhere" if elsewhere else "nowhere else"
        if is_question:
            return (
                f'{percent(share)} {"answered" if self.rare else "did not answer"} "{column}" ({comparison})'
            )
        return f"{percent(share)} {column} {'given' if self.rare else 'missing'} ({comparison})"

    @property
    def text(self) -> str:
        """The reason in words; "elsewhere" means outside the cluster.

        Examples
        --------
        >>> CategoryReason("feathers", "1", 0.92, 0.18, 0.4).text
        '92 % feathers=1 (18 % elsewhere)'
        >>> CategoryReason("smokes", "daily", 0.01, 0.3, 0.1).text
        'hardly any smokes=daily (1 % here, 30 % elsewhere)'
        >>> CategoryReason("How do you like your steak?", "Rare", 0.4, 0.1, 0.1).text
        '40 % answered "Rare" to "How do you like your steak?" (10 % elsewhere)'
        >>> CategoryReason("tools: saw", "True", 0.4, 0.1, 0.1).text
        '40 % tools: saw (10 % elsewhere)'
        >>> CategoryReason("Q3 and 19 more", "answered", 1.0, 0.7, 0.1).text
        '100 % answered "Q3 and 19 more" (70 % elsewhere)'
        >>> CategoryReason("Q3 to Q40: answered up to", "Q12", 0.0, 0.3, 0.1).text
        'none answered up to "Q12" (30 % elsewhere)'
        >>> CategoryReason("How do you like your steak?", "(missing)", 0.0, 0.41, 0.1).text
        'all answered "How do you like your steak?" (elsewhere 41 % did not)'
        >>> CategoryReason("smokes", "(missing)", 0.0, 0.3, 0.1).text
        '100 % smokes given (70 % elsewhere)'
        >>> CategoryReason("income", "(missing)", 0.9, 0.2, 0.1).text
        '90 % income missing (20 % elsewhere)'
        """
        if self.missing:
            return self._text_of_missing()
        column, category = (shortened(name, NAME_WIDTH) for name in (self.called, self.category))
        named, none = f"{column}={category}", "no"
        if self.column.endswith(UP_TO):
            named, none = f'answered up to "{category}"', "none"
        elif self.category == ANSWERED and _BLOCK.search(self.column):
            named, none = f'answered "{column}"', "none"
        elif self.category in ITEM_OF_LIST and ": " in self.called:
            named = column if self.category == ITEM_OF_LIST[0] else f"not {column}"
        elif _is_question(self.called):
            named, none = f'answered "{category}" to "{column}"', "none"
        elsewhere = f"{percent(self.share_elsewhere)} elsewhere"
        if not self.rare:
            return f"{percent(self.share)} {named} ({elsewhere if self.share_elsewhere else 'nowhere else'})"
        if not self.share:
            return f"{none} {named} ({elsewhere})"
        return f"hardly any {named} ({percent(self.share)} here, {elsewhere})"

    def record(self) -> dict[str, Any]:
        """The reason as plain values, for JSON."""
        kind = "rare" if self.rare else "common"
        return {"kind": kind, **_plain(self), "missing": self.missing, "text": self.text}


@dataclass(frozen=True)
class NumberReason:
    """A number whose mean in a cluster is far from that elsewhere, or whose spread is much smaller."""

    column: str
    # mean, mean_elsewhere, sd, sd_elsewhere: mean and standard deviation in the cluster and in all other
    # rows.
    mean: float
    mean_elsewhere: float
    sd: float
    sd_elsewhere: float
    shift: float  # distance of the means in standard deviations of the column
    bits: float  # mutual information with membership in the cluster, per row with a number
    title: str = ""  # short label of the column, if a codebook or a recipe has one

    @property
    def called(self) -> str:
        """The short label of the column, or its name."""
        return self.title or self.column

    @property
    def far(self) -> bool:
        """True if the mean is far from that of the rest; False if only the spread is smaller."""
        return abs(self.shift) >= FAR

    @property
    def text(self) -> str:
        """The reason in words.

        Examples
        --------
        >>> NumberReason("age", 53.25, 41.0, 8.0, 14.0, 0.9, 0.2).text
        'age 12.2 above the rest (mean 53.2)'
        >>> NumberReason("age", 41.5, 41.0, 2.0, 14.0, 0.05, 0.2).text
        'age concentrated around 41.5 (SD 2; elsewhere 14)'
        """
        name = shortened(self.called, NAME_WIDTH)
        if not self.far:
            spreads = f"SD {figure(self.sd)}; elsewhere {figure(self.sd_elsewhere)}"
            return f"{name} concentrated around {figure(self.mean, self.sd)} ({spreads})"
        away = figure(abs(self.mean / 2 - self.mean_elsewhere / 2) * 2)
        side = "above" if self.shift > 0 else "below"
        return f"{name} {away} {side} the rest (mean {figure(self.mean, self.sd)})"

    missing: ClassVar[bool] = False
    rare: ClassVar[bool] = False

    def record(self) -> dict[str, Any]:
        """The reason as plain values, for JSON."""
        return {"kind": "number", **_plain(self), "text": self.text}


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
    """Reasons of each cluster: what distinguishes it from the rest of the table, most informative first.

    A category is a reason if it is more common in the cluster than elsewhere: it has a share of at least 10 %
    and at least five rows (all, in a smaller cluster), and is twice as common, or more common by 10
    percentage points. A category with a share of at least 20 % elsewhere is also a reason if it is at most a
    quarter as common in the cluster, and at least five rows were expected. A number is a reason if its mean
    is at least half a standard deviation from that of the rest, or if its standard deviation is less than
    half of that of the rest. Every reason must be significant at the 1 % level in a likelihood-ratio test
    (6.63). A column gives one reason: a common category rather than a rare one, unless the rare one has twice
    the mutual information. A cluster may have no reason; at most ``top`` are returned. ``by_category`` (k, V)
    is the weight of the rows of each cluster with each category, and ``rows_per_weight`` the number of rows
    per unit of weight. Of columns that repeat each other, which have the same number in ``groups``, the best
    reason is returned. Missing values come last.

    Examples
    --------
    >>> import numpy as np
    >>> from catalpa.table import infer
    >>> schema = infer([["red"], ["blue"]])
    >>> [reason.text for reason in reasons(np.array([[2, 18], [17, 3]]), schema)[0]]
    ['90 % x0=red (15 % elsewhere)']
    """
    counts = np.asarray(by_category, dtype=np.float64) * rows_per_weight
    by_cluster: list[list[Reason]] = [[] for _ in counts]
    for column, part in zip(schema.categorical, schema.axis.slices(), strict=True):
        for cluster, reason in _of_column(column, counts[:, part]):
            by_cluster[cluster].append(reason)
    if numbers is not None:
        for cluster, candidates in enumerate(by_cluster):
            candidates += _of_numbers(numbers, cluster, rows_per_weight)
    place = {name: at for at, name in enumerate(schema.names)}
    ordered = (_ordered(candidates, place) for candidates in by_cluster)
    return [_without_repeats(candidates, groups or {})[:top] for candidates in ordered]


def _ordered(candidates: Sequence[Reason], place: Mapping[str, int]) -> list[Reason]:
    """Reasons with the most information first; missing values after what is common in the cluster."""
    last = any(not reason.missing and not reason.rare for reason in candidates)
    return sorted(
        candidates,
        key=lambda reason: (last and reason.missing, -round(reason.bits, 9), place[reason.column]),
    )


def _without_repeats(reasons: Sequence[Reason], groups: Mapping[str, int]) -> list[Reason]:
    """The first reason of every group of columns that repeat each other."""
    first: dict[str | int, Reason] = {}
    for reason in reasons:
        first.setdefault(groups.get(reason.column, reason.column), reason)
    return list(first.values())


def rows_per_weight(rows: int, weight: float) -> float:
    """Rows per unit of weight: 1, or more if the total weight is below the number of rows.

    Survey weights may add up to 1, which must not make reasons less significant; weights that add up to more
    than the number of rows are counted as rows.

    Examples
    --------
    >>> rows_per_weight(200, 1.0), rows_per_weight(200, 5000.0)
    (200.0, 1.0)
    """
    return max(1.0, rows / weight) if weight > 0 else 1.0


def with_titles(listed: Sequence[Sequence[Reason]], titles: Mapping[str, str]) -> list[list[Reason]]:
    """The reasons of each cluster, with the short labels of their columns."""
    return [[replace(one, title=titles.get(one.column, "")) for one in of_cluster] for of_cluster in listed]


def sentence(reasons: Sequence[Reason]) -> str:
    """Reasons as one line of text, used by all outputs.

    Examples
    --------
    >>> sentence([CategoryReason("milk", "1", 0.92, 0.18, 0.4), NumberReason("legs", 2, 5, 1, 3, -1.2, 0.3)])
    '92 % milk=1 (18 % elsewhere); legs 3 below the rest (mean 2)'
    >>> sentence([])
    'nothing distinctive'
    """
    return "; ".join(reason.text for reason in reasons) or "nothing distinctive"


def cluster_records(
    sizes: NDArray[Any], names: Mapping[int, str], by_cluster: Sequence[Sequence[Reason]]
) -> list[dict[str, Any]]:
    """A record per cluster, for every output: its number, name, size and share, and what is typical of it."""
    return [
        {
            "cluster": cluster,
            "name": names.get(cluster),
            "size": sizes[cluster].item(),
            "share": float(sizes[cluster] / sizes.sum()),
            "sets_apart": sentence(of_cluster),
            "reasons": [reason.record() for reason in of_cluster],
        }
        for cluster, of_cluster in enumerate(by_cluster)
    ]


def _of_column(column: Column, counts: FloatArray) -> list[tuple[int, CategoryReason]]:
    """The best reason of a column for each cluster that has one."""
    rows_in, rows_out = _both(counts.sum(axis=1, keepdims=True))
    inside, outside = _both(counts)
    share, elsewhere = safe_divide(inside, rows_in), safe_divide(outside, rows_out)
    bits = _information(inside, outside, rows_in, rows_out)
    enough = np.minimum(ROWS, rows_in)
    common = (share >= COMMON) & (inside >= enough) & (rows_in > 0)
    common &= (share >= elsewhere + POINTS) | ((share >= TIMES * elsewhere) & (share > 0))
    rare = (elsewhere >= MISSED) & (share <= RARELY * elsewhere) & (elsewhere * rows_in >= ROWS)
    likely = 2 * math.log(2) * bits * (rows_in + rows_out) >= CHANCE
    # Common categories are easier to interpret than absent ones, which need twice the information.
    weight = np.where((common | rare) & likely & (rows_out > 0), bits * np.where(common, 2.0, 1.0), 0.0)
    if column.missing_code is not None:
        weight[_by_missing_values(column.missing_code, inside, outside, rows_in, rows_out, common)] = 0.0
        # What is common among the answers comes before what is missing.
        answers = np.delete(np.where(common, weight, 0.0), column.missing_code, axis=1)
        weight[answers.max(axis=1, initial=0.0) > 0, column.missing_code] = 0.0
    best = weight.argmax(axis=1) if column.size else np.zeros(0, dtype=np.int64)
    texts, figures = category_names(column.categories), np.stack([share, elsewhere, bits], axis=2)
    return [
        (cluster, CategoryReason(column.name, texts[at], *figures[cluster, at].tolist()))
        for cluster, at in enumerate(best)
        if weight[cluster, at] > 0
    ]


def _by_missing_values(
    missing: int,
    inside: FloatArray,
    outside: FloatArray,
    rows_in: FloatArray,
    rows_out: FloatArray,
    common: NDArray[np.bool_],
) -> NDArray[np.bool_]:  # (k, categories)
    """Categories that are common or rare in a cluster only because values are missing there or elsewhere."""
    known_in, known_out = rows_in - inside[:, [missing]], rows_out - outside[:, [missing]]
    share, elsewhere = safe_divide(inside, known_in), safe_divide(outside, known_out)
    comparable = (known_in >= np.minimum(ROWS, rows_in)) & (known_out >= np.minimum(ROWS, rows_out))
    different = np.where(common, share >= elsewhere + POINTS / 2, share <= elsewhere / 2)
    caused = ~(comparable & different)
    caused[:, missing] = False
    return np.asarray(caused)


def _of_numbers(numbers: NumberProfile, cluster: int, rows_per_weight: float) -> list[NumberReason]:
    rows = numbers.seen * rows_per_weight
    seen, total = rows[cluster], rows.sum(axis=0)
    figures = {name: getattr(numbers, name)[cluster] for name in FIGURES}
    shifts, sds, elsewhere = (np.nan_to_num(figures[name]) for name in ("shifts", "sds", "sds_elsewhere"))
    far = (np.abs(shifts) >= FAR) | (sds < TIGHT * elsewhere)
    likely = 2 * math.log(2) * numbers.bits[cluster] * total >= CHANCE
    enough = seen >= np.minimum(ROWS, seen / np.maximum(1.0 - numbers.missing[cluster], 1e-9))
    listed = []
    for at in np.flatnonzero(far & likely & enough):
        mean, mean_elsewhere, sd, sd_elsewhere, shift, bits = (
            float(values[at]) for values in figures.values()
        )
        name = numbers.columns[at]
        listed.append(NumberReason(name, mean, mean_elsewhere, sd, sd_elsewhere, shift, bits))
    return listed


def _both(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Counts of each cluster, and of all other clusters together, without rounding errors near 0."""
    total = counts.sum(axis=0)
    others = total - counts
    return counts, np.where(others > 1e-9 * total, others, 0.0)


def _information(
    inside: FloatArray, outside: FloatArray, rows_in: FloatArray, rows_out: FloatArray
) -> FloatArray:
    """Mutual information of "in the cluster" and "has the category" in bits per row with a value."""
    rows = rows_in + rows_out
    totals = inside + outside
    bits = np.zeros(inside.shape)
    for count, of_rows, of_kind in (
        (inside, rows_in, totals),
        (outside, rows_out, totals),
        (rows_in - inside, rows_in, rows - totals),
        (rows_out - outside, rows_out, rows - totals),
    ):
        some = count > 1e-12
        ratio = np.divide(count * rows, of_rows * of_kind, out=np.ones(inside.shape), where=some)
        bits += safe_divide(count, rows) * np.log2(ratio)
    return np.maximum(bits, 0.0)
