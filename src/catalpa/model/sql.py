"""A fitted model as one SQL query whose labels are those of ``predict``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from catalpa.errors import ParameterError, SqlError
from catalpa.model.scoring import Scoring, holds_moments, types_of
from catalpa.model.sql_words import Words, rounded
from catalpa.table.blocks import FARTHEST, HOLES, TICK_BITS, IntArray
from catalpa.table.schema import Column

WIDE = 16  # a column of more categories is joined with a look-up table
MOST_JOINS = 50  # SQLite joins 64 tables at most
SCORES = ("certainty", "outlier_score")
NO_TICK = 2.0**-26  # a share of the range that rounds to no tick at all
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
NO_ODDS = 700.0  # nats behind the nearest cluster from which on odds are 0: PostgreSQL refuses to underflow


def sql_query(
    scoring: Scoring,
    *,
    dialect: str = "duckdb",
    table: str | Sequence[str] = "rows",
    keep: Sequence[str] | None = None,
    label: str = "cluster",
    names: Sequence[str] | None = None,
    probabilities: bool = False,
) -> str:
    """One query that gives every row of a table in a database its cluster; see ``Clusterer.to_sql``."""
    if isinstance(keep, str):
        raise ParameterError(
            f"keep is {keep!r}; it has to be a list of names. For one column write [{keep!r}]."
        )
    if scoring.derived:
        raise SqlError(
            f"The model uses parts of the dates or items of the lists in {scoring.derived}, which every "
            "database writes in its own way. Make columns of these parts in the table and fit again."
        )
    kept = tuple(scoring.schema.names if keep is None else keep)
    path = (table,) if isinstance(table, str) else tuple(table)
    given: tuple[Any, ...] = (*kept, *path, label)
    odd = [name for name in given if not isinstance(name, str)]
    if odd:
        raise ParameterError(f"Names in keep, table and label have to be texts, not {odd}.")
    made = [label] if names is None else [label, f"{label}_name"]
    if probabilities:
        made += [*(f"probability_{cluster}" for cluster in range(scoring.fixed.k)), *SCORES]
    taken = [name.casefold() for name in (*kept, *made)]  # as databases compare them
    if len(set(taken)) < len(taken):
        raise ParameterError(
            f"The query would have two columns of one name: keep is {list(kept)}, the query adds {made}. "
            "Databases do not distinguish upper and lower case; name other columns in keep, or another label."
        )
    if not path:
        raise ParameterError("table has no parts; it has to be a name, or the parts of one.")
    words = Words(str(dialect).lower(), _free_prefix(path[-1]))
    return _Query(scoring, words, path, kept, label, names, probabilities).text()


def _free_prefix(table: str) -> str:
    """What the names of the query's own parts begin with, and that of the table does not."""
    prefix = "catalpa"
    while table.casefold().startswith(f"{prefix}_"):
        prefix = f"_{prefix}"
    return prefix


@dataclass(frozen=True, eq=False)
class _ColumnCosts:
    """What the cells of one column cost in each cluster: a CASE, or a join with a look-up table."""

    column: Column
    at: int  # place among the categorical columns; the query calls the column ``column_<at>``
    # (size + holes, k): costs of the categories, of a left-out cell, and of an unseen category.
    table: IntArray
    scoring: Scoring  # a cell that ``predict`` refuses costs NULL
    words: Words
    joined: bool  # whether the costs are looked up in a table of their own
    parent: _ColumnCosts | None = None  # of a tied column, whose table is then that of pairs of categories

    @property
    def cell(self) -> str:
        return f"column_{self.at}"

    @property
    def lookup(self) -> str:
        return self.words.own(f"column_{self.at}")

    @cached_property
    def _numbers(self) -> bool:
        types = types_of(self.column, SqlError, "a column in a database")
        return self.column.binned or types == {"number"}

    def entry(self) -> str:
        """The cell as the first part of the query selects it."""
        name = self.words.given(self.column.name)
        return f"CAST({name} AS {self.words.double_type})" if self.column.binned else name

    @property
    def _absent(self) -> str:
        """The condition that the cell is missing."""
        name, absent = self.cell, f"{self.cell} IS NULL"
        # Only a finite number minus itself is 0; a text has no minus, and cannot be tested in this way.
        return f"({absent} OR NOT {name} - {name} = 0)" if self._numbers else absent

    def term(self, cluster: int) -> str:
        """The cost of the cell in a cluster."""
        if self.parent is not None:
            return self._term_of_pairs(cluster, self.parent)
        whens = [f"WHEN {self._absent} THEN {self._cost(self.scoring.missing_place(self.column), cluster)}"]
        if self.joined:
            whens += [f"WHEN {self.lookup}.category IS NULL THEN {self._unseen_cost(cluster)}"]
            otherwise = f"{self.lookup}.cost_{cluster}"
        elif self.column.binned:
            whens += self._bins(cluster)
            # The last bin has no upper border.
            otherwise = str(self.table[len(self.column.known) - 1, cluster])
        else:
            whens += self._groups(cluster)
            otherwise = self._unseen_cost(cluster)
        return f"CASE {' '.join(whens)} ELSE {otherwise} END"

    def _term_of_pairs(self, cluster: int, parent: _ColumnCosts) -> str:
        """The cost of a tied cell: a CASE for every category of its parent."""
        tables = self.table.reshape(-1, self.column.size + HOLES, self.table.shape[1])

        def term(place: int) -> str:
            # A refused parent makes the cost of the row NULL by itself.
            own = tables[min(place, len(tables) - 1)]
            return replace(self, table=own, parent=None).term(cluster)

        groups: dict[str, list[str]] = {}
        for code, value in enumerate(parent.column.known):
            groups.setdefault(term(code), []).append(self.words.category(value))
        otherwise = term(self.scoring.unseen_place(parent.column))
        groups.pop(otherwise, None)
        missing = term(self.scoring.missing_place(parent.column))
        whens = [f"WHEN {parent.cell} IN ({', '.join(values)}) THEN {own}" for own, values in groups.items()]
        return f"CASE WHEN {parent._absent} THEN {missing} {' '.join(whens)} ELSE {otherwise} END"

    def join(self) -> str:
        """The join that finds the cell in its look-up table."""
        return f"LEFT JOIN {self.lookup} ON {self.lookup}.category = {self.cell}"

    def lookup_table(self) -> str:
        """The look-up table: a category and its cost in each cluster per row."""
        costs = ", ".join(f"cost_{cluster}" for cluster in range(self.table.shape[1]))
        rows = ",\n    ".join(
            f"({', '.join([self.words.category(value), *map(str, self.table[code].tolist())])})"
            for code, value in enumerate(self.column.known)
        )
        return f"{self.lookup} (category, {costs}) AS (\n  VALUES\n    {rows}\n)"

    def _unseen_cost(self, cluster: int) -> str:
        return self._cost(self.scoring.unseen_place(self.column), cluster)

    def _cost(self, place: int, cluster: int) -> str:
        refused = place == self.scoring.refused_place(self.column)
        return "NULL" if refused else str(self.table[place, cluster])

    def _groups(self, cluster: int) -> list[str]:
        """Categories of one cost together; those that cost as much as an unseen one need no words."""
        groups: dict[str, list[str]] = {}
        for code, value in enumerate(self.column.known):
            groups.setdefault(str(self.table[code, cluster]), []).append(self.words.category(value))
        groups.pop(self._unseen_cost(cluster), None)
        return [f"WHEN {self.cell} IN ({', '.join(values)}) THEN {cost}" for cost, values in groups.items()]

    def _bins(self, cluster: int) -> list[str]:
        edges, costs = self.column.edges or (), self.table[: len(self.column.known), cluster].tolist()
        return [
            f"WHEN {self.cell} < {self.words.double(edge)} THEN {cost}"
            for edge, (cost, above) in zip(edges, pairwise(costs), strict=True)
            if cost != above  # a border between equal costs decides nothing
        ]


@dataclass(frozen=True, eq=False)
class _Query:
    scoring: Scoring
    words: Words
    table: tuple[str, ...]
    kept: tuple[str, ...]
    label: str
    names: Sequence[str] | None
    probabilities: bool

    def text(self) -> str:
        """The parts of the query, each a table that the next one reads."""
        own = self.words.own
        parts = [column.lookup_table() for column in self.columns if column.joined]
        table = ".".join(map(self.words.name, self.table))
        parts.append(self._part("rows", self._entries(), f"{table} {own('given')}"))
        source = "rows"
        # Numbers in parts of their own: each is scaled once, not once per cluster.
        if self.numeric:
            parts.append(self._part("numbers", self._passed(self._scaled()), own(source)))
            parts.append(self._part("distances", self._passed(self._distances()), own("numbers")))
            source = "distances"
        joins = "".join(f"\n  {column.join()}" for column in self.columns if column.joined)
        parts.append(self._part("costs", [*self._kept, *self._costs()], own(source) + joins))
        least = self.words.smallest([f"cost_{cluster}" for cluster in self.clusters])
        parts.append(self._part("smallest", ["*", f"{least} AS smallest"], own("costs")))
        selected, source = self._labels(), "smallest"
        if self.probabilities:
            parts.append(self._part("odds", [*self._kept, *self._odds()], own("smallest")))
            odds_sum = self.words.double_sum([f"odds_{cluster}" for cluster in self.clusters])
            parts.append(self._part("sums", ["*", f"{odds_sum} AS odds_sum"], own("odds")))
            selected, source = self._soft_labels(), "sums"
        return f"WITH {', '.join(parts)}\n{_select(selected, own(source), '')}"

    def _part(self, name: str, expressions: Sequence[str], source: str) -> str:
        # These would otherwise write each part into the next, and work out a number once per mention. SQLite
        # knows the word since 3.35, as it knows EXP; labels alone are for older ones too.
        apart = self.words.dialect == "postgres" or (self.words.dialect == "sqlite" and self.probabilities)
        made = "AS MATERIALIZED" if apart else "AS"
        return f"{self.words.own(name)} {made} (\n{_select(expressions, source, '  ')}\n)"

    @property
    def clusters(self) -> range:
        return range(self.scoring.fixed.k)

    @property
    def numeric(self) -> tuple[Column, ...]:
        return self.scoring.schema.numeric

    @cached_property
    def columns(self) -> list[_ColumnCosts]:
        """The categorical columns, the widest of them with look-up tables."""
        wide = [column for column in self.scoring.schema.categorical if column.size > WIDE]
        # In a table text that means a date would not be read as one: that is done beside a date only.
        able = [column for column in wide if not column.binned and not holds_moments(column)]
        able = sorted(able, key=lambda column: -column.size)[:MOST_JOINS]
        both = zip(self.scoring.schema.categorical, self.scoring.parents, strict=True)
        tied = {column.name for column, parent in both if parent is not None}
        joined = {column.name for column in able} - tied
        columns = {
            column.name: _ColumnCosts(column, at, costs, self.scoring, self.words, column.name in joined)
            for at, (column, costs) in enumerate(self.scoring.parts)
        }
        return [
            own if parent is None else replace(own, parent=columns[parent.name])
            for own, parent in zip(columns.values(), self.scoring.parents, strict=True)
        ]

    def _entries(self) -> list[str]:
        """Cells under names of our own, and numbers as half their distance from the lowest at fit."""
        given, scaling = self.words.given, self.scoring.schema.scaling
        entries = [f"{given(kept)} AS kept_{at}" for at, kept in enumerate(self.kept)]
        entries += [f"{column.entry()} AS {column.cell}" for column in self.columns]
        for at, (column, low) in enumerate(zip(self.numeric, scaling.low.tolist(), strict=True)):
            cell = given(column.name)
            half = f"CAST({cell} AS {self.words.double_type}) / 2 - {self.words.double(low / 2)}"
            entries.append(f"CASE WHEN {cell} - {cell} = 0 THEN {half} END AS half_{at}")
        return entries or ["1 AS nothing"]  # a SELECT without columns is no SQL

    @property
    def _kept(self) -> list[str]:
        return [f"kept_{at}" for at in range(len(self.kept))]

    def _passed(self, made: list[str]) -> list[str]:
        return [*self._kept, *(column.cell for column in self.columns), *made]

    def _scaled(self) -> list[str]:
        """Numbers in ticks of their range, as ``Scaling.apply`` has them."""
        double = self.words.double
        scaled, scaling = [], self.scoring.schema.scaling
        spans = zip(scaling.half_span.tolist(), scaling.clipped.tolist(), strict=True)
        for at, (half_span, clipped) in enumerate(spans):
            name, near = f"half_{at}", NO_TICK * half_span
            lowest, highest = (0.0, 1.0) if clipped else (-FARTHEST, FARTHEST)
            whens = []
            # PostgreSQL refuses quotients that overflow or underflow; both are known without dividing.
            if np.isfinite(highest * half_span):
                for sign, limit in ((">=", highest), ("<=", lowest)):
                    ticks = double(limit * 2**TICK_BITS)
                    whens.append(f"WHEN {name} {sign} {double(limit * half_span)} THEN {ticks}")
            if near >= SMALLEST_NORMAL:
                whens.append(f"WHEN ABS({name}) <= {double(near)} THEN {double(0.0)}")
            # Halves go to the even tick; a sum near 1.5 * 2**52 has no room for a fraction.
            whole = 3 * 2**51
            ticks = f"({name} / {double(half_span)} * {2**TICK_BITS} + {whole}) - {whole}"
            scaled.append(
                f"CASE WHEN {name} IS NULL THEN NULL {' '.join(whens)} ELSE {ticks} END / {2**TICK_BITS} "
                f"AS number_{at}"
            )
        return scaled

    def _distances(self) -> list[str]:
        """The numbers, and their part of the cost in each cluster, in quanta but not yet whole."""
        fixed, double = self.scoring.fixed, self.words.double
        made = [f"number_{at}" for at in range(len(self.numeric))]
        for cluster in self.clusters:
            own = zip(fixed.means[cluster], fixed.scale[cluster], fixed.level[cluster], strict=True)
            terms = [self._number_term(at, *map(float, figures)) for at, figures in enumerate(own)]
            total = "\n      + ".join(terms)
            made.append(f"({total}) * {double(2.0**fixed.shift)} AS distance_{cluster}")
        return made

    def _number_term(self, at: int, mean: float, scale: float, level: float) -> str:
        double, name = self.words.double, f"number_{at}"
        if np.isnan(mean):  # no row of the cluster has this number
            term = double(0.0)
        else:
            away = f"ABS({name} - {double(mean)})"
            term = f"{double(scale)} * ({f'{away} * {away}' if self.scoring.fixed.power == 2 else away})"
            term = f"{double(level)} + {term}" if level else term
        absent = "NULL" if self.scoring.schema.missing == "error" else double(0.0)
        return f"CASE WHEN {name} IS NULL THEN {absent} ELSE {term} END"

    def _costs(self) -> list[str]:
        """The cost of the row in each cluster, in whole quanta."""
        anchor = self.scoring.fixed.anchor.tolist()
        costs = []
        for cluster in self.clusters:
            terms = [column.term(cluster) for column in self.columns]
            if self.numeric:
                whole = rounded(f"distance_{cluster}")
                terms.append(f"CAST({whole} AS {self.words.whole_type})")
            costs.append(f"{self.words.whole_sum(str(anchor[cluster]), terms)} AS cost_{cluster}")
        return costs

    def _labels(self) -> list[str]:
        """The kept columns under their own names, the label, and the cluster's name where they have any."""
        chosen = zip(self._label_names, self._chosen(), strict=True)
        return [*self._kept_by_name, *(f"{value} AS {self.words.name(name)}" for name, value in chosen)]

    @property
    def _kept_by_name(self) -> list[str]:
        return [f"kept_{at} AS {self.words.name(kept)}" for at, kept in enumerate(self.kept)]

    @property
    def _label_names(self) -> list[str]:
        return [self.label] if self.names is None else [self.label, f"{self.label}_name"]

    def _chosen(self) -> list[str]:
        """The label and the name of the lowest cluster that is as near as the nearest."""
        values = [[str(cluster) for cluster in self.clusters]]
        if self.names is not None:
            values.append([self.words.category(text) for text in self.names])
        tie = self.scoring.fixed.tie
        whens = [
            " ".join(f"WHEN cost_{j} <= smallest + {tie} THEN {own[j]}" for j in self.clusters)
            for own in values
        ]
        return [f"CASE {when} END" for when in whens]

    def _odds(self) -> list[str]:
        """The smallest cost, the labels, and the odds of each cluster against the nearest one."""
        fixed, double = self.scoring.fixed, self.words.double
        made = ["smallest", *(f"{value} AS label_{at}" for at, value in enumerate(self._chosen()))]
        farthest, minus_quantum = int(NO_ODDS * 2.0**fixed.shift), double(-fixed.quantum)
        for cluster in self.clusters:
            behind = f"cost_{cluster} - smallest"
            exponent = f"CAST({behind} AS {self.words.double_type}) * {minus_quantum}"
            odds = f"CASE WHEN {behind} > {farthest} THEN {double(0.0)} ELSE EXP({exponent}) END"
            made.append(f"{odds} AS odds_{cluster}")
        return made

    def _soft_labels(self) -> list[str]:
        """Kept columns and labels, membership probabilities, the largest of them, and the outlier score."""
        double, scale = self.words.double, self.scoring.density_scale
        assert scale is not None  # the estimator refused methods without probabilities
        cost = f"CAST(smallest AS {self.words.double_type}) * {double(self.scoring.fixed.quantum)}"
        below = f"{double(scale.low)} - LN(odds_sum) + {cost}"
        # The odds of the nearest cluster are 1.
        certainty = f"{double(1.0)} / odds_sum"
        outlier = f"CASE WHEN {below} > 0 THEN ({below}) / {double(scale.spread)} "
        outlier += f"WHEN smallest IS NOT NULL THEN {double(0.0)} END"
        names = self._label_names + [f"probability_{cluster}" for cluster in self.clusters] + list(SCORES)
        values = [f"label_{at}" for at in range(len(self._label_names))]
        values += [f"odds_{cluster} / odds_sum" for cluster in self.clusters] + [certainty, outlier]
        made = [f"{value} AS {self.words.name(name)}" for name, value in zip(names, values, strict=True)]
        return [*self._kept_by_name, *made]


def _select(expressions: Sequence[str], source: str, indent: str) -> str:
    listed = f",\n{indent}  ".join(expressions)
    return f"{indent}SELECT\n{indent}  {listed}\n{indent}FROM {source}"
