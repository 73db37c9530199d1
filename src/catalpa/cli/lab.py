"""``catalpa lab``: reproduce the published experiments, and compare methods on your own table."""

from __future__ import annotations

import os
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalpa.cli.options import Drop, Force, TablePath, TextFile, listed, with_groups
from catalpa.cli.outputs import Destination, check_free, make_folder, write_text
from catalpa.cli.terminal import Terminal, counted
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from catalpa.lab.protocol import Protocol
    from catalpa.lab.published_table import AsPublished as AsPublishedTable

lab = typer.Typer(
    help="Reproduce the published experiments, and compare methods on your own table.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

# Written out, because importing the laboratory would load scikit-learn for every --help.
NAMED = "grove,disc,kmodes; the outside programs stepmix and mca-kmeans; or package.module:Class"
Results = Annotated[Path, typer.Option(help="The .parquet file with the results.")]
ProtocolFile = Annotated[
    Path | None, typer.Option("--protocol", help="A protocol of your own instead of the published one.")
]
Methods = Annotated[list[str] | None, typer.Option("--methods", "-m", help=f"Only these: {NAMED}.")]
Datasets = Annotated[list[str] | None, typer.Option("--datasets", "-d", help="Only these: ZO,CV.")]
AsPublished = Annotated[
    bool,
    typer.Option("--as-published", help="From the starts of the published runs, if known."),
]
RESULTS = Path("results/protocol.parquet")
PUBLISHED = Path("results/as_published.parquet")
QUICK = Path("results/quick.parquet")
COUNTERPARTS = Path("results/counterparts.csv")
FIGURES = Path("results/figures")
CLAIMS = Path("results/claims.csv")
Format = StrEnum("Format", ["PLAIN", "MARKDOWN", "LATEX", "CSV"])


@lab.command("run")
@with_groups
def run_command(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Bundled data sets and five seeds only.")] = False,
    as_published: AsPublished = False,
    results: Annotated[Path | None, typer.Option(help="The .parquet file for the results.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")] = 1,
    methods: Methods = None,
    datasets: Datasets = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Maximum number of seeds.")] = None,
    protocol: ProtocolFile = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed runs again.")] = False,
    terminal: Terminal,
) -> None:
    """Run every method on every data set with every seed, and print our ACC next to the published one.

    Started again, it continues. For example:

        catalpa lab run --quick

        CATALPA_DATA=~/data catalpa lab run --jobs 2

        catalpa lab run --as-published
    """
    from catalpa.lab.grids import to_plain
    from catalpa.lab.journal import ResultJournal
    from catalpa.lab.run import run
    from catalpa.lab.tables import table

    path = results or (PUBLISHED if as_published else QUICK if quick else RESULTS)
    full_protocol = _protocol(protocol, listed(methods), as_published=as_published)
    plan = _planned(terminal, full_protocol, quick, methods, datasets, seeds)
    # Only of the current plan: stored failures of other methods are unchanged.
    if retry_failed:
        ResultJournal(path).forget_failures({job.key for job in plan.jobs()})
    with terminal.runs() as watch:
        rows = run(plan, path, jobs=jobs, watch=watch)
    failed = rows[rows["error"] != ""]
    terminal.say(f"{len(rows)} runs in {path}, {len(failed)} of them without a result.")
    for (method, error), part in failed.groupby(["method", "error"]):
        names, text = ", ".join(dict.fromkeys(part["dataset"])), str(error)
        # About two lines of a terminal; the results contain the full text.
        text = text if len(text) <= 160 else f"{text[:157]}..."
        terminal.say(f"  {method} on {names} ({len(part)}): {text}")
    if as_published:
        for grid in _as_published(path, RESULTS, protocol, "2", "ACC").restricted(plan.categorical).grids():
            terminal.show(to_plain(grid) + "\n")
        if not RESULTS.exists():
            terminal.say(f"No runs from unpicked seeds at {RESULTS}. Make them with: catalpa lab run")
        terminal.say(
            f"More of it: catalpa lab table 2 --as-published --published {path} --measure ARI, and table 3."
        )
        return
    result_table = table(rows, plan, "2")
    if not result_table.cells.empty:
        for view in ("ours", "printed", "ours minus printed"):
            terminal.show(to_plain(result_table.grid(view)) + "\n")
        terminal.say(f"More of it: catalpa lab table 2 --measure ARI --results {path}, and tables 3 and 4.")


@lab.command("table")
@with_groups
def table_command(
    number: Annotated[str, typer.Argument(help="2, 3 or 4.")],
    *,
    measure: Annotated[str, typer.Option(help="ACC, ARI, NMI, AMI or CMP.")] = "ACC",
    as_published: AsPublished = False,
    results: Results = RESULTS,
    published: Annotated[Path, typer.Option(help="Results of runs as published.")] = PUBLISHED,
    protocol: ProtocolFile = None,
    format: Annotated[Format, typer.Option(help="Output format.")] = Format.PLAIN,  # noqa: A002
    destination: Destination,
) -> None:
    """Print a published table: ours, printed, and the difference.

    For example:

        catalpa lab table 2 --measure ARI

        catalpa lab table 3 --format latex -o table3.tex

        catalpa lab table 2 --as-published
    """
    from catalpa.lab.grids import FORMATS
    from catalpa.lab.tables import PublishedTable, table

    destination.check()
    result_table: AsPublishedTable | PublishedTable
    if as_published:
        result_table = _as_published(published, results, protocol, number, measure.upper())
    else:
        result_table = table(*_stored(results, protocol), number, measure.upper())
    if result_table.cells.empty:
        raise ParameterError(
            f"The protocol shows no method in Table {number}. A method is shown by a line such as "
            f'shown = [{{ table = "{number}", label = "DISC" }}].'
        )
    if format is Format.CSV:
        text = result_table.cells.to_csv(index=False, lineterminator="\n")
    else:
        text = "\n\n".join(map(FORMATS[format.value], result_table.grids())) + "\n"
    destination.write(text)


@lab.command("significance")
def significance_command(
    measure: Annotated[str, typer.Option(help="ACC, ARI, NMI, AMI or CMP.")] = "ACC",
    control: Annotated[
        str | None,
        typer.Option(help="The method to compare with the others; default: DISC."),
    ] = None,
    results: Results = RESULTS,
    protocol: ProtocolFile = None,
    chart: Annotated[
        Path | None, typer.Option(help="Critical-difference diagram to draw, .svg or .png.")
    ] = None,
    force: Force = False,
) -> None:
    """Test whether the methods of Table 2 differ: Friedman, Nemenyi, Bonferroni-Dunn, Wilcoxon with Holm.

    For example:

        catalpa lab significance --measure ARI --chart ranks.svg
    """
    from catalpa.lab.significance import significance, tests_text
    from catalpa.lab.tables import table

    check_free(chart, force=force)
    result_table = table(*_stored(results, protocol), "2", measure.upper())
    result = significance(result_table.scores(), result_table.measure, control)
    print(tests_text(result))
    if chart is not None:
        from catalpa.lab.figures.draw import critical_differences, save

        make_folder(chart.absolute().parent)
        save(critical_differences(result), [chart])


@lab.command("counterparts")
@with_groups
def counterparts_command(
    *,
    measure: Annotated[str, typer.Option(help="ACC, ARI or CMP.")] = "ACC",
    runs: Annotated[Path, typer.Option(help="The .csv file with the runs.")] = COUNTERPARTS,
    methods: Annotated[
        list[str] | None, typer.Option("--methods", "-m", help="Only these columns: KMD,HDC.")
    ] = None,
    datasets: Datasets = None,
    stored: Annotated[bool, typer.Option("--stored", help="Print stored runs only.")] = False,
    page: Annotated[Path | None, typer.Option(help="Write the page of all measures to this file.")] = None,
    force: Force = False,
    format: Annotated[Format, typer.Option(help="Output format.")] = Format.PLAIN,  # noqa: A002
    terminal: Terminal,
) -> None:
    """Print the counterparts' columns from the printed runs' starts, and all methods from the same rows.

    Started again, it continues. For example:

        catalpa lab counterparts --datasets ZO,CV --runs counterparts.csv

        catalpa lab counterparts --stored --measure CMP
    """
    from catalpa.lab.counterparts import (
        MEASURES,
        printed_grid,
        read_counterparts,
        run_counterparts,
        same_rows_grid,
        scores,
    )
    from catalpa.lab.counterparts_page import counterparts_page
    from catalpa.lab.grids import FORMATS
    from catalpa.lab.protocol import read_protocol
    from catalpa.lab.significance import significance, tests_text

    check_free(page, force=force)
    name = measure.upper()
    if name not in MEASURES:
        raise ParameterError(f"measure is {measure!r}; the printed columns have {', '.join(MEASURES)}.")
    if stored:
        rows = read_counterparts(runs)
    else:
        plan = _planned(terminal, read_protocol(), False, None, datasets, None)
        make_folder(runs.absolute().parent)
        with terminal.runs() as watch:
            rows = run_counterparts(plan, runs, labels=listed(methods), watch=counted(watch))
    if page is not None:
        write_text(page, counterparts_page(rows))
        terminal.wrote(page)
        return
    if format is Format.CSV:
        terminal.show(rows.to_csv(index=False, lineterminator="\n"))
        return
    for grid in (printed_grid(rows, name), same_rows_grid(rows, name)):
        terminal.show(FORMATS[format.value](grid) + "\n")
    complete = scores(rows, name).dropna(axis=1, how="all").dropna()
    if min(complete.shape) > 1:
        terminal.show(tests_text(significance(scores(rows, name), name)) + "\n")


@lab.command("figure")
@with_groups
def figure_command(
    number: Annotated[int, typer.Argument(min=1, max=5, help="1 to 4, or 5: the means over many seeds.")],
    *,
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder for CSV, SVG and PNG.")] = FIGURES,
    data: Annotated[Path | None, typer.Option(help="Use this CSV file instead of running again.")] = None,
    protocol: ProtocolFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer draws and sizes, bundled data sets.")] = False,
    force: Force = False,
    terminal: Terminal,
) -> None:
    """Make a published figure: its data as CSV, and the drawing as SVG and PNG; started again, it continues.

    For example:

        catalpa lab figure 2 -o figures/

        catalpa lab figure 3 --data figures/figure3.csv -o figures/ --force
    """
    from catalpa.lab.figures.draw import FIGURES, save
    from catalpa.lab.figures.pieces import collected, stored_pieces
    from catalpa.lab.protocol import read_protocol
    from catalpa.report.document import needs_packages

    figure = FIGURES[number]
    stem = folder / f"figure{number}"
    files = [stem.with_suffix(suffix) for suffix in (".csv", ".svg", ".png")]
    # Input data may be at the output path; they are not overwritten.
    if data is not None and data.absolute() == files[0].absolute():
        del files[0]
    check_free(*files, force=force)
    needs_packages()
    make_folder(folder)
    if data is None:
        journal = stem.with_suffix(".jsonl")
        pieces = figure.pieces(_here(terminal, read_protocol(protocol), figure.name, quick))
        before = len(stored_pieces(pieces, journal))
        if before:
            terminal.say(
                f"{before} of {len(pieces)} parts are in {journal}; delete it to measure them again."
            )
        with terminal.listening(), terminal.runs() as watch:
            frame = collected(pieces, journal, counted(watch))
    else:
        frame = _figure_data(data)
    if files[0].suffix == ".csv":
        write_text(files[0], frame.to_csv(index=False, lineterminator="\n"))
    if data is None:
        journal.unlink(missing_ok=True)  # the CSV file is now complete
    save(figure.draw(frame), [file for file in files if file.suffix != ".csv"])
    terminal.wrote(*files)


@lab.command("claims")
@with_groups
def claims_command(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")] = CLAIMS,
    protocol: ProtocolFile = None,
    force: Force = False,
    terminal: Terminal,
) -> None:
    """Check the theorems of the paper: increases of the objective, convergence, pairs at distance 0.

    Started again, it continues. For example:

        CATALPA_DATA=~/data catalpa lab claims
    """
    from catalpa.lab.claims import claims
    from catalpa.lab.figures.pieces import collected
    from catalpa.lab.protocol import read_protocol

    check_free(output, force=force)
    make_folder(output.absolute().parent)
    journal = output.with_suffix(".jsonl")
    pieces = claims(_here(terminal, read_protocol(protocol), "claims", quick=False))
    with terminal.runs() as watch:
        frame = collected(pieces, journal, counted(watch))
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    journal.unlink(missing_ok=True)
    terminal.wrote(output)


@lab.command("compare")
@with_groups
def compare_command(
    table: TablePath,
    *,
    target: Annotated[str, typer.Option(help="The column with the known classes.")],
    methods: Annotated[list[str], typer.Option("--methods", "-m", help=f"Such as {NAMED}.")],
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds: 0, 1, ...")] = 20,
    k: Annotated[
        int | None,
        typer.Option("-k", "--clusters", min=1, help="Number of clusters; default: classes."),
    ] = None,
    drop: Drop = None,
    text: TextFile,
    destination: Destination,
    terminal: Terminal,
) -> None:
    """Compare methods on your own table with known classes.

    For example:

        catalpa lab compare zoo.csv --target class --methods grove,disc,kmodes --seeds 20

        catalpa lab compare zoo.csv --target class -m grove,stepmix,mypackage.models:MyClusterer -o runs.csv
    """
    from catalpa.lab.measure import MEASURES, compare, summary
    from catalpa.table import read_table

    destination.check()
    rows = read_table(table, **text.reading, drop=listed(drop))
    with terminal.runs() as watch:
        runs = compare(
            rows.to_pandas(), target, listed(methods) or [], seeds=seeds, n_clusters=k, watch=counted(watch)
        )
    terminal.table(*_summary_lines(summary(runs), MEASURES))
    terminal.say(f"All rows in one cluster would score ACC {runs['one_cluster'].iloc[0]:.3f} and ARI 0.")
    for error, part in runs[runs["error"] != ""].groupby("error", sort=False):
        terminal.say(f"without a result: {', '.join(dict.fromkeys(part['method']))}: {error}")
    if destination.output is not None:
        destination.write(runs.to_csv(index=False, lineterminator="\n"))
        terminal.wrote(destination.output)


@lab.command("page")
@with_groups
def page_command(
    *,
    results: Results = RESULTS,
    published: Annotated[Path, typer.Option(help="Results of runs as published.")] = PUBLISHED,
    figures: Annotated[Path, typer.Option(help="Folder with the data and drawings of figures.")] = FIGURES,
    claims: Annotated[Path, typer.Option(help="Results of lab claims.")] = CLAIMS,
    counterparts: Annotated[Path, typer.Option(help="Runs of the counterparts.")] = COUNTERPARTS,
    protocol: ProtocolFile = None,
    destination: Destination,
) -> None:
    """Write the page of results in Markdown from stored results and figures.

    For example:

        catalpa lab page -o docs/inside/results.md --force
    """
    from catalpa.lab.conclusions import StoredResults
    from catalpa.lab.counterparts import read_counterparts
    from catalpa.lab.figures.notes import figures_text, stored_figures
    from catalpa.lab.journal import read_results
    from catalpa.lab.page import page

    destination.check()
    beside = Path.cwd() if destination.output is None else destination.output.absolute().parent
    # Relative to the page; Markdown uses slashes on every system.
    link = Path(os.path.relpath(figures.absolute(), beside)).as_posix()
    stored = StoredResults(
        published=read_results(published) if published.exists() else None,
        claims=_figure_data(claims) if claims.exists() else None,
        figures=stored_figures(figures),
        counterparts=read_counterparts(counterparts) if counterparts.exists() else None,
    )
    destination.write(page(*_stored(results, protocol), figures_text(figures, link), stored))


def _as_published(
    published: Path, results: Path, protocol: Path | None, number: str, measure: str
) -> AsPublishedTable:
    """Stored runs from the published starts, and those from random seeds if there are any."""
    from catalpa.lab.journal import read_results
    from catalpa.lab.protocol import read_protocol
    from catalpa.lab.published_table import as_published_table

    if not published.exists():
        raise ParameterError(
            f"There are no runs from the published starts at {str(published)!r}. Make them with: "
            f"catalpa lab run --as-published --results {published}"
        )
    unpicked = read_results(results) if results.exists() else None
    return as_published_table(read_results(published), unpicked, read_protocol(protocol), number, measure)


def _protocol(path: Path | None, methods: list[str] | None, *, as_published: bool) -> Protocol:
    """The protocol, or its published part; methods that it lacks are added with default settings."""
    from catalpa.lab.estimators import is_by_chance, method_name
    from catalpa.lab.protocol import read_protocol

    plan = read_protocol(path)
    if as_published:
        return plan.published()
    for name in map(method_name, methods or []):
        if name not in {entry.method for entry in plan.entries}:
            plan = plan.with_method(name, chance=is_by_chance(name))
    return plan


def _planned(
    terminal: Terminal,
    plan: Protocol,
    quick: bool,
    methods: list[str] | None,
    datasets: list[str] | None,
    seeds: int | None,
) -> Protocol:
    """The requested protocol on the data sets of this computer; prints what is left out."""
    from catalpa.lab.estimators import method_name
    from catalpa.lab.run import available

    names = None if methods is None else [method_name(name) for name in listed(methods) or []]
    plan = plan.quick() if quick else plan
    plan = plan.restricted(methods=names, datasets=listed(datasets), repeats=seeds)
    plan, missing = available(plan)
    if missing:
        terminal.say(
            f"left out, not on this computer: {', '.join(missing)}. Name a folder that holds them with "
            "CATALPA_DATA, or fetch them with: catalpa datasets NAME"
        )
    if not plan.categorical:
        raise ParameterError("None of the data sets is on this computer, so there is nothing to run.")
    return plan


def _figure_data(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(path)
    except (OSError, ValueError) as error:  # errors of pandas' reader are ValueErrors
        raise ParameterError(f"{str(path)!r} cannot be read as the CSV file of a figure: {error}") from error


def _here(terminal: Terminal, protocol: Protocol, name: str, quick: bool) -> Protocol:
    """The protocol with what ``name`` measures on data sets of this computer; prints what is left out."""
    from catalpa.datasets import list_datasets
    from catalpa.lab.figures.experiments import quick_settings

    known = list_datasets()
    # A quick run needs no folder of data sets, so it is the same everywhere.
    here = list(known.loc[known["bundled" if quick else "available"], "alias"])
    settings = quick_settings(protocol.figures) if quick else dict(protocol.figures)
    wanted = settings[name].get("data", [])
    # Figures 3 and 4 use generated clusters and one bundled table.
    if isinstance(wanted, list):
        missing = [one for one in wanted if one not in here]
        settings[name] = {**settings[name], "data": [one for one in wanted if one in here]}
        if missing and not quick:
            terminal.say(f"left out, not on this computer: {', '.join(missing)}")
    return replace(protocol, figures=settings)


def _stored(results: Path, protocol: Path | None) -> tuple[Any, Protocol]:
    """The stored results, and the protocol with all their methods."""
    from catalpa.lab.journal import read_results
    from catalpa.lab.protocol import read_protocol

    rows = read_results(results)
    return rows, read_protocol(protocol).including(rows)


def _summary_lines(table: Any, measures: list[str]) -> tuple[list[str], list[list[str]]]:
    head = ["method", *measures, "clusters left", "largest share", "seconds", "runs"]
    rows = []
    for name, line in table.iterrows():
        texts = [f"{line[one]:.3f} ± {line[one + '_std']:.3f}" for one in measures]
        texts += [f"{line['clusters_left']:.1f}", f"{line['largest_share']:.0%}"]
        # A method that failed with every seed has no mean.
        known = ["-" if text.startswith("nan") else text for text in texts]
        rows.append([str(name), *known, f"{line['seconds']:.2f}", f"{line['runs'] - line['failed']:.0f}"])
    return head, rows
