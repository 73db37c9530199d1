"""
Drift: is last month's clustering still true?
=============================================

A model was fitted in March. In April new rows come. They get labels, as any rows do; the question is whether
the labels still mean what they meant.
"""

import numpy as np
import pandas as pd
from statsmodels.datasets import fair

import catalpa
from catalpa import plot

raw = fair.load_pandas().data
jobs = ["student", "worker", "clerk", "teacher or nurse", "manager", "academic"]
readers = pd.DataFrame(
    {
        "marriage": pd.Categorical.from_codes(
            raw["rate_marriage"].astype(int) - 1,
            ["very poor", "poor", "fair", "good", "very good"],
            ordered=True,
        ),
        "religious": pd.Categorical.from_codes(
            raw["religious"].astype(int) - 1, ["not", "mildly", "fairly", "strongly"], ordered=True
        ),
        "job": pd.Categorical.from_codes(raw["occupation"].astype(int) - 1, jobs),
        "husband's job": pd.Categorical.from_codes(raw["occupation_husb"].astype(int) - 1, jobs),
        "children": raw["children"].round().astype(int).clip(upper=4).astype(str).replace("4", "4 or more"),
        "age": raw["age"],
    }
)

# %%
# The table is a survey among readers of a magazine in 1974. Two months are made from it: March is a random
# half. April is the other half, in which young readers answer three times as often as before, as after a
# campaign.

rng = np.random.default_rng(0)
half = rng.random(len(readers)) < 0.5
march, rest = readers[half], readers[~half]
april = rest.sample(1500, weights=np.where(rest["age"] < 25, 3.0, 1.0), random_state=0)

model = catalpa.Grove(n_clusters=4, random_state=0).fit(march)
model.reasons().groupby("cluster").head(3)[["cluster", "text"]].style.format(escape="html").hide()

# %%
# First the control: rows of the other half as they are. They should look like March, and they do.

print(catalpa.drift(model, rest.sample(1500, random_state=1)))

# %%
# Now April:

found = catalpa.drift(model, april)
print(found)

# %%
# ``found.save("drift.html")`` writes the page with all numbers. Here are the clusters:

sizes = pd.DataFrame(
    {
        "March": np.bincount(model.labels_, minlength=4) / len(march),
        "April": np.bincount(model.predict(april), minlength=4) / len(april),
    }
)
sizes.rename_axis("cluster").style.format("{:.0%}")

# %%
# The cluster of young readers without children has grown. Each is still described by the same answers, so
# the model need not be fitted again, but whoever reads the sizes must know. The map shows where the
# clusters lie.

plot.category_map(model, march)
