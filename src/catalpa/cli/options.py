"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from catalpa.errors import ParameterError

Missing = StrEnum("Missing", ["CATEGORY", "IGNORE", "ERROR"])
TablePath = Annotated[
    str,
    typer.Argument(help="CSV, TSV, Parquet, Arrow, Feather or Excel file; - reads CSV from standard input."),
]
Identifier = Annotated[
    list[str] | None,
    typer.Option("--id", help="Column that names the rows: not clustered, kept beside their clusters."),
]
ModelFile = Annotated[Path, typer.Argument(help="model.json that catalpa cluster wrote.")]
Method = Annotated[str, typer.Option("--method", "-m", help="See: catalpa methods.")]
Columns = Annotated[list[str] | None, typer.Option(help="Use only these columns: a,b,c.")]
Drop = Annotated[list[str] | None, typer.Option(help="Leave these columns out: a,b,c.")]
Categorical = Annotated[
    list[str] | None,
    typer.Option(help="Exactly these columns hold categories: a,b,c. Decided by type if not given."),
]
MissingCells = Annotated[
    Missing, typer.Option(help="Missing cells are a category, are left out of the sum, or are refused.")
]
Bins = Annotated[
    int | None, typer.Option(min=2, help="Cut numbers into this many bins, for methods without numbers.")
]
Jobs = Annotated[int | None, typer.Option(help="Threads; -1 for all cores.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and JSON if asked for.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite files that are there.")]
Delimiter = Annotated[
    str | None,
    typer.Option(help=r"Between the fields of a CSV file, such as ';' or '\t'. Found if not given."),
]
Encoding = Annotated[str | None, typer.Option(help="Of a CSV file, such as latin-1. Found if not given.")]
Decimal = Annotated[
    str, typer.Option(help="Before the fraction of a number in a CSV file: . or , as in 1,5.")
]
MissingTexts = Annotated[
    list[str] | None,
    typer.Option("--na", help="What stands for a missing cell in a CSV file, besides empty ones: -,?"),
]
Stream = Annotated[
    bool,
    typer.Option("--stream", help="Read files larger than memory in batches; a folder or pattern will do."),
]
Memory = Annotated[str | None, typer.Option(help="With --stream: what rows may take, such as 500MB.")]
Against = Annotated[
    str | None, typer.Option(help="Column to cross with the clusters; it takes no part in them.")
]
Weight = Annotated[str | None, typer.Option(help="Column that says how much each row counts; not clustered.")]
QuoteFormulas = Annotated[
    bool,
    typer.Option("--quote-formulas", help="Put ' before texts that a spreadsheet would run as a formula."),
]
OutputFile = Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")]


# Settings whose option is not their own name with dashes.
SPELLED = {"n_clusters": "-k", "categorical_features": "--categorical", "n_jobs": "--jobs"}


def option_of(setting: str) -> str:
    """How a setting of an estimator is given on the command line.

    Examples
    --------
    >>> option_of("n_clusters"), option_of("n_init")
    ('-k', '--n-init')
    """
    return SPELLED.get(setting, "--" + setting.replace("_", "-"))


def listed(texts: Sequence[str] | None) -> list[str] | None:
    """Names given as ``a,b`` or by repeating the option; quotes protect a comma inside a name.

    Examples
    --------
    >>> listed(["a,b", '"last, first"'])
    ['a', 'b', 'last, first']
    >>> listed(None) is None
    True
    """
    if not texts:
        return None
    # The rules of CSV, since names of columns come from such files and may hold commas.
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row]


def identifier_of(names: Sequence[str] | None) -> str | None:
    """The one column that names the rows, if any."""
    # A list, since an option that may be repeated by mistake would silently take the last.
    if names and len(names) > 1:
        raise ParameterError(
            f"--id is given {len(names)} times: {', '.join(names)}. One column names the rows; "
            "--drop the others."
        )
    return names[0] if names else None


def delimiter_of(text: str | None) -> str | None:
    """A delimiter as shells let one type it."""
    # A shell hands \t over as two letters.
    return "\t" if text in ("\\t", "tab") else text
