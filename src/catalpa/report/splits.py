"""The tree of splits of a model that asks its way to the clusters."""

from __future__ import annotations

from typing import Any

from catalpa.plot.view import View
from catalpa.relations.splits import SplitTree

__all__ = ["split_records"]


def split_records(view: View) -> list[dict[str, Any]] | None:
    """Every branch of the tree, each before those below it; None where the method grows no tree.

    Examples
    --------
    >>> import catalpa
    >>> from catalpa.plot.view import look
    >>> table = [["a", "p", "x"]] * 10 + [["b", "q", "y"]] * 10
    >>> for branch in split_records(look(catalpa.SigDT().fit(table), table)):
    ...     print(branch["depth"], branch["holds"], branch["asks"], branch["cluster"], branch["rows"])
    0 None x0 is a None 20
    1 True None 0 10
    1 False None 1 10
    """
    tree = getattr(view.model, "tree_", None)
    if not isinstance(tree, SplitTree):
        return None
    rules = tree.rules()
    rule_of = dict(zip(rules["cluster"], rules["rule"], strict=True))
    records, above = list[dict[str, Any]](), list[int]()  # and the line of the branch that each hangs on
    waiting: list[tuple[int, int, bool | None, int]] = [(0, 0, None, -1)]
    while waiting:
        branch, depth, holds, parent = waiting.pop()
        above.append(parent)
        records.append(_record(view, tree, branch, depth, holds, rule_of))
        if tree.places[branch] >= 0:
            line = len(records) - 1
            waiting.append((int(tree.no[branch]), depth + 1, False, line))
            waiting.append((int(tree.yes[branch]), depth + 1, True, line))
    for record, parent in zip(reversed(records), reversed(above), strict=True):
        if parent >= 0:
            records[parent]["rows"] += record["rows"]
    return records


def _record(
    view: View, tree: SplitTree, branch: int, depth: int, holds: bool | None, rule_of: dict[int, str]
) -> dict[str, Any]:
    """One branch; the rows of a leaf are those of the table that is looked at."""
    is_split = bool(tree.places[branch] >= 0)
    cluster = None if is_split else int(tree.labels[branch])
    return {
        "depth": depth,
        "holds": holds,
        "asks": tree.condition(branch, True) if is_split else None,
        "p_value": tree.p_value(branch) if is_split else None,
        "cluster": cluster,
        "rule": None if cluster is None else rule_of[cluster],
        "rows": 0 if cluster is None else int(view.sizes[cluster]),
    }
