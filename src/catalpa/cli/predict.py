"""``catalpa predict``: the clusters of new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from catalpa.cli.drift import as_at_fit
from catalpa.cli.options import AsJson, Delimiter, Encoding, Force, OutputFile, Quiet, TablePath, delimiter_of
from catalpa.cli.outputs import check_free, csv_text, label_columns, make_folder, write_text
from catalpa.cli.terminal import Terminal

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(help="model.json that catalpa cluster wrote.")],
    table: TablePath,
    id: Annotated[  # noqa: A002 - the option is called --id
        str | None, typer.Option(help="Column that names the rows: kept beside their clusters.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    output: OutputFile = None,
    force: Force = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the clusters of new rows with a model that was kept.

    The table may have more columns than the model, in any order. Labels go to standard output as CSV,
    or to a file.

    For example:

        catalpa predict out/model.json new.csv > labels.csv

        catalpa predict out/model.json new.csv --id person -o labels.csv
    """
    from catalpa.cluster.registry import load
    from catalpa.table.sources import read_table

    terminal = Terminal(quiet)
    if output is not None:
        check_free([output], force=force)
    with terminal.listening():
        fitted = load(model)
        names = list(fitted.schema_.names)
        wanted = names if id is None or id in names else [*names, id]
        rows = read_table(table, delimiter=delimiter_of(delimiter), encoding=encoding, columns=wanted)
        labels = fitted.predict(as_at_fit(rows, fitted.schema_))
    text = csv_text(label_columns(labels, None if id is None else rows.select([id])))
    if output is not None:
        make_folder(output.absolute().parent)
        write_text(output, text)
        terminal.say(f"wrote {output}")
    if json:
        files = [] if output is None else [str(output)]
        terminal.show_json({"labels": labels.tolist(), "files": files, "warnings": terminal.warnings})
    elif output is None:
        print(text, end="")
