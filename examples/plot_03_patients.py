"""
Patients: do findings form the diagnoses?
=========================================

358 patients with a disease of the skin, 33 findings each, graded 0 to 3 by doctors and under the microscope.
The six diseases look much alike. Do the findings alone bring the patients of one disease together?
"""

import pandas as pd

import catalpa
from catalpa import plot

skin = catalpa.datasets.load("dermatology")
model = catalpa.Grove(n_clusters=6, random_state=0).fit(skin.frame)
pd.crosstab(skin.target.rename("diagnosis"), model.labels_)

# %%
# Four diseases have a cluster of their own. Two are not told apart cleanly, which doctors would expect:
# seboreic dermatitis and pityriasis rosea share most findings.
#
# Which findings make the clusters?

model.reasons().groupby("cluster").head(3)[["cluster", "text"]].style.format(escape="html").hide()

# %%
# The columns that tell most, and how their grades are shared out:

telling = model.reasons().drop_duplicates("column")["column"].head(7)
plot.profile_map(model, columns=list(telling))

# %%
# How clearly do patients belong to their cluster? Bars to the left would be patients that lie nearer to
# another one.

plot.silhouettes(model, skin.frame)
