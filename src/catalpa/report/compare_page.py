"""The page that compares two clusterings of the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from catalpa.engines.local import opener_for
from catalpa.engines.sources import without
from catalpa.errors import ColumnWarning, ParameterError
from catalpa.estimator.base import Clusterer
from catalpa.estimator.labelled import TableElsewhere, columns_of_fit, table_for_rows
from catalpa.estimator.naming import all_names
from catalpa.estimator.problem import fitted_of
from catalpa.explain.crosstab import Crosstab, crosstab
from catalpa.explain.numbers import profile_values
from catalpa.explain.reasons import reasons, rows_per_weight, sentence
from catalpa.inspection.apply import Preparation
from catalpa.inspection.recipe import Recipe
from catalpa.report.compare_sums import Side, crosstab_elsewhere, differences
from catalpa.report.document import Document
from catalpa.table import encode, infer, open_table
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.weights import checked_weights

MOVES_TOLD = 12  # flows on the page; the table has all
ROWS_TO_DESCRIBE = 5  # rows; differences of fewer movers are likely to be random


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Document):
    """Two clusterings of the same rows.

    Attributes
    ----------
    summary : dict
        Contents of the page, as plain values.
    crosstab : Crosstab
        Counts of all pairs of clusters, with ``adjusted_rand``, ``staying`` and ``moves``.
    """

    template = "comparison.html.jinja"
    crosstab: Crosstab

    def to_frame(self) -> Any:
        """Rows of every pair of clusters as a pandas frame: first clustering down, second across."""
        import pandas as pd

        first, second = self.summary["first"]["clusters"], self.summary["second"]["clusters"]
        return pd.DataFrame(self.crosstab.counts, index=first, columns=second)

    def __repr__(self) -> str:
        return (
            f"Comparison({self.summary['rows']:,} rows: {self.crosstab.staying:.0%} stay together, "
            f"adjusted Rand {self.crosstab.adjusted_rand:z.2f}; .save('comparison.html') writes the page)"
        )


def compare(
    first: Any,
    second: Any,
    X: Any = None,
    *,
    sample_weight: Any = None,
    names: tuple[str, str] | None = None,
    title: str = "Two clusterings",
) -> Comparison:
    """Compare two clusterings of the same rows.

    Clusters are matched one to one so that most rows stay. If the table is given, the page also reports how
    rows that moved differ from those that stayed.

    Parameters
    ----------
    first, second : fitted estimator, name of a column, or a label for every row
    X : table
        The rows, of any kind that ``fit`` takes; not needed if both are labels.
    sample_weight : str or array-like (n,), optional
    names : pair of str, optional
        Names of the two clusterings on the page, such as ``("May", "June")``.
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
    recipes = [fitted_of(one).recipe for one in (first, second) if isinstance(one, Clusterer)]
    table = None if X is None else table_for_rows(X, sample_weight)
    # Rows that moved are described after the recipe of the first model that has one.
    recipe = next((one for one in recipes if one is not None), None)
    if isinstance(table, TableElsewhere):
        return _compare_elsewhere(first, second, table, recipe, _called(first, second, names), title)
    if table is not None:
        X, sample_weight = table.rows, table.weights
    named = [one for one in (first, second) if isinstance(one, str)]
    labels, source = _clustering(first, X, "first", named)
    others, other_source = _clustering(second, X, "second", named)
    rows, groups = len(labels), (len(source["clusters"]), len(other_source["clusters"]))
    if rows != len(others):
        raise ParameterError(
            f"The first clustering has {rows:,} rows and the second {len(others):,}: "
            "both must be of the same rows, in the same order."
        )
    weights = None if sample_weight is None else checked_weights(sample_weight, rows)
    cross_table = crosstab(labels, others, groups, weights)
    inputs = None if X is None else _with_recipe(_without(X, named), recipe)
    moves = _moves(cross_table, labels, others, inputs, weights)
    called = _called(first, second, names)
    return _comparison(
        title, rows, source | {"name": called[0]}, other_source | {"name": called[1]}, cross_table, moves
    )


def _called(first: Any, second: Any, names: Sequence[str] | None) -> tuple[str, str]:
    """Names of the two clusterings: as given, by their column, or by their position."""
    if names is not None:
        if not isinstance(names, list | tuple) or len(names) != 2:
            raise ParameterError(f"names is {names!r:.60}; give two names, such as ('May', 'June').")
        return str(names[0]), str(names[1])
    one, other = (
        clustering if isinstance(clustering, str) else place
        for clustering, place in ((first, "first"), (second, "second"))
    )
    return one, other


def _comparison(
    title: str,
    rows: int,
    first: dict[str, Any],
    second: dict[str, Any],
    cross_table: Crosstab,
    moves: list[dict[str, Any]],
) -> Comparison:
    partners = cross_table.partners
    summary = {
        "title": title,
        "rows": rows,
        "first": first,
        "second": second,
        "adjusted_rand": cross_table.adjusted_rand,
        "association": cross_table.association,
        "staying": cross_table.staying,
        "counts": cross_table.counts.tolist(),
        "partners": [partners.get(at) for at in range(len(first["clusters"]))],
        "moves": moves,
        "left_out": len(cross_table.moves) - len(moves),
    }
    return Comparison(summary, cross_table)


def _compare_elsewhere(
    first: Any,
    second: Any,
    table: TableElsewhere,
    recipe: Recipe | None,
    called: tuple[str, str],
    title: str,
) -> Comparison:
    """Compare two clusterings of a table elsewhere, from sums over all rows."""
    sides = Side.of(first, table.source, "first"), Side.of(second, table.source, "second")
    cross_table = crosstab_elsewhere(sides, table)
    moves = [asdict(flow) | {"differ": None} for flow in cross_table.moves[:MOVES_TOLD]]
    flows_shown = [flow for flow in cross_table.moves[:MOVES_TOLD] if flow.source in cross_table.partners]
    flows = [
        ((flow.source, flow.target), (flow.source, cross_table.partners[flow.source])) for flow in flows_shown
    ]
    weight = [] if table.weight is None else [table.weight.name]
    beside = [*weight, *(one for one in (first, second) if isinstance(one, str))]
    preparation = None if recipe is None else Preparation(recipe, "keep")
    remarks = differences(sides, table, flows, beside, ROWS_TO_DESCRIBE, preparation)
    sentences = dict(zip(flows_shown, remarks, strict=True))
    for record, flow in zip(moves, cross_table.moves, strict=False):
        record["differ"] = sentences.get(flow)
    sources = [
        (_made_by(clustering) if side.model is not None else {"by": "labels", "clusters": side.names})
        | {"name": name}
        for clustering, side, name in zip((first, second), sides, called, strict=True)
    ]
    return _comparison(title, table.source.n_rows, sources[0], sources[1], cross_table, moves)


def _made_by(model: Any) -> dict[str, Any]:
    fitted = fitted_of(model)
    return {"by": type(model).__name__, "clusters": all_names(fitted.names, fitted.outcome.k)}


def _without(X: Any, names: list[str]) -> Any:
    """The table without columns of clusterings."""
    if not names:
        return X
    table = open_table(X)
    return table.only(without(table.names, *names))


def _with_recipe(X: Any, recipe: Recipe | None) -> Any:
    """The table after a recipe."""
    return X if recipe is None else Preparation(recipe, "keep")(open_table(X))


def _clustering(clustering: Any, X: Any, name: str, columns: list[str]) -> tuple[IntArray, dict[str, Any]]:
    """The cluster of every row, and the method and names of the clusters.

    ``columns`` are clusterings in the table, which models do not use.
    """
    if isinstance(clustering, ClusterMixin):
        if X is None:
            raise ParameterError(
                f"The {name} clustering is a model: give the table, compare(first, second, X)."
            )
        rows = columns_of_fit(clustering, _without(X, columns))
        return np.asarray(clustering._nearest(rows)), _made_by(clustering)
    if isinstance(clustering, str):
        if X is None:
            raise ParameterError(
                f"The {name} clustering is a name: give the table that has it, compare(first, second, X)."
            )
        side = Side.of(clustering, opener_for(X), name)
        return side.labels(X), {"by": "labels", "clusters": side.names}
    # Imported here, because it is slow and not needed for models.
    from catalpa.metrics.codes import label_codes

    codes, values = label_codes(clustering, f"the {name} clustering")[0], list(clustering)
    names = [str(values[at]) for at in np.unique(codes, return_index=True)[1]]
    return codes, {"by": "labels", "clusters": names}


def _moves(
    cross_table: Crosstab, first: IntArray, second: IntArray, X: Any, weights: FloatArray | None
) -> list[dict[str, Any]]:
    """The largest flows; with the table, how their rows differ from those that stayed behind."""
    records = [asdict(flow) | {"differ": None} for flow in cross_table.moves[:MOVES_TOLD]]
    if X is None or not records:
        return records
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # reported at fit, where columns can still be dropped
        schema = infer(X)
    rows = encode(X, schema, handle_unknown="ignore").rows
    block, axis = rows.blocks[0], rows.axis
    row_weights = np.ones(len(block)) if weights is None else weights
    per_weight = rows_per_weight(len(block), float(row_weights.sum()))
    for record, flow in zip(records, cross_table.moves, strict=False):
        movers = (first == flow.source) & (second == flow.target)
        stayed = (first == flow.source) & (second == cross_table.partners.get(flow.source, -1))
        if min(movers.sum(), stayed.sum()) >= ROWS_TO_DESCRIBE:
            both = movers | stayed
            side, weight = movers[both].astype(np.int64), row_weights[both]
            places = (block.codes[both] + axis.offsets[:-1]).ravel()
            sides_of_cells, weights_of_cells = (np.repeat(of, axis.n_columns) for of in (side, weight))
            counts = crosstab(sides_of_cells, places, (2, axis.length), weights_of_cells).counts
            means = profile_values(block.numbers[both], side, weight, 2, schema)
            by_category = counts[:, axis.category_places]
            record["differ"] = sentence(reasons(by_category, schema, means, rows_per_weight=per_weight)[1])
    return records
