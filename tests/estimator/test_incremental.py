"""Clusters learned from batches that come one after another."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import catalpa
from catalpa import Grove, KModes, datasets
from catalpa.errors import ColumnMismatch, MissingValues, ParameterError, UnseenCategories
from catalpa.estimator import incremental
from catalpa.table import infer
from catalpa.table.infer import extend
from catalpa.table.schema import places_in

BOTH = pytest.mark.parametrize(
    "model",
    [KModes(3, n_init=3, random_state=0), Grove(3, n_init=2, random_state=0)],
    ids=["KModes", "Grove"],
)


def batches(
    n: int = 900, size: int = 300, *, numbers: bool = False, noise: float = 0.3
) -> list[pd.DataFrame]:
    """Planted clusters, cut into batches."""
    made = datasets.make_categorical(n, columns=5, categories=4, clusters=3, noise=noise, seed=1)
    frame = made.frame.astype(str)
    if numbers:
        frame["size"] = np.round(np.random.default_rng(0).normal(made.clusters), 3)
    return [frame.iloc[at : at + size] for at in range(0, n, size)]


def learned(model: Any, parts: list[pd.DataFrame]) -> Any:
    model = clone(model)
    for part in parts:
        model.partial_fit(part)
    return model


def test_two_batches_by_hand() -> None:
    model = KModes(2, random_state=0).partial_fit([["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"]])
    a, b = model.predict([["a", "x"], ["b", "y"]])
    model.partial_fit([["b", "z"], ["b", "z"], ["b", "z"], ["a", "x"]])
    assert model.labels_.tolist() == [b, b, b, a]
    assert model.cluster_sizes_[[a, b]].tolist() == [3, 5]
    assert model.cluster_centers_.to_numpy()[[a, b]].tolist() == [
        ["a", "x"],
        ["b", "z"],
    ]  # z is there 3 times, y twice
    assert model.cost_ == 2.0  # the two rows with y
    history = model.history_
    assert history["rows"].tolist() == [4, 4]
    assert history["cost_per_row"].tolist() == [0.0, 0.75]
    assert history["unseen"].tolist() == [0.0, 3 / 8]
    # Of b's cluster, 3 of 5 weights of the second column moved to z; a's did not move.
    assert history["shift"].tolist() == [0.0, pytest.approx(5 / 8 * (3 / 5) / 2)]
    assert model.n_iter_ == 2


@BOTH
def test_batches_find_the_clusters_of_the_whole_table(model: Any) -> None:
    parts = batches(noise=0.15)  # hardly a row is as near to two clusters
    streamed, whole = learned(model, parts), clone(model).fit(pd.concat(parts))
    assert adjusted_rand_score(whole.labels_, streamed.predict(pd.concat(parts))) > 0.95
    assert streamed.cluster_sizes_.sum() == 900
    if isinstance(model, KModes):  # of batches, the evidence for Grove's clusters is not known
        assert streamed.cost_ == pytest.approx(whole.cost_, rel=0.02)
    assert streamed.history_["unseen"].tolist() == [0.0, 0.0, 0.0]


@BOTH
def test_counts_of_all_batches_are_those_of_all_rows(model: Any) -> None:
    parts = batches()
    streamed = learned(model, parts)
    totals = streamed._fitted.outcome.counts.by_category.sum(axis=0)
    frame = pd.concat(parts)
    expected = [frame[name].value_counts().sort_index().tolist() for name in frame]
    assert totals.tolist() == [count for column in expected for count in column]


@BOTH
def test_new_categories_join_and_drift_shows_in_the_history(model: Any) -> None:
    calm = batches()
    renamed = calm[2].replace({"c0": "new", "c1": None})
    streamed = learned(model, [*calm[:2], renamed])
    first = streamed.schema_.columns[0].categories
    assert first[-2:] == ("new", None)
    history = streamed.history_
    assert history["unseen"][1] == 0.0
    assert history["unseen"][2] > 0.2
    assert history["cost_per_row"][2] > 1.2 * history["cost_per_row"][1]
    assert history["shift"][2] > 3 * history["shift"][1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is unseen any more
        streamed.predict(renamed)


@BOTH
def test_a_small_decay_follows_the_last_batch(model: Any) -> None:
    first, second = batches(600)
    swapped = second.replace({"c0": "c1", "c1": "c0"})
    settings = {"decay": 0.01}
    fading, keeping = (
        learned(clone(model).set_params(**given), [first, *[swapped] * 3]) for given in (settings, {})
    )
    assert fading.cluster_sizes_.sum() == pytest.approx(303, abs=0.2)
    assert keeping.cluster_sizes_.sum() == 1200
    shares = swapped["column_0"].value_counts(normalize=True)
    now = fading.profiles_.query("column == 'column_0'").groupby("category")["count"].sum() / 303
    np.testing.assert_allclose(now[shares.index], shares, atol=0.01)


def test_a_cluster_without_rows_keeps_what_it_knows() -> None:
    model = KModes(2, decay=0.001, random_state=0).partial_fit([["a"], ["a"], ["b"]])
    for _ in range(5):
        model.partial_fit([["a"], ["a"]])
    assert model.n_clusters_ == 2
    assert sorted(model.cluster_centers_.to_numpy().ravel()) == ["a", "b"]


def test_grove_counts_numbers_as_the_first_batch_took_them() -> None:
    parts = batches(numbers=True)
    model = learned(Grove(3, n_init=2, random_state=0), parts)
    frame = pd.concat(parts)
    first = Grove(3, n_init=2, random_state=0).fit(parts[0])
    assert model.schema_.columns[-1] == first.schema_.columns[-1]
    means = frame.groupby(model.predict(frame))["size"].mean()
    np.testing.assert_allclose(model.cluster_centers_["size"], means, atol=0.15)


def test_a_fitted_or_loaded_model_goes_on(tmp_path: Any) -> None:
    first, second, _ = batches()
    fitted = KModes(3, random_state=0).fit(first)
    fitted.save(tmp_path / "model.json")
    loaded = catalpa.load(tmp_path / "model.json")
    for model in (fitted, loaded):
        model.partial_fit(second)
    assert fitted.cluster_sizes_.tolist() == loaded.cluster_sizes_.tolist()
    assert fitted.cluster_sizes_.sum() == 600
    weighed = KModes(3, random_state=0).fit(first, sample_weight=np.full(300, 0.5)).partial_fit(second)
    assert weighed.cluster_sizes_.sum() == pytest.approx(450)


def test_a_saved_model_keeps_the_lines_of_its_batches(tmp_path: Any) -> None:
    first, second, third = batches()
    model = learned(KModes(3, random_state=0), [first, second])
    model.save(tmp_path / "model.json")
    loaded = catalpa.load(tmp_path / "model.json")
    pd.testing.assert_frame_equal(loaded.history_, model.history_)
    pd.testing.assert_frame_equal(loaded.partial_fit(third).history_, model.partial_fit(third).history_)
    assert loaded.history_["batch"].tolist() == [1, 2, 3]


def test_fit_forgets_the_batches() -> None:
    first, second, _ = batches()
    model = learned(KModes(3, random_state=0), [first, second])
    assert list(model.history_.columns) == ["batch", "rows", "cost_per_row", "unseen", "shift"]
    model.fit(first)
    assert "phase" in model.history_.columns
    assert model.cluster_sizes_.sum() == 300


def test_history_comes_in_the_library_of_the_batches() -> None:
    model = KModes(2, random_state=0).partial_fit(pl.DataFrame({"a": ["x", "y"]}))
    assert isinstance(model.history_, pl.DataFrame)


def test_missing_cells_that_are_left_out_stay_left_out() -> None:
    model = KModes(2, missing="ignore", random_state=0).partial_fit([["a", "x"], ["b", "y"]])
    model.partial_fit([["a", None], ["b", "y"]])
    assert None not in model.schema_.columns[1].categories
    assert model._fitted.outcome.counts.by_category.sum() == 7


# Searches among the rows so far


@BOTH
def test_a_small_first_batch_does_not_decide_alone(model: Any) -> None:
    frame = pd.concat(batches(noise=0.45))
    parts = [frame[at : at + 60] for at in range(0, 900, 60)]
    streamed = learned(model, parts[:8])  # searched among 60, 120, 180, 300 and 480 rows
    whole = clone(model).fit(frame[:480])
    assert adjusted_rand_score(whole.labels_, streamed.predict(frame[:480])) == 1.0
    assert streamed.cost_ == pytest.approx(whole.cost_)
    assert streamed.labels_.tolist() == streamed.predict(parts[7]).tolist()


def test_enough_rows_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "RESERVOIR_ROWS", 600)
    monkeypatch.setattr(incremental, "RESERVOIR_PER_CLUSTER", 1)
    first, second, third = batches()
    model = learned(Grove(3, random_state=0), [first, second])
    assert not np.isnan(model.evidence_)
    assert model._fitted.reservoir is None
    assert np.isnan(model.partial_fit(third).evidence_)
    assert model.cluster_sizes_.sum() == 900
    assert Grove(3, random_state=0).partial_fit(pd.concat([first, second]))._fitted.reservoir is None


@BOTH
def test_clusters_keep_their_numbers_and_names_in_a_search(model: Any) -> None:
    parts = batches(noise=0.15)
    streamed = learned(model, parts[:1]).name_clusters({0: "some", 2: "others"})
    before = streamed.predict(parts[0])
    for part in parts[1:]:
        streamed.partial_fit(part)
    assert (streamed.predict(parts[0]) == before).mean() > 0.95
    assert streamed.cluster_names_ == ["some", "1", "others"]


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("decay", [1.0, 0.5])
def test_rows_so_far_are_counted_with_new_categories_and_decay(missing: Any, decay: float) -> None:
    first = [["a", "x"], ["b", "y"], [None, "y"]] * 6
    second = [["c", "x"], [None, "a new one"], ["b", None], ["b", "y"]] * 6
    model = Grove(2, missing=missing, decay=decay, random_state=0).partial_fit(first).partial_fit(second)
    assert not np.isnan(model.evidence_)  # of a search
    for at, column in enumerate(model.schema_.columns):
        counts = model._fitted.outcome.counts.by_category.sum(axis=0) / model._fitted.units_per_weight
        start = model.schema_.axis.offsets[at]
        for place, value in enumerate(column.categories):
            expected = decay * sum(row[at] == value for row in first) + sum(
                row[at] == value for row in second
            )
            assert counts[start + place] == expected


def test_rows_so_far_are_not_in_copies_and_other_models() -> None:
    first, second, _ = batches()
    model = learned(Grove(3, n_init=1, random_state=0), [first])
    assert model._fitted.reservoir is not None
    assert pickle.loads(pickle.dumps(model))._fitted.reservoir is None
    assert model.merge([0, 1])._fitted.reservoir is None
    assert model.merge([0, 1]).partial_fit(second).n_clusters_ == 2
    assert model.fit(first)._fitted.reservoir is None


@pytest.mark.filterwarnings("ignore")
def test_the_number_of_clusters_is_that_of_all_rows_so_far() -> None:
    frame = pd.concat(batches(noise=0.15))
    model = Grove("auto", max_clusters=5, random_state=0).partial_fit(frame[:20])
    for at in (20, 60, 300):
        model.partial_fit(frame[at : 3 * at])
    assert model.n_clusters_ == 3


# What is refused


@pytest.mark.filterwarnings("ignore")
def test_a_first_batch_without_rows_for_every_cluster_is_refused() -> None:
    model = KModes(3, random_state=0)
    with pytest.raises(ParameterError, match="rows for only 2 of 3 clusters"):
        model.partial_fit([["a"], ["b"], ["b"]])
    assert model.partial_fit([["a"], ["b"], ["c"]]).n_clusters_ == 3


def test_other_columns_are_refused() -> None:
    model = KModes(2, random_state=0).partial_fit(pd.DataFrame({"a": ["x", "y"]}))
    with pytest.raises(ColumnMismatch):
        model.partial_fit(pd.DataFrame({"b": ["x", "y"]}))


def test_new_categories_are_refused_where_the_user_said_so() -> None:
    model = KModes(2, handle_unknown="error", random_state=0).partial_fit([["a"], ["b"]])
    with pytest.raises(UnseenCategories):
        model.partial_fit([["c"]])


def test_missing_cells_are_refused_where_the_user_said_so() -> None:
    model = KModes(2, missing="error", random_state=0).partial_fit([["a", "x"], ["b", "y"]])
    with pytest.raises(MissingValues):
        model.partial_fit([["a", None]])


@pytest.mark.parametrize("decay", [0, 1.5, -1, "x", True, None])
def test_a_decay_that_is_no_share_is_refused(decay: Any) -> None:
    with pytest.raises(ParameterError, match="decay of KModes must be a number above 0 and at most 1"):
        KModes(2, decay=decay).partial_fit([["a"], ["b"]])


# How schemas grow

cells = st.sampled_from(["a", "b", "c", None])
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=6)


@given(tables, tables)
@pytest.mark.filterwarnings("ignore")
def test_an_extended_schema_has_all_categories_and_old_ones_keep_their_order(
    first: list[tuple[Any, Any]], second: list[tuple[Any, Any]]
) -> None:
    schema = infer(first)
    wider = extend(schema, second)
    places = places_in(schema, wider)
    all_places = [(at, value) for at, column in enumerate(wider.columns) for value in column.categories]
    old_places = [(at, value) for at, column in enumerate(schema.columns) for value in column.categories]
    assert [all_places[place] for place in places] == old_places
    for at, column in enumerate(wider.columns):
        assert set(column.categories) == {row[at] for row in first + second}
        assert None not in column.categories[:-1]


def test_bins_and_numbers_do_not_grow() -> None:
    frame = pd.DataFrame({"n": np.linspace(0, 1, 50), "m": np.linspace(0, 1, 50)})
    binned = infer(frame, bins=3)
    assert extend(binned, frame + 10) == binned
    numeric = infer(frame)
    assert extend(numeric, frame + 10) == numeric
