"""Tables that a command reads, and the tables of labels that it writes.

Commands import this module when they run, because it loads large libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from catalpa.cli.options import CsvFile
from catalpa.cli.outputs import LABELS, MODEL, PROFILES, write_together
from catalpa.errors import ParameterError, TableError, UnknownColumn, columns_hint
from catalpa.estimator.base import Clusterer
from catalpa.estimator.model_json import model_document
from catalpa.estimator.problem import fitted_of
from catalpa.explain.borders import border_by_probability
from catalpa.model.file import model_text
from catalpa.table.blocks import FloatArray
from catalpa.table.codebook import Codebook
from catalpa.table.files.dialect import Dialect, FileFinding
from catalpa.table.files.scan import scan
from catalpa.table.files.sources import read_codebook, read_file

# First characters of cells that spreadsheets run as formulas; some programs skip the last two.
FORMULA = r"^([=+\-@\t\r])"


@dataclass(frozen=True)
class TableSource:
    """The table named by the user, how to read it, and the columns to use."""

    path: str
    csv: CsvFile
    columns: list[str] | None = None
    drop: list[str] | None = None
    id: str | None = None
    weight: str | None = None
    against: str | None = None
    dialect: Dialect | None = None  # of a recipe; options take precedence

    @property
    def aside(self) -> dict[str, str]:
        """Columns that are read but not clustered, by option."""
        named = {"--id": self.id, "--weight": self.weight, "--against": self.against}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def reading(self) -> dict[str, Any]:
        """How to open the table; columns that are not clustered are always read."""
        aside, columns = list(dict.fromkeys(self.aside.values())), self.columns
        return {
            # Otherwise --columns would drop the column with the names of the rows.
            "columns": columns and [*columns, *(name for name in aside if name not in columns)],
            "drop": [name for name in self.drop or [] if name not in aside] or None,
            **self.csv.reading,
            "dialect": self.dialect,
        }


@dataclass(frozen=True, eq=False)
class Input:
    """A table in memory, with identifiers, weights and other columns of its rows."""

    rows: Any  # what is given to ``fit``
    identifiers: Any = None  # identifiers: a table of one column
    names: Any = None  # the same as a series; the name of the column in files that are streamed
    weights: FloatArray | str | None = None  # the name of the column if files are streamed
    against: Any = None  # the column to cross-tabulate, or its name
    notes: tuple[str, ...] = ()  # how the file was read, in sentences
    findings: tuple[FileFinding, ...] = ()  # the same as findings
    dialect: Dialect | None = None  # how the file is laid out
    codebook: Codebook | None = None  # titles and labels, if there are any
    labels_from: str | None = None  # name of the file of the codebook
    files: Any = None  # with all columns, if they are streamed

    @property
    def reported(self) -> Any:
        """The input of ``report``."""
        return self.rows if self.files is None else self.files

    def tables(self) -> Iterator[pa.Table]:
        """The rows as tables in memory, one after another."""
        yield self.rows

    def labels(self, model: Clusterer, *, proba: bool) -> Iterator[pa.Table]:
        """Tables of identifiers and labels of the fit; with probabilities if requested."""
        doubts = border_columns(model, self.rows, model.labels_) if proba else {}
        start = 0
        for rows, identifiers in self._pieces(len(model.labels_)):
            here = slice(start, start + rows)
            block_doubts = {name: values[here] for name, values in doubts.items()}
            yield label_columns(model, model.labels_[here], identifiers, block_doubts)
            start += rows

    def _pieces(self, rows: int) -> Iterator[tuple[int, pa.Table | None]]:
        """Number of rows and identifiers of each part of the labels."""
        yield rows, self.identifiers


class StreamedInput(Input):
    """Files read in batches: a scan of the rows, and another one of the identifiers."""

    def tables(self) -> Iterator[pa.Table]:
        batches: Iterator[pa.Table] = self.rows.batches()
        return batches

    def _pieces(self, rows: int) -> Iterator[tuple[int, pa.Table | None]]:
        # In batches, because the text of all labels may be larger than memory.
        if self.identifiers is None:
            yield from ((self.rows.rows_per_batch, None) for _ in range(0, rows, self.rows.rows_per_batch))
        else:
            yield from ((batch.num_rows, batch) for batch in self.identifiers.batches())


def open_input(source: TableSource, *, stream: bool = False, memory: str | None = None) -> Input:
    """The rows named by the user, in memory or in batches."""
    if memory is not None and not stream:
        raise ParameterError("--memory goes with --stream: without it all rows are in memory together.")
    # The default of catalpa.scan.
    return _streamed(source, memory or "500MB") if stream else _in_memory(source)


def _in_memory(source: TableSource) -> Input:
    file = read_file(source.path, **source.reading)
    codebook, rows = file.codebook, file.table
    if source.csv.codebook is not None:
        book = read_codebook(source.csv.codebook)
        book.check(rows.column_names, source.csv.codebook)
        codebook, rows = (codebook or Codebook()).updated(book), book.apply(rows)
    _check_there(source.aside, rows.column_names)
    has_labels = codebook is not None and any(one.answers for one in codebook.columns.values())
    return Input(
        rows.drop_columns(list(set(source.aside.values()))),
        None if source.id is None else rows.select([source.id]),
        _series(source.id, rows),
        None if source.weight is None else weights_of(source.weight, rows),
        _series(source.against, rows),
        tuple(finding.message for finding in file.findings),
        file.findings,
        file.dialect,
        codebook,
        Path(source.csv.codebook or source.path).name if has_labels else None,
    )


@contextmanager
def read_as_at_fit(model: Clusterer, data: Input) -> Iterator[None]:
    """Name the codebook of the fit in errors about a table that is read without one."""
    try:
        yield
    except TableError as error:
        if hint := codebook_hint(model, data):
            raise TableError(f"{error} {hint}") from error
        raise


def codebook_hint(model: Clusterer, data: Input) -> str:
    """What to do if only the table of the fit had labels; empty if that is not so."""
    recipe = fitted_of(model).recipe
    if recipe is None or recipe.codebook is None or data.codebook is not None:
        return ""
    return (
        f"The table of the fit had the labels of {recipe.codebook!r} in place of codes: give --codebook "
        f"{recipe.codebook} if this table holds the codes."
    )


def _series(name: str | None, rows: pa.Table) -> Any:
    """A column as a series, which knows its name."""
    return None if name is None else rows.column(name).to_pandas().rename(name)


def weights_of(name: str, rows: pa.Table) -> FloatArray:
    """The column of weights as numbers; a missing one is refused at fit."""
    try:
        return np.asarray(rows.column(name).cast(pa.float64()), dtype=np.float64)
    except pa.ArrowInvalid as error:
        raise ParameterError(f"--weight names {name!r}, which holds more than numbers ({error}).") from error


def _streamed(source: TableSource, memory: str) -> StreamedInput:
    if source.csv.codebook is not None:
        raise ParameterError("--codebook needs the rows in memory together. Leave out --stream.")
    reading = source.reading
    if reading.pop("sheet", None) is not None:
        raise ParameterError("--sheet needs the workbook in memory. Leave out --stream.")
    files = scan(source.path, **reading, memory=memory)
    notes = tuple(finding.message for finding in files.findings)
    if not source.aside:
        return StreamedInput(files, notes=notes, files=files)
    _check_there(source.aside, files.names)
    # Separate scans of the same files, so that a fit does not read other columns in every pass.
    columns = tuple(name for name in files.names if name not in (source.id, source.against))
    identifiers = None if source.id is None else files.only((source.id,))
    rows = files.only(columns)
    return StreamedInput(rows, identifiers, source.id, source.weight, source.against, notes, files=files)


def _check_there(aside: dict[str, str], names: Iterable[str]) -> None:
    for option, name in aside.items():
        if name not in names:
            raise UnknownColumn(
                f"{option} names {name!r}, which is not a column. {columns_hint(name, names)}"
            )


def predicted_labels(model: Clusterer, data: Input, named: str | None, *, proba: bool) -> Iterator[pa.Table]:
    """Tables of identifiers and labels of new rows."""
    for rows in data.tables():
        known = rows.select(list(model.schema_.inputs))
        labels = model.predict(known)
        doubts = border_columns(model, known, labels) if proba else {}
        yield label_columns(model, labels, None if named is None else rows.select([named]), doubts)


def label_columns(
    model: Clusterer, labels: Any, identifiers: Any = None, doubts: Mapping[str, Any] | None = None
) -> pa.Table:
    """The table of labels.csv: identifiers, ``cluster``, names and probabilities, if any."""
    cluster = pa.array(labels)
    known = pa.array(labels, mask=np.asarray(labels) < 0)  # outliers have no cluster
    names = {"cluster_name": pa.array(model.cluster_names_).take(known)} if fitted_of(model).names else {}
    columns = pa.table({"cluster": cluster, **names, **(doubts or {})})
    if identifiers is None:
        return columns
    # The identifier may be called "cluster" too; Arrow allows duplicate names.
    head = [*identifiers.column_names, *columns.column_names]
    return pa.table([*identifiers.columns, *columns.columns], head)


def border_columns(model: Clusterer, rows: Any, labels: Any) -> dict[str, Any]:
    """Probabilities of rows, the cluster across the border where a row is on one, and outlier scores."""
    probabilities = np.asarray(model.predict_proba(rows))
    labels = np.where(np.asarray(labels) < 0, probabilities.argmax(axis=1), labels)
    across = border_by_probability(labels, probabilities)
    shares = {f"probability_{cluster}": share for cluster, share in enumerate(probabilities.T.round(6))}
    outliers = np.asarray(model.outlier_scores(rows)).round(3)
    return {**shares, "border": pa.array(across, mask=across < 0), "outlier_score": outliers}


def csv_text(frame: Any, *, header: bool = True, quote_formulas: bool = False, delimiter: str = ",") -> str:
    r"""A frame of any library as CSV; columns of integers with missing values stay integers, NaN is empty.

    ``quote_formulas`` puts an apostrophe before names and texts that a spreadsheet would run as a formula.

    Examples
    --------
    >>> import pyarrow as pa
    >>> csv_text(pa.table({"a": [1, None], "b": [float("nan"), 0.5]}))
    'a,b\n1,\n,0.5\n'
    >>> csv_text(pa.table({"a": ["=1+1", "1-1"], "b": [-1, 1]}), quote_formulas=True)
    "a,b\n'=1+1,-1\n1-1,1\n"
    """
    # Via Arrow types: pandas would write integers with missing values as 1.0.
    table = nw.from_native(frame).to_arrow()
    for at, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            numbers = pc.if_else(pc.is_nan(table.column(at)), pa.scalar(None, field.type), table.column(at))
            table = table.set_column(at, field, numbers)
    table = without_formulas(table) if quote_formulas else table
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return str(frame.to_csv(index=False, header=header, sep=delimiter, lineterminator="\n"))


def without_formulas(table: pa.Table) -> pa.Table:
    """The same table with an apostrophe before every name and text that begins like a formula."""
    for at, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            texts = table.column(at).cast(pa.large_string())
            quoted = pc.replace_substring_regex(texts, pattern=FORMULA, replacement=r"'\1")
            table = table.set_column(at, pa.field(field.name, quoted.type), quoted)
    return table.rename_columns([re.sub(FORMULA, r"'\1", name) for name in table.column_names])


def csv_parts(tables: Iterable[pa.Table], *, quote_formulas: bool = False) -> Iterator[str]:
    r"""Tables with the same columns as the text of one CSV file, piece by piece.

    Examples
    --------
    >>> import pyarrow as pa
    >>> list(csv_parts([pa.table({"a": [1]}), pa.table({"a": [2, 3]})]))
    ['a\n1\n', '2\n3\n']
    """
    for at, table in enumerate(tables):
        yield csv_text(table, header=at == 0, quote_formulas=quote_formulas)


def write_results(
    folder: Path, model: Clusterer, labels: Iterable[pa.Table] = (), *, quote_formulas: bool = False
) -> list[Path]:
    """Write labels (table by table; those of the fit if none are given), model and profiles; gives paths."""
    tables = labels or [label_columns(model, model.labels_)]
    files = {
        MODEL: [model_text(model_document(model))],
        PROFILES: [csv_text(model.profiles_, quote_formulas=quote_formulas)],
        LABELS: csv_parts(tables, quote_formulas=quote_formulas),
    }
    # Labels are only useful with their model.
    write_together(folder, list(files.items()))
    return [folder / name for name in (LABELS, MODEL, PROFILES)]
