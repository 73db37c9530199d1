"""``catalpa look``, and what commands do with what it finds."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def survey(tmp_path):
    generator = np.random.default_rng(0)
    n = 240
    group = generator.integers(0, 2, n)
    table = pd.DataFrame(
        {
            "person": [f"P-{at:04}" for at in range(n)],
            "age": np.array(["18-29", "30-44", "45-60", "> 60"])[generator.integers(0, 2, n) + 2 * group],
            "colour": np.where(generator.random(n) < 0.9, np.array(["red", "blue"])[group], "green"),
            "answer": np.where(generator.random(n) < 0.1, -1, generator.integers(1, 4, n)),
        }
    )
    path = tmp_path / "survey.csv"
    table.to_csv(path, index=False)
    return path


def test_findings_are_printed_with_the_option_that_changes_them(run, survey):
    ended = run("look", survey)
    assert ended.code == 0
    assert ended.out.startswith("240 rows, 4 columns\n")
    assert (
        "'person' is (almost) unique per row: it looks like an identifier, left out.  [--keep person]"
        in ended.out
    )
    assert (
        "'answer' holds -1 in addition to 1 to 3: probably \"no answer\".  [--accept sentinel]" in ended.out
    )


def test_a_program_gets_findings_and_the_recipe(run, survey):
    told = json.loads(run("look", survey, "--accept", "sentinel", "--json").out)
    assert {one["kind"]: one["safe"] for one in told["findings"]}["sentinel"]
    fields = {one["name"]: one for one in told["recipe"]["schema"]["fields"]}
    assert fields["answer"]["missingValues"] == ["-1"]
    assert fields["person"]["catalpa"] == {"role": "id"}


def test_a_kind_that_is_none_is_refused(run, survey):
    ended = run("look", survey, "--accept", "sentinl")
    assert ended.code == 2
    assert "Did you mean 'sentinel'?" in " ".join(ended.err.split())


@pytest.mark.parametrize("name", ["recipe.toml", "recipe.json"])
def test_a_recipe_is_saved_and_used(run, survey, tmp_path, name):
    recipe = tmp_path / name
    assert run("look", survey, "--save", recipe, "--order", "colour=red<green<blue").code == 0
    assert run("look", survey, "--save", recipe).code == 2  # it is there
    asked = ("cluster", survey, "-k", 2, "--recipe", recipe, "-o", tmp_path / "out", "--json")
    told = json.loads(run(*asked).out)
    assert told["columns"] == ["age", "colour", "answer"]
    model = json.loads((tmp_path / "out" / "model.json").read_text())
    (colour,) = [one for one in model["schema"]["columns"] if one["name"] == "colour"]
    assert (colour["kind"], colour["categories"][:3]) == ("ordinal", ["red", "green", "blue"])
    predicted = run("predict", tmp_path / "out" / "model.json", survey)
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")["cluster"]
    assert predicted.out.split()[1:] == [str(label) for label in labels]


def test_the_safe_part_is_applied_by_default_and_said_in_three_lines(run, survey):
    ended = run("cluster", survey, "-k", 2)
    verdict, *told = ended.err.splitlines()
    assert verdict.startswith("No cluster structure found")
    assert "'person' is (almost) unique per row" in told[0]
    assert "'age' is an ordered scale: 18-29 < 30-44 < 45-60 < > 60." in told[1]
    assert "proposed: catalpa look" in told[2]
    assert "--as-is applies nothing" in " ".join(told[2:5])
    columns = json.loads(run("cluster", survey, "-k", 2, "--json").out)["columns"]
    assert columns == ["age", "colour", "answer"]


def test_as_is_and_keep_leave_columns_alone(run, survey):
    as_is = json.loads(run("cluster", survey, "-k", 2, "--as-is", "--json").out)
    assert as_is["columns"] == ["person", "age", "colour", "answer"]
    kept = json.loads(run("cluster", survey, "-k", 2, "--keep", "person", "--json").out)
    assert kept["columns"] == ["person", "age", "colour", "answer"]
    refused = run("cluster", survey, "-k", 2, "--as-is", "--accept", "sentinel")
    assert refused.code == 2


def test_an_order_with_a_column_that_is_none_is_refused(run, survey):
    ended = run("look", survey, "--order", "colur=red<blue")
    assert ended.code == 2
    assert "Did you mean 'colour'?" in " ".join(ended.err.split())


def test_how_the_file_is_read_is_told_and_kept_in_the_recipe(run, tmp_path):
    lines = ["A table of 2024", "", "colour;size", *(["red;big", "blue;small", "red;small"] * 10)]
    (tmp_path / "titled.csv").write_text("\n".join(lines) + "\n")
    told = json.loads(run("look", "titled.csv", "--save", "recipe.json", "--json").out)
    assert told["findings"][0]["kind"] == "file"
    dialect = json.loads((tmp_path / "recipe.json").read_text())["dialect"]
    assert (dialect["delimiter"], dialect["headerRows"]) == (";", [3])
    asked = ("cluster", "titled.csv", "-k", 2, "--recipe", "recipe.json", "--json")
    assert json.loads(run(*asked).out)["columns"] == ["colour", "size"]


def test_an_order_is_asked_of_the_other_columns(run, survey):
    told = run("look", survey, "--order", "colour=?").out
    assert "'colour' may be ordered, judging by the other columns" in told


def test_a_folder_of_files_is_looked_at_like_a_table_in_memory(run, survey):
    assert run("look", survey, "--stream").out == run("look", survey).out


def test_findings_become_a_page(run, survey, tmp_path):
    page = tmp_path / "look.html"
    assert run("look", survey, "--report", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>survey</h1>" in text
    assert "Identifiers" in text
    assert "--accept sentinel" in text
