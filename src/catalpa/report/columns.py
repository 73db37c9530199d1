"""Which columns tell the clusters apart."""

from __future__ import annotations

import math
from typing import Any

from catalpa.plot.view import View
from catalpa.relations.names import shortened
from catalpa.relations.profiles import telling_columns

MOST_NAMED = 6  # columns in the sentence; a longer list is a number to the reader


def column_records(view: View) -> list[dict[str, Any]]:
    """Every column with the bits it shares with the clusters, the most telling first.

    For a number these are the bits that a normally distributed column with the same share of explained
    variance would have.
    """
    records = [
        {
            "column": found.column,
            "kind": "categorical",
            "bits": found.bits,
            "explained": found.share_of_entropy,
        }
        for found in telling_columns(view.by_category, view.sizes, view.schema)
    ]
    for column, explained in zip(view.numbers.columns, view.numbers.explained.tolist(), strict=True):
        # Mutual information of a normal variable; bounded, since means that explain all would have infinitely
        # many bits.
        bits = -0.5 * math.log2(max(1.0 - explained, 1e-12))
        records.append({"column": column, "kind": "numeric", "bits": bits, "explained": explained})
    return sorted(records, key=lambda record: -record["bits"])


def telling_text(columns: list[dict[str, Any]]) -> str:
    """The few columns that do most, in words."""
    total = sum(record["bits"] for record in columns)
    if not total:
        return "No column tells the clusters apart."
    half, named = 0.0, []
    for record in columns:
        named.append(shortened(record["column"], 60))
        half += record["bits"]
        if half >= total / 2:
            break
    if len(named) == 1:
        return f"{named[0]} alone carries half of what the columns say about the clusters."
    if len(named) > MOST_NAMED:
        return (
            f"{len(named)} of {len(columns)} columns together carry half of what is said about the clusters."
        )
    listed = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{listed} carry half of what the {len(columns)} columns say about the clusters."
