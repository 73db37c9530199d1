"""``catalpa explore``: cluster a table and explore the clusters in a browser."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from catalpa.cli import options
from catalpa.cli.cluster import new_model
from catalpa.cli.options import identifier_of, listed
from catalpa.cli.outputs import check_free, write_text
from catalpa.cli.report import title_of
from catalpa.cli.terminal import Terminal


def explore(
    table: options.TablePath,
    *,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--clusters",
            min=1,
            help="Number of clusters; by default the method chooses.",
        ),
    ] = None,
    method: options.Method = "grove",
    columns: options.Columns = None,
    drop: options.Drop = None,
    id: options.Identifier = None,  # noqa: A002 - the option is called --id
    weight: options.Weight = None,
    preparing: options.Preparing,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same clusters.")
    ] = 0,
    csv: options.CsvFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the page to a file instead of serving it."),
    ] = None,
    without_rows: Annotated[
        bool, typer.Option("--without-rows", help="With -o: store counts only, without the cells of rows.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; any free one if 0.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    force: options.Force = False,
    terminal: Terminal,
) -> None:
    """Cluster a table and explore its clusters in the browser, served on this computer alone.

    For example:

        catalpa explore survey.csv

        catalpa explore survey.csv -k 5 --drop name,street

        catalpa explore survey.csv -k 5 -o explore.html
    """
    from catalpa.cluster.registry import find_method
    from catalpa.errors import CatalpaError, ParameterError
    from catalpa.report.document import needs_packages
    from catalpa.report.explore_server import ExploreServer, Session

    entry = find_method(method)
    if without_rows and output is None:
        raise ParameterError("--without-rows goes with -o: a page that is served holds the rows.")
    check_free(output, force=force)
    needs_packages()
    from catalpa.cli.recipes import dialect_of_recipe, recipe_of
    from catalpa.cli.tables import TableSource, open_input

    identifier = identifier_of(id)
    with terminal.listening():
        layout = dialect_of_recipe(preparing)
        source = TableSource(table, csv, listed(columns), listed(drop), identifier, weight, dialect=layout)
        with terminal.reading(table):
            data = open_input(source)
        terminal.say_all(data.notes)
        session = Session(
            table,
            data.rows,
            lambda number: new_model(
                entry, {"n_clusters": None if number == "auto" else number, "random_state": seed}
            ),
            recipe=recipe_of(data, table, preparing, terminal),
            sample_weight=data.weights,
            options=[*_repeated(method, identifier, weight, seed, preparing), *_file_options(csv)],
            title=title_of(table),
            rows=not without_rows,
        )
        session.start(session.columns or (), "auto" if k is None else k)
        session.wait()
        if session.page is None:
            raise CatalpaError(session.error or "The table could not be clustered.")
        if output is not None and (page := session.judged()) is not None:
            write_text(output, page.html)
            terminal.wrote(output)
            return
    with ExploreServer(session, port) as server:
        terminal.say(f"Exploring {table} at {server.address}")
        terminal.say("Press Ctrl-C to end.")
        if browser:
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def _repeated(
    method: str, identifier: str | None, weight: str | None, seed: int, preparing: options.Preparing
) -> list[str]:
    """Options that a command needs to repeat the session."""
    recipe = None if preparing.recipe is None else str(preparing.recipe)
    settings = {"--method": method if method != "grove" else None, "--id": identifier, "--weight": weight}
    settings["--recipe"] = recipe
    parts = [part for option, value in settings.items() if value is not None for part in (option, value)]
    parts += ["--as-is"] * preparing.as_is
    for option, values in (
        ("--accept", preparing.accept),
        ("--keep", preparing.keep),
        ("--order", preparing.order),
    ):
        parts += [part for value in values or () for part in (option, value)]
    return [*parts, *(["--seed", str(seed)] if seed else [])]


def _file_options(csv: options.CsvFile) -> list[str]:
    """The options for reading the file, as given."""
    named = {name.replace("_", "-"): getattr(csv, name) for name in csv.__dataclass_fields__}
    settings = {
        name: value for name, value in named.items() if value and not (name == "decimal" and value == ".")
    }
    return [
        part
        for name, value in settings.items()
        for one in (value if isinstance(value, list) else [value])
        for part in (f"--{name}", str(one))
    ]
