"""Grove's passes in loops and dictionaries: what a pass makes of the rows' shares, and its worth.

A row counts in every cluster by its share. A cluster's shares of categories are drawn towards those of the
whole table by a prior of ``a`` rows per category, its means and variances of numbers towards 0 and 1.

Where the description leaves a choice, this is the reading taken here:

- A start ``0 0 1`` with ``.95/.05`` gives a row the share .9 + .1/k in its own cluster, .1/k in every other.
- A pass reads the counts of the shares before it. ``passes`` gives the start at 0 and then one state per
  pass, so "L before pass t" is the log posterior of state t - 1. "Rest after 8" is the pass after which the
  summed changes of a row's shares, averaged over the rows, are below the tolerance, not a fixed point.
- Costs and the log posterior leave out a number's ln(2 pi)/2; the evidence has it.
- The second table of the search changes categories, ordered categories and sizes; a number costs the same in
  both.
- The second table of an ordered column is the first one's formula on the lowered counts, those of its
  neighbours included. A cluster without counts has the whole table's shares for its neighbours' mean.
- The log posterior of an ordered column weighs its log shares by the prior rows of that moment; it may fall.

What becomes of columns of numbers beforehand is in ``grove_numbers``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, lgamma, log, pi

Row = Sequence  # of cells; None is a cell that is left out
Shares = list  # of rows, each a list with one share per cluster

ORDER_FACTOR = 3.0  # prior rows of an ordered column, beside an unordered one
FLOOR = 0.1  # every number is known up to this part of its column's variance


@dataclass(frozen=True)
class Column:
    """A column and its shares of categories in the whole table, in their order if they have one."""

    kind: str  # "category", "ordered" or "number"
    share: dict[Hashable, float] = field(default_factory=dict)

    @property
    def has_order(self) -> bool:
        return self.kind == "ordered" and len(self.share) >= 3


@dataclass(frozen=True)
class Moments:
    """Soft sums of the known numbers of one column in one cluster."""

    number: float
    total: float
    square: float


@dataclass(frozen=True)
class Counts:
    """Soft sums per cluster and column: a dictionary for categories, Moments for numbers."""

    sizes: list[float]
    cells: list[list[dict[Hashable, float] | Moments]]

    @property
    def k(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class State:
    """Shares of the rows, their counts, and what these are worth."""

    shares: Shares
    counts: Counts
    log_posterior: float
    evidence: float
    change: float


@dataclass(frozen=True)
class Table:
    """Rows to be clustered; ``columns`` may be those of a larger table that the rows were drawn from."""

    rows: list[Row]
    weights: list[float]
    columns: list[Column]

    @property
    def n(self) -> float:
        return sum(self.weights)


def table_of(
    rows: Sequence[Row], weights: Sequence[float] | None = None, kinds: Sequence[str] | None = None
) -> Table:
    """The rows as they are, with columns that know their categories in sorted order."""
    given = [1.0] * len(rows) if weights is None else list(weights)
    named = ["category"] * len(rows[0]) if kinds is None else list(kinds)
    columns = [
        Column(kind, {} if kind == "number" else whole_shares([row[r] for row in rows], given))
        for r, kind in enumerate(named)
    ]
    return Table([tuple(row) for row in rows], given, columns)


def whole_shares(cells: Sequence[Hashable], weights: Sequence[float]) -> dict[Hashable, float]:
    known = [(cell, weight) for cell, weight in zip(cells, weights, strict=True) if cell is not None]
    total = sum(weight for _, weight in known)
    return {
        category: sum(weight for cell, weight in known if cell == category) / total
        for category in sorted({cell for cell, _ in known})
    }


def start_shares(labels: Sequence[int], k: int) -> Shares:
    return [[0.9 * (j == label) + 0.1 / k for j in range(k)] for label in labels]


def count(table: Table, shares: Shares) -> Counts:
    k = len(shares[0])
    sizes = [sum(w * own[j] for w, own in zip(table.weights, shares, strict=True)) for j in range(k)]
    return Counts(
        sizes, [[_counted(table, shares, j, r) for r in range(len(table.columns))] for j in range(k)]
    )


def _counted(table: Table, shares: Shares, j: int, r: int) -> dict[Hashable, float] | Moments:
    column = table.columns[r]
    number = total = square = 0.0
    found = dict.fromkeys(column.share, 0.0)
    for row, weight, own in zip(table.rows, table.weights, shares, strict=True):
        cell, mass = row[r], weight * own[j]
        if cell is None:
            continue
        if column.kind == "number":
            number, total, square = number + mass, total + mass * cell, square + mass * cell**2
        else:
            found[cell] += mass
    return Moments(number, total, square) if column.kind == "number" else found


def lowered(counts: Counts) -> Counts:
    """One row taken out of every count of categories and out of every size."""
    cells = [
        [
            held if isinstance(held, Moments) else {v: max(c - 1.0, 0.0) for v, c in held.items()}
            for held in own
        ]
        for own in counts.cells
    ]
    return Counts([max(size - 1.0, 0.0) for size in counts.sizes], cells)


def centred(table: Table, counts: Counts, a: float) -> Table:
    """The table with credibility centres in the place of its shares, in unordered columns."""
    made = list(table.columns)
    for r, column in enumerate(table.columns):
        if column.kind != "category":
            continue
        mass = a * len(made[r].share)
        held = [own[r] for own in counts.cells]
        known = [sum(own.values()) for own in held]
        total = sum(n / (n + mass) for n in known)
        centre = {
            v: sum(own[v] / (n + mass) for own, n in zip(held, known, strict=True)) / total
            for v in made[r].share
        }
        made[r] = replace(made[r], share=centre)
    return replace(table, columns=made)


def prior_rows(column: Column, held: dict[Hashable, float], a: float) -> dict[Hashable, float]:
    """Rows that the prior adds to each category."""
    mass = a * len(column.share)
    if not column.has_order:
        return {v: mass * q for v, q in column.share.items()}
    near = neighbour_shares(column.share, held)
    return {v: ORDER_FACTOR * mass * near[v] + q for v, q in column.share.items()}


def neighbour_shares(share: dict[Hashable, float], held: dict[Hashable, float]) -> dict[Hashable, float]:
    """The whole table's shares, moved to where the cluster's rows are, half as far with every step away."""
    order = list(share)
    drawn = {}
    for at, v in enumerate(order):
        near = sum(0.5 ** abs(at - other) * held[u] for other, u in enumerate(order))
        usual = sum(0.5 ** abs(at - other) * share[u] for other, u in enumerate(order))
        drawn[v] = share[v] * near / usual
    total = sum(drawn.values())
    return {v: part / total for v, part in drawn.items()} if total > 0 else dict(share)


def category_shares(
    column: Column, held: dict[Hashable, float], a: float, known: float | None = None
) -> dict[Hashable, float]:
    """Shares of one cluster; ``known`` is its number of known cells where its counts do not add up to it."""
    prior = prior_rows(column, held, a)
    total = (sum(held.values()) if known is None else known) + sum(prior.values())
    return {v: (held[v] + prior[v]) / total for v in held}


def mean_and_variance(held: Moments, a: float) -> tuple[float, float]:
    mean = held.total / (a + held.number)
    return mean, _spread(held, a) / (2.0 * a + held.number)


def _spread(held: Moments, a: float) -> float:
    return 2.0 * a + FLOOR * held.number + held.square - held.total**2 / (a + held.number)


def number_cost(value: float, held: Moments, a: float) -> float:
    mean, variance = mean_and_variance(held, a)
    return (value - mean) ** 2 / (2.0 * variance) + FLOOR / (2.0 * variance) + log(variance) / 2.0


def constants(counts: Counts, n: float, mode: str) -> list[float]:
    """What a cluster adds to every row: "equal" whatever its size, "released" by its share of the rows."""
    if mode == "equal":
        return [-log(counts.k)] * counts.k
    return [log((size + 0.5) / (n + counts.k / 2.0)) for size in counts.sizes]


@dataclass(frozen=True)
class Scores:
    """Constant per cluster, and per cluster and column the logs of its shares or its Moments."""

    constant: list[float]
    table: list[list[dict[Hashable, float] | Moments]]
    a: float

    def of(self, row: Row) -> list[float]:
        """S of one row in every cluster."""
        return [
            constant + sum(self._cell(entry, cell) for entry, cell in zip(own, row, strict=True))
            for constant, own in zip(self.constant, self.table, strict=True)
        ]

    def _cell(self, entry: dict[Hashable, float] | Moments, cell: Hashable) -> float:
        if cell is None:
            return 0.0
        return -number_cost(cell, entry, self.a) if isinstance(entry, Moments) else entry[cell]


def scores(table: Table, counts: Counts, a: float, mode: str) -> Scores:
    return Scores(constants(counts, table.n, mode), _logs(table.columns, counts, _known(counts), a), a)


def scores_without_the_row(table: Table, counts: Counts, a: float, mode: str) -> Scores:
    """The second table: every count one row lower, and the number of known cells with it, never below 0."""
    fewer = lowered(counts)
    known = [[max(cells - 1.0, 0.0) for cells in own] for own in _known(counts)]
    return Scores(constants(fewer, table.n, mode), _logs(table.columns, fewer, known, a), a)


def _known(counts: Counts) -> list[list[float]]:
    return [
        [held.number if isinstance(held, Moments) else sum(held.values()) for held in own]
        for own in counts.cells
    ]


def _logs(
    columns: Sequence[Column], counts: Counts, known: list[list[float]], a: float
) -> list[list[dict[Hashable, float] | Moments]]:
    return [
        [
            held
            if isinstance(held, Moments)
            else {v: log(p) for v, p in category_shares(column, held, a, cells).items()}
            for column, held, cells in zip(columns, own, own_known, strict=True)
        ]
        for own, own_known in zip(counts.cells, known, strict=True)
    ]


def softmax(values: Sequence[float]) -> list[float]:
    top = max(values)
    powers = [exp(value - top) for value in values]
    return [power / sum(powers) for power in powers]


def log_sum(values: Sequence[float]) -> float:
    top = max(values)
    return top + log(sum(exp(value - top) for value in values))


def plain_pass(table: Table, counts: Counts, a: float, mode: str) -> Shares:
    score = scores(table, counts, a, mode)
    return [softmax(score.of(row)) for row in table.rows]


def two_table_pass(table: Table, counts: Counts, a: float, mode: str) -> Shares:
    """A row is shared out twice: the more it belongs to a cluster, the less it vouches for itself there."""
    first, second = scores(table, counts, a, mode), scores_without_the_row(table, counts, a, mode)
    shared = []
    for row in table.rows:
        with_it, without_it = first.of(row), second.of(row)
        r = softmax(with_it)
        shared.append(softmax([s + p * (t - s) for s, p, t in zip(with_it, r, without_it, strict=True)]))
    return shared


def log_posterior(table: Table, counts: Counts, a: float, mode: str) -> float:
    """L: log-likelihood at the shares that the counts give, and the prior's part without constants."""
    score = scores(table, counts, a, mode)
    total = sum(w * log_sum(score.of(row)) for row, w in zip(table.rows, table.weights, strict=True))
    for own, logs in zip(counts.cells, score.table, strict=True):
        for column, held, entry in zip(table.columns, own, logs, strict=True):
            if isinstance(held, Moments):
                mean, variance = mean_and_variance(held, a)
                total -= a * log(variance) + (2.0 * a + a * mean**2) / (2.0 * variance)
            else:
                total += sum(rows * entry[v] for v, rows in prior_rows(column, held, a).items())
    return total + (sum(score.constant) / 2.0 if mode == "released" else 0.0)


def evidence(table: Table, shares: Shares, a: float, mode: str) -> float:
    """E: a lower bound of the log probability of the rows, whatever the shares; exact for one cluster."""
    counts = count(table, shares)
    total = -sizes_part(counts, table.n, mode)
    for own in counts.cells:
        for column, held in zip(table.columns, own, strict=True):
            total += (
                number_evidence(held, a) if isinstance(held, Moments) else category_evidence(column, held, a)
            )
    for weight, own_shares in zip(table.weights, shares, strict=True):
        total -= weight * sum(r * log(r) for r in own_shares if r > 0)
    return total


def sizes_part(counts: Counts, n: float, mode: str) -> float:
    k = counts.k
    if mode == "equal":
        return n * log(k)
    return lgamma(n + k / 2) - lgamma(k / 2) - sum(lgamma(s + 0.5) - lgamma(0.5) for s in counts.sizes)


def category_evidence(column: Column, held: dict[Hashable, float], a: float) -> float:
    mass = a * len(column.share)
    total = lgamma(mass) - lgamma(sum(held.values()) + mass)
    return total + sum(lgamma(held[v] + mass * q) - lgamma(mass * q) for v, q in column.share.items())


def number_evidence(held: Moments, a: float) -> float:
    shape, end = a, a + held.number / 2.0
    return (
        0.5 * log(a / (a + held.number))
        + lgamma(end)
        - lgamma(shape)
        + shape * log(a)
        - end * log(_spread(held, a) / 2.0)
        - held.number / 2.0 * log(2.0 * pi)
    )


def one_cluster_evidence(table: Table, a: float) -> float:
    return evidence(table, [[1.0]] * len(table.rows), a, "equal")


def gain(table: Table, best: float, strengths: Sequence[float]) -> float:
    return (best - max(one_cluster_evidence(table, a) for a in strengths)) / table.n


def certainty(table: Table, shares: Shares) -> float:
    return sum(w * max(own) for w, own in zip(table.weights, shares, strict=True)) / table.n


def labels(table: Table, counts: Counts, a: float, mode: str) -> list[int]:
    """The cluster of the largest S with the plain table, the lowest of equals."""
    score = scores(table, counts, a, mode)
    found = []
    for row in table.rows:
        values = score.of(row)
        found.append(values.index(max(values)))
    return found


def passes(
    table: Table,
    start: Shares,
    *,
    a: float,
    mode: str = "equal",
    two_tables: bool = False,
    at_most: int = 40,
    tolerance: float = 0.0,
) -> list[State]:
    """The start and what every pass makes of it, until shares change less than the tolerance."""
    make = two_table_pass if two_tables else plain_pass
    states = [_state(table, start, a, mode, inf)]
    while len(states) <= at_most and states[-1].change >= tolerance:
        last = states[-1]
        shares = make(table, last.counts, a, mode)
        states.append(_state(table, shares, a, mode, mean_change(table, last.shares, shares)))
    return states


def _state(table: Table, shares: Shares, a: float, mode: str, change: float) -> State:
    counts = count(table, shares)
    return State(
        shares, counts, log_posterior(table, counts, a, mode), evidence(table, shares, a, mode), change
    )


def mean_change(table: Table, before: Shares, after: Shares) -> float:
    changes = (
        w * sum(abs(new - old) for new, old in zip(now, then, strict=True))
        for w, now, then in zip(table.weights, after, before, strict=True)
    )
    return sum(changes) / table.n
