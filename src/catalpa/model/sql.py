"""Export a fitted model as one SQL query with the labels of ``predict``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from catalpa.errors import ParameterError, SqlError
from catalpa.inspection.apply import TICKED
from catalpa.inspection.elsewhere import category_of_empty, missing_texts, steps_in_the_way
from catalpa.inspection.recipe import Recipe
from catalpa.model.scoring import Scoring, holds_moments, types_of
from catalpa.model.sql_dialect import SqlDialect, rounded
from catalpa.table.blocks import FARTHEST, SPECIAL_PLACES, TICK_BITS, IntArray
from catalpa.table.schema import Column, ColumnKind

WIDE = 16  # columns with more categories are joined with a look-up table
MOST_JOINS = 50  # SQLite joins 64 tables at most
SCORES = ("certainty", "outlier_score")
NO_TICK = 2.0**-26  # fraction of the range that rounds to 0 ticks
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
NO_ODDS = 700.0  # nats behind the nearest cluster beyond which odds are 0: PostgreSQL raises on underflow


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
    """One query that assigns every row of a database table to its cluster; see ``Clusterer.to_sql``."""
    if isinstance(keep, str):
        raise ParameterError(
            f"keep is {keep!r}; it must be a list of names. For one column write [{keep!r}]."
        )
    if scoring.derived:
        raise SqlError(
            "to_sql does not support parts of dates or items of lists, for which databases have no common "
            f"functions, and the model uses those of {scoring.derived}. Add them as columns of the table and "
            "fit again."
        )
    if steps := steps_in_the_way(scoring.recipe, scoring.schema.inputs):
        raise SqlError(
            f"to_sql does not support this step of the recipe: {'; '.join(steps)}. Store the table as the "
            "recipe leaves it (recipe.apply), fit that without a recipe, and query it."
        )
    columns = tuple(scoring.schema.inputs if keep is None else keep)
    path = (table,) if isinstance(table, str) else tuple(table)
    inputs: tuple[Any, ...] = (*columns, *path, label)
    unusable = [name for name in inputs if not isinstance(name, str)]
    if unusable:
        raise ParameterError(f"Names in keep, table and label must be strings, not {unusable}.")
    added = [label] if names is None else [label, f"{label}_name"]
    if probabilities:
        added += [*(f"probability_{cluster}" for cluster in range(scoring.fixed.k)), *SCORES]
    in_use = [name.casefold() for name in (*columns, *added)]  # as databases compare them
    if len(set(in_use)) < len(in_use):
        raise ParameterError(
            f"The query would have two columns of one name: keep is {list(columns)}, the query adds {added}. "
            "Column names are case-insensitive in SQL; choose other columns in keep, or another label."
        )
    if not path:
        raise ParameterError("table is empty; it must be a name, or the parts of a qualified name.")
    words = SqlDialect(str(dialect).lower(), _free_prefix(path[-1]))
    return _Query(scoring, words, path, columns, label, names, probabilities).text()


def _free_prefix(table: str) -> str:
    """Prefix of the names of the query's own parts, which the name of the table does not start with."""
    prefix = "catalpa"
    while table.casefold().startswith(f"{prefix}_"):
        prefix = f"_{prefix}"
    return prefix


def _with_recipe(cell: str, column: Column, recipe: Recipe, words: SqlDialect, *, numbers: bool) -> str:
    """The cell as a recipe leaves it: without missing values, and a tick box with all values filled in."""
    empty = category_of_empty(recipe, column.name)
    if empty is not None and set(column.known) <= {TICKED, empty}:
        # A box that holds a number when ticked says yes here.
        return f"CASE WHEN {cell} IS NULL THEN {words.category(empty)} ELSE {words.category(TICKED)} END"
    values = missing_texts(recipe, column.name)
    written = [value for value in values if not numbers or _says_number(value)]
    if written:
        listed = ", ".join(value if numbers else words.category(value) for value in written)
        cell = f"CASE WHEN {cell} IN ({listed}) THEN NULL ELSE {cell} END"
    return cell if empty is None else f"COALESCE({cell}, {words.category(empty)})"


def _on_a_line(text: str) -> str:
    """A text that cannot end a comment."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _says_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) is not None


@dataclass(frozen=True, eq=False)
class _ColumnCosts:
    """Costs of one column in each cluster: a CASE expression, or a join with a look-up table."""

    column: Column
    at: int  # place among the categorical columns; the query calls the column ``column_<at>``
    # (size + special places, k): costs of the categories, of an ignored missing value, of an unseen category.
    table: IntArray
    scoring: Scoring  # cells that ``predict`` rejects cost NULL
    words: SqlDialect
    joined: bool  # whether the costs are in a joined look-up table
    parent: _ColumnCosts | None = None  # of a tied column, whose costs are those of pairs

    @property
    def cell(self) -> str:
        return f"column_{self.at}"

    @property
    def lookup(self) -> str:
        return self.words.prefixed(f"column_{self.at}")

    @cached_property
    def _numbers(self) -> bool:
        types = types_of(self.column, SqlError, "a column in a database")
        return self.column.binned or types == {"number"}

    def entry(self) -> str:
        """The cell as the first part of the query selects it."""
        recipe = self.scoring.recipe
        if self.column.origin is not None:  # a block of columns
            return self._answered(recipe)
        name = self.words.given(self.column.name)
        if recipe is not None:
            name = _with_recipe(name, self.column, recipe, self.words, numbers=self._numbers)
        return f"CAST({name} AS {self.words.double_type})" if self.column.binned else name

    def _answered(self, recipe: Recipe | None) -> str:
        """Whether, or up to which step, a block of columns was answered."""
        assert self.column.origin is not None
        steps: list[str] = []
        for step, answer in zip(self.column.origin.steps, self.column.known, strict=True):
            cells = [self._present(name, recipe) for name in step]
            steps.insert(0, f"WHEN {' OR '.join(cells)} THEN {self.words.category(answer)}")
        return f"CASE {' '.join(steps)} END"

    def _present(self, name: str, recipe: Recipe | None) -> str:
        """The condition that a cell of the table is not missing."""
        columns = {column.name: column for column in self.scoring.schema.columns}
        cell, column = self.words.given(name), columns[name]
        numbers = column.kind is ColumnKind.NUMERIC or column.binned
        numbers = numbers or types_of(column, SqlError, "a column in a database") == {"number"}
        if recipe is not None:
            cell = _with_recipe(cell, column, recipe, self.words, numbers=numbers)
        return f"{cell} - {cell} = 0" if numbers else f"{cell} IS NOT NULL"

    @property
    def _absent(self) -> str:
        """The condition that the cell is missing."""
        name, absent = self.cell, f"{self.cell} IS NULL"
        # Only a finite number minus itself is 0. Text cannot be tested this way.
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
            # The last bin has no upper edge.
            otherwise = str(self.table[len(self.column.known) - 1, cluster])
        else:
            whens += self._groups(cluster)
            otherwise = self._unseen_cost(cluster)
        return f"CASE {' '.join(whens)} ELSE {otherwise} END"

    def _term_of_pairs(self, cluster: int, parent: _ColumnCosts) -> str:
        """The cost of a tied cell: a CASE for every category of its parent."""
        tables = self.table.reshape(-1, self.column.size + SPECIAL_PLACES, self.table.shape[1])

        def term(place: int) -> str:
            # A rejected parent makes the cost of the row NULL by itself.
            costs = tables[min(place, len(tables) - 1)]
            return replace(self, table=costs, parent=None).term(cluster)

        groups: dict[str, list[str]] = {}
        for code, value in enumerate(parent.column.known):
            groups.setdefault(term(code), []).append(self.words.category(value))
        otherwise = term(self.scoring.unseen_place(parent.column))
        groups.pop(otherwise, None)
        missing = term(self.scoring.missing_place(parent.column))
        whens = [
            f"WHEN {parent.cell} IN ({', '.join(values)}) THEN {costs}" for costs, values in groups.items()
        ]
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
        """Categories grouped by cost, without those that cost as much as an unseen category."""
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
            if cost != above  # an edge between equal costs is redundant
        ]


@dataclass(frozen=True, eq=False)
class _Query:
    scoring: Scoring
    words: SqlDialect
    table: tuple[str, ...]
    keep: tuple[str, ...]
    label: str
    names: Sequence[str] | None
    probabilities: bool

    def text(self) -> str:
        """The parts of the query, each a table that the next one reads."""
        named = self.words.prefixed
        parts = [column.lookup_table() for column in self.columns if column.joined]
        table = ".".join(map(self.words.name, self.table))
        parts.append(self._part("rows", self._entries(), f"{table} {named('given')}"))
        source = "rows"
        # Numbers have their own parts, so that each is scaled once, not once per cluster.
        if self.numeric:
            parts.append(self._part("numbers", self._passed(self._scaled()), named(source)))
            parts.append(self._part("distances", self._passed(self._distances()), named("numbers")))
            source = "distances"
        joins = "".join(f"\n  {column.join()}" for column in self.columns if column.joined)
        parts.append(self._part("costs", [*self._keep_columns, *self._costs()], named(source) + joins))
        least = self.words.smallest([f"cost_{cluster}" for cluster in self.clusters])
        parts.append(self._part("smallest", ["*", f"{least} AS smallest"], named("costs")))
        selected, source = self._labels(), "smallest"
        if self.probabilities or self.scoring.outliers_above is not None:
            parts.append(self._part("odds", [*self._keep_columns, *self._odds()], named("smallest")))
            odds_sum = self.words.double_sum([f"odds_{cluster}" for cluster in self.clusters])
            parts.append(self._part("sums", ["*", f"{odds_sum} AS odds_sum"], named("odds")))
            selected, source = self._soft_labels(), "sums"
        return f"{self._titles()}WITH {', '.join(parts)}\n{_select(selected, named(source), '')}"

    def _titles(self) -> str:
        """Comments with the short labels of columns that have one."""
        recipe = self.scoring.recipe
        titles = {} if recipe is None else recipe.titles
        lines = [
            f"-- {_on_a_line(name)}: {_on_a_line(titles[name])}\n"
            for name in self.scoring.schema.inputs
            if name in titles
        ]
        return "".join(lines)

    def _part(self, name: str, expressions: Sequence[str], source: str) -> str:
        # Otherwise the database would inline each part and recompute a number at each mention. SQLite has the
        # keyword since 3.35, like EXP; labels alone also work in older versions.
        soft = self.probabilities or self.scoring.outliers_above is not None
        apart = self.words.dialect == "postgres" or (self.words.dialect == "sqlite" and soft)
        keyword = "AS MATERIALIZED" if apart else "AS"
        return f"{self.words.prefixed(name)} {keyword} (\n{_select(expressions, source, '  ')}\n)"

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
        # Text that means a date is converted next to a date only.
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
            column if parent is None else replace(column, parent=columns[parent.name])
            for column, parent in zip(columns.values(), self.scoring.parents, strict=True)
        ]

    def _entries(self) -> list[str]:
        """Cells under internal names, and numbers as half their distance from the minimum at fit."""
        given, scaling = self.words.given, self.scoring.schema.scaling
        entries = [f"{given(name)} AS kept_{at}" for at, name in enumerate(self.keep)]
        entries += [f"{column.entry()} AS {column.cell}" for column in self.columns]
        for at, (column, low) in enumerate(zip(self.numeric, scaling.low.tolist(), strict=True)):
            cell = given(column.name)
            if (recipe := self.scoring.recipe) is not None:
                cell = _with_recipe(cell, column, recipe, self.words, numbers=True)
            half = f"CAST({cell} AS {self.words.double_type}) / 2 - {self.words.double(low / 2)}"
            entries.append(f"CASE WHEN {cell} - {cell} = 0 THEN {half} END AS half_{at}")
        return entries or ["1 AS nothing"]  # SELECT needs at least one column

    @property
    def _keep_columns(self) -> list[str]:
        return [f"kept_{at}" for at in range(len(self.keep))]

    def _passed(self, expressions: list[str]) -> list[str]:
        return [*self._keep_columns, *(column.cell for column in self.columns), *expressions]

    def _scaled(self) -> list[str]:
        """Numbers in ticks of their range, as in ``Scaling.apply``."""
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
            half_way = 3 * 2**51
            ticks = f"({name} / {double(half_span)} * {2**TICK_BITS} + {half_way}) - {half_way}"
            scaled.append(
                f"CASE WHEN {name} IS NULL THEN NULL {' '.join(whens)} ELSE {ticks} END / {2**TICK_BITS} "
                f"AS number_{at}"
            )
        return scaled

    def _distances(self) -> list[str]:
        """The numbers, and their part of the cost in each cluster, in unrounded quanta."""
        fixed, double = self.scoring.fixed, self.words.double
        names = [f"number_{at}" for at in range(len(self.numeric))]
        for cluster in self.clusters:
            parameters = zip(fixed.means[cluster], fixed.scale[cluster], fixed.level[cluster], strict=True)
            terms = [self._number_term(at, *map(float, figures)) for at, figures in enumerate(parameters)]
            total = "\n      + ".join(terms)
            names.append(f"({total}) * {double(2.0**fixed.shift)} AS distance_{cluster}")
        return names

    def _number_term(self, at: int, mean: float, scale: float, level: float) -> str:
        double, name = self.words.double, f"number_{at}"
        if np.isnan(mean):  # no row of the cluster has this number
            term = double(0.0)
        else:
            away = f"ABS({name} - {double(mean)})"
            term = f"{double(scale)} * ({f'{away} * {away}' if self.scoring.fixed.power == 2 else away})"
            term = f"{double(level)} + {term}" if level else term
        refused = self.scoring.schema.missing_of(self.numeric[at]) == "error"
        absent = "NULL" if refused else double(0.0)
        return f"CASE WHEN {name} IS NULL THEN {absent} ELSE {term} END"

    def _costs(self) -> list[str]:
        """The cost of the row in each cluster, in whole quanta."""
        anchor = self.scoring.fixed.anchor.tolist()
        costs = []
        for cluster in self.clusters:
            terms = [column.term(cluster) for column in self.columns]
            if self.numeric:
                total = rounded(f"distance_{cluster}")
                terms.append(f"CAST({total} AS {self.words.whole_type})")
            costs.append(f"{self.words.whole_sum(str(anchor[cluster]), terms)} AS cost_{cluster}")
        return costs

    def _labels(self) -> list[str]:
        """The kept columns under their own names, the label, and the cluster's name if there are names."""
        chosen = zip(self._label_names, self._chosen(), strict=True)
        return [*self._keep_by_name, *(f"{value} AS {self.words.name(name)}" for name, value in chosen)]

    @property
    def _keep_by_name(self) -> list[str]:
        return [f"kept_{at} AS {self.words.name(column)}" for at, column in enumerate(self.keep)]

    @property
    def _label_names(self) -> list[str]:
        return [self.label] if self.names is None else [self.label, f"{self.label}_name"]

    def _chosen(self) -> list[str]:
        """The label and name of the lowest cluster that ties with the nearest."""
        values = [[str(cluster) for cluster in self.clusters]]
        if self.names is not None:
            values.append([self.words.category(text) for text in self.names])
        tie = self.scoring.fixed.tie
        whens = [
            " ".join(f"WHEN cost_{j} <= smallest + {tie} THEN {candidate[j]}" for j in self.clusters)
            for candidate in values
        ]
        return [f"CASE {when} END" for when in whens]

    def _odds(self) -> list[str]:
        """The smallest cost, the labels, and the odds of each cluster against the nearest one."""
        fixed, double = self.scoring.fixed, self.words.double
        columns = ["smallest", *(f"{value} AS label_{at}" for at, value in enumerate(self._chosen()))]
        farthest, minus_quantum = int(NO_ODDS * 2.0**fixed.shift), double(-fixed.quantum)
        for cluster in self.clusters:
            behind = f"cost_{cluster} - smallest"
            exponent = f"CAST({behind} AS {self.words.double_type}) * {minus_quantum}"
            odds = f"CASE WHEN {behind} > {farthest} THEN {double(0.0)} ELSE EXP({exponent}) END"
            columns.append(f"{odds} AS odds_{cluster}")
        return columns

    def _soft_labels(self) -> list[str]:
        """Kept columns and labels, membership probabilities, the largest of them, and the outlier score.

        Of these the labels alone if no probabilities are wanted.
        """
        double, scale = self.words.double, self.scoring.density_scale
        assert scale is not None  # the estimator refused methods without probabilities
        cost = f"CAST(smallest AS {self.words.double_type}) * {double(self.scoring.fixed.quantum)}"
        below = f"{double(scale.low)} - LN(odds_sum) + {cost}"
        # The odds of the nearest cluster are 1.
        certainty = f"{double(1.0)} / odds_sum"
        outlier = f"CASE WHEN {below} > 0 THEN ({below}) / {double(scale.spread)} "
        outlier += f"WHEN smallest IS NOT NULL THEN {double(0.0)} END"
        names, values = list(self._label_names), [f"label_{at}" for at in range(len(self._label_names))]
        if self.scoring.outliers_above is not None:
            far = f"{below} > {double(self.scoring.outliers_above * scale.spread)}"
            # An outlier has no cluster whose name it could have.
            instead = ["-1", "NULL"][: len(values)]
            both = zip(instead, values, strict=True)
            values = [f"CASE WHEN {far} THEN {one} ELSE {value} END" for one, value in both]
        if self.probabilities:
            names += [*(f"probability_{cluster}" for cluster in self.clusters), *SCORES]
            values += [*(f"odds_{cluster} / odds_sum" for cluster in self.clusters), certainty, outlier]
        columns = [f"{value} AS {self.words.name(name)}" for name, value in zip(names, values, strict=True)]
        return [*self._keep_by_name, *columns]


def _select(expressions: Sequence[str], source: str, indent: str) -> str:
    listed = f",\n{indent}  ".join(expressions)
    return f"{indent}SELECT\n{indent}  {listed}\n{indent}FROM {source}"
