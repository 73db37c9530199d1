"""Texts of the first screen of a page: reasons that begin with the answer, and the use of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from catalpa.estimator.attributes import column_notes, repeats_of
from catalpa.estimator.problem import Fitted
from catalpa.explain.formatting import figure, percent, shortened
from catalpa.explain.reasons import FAR
from catalpa.table.gap_blocks import UP_TO

MOST_LINES = 3  # reasons of a cluster
SHORT = 24  # longest name of a column that is not a question
NAME_WIDTH = 60
PLAIN_ANSWERS = ("yes", "no", "true", "false")  # answers that need the name of their column
RANGES = ("up to ", "below ")
ROLES = {
    "id": "identifier",
    "text": "free text",
    "weight": "weight",
    "constant": "constant",
    "show": "shown only",
}


def answer_lines(
    reasons: Iterable[Mapping[str, Any]],
    most: int = MOST_LINES,
    items: Mapping[str, tuple[str, str]] | None = None,
) -> list[dict[str, Any]]:
    """The first reasons of a cluster as lines: the answer, its columns, and the figures.

    Categories of the same name and shares in several columns, such as "No internet service", are one line.
    ``items`` has the question and the item of columns that share a question: the item is part of the answer.

    Examples
    --------
    >>> bits = {"share": 1.0, "share_elsewhere": 0.0, "missing": False, "kind": "common"}
    >>> columns = ("OnlineBackup", "StreamingTV")
    >>> found = [{"column": name, "category": "no internet", **bits} for name in columns]
    >>> answer_lines(found)
    [{'answer': 'no internet', 'columns': ['OnlineBackup', 'StreamingTV'], 'figures': '100 %, nowhere else'}]
    """
    lines: list[dict[str, Any]] = []
    by_answer: dict[tuple[str, str], dict[str, Any]] = {}
    for reason in reasons:
        line = _number_line(reason) if reason["kind"] == "number" else _category_line(reason, items or {})
        key = line["answer"], line["figures"]
        known = by_answer.get(key) if line["columns"] else None
        if known is not None:
            known["columns"] += line["columns"]
        elif len(lines) < most:
            by_answer[key] = line
            lines.append(line)
    return lines


def _number_line(reason: Mapping[str, Any]) -> dict[str, Any]:
    column = shortened(reason.get("title") or reason["column"], NAME_WIDTH)
    if abs(reason["shift"]) < FAR:
        spreads = f"SD {figure(reason['sd'])}, elsewhere {figure(reason['sd_elsewhere'])}"
        return {
            "answer": f"{column} around {figure(reason['mean'], reason['sd'])}",
            "columns": [],
            "figures": spreads,
        }
    side = "high" if reason["shift"] > 0 else "low"
    means = (
        f"mean {figure(reason['mean'], reason['sd'])}, "
        f"elsewhere {figure(reason['mean_elsewhere'], reason['sd_elsewhere'])}"
    )
    return {"answer": f"{side} {column}", "columns": [], "figures": means}


def _category_line(reason: Mapping[str, Any], items: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    rare, share, elsewhere = reason["kind"] == "rare", reason["share"], reason["share_elsewhere"]
    called = reason.get("title") or reason["column"]
    question, item = items.get(called, (called, None))
    column, answer = shortened(question, NAME_WIDTH), shortened(reason["category"], NAME_WIDTH)
    if reason["missing"]:
        answer = "answered" if rare else "missing"
        if rare:
            share, elsewhere, rare = 1.0 - share, 1.0 - elsewhere, False
    columns = [column]
    # "Yes", "3" and "below 3" need their column; a long question would hide the answer.
    clear = answer[:1].isalpha() and len(answer) > 1 and answer.casefold() not in PLAIN_ANSWERS
    clear = clear and not answer.startswith(RANGES)
    if reason["column"].endswith(UP_TO):  # the last question that was reached
        answer, rare = f'{"stopped before" if rare else "answered up to"} "{answer}"', False
        if reason["kind"] == "rare":
            share, elsewhere = 1.0 - share, 1.0 - elsewhere
        columns = []
    elif item is not None:
        answer = f"{shortened(item, NAME_WIDTH)}: {answer}"
    elif len(column) <= SHORT and not (clear and not reason["missing"]):
        answer, columns = f"{column}: {answer}", []
    comparison = f"elsewhere {percent(elsewhere)}" if elsewhere else "nowhere else"
    figures = f"{percent(share)}, {comparison}"
    return {"answer": f"not {answer}" if rare else answer, "columns": columns, "figures": figures}


def column_use(fitted: Fitted, extra: Sequence[str]) -> dict[str, Any]:
    """Which columns were left out, put in order, or counted once, as one line and as sentences.

    ``extra`` are columns of the table that are not in the model.
    """
    recipe, schema = fitted.recipe, fitted.schema
    roles = (
        {} if recipe is None else {one.name: ROLES.get(one.role or "", "left out") for one in recipe.fields}
    )
    dropped = () if recipe is None else tuple(name for name in recipe.left_out if name not in schema.names)
    left_out = {name: roles.get(name, "left out") for name in dropped}
    left_out |= {name: "shown only" for name in extra if name not in left_out}
    groups = repeats_of(fitted)
    ordered = [column.name for column in schema.columns if column.kind.value == "ordinal"]
    parts = [
        f"{len(left_out):,} left out" if left_out else "",
        f"{len(ordered):,} in order" if ordered else "",
        f"{sum(map(len, groups)):,} repeat others and count as {len(groups):,}" if groups else "",
    ]
    by_role = Counter(left_out.values())
    texts = [
        f"{_listed([name for name, role in left_out.items() if role == wanted])} ({wanted})"
        for wanted in by_role
    ]
    sentences = [f"Left out: {'; '.join(texts)}."] if texts else []
    if ordered:
        sentences.append(f"In order: {_listed(ordered)}.")
    notes = [f"{note[:1].upper()}{note[1:]}." for note in column_notes(fitted)]
    return {
        "line": ", ".join(part for part in parts if part),
        "left_out": [{"column": name, "why": role} for name, role in left_out.items()],
        "sentences": [*sentences, *notes],
    }


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = [shortened(name, NAME_WIDTH) for name in names[:most]]
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*shown, *more])
