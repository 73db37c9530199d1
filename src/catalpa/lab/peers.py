"""What users have today, ready for a comparison: latent class analysis, and k-means on leading axes."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from catalpa.errors import MissingDependency
from catalpa.table import encode, infer
from catalpa.table.blocks import Block, FloatArray

MOST_AXES = 10


@dataclass(eq=False, repr=False)
class LatentClasses(ClusterMixin, BaseEstimator):
    """Latent class analysis by the package StepMix: categories are multinomial, numbers normal."""

    n_clusters: int = 8
    _: KW_ONLY
    n_init: int = 10  # of expectation maximisation; the one of the largest likelihood is kept
    categorical_features: Any = None  # this and random_state as in KModes
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> LatentClasses:
        """Find the latent classes of a table; a missing cell is a category, a missing number adds nothing."""
        from stepmix.stepmix import StepMix

        block = _encoded(X, self.categorical_features)
        model = StepMix(
            self.n_clusters,
            measurement=_measurement(block),
            n_init=self.n_init,
            random_state=self.random_state,
            progress_bar=0,
            verbose=0,
        )
        cells = np.hstack([block.codes.astype(float), _standardised(block.numbers)])
        self.labels_ = np.asarray(model.fit(cells).predict(cells))
        return self


@dataclass(eq=False, repr=False)
class LeadingAxes(ClusterMixin, BaseEstimator):
    """k-means on the leading axes of multiple correspondence analysis, with numbers as in FAMD."""

    n_clusters: int = 8
    _: KW_ONLY
    n_axes: int | None = None  # those that are kept; None keeps one fewer than clusters, at most 10
    n_init: int = 10  # starts of k-means
    categorical_features: Any = None  # this and random_state as in KModes
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> LeadingAxes:
        """Place the rows of a table on its leading axes, and cluster them there."""
        block = _encoded(X, self.categorical_features)
        # The centres of k clusters span k - 1 directions.
        wanted = min(self.n_clusters - 1, MOST_AXES) if self.n_axes is None else self.n_axes
        points = _leading_coordinates(block, max(wanted, 1), check_random_state(self.random_state))
        model = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state)
        self.labels_ = model.fit_predict(points)
        self.inertia_ = model.inertia_
        return self


PEERS: Mapping[str, type[Any]] = {"stepmix": LatentClasses, "mca-kmeans": LeadingAxes}


def find_peer(name: str) -> type[Any] | None:
    """The method of this name, or None; says what to install where its package is missing."""
    if name == "stepmix" and importlib.util.find_spec("stepmix") is None:
        raise MissingDependency(
            "The method 'stepmix' is latent class analysis by the package StepMix, which is not installed. "
            "Install it with: pip install stepmix"
        )
    return PEERS.get(name)


def _encoded(X: Any, categorical_features: Any) -> Block:
    schema = infer(X, categorical_features=categorical_features)
    return encode(X, schema).rows.blocks[0]


def _measurement(block: Block) -> Any:
    """StepMix's description of the columns, in their order."""
    kinds = {
        "categories": {"model": "categorical", "n_columns": block.codes.shape[1]},
        "numbers": {"model": "gaussian_diag_nan", "n_columns": block.numbers.shape[1]},
    }
    return {name: kind for name, kind in kinds.items() if kind["n_columns"]}


def _standardised(numbers: FloatArray) -> FloatArray:
    if not numbers.size:
        return numbers
    # In deviations, or the column with the largest unit would decide.
    spread = np.nanstd(numbers, axis=0)
    return np.asarray((numbers - np.nanmean(numbers, axis=0)) / np.where(spread > 0, spread, 1.0))


def _leading_coordinates(block: Block, n_axes: int, rng: np.random.RandomState) -> FloatArray:  # (n, axes)
    """Coordinates of the rows on the leading axes of the centred table of indicators and numbers."""
    table = _indicators(block)
    middle = np.asarray(table.mean(axis=0)).ravel()
    n, width = table.shape
    # ARPACK finds fewer axes than there are; a table this small is decomposed whole.
    if n_axes >= min(n, width):
        left, lengths, _ = np.linalg.svd(table.toarray() - middle, full_matrices=False)
        return np.asarray(left * lengths)
    # Centred in the product, not in memory: taking off the mean would fill the sparse table.
    centred = LinearOperator(
        (n, width),
        matvec=lambda v: table @ v - middle @ v,
        rmatvec=lambda u: table.T @ u - middle * u.sum(),
        matmat=lambda v: table @ v - middle @ v,
        rmatmat=lambda u: table.T @ u - np.outer(middle, u.sum(axis=0)),
        dtype=float,
    )
    # ARPACK starts from random numbers of its own unless it is given some.
    left, lengths, _ = svds(centred, k=n_axes, v0=rng.standard_normal(min(n, width)))
    return np.asarray(left * lengths)


def _indicators(block: Block) -> csr_array:
    """One column per category, over the root of its share, and the numbers in standard deviations."""
    n = len(block)
    parts = []
    for codes in block.codes.T:
        values, at, count = np.unique(codes, return_inverse=True, return_counts=True)
        # Over the root of its share: the weight of a category in multiple correspondence analysis.
        parts.append(csr_array((1 / np.sqrt(count[at] / n), (np.arange(n), at)), shape=(n, len(values))))
    numbers = np.nan_to_num(_standardised(block.numbers))  # a missing number is an average one
    return csr_array(hstack([*parts, csr_array(numbers)]))
