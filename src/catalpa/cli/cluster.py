"""``catalpa cluster``: cluster the rows of a table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalpa.cli import options
from catalpa.cli.options import Missing, identifier_of, listed, option_of
from catalpa.cli.outputs import LABELS, MODEL, PROFILES, check_free, check_proba, write_text
from catalpa.cli.report import check_page, reported, title_of
from catalpa.cli.terminal import JsonTerminal, Terminal
from catalpa.errors import NoStructureWarning, ParameterError

if TYPE_CHECKING:
    from catalpa.cluster.registry import MethodEntry
    from catalpa.estimator.base import Clusterer
    from catalpa.report.explore_edits import Edits

# Long lists of decisions would hide the clusters.
DECISIONS_SAID = 10
DEFAULT_METHOD = "grove"
ROWS_DRAWN = 20_000  # of a stream, for the quartiles of numbers


def cluster(
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
    method: options.Method = DEFAULT_METHOD,
    columns: options.Columns = None,
    drop: options.Drop = None,
    id: options.Identifier = None,  # noqa: A002 - the option is called --id
    weight: options.Weight = None,
    against: options.Against = None,
    cells: options.Cells,
    preparing: options.Preparing,
    n_init: Annotated[int | None, typer.Option(min=1, help="Number of starts; the best one is used.")] = None,
    max_clusters: Annotated[
        int | None, typer.Option(min=1, help="Largest number of clusters to try, without -k; for Grove.")
    ] = None,
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
        Path | None, typer.Option(help="HTML report to write; opens without a network.")
    ] = None,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help=f"Add probabilities, borders and outlier scores to {LABELS}; for Grove."
        ),
    ] = False,
    like: Annotated[
        Path | None,
        typer.Option(
            help="model.json of an earlier table with the same columns: its method and settings, and "
            "clusters that match keep their numbers and names."
        ),
    ] = None,
    suggested_names: Annotated[
        bool, typer.Option("--suggested-names", help="Name the clusters after what is typical of them.")
    ] = False,
    edits: Annotated[
        Path | None,
        typer.Option(
            help="clusters.json that a page of catalpa explore saved: its number of clusters, splits, merges "
            "and names."
        ),
    ] = None,
    reasons: Annotated[int, typer.Option(min=1, help="Maximum number of reasons per cluster.")] = 3,
    force: options.Force = False,
    terminal: JsonTerminal,
) -> None:
    """Cluster the rows of a table and print what is typical of each cluster.

    For example:

        catalpa cluster survey.csv -k 4

        catalpa cluster survey.csv -k 4 --id person --drop name,street -o out/ --report out/report.html

        catalpa cluster "log/*.parquet" -k 6 --method kmodes --stream --memory 2GB -o out/

        cat log.tsv | catalpa cluster - -k 6 --method kmodes --json

        catalpa cluster june.csv --like may/model.json -o june/

        catalpa cluster survey.csv --recipe recipe.json --edits clusters.json -o out/
    """
    earlier = None if like is None else earlier_model(like, method)
    entry = find_entry(method, earlier)
    _check_stream(entry, stream=stream)
    # Checked first: a long fit must not end with a file that cannot be written.
    check_free(*(output and output / name for name in (LABELS, MODEL, PROFILES)), force=force)
    check_page(report, force=force)
    edits_read, k = edits_of(edits, k, like, entry)
    settings = {"n_clusters": k, **cells.settings, "n_init": n_init, "max_clusters": max_clusters}
    if earlier is not None:
        settings = with_settings_of(earlier, settings)
    model = new_model(entry, {**settings, "n_jobs": jobs, "random_state": seed})
    if proba:
        check_proba(entry.estimator)
    if proba and output is None:
        raise ParameterError(f"--proba adds columns to {LABELS}. Name a folder for it with -o.")
    # Imported late, so that invalid options are reported at once.
    from catalpa.cli.cluster_table import as_json, beside, describe, number_lines, show
    from catalpa.cli.recipes import chosen, dialect_of_recipe, layout_of, recipe_of
    from catalpa.cli.tables import TableSource, open_input, write_results
    from catalpa.estimator.matching import match_text
    from catalpa.estimator.problem import fitted_of

    with terminal.listening(), terminal.waiting():
        aside = identifier_of(id), weight, against
        layout = dialect_of_recipe(preparing)
        if layout is None and earlier is not None and not chosen(preparing):
            layout = layout_of(fitted_of(earlier).recipe)
        source = TableSource(table, csv, listed(columns), listed(drop), *aside, layout)
        with terminal.reading(table):
            data = open_input(source, stream=stream, memory=memory)
        terminal.say_all(data.notes)
        if earlier is None or chosen(preparing):
            model.set_params(recipe=recipe_of(data, table, preparing, terminal))
        else:
            model.set_params(recipe=fitted_of(earlier).recipe)
        fitted(terminal, model, data.rows, data.weights)
        model = _as_wanted(model, data, earlier, edits_read, suggested_names=suggested_names)
        lines, crossing = describe(model, top=reasons), beside(model, data, against)
        numbers = number_lines(model, data.tables(), data.weights, most=ROWS_DRAWN if stream else None)
        labels = data.labels(model, proba=proba)
        fits = broad_groups(model, data.rows, data.weights)
        broad = [line for fit in fits for line in describe(fit, top=reasons)]
        files = write_results(output, model, labels, quote_formulas=quote_formulas) if output else []
        files += [write_text(report, reported(model, data, title_of(table)).html)] if report else []
    if terminal.json:
        record = as_json(model, lines, numbers, files, terminal.warnings)
        matched = None if earlier is None else model._match_records
        terminal.show_json(
            {
                "verdict": model.verdict_.to_dict(),
                **record,
                "broad_groups": broad,
                "against": crossing,
                "matched": matched,
            }
        )
    else:
        if earlier is not None:
            terminal.say_all(map(match_text, model._match_records))
        show(terminal, lines, numbers, crossing, broad=broad, style=style_of(model))
        terminal.wrote(*files)


def find_entry(method: str, earlier: Clusterer | None) -> MethodEntry:
    """The method of an earlier model, or the named one."""
    from catalpa.cluster.registry import METHODS, find_method

    if earlier is None:
        return find_method(method)
    return next(one for one in METHODS.values() if one.class_name == type(earlier).__name__)


def earlier_model(path: Path, method: str) -> Clusterer:
    """The model of ``--like``."""
    from catalpa.cluster.registry import find_method, load

    model = load(path)
    entry = find_entry(method, model)
    if method != DEFAULT_METHOD and find_method(method) is not entry:
        raise ParameterError(
            f"--like takes the method of the earlier model, {entry.name}. Leave --method out."
        )
    return model


def _as_wanted(
    model: Clusterer, given: Any, earlier: Clusterer | None, edits: Edits | None, *, suggested_names: bool
) -> Clusterer:
    """The fitted model with the numbers of an earlier one, the edits of a page, and suggested names."""
    if earlier is not None:
        model.match_to(earlier, given.rows, sample_weight=given.weights)
    if edits is not None:
        model = edits.apply(edits.split(model, given.rows, given.weights))
    if suggested_names:
        add_suggested_names(model)
    return model


def edits_of(
    path: Path | None, k: int | None, like: Path | None, entry: MethodEntry
) -> tuple[Edits | None, int | None]:
    """The edits of ``--edits``, and the number of clusters to fit, which they hold."""
    if path is None:
        return None, k
    from catalpa.report.explore_edits import Edits

    given = [option for option, value in (("-k", k), ("--like", like)) if value is not None]
    if given:
        raise ParameterError(f"--edits says which clusters to make. Leave {' and '.join(given)} out.")
    edits = Edits.read(path)
    return edits, edits.number_to_fit(has_levels=hasattr(entry.estimator, "cut"))


def with_settings_of(earlier: Clusterer, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an earlier model, except for those that were given."""
    options = {name: value for name, value in settings.items() if value is not None}
    if options.get("missing") == Missing.CATEGORY.value:  # the default of the command
        del options["missing"]
    return {**earlier.get_params(deep=False), **options}


def add_suggested_names(model: Clusterer) -> None:
    """Name the unnamed clusters after what is typical of them."""
    from catalpa.estimator.problem import fitted_of

    names = fitted_of(model).names
    suggested = {at: name for at, name in model.suggest_names().items() if at not in names}
    model.name_clusters({at: name for at, name in suggested.items() if name not in names.values()})


def _check_stream(entry: MethodEntry, *, stream: bool) -> None:
    if stream and not entry.streams:
        raise ParameterError(
            f"The method {entry.name} visits the rows one by one in their order, so they must be in memory "
            "together. Leave out --stream, or use one that streams: see catalpa methods."
        )


def new_model(entry: MethodEntry, settings: Mapping[str, Any]) -> Clusterer:
    """An estimator with the given settings; None is the method's default."""
    options = {name: value for name, value in settings.items() if value is not None}
    takes = entry.estimator._get_param_names()
    if "n_clusters" not in options and not entry.learns_k:
        raise ParameterError(f"Say how many clusters {entry.name} should make, for example -k 4.")
    # Without -k: the setting with which a method determines the number, such as "auto" for Grove.
    if "n_clusters" not in options and "n_clusters" in takes:
        options["n_clusters"] = entry.k_to_find
    if "random_state" not in takes:  # a deterministic method gives the same clusters for every seed
        options.pop("random_state", None)
    # An error, because users expect options to have an effect.
    foreign = [name for name in options if name not in takes]
    if foreign:
        named = ", ".join(map(option_of, foreign))
        raise ParameterError(f"The method {entry.name} has no setting for {named}. Leave it out.")
    return entry.estimator(**options)


def fitted(terminal: Terminal, model: Clusterer, rows: Any, weights: Any = None) -> Clusterer:
    """Fit with a progress line, and print the verdict and how the columns were interpreted."""
    from catalpa.estimator.attributes import column_notes
    from catalpa.estimator.problem import fitted_of
    from catalpa.explain.decisions import group_similar_decisions

    with terminal.progress(model), warnings.catch_warnings():
        if not terminal.json:
            warnings.simplefilter("ignore", NoStructureWarning)  # the verdict says the same
        model.fit(rows, sample_weight=weights)
    # A model file is loaded elsewhere, where frames are pandas.
    outcome = fitted_of(model)
    model._fitted = replace(outcome, schema=replace(outcome.schema, library="pandas"))
    terminal.say_first(model.verdict_.sentence)
    decisions = group_similar_decisions([*model.schema_.decisions, *column_notes(fitted_of(model))])
    for decision in decisions[:DECISIONS_SAID]:
        terminal.say(decision)
    if len(decisions) > DECISIONS_SAID:
        more = len(decisions) - DECISIONS_SAID
        terminal.say(f"and {more} more decision{'s' if more > 1 else ''} on columns: --json lists them")
    return model


def broad_groups(model: Clusterer, rows: Any, weights: Any = None) -> list[Clusterer]:
    """A fit with all columns independent, if columns that depend on each other explain a single cluster."""
    groups = model.verdict_.broad_groups
    if groups is None or groups == 1:
        return []
    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the verdict has said what to think of them
        return [clone(model).set_params(n_clusters=groups, ties=None).fit(rows, sample_weight=weights)]


def style_of(model: Clusterer) -> str | None:
    """Grey for clusters that are no finding; the verdict above them says why."""
    return "bright_black" if model.verdict_.level == "none" else None
