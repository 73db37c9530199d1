"""``catalpa.look``: a short inspection of a table before clustering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from catalpa.engines.local import opener_for
from catalpa.errors import ParameterError, UnknownColumn
from catalpa.inspection import dates, numbers_in_text
from catalpa.inspection.columns import ColumnView, column_view, column_views
from catalpa.inspection.data_order import order_by_data
from catalpa.inspection.empties import constant, tick
from catalpa.inspection.findings import Judgement, Kind, TableFinding
from catalpa.inspection.identifiers import free_text, identifier
from catalpa.inspection.lists import several_answers
from catalpa.inspection.many_categories import many_categories
from catalpa.inspection.messages import finding_of, gap_block_finding, pair_findings, same_word_finding
from catalpa.inspection.missing_codes import sentinel, unknown
from catalpa.inspection.pairs import Pair, repeated
from catalpa.inspection.recipe import Field, Recipe
from catalpa.inspection.scales import CALLED_GRADE, likely_order, ordered_words, whole_number_scales
from catalpa.inspection.together import ColumnBlock, gap_blocks, same_words
from catalpa.inspection.weights import weight
from catalpa.table.blocks import search_positions
from catalpa.table.codebook import Codebook
from catalpa.table.files.dialect import Dialect, FileFinding
from catalpa.table.files.sources import read_file
from catalpa.table.open import Table, open_table

if TYPE_CHECKING:
    from catalpa.report.look_page import LookPage

MOST_ROWS = 50_000  # size of the inspected sample
FEW_VALUES = 60  # columns with at most this many distinct values in the sample are read completely
NOTHING = "Nothing found: the table can be clustered as it is."
SHOWN = 12  # lines of the printed text; the page shows all

# The first rule that matches decides about the column.
RULES: tuple[Callable[[ColumnView], Judgement | None], ...] = (
    constant,
    tick,
    weight,
    dates.date,
    dates.time,
    numbers_in_text.number,
    several_answers,
    identifier,
    free_text,
    ordered_words,
    likely_order,
)
# Options that change how a file is read.
FILE_OPTIONS = {"sheets": "--sheet NAME", "encoding": "--encoding NAME"}
LEFT_OUT = (Kind.CONSTANT, Kind.WEIGHT, Kind.IDENTIFIER, Kind.TEXT)


@dataclass(frozen=True)
class Look:
    """Findings about a table, and the recipe that prepares it; returned by ``catalpa.look``.

    Attributes
    ----------
    rows, columns : int
        Size of the table.
    looked_at : int
        Number of rows that were inspected.
    lines : tuple of TableFinding
        Findings, most important first.
    recipe : Recipe
        Safe changes are applied; the others are listed under ``proposed``.
    """

    rows: int
    columns: int
    looked_at: int
    lines: tuple[TableFinding, ...]
    recipe: Recipe
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def findings(self) -> pd.DataFrame:
        """One row per finding: kind, columns, safe, message, and the option or code that changes it."""
        head = ("kind", "columns", "safe", "message", "change")
        return pd.DataFrame([line.record() for line in self.lines], columns=list(head))

    def of_file(
        self,
        findings: Sequence[FileFinding],
        dialect: Dialect | None,
        codebook: Codebook | None = None,
    ) -> Look:
        """Add the findings about the file that the table was read from, and its column titles."""
        lines = tuple(
            TableFinding(Kind.FILE, (), one.safe, one.message, _file_option(one), 100.0) for one in findings
        )
        recipe = self.recipe if codebook is None else self.recipe.with_titles(codebook.titles)
        layout = {} if dialect is None else dialect.to_json()
        together = sorted((*lines, *self.lines), key=lambda line: not line.safe)
        return replace(self, lines=tuple(together), recipe=replace(recipe, dialect=layout))

    def keep(self, *columns: str) -> Look:
        """The same findings with a recipe that leaves these columns unchanged."""
        lines = [
            replace(line, columns=tuple(name for name in line.columns if name not in columns))
            for line in self.lines
        ]
        selection = tuple(line for line in lines if line.columns or line.kind is Kind.FILE)
        return replace(self, recipe=self.recipe.keeping(columns), lines=selection)

    def accept(self, *kinds: str) -> Look:
        """The same findings with a recipe that applies the proposals of these kinds.

        Parameters
        ----------
        *kinds : str
            Kinds of findings, such as "sentinel" or "copy"; by default all proposals.

        Examples
        --------
        >>> import catalpa
        >>> import pandas as pd
        >>> table = pd.DataFrame({"answer": [1, 2, 3, -1, 4, 2, 3, 1] * 5, "colour": ["red", "blue"] * 20})
        >>> catalpa.look(table).accept("sentinel").recipe["answer"].missing
        (('-1', None),)
        """
        from catalpa.inspection.acceptance import accepted

        for kind in kinds:
            if kind not in list(Kind):
                close = get_close_matches(str(kind), [one.value for one in Kind], 1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ParameterError(
                    f"There is no kind of finding called {kind!r}.{hint} Kinds are {', '.join(Kind)}."
                )
        wanted = kinds or tuple(self.recipe.proposed)
        lines = tuple(replace(line, safe=True) if line.kind.value in wanted else line for line in self.lines)
        return replace(self, recipe=accepted(self.recipe, wanted), lines=lines)

    @property
    def summary(self) -> str:
        """One line with the number of rows and columns."""
        sample = "" if self.looked_at == self.rows else f" ({self.looked_at:,} rows inspected)"
        rows = f"{self.rows:,} row{'s' if self.rows != 1 else ''}"
        return f"{rows}, {self.columns:,} column{'s' if self.columns != 1 else ''}{sample}"

    def __str__(self) -> str:
        if not self.lines:
            return f"{self.summary}. {NOTHING}"
        lines = [self.summary]
        for safe, title in ((True, "Applied by default:"), (False, "Proposed, not applied:")):
            group = [line for line in self.lines if line.safe == safe]
            if group:
                lines += ["", title, *(f"  {line.message}  [{line.change}]" for line in group[:SHOWN])]
            if len(group) > SHOWN:
                lines.append(f"  and {len(group) - SHOWN} more: look(...).findings lists them")
        return "\n".join([*lines, *(["", *self.notes] if self.notes else [])])

    def __repr__(self) -> str:
        safe = sum(line.safe for line in self.lines)
        return f"Look({self.summary}: {safe} findings applied, {len(self.lines) - safe} proposed)"

    def _repr_html_(self) -> str:
        if not self.lines:
            return f"<p>{escape(self.summary)}. {NOTHING}</p>"
        rows = "".join(
            f"<tr><td>{line.kind.value}</td><td>{'applied' if line.safe else 'proposed'}</td>"
            f'<td style="text-align: left">{escape(line.message)}</td>'
            f'<td style="text-align: left"><code>{escape(line.change)}</code></td></tr>'
            for line in self.lines
        )
        head = "<thead><tr><th>finding</th><th></th><th></th><th>change it</th></tr></thead>"
        return f"<table><caption>{escape(self.summary)}</caption>{head}<tbody>{rows}</tbody></table>"

    def report(self, *, title: str = "Before clustering") -> LookPage:
        """All findings as an HTML page: ``look(X).report().save("look.html")``."""
        from catalpa.report.look_page import look_page  # a higher layer with optional dependencies

        return look_page(self, title)


def look(source: Any, *, suggest: Sequence[str] = ()) -> Look:
    """Inspect a table before clustering and propose how to prepare it.

    Detects identifiers, free text, weights, dates and numbers stored as text, several answers in a cell, tick
    boxes, ordered answers, codes for "no answer", questions skipped together and columns that repeat each
    other. ``Look.recipe`` applies what is safe and proposes the rest, which ``accept`` applies.

    Parameters
    ----------
    source : path or table
        The name of a file, or any table that ``fit`` takes. If it has more than 50,000 rows, a random sample
        is inspected, which does not depend on where the rows are stored.
    suggest : list of str
        Columns of words for which an order is proposed from the other columns. It is right about half of the
        time, and its direction is arbitrary.

    Returns
    -------
    Look
        ``print`` shows the findings; ``findings`` is a frame, ``recipe`` can be passed to an estimator, and
        ``report()`` creates a page.

    Examples
    --------
    >>> import catalpa
    >>> import pandas as pd
    >>> table = pd.DataFrame({
    ...     "id": range(1000, 1040),
    ...     "age": ["18-29", "30-44", "> 60", "45-60"] * 10,
    ...     "colour": ["red", "blue", "red", "red", "blue"] * 8,
    ... })
    >>> seen = catalpa.look(table)
    >>> print(seen)
    40 rows, 3 columns
    <BLANKLINE>
    Applied by default:
      'id' is (almost) unique per row: it looks like an identifier, left out.  [--keep id]
      'age' is an ordered scale: 18-29 < 30-44 < 45-60 < > 60.  [--order age='18-29<30-44<45-60<> 60']
    >>> list(seen.recipe.apply(table))
    ['age', 'colour']
    """
    if isinstance(source, str | Path):
        file = read_file(source)
        return look(file.table, suggest=suggest).of_file(file.findings, file.dialect, file.codebook)
    rows = opener_for(source)
    at = search_positions(rows.n_rows, MOST_ROWS, 0)
    if rows.in_memory:
        table = open_table(source)
        sample = table if len(at) == len(table) else table.at(at)
    else:  # only the sample is fetched
        table = sample = rows.rows_at(at)
    return _looked(sample, table, rows.n_rows, suggest, every=len(at) == rows.n_rows)


def _file_option(finding: FileFinding) -> str:
    """The command-line option that changes a finding about a file."""
    if finding.kind in ("total", "footer"):
        return f"--skip-rows {','.join(map(str, finding.rows))}"
    if finding.kind == "second header":
        return f"--header {finding.rows[0] - 1}"
    return FILE_OPTIONS.get(finding.kind, f"--header {finding.rows[0]}" if finding.rows else "--header none")


def _looked(sample: Table, table: Table, rows: int, suggest: Sequence[str], *, every: bool) -> Look:
    """Findings from a sample of the rows; columns for which a sample could mislead are read completely."""
    if not isinstance(suggest, list | tuple):
        raise ParameterError(f"suggest is {suggest!r:.60}; give a list of column names.")
    if unknown := [name for name in suggest if name not in table.names]:
        raise UnknownColumn(f"suggest names {unknown}, which the table does not have.")
    views = column_views(sample, every=every)
    # A fetched sample is all there is to inspect.
    judgements = _judgements(views, table, every=every or sample is table)
    judgements += _suggested(views, judgements, suggest)
    blocks, words, pairs = _across(views, judgements)
    lines = [finding_of(group) for group in _folded(judgements)]
    lines += [gap_block_finding(block) for block in blocks if len(block.columns) > 1]
    lines += [same_word_finding(block) for block in words]
    lines += pair_findings(pairs)
    lines.sort(key=lambda line: (not line.safe, -line.weight))
    recipe = _recipe(judgements, blocks, words, pairs)
    return Look(rows, len(views), len(sample), tuple(lines), recipe)


def _judgements(views: Sequence[ColumnView], table: Table, *, every: bool) -> list[Judgement]:
    """Judgements of all rules on each column; a column with few distinct values is judged by all rows."""
    judged = [
        column_view(table, view.position) if not every and view.different <= FEW_VALUES else view
        for view in views
    ]
    judgements = []
    for view in judged:
        judgement = _decision(view, table, every=every)
        if judgement is not None:
            judgements.append(judgement)
    judgements = _with_common_forms(judgements)
    decided = {judgement.column: judgement for judgement in judgements}
    for view in judged:
        judgements += _codes_for_missing(view, decided.get(view.name))
    scales = [_without_codes(view, judgements) for view in judged if view.name not in decided]
    judgements += whole_number_scales(scales)
    decided |= {judgement.column: judgement for judgement in judgements if judgement.decides}
    judgements += [
        judgement
        for view in judged
        if view.name not in decided and (judgement := many_categories(view)) is not None
    ]
    return judgements


def _suggested(
    views: Sequence[ColumnView], judgements: Sequence[Judgement], wanted: Sequence[str]
) -> list[Judgement]:
    """Orders from the other columns, for requested columns and those whose name suggests a grade."""
    decided = {one.column: one for one in judgements if one.decides}
    orders = {
        name: [value for value, _ in one.changes["categories"]]
        for name, one in decided.items()
        if one.kind is Kind.ORDER
    }
    used = [view for view in views if view.name not in decided or decided[view.name].kind not in LEFT_OUT]
    codes = {
        one.column: [word for word, _ in one.changes["missing"]] for one in judgements if not one.decides
    }
    used = [view.without(codes.get(view.name, ())) if view.name in codes else view for view in used]
    suggested = []
    for view in used:
        if view.name in wanted or (view.name not in decided and CALLED_GRADE.fullmatch(view.name.strip())):
            levels = order_by_data(used, view.name, orders)
            if levels is not None:
                changes = {"categories": tuple((level, None) for level in levels), "ordered": True}
                facts = {"levels": levels, "aside": [], "by_data": True}
                suggested.append(Judgement(Kind.ORDER, view.name, False, changes, facts, key=tuple(levels)))
    return suggested


def _decision(view: ColumnView, table: Table, *, every: bool) -> Judgement | None:
    """The judgement of the first rule that matches."""
    for rule in RULES:
        judgement = rule(view)
        # Values may be unique in the sample but not in all rows.
        if judgement is not None and judgement.kind is Kind.IDENTIFIER and not every and not view.every:
            judgement = rule(column_view(table, view.position))
        if judgement is not None:
            return judgement
    return None


def _with_common_forms(judgements: list[Judgement]) -> list[Judgement]:
    """Resolve ambiguous formats of dates and numbers from other columns of the table."""
    of_dates = iter(dates.with_common_form([one for one in judgements if one.kind is Kind.DATE]))
    of_numbers = iter(
        numbers_in_text.with_common_mark([one for one in judgements if one.kind is Kind.NUMBER])
    )
    rules = {Kind.DATE: of_dates, Kind.NUMBER: of_numbers}
    return [next(rules[one.kind]) if one.kind in rules else one for one in judgements]


def _codes_for_missing(view: ColumnView, decision: Judgement | None) -> list[Judgement]:
    """Judgements on values that stand for a missing one, in addition to the column's main judgement."""
    if decision is not None and decision.kind in LEFT_OUT:
        return []
    judgements = []
    if view.marks:
        facts = {"words": view.marks, "count": 0}
        changes = {"missing": tuple((mark, None) for mark in view.marks)}
        if view.numbers is not None and decision is None:
            changes["type"] = "number"  # type: ignore[assignment]
        key = ("marks", view.marks)
        judgements.append(Judgement(Kind.UNKNOWN, view.name, True, changes, facts, key, decides=False))
    codes = {word for word, _ in decision.changes.get("missing", ())} if decision is not None else set()
    for rule in (sentinel, unknown):
        judgement = rule(view)
        if judgement is not None and not codes & {word for word, _ in judgement.changes["missing"]}:
            judgements.append(judgement)
    return judgements


def _without_codes(view: ColumnView, judgements: Sequence[Judgement]) -> ColumnView:
    codes = [
        word
        for one in judgements
        if one.column == view.name and one.kind is Kind.SENTINEL
        for word, _ in one.changes["missing"]
    ]
    return view.without(codes)


def _folded(judgements: Sequence[Judgement]) -> list[list[Judgement]]:
    """Judgements grouped into lines: same kind and same key."""
    groups: dict[Any, list[Judgement]] = {}
    for judgement in judgements:
        groups.setdefault((judgement.kind, judgement.safe, judgement.key), []).append(judgement)
    return list(groups.values())


def _across(
    views: Sequence[ColumnView], judgements: Sequence[Judgement]
) -> tuple[list[ColumnBlock], list[ColumnBlock], list[Pair]]:
    """Blocks, shared words and redundant pairs among the columns that are clustered."""
    kinds = {
        judgement.column: judgement.kind for judgement in judgements if judgement.safe and judgement.decides
    }
    used = [view for view in views if kinds.get(view.name) not in LEFT_OUT]
    # An empty tick box is an answer, and a list is clustered by its items, not as the column compared here.
    of_gaps = [view for view in used if kinds.get(view.name) is not Kind.TICK]
    single = [view for view in used if kinds.get(view.name) not in (Kind.TICK, Kind.LIST, Kind.TIME)]
    return _with_lists(gap_blocks(of_gaps), of_gaps, kinds), same_words(single), repeated(single)


def _with_lists(
    blocks: Sequence[ColumnBlock], views: Sequence[ColumnView], kinds: Mapping[str, Kind]
) -> list[ColumnBlock]:
    """The blocks, plus one for each other list or date, because these become several columns."""
    in_blocks = {name for block in blocks for name in block.columns}
    alone = [
        ColumnBlock((view.name,), view.missing / view.rows)
        for view in views
        if kinds.get(view.name) in (Kind.LIST, Kind.DATE) and view.name not in in_blocks and view.missing
    ]
    return [*blocks, *alone]


def _recipe(
    judgements: Sequence[Judgement],
    blocks: Sequence[ColumnBlock],
    words: Sequence[ColumnBlock],
    pairs: Sequence[Pair],
) -> Recipe:
    """A recipe with safe judgements as fields and the others as proposals."""
    fields: dict[str, Field] = {}
    proposed: dict[str, Any] = {}
    for judgement in judgements:
        name = judgement.column
        if judgement.safe:
            fields[name] = fields.get(name, Field(name)).changed(judgement.changes)
        if not judgement.safe:
            proposed.setdefault(judgement.kind.value, {})[name] = _proposal(judgement)
        elif judgement.kind is Kind.WEIGHT:
            proposed.setdefault(judgement.kind.value, name)
    for block in words:
        proposed.setdefault(Kind.WORD.value, {})[block.word] = list(block.columns)
    for pair in pairs:
        proposed.setdefault(pair.kind.value, {}).setdefault(pair.other, []).append(pair.column)
    return Recipe(
        tuple(one for one in fields.values() if not one.plain),
        blocks=tuple(block.gaps for block in blocks),
        proposed=proposed,
    )


def _proposal(judgement: Judgement) -> Any:
    """The change to the recipe if the judgement is accepted, as plain values."""
    if judgement.kind is Kind.DATE:
        return judgement.changes["format"]
    if judgement.kind is Kind.TEXT:
        return judgement.facts["different"]
    if judgement.kind is Kind.ORDER:
        return [value for value, _ in judgement.changes["categories"]]
    if judgement.kind is Kind.MANY:
        return list(judgement.facts["frequent"])
    return [value for value, _ in judgement.changes["missing"]]
