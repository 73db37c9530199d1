"""The programs that are set beside Catalpa, each in its best documented setting, and the tables they get.

A program takes a frame of words and a number of clusters and gives back labels; what it needs to read words
(indicator columns, integer codes) is part of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import catalpa
from catalpa.datasets import Planted, make_categorical

# 2 to 50 categories, as surveys and registers have them: many narrow columns and a few wide ones.
CATEGORIES = (2, 3, 3, 4, 4, 5, 5, 6, 6, 8, 8, 10, 10, 12, 15, 18, 22, 28, 36, 50)
NOISE = 0.5
NUMERIC = 5
MOST_AXES = 10
Labels = NDArray[Any]


def planted(rows: int, clusters: int) -> Planted:
    """20 columns of 2 to 50 categories."""
    return make_categorical(
        rows, columns=len(CATEGORIES), categories=CATEGORIES, clusters=clusters, noise=NOISE, seed=0
    )


def in_words(made: Planted) -> pd.DataFrame:
    """The table as pandas holds strings."""
    return made.frame.astype(str)


def mixed(rows: int, clusters: int) -> tuple[pd.DataFrame, Labels]:
    """15 of these columns and 5 numbers, whose means differ between clusters by about their spread."""
    made = planted(rows, clusters)
    rng = np.random.default_rng(0)
    means = rng.normal(scale=1.5, size=(clusters, NUMERIC))
    numbers = means[made.clusters] + rng.normal(size=(rows, NUMERIC))
    frame = in_words(made).iloc[:, : len(CATEGORIES) - NUMERIC]
    return frame.assign(**{f"number_{at}": numbers[:, at] for at in range(NUMERIC)}), made.clusters


def numeric(rows: int, clusters: int) -> tuple[pd.DataFrame, Labels]:
    """20 numbers, whose means differ between clusters by about half their spread."""
    rng = np.random.default_rng(0)
    target = rng.integers(clusters, size=rows)
    numbers = rng.normal(scale=0.5, size=(clusters, 20))[target] + rng.normal(size=(rows, 20))
    return pd.DataFrame(numbers, columns=[f"number_{at}" for at in range(20)]), target


def k_modes(frame: pd.DataFrame, k: int) -> Labels:
    """KModes as it comes: ten starts."""
    return catalpa.KModes(k, random_state=0).fit(frame).labels_


def grove(frame: pd.DataFrame, k: int) -> Labels:
    """Grove as it comes: thirteen searches."""
    return catalpa.Grove(k, random_state=0).fit(frame).labels_


def k_prototypes(frame: pd.DataFrame, k: int) -> Labels:
    """KPrototypes as it comes."""
    return catalpa.KPrototypes(k, random_state=0).fit(frame).labels_


def one_hot_k_means(frame: pd.DataFrame, k: int, *, sparse: bool, n_init: Any = "auto") -> Labels:
    """scikit-learn's k-means on float32 indicators; numbers, if there are any, are standardised."""
    hot = OneHotEncoder(sparse_output=sparse, dtype=np.float32)
    numbers = list(frame.select_dtypes("number"))
    if numbers:
        words = [name for name in frame if name not in numbers]
        hot = make_column_transformer((hot, words), (StandardScaler(), numbers))
    return KMeans(k, n_init=n_init, random_state=0).fit(hot.fit_transform(frame)).labels_


def one_hot_pipeline(frame: pd.DataFrame, k: int) -> Pipeline:
    """The same as users deploy it."""
    hot = OneHotEncoder(handle_unknown="ignore", dtype=np.float32)
    return make_pipeline(hot, KMeans(k, random_state=0)).fit(frame)


def latent_classes(frame: pd.DataFrame, k: int, *, n_init: int, max_iter: int = 1000) -> Labels:
    """StepMix on integer codes."""
    from stepmix.stepmix import StepMix

    codes = OrdinalEncoder(dtype=np.int64).fit_transform(frame)
    model = StepMix(
        k,
        measurement="categorical",
        n_init=n_init,
        max_iter=max_iter,
        random_state=0,
        progress_bar=0,
        verbose=0,
    )
    return model.fit(codes).predict(codes)


def mixed_latent_classes(frame: pd.DataFrame, k: int) -> Labels:
    """One start of StepMix on integer codes and standardised numbers."""
    from stepmix.stepmix import StepMix

    numbers = list(frame.select_dtypes("number"))
    words = [name for name in frame if name not in numbers]
    cells = pd.DataFrame(OrdinalEncoder(dtype=np.int64).fit_transform(frame[words]), columns=words)
    cells[numbers] = StandardScaler().fit_transform(frame[numbers])
    kinds = (("categorical", words), ("gaussian_diag", numbers))
    measurement = {kind: {"model": kind, "n_columns": len(names)} for kind, names in kinds}
    model = StepMix(k, measurement=measurement, n_init=1, random_state=0, progress_bar=0, verbose=0)
    return model.fit(cells).predict(cells)


def gaussian_mixture(frame: pd.DataFrame, k: int) -> Labels:
    """scikit-learn's mixture with diagonal covariances, the best of ten starts, on standardised numbers."""
    numbers = StandardScaler().fit_transform(frame)
    return GaussianMixture(k, covariance_type="diag", n_init=10, random_state=0).fit_predict(numbers)


def mca_k_means(frame: pd.DataFrame, k: int) -> Labels:
    """k-means, the best of ten starts, on the leading axes of prince's correspondence analysis."""
    import prince

    axes = prince.MCA(n_components=min(k - 1, MOST_AXES), random_state=0).fit(frame)
    return KMeans(k, n_init=10, random_state=0).fit(axes.row_coordinates(frame).to_numpy()).labels_


def peer_k_prototypes(frame: pd.DataFrame, k: int) -> Labels:
    """The package kmodes with the start it comes with, which is made once and quicker than its others."""
    from kmodes.kprototypes import KPrototypes

    words = [at for at, name in enumerate(frame) if not name.startswith("number_")]
    model = KPrototypes(k, init="Cao", n_init=1, random_state=0)
    return model.fit_predict(frame.to_numpy(dtype=object), categorical=words)


def read_and_encode(path: str) -> int:
    """A file as integer codes, its columns and categories found on the way."""
    from catalpa.table import encode, infer
    from catalpa.table.files.sources import read_table
    from catalpa.table.open import open_table

    table = open_table(read_table(path))
    return len(encode(table, infer(table)).rows)


def polars_categorical(path: str) -> int:
    """The same file read by polars with every column as Categorical."""
    import polars as pl

    if path.endswith(".csv"):
        names = pl.read_csv(path, n_rows=0).columns
        return pl.read_csv(path, schema_overrides=dict.fromkeys(names, pl.Categorical)).height
    return pl.read_parquet(path).cast({pl.String: pl.Categorical}).height
