"""``catalpa drift`` and ``catalpa compare``: answers for people and exit codes for jobs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("jinja2")
pytestmark = pytest.mark.usefixtures("months")


@pytest.fixture
def months(run, tmp_path):
    """Two months of customers, the second with other plans, and a model of the first."""
    rng = np.random.default_rng(3)

    def month(share):
        group = rng.random(600) < share
        plan = np.where(rng.random(600) < 0.9, np.where(group, "full", "basic"), "plus")
        return pd.DataFrame(
            {
                "plan": plan,
                "device": np.where(group, "laptop", "phone"),
                "spend": rng.normal(20 + 30 * group, 5),
            }
        )

    month(0.5).to_csv(tmp_path / "may.csv", index=False)
    month(0.8).to_csv(tmp_path / "june.csv", index=False)
    assert run("cluster", "may.csv", "-k", 2, "-o", "may").code == 0
    return tmp_path


def test_an_unchanged_table_ends_with_0(run):
    ended = run("drift", "may/model.json", "may.csv")
    assert (ended.code, "Nothing has changed among 600 rows." in ended.err) == (0, True)


def test_a_changed_table_ends_with_3_and_says_what(run, months):
    ended = run("drift", "may/model.json", "june.csv", "--report", "june.html")
    assert ended.code == 3
    assert "plan\t" in ended.out
    assert "have changed" in ended.err
    assert "<html" in (months / "june.html").read_text()


def test_thresholds_decide(run):
    assert run("drift", "may/model.json", "june.csv", "--min-change", 0.9, "--min-shift", 5).code == 0


def test_drift_as_json(run):
    ended = run("drift", "may/model.json", "june.csv", "--json")
    told = json.loads(ended.out)
    assert ended.code == 3
    assert "plan" in told["changed"]
    assert told["rows"] == 600


def test_a_missing_table_is_wrong_input_and_no_change(run):
    assert run("drift", "may/model.json", "nowhere.csv").code == 2


def test_a_model_agrees_with_itself(run):
    ended = run("compare", "may/model.json", "may/model.json", "may.csv")
    assert (ended.code, "100 % of the rows stay" in ended.err) == (0, True)


def test_models_that_divide_the_rows_otherwise_end_with_3(run, months):
    assert run("cluster", "may.csv", "-k", 5, "-o", "five").code == 0
    ended = run("compare", "may/model.json", "five/model.json", "may.csv", "--report", "moves.html")
    assert ended.code == 3
    assert "moved from" in ended.err
    assert (months / "moves.html").exists()
    assert run("compare", "may/model.json", "five/model.json", "may.csv", "--min-staying", 0).code == 0
    told = json.loads(run("compare", "may/model.json", "five/model.json", "may.csv", "--json").out)
    assert told["rows"] == 600


def test_files_larger_than_memory_give_the_same_answer(run):
    assert run("cluster", "may.csv", "-k", 3, "-o", "three").code == 0
    drift = ("drift", "may/model.json", "june.csv", "--json")
    moves = ("compare", "may/model.json", "three/model.json", "june.csv", "--json")
    for asked in (drift, moves):
        known, streamed = run(*asked), run(*asked, "--stream", "--memory", "4MB")
        assert (streamed.code, json.loads(streamed.out)) == (known.code, json.loads(known.out))
