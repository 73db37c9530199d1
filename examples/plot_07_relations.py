"""
Same category, different relation
=================================

Are four legs nearer to two legs or to none? It depends on the animals one looks at. This is the idea of DISC,
and of Grove: every cluster learns for itself how the categories of a column relate.
"""

import numpy as np

import catalpa
from catalpa import plot

zoo = catalpa.datasets.load("zoo")
model = catalpa.Grove(n_clusters=7, random_state=0).fit(zoo.frame)


def cluster_of(kind: str) -> int:
    return int(np.bincount(model.labels_[zoo.target == kind]).argmax())


mammals, bugs, reptiles = (cluster_of(kind) for kind in ("mammal", "insect", "reptile"))
for cluster in (mammals, bugs, reptiles):
    print(model.relations_[cluster, "legs"], end="\n\n")

# %%
# Categories stand near each other on a cluster's line when the cluster takes them about equally well. To
# one scale:

plot.relation_comparison(model, "legs", [mammals, bugs, reptiles])

# %%
# A distance of one is a factor of e: a category that is one unit further off is 2.7 times less probable in
# that cluster. Where no row of a cluster has a category, nothing is drawn, and the model falls back on how
# common it is in the whole table.

relation = model.relations_[mammals, "legs"]
relation.distance_frame().round(2)

# %%
# k-modes has one distance for everything: equal or different. So have one-hot columns. A cluster can then
# not say that one odd answer is a small matter and another an impossible one.

plot.relation_grid(model, ["legs", "tail", "aquatic"])
