"""``catalpa explore``: the page as a file, and served."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from tests.offline import python_path

pytest.importorskip("jinja2")


def data_of(page):
    return json.loads(re.search(r'id="explorer-data">(.*?)</script>', page.read_text())[1])


def test_it_writes_a_page_that_works_offline(run, fruit, tmp_path):
    ended = run("explore", fruit, "-k", 2, "--drop", "person", "-o", "explore.html")
    assert (ended.code, "wrote explore.html" in ended.err) == (0, True)
    data = data_of(tmp_path / "explore.html")
    assert sorted(data["partitions"][data["model"]]["sizes"]) == [3, 3]
    assert data["codes"] is not None


def test_without_rows_it_holds_counts_only(run, fruit, tmp_path):
    assert run("explore", fruit, "-k", 2, "--drop", "person", "-o", "e.html", "--without-rows").code == 0
    assert data_of(tmp_path / "e.html")["codes"] is None
    ended = run("explore", fruit, "--without-rows")
    assert (ended.code, "goes with -o" in ended.err) == (2, True)


def test_a_recipe_prepares_the_columns_and_as_is_leaves_them(run, tmp_path):
    lines = [f"{1000 + 7 * row},{'ab'[row % 2]},{'xy'[row % 2]}" for row in range(120)]
    (tmp_path / "raw.csv").write_text("\n".join(["person_id,plan,device", *lines]))
    ended = run("explore", "raw.csv", "-k", 2, "-o", "e.html")
    assert "'person_id'" in ended.err
    clustered = {one["name"]: one["clustered"] for one in data_of(tmp_path / "e.html")["columns"]}
    assert clustered == {"plan": True, "device": True}  # no group has an identifier in common
    assert run("explore", "raw.csv", "-k", 2, "-o", "f.html", "--as-is").code == 0
    assert all(one["clustered"] for one in data_of(tmp_path / "f.html")["columns"])


def test_a_table_that_cannot_be_clustered_ends_with_a_sentence(run, fruit):
    ended = run("explore", fruit, "-m", "disc", "-o", "e.html")
    assert (ended.code, "-k 4" in ended.err) == (2, True)
    assert run("explore", "nowhere.csv", "-o", "e.html").code == 2


@pytest.mark.process
def test_it_serves_until_it_is_interrupted(fruit):
    command = [sys.executable, "-m", "catalpa", "explore", str(fruit), "-k", "2", "--no-browser"]
    environment = {"PYTHONPATH": python_path()}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as program:
        try:
            for line in program.stderr:
                if found := re.search(r"http://\S+", line):
                    break
            with urllib.request.urlopen(found[0], timeout=30) as page:
                assert b"explorer-data" in page.read()
        finally:
            program.send_signal(signal.SIGINT)
        assert program.wait(timeout=30) == 0
