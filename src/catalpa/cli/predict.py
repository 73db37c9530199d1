"""``catalpa predict``: the clusters of new rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalpa.cli import options
from catalpa.cli.inputs import Asked, Input, take
from catalpa.cli.options import identifier_of
from catalpa.cli.outputs import (
    check_free,
    check_probabilities,
    csv_parts,
    doubt_columns,
    given_names,
    label_columns,
    write_texts,
)
from catalpa.cli.terminal import Terminal
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from catalpa.estimator.base import Clusterer


def predict(
    model: options.ModelFile,
    table: options.TablePath,
    id: options.Identifier = None,  # noqa: A002 - the option is called --id
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = ".",
    na: options.MissingTexts = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add probabilities, borders and outlier scores; for Grove.")
    ] = False,
    stream: options.Stream = False,
    memory: options.Memory = None,
    output: options.OutputFile = None,
    quote_formulas: options.QuoteFormulas = False,
    force: options.Force = False,
    json: options.AsJson = False,
    quiet: options.Quiet = False,
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

    terminal = Terminal(quiet)
    if stream and json:
        raise ParameterError("--json holds all labels at once. Leave it out with --stream, or use -o.")
    check_free(output, force=force)
    with terminal.listening():
        fitted = load(model)
        names = list(fitted.schema_.inputs)
        # Other columns of a wide file are not even read.
        named = identifier_of(id)
        wanted = names if named is None or named in names else [*names, named]
        asked = Asked(table, wanted, None, None, delimiter, encoding, None, decimal, None, na)
        given = take(asked, stream=stream, memory=memory)
        if proba:
            check_probabilities(fitted)
        labelled: Iterable[pa.Table] = _labelled(fitted, given, named, proba=proba)
        # As they come: labels of files larger than memory are written while rows are read.
        labelled = list(labelled) if json else labelled
        texts = csv_parts(labelled, quote_formulas=quote_formulas)
        if output is not None or not json:
            write_texts(output, texts)
            terminal.wrote(output)
    if json:
        # The labels stand behind identifiers, whatever these are called.
        at = 0 if id is None else 1
        labels = [label for part in labelled for label in part.column(at).to_pylist()]
        files = [] if output is None else [str(output)]
        told = {"labels": labels, "files": files, "warnings": terminal.warnings}
        if proba:
            told |= _doubts(labelled, fitted.n_clusters_)
        terminal.show_json(told)


def _doubts(labelled: Iterable[pa.Table], k: int) -> dict[str, list[Any]]:
    """What ``doubt_columns`` put last into the tables, row by row."""
    import pyarrow as pa

    whole = pa.concat_tables(labelled)
    *shares, border, outlier = (whole.column(at).to_pylist() for at in range(-k - 2, 0))
    return {"probabilities": list(zip(*shares, strict=True)), "borders": border, "outliers": outlier}


def _labelled(
    fitted: Clusterer,
    given: Input,
    id: str | None,  # noqa: A002
    *,
    proba: bool,
) -> Iterator[pa.Table]:
    """The labels of a table's rows behind their identifiers, table by table."""
    names = given_names(fitted)
    for rows in given.tables():
        known = rows.select(list(fitted.schema_.inputs))
        labels = fitted.predict(known)
        beside = doubt_columns(fitted, known, labels) if proba else {}
        yield label_columns(labels, None if id is None else rows.select([id]), names, beside)
