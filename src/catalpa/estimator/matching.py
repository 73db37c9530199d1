"""Match the clusters of a model with those of an earlier one, so that numbers and names are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalpa.explain.crosstab import Crosstab
from catalpa.explain.formatting import percent
from catalpa.table.blocks import IntArray


@dataclass(frozen=True, eq=False)
class ClusterMatching:
    """One-to-one matching of the clusters of a new model to those of an old one.

    ``crosstab`` has the clusters of the old model as rows and those of the new one as columns.
    """

    crosstab: Crosstab
    order: IntArray  # (k,): the clusters of the new model, in the order of their new numbers
    partners: Mapping[int, int]  # old cluster that a new number continues, if there is one

    @staticmethod
    def of(cross_table: Crosstab, least: float = 0.0) -> ClusterMatching:
        """The one-to-one matching that keeps most rows together.

        A pair must share more than ``least`` of the rows of one of its clusters. A matched cluster gets the
        old number if the model has that many clusters; the others get the free numbers.

        Examples
        --------
        >>> counts = np.array([[0.0, 9.0, 1.0], [0.0, 0.0, 0.0], [8.0, 0.0, 0.0]])
        >>> found = ClusterMatching.of(Crosstab(counts))
        >>> found.order.tolist(), found.partners
        ([1, 2, 0], {0: 0, 2: 2})
        """
        counts, k = cross_table.counts, cross_table.counts.shape[1]
        of_old, of_new = counts.sum(axis=1), counts.sum(axis=0)
        pairs = {
            old: new
            for old, new in cross_table.partners.items()
            if counts[old, new] > least * min(of_old[old], of_new[new])
        }
        numbers = {old: new for old, new in pairs.items() if old < k}
        # Old clusters beyond the last number come first, then the clusters that are new.
        beyond = [new for old, new in sorted(pairs.items()) if old >= k]
        others = [*beyond, *sorted(set(range(k)) - set(pairs.values()))]
        numbers |= zip((at for at in range(k) if at not in numbers), others, strict=True)
        old_of = {new: old for old, new in pairs.items()}
        order = [numbers[at] for at in range(k)]
        partners = {at: old_of[new] for at, new in enumerate(order) if new in old_of}
        return ClusterMatching(cross_table, np.array(order, dtype=np.int64), partners)

    def records(self, names: Sequence[str], before: Sequence[str]) -> list[dict[str, Any]]:
        """One record per cluster of the new model, and one per unmatched old cluster.

        ``names`` are those of the new clusters, ``before`` those of the old ones.
        """
        counts = self.crosstab.counts[:, self.order]
        old_rows, rows = counts.sum(axis=1), counts.sum(axis=0)
        records: list[dict[str, Any]] = []
        for at, name in enumerate(names):
            old = self.partners.get(at)
            both = None if old is None else float(counts[old, at])
            records.append(
                {
                    "cluster": at,
                    "name": name,
                    "before": old,
                    "name_before": None if old is None else before[old],
                    "rows": float(rows[at]),
                    "rows_before": None if old is None else float(old_rows[old]),
                    "stays": None if both is None or old is None else both / float(old_rows[old]),
                    "from_before": None if both is None else both / float(rows[at]),
                }
            )
        lost_clusters = sorted(set(range(len(before))) - set(self.partners.values()))
        blank = dict.fromkeys(("cluster", "name", "rows", "stays", "from_before"))
        records += [
            {**blank, "before": old, "name_before": before[old], "rows_before": float(old_rows[old])}
            for old in lost_clusters
        ]
        return [{name: record[name] for name in MATCHED} for record in records]


MATCHED = ("cluster", "name", "before", "name_before", "rows", "rows_before", "stays", "from_before")


def match_text(record: Mapping[str, Any]) -> str:
    """A sentence about a matched or unmatched cluster.

    Examples
    --------
    >>> match_text({"cluster": 3, "before": 3, "name_before": "bargain hunters", "stays": 0.84})
    "Cluster 3 continues 'bargain hunters': 84 % of its rows stay."
    >>> match_text({"cluster": 4, "before": None})
    'Cluster 4 is new.'
    >>> match_text({"cluster": None, "before": 2, "name_before": "2"})
    'No cluster continues cluster 2 of the earlier model.'
    """
    old = record["before"]
    if old is None:
        return f"Cluster {record['cluster']} is new."
    name = record["name_before"]
    called = f"cluster {old}" if name == str(old) else repr(name)
    if record["cluster"] is None:
        return f"No cluster continues {called} of the earlier model."
    return f"Cluster {record['cluster']} continues {called}: {percent(record['stays'])} of its rows stay."
