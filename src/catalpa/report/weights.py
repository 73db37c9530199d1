"""What every cluster makes of the columns, for methods that weigh them."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from catalpa.plot.view import View

__all__ = ["weight_records"]


def weight_records(view: View) -> list[dict[str, Any]] | None:
    """Weight of every column in every cluster, the heaviest column first.

    None where the method weighs no columns: it has no ``weights_``, or these weigh something else.

    Examples
    --------
    >>> import catalpa
    >>> from catalpa.plot.view import look
    >>> table = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]] * 3
    >>> view = look(catalpa.WOCIL(2, random_state=0).fit(table), table)
    >>> [record["column"] for record in weight_records(view)]
    ['x0', 'x1']
    """
    found = getattr(view.model, "weights_", None)
    if found is None:
        return None
    frame = nw.from_native(found)
    if frame.columns != list(view.schema.names) or len(frame) != view.k:
        return None
    columns = frame.to_dict(as_series=False)
    records = [
        {"column": name, "weights": [round(float(weight), 6) for weight in weights]}
        for name, weights in columns.items()
    ]
    return sorted(records, key=lambda record: -sum(record["weights"]))
