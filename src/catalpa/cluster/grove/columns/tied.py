"""Tied columns: the category of a column depends on that of its parent, inside every cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catalpa.cluster.grove.special import in_order
from catalpa.table.blocks import FloatArray
from catalpa.table.joined import JoinedAxis

SCALINGS = 3  # iterations of proportional fitting of a cluster's pairs to its shares


@dataclass(frozen=True, eq=False)
class TiedColumns:
    """Columns that depend on a parent column, as a forest, with the lift of their pairs of categories.

    In a cluster the pairs of an edge have the shares p_s(u) p_r(v) phi(u, v), scaled to the cluster's own
    shares p_s and p_r. The lift phi is common to all clusters; where it is 1 the columns are independent.
    """

    joined: JoinedAxis  # over true categories
    lift: FloatArray  # (pairs,); phi of every edge, by the parent's category, then by its own

    def update(self, shares: FloatArray, overall: FloatArray) -> FloatArray:  # (tables, k, pairs)
        """p_jr(v | u) of every edge, from shares p_jr(v) (tables, k, V).

        ``overall`` (V,) is 0 for a category without rows. Its share is the one of an untied column, as is
        that of every category whose parent's category has no rows.
        """
        places = list(self.joined.plain.slices())
        conditional = np.empty((*shares.shape[:2], self.joined.pairs))
        for column, parent, part in self.joined.parts():
            one, other = shares[:, :, places[parent]], shares[:, :, places[column]]
            shape = (one.shape[2], other.shape[2])
            there = (overall[places[parent]] != 0)[:, None] & (overall[places[column]] != 0)
            joint = one[:, :, :, None] * other[:, :, None, :] * self.lift[part].reshape(shape)
            joint = scaled(np.where(there, joint, 0.0), one, other)
            summed = in_order(joint, 3)[:, :, :, None]
            of_parent = np.where(there, joint / np.where(summed > 0, summed, 1.0), other[:, :, None, :])
            conditional[:, :, part] = of_parent.reshape(*shares.shape[:2], -1)
        return conditional


def scaled(joint: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """Pairs (..., u, v) scaled to the shares ``other`` (..., v) and then ``one`` (..., u), three times."""
    for _ in range(SCALINGS):
        joint = joint * _ratio(other, in_order(joint, -2))[..., None, :]
        joint = joint * _ratio(one, in_order(joint, -1))[..., :, None]
    return joint


def _ratio(wanted: FloatArray, summed: FloatArray) -> FloatArray:
    return np.asarray(np.where(summed > 0, wanted / np.where(summed > 0, summed, 1.0), 0.0))
