"""``catalpa choose-k``: how many clusters a table has, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from catalpa.cli import options
from catalpa.cli.cluster import new_model
from catalpa.cli.options import listed
from catalpa.cli.outputs import write_text
from catalpa.cli.report import check_page, title_of
from catalpa.cli.terminal import JsonTerminal
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    from catalpa.cluster.registry import MethodEntry


def choose_k(
    table: options.TablePath,
    *,
    most: Annotated[int, typer.Option("--max", min=1, help="Largest number of clusters to try.")] = 10,
    least: Annotated[int, typer.Option("--min", min=1, help="Smallest number of clusters to try.")] = 1,
    method: options.Method = "grove",
    columns: options.Columns = None,
    drop: options.Drop = None,
    weight: options.Weight = None,
    cells: options.Cells,
    preparing: options.Preparing,
    repeats: Annotated[int, typer.Option(min=0, help="Number of runs for measuring agreement.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same result.")] = 0,
    jobs: options.Jobs = None,
    stream: options.Stream = False,
    memory: options.Memory = None,
    csv: options.CsvFile,
    report: Annotated[
        Path | None, typer.Option(help="Also write a page with the curves and all measures.")
    ] = None,
    force: options.Force = False,
    terminal: JsonTerminal,
) -> None:
    """Fit several numbers of clusters, and print the recommended one and why.

    For example:

        catalpa choose-k survey.csv --max 10

        catalpa choose-k survey.csv --report choice.html

        catalpa choose-k survey.csv --method kmodes --drop name,street --json
    """
    entry = _method_to_try(method, least, most)
    model = new_model(entry, {"n_clusters": most, **cells.settings, "n_jobs": jobs, "random_state": seed})
    check_page(report, force=force)
    from catalpa.cli.recipes import recipe_of
    from catalpa.cli.tables import TableSource, open_input
    from catalpa.cluster.choose_k import choose_k as choose

    with terminal.listening(), terminal.waiting():
        source = TableSource(table, csv, listed(columns), listed(drop), weight=weight)
        with terminal.reading(table):
            data = open_input(source, stream=stream, memory=memory)
        terminal.say_all(data.notes)
        model.set_params(recipe=recipe_of(data, table, preparing, terminal))
        with terminal.progress(model):
            choice = choose(
                data.rows,
                range(least, most + 1),
                method=model,
                repeats=repeats,
                random_state=seed,
                sample_weight=data.weights,
            )
        if not terminal.json:  # on the other stream: the table is data
            words = choice.levels_in_words
            lines = [choice.reason, *([f"Levels of detail: {words}."] if words else [])]
            terminal.say_first(choice.verdict.sentence, *lines)
        if report is not None:
            write_text(report, choice.report(title=title_of(table)).html)
    if terminal.json:
        levels = None if choice.levels is None else choice.levels._asdict()
        record = {"k": choice.k, "structure": choice.structure, "reason": choice.reason, "levels": levels}
        record["verdict"] = choice.verdict.to_dict()
        terminal.show_json({**record, "table": choice.records})
        return
    terminal.table(choice.head, choice.rows)
    terminal.wrote(report)


def _method_to_try(method: str, least: int, most: int) -> MethodEntry:
    from catalpa.cluster.registry import find_method

    # Printed here, because it names options.
    if least > most:
        raise ParameterError(f"--min {least} is larger than --max {most}: there is nothing to try.")
    entry = find_method(method)
    if "n_clusters" not in entry.estimator._get_param_names():
        raise ParameterError(
            f"The method {entry.name} determines the number of clusters itself: there is nothing to choose. "
            f"Run catalpa cluster with --method {entry.name}."
        )
    return entry
