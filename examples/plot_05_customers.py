"""
Customers: words and numbers together
=====================================

People in the RAND health insurance experiment: what their policy is, how they feel, and how often they see a
doctor. Four columns hold words and two hold numbers, and k-means would need a recipe for the mixture. Here
nothing is scaled and no weight between the two is chosen.
"""

import numpy as np
import pandas as pd
from statsmodels.datasets import randhie

import catalpa
from catalpa import plot

raw = randhie.load_pandas().data
health = np.select(
    [raw["hlthp"] == 1, raw["hlthf"] == 1, raw["hlthg"] == 1], ["poor", "fair", "good"], "excellent"
)
insured = pd.DataFrame(
    {
        "own part": pd.cut(
            np.expm1(raw["lncoins"]), [-1, 1, 30, 60, 110], labels=["none", "25 %", "50 %", "95 %"]
        ),
        "deductible": np.where(raw["idp"] == 1, "yes", "no"),
        "health": pd.Categorical(health, ["poor", "fair", "good", "excellent"], ordered=True),
        "limited": np.where(raw["physlm"] >= 0.5, "yes", "no"),
        "diseases": raw["disea"],
        "visits": raw["mdvis"],
    }
).sample(4000, random_state=0)
insured.head()

# %%
# How was each column read? The last line is a judgement worth knowing: visits are few for most and many for
# some, so a mean would say little, and they were cut into bins that keep their order.

model = catalpa.Grove(n_clusters=4, random_state=0).fit(insured)
print(model.schema_)

# %%
# How much of what sets clusters apart is owed to words, and how much to numbers? A method that measures
# both on one scale can be ruled by either without a word.

print({kind: round(part, 2) for kind, part in model.balance_.items()})

# %%

model.reasons().groupby("cluster").head(3)[["cluster", "text"]].style.format(escape="html").hide()

# %%
# The number of diseases in each cluster:

plot.number_boxes(model, insured)

# %%
# And everything that was read as categories:

plot.profile_map(model)
