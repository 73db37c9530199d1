"""``catalpa name``: clusters are named in their model file, and labels carry the names."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import catalpa


@pytest.fixture
def model(run, fruit, tmp_path):
    assert run("cluster", fruit, "-k", 2, "--id", "person", "-o", "out").code == 0
    return tmp_path / "out" / "model.json"


def test_names_are_written_listed_and_taken_away(run, model):
    ended = run("name", model, "0=red fruit", "1=blue fruit")
    assert (ended.code, f"wrote {model}" in ended.err.replace("\n", "")) == (0, True)
    assert ended.out.splitlines() == ["cluster\tsize\tname", "0\t3\tred fruit", "1\t3\tblue fruit"]
    assert catalpa.load(model).cluster_names_ == ["red fruit", "blue fruit"]
    assert run("name", model, "0=").code == 0
    assert run("name", model).out.splitlines()[1:] == ["0\t3\t", "1\t3\tblue fruit"]


def test_labels_of_new_rows_carry_names(run, model, fruit):
    run("name", model, "0=one", "1=other")
    assert run("predict", model, fruit, "--id", "person", "-o", "labels.csv").code == 0
    labels = pd.read_csv(model.parent.parent / "labels.csv")
    assert labels.columns.tolist() == ["person", "cluster", "cluster_name"]
    assert labels["cluster_name"].tolist() == [["one", "other"][label] for label in labels["cluster"]]
    told = json.loads(run("predict", model, fruit, "--id", "person", "--json").out)
    assert told["labels"] == labels["cluster"].tolist()


@pytest.mark.parametrize("text", ["first", "one=first", "=first", "5=first"])
def test_a_name_of_no_cluster_is_refused(run, model, text):
    before = model.read_bytes()
    ended = run("name", model, text)
    assert (ended.code, model.read_bytes() == before) == (2, True)
    assert "cluster" in ended.err


def test_the_others_take_names_that_are_suggested(run, model):
    assert run("name", model, "0=mine", "--suggested").code == 0
    first, second = catalpa.load(model).cluster_names_
    assert (first, second != "1") == ("mine", True)
    assert run("name", model, "--suggested").code == 0
    assert catalpa.load(model).cluster_names_ == [first, second]


def test_the_edits_of_a_page_are_kept_in_the_model(run, model, tmp_path):
    (tmp_path / "clusters.json").write_text('{"n_clusters": 2, "names": {"1": "blue fruit"}}')
    assert run("name", model, "--edits", "clusters.json").out.splitlines()[1:] == [
        "0\t3\t",
        "1\t3\tblue fruit",
    ]
    (tmp_path / "clusters.json").write_text('{"n_clusters": 4}')
    ended = run("name", model, "--edits", "clusters.json")
    assert (ended.code, "the model has 2" in ended.err.replace("\n", " ")) == (2, True)


def test_a_table_is_clustered_as_a_page_says(run, fruit, tmp_path):
    edits = {"n_clusters": 2, "model_clusters": 2, "fitted_clusters": 2, "names": {"0": "one", "1": "other"}}
    (tmp_path / "clusters.json").write_text(json.dumps(edits))
    assert run("cluster", fruit, "--id", "person", "--edits", "clusters.json", "-o", "again").code == 0
    assert catalpa.load(tmp_path / "again" / "model.json").cluster_names_ == ["one", "other"]
    ended = run("cluster", fruit, "-k", 2, "--edits", "clusters.json")
    assert (ended.code, "Leave -k out" in ended.err) == (2, True)
