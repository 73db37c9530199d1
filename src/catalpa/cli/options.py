"""Options shared by several commands, and the parsing of their values."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from catalpa.errors import ParameterError

Missing = StrEnum("Missing", ["CATEGORY", "IGNORE", "ERROR"])
TablePath = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, Excel, OpenDocument, SPSS, Stata, SAS, Parquet, Arrow or Feather file; "
        "- reads CSV from standard input."
    ),
]
Identifier = Annotated[
    list[str] | None,
    typer.Option("--id", help="Column with the names of the rows; not clustered."),
]
ModelFile = Annotated[Path, typer.Argument(help="model.json written by catalpa cluster.")]
Method = Annotated[str, typer.Option("--method", "-m", help="See: catalpa methods.")]
Columns = Annotated[list[str] | None, typer.Option(help="Use only these columns: a,b,c.")]
Drop = Annotated[list[str] | None, typer.Option(help="Leave these columns out: a,b,c.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; -1 for all cores.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
Stream = Annotated[
    bool,
    typer.Option("--stream", help="Read files larger than memory in batches; a folder or pattern will do."),
]
Memory = Annotated[str | None, typer.Option(help="With --stream: memory for rows, such as 500MB.")]
Against = Annotated[
    str | None, typer.Option(help="Column to cross-tabulate with the clusters; not clustered.")
]
Weight = Annotated[str | None, typer.Option(help="Column with the weight of each row; not clustered.")]
QuoteFormulas = Annotated[
    bool,
    typer.Option("--quote-formulas", help="Put ' before texts that a spreadsheet would run as a formula."),
]
OutputFile = Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")]


# Groups of options in --help, and the parameters of commands in each.
PANELS = {
    "Columns and rows": (
        *("columns", "drop", "id", "weight", "against", "categorical", "missing", "bins", "stream", "memory"),
    ),
    "Preparing the columns": ("accept", "keep", "order", "recipe", "as_is"),
    "Reading the file": (
        *("delimiter", "encoding", "decimal", "na", "sheet", "header", "skip_rows", "codebook"),
    ),
    "Clustering": (
        *("k", "method", "n_init", "max_clusters", "seed", "like", "jobs", "least", "most", "repeats"),
    ),
    "Output": (
        *("output", "report", "json", "reasons", "proba", "suggested_names", "quote_formulas", "force"),
        *("title", "made", "md", "xlsx", "pptx", "charts", "form", "form_columns", "append", "without_rows"),
        *("save", "files"),
    ),
}


def _in_panel(parameter: Parameter) -> None:
    """Put an option into its group of --help, if it has one."""
    panel = next((panel for panel, names in PANELS.items() if parameter.name in names), None)
    for one in getattr(parameter.annotation, "__metadata__", ()):
        if panel is not None and isinstance(one, typer.models.OptionInfo):
            one.rich_help_panel = panel


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one option for every field of those parameters that are dataclasses.

    Typer knows single options only; a dataclass collects options shared by several commands.
    """
    parameters = signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {
        at: one.annotation for at, one in parameters.items() if is_dataclass(one.annotation)
    }
    fields = {name: signature(group, eval_str=True).parameters for name, group in groups.items()}

    @wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(**{field: options.pop(field) for field in fields[name]})
        command(**options)

    flat = [one for name in parameters for one in fields.get(name, {name: parameters[name]}).values()]
    for parameter in flat:
        _in_panel(parameter)
    vars(run)["__signature__"] = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in flat])
    return run


@dataclass(frozen=True)
class TextFile:
    """Options for splitting a CSV file into cells."""

    delimiter: Annotated[
        str | None,
        typer.Option(help=r"Delimiter of a CSV file, such as ';' or '\t'. Detected if not given."),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of a CSV file, such as latin-1. Detected if not given.")
    ] = None

    @property
    def reading(self) -> dict[str, Any]:
        """The same for ``read_table``."""
        # A shell passes \t as two characters.
        delimiter = "\t" if self.delimiter in ("\\t", "tab") else self.delimiter
        return {"delimiter": delimiter, "encoding": self.encoding}


@dataclass(frozen=True)
class CsvFile(TextFile):
    """Options for reading names and cells of a file, and their meaning."""

    decimal: Annotated[str, typer.Option(help="Decimal mark of a CSV file: . or , as in 1,5.")] = "."
    na: Annotated[
        list[str] | None,
        typer.Option("--na", help="Texts in a CSV file that mark missing values, like empty cells: -,?"),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of a workbook, by name or number. The longest if not given.")
    ] = None
    header: Annotated[
        str | None,
        typer.Option(
            help="Row with the names of the columns: 3, two rows: 3,4, or none. Detected if not given."
        ),
    ] = None
    skip_rows: Annotated[
        str | None, typer.Option("--skip-rows", help="Rows of the file to leave out: 1105 or 1-3,1105.")
    ] = None
    codebook: Annotated[
        str | None,
        typer.Option(help="File with the columns column, code, label, order: labels in place of codes."),
    ] = None

    @property
    def reading(self) -> dict[str, Any]:
        rows = {"header": header_rows(self.header), "skip_rows": row_numbers("--skip-rows", self.skip_rows)}
        arguments = {"sheet": self.sheet, **rows}
        return {
            **super().reading,
            "decimal": self.decimal,
            "na": listed(self.na) or (),
            **{name: value for name, value in arguments.items() if value is not None},
        }


@dataclass(frozen=True)
class Cells:
    """Options for the interpretation of cells."""

    categorical: Annotated[
        list[str] | None,
        typer.Option(help="The categorical columns: a,b,c. Decided by type if not given."),
    ] = None
    missing: Annotated[
        Missing, typer.Option(help="Treat missing values as a category, ignore them, or raise an error.")
    ] = Missing.CATEGORY
    bins: Annotated[
        int | None, typer.Option(min=2, help="Cut numbers into this many bins, for methods without numbers.")
    ] = None

    @property
    def settings(self) -> dict[str, Any]:
        """The same for an estimator."""
        columns = listed(self.categorical)
        return {"missing": self.missing.value, "categorical_features": columns, "bins": self.bins}


@dataclass(frozen=True)
class Proposals:
    """Options for decisions about findings."""

    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", help="Apply proposals of this kind: sentinel, copy, order; repeatable."),
    ] = None
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="Leave these columns as they are: a,b,c.")
    ] = None
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order",
            help="Order of a column: 'Age=18-29<30-44<45-60'; 'Age=?' proposes one.",
        ),
    ] = None


@dataclass(frozen=True)
class Preparing(Proposals):
    """Options for preparing a table."""

    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Recipe written by catalpa look --save (JSON or TOML).")
    ] = None
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Cluster the table as it is, without inspecting it first.")
    ] = False


def header_rows(text: str | None) -> tuple[int, ...] | None:
    """Rows of names given as ``3``, ``3,4`` or ``none``.

    Examples
    --------
    >>> header_rows("1,2"), header_rows("none"), header_rows(None)
    ((1, 2), (), None)
    """
    return () if text is not None and text.strip().lower() == "none" else row_numbers("--header", text)


def row_numbers(option: str, text: str | None) -> tuple[int, ...] | None:
    """Numbers of rows given as ``1-3,1105``.

    Examples
    --------
    >>> row_numbers("--skip-rows", "1-3,1105")
    (1, 2, 3, 1105)
    """
    if text is None:
        return None
    rows: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]+)(?:\s*-\s*([0-9]+))?\s*", part)
        if match is None or int(match[1]) < 1:
            raise ParameterError(
                f"{option} is {text!r}; give numbers of rows, counted from 1, such as 3 or 1-3,1105."
            )
        rows.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(rows)


# Settings whose option is not their own name with dashes.
SPELLED = {"n_clusters": "-k", "categorical_features": "--categorical", "n_jobs": "--jobs"}


def option_of(setting: str) -> str:
    """The command-line option of an estimator's setting.

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
    # CSV rules, because column names may contain commas.
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row]


def identifier_of(names: Sequence[str] | None) -> str | None:
    """The one column that names the rows, if any."""
    # A list, because otherwise a repeated option would silently use the last value.
    if names and len(names) > 1:
        raise ParameterError(
            f"--id is given {len(names)} times: {', '.join(names)}. One column names the rows; "
            "--drop the others."
        )
    return names[0] if names else None
