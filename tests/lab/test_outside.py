"""Methods of other packages and tables of one's own, whatever is odd about them."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

import catalpa
from catalpa.errors import ParameterError
from catalpa.lab import Entry, Job, compare
from catalpa.lab.estimators import find_estimator, is_by_chance
from catalpa.lab.journal import ResultJournal
from catalpa.lab.measure import run_job


class Thirds(ClusterMixin, BaseEstimator):
    """Every third row together, whatever the table."""

    def __init__(self, n_clusters=3, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None):
        self.labels_ = np.arange(len(X)) % 3
        return self


class Numpy(Thirds):
    """Leaves numbers of NumPy."""

    def fit(self, X, y=None):
        self.n_iter_ = np.int64(4)
        self.cost_ = np.float32(0.5)
        return super().fit(X)


class Lists(Thirds):
    """Leaves a cost per pass, not one."""

    def fit(self, X, y=None):
        self.n_iter_ = [1, 2]
        self.cost_ = np.array([3.0, 2.0])
        return super().fit(X)


class Writes(Thirds):
    """Changes the table that it is given."""

    def fit(self, X, y=None):
        X.drop(columns=X.columns[1:], inplace=True)
        X.iloc[:, 0] = X.iloc[0, 0]
        return super().fit(X)


class Leaves(Thirds):
    """Ends the program."""

    def fit(self, X, y=None):
        raise SystemExit(3)


class Demands(Thirds):
    """Cannot be made without a setting."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters


def path(name):
    return f"{__name__}:{name}"


@pytest.fixture
def zoo():
    """The zoo with whole numbers instead of words, as a CSV would give it."""
    data = catalpa.datasets.load("zoo")
    return data.frame.astype(str).astype(int).assign(kind=data.target)


def test_numbers_of_numpy_are_kept_in_a_row(tmp_path):
    journal = ResultJournal(tmp_path / "results.parquet")
    row = run_job(Job(Entry(path("Numpy"), "default"), "ZO", "categorical", 0))
    journal.append(row)
    kept = journal.rows().iloc[0]
    assert (kept["passes"], kept["cost"]) == (4, 0.5)


def test_what_is_not_one_number_is_left_out_of_a_row(tmp_path):
    journal = ResultJournal(tmp_path / "results.parquet")
    row = run_job(Job(Entry(path("Lists"), "default"), "ZO", "categorical", 0))
    journal.append(row)
    kept = journal.rows().iloc[0]
    assert kept["error"] == ""
    assert pd.isna(kept["passes"])
    assert np.isnan(kept["cost"])


def test_a_method_that_changes_its_table_changes_no_other_run(zoo):
    alone = compare(zoo, "kind", ["kmodes"], seeds=1)
    after = compare(zoo, "kind", [path("Writes"), "kmodes"], seeds=1)
    steady = ["ACC", "ARI", "CMP", "cost"]
    assert after.loc[1, steady].tolist() == alone.loc[0, steady].tolist()


def test_a_method_that_ends_the_program_ends_only_its_run(zoo):
    runs = compare(zoo, "kind", [path("Leaves"), "kmodes"], seeds=1)
    assert runs["error"].tolist() == ["SystemExit: 3", ""]


def test_a_class_that_cannot_be_made_without_settings_says_so(zoo):
    with pytest.raises(ParameterError, match=r"cannot be made: .*n_clusters.*default for each"):
        is_by_chance(path("Demands"))
    with pytest.raises(ParameterError, match="cannot be made"):
        compare(zoo, "kind", [path("Demands")])


class Point:
    """An entry point as installed packages have them."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def load(self):
        return getattr(catalpa, self.value)


def test_an_entry_point_does_not_take_a_name_of_the_library(monkeypatch):
    monkeypatch.setattr("catalpa.lab.estimators.entry_points", lambda **_: [Point("kmodes", "DISC")])
    assert find_estimator("kmodes") is catalpa.KModes


def test_an_entry_point_that_cannot_be_imported_says_so(monkeypatch):
    monkeypatch.setattr("catalpa.lab.estimators.entry_points", lambda **_: [Point("theirs", "Nope")])
    with pytest.raises(ParameterError, match="entry point 'Nope', which cannot be imported"):
        find_estimator("theirs")


def test_compactness_counts_the_whole_numbers_that_methods_take_as_categories(zoo):
    row = compare(zoo, "kind", [path("Thirds")], seeds=1, n_clusters=3).iloc[0]
    words = zoo.drop(columns="kind").astype(str)
    assert row["CMP"] == pytest.approx(catalpa.metrics.compactness(words, np.arange(101) % 3))


def test_compactness_clusters_left_and_the_largest_share_by_hand():
    frame = pd.DataFrame(
        {"a": list("xyxyxy"), "b": list("uuuvvv"), "kind": list("ppqqqq"), "n": np.arange(6) + 0.5}
    )
    row = compare(frame, "kind", [path("Halves")], seeds=1, n_clusters=4).iloc[0]
    # Rows 0-3 together, row 4 and 5 together, two of four clusters empty. Column a is two to two and one to
    # one: entropy 1 and 1; column b three to one and none to two: 0.8113 and 0. Two columns, four clusters.
    assert row["CMP"] == pytest.approx((1 + 1 + 0.8112781244591328) / (2 * 4))
    assert row["clusters_left"] == 2
    assert row["largest_share"] == 4 / 6
    assert row["one_cluster"] == 4 / 6
    assert row["ACC"] == 4 / 6


class Halves(Thirds):
    """The first four rows, and the rest."""

    def fit(self, X, y=None):
        self.labels_ = (np.arange(len(X)) >= 4).astype(int)
        return self


class Kinds(Thirds):
    """Remembers which columns it was told to take as categories."""

    seen: ClassVar[list[str | None]] = []

    def __init__(self, n_clusters=3, random_state=None, categorical_features=None):
        super().__init__(n_clusters, random_state)
        self.categorical_features = categorical_features

    def fit(self, X, y=None):
        self.seen.append(self.categorical_features)
        return super().fit(X)


def test_numbers_of_the_data_sets_stay_numbers_however_few_they_are(zoo):
    run_job(Job(Entry(path("Kinds"), "default"), "ZO", "categorical", 0))
    compare(zoo, "kind", [path("Kinds")], seeds=1)
    assert Kinds.seen == ["from_dtype", None]


def test_a_method_is_run_once_by_whichever_name(zoo):
    runs = compare(zoo, "kind", ["kmodes", "k-modes", "kmodes"], seeds=2)
    assert runs[["method", "seed"]].values.tolist() == [["kmodes", 0], ["kmodes", 1]]


def test_one_class_is_nothing_to_agree_with(zoo):
    with pytest.raises(ParameterError, match="'kind' has fewer than two classes"):
        compare(zoo.assign(kind="a"), "kind", ["kmodes"])


def test_the_mixed_tables_of_the_protocol_are_clustered_with_all_their_numbers(data_home):
    for dataset in ("CC", "AP"):
        data = catalpa.datasets.load(dataset, variant="mixed", data_home=data_home)
        numbers = list(data.frame.select_dtypes("number"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = catalpa.KPrototypes(data.n_clusters, n_init=1, gamma=1.0, random_state=0)
            by_hand = model.set_params(empty_clusters="keep", categorical_features="from_dtype").fit(
                data.frame
            )
        assert [column.name for column in by_hand.schema_.numeric] == numbers
        entry = Entry("kprototypes", "own", {"gamma": 1.0, "n_init": 1, "empty_clusters": "keep"})
        assert run_job(Job(entry, dataset, "mixed", 0), str(data_home))["cost"] == by_hand.cost_
