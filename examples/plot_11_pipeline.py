"""
In a pipeline, with a classifier behind it
==========================================

Clusters as features. Labels are dear: a doctor has to look. Findings are cheap: they are in the table anyway.
So let the clusters learn from all patients, and a classifier from the few whose diagnosis is known.
"""

import altair as alt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import catalpa

skin = catalpa.datasets.load("dermatology")
X, y = skin.frame, skin.target

# %%
# Estimators follow scikit-learn, so a pipeline is one line. ``transform`` gives for every row its cost in
# each cluster: 33 columns become six.

grove = catalpa.Grove(n_clusters=6, handle_unknown="ignore", random_state=0)
pipeline = make_pipeline(grove, StandardScaler(), LogisticRegression(max_iter=1000))
one_hot = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
for name, model in {"six clusters": pipeline, "one-hot columns": one_hot}.items():
    print(f"{name:16} {cross_val_score(model, X, y, cv=5).mean():.3f}")

# %%
# With four fifths of the diagnoses known, one-hot columns win: six numbers cannot hold all that 33 columns
# say. Now let only a few be known. The clusters are fitted once, on all patients and without a diagnosis;
# the classifier sees the probability of each cluster.

features = {
    "six clusters": grove.fit(X).predict_proba(X),
    "one-hot columns": OneHotEncoder().fit_transform(X),
}
rows = []
for known in (6, 12, 24, 48, 96):
    for draw, (train, test) in enumerate(
        StratifiedShuffleSplit(10, train_size=known, random_state=0).split(X, y)
    ):
        for name, columns in features.items():
            model = LogisticRegression(max_iter=1000, C=10).fit(columns[train], y.iloc[train])
            right = model.score(columns[test], y.iloc[test])
            rows.append({"known": known, "features": name, "draw": draw, "right": right})
found = pd.DataFrame(rows)
found.pivot_table(index="features", columns="known", values="right").style.format("{:.2f}")

# %%
# The lines are means over twenty draws of the known patients, the bands hold all but the best and the worst
# two.

base = alt.Chart(found).encode(
    x=alt.X("known:Q", scale=alt.Scale(type="log", base=2), title="patients whose diagnosis is known"),
    color=alt.Color("features:N", scale=alt.Scale(range=["#8a97a5", "#3f9142"]), title=None),
)
band = (
    found.groupby(["known", "features"])["right"]
    .quantile([0.1, 0.9])
    .unstack()
    .set_axis(["low", "high"], axis=1)
)
area = (
    alt.Chart(band.reset_index())
    .mark_area(opacity=0.2)
    .encode(x="known:Q", y="low:Q", y2="high:Q", color="features:N")
)
line = base.mark_line(point=True).encode(
    y=alt.Y(
        "mean(right):Q",
        scale=alt.Scale(zero=False),
        title="diagnoses that are right",
        axis=alt.Axis(format="%"),
    )
)
(area + line).properties(width=460, height=260)

# %%
# This works because the clusters of this table are nearly its diagnoses
# (:ref:`sphx_glr_gallery_plot_03_patients.py`). Where classes are not clusters, as with the cars, clusters
# help nobody.
