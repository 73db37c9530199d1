"""Edits of an explorer page: a file of names, merges and splits, applied to a model."""

from __future__ import annotations

import json

import pytest

import catalpa
from catalpa.datasets import load
from catalpa.errors import ParameterError
from catalpa.report.explore_edits import Edits


@pytest.fixture(scope="module")
def votes():
    frame = load("votes").frame
    return frame, catalpa.Grove(4, random_state=0).fit(frame)


def test_levels_merges_and_names_make_one_model(votes, tmp_path):
    frame, model = votes
    document = {"n_clusters": 3, "model_clusters": 4, "merges": [[0, 2]], "names": {"0": "both", "1": "rest"}}
    (tmp_path / "clusters.json").write_text(json.dumps(document))
    edited = Edits.read(tmp_path / "clusters.json").apply(model)
    assert edited.cluster_names_ == ["both", "rest"]
    assert edited.predict(frame).tolist() == model.cut(3).merge([0, 2]).predict(frame).tolist()
    assert model.cluster_names_ == ["0", "1", "2", "3"]
    assert "both" in edited.to_sql(table="votes")


def test_names_that_were_taken_away_are_gone(votes):
    frame, _ = votes
    model = catalpa.Grove(3, random_state=0).fit(frame).name_clusters({0: "old", 1: "kept"})
    assert Edits.of({"n_clusters": 3, "names": {"1": "kept"}}).apply(model).cluster_names_ == [
        "0",
        "kept",
        "2",
    ]
    assert Edits.of({"n_clusters": 3}).apply(model).cluster_names_ == ["old", "kept", "2"]


@pytest.mark.parametrize(
    ("numbers", "has_levels", "expected"),
    [
        ({"n_clusters": 5, "model_clusters": 5, "fitted_clusters": 3}, True, 3),  # splits lead from 3 to 5
        ({"n_clusters": 4, "model_clusters": 5, "fitted_clusters": 3}, True, 3),  # a level of those 5
        ({"n_clusters": 4, "model_clusters": 5, "fitted_clusters": 5}, False, 4),  # a fit of its own
        ({"n_clusters": 6, "model_clusters": 5, "fitted_clusters": 3}, True, 6),
    ],
)
def test_the_number_to_fit_is_that_before_splits_and_levels(numbers, has_levels, expected):
    assert Edits.of(numbers).number_to_fit(has_levels=has_levels) == expected


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "no n_clusters"),
        ({"n_clusters": "3"}, "no n_clusters"),
        ({"n_clusters": 3, "splits": [-1]}, "whole numbers"),
        ({"n_clusters": 3, "merges": [0, 1]}, "list of lists"),
        ({"n_clusters": 3, "names": ["a"]}, "name for each cluster"),
        ({"n_clusters": 9}, "the model has 4"),
        ({"n_clusters": 4, "merges": [[0, 9]]}, "two or more"),
        ({"n_clusters": 4, "names": {"0": "1"}}, "unique name"),
    ],
)
def test_edits_that_make_no_sense_are_refused(votes, document, message):
    with pytest.raises(ParameterError, match=message):
        Edits.of(document).apply(votes[1])


def test_files_that_hold_no_edits_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        Edits.read(tmp_path / "none.json")
    (tmp_path / "labels.csv").write_text("row,cluster")
    with pytest.raises(ParameterError, match="is not JSON"):
        Edits.read(tmp_path / "labels.csv")


def test_other_methods_have_names_but_no_merges():
    model = catalpa.KModes(2, random_state=0).fit([["a", "x"], ["b", "y"]] * 3)
    assert Edits.of({"n_clusters": 2, "names": {"1": "bs"}}).apply(model).cluster_names_ == ["0", "bs"]
    with pytest.raises(ParameterError, match="Only clusters of Grove can be merged"):
        Edits.of({"n_clusters": 2, "merges": [[0, 1]]}).apply(model)
