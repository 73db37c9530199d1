"""
Votes: two camps, and those in between
======================================

How 435 members of the American House of 1984 voted on sixteen bills: yes, no, or neither. Parties are known
but kept out. Do camps appear by themselves, and who belongs to neither?
"""

import pandas as pd

import catalpa
from catalpa import plot

votes = catalpa.datasets.load("votes")
model = catalpa.Grove(n_clusters=2, random_state=0).fit(votes.frame)
model.name_clusters({0: "first camp", 1: "second camp"})
camp = pd.Series(model.labels_, name="camp").map(dict(enumerate(model.cluster_names_)))
pd.crosstab(votes.target.rename("party"), camp)

# %%
# The camps are nearly the parties, without having seen them. Democrats in the second camp are the
# interesting ones: their votes, not their party, put them there. These are the votes that divide most.

reasons = model.reasons()
reasons.groupby("cluster").head(4)[["cluster", "text"]].style.format(escape="html").hide()

# %%
# A vote that somebody did not give is a missing cell. It counts as an answer of its own
# (``missing="category"``), because staying away can be a choice too. In the map every answer stands near
# the answers that the same members gave.

plot.category_map(model, votes.frame)

# %%
# How sure is each member's place? Grove gives a probability for every cluster.

certainty = pd.Series(model.predict_proba(votes.frame).max(axis=1), name="certainty")
unsure = certainty.nsmallest(8)
votes.frame.loc[unsure.index].iloc[:, 3:9].assign(party=votes.target, certainty=unsure.round(2))

# %%
# The least certain members voted with both camps, or stayed away often. A hard label hides that; keep the
# probability beside it.
