"""``catalpa predict``: the clusters of new rows."""

from __future__ import annotations

from typing import Annotated

import typer

from catalpa.cli import options, outputs
from catalpa.cli.options import identifier_of
from catalpa.cli.terminal import JsonTerminal
from catalpa.errors import ParameterError


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
    """Assign new rows to clusters with a saved model.

    The table may have more columns than the model, in any order. Labels go to standard output as CSV,
    or to a file.

    For example:

        catalpa predict out/model.json new.csv > labels.csv

        catalpa predict out/model.json new.csv --id person -o labels.csv

        catalpa predict out/model.json new.csv --proba -o labels.csv

        catalpa predict out/model.json "new/*.parquet" --stream -o labels.csv
    """
    if stream and terminal.json:
        raise ParameterError("--json holds all labels at once. Leave it out with --stream, or use -o.")
    outputs.check_free(output, force=force)
    # Imported late, so that invalid options are reported at once.
    from catalpa.cli.tables import TableSource, csv_parts, open_input, predicted_labels, read_as_at_fit
    from catalpa.cluster.registry import load

    with terminal.listening():
        fitted = load(model)
        names = list(fitted.schema_.inputs)
        # Other columns of a wide file are not read.
        named = identifier_of(id)
        wanted = names if named is None or named in names else [*names, named]
        with terminal.reading(table):
            data = open_input(TableSource(table, csv, wanted), stream=stream, memory=memory)
        terminal.say_all(data.notes)
        if proba:
            outputs.check_proba(type(fitted))
        with read_as_at_fit(fitted, data):
            labels = predicted_labels(fitted, data, named, proba=proba)
            # Written while rows are read, for files larger than memory.
            labelled = list(labels) if terminal.json else labels
            if output is not None or not terminal.json:
                outputs.write_texts(output, csv_parts(labelled, quote_formulas=quote_formulas))
                terminal.wrote(output)
    if terminal.json:
        (table_of_labels,) = labelled  # a single table, because it is not streamed
        columns = [column.to_pylist() for column in table_of_labels.columns]
        files = [] if output is None else [str(output)]
        # Labels come after identifiers, by position, because names may coincide.
        record = {"labels": columns[0 if named is None else 1], "files": files, "warnings": terminal.warnings}
        if proba:
            *shares, border, scores = columns[-fitted.n_clusters_ - 2 :]
            record |= {"probabilities": list(zip(*shares, strict=True)), "borders": border}
            record |= {"outlier_scores": scores}
        terminal.show_json(record)
