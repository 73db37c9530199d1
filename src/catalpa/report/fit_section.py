"""Results of the fit as plain values: passes, warnings, weights of columns, and the tree of splits."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import narwhals.stable.v2 as nw

from catalpa.estimator.attributes import column_notes
from catalpa.estimator.problem import Fitted
from catalpa.estimator.verdict import Verdict
from catalpa.explain.decisions import group_similar_decisions
from catalpa.explain.formatting import shortened
from catalpa.explain.splits import SplitTree
from catalpa.plot.view import View

# The chart is 380 pixels wide, so more passes would not be visible.
MOST_PASSES = 400
NAME_WIDTH = 40  # of a column in a sentence


def fit_record(view: View, verdict: Verdict) -> dict[str, Any]:
    """Passes of the best start, cost, and warnings."""
    outcome = view.fitted.outcome
    passes = [asdict(event) for event in outcome.history]
    return {
        "passes": passes[-MOST_PASSES:],
        "earlier_passes": max(len(passes) - MOST_PASSES, 0),
        # A model of merged clusters without its table has neither cost nor evidence.
        "cost": _known(outcome.cost),
        # The evidence of the whole fit; the costs of passes do not include the priors.
        "evidence": _known(outcome.facts.get("evidence")),
        "converged": bool(outcome.converged),
        "rows": int(view.fitted.rows),
        "sizes": [float(size) for size in view.model.cluster_sizes_],
        "same_table": view.is_fit_table,
        "warnings": _warnings(view, verdict),
        "notes": _notes(view),
    }


def _known(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)


def _warnings(view: View, verdict: Verdict) -> list[str]:
    """Findings that call the clusters into question."""
    # The verdict is the first line of the page.
    texts = [one.text for one in view.model._findings(verdict) if one.kind != "verdict"]
    if not getattr(view.model, "clusterable_", True):
        texts.append("Even the first split is no clearer than chance: the table may hold no clusters.")
    empty = [str(cluster) for cluster in range(view.k) if not view.sizes[cluster]]
    if empty:
        texts.append(f"No row of this table falls into cluster {', '.join(empty)}.")
    return texts + [
        f"{cells:,} {'cell' if cells == 1 else 'cells'} of {name} with categories not seen at fit."
        for name, cells in view.unseen.items()
    ]


def _notes(view: View) -> list[str]:
    """Notes on rows, missing cells and columns."""
    notes = []
    if not view.is_fit_table:
        weighed = " or their weights (give sample_weight)" if _fit_was_weighted(view.fitted) else ""
        notes.append(
            f"These rows are not exactly those of the fit ({view.fitted.rows:,} rows){weighed}: "
            "clusters, shares and the map describe the rows given here, relations and passes come from fit."
        )
    if view.weighted:
        notes.append(
            "Rows count by their weights in sizes, shares, means and reasons; the map and the silhouettes "
            "show every row once."
        )
    if view.missing:
        named = ", ".join(
            f"{shortened(name, NAME_WIDTH)} ({cells:,})" for name, cells in list(view.missing.items())[:8]
        )
        more = f" and {len(view.missing) - 8} more columns" if len(view.missing) > 8 else ""
        notes.append(f"Missing cells: {named}{more}; {_missing_rule(view)}.")
    decisions = group_similar_decisions([*view.schema.decisions, *column_notes(view.fitted)])
    return [*notes, *(f"{text[:1].upper()}{text[1:]}." for text in decisions)]


def _fit_was_weighted(fitted: Fitted) -> bool:
    """True if rows were weighted at fit; batches with decay use units for other reasons."""
    weight = float(fitted.in_weights(fitted.outcome.counts.sizes).sum())
    return not fitted.batches and (fitted.units_per_weight != 1.0 or weight != fitted.rows)


def _missing_rule(view: View) -> str:
    rules = {"ignore": "they add nothing to a row's cost", "error": "they are refused at fit"}
    if view.schema.missing in rules:
        return rules[view.schema.missing]
    numbers = [column.name for column in view.schema.numeric if column.name in view.missing]
    # Missing numbers are ignored with every policy.
    left_out = f"in numbers ({', '.join(numbers[:8])}) they are left out"
    if len(numbers) == len(view.missing):
        return left_out
    return "they count as a category of their own" + (f", {left_out}" if numbers else "")


def weight_records(view: View) -> list[dict[str, Any]] | None:
    """Weight of every column in every cluster, the heaviest column first.

    None if the method does not weight columns: it has no ``weights_``, or these are not column weights.
    """
    # HDC weights pairs of categories: a frame of these grows with the square of the number of categories.
    if "weights" in view.fitted.outcome.ragged:
        return None
    column_weights = getattr(view.model, "weights_", None)
    if column_weights is None:
        return None
    frame = nw.from_native(column_weights)
    # HDC weights pairs of categories; the weights of DISC do not include numbers.
    weighed = [list(view.schema.names), [column.name for column in view.schema.categorical]]
    if frame.columns not in weighed or len(frame) != view.k:
        return None
    columns = frame.to_dict(as_series=False)
    records = [
        {"column": name, "weights": [round(float(weight), 6) for weight in weights]}
        for name, weights in columns.items()
    ]
    return sorted(records, key=lambda record: -sum(record["weights"]))


def split_records(view: View) -> list[dict[str, Any]] | None:
    """Every branch of the tree, parents first; None if the method has no tree."""
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
        # Rows of the given table: the rows of a leaf count for all branches on the path to it.
        for above, _ in path:
            records[above]["rows"] += records[branch]["rows"]
    return list(records.values())
