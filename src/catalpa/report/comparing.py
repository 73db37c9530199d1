"""Clusters beside other groups of the same rows: a second clustering as a page, or a column kept out."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from catalpa.engines.local import checked_weights
from catalpa.errors import ColumnWarning, ParameterError
from catalpa.estimator.attributes import frame_in
from catalpa.estimator.naming import all_names
from catalpa.estimator.problem import fitted_of
from catalpa.relations.crossing import Crossing, cross
from catalpa.relations.names import category_names
from catalpa.relations.numbers import over, profile_values
from catalpa.relations.reasons import reasons, rows_per_weight, sentence
from catalpa.report.document import Document
from catalpa.report.rows import one_per_row
from catalpa.table import encode, infer
from catalpa.table.blocks import FloatArray, IntArray

MOVES_TOLD = 12  # flows in the page; the table beside them has all
ROWS_TO_DESCRIBE = 5  # fewer movers than that have accidents, not properties


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Document):
    """Two clusterings of the same rows.

    Attributes
    ----------
    summary : dict
        Everything the page says, as plain values.
    crossing : Crossing
        Counts of all pairs of clusters, with ``adjusted_rand``, ``staying`` and ``moves``.
    """

    template = "comparison.html.jinja"
    crossing: Crossing

    def to_frame(self) -> Any:
        """Rows of every pair of clusters as a pandas frame: first clustering down, second across."""
        import pandas as pd

        first, second = self.summary["first"]["clusters"], self.summary["second"]["clusters"]
        return pd.DataFrame(self.crossing.counts, index=first, columns=second)

    def __repr__(self) -> str:
        return (
            f"Comparison({self.summary['rows']:,} rows: {self.crossing.staying:.0%} stay together, "
            f"adjusted Rand {self.crossing.adjusted_rand:z.2f}; .save('comparison.html') writes the page)"
        )


def compare(
    first: Any, second: Any, X: Any = None, *, sample_weight: Any = None, title: str = "Two clusterings"
) -> Comparison:
    """Compare two clusterings of the same rows.

    Clusters are matched one to one so that most rows stay; the rest has moved, and where the table is given
    the page says how those who moved differ from those who stayed.

    Parameters
    ----------
    first, second : fitted estimator, or a label for every row
    X : table
        The rows; may be left out when both are labels.
    sample_weight : array-like (n,), optional
    title : str
        Heading of the page.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from catalpa import compare
    >>> compare(["a", "a", "b", "b", "b"], [0, 0, 0, 1, 1])
    Comparison(5 rows: 80% stay together, adjusted Rand 0.17; .save('comparison.html') writes the page)
    """
    labels, made = _clustering(first, X, "first")
    others, made_too = _clustering(second, X, "second")
    rows, groups = len(labels), (len(made["clusters"]), len(made_too["clusters"]))
    if rows != len(others):
        raise ParameterError(
            f"The first clustering has {rows:,} rows and the second {len(others):,}: "
            "both must be of the same rows, in the same order."
        )
    weights = None if sample_weight is None else checked_weights(sample_weight, rows)
    crossing = cross(labels, others, groups, weights)
    moves, partners = _moves(crossing, labels, others, X, weights), crossing.partners
    summary = {
        "title": title,
        "rows": rows,
        "first": made,
        "second": made_too,
        "adjusted_rand": crossing.adjusted_rand,
        "association": crossing.association,
        "staying": crossing.staying,
        "counts": crossing.counts.tolist(),
        "partners": [partners.get(at) for at in range(groups[0])],
        "moves": moves,
        "left_out": len(crossing.moves) - len(moves),
    }
    return Comparison(summary, crossing)


def _clustering(given: Any, X: Any, name: str) -> tuple[IntArray, dict[str, Any]]:
    """The cluster of every row from 0, and who made the clusters and what they are called."""
    if isinstance(given, ClusterMixin):
        if X is None:
            raise ParameterError(
                f"The {name} clustering is a model: give the table, compare(first, second, X)."
            )
        found = fitted_of(given)
        names = all_names(found.names, found.outcome.k)
        return np.asarray(given.predict(X)), {"by": type(given).__name__, "clusters": names}
    # Imported here: it takes a while, and models need no codes.
    from catalpa.metrics.codes import label_codes

    codes, values = label_codes(given, f"the {name} clustering")[0], list(given)
    names = [str(values[at]) for at in np.unique(codes, return_index=True)[1]]
    return codes, {"by": "labels", "clusters": names}


def _moves(
    crossing: Crossing, first: IntArray, second: IntArray, X: Any, weights: FloatArray | None
) -> list[dict[str, Any]]:
    """The largest flows; with the table, how their rows differ from those that stayed behind."""
    told = [asdict(flow) | {"differ": None} for flow in crossing.moves[:MOVES_TOLD]]
    if X is None or not told:
        return told
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # told at fit, where columns can still be dropped
        schema = infer(X)
    rows = encode(X, schema, handle_unknown="ignore").rows
    block, axis = rows.blocks[0], rows.axis
    row_weights = np.ones(len(block)) if weights is None else weights
    per_weight = rows_per_weight(len(block), float(row_weights.sum()))
    for record, flow in zip(told, crossing.moves, strict=False):
        gone = (first == flow.source) & (second == flow.target)
        stayed = (first == flow.source) & (second == crossing.partners.get(flow.source, -1))
        if min(gone.sum(), stayed.sum()) >= ROWS_TO_DESCRIBE:
            both = gone | stayed
            side, weight = gone[both].astype(np.int64), row_weights[both]
            places = (block.codes[both] + axis.offsets[:-1]).ravel()
            sides_of_cells, weights_of_cells = (np.repeat(of, axis.n_columns) for of in (side, weight))
            counts = cross(sides_of_cells, places, (2, axis.length), weights_of_cells).counts
            means = profile_values(block.numbers[both], side, weight, 2, schema)
            by_category = counts[:, axis.category_places]
            record["differ"] = sentence(reasons(by_category, schema, means, rows_per_weight=per_weight)[1])
    return told


def crossed(
    labels: IntArray, k: int, values: Any, *, weights: FloatArray | None = None, name: str | None = None
) -> dict[str, Any]:
    """Cross the clusters of rows with a column that was kept out, as plain values.

    Categories give a table of counts with the adjusted Rand index and Cramer's V (less what chance gives);
    numbers give their mean in every cluster and the part of their variance that lies between clusters. What
    is missing is a category of its own, or no number. A column has its own name where none is given.
    """
    called = str(name or getattr(values, "name", None) or "the column kept out")
    frame = frame_in("pandas", {called: one_per_row(values, "against", len(labels))})
    schema = infer(frame)
    block = encode(frame, schema).rows.blocks[0]
    if schema.numeric:
        return {"column": called, "kind": "numbers", **_means(labels, k, block.numbers[:, 0], weights)}
    texts = category_names(schema.categorical[0].categories)
    table = cross(labels, block.codes[:, 0].astype(np.int64), (k, len(texts)), weights)
    return {
        "column": called,
        "kind": "categories",
        "categories": list(texts),
        "counts": table.counts.tolist(),
        "adjusted_rand": table.adjusted_rand,
        "association": table.association,
    }


def _means(labels: IntArray, k: int, numbers: FloatArray, weights: FloatArray | None) -> dict[str, Any]:
    """Mean of a number in each cluster, None where none is there; eta squared as ``explained``."""
    weighed = np.ones(len(labels)) if weights is None else weights
    there = np.isfinite(numbers) & (weighed > 0)
    of, own, weight = labels[there], numbers[there], weighed[there]
    seen = np.bincount(of, weight, minlength=k)
    sums = np.bincount(of, own * weight, minlength=k)
    means = over(sums, seen)
    overall = float(sums.sum() / seen.sum()) if seen.sum() else None
    around = float((weight * (own - (overall or 0.0)) ** 2).sum())
    between = float((seen * (means - (overall or 0.0)) ** 2).sum())
    return {
        "means": [float(mean) if rows else None for mean, rows in zip(means, seen, strict=True)],
        "overall": overall,
        "explained": min(between / around, 1.0) if around > 0 else 0.0,
    }
