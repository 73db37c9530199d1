"""What a categorical cell costs in each cluster, as SQL: a CASE, or a join with a look-up table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from catalpa.errors import SqlError
from catalpa.model.scoring import Scoring, types_of
from catalpa.model.sql_words import Words
from catalpa.table.blocks import IntArray
from catalpa.table.schema import Column


@dataclass(frozen=True, eq=False)
class ColumnCosts:
    """The costs of one column's cells."""

    column: Column
    at: int  # place among the categorical columns; the query calls the column ``column_<at>``
    # (size + holes, k): costs of the categories, of a left-out cell, and of an unseen category.
    table: IntArray
    scoring: Scoring  # a cell that ``predict`` refuses costs NULL
    words: Words
    joined: bool  # whether the costs are looked up in a table of their own

    @property
    def cell(self) -> str:
        return f"column_{self.at}"

    @property
    def lookup(self) -> str:
        return f"catalpa_column_{self.at}"

    @cached_property
    def _numbers(self) -> bool:
        types = types_of(self.column, SqlError, "a column in a database")
        return self.column.binned or types == {"number"}

    def entry(self) -> str:
        """The cell as the first part of the query selects it."""
        name = self.words.given(self.column.name)
        return f"CAST({name} AS {self.words.double_type})" if self.column.binned else name

    def term(self, cluster: int) -> str:
        """The cost of the cell in a cluster."""
        name, absent = self.cell, f"{self.cell} IS NULL"
        # Only a finite number minus itself is 0; a text has no minus, and cannot be tested in this way.
        absent = f"({absent} OR NOT {name} - {name} = 0)" if self._numbers else absent
        whens = [f"WHEN {absent} THEN {self._cost(self.scoring.missing_place(self.column), cluster)}"]
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
