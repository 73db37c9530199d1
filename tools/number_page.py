"""Write docs/inside/number-of-clusters.md from results/number_of_clusters.csv; the only way it is written.

Run from the root of the repository, after ``benchmarks/number_of_clusters.py``::

    python tools/number_page.py
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, mean, median

from catalpa.estimator.auto_k import COARSE, FLOOR, MEDIUM, worth

RESULTS = Path("results/number_of_clusters.csv")
PAGE = Path("docs/inside/number-of-clusters.md")
LEVELS = ("none", "weak", "clear", "too few rows")
FIRST = 1000  # rows from which a table grows
MOST_EACH, MOST_MEAN, MOST_CPU = 1.5, 1.25, 2.0  # bounds that were set before the runs
LEAST_FOUND = 86  # of 90
SHARES, FLOORS = (0.01, 0.03, 0.05, 0.07, 0.10), (0.0, 0.01, 0.02, 0.04)

TEXT = """# Number of clusters: measurements

This page is made by `tools/number_page.py` from the runs stored in `results/number_of_clusters.csv`; no
number on it was typed.
`benchmarks/number_of_clusters.py` makes the runs. The rule and the verdict are described in
{{doc}}`/guides/choosing-k` and
{{doc}}`/guides/judging`.

## Tables that grow

Three draws of {first:,} random rows of five tables, and all rows of each; categorical columns, and for three
tables also the numeric ones. In brackets the coarse and the fine number. The last column is the number of
broad groups with all columns independent, if columns that repeat each other explain the table.

{growth}

From {first:,} rows (geometric mean of the draws) to all, k changes by a factor of {factors}. The geometric
mean is {growth_mean:.2f} (bound: {most_mean}), and {growth_failed} (bound for each table: {most_each}).
The coarse number changes by a factor of {coarse_factors}.

Where a small sample gets a single cluster, tied columns explain it as well as clusters would; more rows give
evidence for clusters beyond them. A bound on the factor cannot be met there without clusters that the small
sample does not show, or without giving up clusters that the whole table shows.

## No clusters

{noise_tables} tables of random categories and numbers ({noise_few} to {noise_most:,} rows) and real tables of
which every column was shuffled: {noise_above} of them got more than one cluster, and the verdict was none on
{noise_none}.

## Planted clusters

{planted_tables} tables of `make_categorical` with 2,000 rows, 12 columns of 4 categories and noise 0.5, and
{planted_few} to {planted_most} clusters.
The planted number was found in {planted_found} of them (bound: {least_found} of 90).

{planted}

Of {many_tables} tables with {many_few} to {many_most} planted clusters (3,000 rows, 20 columns, noise 0.4)
the number was found in {many_found}, and within one in {many_near}.

CPU time of a fit on {cpu_tables} of these tables, relative to the version before the rule (which took the
number with most evidence, and had no ties): median {cpu_median:.2f} (bound: {most_cpu}), largest
{cpu_most:.2f}.

## Columns that depend on each other

{dependent_tables} tables of 1,000 rows and 10 columns with 2 to 5 planted clusters (noise 0.5), to which
dependence inside the clusters was added: half of the columns copied with every tenth cell changed, half of
them again with two categories for four, half of them skipped by three of ten rows, or four of ten cells
copied from the column before. ARI: mean adjusted Rand index with the planted clusters.

{dependent}

## Verdicts

{calibration_tables} tables of 300 and 1,000 rows with 2 to 5 planted clusters, from clear to hidden (noise
0.4 to 0.8). The columns are independent
inside clusters, or half of them are there a second time with every tenth cell changed. ARI: mean adjusted
Rand index with the
planted clusters.

{calibration}

| columns | tables | exact | within one |
|---|--:|--:|--:|
{found}

## Tables of the quality study

The tables of {{doc}}`/inside/quality`, at most 3,000 random rows of each: {quality_planted} with planted
clusters, many of them weak or tiny by design, and {quality_real} real ones with known classes, which need not
be clusters.

{quality_found}

{quality_verdicts}

## Other constants

The same runs with another share of the gain that every cluster adds, or another floor in nats per row. The
numbers are read off the stored curves of the evidence, before samples of the rows are compared. Growth:
largest change of k from {first:,} rows to all, and geometric mean over the tables. In bold the constants of
the rule.

{variants}

A larger share gives numbers that change less with the rows, but fewer clusters can each add it: of k clusters
that are about equally distinct, the last adds about one k-th of the gain. A larger floor
also takes clusters away that are there. So the medium level stays at {chosen_share:.0f} %, and the coarse
level, at {coarse_share:.0f} %, is shown beside it for a number that hardly changes.
"""

Line = Mapping[str, str]


def main() -> None:
    """Write the page."""
    with RESULTS.open(newline="", encoding="utf-8") as file:
        PAGE.write_text(page(list(csv.DictReader(file))), encoding="utf-8")


def page(lines: Sequence[Line]) -> str:
    """The page of these results."""
    parts = {name: [line for line in lines if line["part"] == name] for name in PARTS}
    values: dict[str, object] = {}
    for name, make in PARTS.items():
        values |= make(parts[name])
    return TEXT.format(
        **values, variants=variants(parts), chosen_share=100 * MEDIUM, coarse_share=100 * COARSE
    )


def growth_values(lines: Sequence[Line]) -> dict[str, object]:
    """The table of growing tables, and by how much k changes."""
    names = list(dict.fromkeys(line["table"] for line in lines))
    rows, factors = [], growth_factors(lines, lambda line: int(line["k"]))
    coarse = growth_factors(lines, lambda line: int(line["coarse"]))
    for name in names:
        for line in sorted(
            (line for line in lines if line["table"] == name), key=lambda line: int(line["rows"])
        ):
            k = f"{line['k']} ({line['coarse']}, {line['fine']})"
            measured = line["verdict"], rounded(line["agreement"]), line["without_ties"]
            rows.append((name, f"{int(line['rows']):,}", k, *measured))
    failed = [name for name, factor in factors.items() if factor > MOST_EACH]
    return {
        "growth": drawn(("table", "rows", "k", "verdict", "agreement", "without ties"), rows),
        "coarse_factors": ", ".join(f"{factor:.2f} ({name})" for name, factor in coarse.items()),
        "first": FIRST,
        "factors": ", ".join(f"{factor:.2f} ({name})" for name, factor in factors.items()),
        "growth_mean": geometric_mean(factors.values()),
        "growth_failed": f"{'; '.join(failed)} changed by more" if failed else "no table changed by more",
        "most_mean": MOST_MEAN,
        "most_each": MOST_EACH,
    }


def growth_factors(lines: Sequence[Line], number: Callable[[Line], int]) -> dict[str, float]:
    """By how much the number of clusters of every table changes from 1 000 rows to all.

    Of several draws of 1 000 rows it is their geometric mean.
    """
    factors = {}
    for name in dict.fromkeys(line["table"] for line in lines):
        own = [line for line in lines if line["table"] == name]
        whole = number(max(own, key=lambda line: int(line["rows"])))
        ratio = whole / geometric_mean(number(line) for line in own if int(line["rows"]) == FIRST)
        factors[name] = max(ratio, 1.0 / ratio)
    return factors


def noise_values(lines: Sequence[Line]) -> dict[str, object]:
    """How many tables without clusters got some."""
    return {
        "noise_tables": len(lines),
        "noise_few": min(int(line["rows"]) for line in lines),
        "noise_most": max(int(line["rows"]) for line in lines),
        "noise_above": sum(int(line["k"]) > 1 for line in lines),
        "noise_none": sum(line["verdict"] == "none" for line in lines),
    }


def planted_values(lines: Sequence[Line]) -> dict[str, object]:
    """How often the planted number is found, and at what cost."""
    numbers = sorted({int(line["planted"]) for line in lines})
    rows = []
    for k in numbers:
        own = [line for line in lines if int(line["planted"]) == k]
        other = sorted({int(line["k"]) for line in own} - {k})
        rows.append((str(k), f"{exact(own)} of {len(own)}", ", ".join(map(str, other))))
    ratios = [float(line["cpu"]) / float(line["cpu_before"]) for line in lines if line["cpu_before"]]
    return {
        "planted_tables": len(lines),
        "planted_few": numbers[0],
        "planted_most": numbers[-1],
        "planted_found": exact(lines),
        "least_found": LEAST_FOUND,
        "planted": drawn(("planted", "found", "other numbers"), rows),
        "cpu_tables": len(ratios),
        "cpu_median": median(ratios),
        "cpu_most": max(ratios),
        "most_cpu": MOST_CPU,
    }


def many_values(lines: Sequence[Line]) -> dict[str, object]:
    """How often a large planted number is found."""
    numbers = [int(line["planted"]) for line in lines]
    return {
        "many_tables": len(lines),
        "many_few": min(numbers),
        "many_most": max(numbers),
        "many_found": exact(lines),
        "many_near": sum(abs(int(line["k"]) - int(line["planted"])) <= 1 for line in lines),
    }


def calibration_values(lines: Sequence[Line]) -> dict[str, object]:
    """Verdicts beside the agreement with planted clusters."""
    found = []
    for kind in dict.fromkeys(line["table"].partition(",")[0] for line in lines):
        own = [line for line in lines if line["table"].startswith(kind)]
        near = sum(abs(int(line["k"]) - int(line["planted"])) <= 1 for line in own)
        found.append(f"| {kind} | {len(own)} | {exact(own) / len(own):.2f} | {near / len(own):.2f} |")
    return {
        "calibration_tables": len(lines),
        "calibration": drawn(("verdict", "tables", "ARI", "ARI below 0.1"), verdict_rows(lines)),
        "found": "\n".join(found),
    }


def dependent_values(lines: Sequence[Line]) -> dict[str, object]:
    """How often the planted number is found if columns depend on each other."""
    rows = []
    for kind in dict.fromkeys(line["table"] for line in lines):
        own = [line for line in lines if line["table"] == kind]
        near = sum(abs(int(line["k"]) - int(line["planted"])) <= 1 for line in own) / len(own)
        agreed = mean(float(line["adjusted_rand"]) for line in own)
        figures = exact(own) / len(own), near, mean(int(line["k"]) for line in own), agreed
        rows.append((kind, str(len(own)), *(f"{figure:.2f}" for figure in figures)))
    head = ("dependence", "tables", "exact", "within one", "mean k", "ARI")
    return {"dependent_tables": len(lines), "dependent": drawn(head, rows)}


def quality_values(lines: Sequence[Line]) -> dict[str, object]:
    """Numbers and verdicts beside planted clusters and known classes."""
    kinds = {kind: [line for line in lines if line["table"].startswith(kind)] for kind in ("planted", "real")}
    found, verdicts = [], []
    for kind, own in kinds.items():
        away = [abs(int(line["k"]) - int(line["planted"])) for line in own]
        near = sum(each <= 1 for each in away) / len(own)
        k, known = (mean(int(line[name]) for line in own) for name in ("k", "planted"))
        agreed = mean(float(line["adjusted_rand"]) for line in own)
        figures = exact(own) / len(own), near, mean(away), k, known, agreed
        found.append((kind, str(len(own)), *(f"{figure:.2f}" for figure in figures)))
        verdicts += [(kind, *row) for row in verdict_rows(own)]
    return {
        "quality_planted": len(kinds["planted"]),
        "quality_real": len(kinds["real"]),
        "quality_found": drawn(
            ("tables", "number", "exact", "within one", "mean distance", "mean k", "known", "ARI"), found
        ),
        "quality_verdicts": drawn(("tables", "verdict", "number", "ARI", "ARI below 0.1"), verdicts),
    }


def verdict_rows(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """Every verdict, with the agreement with known clusters."""
    rows = []
    for level in LEVELS:
        own = [float(line["adjusted_rand"]) for line in lines if line["verdict"] == level]
        if own:
            low = sum(value < 0.1 for value in own) / len(own)
            rows.append((level, str(len(own)), f"{mean(own):.2f}", f"{low:.0%}".replace("%", " %")))
    return rows


def variants(parts: Mapping[str, Sequence[Line]]) -> str:
    """What other constants of the rule give on the same curves."""
    rows = []
    pairs = [(share, FLOOR) for share in SHARES] + [(MEDIUM, floor) for floor in FLOORS if floor != FLOOR]
    for share, floor in pairs:
        factors = list(growth_factors(parts["growth"], lambda line: by_curve(line, share, floor)).values())  # noqa: B023
        found = [
            f"{sum(by_curve(line, share, floor) == int(line['planted']) for line in lines)} of {len(lines)}"
            for lines in (parts["planted"], parts["many"], parts["calibration"], parts["quality"])
        ]
        above = sum(by_curve(line, share, floor) > 1 for line in parts["noise"])
        row = (
            f"{share:.0%}".replace("%", " %"),
            f"{floor:g}",
            f"{max(factors):.2f}",
            f"{geometric_mean(factors):.2f}",
            *found,
        )
        chosen = (share, floor) == (MEDIUM, FLOOR)
        rows.append([f"**{cell}**" if chosen else cell for cell in (*row, str(above))])
    head = (
        "share",
        "floor",
        "growth, largest",
        "growth, mean",
        "planted",
        "many",
        "for verdicts",
        "quality study",
        "noise above 1",
    )
    return drawn(head, rows)


def by_curve(line: Line, share: float, floor: float) -> int:
    """The number that a share and a floor give, without a look at the agreement of samples."""
    curve = {k: float(value) for k, value in enumerate(line["curve"].split(), start=1)}
    return worth(curve, share, 1.0, floor)


PARTS = {
    "growth": growth_values,
    "noise": noise_values,
    "planted": planted_values,
    "many": many_values,
    "dependent": dependent_values,
    "calibration": calibration_values,
    "quality": quality_values,
}


def exact(lines: Iterable[Line]) -> int:
    """How many tables got the planted number."""
    return sum(line["k"] == line["planted"] for line in lines)


def rounded(text: str) -> str:
    """Two digits of a number; nothing for none."""
    return f"{float(text):.2f}" if text and not math.isnan(float(text)) else ""


def drawn(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
