"""
Animals: seven groups, and what makes them
==========================================

A zoo wrote down sixteen things about each of its 101 animals: has it hair, does it lay eggs, how many legs?
The question is whether groups appear that a child would name, and which of the answers make them.
"""

import catalpa
from catalpa import plot

zoo = catalpa.datasets.load("zoo")
zoo.frame.iloc[:5, :9]

# %%
# Nothing is encoded and nothing is scaled. Seven clusters are asked for, because the zoo sorts its animals
# into seven kinds; the kinds themselves are kept out.

model = catalpa.Grove(n_clusters=7, random_state=0).fit(zoo.frame)
model.reasons()[["cluster", "text"]].style.format(escape="html").hide()

# %%
# One picture of everything: a row for every answer, a column for every cluster, dark where most animals of
# the cluster gave that answer.

plot.profile_map(model)

# %%
# Are these the kinds of the zoo?

import pandas as pd

pd.crosstab(zoo.target.rename("kind"), model.labels_)

# %%
# Most kinds have a cluster of their own. Where a kind is cut in two, look at the rows of the picture in
# which the two clusters differ: these are the answers that a name for all of them hides.
