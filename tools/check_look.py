"""Precision and recall of the findings of ``catalpa.look`` on the labelled files of the data folder.

    python tools/check_look.py            # prints the table, writes results/look.csv and docs/inside/look.md
    python tools/check_look.py --wrong    # lists what is wrong and what is missed

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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from catalpa.errors import CatalpaError
from catalpa.inspection.columns import number_text
from catalpa.inspection.look import Look, look
from catalpa.table.files.sources import read_table

ROOT = Path(__file__).resolve().parents[1]
RESULT, PAGE = ROOT / "results" / "look.csv", ROOT / "docs" / "inside" / "look.md"
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
    *("order (safe)", "its order right"),
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
    counted: Counted, file: str, names: Sequence[str], labels: Mapping[str, Any], seen: Look
) -> None:
    """Compare what was found in a file with its labels."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in seen.lines:
        if line.kind.value not in ("order", "text") or (line.kind.value == "text" and line.safe):
            found[line.kind.value] += line.columns
    found["left out (both)"] = found["identifier"] + found["text"]
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
    plain = [one for one in seen.recipe.fields if not one.ordered and one.type in ("any", "string")]
    words |= {(one.name, value) for one in plain for value, _ in one.missing}
    counted.add("sentinel (proposed)", file, true["numbers"], sentinels)
    counted.add("word for missing", file, true["words"], words)


def _count_groups(
    counted: Counted, file: str, names: Sequence[str], labels: Mapping[str, Any], seen: Look
) -> None:
    """A block is found if half of its columns are in one that was found; pairs are counted each."""
    for kind, key in (("block", "block"), ("word", "vblock")):
        true = [frozenset(columns_of(patterns, names)) for patterns in labels.get(key, ())]
        entries = seen.recipe.proposed.get(kind, [])
        found = [frozenset(own) for own in (entries.values() if isinstance(entries, dict) else entries)]
        hits = {
            own: next((other for other in true if len(own & other) * 2 >= len(own)), own) for own in found
        }
        counted.add(f"{kind} (proposed)", file, true, hits.values())
    pairs = {frozenset(pair) for group in labels.get("copy", ()) for pair in _pairs(columns_of(group, names))}
    pairs |= {frozenset(columns_of(pair, names)) for pair in labels.get("hier", ())}
    made: dict[str, set[frozenset[str]]] = {}
    for kind in ("copy", "follows", "rise"):
        sources = seen.recipe.proposed.get(kind, {})
        made[kind] = {frozenset((name, other)) for name, own in sources.items() for other in own}
    counted.add(
        "copy or follows (proposed)", file, pairs, made["copy"] | made["follows"] | (made["rise"] & pairs)
    )


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
        count_file(counted, file, table.column_names, labels, seen)
    return counted, refused, seconds


def _misread(labels: Mapping[str, Any], columns: int) -> bool:
    """Whether labels name positions that the table does not have."""
    return any(int(at) >= columns for at in re.findall(r"#(?:\d+-)?(\d+)", json.dumps(labels)))


def read_result(path: Path) -> list[dict[str, str]]:
    """The lines of the stored result."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page(lines: Sequence[Mapping[str, Any]]) -> str:
    """The page of the documentation."""
    head = ("finding", "applied", "labelled", "found", "right", "precision", "recall")
    rows = "\n".join("| " + " | ".join(str(line[name]) for name in head) + " |" for line in lines)
    return PAGE_TEXT.format(head=" | ".join(head), rule="|".join(["---"] * len(head)), rows=rows)


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
"""


def main() -> None:
    """Print the table, and write it unless asked for the wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="list what is wrong and what is missed")
    asked = parser.parse_args()
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
