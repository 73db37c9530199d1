"""Probabilities, borders, outliers and names in what ``catalpa cluster`` writes."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import catalpa


@pytest.fixture
def answers(tmp_path):
    rows = (
        [["a", "b", "c", "d"]] * 20
        + [["p", "q", "r", "s"]] * 20
        + [["a", "b", "r", "s"], ["x", "y", "z", "w"]]
    )
    table = pd.DataFrame(rows, columns=list("efgh"))
    table.insert(0, "person", [f"p{at}" for at in range(len(table))])
    table.to_csv(tmp_path / "answers.csv", index=False)
    return table


@pytest.mark.parametrize("more", [[], ["--stream"]], ids=["memory", "stream"])
def test_proba_adds_probabilities_borders_and_outliers(run, answers, tmp_path, more):
    ended = run("cluster", "answers.csv", "-k", 2, "--id", "person", "--proba", "-o", "out", *more)
    assert ended.code == 0, ended.err
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")
    assert list(labels) == ["person", "cluster", "probability_0", "probability_1", "border", "outlier_score"]
    model = catalpa.load(tmp_path / "out" / "model.json")
    rows = answers.drop(columns="person")
    expected = model.predict_proba(rows).round(6)
    assert labels[["probability_0", "probability_1"]].to_numpy().tolist() == expected.tolist()
    assert labels["outlier_score"].idxmax() == 41
    near = expected.min(axis=1) >= 0.5 * expected.max(axis=1)
    assert labels["border"].notna().tolist() == near.tolist()
    assert near[40]
    assert (labels["border"][near] == 1 - labels["cluster"][near]).all()
    assert ",\n" not in (tmp_path / "out" / "labels.csv").read_text()
    assert ".0," not in (tmp_path / "out" / "labels.csv").read_text().split("\n")[41].split(",")[4]


def test_a_row_has_the_same_doubts_in_any_company(run, answers, tmp_path):
    assert run("cluster", "answers.csv", "-k", 2, "--id", "person", "--proba", "-o", "out").code == 0
    fitted = pd.read_csv(tmp_path / "out" / "labels.csv").set_index("person")
    some = ["p41", "p40", "p0"]
    answers.set_index("person").loc[some].reset_index().to_csv(tmp_path / "some.csv", index=False)
    ended = run("predict", "out/model.json", "some.csv", "--id", "person", "--proba", "-o", "some_labels.csv")
    assert ended.code == 0, ended.err
    alone = pd.read_csv(tmp_path / "some_labels.csv").set_index("person")
    pd.testing.assert_frame_equal(alone, fitted.loc[some])
    assert alone["outlier_score"]["p41"] > 3.0
    told = json.loads(run("predict", "out/model.json", "some.csv", "--id", "person", "--proba", "--json").out)
    assert told["outlier_scores"] == alone["outlier_score"].tolist()
    assert [one is None for one in told["borders"]] == alone["border"].isna().tolist()
    assert [sum(row) for row in told["probabilities"]] == pytest.approx([1.0] * 3)


@pytest.mark.usefixtures("answers")
def test_proba_is_refused_before_the_fit_where_it_cannot_be(run):
    ended = run("cluster", "answers.csv", "-k", 2, "--method", "kmodes", "--proba", "-o", "out")
    assert ended.code == 2
    assert "KModes puts a row wholly into one cluster" in ended.err
    ended = run("cluster", "answers.csv", "-k", 2, "--proba")
    assert ended.code == 2
    assert "Name a folder for it with -o" in " ".join(ended.err.split())


@pytest.mark.usefixtures("answers")
def test_suggested_names_go_into_labels_profiles_page_and_model(run, tmp_path):
    ended = run(
        "cluster",
        "answers.csv",
        "-k",
        2,
        "--id",
        "person",
        "--suggested-names",
        "-o",
        "out",
        "--report",
        "page.html",
    )
    assert ended.code == 0, ended.err
    names = catalpa.load(tmp_path / "out" / "model.json").cluster_names_
    assert names != ["0", "1"]
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")
    assert labels["cluster_name"].tolist() == [names[cluster] for cluster in labels["cluster"]]
    profiles = pd.read_csv(tmp_path / "out" / "profiles.csv")
    assert list(profiles)[:2] == ["cluster", "name"]
    assert profiles["name"].tolist() == [names[cluster] for cluster in profiles["cluster"]]
    for name in names:
        assert name in ended.out
        assert name in (tmp_path / "page.html").read_text()
    told = json.loads(
        run("cluster", "answers.csv", "-k", 2, "--id", "person", "--suggested-names", "--json").out
    )
    assert [one["name"] for one in told["clusters"]] == names


@pytest.mark.usefixtures("answers")
def test_pages_call_rows_by_their_id(run, tmp_path):
    wanted = ["-k", 2, "--id", "person", "-o", "out", "--report", "page.html"]
    assert run("cluster", "answers.csv", *wanted).code == 0
    assert "<th>person</th>" in (tmp_path / "page.html").read_text()
    told = json.loads(run("report", "out/model.json", "answers.csv", "--id", "person", "--json").out)
    assert told["outliers"]["farthest"][0]["name"] == "p41"
    assert told["rows"]["heading"] == "person"
    refused = run("report", "out/model.json", "answers.csv", "--id", "e", "--json")
    assert refused.code == 2
    assert "--id names 'e', which was clustered" in refused.err


@pytest.mark.usefixtures("answers")
def test_a_column_kept_out_is_crossed_under_the_names(run):
    told = run(
        "cluster", "answers.csv", "-k", 2, "--drop", "person", "--against", "h", "--suggested-names"
    ).out
    assert "\n0\t" not in told
    lines = [line.split("\t")[0] for line in told.splitlines()]
    crossed = lines.index("cluster", 1)  # the second table, with the clusters of the first
    assert lines[crossed + 1 : crossed + 3] == lines[1:3]
    assert lines[1].startswith("0 ")
