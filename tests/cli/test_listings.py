"""``catalpa datasets``, ``methods``, ``demo``, and the command itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from tests.offline import python_path

import catalpa
from catalpa import datasets, metrics
from catalpa.cli.demo import agreement, runs_of_disc
from catalpa.cluster.registry import METHODS


def test_the_data_sets_are_listed(run):
    lines = [line.split("\t") for line in run("datasets").out.splitlines()]
    assert [line[0] for line in lines[1:]] == datasets.list_datasets()["name"].tolist()
    assert lines[1][:5] == ["zoo", "101", "16", "7", "yes"]
    assert json.loads(run("datasets", "--json").out)[0]["alias"] == "ZO"


def test_a_data_set_is_written_with_its_classes_last(run, tmp_path):
    assert run("datasets", "votes", "-o", "data/votes.csv").out == ""
    written = pd.read_csv(tmp_path / "data" / "votes.csv", dtype=str)
    votes = datasets.load("votes")
    assert written.columns.tolist() == [*votes.frame.columns, "class"]
    assert written.isna().sum().sum() == votes.frame.isna().sum().sum()
    assert written["class"].tolist() == votes.target.tolist()
    assert run("datasets", "votes", "-o", "data/votes.csv").code == 2


def test_a_data_set_goes_to_standard_output_and_its_citation_to_standard_error(run):
    ended = run("datasets", "zoo")
    assert len(ended.out.splitlines()) == 102
    assert "Forsyth" in ended.err
    assert run("datasets", "zoo", "--quiet").err == ""


def test_a_data_set_in_json_is_its_facts(run):
    document = json.loads(run("datasets", "ZO", "-o", "zoo.csv", "--json").out)
    assert document["name"] == "zoo"
    assert document["files"] == ["zoo.csv"]
    assert json.loads(run("datasets", "ZO", "--json").out)["files"] == []


def test_an_unknown_data_set_is_refused(run):
    ended = run("datasets", "zooo")
    assert ended.code == 2
    assert "zoo" in ended.err


def test_a_data_set_that_cannot_be_fetched_is_exit_code_1(run, monkeypatch, tmp_path):
    monkeypatch.setenv("CATALPA_DATA", str(tmp_path / "absent"))
    ended = run("datasets", "nursery")
    assert ended.code == 1
    assert "CATALPA_DATA" in ended.err


def test_the_methods_are_listed(run):
    names = [line.split("\t")[0] for line in run("methods").out.splitlines()]
    assert names == ["method", *METHODS]
    document = json.loads(run("methods", "--json").out)
    assert [entry["name"] for entry in document] == list(METHODS)


def test_the_demo_shows_both_methods_and_writes_the_files_of_grove_twice(run, tmp_path):
    for _ in range(2):
        ended = run("demo")
        assert ended.code == 0
        published, default = ended.out.split("Grove, the default")
        assert "DISC, as published" in published
        assert "legs in cluster" in published
        assert "──" in published
        assert "two agree by 0." in published
        assert "mean membership probability" in default
        assert "feathers=1" in default
    labels = pd.read_csv(tmp_path / "demo-output" / "labels.csv")
    assert len(labels) == 101
    model = catalpa.load(tmp_path / "demo-output" / "model.json")
    assert type(model) is catalpa.Grove
    assert model.n_clusters_ == labels["cluster"].nunique() == 7
    assert (tmp_path / "demo-output" / "profiles.csv").is_file()
    assert (tmp_path / "demo-output" / "report.html").is_file()


def test_the_demo_is_short_to_read(run):
    ended = run("demo")
    assert len(ended.out.splitlines()) < 45
    assert max(len(line) for line in ended.out.splitlines() if "\t" not in line) < 200


def test_the_demo_overwrites_a_folder_of_the_user_only_when_told(run):
    assert run("demo", "-o", "mine", "--quiet").code == 0
    assert run("demo", "-o", "mine").code == 2
    document = json.loads(run("demo", "-o", "mine", "--force", "--json").out)
    assert sorted(document) == ["disc", "grove"]
    for name, method in (("disc", "DISC"), ("grove", "Grove")):
        assert document[name]["method"] == method
        assert sum(one["size"] for one in document[name]["clusters"]) == 101
    assert "legs" in document["disc"]["relation"]
    assert 0 < document["disc"]["agreement"] < 1
    assert document["disc"]["files"] == []
    assert "mine/report.html" in document["grove"]["files"]
    assert 0.9 < document["grove"]["certainty"] <= 1.0
    assert document["grove"]["gain"] > 0


def test_the_agreement_of_the_starts_is_the_mean_over_all_pairs():
    zoo = datasets.load("zoo")
    models = runs_of_disc(zoo)[:3]
    pairs = [(0, 1), (0, 2), (1, 2)]
    each = [metrics.adjusted_rand(models[one].labels_, models[other].labels_) for one, other in pairs]
    assert agreement(models) == pytest.approx(sum(each) / 3)


def test_the_version_is_that_of_the_package(run):
    assert run("--version").out == f"catalpa {catalpa.__version__}\n"


@pytest.mark.parametrize("command", ["cluster", "predict", "demo", "datasets", "methods"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help_with_examples(run, command, flag):
    ended = run(command, flag)
    assert ended.code == 0
    assert f"catalpa {command} " in ended.out
    assert "For example" in ended.out


def test_without_a_command_the_help_is_shown(run):
    ended = run()
    assert "cluster" in ended.out + ended.err


def test_help_and_version_do_not_wait_for_heavy_libraries(source_folder):
    code = (
        "import sys, catalpa.cli.main; "
        "print([name for name in ('pandas', 'sklearn', 'numpy', 'pyarrow', 'scipy') if name in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": python_path(source_folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "[]\n"
