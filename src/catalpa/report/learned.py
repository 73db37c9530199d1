"""What only some methods learn, as plain values: relation trees, weights of columns, a tree of splits."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from catalpa.plot.view import View
from catalpa.relations.splits import SplitTree


def weight_records(view: View) -> list[dict[str, Any]] | None:
    """Weight of every column in every cluster, the heaviest column first.

    None where the method weighs no columns: it has no ``weights_``, or these weigh something else.
    """
    found = getattr(view.model, "weights_", None)
    if found is None:
        return None
    frame = nw.from_native(found)
    # HDC's weights are those of pairs of categories.
    if frame.columns != list(view.schema.names) or len(frame) != view.k:
        return None
    columns = frame.to_dict(as_series=False)
    records = [
        {"column": name, "weights": [round(float(weight), 6) for weight in weights]}
        for name, weights in columns.items()
    ]
    return sorted(records, key=lambda record: -sum(record["weights"]))


def split_records(view: View) -> list[dict[str, Any]] | None:
    """Every branch of the tree, each before those below it; None where the method grows no tree."""
    tree = getattr(view.model, "tree_", None)
    if not isinstance(tree, SplitTree):
        return None
    rules = tree.rules()
    rule_of = dict(zip(rules["cluster"], rules["rule"], strict=True))
    records: dict[int, dict[str, Any]] = {}
    for branch, path in tree.walk():
        is_split = bool(tree.places[branch] >= 0)
        cluster = None if is_split else int(tree.labels[branch])
        records[branch] = {
            "depth": len(path),
            "holds": path[-1][1] if path else None,
            "asks": tree.condition(branch, True) if is_split else None,
            "p_value": tree.p_value(branch) if is_split else None,
            "cluster": cluster,
            "rule": None if cluster is None else rule_of[cluster],
            "rows": 0 if cluster is None else view.sizes[cluster].item(),
        }
        # The rows of the table that is looked at: those of a leaf are rows of all branches on the way to it.
        for above, _ in path:
            records[above]["rows"] += records[branch]["rows"]
    return list(records.values())
