"""``--weight COLUMN``: rows count by a column, which is not clustered."""

from __future__ import annotations

import json

import pytest

ROWS = ["red,round,1.5", "red,round,1.25", "red,oval,1.75", "blue,square,8.5", "blue,oval,9.25"]
WEIGHTS = [3, 1, 2, 4, 1]


@pytest.fixture
def weighted(tmp_path):
    """A table with a column of weights, and the same rows repeated."""
    (tmp_path / "weighted.csv").write_text(
        "colour,shape,price,w\n" + "".join(f"{row},{w / 2}\n" for row, w in zip(ROWS, WEIGHTS, strict=True))
    )
    repeated = [row for row, w in zip(ROWS, WEIGHTS, strict=True) for _ in range(w)]
    (tmp_path / "repeated.csv").write_text("colour,shape,price\n" + "\n".join(repeated) + "\n")
    return "weighted.csv"


def test_clusters_of_weighted_rows_are_those_of_repeated_ones(run, weighted):
    found = json.loads(run("cluster", weighted, "-k", 2, "--weight", "w", "--json").out)
    twin = json.loads(run("cluster", "repeated.csv", "-k", 2, "--json").out)
    assert found["columns"] == ["colour", "shape", "price"]
    assert (found["rows"], found["weight"]) == (5, 5.5)
    by_size = [sorted(one["clusters"], key=lambda cluster: cluster["size"]) for one in (found, twin)]
    for one, other in zip(*by_size, strict=True):
        assert one["size"] == other["size"] / 2
        assert one["share"] == pytest.approx(other["share"])
    assert "w" not in json.dumps(found["decisions"])


def test_the_page_of_a_weighted_table_weighs_rows(run, weighted, tmp_path):
    assert run("cluster", weighted, "-k", 2, "--weight", "w", "-o", "out", "--report", "page.html").code == 0
    assert "weighted (sum of weights 5.5)" in (tmp_path / "page.html").read_text()
    told = json.loads(run("report", "out/model.json", weighted, "--weight", "w", "--json").out)
    assert told["table"]["weight"] == 5.5
    assert run("report", "out/model.json", weighted, "--weight", "w", "-o", "other.html").code == 0
    assert run("cluster", weighted, "-k", 2, "-o", "all").code == 0
    refused = run("report", "all/model.json", weighted, "--weight", "w", "--json")
    assert (refused.code, "which was clustered" in refused.err) == (2, True)


def test_a_number_of_clusters_is_chosen_by_weighted_rows(run, weighted):
    same = ("--max", 2, "--repeats", 0, "--json")
    found = json.loads(run("choose-k", weighted, "--weight", "w", *same).out)
    plain = json.loads(run("choose-k", weighted, "--drop", "w", *same).out)
    assert found["table"][0]["cost"] != plain["table"][0]["cost"]


def test_a_column_of_weights_must_be_there_and_hold_numbers(run, weighted):
    absent = run("cluster", weighted, "-k", 2, "--weight", "v")
    assert "--weight names 'v', which is not a column" in " ".join(absent.err.split())
    words = run("cluster", weighted, "-k", 2, "--weight", "colour")
    assert "--weight names 'colour', which holds more than numbers" in " ".join(words.err.split())
    streamed = run("cluster", weighted, "-k", 2, "-m", "kmodes", "--weight", "colour", "--stream")
    assert "'colour' holds values that are not numbers" in " ".join(streamed.err.split())
    assert [absent.code, words.code, streamed.code] == [2, 2, 2]


def test_files_that_are_streamed_are_weighed_crossed_and_reported_as_in_memory(run, weighted, tmp_path):
    found = {}
    for name, more in {"whole": (), "stream": ("--stream",)}.items():
        asked = ("cluster", weighted, "-k", 2, "--weight", "w", "--against", "shape", "--seed", 3, *more)
        ended = run(*asked, "--json", "-o", name, "--report", f"{name}.html")
        assert ended.code == 0, ended.err
        found[name] = json.loads(ended.out)
        page = run("report", f"{name}/model.json", weighted, "--weight", "w", "--json", *more)
        found[name]["page"] = json.loads(page.out)["clusters"]
        chosen = run("choose-k", weighted, "--weight", "w", "--max", 2, "--repeats", 0, "--json", *more)
        found[name]["chosen"] = json.loads(chosen.out)["table"]
    for key in ("clusters", "against", "weight", "cost", "page", "chosen"):
        assert found["stream"][key] == found["whole"][key], key
    pages = [(tmp_path / f"{name}.html").read_text() for name in found]
    assert [page.count('id="against"') for page in pages] == [1, 1]
