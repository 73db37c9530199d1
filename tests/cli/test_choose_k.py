"""``catalpa choose-k`` from a file to an answer."""

from __future__ import annotations

import json
import sys

import pytest

from catalpa.datasets import make_categorical


@pytest.fixture
def planted(tmp_path):
    path = tmp_path / "planted.csv"
    made = make_categorical(200, columns=8, clusters=3, noise=0.2, seed=0)
    made.frame.assign(name=[f"p{at}" for at in range(200)]).to_csv(path, index=False)
    return path


def test_the_number_and_the_reason_are_told(run, planted):
    ended = run("choose-k", planted, "--max", 4, "--drop", "name", "--repeats", 2)
    assert ended.code == 0
    assert ended.out.splitlines()[0] == "k\tcost\tgain\tadds\tagreement\trestarts\tsilhouette"
    assert len(ended.out.splitlines()) == 5
    assert ended.err.startswith("3 clusters (clear): ")
    assert "3 is the largest number at which every cluster adds at least 3 %" in " ".join(ended.err.split())


def test_a_program_gets_one_json_object(run, planted):
    ended = run(
        "choose-k", planted, "--max", 4, "--drop", "name", "--repeats", 0, "--method", "kmodes", "--json"
    )
    told = json.loads(ended.out)
    assert (told["k"], told["structure"]) == (3, True)
    assert [line["k"] for line in told["table"]] == [1, 2, 3, 4]
    assert told["table"][0]["agreement"] is None
    assert told["verdict"]["level"] == "unchecked"


def test_the_choice_becomes_a_page(run, planted, tmp_path):
    page = tmp_path / "choice.html"
    asked = ("choose-k", planted, "--max", 3, "--drop", "name", "--repeats", 0, "--report", page)
    ended = run(*asked)
    assert f"wrote {page}" in " ".join(ended.err.split())
    assert "<h1>planted</h1>" in page.read_text(encoding="utf-8")
    again = run(*asked)
    assert again.code == 2
    assert "--force" in again.err


def test_a_page_without_its_packages_is_said_before_the_fits(run, planted, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr("catalpa.cluster.choose_k.choose_k", None)  # would fail if it were called
    ended = run("choose-k", planted, "--report", tmp_path / "choice.html")
    assert ended.code == 1
    assert 'pip install "catalpa[report]"' in " ".join(ended.err.split())


def test_a_range_without_numbers_is_refused(run, planted):
    ended = run("choose-k", planted, "--min", 5, "--max", 4)
    assert ended.code == 2
    assert "nothing to try" in ended.err


def test_a_method_that_takes_no_number_is_sent_to_cluster(run, planted):
    ended = run("choose-k", planted, "--method", "sigdt")
    assert ended.code == 2
    assert "nothing to choose" in ended.err
    assert "catalpa cluster with --method sigdt" in " ".join(ended.err.split())
