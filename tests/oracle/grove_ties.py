"""Grove's credibility centre and tied columns in loops and floats, written from the description.

Rows are tuples of categories; a table is a list of them, and shares are one list per row. A forest is a
dictionary from a tied column to its parent.

Where the description leaves a choice, this is the reading taken here:

- The lift is learned from the shares of the start and then held.
- The second table of a pass scales the pairs to the lowered shares; lift and centre are those of the first.
- Only categories that occur are known.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import exp, lgamma, log

Row = tuple
Shares = list
LEAST = 1e-7


def categories(rows: Sequence[Row], column: int) -> list[Hashable]:
    return sorted({row[column] for row in rows})


def counts(rows: Sequence[Row], shares: Shares, cluster: int, column: int) -> dict[Hashable, float]:
    held = dict.fromkeys(categories(rows, column), 0.0)
    for row, own in zip(rows, shares, strict=True):
        held[row[column]] += own[cluster]
    return held


def centre(rows: Sequence[Row], shares: Shares, column: int, a: float) -> dict[Hashable, float]:
    """A mean of the clusters' shares in which each counts by n / (n + A)."""
    known = categories(rows, column)
    strength, top, bottom = a * len(known), dict.fromkeys(known, 0.0), 0.0
    for cluster in range(len(shares[0])):
        held = counts(rows, shares, cluster, column)
        size = sum(held.values())
        bottom += size / (size + strength)
        for v in known:
            top[v] += held[v] / (size + strength)
    return {v: max(top[v] / bottom, LEAST) for v in known}


def shrunk(
    rows: Sequence[Row], shares: Shares, cluster: int, column: int, a: float, left: float = 0.0
) -> dict[Hashable, float]:
    """Shares of one cluster, with ``left`` rows out of every count."""
    held, middle = counts(rows, shares, cluster, column), centre(rows, shares, column, a)
    strength = a * len(held)
    size = max(sum(held.values()) - left, 0.0)
    return {v: (max(held[v] - left, 0.0) + strength * middle[v]) / (size + strength) for v in held}


def pairs(rows: Sequence[Row], one: int, other: int) -> dict[tuple[Hashable, Hashable], float]:
    held = {(u, v): 0.0 for u in categories(rows, one) for v in categories(rows, other)}
    for row in rows:
        held[row[one], row[other]] += 1.0
    return held


def expected(
    rows: Sequence[Row], shares: Shares, one: int, other: int, a: float
) -> dict[tuple[Hashable, Hashable], float]:
    """Shares of pairs if the clusters explain everything."""
    found = dict.fromkeys(pairs(rows, one, other), 0.0)
    for cluster in range(len(shares[0])):
        size = sum(own[cluster] for own in shares)
        p, q = (shrunk(rows, shares, cluster, column, a) for column in (one, other))
        for u, v in found:
            found[u, v] += size * p[u] * q[v] / len(rows)
    total = sum(found.values())
    return {pair: share / total for pair, share in found.items()}


def strength_of(rows: Sequence[Row], one: int, other: int) -> float:
    return max((len(categories(rows, one)) - 1) * (len(categories(rows, other)) - 1), 1)


def gain(rows: Sequence[Row], shares: Shares, one: int, other: int, a: float) -> float:
    """Evidence for a law of its own of two columns, minus the price of having looked at all pairs."""
    held, e, m = pairs(rows, one, other), expected(rows, shares, one, other, a), strength_of(rows, one, other)
    n, columns = len(rows), len(rows[0])
    found = lgamma(m) - lgamma(n + m) - log(columns * (columns - 1) / 2)
    for pair, count in held.items():
        found += lgamma(count + m * e[pair]) - lgamma(m * e[pair]) - count * log(e[pair])
    return found


def lift(
    rows: Sequence[Row], shares: Shares, one: int, other: int, a: float
) -> dict[tuple[Hashable, Hashable], float]:
    held, e, m = pairs(rows, one, other), expected(rows, shares, one, other, a), strength_of(rows, one, other)
    return {pair: (held[pair] / e[pair] + m) / (len(rows) + m) for pair in held}


def conditional(
    p: dict[Hashable, float], q: dict[Hashable, float], phi: dict[tuple[Hashable, Hashable], float]
) -> dict[tuple[Hashable, Hashable], float]:
    """Shares of a category given its parent's, of one cluster: pairs scaled three times to its shares."""
    joint = {(u, v): p[u] * q[v] * phi[u, v] for u in p for v in q}
    for _ in range(3):
        for v in q:
            total = sum(joint[u, v] for u in p)
            for u in p:
                joint[u, v] *= q[v] / total
        for u in p:
            total = sum(joint[u, v] for v in q)
            for v in q:
                joint[u, v] *= p[u] / total
    return {(u, v): joint[u, v] / sum(joint[u, w] for w in q) for u, v in joint}


def log_shares(
    rows: Sequence[Row], shares: Shares, a: float, forest: dict[int, int], lifts: dict, left: float = 0.0
) -> list[list[dict]]:
    """Per cluster and column the logs of shares, by category or, of a tied column, by pair."""
    table = []
    for cluster in range(len(shares[0])):
        own = [shrunk(rows, shares, cluster, column, a, left) for column in range(len(rows[0]))]
        table.append(
            [
                {v: log(p) for v, p in own[column].items()}
                if column not in forest
                else {
                    pair: log(p)
                    for pair, p in conditional(own[forest[column]], own[column], lifts[column]).items()
                }
                for column in range(len(rows[0]))
            ]
        )
    return table


def scores(table: list[list[dict]], row: Row, forest: dict[int, int]) -> list[float]:
    return [
        -log(len(table))
        + sum(
            entry[(row[forest[column]], row[column]) if column in forest else row[column]]
            for column, entry in enumerate(own)
        )
        for own in table
    ]


def tied_pass(
    rows: Sequence[Row], shares: Shares, a: float, forest: dict[int, int], *, two_tables: bool
) -> Shares:
    """Shares after a pass with equal sizes; the lift is that of the shares before."""
    lifts = {column: lift(rows, shares, parent, column, a) for column, parent in forest.items()}
    first = log_shares(rows, shares, a, forest, lifts)
    second = log_shares(rows, shares, a, forest, lifts, left=1.0)
    found = []
    for row in rows:
        s, t = scores(first, row, forest), scores(second, row, forest)
        r = softmax(s)
        found.append(softmax([x + p * (y - x) for x, p, y in zip(s, r, t, strict=True)]) if two_tables else r)
    return found


def softmax(values: Sequence[float]) -> list[float]:
    powers = [exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]


def evidence(rows: Sequence[Row], shares: Shares, a: float) -> float:
    """E with equal sizes, the centre in the place of the table's shares."""
    k, total = len(shares[0]), -len(rows) * log(len(shares[0]))
    for column in range(len(rows[0])):
        middle = centre(rows, shares, column, a)
        strength = a * len(middle)
        for cluster in range(k):
            held = counts(rows, shares, cluster, column)
            total += lgamma(strength) - lgamma(sum(held.values()) + strength)
            total += sum(lgamma(held[v] + strength * middle[v]) - lgamma(strength * middle[v]) for v in held)
    return total - sum(r * log(r) for own in shares for r in own if r > 0)


def tie_gain(rows: Sequence[Row], shares: Shares, a: float, column: int, parent: int) -> float:
    """gain': the gain of pooled pairs, and what the lift gains inside clusters beyond that."""
    phi = lift(rows, shares, parent, column, a)
    found = gain(rows, shares, parent, column, a)
    found -= sum(count * log(phi[pair]) for pair, count in pairs(rows, parent, column).items() if count)
    for cluster in range(len(shares[0])):
        p, q = (shrunk(rows, shares, cluster, each, a) for each in (parent, column))
        given = conditional(p, q, phi)
        for row, own in zip(rows, shares, strict=True):
            u, v = row[parent], row[column]
            found += own[cluster] * (log(given[u, v]) - log(q[v]))
    return found
