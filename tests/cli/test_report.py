"""``catalpa report``, and the pages that other commands write."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")


@pytest.fixture
def kept(run, fruit):
    assert (
        run("cluster", fruit, "-k", "2", "--method", "kprototypes", "--id", "person", "-o", "out").code == 0
    )
    return "out/model.json"


def test_a_kept_model_and_a_table_become_a_page(run, fruit, kept, tmp_path):
    ended = run("report", kept, fruit, "-o", "pages/fruit.html")
    assert (ended.code, ended.out) == (0, "")
    assert "wrote pages/fruit.html" in ended.err
    assert "<h1>fruit</h1>" in (tmp_path / "pages" / "fruit.html").read_text(encoding="utf-8")


def test_the_heading_can_be_given(run, fruit, kept, tmp_path):
    assert run("report", kept, fruit, "--title", "All fruit", "-q").code == 0
    assert "<h1>All fruit</h1>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_json_prints_the_summary_and_writes_no_page(run, fruit, kept, tmp_path):
    ended = run("report", kept, fruit, "--json")
    assert ended.code == 0
    assert [one["size"] for one in json.loads(ended.out)["clusters"]] == [3, 3]
    assert not (tmp_path / "report.html").exists()


def test_a_page_that_is_there_is_kept_unless_told(run, fruit, kept):
    assert run("report", kept, fruit, "-q").code == 0
    refused = run("report", kept, fruit)
    assert refused.code == 2
    assert "--force" in refused.err
    assert run("report", kept, fruit, "--force").code == 0


def test_clustering_can_write_its_page(run, fruit, tmp_path):
    ended = run("cluster", fruit, "-k", "2", "--id", "person", "--report", "page.html", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["files"] == ["page.html"]
    assert "</html>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_demo_writes_its_page_where_the_packages_are(run, tmp_path):
    assert run("demo", "--quiet").code == 0
    assert (tmp_path / "demo-output" / "report.html").is_file()


def test_the_demo_works_without_the_packages_and_says_what_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    ended = run("demo")
    assert ended.code == 0
    assert 'pip install "catalpa[report]"' in " ".join(ended.err.split())
    assert not (tmp_path / "demo-output" / "report.html").exists()


@pytest.mark.parametrize("package", ["altair", "jinja2", "vl_convert"])
def test_a_page_without_its_packages_is_said_before_the_fit(run, fruit, monkeypatch, package):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    monkeypatch.setattr("catalpa.cli.tables.open_input", None)  # would fail if it were called
    ended = run("cluster", fruit, "-k", "2", "--report", "page.html")
    assert ended.code == 1
    assert 'pip install "catalpa[report]"' in " ".join(ended.err.split())


def test_a_report_without_the_packages_says_what_to_install(run, fruit, kept, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    ended = run("report", kept, fruit)
    assert ended.code == 1
    assert "catalpa[report]" in ended.err
