"""Files that a command writes: looked at before the work, written whole."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalpa.cli.options import Force, OutputFile
from catalpa.errors import OutputError, ParameterError
from catalpa.files import open_atomically, told_as

if TYPE_CHECKING:
    import pyarrow as pa

    from catalpa.estimator.base import Clusterer

LABELS, MODEL, PROFILES, REPORT = "labels.csv", "model.json", "profiles.csv", "report.html"
# How a cell begins that spreadsheets run; the last two, since some skip them before they look.
FORMULA = r"^([=+\-@\t\r])"


@dataclass(frozen=True)
class Destination:
    """Where the one text that a command writes goes: to a file, or to standard output."""

    output: OutputFile = None
    force: Force = False

    def check(self) -> None:
        """Raise before the work begins if the text could not, or must not, be written after it."""
        check_free(self.output, force=self.force)

    def write(self, text: str) -> None:
        write_texts(self.output, [text])


def check_free(*paths: Path | None, force: bool) -> None:
    """Raise before the work begins if a file could not, or must not, be written after it; None is no file."""
    wanted = [path for path in paths if path is not None]
    for path in wanted:
        with told_as(OutputError, f"{str(path)!r} cannot be written"):
            _check_place(path)  # which may not look into a folder above it
    # A device or a pipe is written to, not overwritten.
    there = [str(path) for path in wanted if path.is_file()]
    if there and not force:
        raise OutputError(
            f"Already there: {', '.join(there)}. Use --force to overwrite, or name another place with -o."
        )


def _check_place(path: Path) -> None:
    # The folder may be one that is only made later: the nearest above it decides.
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise OutputError(f"{str(path)!r} cannot be written: {str(folder)!r} is a file, not a folder.")
    # Of the user that the program runs as, where the system can tell, and not of the one who started it.
    if not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise OutputError(
            f"{str(path)!r} cannot be written: the folder {str(folder)!r} is not yours to write."
        )
    if path.is_dir():
        raise OutputError(f"{str(path)!r} cannot be written: it is a folder. Name a file.")


def write_results(
    folder: Path, model: Clusterer, labels: Iterable[pa.Table] = (), *, quote_formulas: bool = False
) -> list[Path]:
    """Write labels (table by table; those of the fit if none are given), model and profiles; gives paths."""
    tables = labels or [label_columns(model, model.labels_)]
    write_texts(folder / LABELS, csv_parts(tables, quote_formulas=quote_formulas))
    model.save(folder / MODEL)
    write_text(folder / PROFILES, csv_text(model.profiles_, quote_formulas=quote_formulas))
    return [folder / name for name in (LABELS, MODEL, PROFILES)]


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, if it is not there."""
    with told_as(OutputError, f"The folder {str(folder)!r} cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a text file that is there completely or not at all; gives its path."""
    write_texts(path, [text])
    return path


def write_texts(path: Path | None, texts: Iterable[str]) -> None:
    """Write a text as its pieces come: to standard output, or to a file that is there completely or not."""
    if path is None:
        for text in texts:
            print(text, end="")
        return
    make_folder(path.absolute().parent)
    told = partial(told_as, OutputError, f"{str(path)!r} cannot be written")
    with ExitStack() as written:
        with told():
            stream = written.enter_context(open_atomically(path))
        # The next piece is made outside: a file that it is read from may fail too, and is not this one.
        for text in texts:
            with told():
                stream.write(text.encode("utf-8"))
        with told():
            written.close()


def label_columns(
    model: Clusterer, labels: Any, identifiers: Any = None, doubts: Mapping[str, Any] | None = None
) -> pa.Table:
    """The table of labels.csv: identifiers if there are any, ``cluster``, its name if it has one, doubts."""
    import pyarrow as pa

    from catalpa.estimator.fitted import fitted_of

    cluster = pa.array(labels)
    names = {"cluster_name": pa.array(model.cluster_names_).take(cluster)} if fitted_of(model).names else {}
    made = pa.table({"cluster": cluster, **names, **(doubts or {})})
    if identifiers is None:
        return made
    # A user may have called the identifier "cluster"; Arrow allows the name twice, and both are wanted.
    head = [*identifiers.column_names, *made.column_names]
    return pa.table([*identifiers.columns, *made.columns], head)


def check_proba(method: type[Clusterer]) -> None:
    """Raise where a method has no probabilities to write."""
    if not hasattr(method, "predict_proba"):
        raise ParameterError(
            f"{method.__name__} puts a row wholly into one cluster and has no probabilities. "
            "Leave out --proba, or fit Grove."
        )


def doubt_columns(model: Clusterer, rows: Any, labels: Any) -> dict[str, Any]:
    """Probabilities of rows, the cluster across the border where a row is on one, and outlier scores."""
    import numpy as np
    import pyarrow as pa

    from catalpa.relations.doubt import border_by_probability

    probabilities = np.asarray(model.predict_proba(rows))
    across = border_by_probability(np.asarray(labels), probabilities)
    shares = {f"probability_{cluster}": share for cluster, share in enumerate(probabilities.T.round(6))}
    outliers = np.asarray(model.outlier_scores(rows)).round(3)
    return {**shares, "border": pa.array(across, mask=across < 0), "outlier": outliers}


def csv_text(frame: Any, *, header: bool = True, quote_formulas: bool = False) -> str:
    r"""A frame of any library as CSV, whole numbers with gaps kept whole; what is not a number is a gap.

    ``quote_formulas`` puts an apostrophe before names and texts that a spreadsheet would run as a formula.

    Examples
    --------
    >>> import pyarrow as pa
    >>> csv_text(pa.table({"a": [1, None], "b": [float("nan"), 0.5]}))
    'a,b\n1,\n,0.5\n'
    >>> csv_text(pa.table({"a": ["=1+1", "1-1"], "b": [-1, 1]}), quote_formulas=True)
    "a,b\n'=1+1,-1\n1-1,1\n"
    """
    import narwhals.stable.v2 as nw
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    # Through Arrow types: pandas alone would write whole numbers with gaps as 1.0.
    table = nw.from_native(frame).to_arrow()
    for at, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            numbers = pc.if_else(pc.is_nan(table.column(at)), pa.scalar(None, field.type), table.column(at))
            table = table.set_column(at, field, numbers)
    table = without_formulas(table) if quote_formulas else table
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return str(frame.to_csv(index=False, header=header, lineterminator="\n"))


def without_formulas(table: pa.Table) -> pa.Table:
    """The same table with an apostrophe before every name and text that begins like a formula."""
    import pyarrow as pa
    import pyarrow.compute as pc

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
