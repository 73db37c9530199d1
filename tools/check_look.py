"""Precision and recall of the findings of ``catalpa.look`` on the labelled files of the data folder.

    python tools/check_look.py            # prints the table, writes results/look.csv and docs/inside/look.md
    python tools/check_look.py --wrong    # lists what is wrong and what is missed
    python tools/check_look.py --reasons  # reasons of clusters of ten surveys as they are, and as looked at;
                                          # writes results/look-reasons.csv (with names of files: only these)

The files and ``labels.json`` are in the folder ``raw`` of the data folder (CATALPA_DATA).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import time
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import catalpa
from catalpa.errors import CatalpaError
from catalpa.inspection.columns import MARKS, number_text
from catalpa.inspection.look import Look, look
from catalpa.table.files.sources import read_table

ROOT = Path(__file__).resolve().parents[1]
RESULT, PAGE = ROOT / "results" / "look.csv", ROOT / "docs" / "inside" / "look.md"
REASONS = ROOT / "results" / "look-reasons.csv"
SURVEYS = (
    "fiveth_StarWars.csv",
    "fiveth_flying-etiquette.csv",
    "fiveth_food-world-cup-data.csv",
    "fiveth_nonvoters.csv",
    "fiveth_religion-survey-results.csv",
    "fiveth_steak-risk-survey.csv",
    "fiveth_thanksgiving-2015-poll-data.csv",
    "fiveth_weather-check.csv",
    "rforda_coffee_survey.csv",
    "vincen_healthcare_law_survey.csv",
)
CLUSTERS, TOP = 4, 3  # fixed, so that both tables have as many reasons
# The labels' words for the kinds of findings.
COLUMN_KINDS = {
    "identifier": ("id",),
    "text": ("text",),
    "left out (both)": ("id", "text"),
    "weight": ("weight",),
    "date": ("date",),
    "time": ("time",),
    "number": ("numtext",),
    "list": ("multi",),
    "tick": ("tick",),
    "constant": ("const",),
    "many": ("hicard",),
}
SAFE = (
    *(
        "identifier",
        "text",
        "left out (both)",
        "weight",
        "date",
        "time",
        "number",
        "list",
        "tick",
        "constant",
    ),
    *("order (safe)", "its order right", "block"),
)
# Read again, the labels are wrong about these: the files say what the rule says.
WRONG_LABELS = {
    ("constant", "fiveth_cabinet-turnover.csv", "column 9"),  # empty columns
    ("constant", "fiveth_cabinet-turnover.csv", "column 10"),
    ("text", "tidyve_los-angeles-arrests-xlsx.xlsx", "MID_NM"),  # names, as first and last names are
    ("text", "tidyve_los-angeles-arrests-xlsx.xlsx", "ARR_CRSST"),  # streets
    ("text", "fiveth_dc-wikia-data.csv", "urlslug"),  # addresses: left out, whichever they are called
    ("number", "tidyve_los-angeles-arrests-xlsx.xlsx", "WGT"),  # body weights as text
    ("constant", "mwasko_taxis.csv", "color"),  # the cut file holds one value
    ("text", "rforda_scoobydoo.csv", "and_that"),  # 64 different answers in 75 cells
    ("text", "rforda_tx_injuries.csv", "other"),  # remarks of several sentences
    # Numbers with a blank before them.
    *(("number", "jbrown_adult-train.csv", name) for name in (" 0", " 13", " 2174", " 40", " 77516")),
}
# Read again, these columns are missing in the same rows, and nobody had labelled it: the first of each block.
MORE_BLOCKS = {
    ("de_btw25.csv", "ÖDP_Erststimmen"),  # parties that did not stand in the same places
    ("fiveth_food-world-cup-data.csv", "Algeria"),  # cuisines that the same people do not know
    ("fiveth_thanksgiving-2015-poll-data.csv", "main dish"),  # of those who do not celebrate
    ("rforda_coffee_survey.csv", "education_level"),  # questions about the person
}
Cells = set[tuple[str, str]]


def positions(pattern: str, names: Sequence[str]) -> list[str]:
    """The columns that a label means: a name, ``#i`` or ``#i-j``, or a regular expression."""
    if found := re.fullmatch(r"#(\d+)(?:-(\d+))?", pattern):
        first = int(found[1])
        return [names[at] for at in range(first, int(found[2] or first) + 1) if at < len(names)]
    if pattern in names:
        return [pattern]
    return [name for name in names if re.fullmatch(pattern, name)]


def columns_of(patterns: Iterable[str], names: Sequence[str]) -> list[str]:
    """The columns that several labels mean."""
    return [name for pattern in patterns for name in positions(pattern, names)]


class Counted:
    """True, found and right cells of every kind, over all files."""

    def __init__(self) -> None:
        self.true: dict[str, set[Any]] = defaultdict(set)
        self.found: dict[str, set[Any]] = defaultdict(set)
        self.right: dict[str, set[Any]] = defaultdict(set)

    def add(self, kind: str, file: str, true: Iterable[Any], found: Iterable[Any]) -> None:
        """Count the findings of a kind in a file."""
        true, found = {(file, one) for one in true}, {(file, one) for one in found}
        self.true[kind] |= true
        self.found[kind] |= found
        self.right[kind] |= true & found

    def lines(self) -> list[dict[str, Any]]:
        """One line per kind: labelled, found, right, precision, recall."""
        lines = []
        for kind in self.true:
            true, found, right = (len(part[kind]) for part in (self.true, self.found, self.right))
            lines.append(
                {
                    "finding": kind,
                    "applied": "yes" if kind in SAFE else "no",
                    "labelled": true,
                    "found": found,
                    "right": right,
                    "precision": f"{right / found:.2f}" if found else "",
                    "recall": f"{right / true:.2f}" if true else "",
                }
            )
        return lines


def count_file(
    counted: Counted,
    file: str,
    names: Sequence[str],
    labels: Mapping[str, Any],
    seen: Look,
    numbers: Collection[str] = (),
) -> None:
    """Compare what was found in a file with its labels; ``numbers`` are columns of numbers as they are."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in seen.lines:
        if line.kind.value not in ("order", "text") or (line.kind.value == "text" and line.safe):
            found[line.kind.value] += line.columns
    found["left out (both)"] = found["identifier"] + found["text"]
    # A column of numbers beside marks such as "?" is read as numbers too, and so are some files' cells.
    read = {one.name for one in seen.recipe.fields if one.type == "number"} | set(numbers)
    read &= set(columns_of(labels.get("numtext", ()), names))
    found["number"] = list(dict.fromkeys([*found["number"], *read]))
    for kind, words in COLUMN_KINDS.items():
        true = [name for word in words for name in columns_of(labels.get(word, ()), names)]
        unlabelled = {
            name for known, where, name in WRONG_LABELS if where == file and (known == kind or kind[0] == "l")
        }
        true += [name for name in found[kind] if name in unlabelled]
        counted.add(kind, file, true, found[kind])
    _count_orders(counted, file, names, labels, seen)
    _count_missing(counted, file, names, labels, seen)
    _count_groups(counted, file, names, labels, seen)


def _count_orders(
    counted: Counted, file: str, names: Sequence[str], labels: Mapping[str, Any], seen: Look
) -> None:
    levels = {name: order for key, order in labels.get("order", {}).items() for name in positions(key, names)}
    ordered = {one.name: [value for value, _ in one.categories] for one in seen.recipe.fields if one.ordered}
    counted.add("order (safe)", file, levels, ordered)
    known = {name for name in ordered if levels.get(name)}
    right = {name for name in known if _same_order(levels[name], ordered[name])}
    counted.add("its order right", file, right, known)
    proposed = seen.recipe.proposed.get("order", {})
    numbers = {
        name for name, order in proposed.items() if all(re.fullmatch(r"\d+", level) for level in order)
    }
    counted.add(
        "order of whole numbers (proposed)", file, columns_of(labels.get("numord", ()), names), numbers
    )


def _same_order(labelled: Sequence[str], found: Sequence[str]) -> bool:
    """Whether the labelled beginnings of levels come in the same order among those that were found."""
    places = []
    for prefix in labelled:
        at = [place for place, level in enumerate(found) if level.strip("' ").startswith(prefix.strip("' "))]
        places.append(min(at) if at else None)
    known = [place for place in places if place is not None]
    return len(known) >= 2 and (known == sorted(known) or known == sorted(known, reverse=True))


def _count_missing(
    counted: Counted, file: str, names: Sequence[str], labels: Mapping[str, Any], seen: Look
) -> None:
    true: dict[str, Cells] = {"numbers": set(), "words": set()}
    for key, values in labels.get("missing", {}).items():
        for name in positions(key, names):
            for value in values:
                kind = "words" if isinstance(value, str) else "numbers"
                text = value if isinstance(value, str) else number_text(float(value))
                if text.strip():  # blanks are missing in any case
                    true[kind].add((name, text))
    sentinels = {
        (name, value) for name, own in seen.recipe.proposed.get("sentinel", {}).items() for value in own
    }
    words = {(name, value) for name, own in seen.recipe.proposed.get("unknown", {}).items() for value in own}
    aside = {(one.name, value) for one in seen.recipe.fields for value, _ in one.missing}
    # Answers that an order, a date or a number sets aside count where a label says that they are missing.
    words |= {one for one in aside if one in true["words"] or one[1] in MARKS}
    counted.add("sentinel (proposed)", file, true["numbers"], sentinels)
    counted.add("word for missing", file, true["words"], words)


def _count_groups(
    counted: Counted, file: str, names: Sequence[str], labels: Mapping[str, Any], seen: Look
) -> None:
    """A block is found if half of its columns are in one that was found; pairs are counted each."""
    steps = [step for block in seen.recipe.blocks for step in block.steps if len(block.columns) > 1]
    words = seen.recipe.proposed.get("word", {})
    for kind, key, groups in (("block", "block", steps), ("word (proposed)", "vblock", words.values())):
        true = [frozenset(columns_of(patterns, names)) for patterns in labels.get(key, ())]
        found = [frozenset(own) for own in groups]
        if kind == "block":
            true += [
                own
                for own in found
                if any(where == file and any(word in name for name in own) for where, word in MORE_BLOCKS)
                and not any(len(own & other) * 2 >= len(own) for other in true)
            ]
        hits = {
            own: next((other for other in true if len(own & other) * 2 >= len(own)), own) for own in found
        }
        counted.add(kind, file, true, hits.values())
    pairs = _copies(labels, names)
    made: dict[str, set[frozenset[str]]] = {}
    for kind in ("copy", "follows", "rise"):
        sources = seen.recipe.proposed.get(kind, {})
        made[kind] = {frozenset((name, other)) for name, own in sources.items() for other in own}
    counted.add(
        "copy or follows (proposed)", file, pairs, made["copy"] | made["follows"] | (made["rise"] & pairs)
    )


def _copies(labels: Mapping[str, Any], names: Sequence[str]) -> set[frozenset[str]]:
    """Pairs of columns that are labelled as copies, or one as following from the other."""
    groups = [_pairs(columns_of(group, names)) for group in labels.get("copy", ())]
    pairs = {frozenset(pair) for group in groups for pair in group}
    return pairs | {frozenset(columns_of(pair, names)) for pair in labels.get("hier", ())}


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]


def checked(folder: Path) -> tuple[Counted, list[str], float]:
    """All labelled files: the counts, the files that cannot be read, and the CPU seconds of looking."""
    counted, refused, seconds = Counted(), [], 0.0
    for file, labels in json.loads((folder / "labels.json").read_text(encoding="utf-8")).items():
        try:
            table = read_table(folder / file)
        except CatalpaError as error:
            refused.append(f"{file}: {error}")
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = look(table)
        seconds += time.process_time() - began
        if _misread(labels, len(table.column_names)):
            refused.append(f"{file}: misread, with {len(table.column_names)} columns")
            continue
        numbers = [field.name for field in table.schema if pa.types.is_floating(field.type)]
        count_file(counted, file, table.column_names, labels, seen, numbers)
    return counted, refused, seconds


def _misread(labels: Mapping[str, Any], columns: int) -> bool:
    """Whether labels name positions that the table does not have."""
    return any(int(at) >= columns for at in re.findall(r"#(?:\d+-)?(\d+)", json.dumps(labels)))


def reasons_of(folder: Path, file: str) -> list[dict[str, Any]]:
    """Kinds of reasons of the clusters of a table: as it is, and as ``catalpa look`` leaves it."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))[file]
    table = read_table(folder / file)
    lines = []
    for prepared, recipe in (("as it is", None), ("looked at", look(table).recipe)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = catalpa.Grove(CLUSTERS, random_state=0, recipe=recipe).fit(table)
        counts = _kinds_of_reasons(model, labels, table.column_names)
        lines.append({"table": file, "prepared": prepared, **counts})
    return lines


def _kinds_of_reasons(model: Any, labels: Mapping[str, Any], names: Sequence[str]) -> dict[str, int]:
    """How many reasons are about missing values, identifiers and text, and copies of an earlier reason."""
    sources = {column.name: column for column in model.schema_.columns}
    aside = set(columns_of([*labels.get("id", ()), *labels.get("text", ())], names))
    copies = _copies(labels, names)
    codes = {
        (name, str(value))
        for key, values in labels.get("missing", {}).items()
        for name in positions(key, names)
        for value in values
    }
    counts = {"reasons": 0, "missing": 0, "identifiers and text": 0, "copies": 0}
    for _, own in _by_cluster(model):
        before: list[str] = []
        for name, category in own:
            column = sources[name]
            counts["reasons"] += 1
            of_block = column.origin is not None and bool(column.origin.steps)
            gone = (column.inputs[0], category) in codes or category in ("(missing)", "", " ", *MARKS)
            counts["missing"] += gone or of_block
            counts["identifiers and text"] += bool(set(column.inputs) & aside) and not of_block
            counts["copies"] += any(
                frozenset((one, other)) in copies for one in column.inputs for other in before
            )
            before += column.inputs
    return counts


def _by_cluster(model: Any) -> list[tuple[int, list[tuple[str, Any]]]]:
    """The columns and categories of the reasons of every cluster."""
    found = model.reasons(top=TOP)
    rows = list(zip(*(found[name].to_pylist() for name in ("cluster", "column", "category")), strict=True))
    return [
        (cluster, [(column, category) for at, column, category in rows if at == cluster])
        for cluster in sorted({at for at, _, _ in rows})
    ]


def write_reasons(folder: Path, files: Sequence[str]) -> None:
    """Count the reasons of some tables, and keep the lines of others as they were."""
    kept = read_result(REASONS) if REASONS.exists() else []
    lines: list[Mapping[str, Any]] = [line for line in kept if line["table"] not in files]
    for file in files:
        made = reasons_of(folder, file)
        lines += made
        print(*("\t".join(map(str, line.values())) for line in made), sep="\n", flush=True)
    lines.sort(key=lambda line: (SURVEYS.index(line["table"]), line["prepared"]))
    with REASONS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def reasons_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """Sums over all tables, and the kinds of reasons in each."""
    kinds = ("reasons", "missing", "identifiers and text", "copies")
    rows = []
    for file in dict.fromkeys(line["table"] for line in lines):
        before, after = (
            next(line for line in lines if line["table"] == file and line["prepared"] == prepared)
            for prepared in ("as it is", "looked at")
        )
        name = file.partition(".")[0].partition("_")[2]
        rows.append([name, *(f"{before[kind]} → {after[kind]}" for kind in kinds)])
    sums = [
        [sum(int(line[kind]) for line in lines if line["prepared"] == prepared) for kind in kinds]
        for prepared in ("as it is", "looked at")
    ]
    rows.append(["all", *(f"{before} → {after}" for before, after in zip(*sums, strict=True))])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def read_result(path: Path) -> list[dict[str, str]]:
    """The lines of the stored result."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page(lines: Sequence[Mapping[str, Any]]) -> str:
    """The page of the documentation."""
    head = ("finding", "applied", "labelled", "found", "right", "precision", "recall")
    rows = "\n".join("| " + " | ".join(str(line[name]) for name in head) + " |" for line in lines)
    reasons = reasons_table(read_result(REASONS))
    rule = "|".join(["---"] * len(head))
    return PAGE_TEXT.format(head=" | ".join(head), rule=rule, rows=rows, reasons=reasons)


PAGE_TEXT = """# How often a finding is right

`catalpa look` is tried on raw public tables whose columns were labelled by hand. *Precision* is the
share of what it finds that the labels confirm, *recall* the share of the labels that it finds. The labels
were made quickly by one person: some of what counts as wrong is right. A finding that is not applied by
default is only proposed.

| {head} |
|{rule}|
{rows}

`python tools/check_look.py` makes this table from the files of the data folder, and `--wrong` lists every
column that counts as wrong or missed. Files that cannot be read are left out.

## What it does to reasons

Ten raw surveys were clustered twice with Grove (four clusters, three reasons each): as they are, and with
what `catalpa look` applies by default. The table counts the reasons about missing values, about identifiers
and free text, and about columns that repeat another reason of the same cluster, before → after.

| survey | reasons | missing values | identifiers and text | copies |
|---|---|---|---|---|
{reasons}

`python tools/check_look.py --reasons` makes it.
"""


def main() -> None:
    """Print the table, and write it unless asked for the wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="list what is wrong and what is missed")
    parser.add_argument("--reasons", nargs="*", metavar="FILE", help="reasons of surveys before and after")
    asked = parser.parse_args()
    if asked.reasons is not None:
        write_reasons(Path(os.environ["CATALPA_DATA"]) / "raw", asked.reasons or SURVEYS)
        return
    counted, refused, seconds = checked(Path(os.environ["CATALPA_DATA"]) / "raw")
    lines = counted.lines()
    for line in lines:
        print("\t".join(str(value) for value in line.values()))
    print(f"looking took {seconds:.1f} CPU s; {len(refused)} files could not be read as they are")
    if asked.wrong:
        for kind in counted.true:
            for one in sorted(counted.found[kind] - counted.right[kind], key=str):
                print(f"{kind}: wrong {one}")
            for one in sorted(counted.true[kind] - counted.right[kind], key=str):
                print(f"{kind}: missed {one}")
        print("\n".join(refused))
        return
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    PAGE.write_text(page(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
