"""A model fitted again: its clusters keep the numbers and names of the model before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import catalpa
from catalpa import Grove, KModes, datasets
from catalpa.cluster.registry import METHODS
from catalpa.errors import ColumnMismatch, ParameterError
from catalpa.estimator.matching import ClusterMatching
from catalpa.explain.crosstab import Crosstab

NAMES = {0: "birds", 1: "fish", 2: "mammals"}


def planted(rows: int = 300, clusters: int = 3, seed: int = 0) -> pd.DataFrame:
    return datasets.make_categorical(
        rows, columns=8, categories=4, clusters=clusters, noise=0.2, seed=seed
    ).frame.astype(str)


@pytest.fixture
def frame() -> pd.DataFrame:
    return planted()


@pytest.mark.parametrize(
    "method", [name for name, entry in METHODS.items() if "n_clusters" in entry.estimator().get_params()]
)
@pytest.mark.filterwarnings("ignore")
def test_every_method_is_the_same_after_its_clusters_are_numbered_anew(method: str, tmp_path: Path) -> None:
    frame = planted(120)
    entry = METHODS[method]
    settings = {"random_state": 0} if "random_state" in entry.estimator().get_params() else {}
    model = entry.estimator(n_clusters=3, **settings).fit(frame)
    order = np.roll(np.arange(model.n_clusters_), 1)
    before = (np.asarray(model.labels_), model.transform(frame), model.cluster_sizes_)
    profiles = model.profiles_
    model._renumber(order)
    assert (order[model.labels_] == before[0]).all()
    assert (model.predict(frame) == model.labels_).all()
    np.testing.assert_array_equal(model.transform(frame), before[1][:, order])
    np.testing.assert_array_equal(model.cluster_sizes_, before[2][order])
    assert len(model.profiles_) == len(profiles)
    model.save(tmp_path / "model.json")
    assert (catalpa.load(tmp_path / "model.json").predict(frame) == model.labels_).all()


def test_a_refit_keeps_numbers_and_names(frame: pd.DataFrame) -> None:
    old = Grove(3, random_state=0).fit(frame[:150]).name_clusters(NAMES)
    labels = old.predict(frame)
    # Another order of the rows, and another seed, which number the clusters in their own way.
    for seed in range(3):
        shuffled = frame.sample(frac=1.0, random_state=seed)
        new = old.set_params(random_state=seed).refit(shuffled)
        assert new.cluster_names_ == ["birds", "fish", "mammals"]
        assert (new.labels_ == labels[shuffled.index]).mean() > 0.95
        assert (new.predict(shuffled) == new.labels_).all()
        assert (new.predict_proba(shuffled).argmax(axis=1) == new.labels_).all()
    assert old.cluster_names_ == ["birds", "fish", "mammals"]
    assert old.cluster_sizes_.sum() == 150


def test_matched_has_the_shares_that_stay(frame: pd.DataFrame) -> None:
    old = KModes(3, random_state=0).fit(frame).name_clusters({1: "fish"})
    new = KModes(3, random_state=5).fit(frame).match_to(old, frame)
    lines = new.matched_
    assert lines["cluster"].tolist() == lines["before"].tolist() == [0, 1, 2]
    assert lines["name_before"].tolist() == ["0", "fish", "2"]
    for at in range(3):
        both = ((old.labels_ == at) & (new.labels_ == at)).sum()
        assert lines["stays"][at] == both / (old.labels_ == at).sum()
        assert lines["from_before"][at] == both / (new.labels_ == at).sum()
    assert lines["rows"].tolist() == new.cluster_sizes_.tolist()


def test_shares_that_stay_are_those_of_weights(frame: pd.DataFrame) -> None:
    old = Grove(3, random_state=0).fit(frame[:150])
    weights = np.arange(300.0)
    new = old.refit(frame, sample_weight=weights)
    before = old.predict(frame)
    for at in range(3):
        both = weights[(before == at) & (new.labels_ == at)].sum()
        assert new.matched_["stays"][at] == pytest.approx(both / weights[before == at].sum())
    np.testing.assert_allclose(new.matched_["rows"], new.cluster_sizes_)


def test_clusters_that_are_new_have_numbers_that_are_left() -> None:
    frame = planted(400, clusters=4)
    codes = datasets.make_categorical(400, columns=8, categories=4, clusters=4, noise=0.2, seed=0).clusters
    some = frame[codes < 3]
    old = Grove(3, random_state=0).fit(some).name_clusters(NAMES)
    new = Grove(4, random_state=0).fit(frame).match_to(old, frame)
    assert sorted(new.cluster_names_[:3]) == ["birds", "fish", "mammals"]
    assert new.cluster_names_ == ["birds", "fish", "mammals", "3"]
    assert pd.isna(new.matched_["before"][3])
    fewer = Grove(3, random_state=0).fit(some).match_to(new, some)
    assert fewer.cluster_names_ == ["birds", "fish", "mammals"]
    assert fewer.matched_["before"].tolist() == [0, 1, 2, 3]
    assert fewer.matched_["cluster"].isna().tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    ("counts", "order", "partners"),
    [
        # The old cluster 1 is gone, and what is new has its number: the others keep theirs.
        ([[0, 9, 3], [1, 1, 1], [8, 0, 0]], [1, 2, 0], {0: 0, 2: 2}),
        # There are fewer clusters: what cannot keep its number has the first that is free.
        ([[0, 0], [5, 0], [0, 5]], [1, 0], {0: 2, 1: 1}),
        # Split into equal parts: the first is matched.
        ([[5, 5]], [0, 1], {0: 0}),
        # No pair shares more than half of one of both.
        ([[3, 3, 3], [3, 3, 3], [3, 3, 3]], [0, 1, 2], {}),
    ],
)
def test_numbers_by_hand(counts: Any, order: list[int], partners: dict[int, int]) -> None:
    found = ClusterMatching.of(Crosstab(np.array(counts, dtype=float)), 0.5)
    assert found.order.tolist() == order
    assert found.partners == partners


def test_own_names_stay_unless_they_are_taken(frame: pd.DataFrame) -> None:
    old = Grove(3, random_state=0).fit(frame).name_clusters({0: "fish"})
    new = Grove(3, random_state=0).fit(frame).name_clusters({0: "cats", 1: "fish", 2: "dogs"})
    assert new.match_to(old, frame).cluster_names_ == ["fish", "1", "dogs"]


def test_a_later_fit_has_no_match(frame: pd.DataFrame) -> None:
    new = Grove(3, random_state=0).fit(frame).refit(frame)
    assert len(new.matched_) == 3
    for other in (clone(new).fit(frame), new.cut(2), new.fit(frame)):
        with pytest.raises(AttributeError):
            _ = other.matched_


@pytest.mark.filterwarnings("ignore::catalpa.errors.UnseenCategoryWarning")
def test_outliers_stay_outliers(frame: pd.DataFrame) -> None:
    odd = pd.concat([frame, pd.DataFrame([["odd"] * 8], columns=frame.columns)], ignore_index=True)
    old = Grove(3, outliers="label", random_state=0).fit(frame)
    new = old.refit(odd)
    assert new.labels_.tolist() == new.predict(odd).tolist()


def test_a_saved_model_is_refitted(frame: pd.DataFrame, tmp_path: Path) -> None:
    Grove(3, random_state=0).fit(frame).name_clusters(NAMES).save(tmp_path / "old.json")
    new = catalpa.load(tmp_path / "old.json").refit(frame)
    assert new.cluster_names_ == ["birds", "fish", "mammals"]
    new.save(tmp_path / "new.json")
    again = catalpa.load(tmp_path / "new.json")
    assert again.cluster_names_ == new.cluster_names_
    assert "birds" in new.to_sql(table="animals")


def test_what_is_refused(frame: pd.DataFrame) -> None:
    model = Grove(3, random_state=0).fit(frame)
    with pytest.raises(NotFittedError):
        Grove(3).refit(frame)
    with pytest.raises(ParameterError, match="match_to needs a fitted model"):
        model.match_to("model.json", frame)
    with pytest.raises(ColumnMismatch):
        model.match_to(Grove(2).fit(frame.assign(more=frame.iloc[::-1, 0].tolist())), frame)


def test_a_model_of_fewer_columns_is_matched(frame: pd.DataFrame) -> None:
    earlier = Grove(3, random_state=0).fit(frame.iloc[:, :4]).name_clusters(NAMES)
    model = Grove(3, random_state=0).fit(frame).match_to(earlier, frame)
    assert sorted(model.cluster_names_) == sorted(NAMES.values())


def test_a_recipe_stays_that_of_the_earlier_model(frame: pd.DataFrame) -> None:
    numbered = frame.assign(person=[f"p{at}" for at in range(300)], size=np.arange(300) % 3 + 1.0)
    recipe = {"catalpa": {"drop": ["person"], "weight": "size"}}
    old = Grove(3, recipe=recipe, random_state=0).fit(numbered).name_clusters(NAMES)
    new = old.refit(numbered[::-1])
    assert new.recipe_ == old.recipe_
    assert new.cluster_names_ == ["birds", "fish", "mammals"]
    assert new.matched_["rows"].sum() == numbered["size"].sum()
    with pytest.raises(ParameterError, match="the recipe has the weight 'size'"):
        Grove(3, recipe=recipe, random_state=0).partial_fit(numbered)
    with pytest.raises(ParameterError, match="the recipe has the weight 'size'"):
        old.partial_fit(numbered)
