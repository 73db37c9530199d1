"""The cells of a row as text."""

from __future__ import annotations

import math

from catalpa.plot.view import View

__all__ = ["cell_texts"]

HOLE = "(unseen or missing)"


def cell_texts(view: View, at: int) -> dict[str, str]:
    """Text of every cell of a row of the sample, by column.

    Examples
    --------
    >>> import catalpa
    >>> from catalpa.plot.view import look
    >>> table = [["a", "x"], ["b", "y"]]
    >>> cell_texts(look(catalpa.KModes(2, random_state=0).fit(table), table), 0)
    {'x0': 'a', 'x1': 'x'}
    """
    schema, sample = view.schema, view.sample
    texts = {}
    for column, names, code in zip(schema.categorical, view.names, sample.codes[at], strict=True):
        texts[column.name] = names[code] if code < column.size else HOLE
    for column, number in zip(schema.numeric, sample.numbers[at], strict=True):
        texts[column.name] = "(missing)" if math.isnan(number) else f"{number:.6g}"
    return {name: texts[name] for name in schema.names}
