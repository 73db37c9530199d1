"""
Cars: why a full factorial has no clusters
==========================================

1728 cars from a famous table: price, upkeep, doors, seats, boot and safety. Many papers report clusters of
it. There are none, and a program should report that.
"""

import itertools

import pandas as pd

import catalpa
from catalpa import plot

cars = catalpa.datasets.load("car")
possible = set(itertools.product(*(cars.frame[name].cat.categories for name in cars.frame)))
print(
    len(cars.frame),
    "rows,",
    len(possible),
    "possible cars,",
    len(cars.frame.drop_duplicates()),
    "different ones",
)

# %%
# Every car that can be described is there exactly once. So knowing the price says nothing about the doors:
# no answer goes with any other, and clusters are nothing else than answers that go together.
#
# Still, every method gives the clusters that one asks for.

for method in (catalpa.KModes, catalpa.Grove):
    found = method(n_clusters=4, random_state=0).fit(cars.frame)
    print(f"{method.__name__:8}", found.cluster_sizes_)

# %%
# With other seeds, k-modes gives other clusters: a sign that the table has no say in it. The agreement of
# pairs of runs, where 1 is the same clusters and 0 is chance:

from sklearn.metrics import adjusted_rand_score

tables = {"cars": cars.frame, "votes": catalpa.datasets.load("votes").frame}
agreement = []
for name, frame in tables.items():
    runs = [
        catalpa.KModes(4 if name == "cars" else 2, n_init=1, random_state=s).fit_predict(frame)
        for s in range(8)
    ]
    pairs = [adjusted_rand_score(a, b) for a, b in itertools.combinations(runs, 2)]
    agreement.append({"table": name, "mean agreement": sum(pairs) / len(pairs)})
pd.DataFrame(agreement).style.format({"mean agreement": "{:.2f}"}).hide()

# %%
# ``choose_k`` asks first whether there is anything to find.

choice = catalpa.choose_k(cars.frame, range(1, 7), repeats=0, random_state=0)
print(choice.reason)
plot.choosing_k(choice)

# %%
# What of the ratings that come with the table? They follow from the six columns by rules, so a classifier
# learns them well. That a table has classes does not mean that it has clusters.
