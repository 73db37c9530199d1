"""The numbers of a table in every cluster: means, spreads, and where they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from catalpa.relations.numbers import NumberProfile, profile_values, quantiles
from catalpa.table import encode
from catalpa.table.blocks import FloatArray, IntArray
from catalpa.table.schema import Kind, Schema


@dataclass(frozen=True, eq=False)
class Spreads:
    """Every column of numbers in every cluster, also those that the model cut into bins."""

    profile: NumberProfile
    # (k, numeric, 5): where 5, 25, 50, 75 and 95 % of the numbers lie below; NaN where that is not known.
    quantiles: FloatArray


def spread_numbers(
    X: Any, schema: Schema, labels: IntArray, k: int, weights: FloatArray | None = None
) -> Spreads:
    """Look at the numbers of a table whose rows have clusters."""
    # A number that is cut into bins is one all the same, and its own cells are still there.
    columns = tuple(
        replace(column, kind=Kind.NUMERIC, categories=(), edges=None) if column.binned else column
        for column in schema.columns
    )
    uncut = replace(schema, columns=columns)
    if uncut.numeric:
        encoded = encode(X, uncut, handle_unknown="ignore")
        numbers = np.concatenate([block.numbers for block in encoded.rows])
    else:
        numbers = np.zeros((len(labels), 0))
    return Spreads(profile_values(numbers, labels, weights, k, uncut), quantiles(numbers, labels, weights, k))


def number_records(spreads: Spreads) -> list[dict[str, Any]]:
    """Every column of numbers as plain values, those that clusters explain best first.

    ``low`` and ``high`` are the ends of the scale on which all clusters can be drawn; None where no number is
    there, or where they lie is not known.
    """
    profile = spreads.profile
    records = []
    for at, column in enumerate(profile.columns):
        told = [_of_cluster(spreads, cluster, at) for cluster in range(len(profile.seen))]
        ends = [one["quantiles"] for one in told if one["quantiles"]]
        records.append(
            {
                "column": column,
                "explained": float(profile.explained[at]),
                "low": min((end[0] for end in ends), default=None),
                "high": max((end[-1] for end in ends), default=None),
                "clusters": told,
            }
        )
    return sorted(records, key=lambda record: -record["explained"])


def _of_cluster(spreads: Spreads, cluster: int, at: int) -> dict[str, Any]:
    profile, own = spreads.profile, spreads.quantiles[cluster, at]

    def plain(values: FloatArray) -> float | None:
        value = float(values[cluster, at])
        return value if np.isfinite(value) else None

    return {
        "cluster": cluster,
        "rows": plain(profile.seen),
        "mean": plain(profile.means),
        "sd": plain(profile.sds),
        "mean_elsewhere": plain(profile.elsewhere),
        "shift": plain(profile.shifts),
        "missing": plain(profile.missing),
        "quantiles": own.tolist() if np.isfinite(own).all() else None,
    }
