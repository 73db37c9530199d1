"""``catalpa cluster``: a table in, clusters out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalpa.cli import options
from catalpa.cli.options import identifier_of, listed, option_of
from catalpa.cli.outputs import LABELS, MODEL, PROFILES, check_free, check_proba, write_text
from catalpa.cli.report import check_page, reported, title_of
from catalpa.cli.terminal import JsonTerminal, Terminal
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    from catalpa.cluster.registry import MethodEntry
    from catalpa.estimator.base import Clusterer

# A table of hundreds of columns would push its clusters off the screen.
DECISIONS_SAID = 10
NAMES_SAID = 6  # of columns that were decided on alike
ROWS_DRAWN = 20_000  # of a stream, for the quartiles of numbers


def cluster(
    table: options.TablePath,
    *,
    k: Annotated[
        int | None,
        typer.Option("-k", "--clusters", min=1, help="Number of clusters; found where the method can."),
    ] = None,
    method: options.Method = "grove",
    columns: options.Columns = None,
    drop: options.Drop = None,
    id: options.Identifier = None,  # noqa: A002 - the option is called --id
    weight: options.Weight = None,
    against: options.Against = None,
    cells: options.Cells,
    n_init: Annotated[int | None, typer.Option(min=1, help="Starts; the best is kept.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same clusters.")
    ] = 0,
    jobs: options.Jobs = None,
    csv: options.CsvFile,
    stream: options.Stream = False,
    memory: options.Memory = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help=f"Folder for {LABELS}, {MODEL} and {PROFILES}.")
    ] = None,
    quote_formulas: options.QuoteFormulas = False,
    report: Annotated[
        Path | None, typer.Option(help="Page to write, with everything found; opens without a network.")
    ] = None,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help=f"Add probabilities, borders and outlier scores to {LABELS}; for Grove."
        ),
    ] = False,
    suggested_names: Annotated[
        bool, typer.Option("--suggested-names", help="Name the clusters by what sets them apart.")
    ] = False,
    reasons: Annotated[int, typer.Option(min=1, help="Most reasons to tell for each cluster.")] = 3,
    force: options.Force = False,
    terminal: JsonTerminal,
) -> None:
    """Cluster the rows of a table and say what sets each cluster apart.

    For example:

        catalpa cluster survey.csv -k 4

        catalpa cluster survey.csv -k 4 --id person --drop name,street -o out/ --report out/report.html

        catalpa cluster "log/*.parquet" -k 6 --method kmodes --stream --memory 2GB -o out/

        cat log.tsv | catalpa cluster - -k 6 --method kmodes --json
    """
    from catalpa.cluster.registry import find_method

    entry = find_method(method)
    _check_stream(entry, stream=stream, report=report)
    # Before the work: a fit of an hour must not end in a file that may not be written.
    check_free(*(output and output / name for name in (LABELS, MODEL, PROFILES)), force=force)
    check_page(report, force=force)
    settings = {"n_clusters": k, **cells.settings, "n_init": n_init, "n_jobs": jobs, "random_state": seed}
    model = new_model(entry, settings)
    if proba:
        check_proba(entry.estimator)
    if proba and output is None:
        raise ParameterError(f"--proba adds columns to {LABELS}. Name a folder for it with -o.")
    # Only now: what is wrong with the options is told at once.
    from catalpa.cli.cluster_table import as_json, beside, describe, number_lines, show
    from catalpa.cli.tables import TableSource, open_input, write_results

    with terminal.listening():
        source = TableSource(table, csv, listed(columns), listed(drop), identifier_of(id), weight, against)
        given = open_input(source, stream=stream, memory=memory)
        fitted(terminal, model, given.rows, given.weights)
        model.name_clusters(model.suggest_names() if suggested_names else {})
        lines, crossing = describe(model, top=reasons), beside(model, given, against)
        numbers = number_lines(model, given.tables(), given.weights, most=ROWS_DRAWN if stream else None)
        labels = given.labels(model, proba=proba)
        files = write_results(output, model, labels, quote_formulas=quote_formulas) if output else []
        files += [write_text(report, reported(model, given, title_of(table)).html)] if report else []
    if terminal.json:
        terminal.show_json({**as_json(model, lines, numbers, files, terminal.warnings), "against": crossing})
    else:
        show(terminal, lines, numbers, crossing)
        terminal.wrote(*files)


def _check_stream(entry: MethodEntry, *, stream: bool, report: Path | None) -> None:
    if stream and not entry.streams:
        raise ParameterError(
            f"The method {entry.name} visits the rows one by one in their order, so they must be in memory "
            "together. Leave out --stream, or use one that streams: see catalpa methods."
        )
    if stream and report is not None:
        raise ParameterError("--report draws rows in memory. Leave it out with --stream.")


def new_model(entry: MethodEntry, settings: Mapping[str, Any]) -> Clusterer:
    """An estimator with the settings that were given; None stands for the method's own default."""
    given = {name: value for name, value in settings.items() if value is not None}
    takes = entry.estimator._get_param_names()
    if "n_clusters" not in given and not entry.learns_k:
        raise ParameterError(f"Say how many clusters {entry.name} should make, for example -k 4.")
    # Without -k: the setting that asks a method to find the number, "auto" for Grove.
    if "n_clusters" not in given and "n_clusters" in takes:
        given["n_clusters"] = entry.k_to_find
    if "random_state" not in takes:  # a method without chance gives the same clusters for every seed
        given.pop("random_state", None)
    # Told, not dropped: an option without an effect would be taken for one with it.
    foreign = [name for name in given if name not in takes]
    if foreign:
        named = ", ".join(map(option_of, foreign))
        raise ParameterError(f"The method {entry.name} has no setting for {named}. Leave it out.")
    return entry.estimator(**given)


def fitted(terminal: Terminal, model: Clusterer, rows: Any, weights: Any = None) -> Clusterer:
    """Fit with one changing line of progress, and say how the columns were taken."""
    from catalpa.estimator.attributes import column_notes
    from catalpa.estimator.problem import fitted_of

    with terminal.progress(model):
        model.fit(rows, sample_weight=weights)
    decisions = alike_together([*model.schema_.decisions, *column_notes(fitted_of(model))])
    for decision in decisions[:DECISIONS_SAID]:
        terminal.say(decision)
    if len(decisions) > DECISIONS_SAID:
        terminal.say(f"and {len(decisions) - DECISIONS_SAID} more columns were decided on: --json lists them")
    return model


def alike_together(decisions: Sequence[str]) -> list[str]:
    """The decisions, with those that differ only in their column said in one line.

    Examples
    --------
    >>> alike_together(["column 'a' holds 2 things: taken", "column 'b' holds 2 things: taken", "more"])
    ["columns 'a', 'b' hold 2 things: taken", 'more']
    """
    columns: dict[str, list[str]] = {}
    for decision in decisions:
        found = re.fullmatch(r"column ('.*?'|\".*?\") (holds .*)", decision)
        columns.setdefault(found[2] if found else decision, []).extend([found[1]] if found else [])
    said = []
    for text, names in columns.items():
        if len(names) < 2:
            said.append(f"column {names[0]} {text}" if names else text)
            continue
        more = f" and {len(names) - NAMES_SAID} more" if len(names) > NAMES_SAID else ""
        said.append(f"columns {', '.join(names[:NAMES_SAID])}{more} {text.replace('holds', 'hold', 1)}")
    return said
