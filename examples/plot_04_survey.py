"""
A survey: weights, order and missing answers
============================================

944 Americans before the election of 1996. Answers have an order, some people do not tell their income, and
graduates answered more often than others. None of this has to be repaired before clustering.
"""

import numpy as np
import pandas as pd
from statsmodels.datasets import anes96

import catalpa
from catalpa import plot

raw = anes96.load_pandas().data
smoothed = ["very liberal", "liberal", "rather liberal", "moderate", "rather conservative", "conservative"]
smoothed += ["very conservative"]
party = ["strong Dem", "weak Dem", "leans Dem", "independent", "leans Rep", "weak Rep", "strong Rep"]
school = ["grades 1-8", "some high school", "high school", "some college", "college", "master", "PhD"]


def in_order(codes: pd.Series, names: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes((codes - codes.min()).astype(int), names, ordered=True)


people = pd.DataFrame(
    {
        "own leaning": in_order(raw["selfLR"], smoothed),
        "Clinton's leaning": in_order(raw["ClinLR"], smoothed),
        "Dole's leaning": in_order(raw["DoleLR"], smoothed),
        "party": in_order(raw["PID"], party),
        "education": in_order(raw["educ"], school),
        "income": raw["income"],
        "age": raw["age"],
    }
)

# %%
# The file was cleaned, so answers are taken away as in life: many of those with a high income do not tell
# it. Then everybody gets a weight that gives graduates the share they had in the country.

rng = np.random.default_rng(0)
people.loc[(people["income"] >= 20) & (rng.random(len(people)) < 0.3), "income"] = np.nan
graduate = (raw["educ"] >= 5).to_numpy()
weight = np.where(graduate, 0.24 / graduate.mean(), 0.76 / (~graduate).mean())
people.sample(5, random_state=0)

# %%
# Ordered columns stay in order, ages stay numbers, gaps stay gaps, and the weights go along. That a gap is
# an answer of its own is the default; ``missing="ignore"`` leaves gaps out instead.

model = catalpa.Grove(n_clusters=4, random_state=0).fit(people, sample_weight=weight)
model.reasons().groupby("cluster").head(3)[["cluster", "text"]].style.format(escape="html").hide()

# %%
# Answers in their order, so that neighbours can be read together:

plot.profile_map(model, columns=["own leaning", "party", "education"])

# %%
# Nobody was asked for this: how the clusters voted.

vote = raw["vote"].map({0.0: "Clinton", 1.0: "Dole"})
share = pd.crosstab(model.labels_, vote, values=weight, aggfunc="sum", normalize="index")
share.rename_axis("cluster").style.format("{:.0%}")

# %%
# The guide :doc:`/guides/survey` goes on from here: names, the page to show, labels for the next wave.
