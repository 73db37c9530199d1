"""The leading axes of a table: those of an eigenvalue solver, with the same bits in any order of sums."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array

from catalpa.cluster.grove import spectral
from catalpa.cluster.grove.spectral import Products, SparseRows, coordinates
from catalpa.datasets import make_categorical


def features_of(frame: pd.DataFrame) -> Products:
    """Categories as columns of zeros and ones, multiplied with each other the plain way."""
    cells = pd.get_dummies(frame.astype(str)).to_numpy(dtype=float)
    return Products(cells.T @ cells / len(cells), cells.mean(axis=0), frame.shape[1])


def planted(clusters: int, seed: int = 0) -> Products:
    made = make_categorical(500, columns=8, categories=4, clusters=clusters, noise=0.3, seed=seed)
    return features_of(made.frame)


def leading_of_solver(features: Products, axes: int) -> np.ndarray:
    return np.linalg.eigh(features.matrix)[1][:, ::-1][:, :axes]


@pytest.mark.parametrize("clusters", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_axes_span_what_the_leading_eigenvectors_span(clusters, seed):
    features = planted(clusters, seed)
    found = coordinates(features, clusters - 1) * features.lengths[:, None]
    np.testing.assert_allclose(found.T @ found, np.eye(clusters - 1), atol=1e-5)
    assert subspace_angles(found, leading_of_solver(features, clusters - 1)).max() < 1e-4


def test_axes_come_in_the_order_of_their_variance():
    features = planted(5)
    found = coordinates(features, 4) * features.lengths[:, None]
    along = np.diag(found.T @ features.matrix @ found)
    assert (np.diff(along) < 1e-9).all()
    np.testing.assert_allclose(along, np.linalg.eigvalsh(features.matrix)[::-1][:4], rtol=1e-3)


def test_the_largest_entry_of_every_axis_is_positive():
    features = planted(5)
    found = coordinates(features, 4) * features.lengths[:, None]
    assert (found[np.abs(found).argmax(axis=0), range(4)] > 0).all()


def test_one_axis_by_hand():
    # Two columns that say the same: the only axis sets the two categories of each apart.
    frame = pd.DataFrame({"p": list("aaab"), "q": list("xxxy")})
    features = features_of(frame)
    found = coordinates(features, 1)[:, 0]
    # The indicator of a category is divided by sqrt(2 q), so the axis is sqrt(1 - q) / sqrt(2) up to sign.
    assert found[0] == pytest.approx(found[2])
    np.testing.assert_allclose(found, [-1 / 3**0.5 / 2, 3**0.5 / 2] * 2, atol=1e-6)


def test_without_axes_there_are_no_coordinates():
    assert coordinates(planted(2), 0).shape == (32, 0)


class Backwards(np.ndarray):
    """Numbers whose products are summed in another order: the last block of four first."""

    def __matmul__(self, other):
        own, other = np.asarray(self), np.asarray(other)
        whole = 0.0
        for at in reversed(range(0, own.shape[-1], 4)):
            whole = own[..., at : at + 4] @ other[at : at + 4] + whole
        return whole if own.shape[-1] else own @ other


@given(st.integers(0, 2**31), st.integers(1, 6))
def test_the_order_of_sums_does_not_change_a_bit(seed, axes):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (60, 6)))
    plain = coordinates(features_of(frame), axes)
    on_grid = spectral._on_grid
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectral, "_on_grid", lambda values, bits: on_grid(values, bits).view(Backwards))
        other = np.asarray(coordinates(features_of(frame), axes))
    assert plain.tobytes() == other.tobytes()


@pytest.mark.parametrize("multiplications", [1, 100, 200, 1 << 20])
def test_products_of_a_few_rows_at_a_time_give_the_same_bits(monkeypatch, multiplications):
    frame = pd.DataFrame(np.random.default_rng(4).integers(0, 4, (60, 6)))
    monkeypatch.setattr(spectral, "FEW_FEATURES", 0)
    whole = coordinates(features_of(frame), 3)
    monkeypatch.setattr(spectral, "FEW_FEATURES", 1000)
    monkeypatch.setattr(spectral, "ONE_THREAD", multiplications)
    assert coordinates(features_of(frame), 3).tobytes() == whole.tobytes()


def rows_of(frame: pd.DataFrame, order=slice(None)) -> SparseRows:
    """The same features, whose rows are gone through."""
    cells = pd.get_dummies(frame.astype(str)).to_numpy(dtype=float)[order]
    nothing, ones = np.zeros((len(cells), 0)), np.ones(len(cells), dtype=np.int64)
    return SparseRows(csr_array(cells), nothing, ones, cells.mean(axis=0), frame.shape[1])


@pytest.mark.parametrize("clusters", [2, 3, 5])
def test_going_through_the_rows_gives_the_same_axes(clusters):
    frame = make_categorical(500, columns=8, categories=4, clusters=clusters, noise=0.3, seed=0).frame
    dense, sparse = features_of(frame), rows_of(frame)
    vectors = np.random.default_rng(0).normal(size=(32, 3)) / 40
    np.testing.assert_allclose(sparse.times(vectors), dense.times(vectors), atol=1e-5)
    one, other = (coordinates(each, clusters - 1) for each in (dense, sparse))
    assert subspace_angles(one, other).max() < 0.01


@given(st.integers(0, 2**31), st.integers(1, 6))
def test_the_order_of_the_rows_does_not_change_a_bit(seed, axes):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (64, 6)))
    one, other = (coordinates(rows_of(frame, order), axes) for order in (slice(None), rng.permutation(64)))
    assert one.tobytes() == other.tobytes()


def test_numbers_off_the_grid_do_depend_on_the_order():
    rng = np.random.default_rng(0)
    own, other = rng.random((2, 50, 50))
    assert (own @ other).tobytes() != np.asarray(own.view(Backwards) @ other).tobytes()


def test_the_first_signs_are_those_of_splitmix64():
    def splitmix64(state):
        state = (state * 0x9E3779B97F4A7C15) % 2**64
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) % 2**64
        return state ^ (state >> 31)

    expected = [1.0 if splitmix64(at) & 1 else -1.0 for at in range(1, 13)]
    assert spectral._signs(4, 3).ravel().tolist() == expected
