"""Charts of a fitted model: profiles, relation trees, maps of rows and categories, and how the fit went.

Every function returns an Altair chart. Notebooks show it; ``chart.save`` writes ``.svg`` and ``.png`` without
a network, and ``chart.save("chart.html", inline=True)`` a page that opens without one. Altair comes with
``pip install "catalpa[report]"``.
"""

from catalpa.plot.category_map import category_map
from catalpa.plot.clarity import silhouettes
from catalpa.plot.fitting import choosing_k, cost_per_pass
from catalpa.plot.merge_tree import merge_tree
from catalpa.plot.profiles import cluster_sizes, number_boxes, profile_map
from catalpa.plot.relation_trees import relation_comparison, relation_grid, relation_tree
from catalpa.plot.row_map import row_map

__all__ = [
    "category_map",
    "choosing_k",
    "cluster_sizes",
    "cost_per_pass",
    "merge_tree",
    "number_boxes",
    "profile_map",
    "relation_comparison",
    "relation_grid",
    "relation_tree",
    "row_map",
    "silhouettes",
]
