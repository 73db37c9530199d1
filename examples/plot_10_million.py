"""
A million rows
==============

Methods for categories are known to be slow. Here a million rows with twelve columns are clustered while you
read this line, from a file that is never in memory as a whole. Tables of that size with known clusters are
not published, so this one is planted.
"""

import tempfile
import time
from pathlib import Path

from sklearn.metrics import adjusted_rand_score

import catalpa
from catalpa import plot
from catalpa.datasets import make_categorical

planted = make_categorical(1_000_000, columns=12, categories=5, clusters=6, noise=0.55, seed=0)
planted.frame.head(4)

# %%
# In memory, with all its threads:

began = time.perf_counter()
model = catalpa.Grove(n_clusters=6, random_state=0).fit(planted.frame)
print(f"fitted in {time.perf_counter() - began:.1f} s")
print(f"ARI with the planted clusters: {adjusted_rand_score(planted.target, model.labels_):.3f}")

# %%
# The clusters are learned on a part of the rows, then all rows take part in the last passes. Labels are the
# same on any number of threads.
#
# From a file, block by block. ``catalpa.scan`` names the file and reads nothing yet:

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "rows.parquet"
planted.frame.to_parquet(path)
rows = catalpa.scan(path)

began = time.perf_counter()
streamed = catalpa.Grove(n_clusters=6, random_state=0).fit(rows)
print(f"fitted in {time.perf_counter() - began:.1f} s")
print("the same labels:", bool((streamed.labels_ == model.labels_).all()))

# %%
# What a model keeps is small: it is the table of costs, not the rows.

streamed.save(Path(folder.name) / "model.json")
sizes = {name: (Path(folder.name) / name).stat().st_size for name in ("rows.parquet", "model.json")}
print({name: f"{size / 1e6:.2f} MB" for name, size in sizes.items()})
folder.cleanup()

# %%

plot.profile_map(model, columns=list(planted.frame.columns[:4]))

# %%
# :doc:`/guides/scale` goes further: files larger than memory, Dask, Spark, and ten billion rows.
