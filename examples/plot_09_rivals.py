"""
DISC and its rivals
===================

The paper of DISC compares it with other methods for categories. They are here under one API, so the
comparison is a loop: three tables with known classes, every method with the same seeds.
"""

import warnings

import altair as alt
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import catalpa
from catalpa.cluster.registry import METHODS

SEEDS = range(2)
names = ["grove", "disc", "kmodes", "wocil", "cdcdr", "cure", "hdc", "coforest", "mcdc", "sigdt"]
methods = {METHODS[name].class_name: getattr(catalpa, METHODS[name].class_name) for name in names}

rows = []
for table in ("zoo", "votes", "dermatology"):
    data = catalpa.datasets.load(table)
    for name, method in methods.items():
        for seed in SEEDS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # clusters that are lost are counted below
                settings = method().get_params()
                asked = {"n_clusters": data.n_clusters, "random_state": seed}
                model = method(**{key: value for key, value in asked.items() if key in settings})
                labels = model.fit_predict(data.frame)
            ari = adjusted_rand_score(data.target, labels)
            rows.append(
                {"table": table, "method": name, "seed": seed, "ARI": ari, "clusters": len(set(labels))}
            )
runs = pd.DataFrame(rows)

# %%
# Every dot is one run, every bar the mean of a method. Look at the spread too: a method whose dots lie far
# apart needs more than one start.

order = list(runs.groupby("method")["ARI"].mean().sort_values(ascending=False).index)
base = alt.Chart(runs).encode(y=alt.Y("method:N", sort=order, title=None))
means = base.mark_tick(thickness=3, size=14, color="#3f9142").encode(x=alt.X("mean(ARI):Q", title="ARI"))
dots = base.mark_circle(size=40, opacity=0.5, color="#6b7785").encode(x="ARI:Q")
alt.layer(dots, means).properties(width=180, height=200).facet("table:N")

# %%
# How many clusters were left of those that were asked for?

lost = runs.pivot_table(index="method", columns="table", values="clusters").loc[order]
lost.style.format("{:.1f}")

# %%
# Three tables decide nothing. :doc:`/inside/results` has the twelve tables of the paper beside the printed
# numbers, with tests of significance; :doc:`/inside/quality` has 112 tables, and says where others are
# ahead.
