"""Write docs/inside/quality.md from results/quality.csv; the only way it is written.

    python tools/quality_page.py

``benchmarks/quality.py`` makes the results, and prints the tables of this page as its summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import Template

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from catalpa.lab.grids import Cell, Grid, folded, to_markdown, to_plain
from catalpa.metrics import average_ranks, wilcoxon_holm

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "quality.csv"
TIES = ROOT / "results" / "ties.csv"
PAGE = ROOT / "docs" / "inside" / "quality.md"
TEMPLATE = Path(__file__).with_name("quality_template.md")

COLUMNS = (
    "group",
    "family",
    "table",
    "method",
    "seed",
    "ari",
    "acc",
    "seconds",
    "asked",
    "clusters",
    "largest",
    "program",
)
METHODS = ("Grove", "DISC", "KModes", "one-hot KMeans", "MCA + KMeans", "latent classes")
CONTROL = "Grove"
GROUPS = {"paper": "tables of DISC's paper", "real": "real tables", "planted": "planted tables"}
FAMILIES = {
    "plain": "plain",
    "sizes": "unequal sizes",
    "irrelevant": "irrelevant columns",
    "highcard": "columns of many categories",
    "local": "columns that copy others",
    "outliers": "outlier rows",
    "mixed": "several of these",
    "weak": "weak structure",
}
DEPENDENT = {
    "copied": "a column and five copies of it",
    "hierarchies": "events, their groups and groups of groups",
    "skipped": "questions that are skipped together",
    "trees": "columns that follow each other",
    "1:50": "clusters of sizes 50 : 10 : 1",
    **{f"noise {many}": f"{many:,} columns of noise" for many in (0, 50, 150, 300, 1000)},
    "independent": "independent columns",
}  # kinds of generated tables
LOPSIDED = 0.95
LEVEL = 0.05  # p-values above it say nothing
MOST_BEHIND = 8  # tables named on the page


def read_results(path: Path) -> pd.DataFrame:
    """Lines of the benchmark, one per table, method and seed."""
    texts = dict.fromkeys(("group", "family", "table", "method", "program"), str)
    return pd.read_csv(path, dtype=texts, keep_default_na=False)


def in_order(results: pd.DataFrame) -> pd.DataFrame:
    """The lines in the order of the page."""
    places = {name: at for at, name in enumerate([*GROUPS, *METHODS])}
    ordered = results.assign(
        _group=results["group"].map(places), _method=results["method"].map(places).fillna(len(places))
    ).sort_values(["_group", "table", "_method", "method", "seed"], kind="stable")
    return ordered[list(COLUMNS)].reset_index(drop=True)


def scores(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over seeds, one row per (group, family, table) that every method has, one column per method."""
    names = list(dict.fromkeys(in_order(results)["method"]))
    names.sort(key=lambda name: METHODS.index(name) if name in METHODS else len(METHODS))
    keys = ["group", "family", "table"]
    means = results.pivot_table(index=keys, columns="method", values=measure, aggfunc="mean")
    means = means[names].dropna()
    return means.loc[sorted(means.index, key=lambda key: (list(GROUPS).index(key[0]), key[2]))]


def parts(means: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """All tables together, and the groups that have any."""
    yield "all tables", means
    for group, words in GROUPS.items():
        own = means[means.index.get_level_values("group") == group]
        if len(own):
            yield words, own


def standings(means: pd.DataFrame) -> pd.DataFrame:
    """Per method: mean, mean rank, Wilcoxon's p against Grove, p after Holm, and who is ahead."""
    found = pd.DataFrame({"mean": means.mean(), "rank": np.nan, "p": np.nan, "holm": np.nan, "ahead": 0})
    if len(means) > 1 and len(means.columns) > 1:
        found["rank"] = average_ranks(means)
        if CONTROL in means:
            for pair in wilcoxon_holm(means, control=CONTROL):
                found.loc[pair.second, ["p", "holm"]] = pair.p_value, pair.adjusted_p_value
                found.loc[pair.second, "ahead"] = _direction(means[CONTROL] - means[pair.second])
    return found


def _direction(differences: pd.Series) -> int:
    """1 where the signed ranks of the test are for Grove, -1 where they are against it."""
    apart = differences[differences != 0].to_numpy()
    return int(np.sign((rankdata(np.abs(apart)) * np.sign(apart)).sum()))


def standing_grid(title: str, ari: pd.DataFrame, acc: pd.DataFrame) -> Grid:
    """Means, ranks and tests of both measures on the same tables."""
    by_ari, by_acc = standings(ari), standings(acc)
    columns = [
        _marked(by_ari["mean"], _score, higher=True),
        _marked(by_ari["rank"], _rank, higher=False),
        _marked(by_ari["p"], _p_value),
        _marked(by_ari["holm"], _p_value),
        _marked(by_acc["mean"], _score, higher=True),
        _marked(by_acc["rank"], _rank, higher=False),
        _marked(by_acc["p"], _p_value),
    ]
    head = ["method", "ARI", "rank", f"p against {CONTROL}", "after Holm", "ACC", "rank", "p"]
    rows = [[Cell(name), *cells] for name, *cells in zip(ari.columns, *columns, strict=True)]
    return Grid(f"{title}: {len(ari)}", head, rows)


def family_grid(means: pd.DataFrame) -> Grid:
    """Mean of each method over the planted tables of a kind."""
    planted = means[means.index.get_level_values("group") == "planted"]
    rows = []
    for family, own in planted.groupby(level="family", sort=False):
        cells = _marked(own.mean(), _score, higher=True)
        rows.append([Cell(FAMILIES.get(str(family), str(family))), Cell(str(len(own))), *cells])
    return Grid("planted tables by kind, mean ARI", ["kind", "tables", *means.columns], rows)


def table_grid(means: pd.DataFrame) -> Grid:
    """Every table."""
    rows = [
        [Cell(str(table)), Cell(str(group)), *_marked(own, _score, higher=True)]
        for (group, _, table), own in means.iterrows()
    ]
    return Grid("every table, ARI", ["table", "group", *means.columns], rows)


def ties_grid(runs: pd.DataFrame) -> Grid:
    """Grove with and without tied columns, by kind of generated table."""
    rows, runs = [], runs.assign(over=runs["certainty"] - runs["accuracy"])
    for family, own in runs.groupby("family", sort=False):
        means = own.groupby("ties")[["ari", "over", "tied", "used", "columns"]].mean()
        auto, none = means.loc["auto"], means.loc["none"]
        cells = _marked(pd.Series([auto["ari"], none["ari"]]), _score, higher=True)
        cells += [Cell(f"{each['over']:+.3f}") for each in (auto, none)]
        cells += [Cell(f"{auto['tied']:.1f}"), Cell(f"{auto['used']:.0f} of {auto['columns']:.0f}")]
        rows.append([Cell(DEPENDENT[str(family)]), Cell(str(own["seed"].nunique())), *cells])
    head = ["kind", "tables", "ARI", "ties=None", "certainty - accuracy", "ties=None", "tied", "used"]
    return Grid("generated tables, mean ARI", head, rows)


def lost_grid(results: pd.DataFrame) -> Grid:
    """How often clusters are lost, or one holds nearly all rows."""
    rows = []
    for method, own in in_order(results).groupby("method", sort=False):
        lost, large = own["clusters"] < own["asked"], own["largest"] > LOPSIDED
        texts = (str(method), f"{len(own):,}", f"{lost.sum():,}", f"{large.sum():,}")
        rows.append([Cell(text) for text in texts])
    rows.sort(key=lambda row: METHODS.index(row[0].text) if row[0].text in METHODS else len(METHODS))
    head = ["method", "runs", "fewer clusters than asked for", f"largest cluster above {LOPSIDED:.0%}"]
    return Grid("clusters", head, rows)


def summary(results: pd.DataFrame) -> str:
    """The tables of the page for a terminal."""
    ari, acc = scores(results, "ari"), scores(results, "acc")
    grids = [
        standing_grid(title, own, own_acc)
        for (title, own), (_, own_acc) in zip(parts(ari), parts(acc), strict=True)
    ]
    return "\n\n".join(to_plain(grid) for grid in (*grids, family_grid(ari), lost_grid(results)))


def page(results: pd.DataFrame, ties: pd.DataFrame) -> str:
    """The page in Markdown, from the runs of ``benchmarks/quality.py`` and ``benchmarks/ties.py``."""
    ari, acc = scores(results, "ari"), scores(results, "acc")
    titled = zip(parts(ari), parts(acc), strict=True)
    return Template(TEMPLATE.read_text("utf-8")).substitute(
        compared=_compared(results, ari),
        latent=_latent(results),
        claims="\n".join(_claims(ari)),
        no_claims="\n".join(_no_claims(ari)) or "- On these tables there is nothing of the kind.",
        weak="\n".join(_weak(ari)),
        standings="\n\n".join(
            f"### {title[0].upper()}{title[1:]}: {len(own)}\n\n"
            + to_markdown(standing_grid(title, own, own_acc))
            for (title, own), (_, own_acc) in titled
        ),
        families=to_markdown(family_grid(ari)),
        ties=to_markdown(ties_grid(ties)),
        lost=to_markdown(lost_grid(results)),
        lopsided=f"{LOPSIDED:.0%}",
        tables=folded(f"{len(ari)} tables", to_markdown(table_grid(ari))),
    )


def _compared(results: pd.DataFrame, means: pd.DataFrame) -> str:
    counts = [f"{len(own)} {title}" for title, own in list(parts(means))[1:]]
    seeds = results["seed"].nunique()
    return (
        f"{len(means)} tables with known classes ({_listed(counts)}), {len(means.columns)} methods, "
        f"{seeds} seeds: {len(results):,} runs."
    )


def _latent(results: pd.DataFrame) -> str:
    own = results[results["method"] == "latent classes"]
    larger = own.loc[own["program"] != "stepmix", "table"].drop_duplicates()
    quick = own.loc[own["program"] == "stepmix", "table"].nunique()
    if larger.empty:
        return f"StepMix on all {quick} tables"
    return (
        f"StepMix on {quick} tables, and on the {len(larger)} where that takes too long "
        f"({', '.join(larger)}) an EM of our own for the same likelihood"
    )


def _claims(means: pd.DataFrame) -> Iterator[str]:
    """What the tests allow, and where Grove stands in the means."""
    for title, own in parts(means):
        found = standings(own)
        ahead = found[(found["ahead"] > 0) & (found["holm"] < LEVEL)]
        texts = [f"{name} ({_score(row['mean'])}, {_p_words(row['holm'])})" for name, row in ahead.iterrows()]
        against = f" It is ahead of {_listed(texts)}." if texts else ""
        yield f"- On {_called(title, own)} {_place(found)}{against}"


def _place(found: pd.DataFrame) -> str:
    """Where Grove's mean and mean rank stand."""
    means = found["mean"].drop(CONTROL).sort_values(ascending=False)
    ranks = found["rank"].drop(CONTROL).sort_values()
    mean, rank = found.loc[CONTROL, "mean"], found.loc[CONTROL, "rank"]
    highest = "the highest" if float(_score(mean)) > float(_score(means.iloc[0])) else "not the highest"
    best = "the best" if float(_rank(rank)) < float(_rank(ranks.iloc[0])) else "not the best"
    mean_words = f"{highest} mean ARI ({_score(mean)}; {means.index[0]} {_score(means.iloc[0])})"
    rank_words = f"{best} mean rank ({_rank(rank)} of {len(found)}; {ranks.index[0]} {_rank(ranks.iloc[0])})"
    return f"{CONTROL} has {mean_words} and {rank_words}."


def _no_claims(means: pd.DataFrame) -> Iterator[str]:
    """Pairs in which the test after Holm does not speak for Grove."""
    for title, own in parts(means):
        found = standings(own)
        level = found[((found["ahead"] <= 0) | (found["holm"] >= LEVEL)) & (found.index != CONTROL)]
        here = _score(found.loc[CONTROL, "mean"])
        texts = [
            f"{name} ({here} against {_score(row['mean'])}, {_verdict(row)}{_p_words(row['holm'])})"
            for name, row in level.iterrows()
        ]
        if texts:
            yield f"- that {CONTROL} is better on {_called(title, own)} than {_listed(texts, 'or')};"


def _verdict(row: pd.Series) -> str:
    return "behind, " if row["ahead"] < 0 and row["holm"] < LEVEL else ""


def _weak(means: pd.DataFrame) -> Iterator[str]:
    """Kinds of planted tables, and single tables, on which another method is ahead."""
    others = means.drop(columns=CONTROL)
    planted = means[means.index.get_level_values("group") == "planted"]
    for family, own in planted.groupby(level="family", sort=False):
        best = own.drop(columns=CONTROL).mean().sort_values(ascending=False)
        if best.iloc[0] > own[CONTROL].mean():
            words = FAMILIES.get(str(family), str(family))
            yield (
                f"- planted tables, {words}: {best.index[0]} {_score(best.iloc[0])}, {CONTROL} "
                f"{_score(own[CONTROL].mean())} (means of {len(own)});"
            )
    behind = (others.max(axis=1) - means[CONTROL]).sort_values(ascending=False)
    behind = behind[behind > 0].head(MOST_BEHIND)
    texts = [
        f"{key[2]} ({others.loc[key].idxmax()} {_score(others.loc[key].max())}, {CONTROL} "
        f"{_score(means.loc[key, CONTROL])})"
        for key in behind.index
    ]
    yield f"- single tables, the farthest behind first: {'; '.join(texts) or 'none'}."


def _marked(values: pd.Series, text: Callable[[float], str], higher: bool | None = None) -> list[Cell]:
    """Cells; the best and the second best, as printed, are marked where it is said which are better."""
    texts = [text(float(value)) for value in values]
    if higher is None:
        return [Cell(one) for one in texts]
    known = sorted({float(one) for one in texts if one}, reverse=higher)
    places = {value: place for place, value in enumerate(known[:2], start=1)}
    return [Cell(one, places.get(float(one), 0) if one else 0) for one in texts]


def _score(value: float) -> str:
    return f"{value:.3f}"


def _rank(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def _p_value(value: float) -> str:
    if np.isnan(value):
        return ""
    return "< .0001" if value < 0.0001 else f"{value:.2g}"


def _p_words(value: float) -> str:
    text = _p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _called(title: str, own: pd.DataFrame) -> str:
    return f"all {len(own)} tables" if title == "all tables" else f"the {len(own)} {title}"


def _listed(texts: Sequence[str], last: str = "and") -> str:
    *most, end = texts
    return f"{', '.join(most)} {last} {end}" if most else end


def main() -> None:
    """Write the page, if Grove is among the methods."""
    results = read_results(RESULTS)
    if CONTROL not in set(results["method"]):
        raise SystemExit(f"{RESULTS.name} has no runs of {CONTROL} yet: run benchmarks/quality.py first.")
    PAGE.write_text(page(results, pd.read_csv(TIES)), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(results):,} runs")


if __name__ == "__main__":
    main()
