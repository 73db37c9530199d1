"""``catalpa predict``: the clusters of new rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from catalpa.cli import options, outputs
from catalpa.cli.inputs import Asked, Input, take
from catalpa.cli.options import identifier_of
from catalpa.cli.terminal import JsonTerminal
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from catalpa.estimator.base import Clusterer


def predict(
    model: options.ModelFile,
    table: options.TablePath,
    *,
    id: options.Identifier = None,  # noqa: A002 - the option is called --id
    csv: options.CsvFile,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add probabilities, borders and outlier scores; for Grove.")
    ] = False,
    stream: options.Stream = False,
    memory: options.Memory = None,
    output: options.OutputFile = None,
    quote_formulas: options.QuoteFormulas = False,
    force: options.Force = False,
    terminal: JsonTerminal,
) -> None:
    """Find the clusters of new rows with a model that was kept.

    The table may have more columns than the model, in any order. Labels go to standard output as CSV,
    or to a file.

    For example:

        catalpa predict out/model.json new.csv > labels.csv

        catalpa predict out/model.json new.csv --id person -o labels.csv

        catalpa predict out/model.json new.csv --proba -o labels.csv

        catalpa predict out/model.json "new/*.parquet" --stream -o labels.csv
    """
    from catalpa.cluster.registry import load

    if stream and terminal.json:
        raise ParameterError("--json holds all labels at once. Leave it out with --stream, or use -o.")
    outputs.check_free(output, force=force)
    with terminal.listening():
        fitted = load(model)
        names = list(fitted.schema_.inputs)
        # Other columns of a wide file are not even read.
        named = identifier_of(id)
        wanted = names if named is None or named in names else [*names, named]
        given = take(Asked(table, csv, wanted), stream=stream, memory=memory)
        if proba:
            outputs.check_proba(type(fitted))
        labelled: Iterable[pa.Table] = _labelled(fitted, given, named, proba=proba)
        # As they come: labels of files larger than memory are written while rows are read.
        labelled = list(labelled) if terminal.json else labelled
        if output is not None or not terminal.json:
            outputs.write_texts(output, outputs.csv_parts(labelled, quote_formulas=quote_formulas))
            terminal.wrote(output)
    if terminal.json:
        (table_of_labels,) = labelled  # one, since nothing is streamed
        columns = [column.to_pylist() for column in table_of_labels.columns]
        files = [] if output is None else [str(output)]
        # The labels stand behind identifiers, whatever these are called.
        told = {"labels": columns[0 if named is None else 1], "files": files, "warnings": terminal.warnings}
        if proba:
            *shares, border, outlier = columns[-fitted.n_clusters_ - 2 :]
            told |= {"probabilities": list(zip(*shares, strict=True)), "borders": border, "outliers": outlier}
        terminal.show_json(told)


def _labelled(fitted: Clusterer, given: Input, named: str | None, *, proba: bool) -> Iterator[pa.Table]:
    """The labels of a table's rows behind their identifiers, table by table."""
    for rows in given.tables():
        known = rows.select(list(fitted.schema_.inputs))
        labels = fitted.predict(known)
        doubts = outputs.doubt_columns(fitted, known, labels) if proba else {}
        yield outputs.label_columns(fitted, labels, None if named is None else rows.select([named]), doubts)
