"""``catalpa predict``: new rows, and files whose types are guessed anew."""

from __future__ import annotations

import json

import pandas as pd
import pytest


@pytest.fixture
def model(run, fruit):
    assert run("cluster", fruit, "-k", 2, "--drop", "person", "-o", "out").code == 0
    return "out/model.json"


def labels_of(text):
    return text.split()[1:]


def test_labels_of_the_same_rows_are_those_of_the_fit(run, model, fruit, tmp_path):
    ended = run("predict", model, fruit)
    assert ended.code == 0
    assert ended.out == (tmp_path / "out" / "labels.csv").read_text()


def test_columns_may_be_more_and_in_another_order(run, model, fruit, tmp_path):
    before = labels_of(run("predict", model, fruit).out)
    (tmp_path / "new.csv").write_text("price,extra,shape,colour\n1.5,x,round,red\n9,x,square,blue\n")
    assert labels_of(run("predict", model, "new.csv").out) == [before[0], before[-1]]


def test_a_file_is_written_on_request_and_not_overwritten(run, model, fruit, tmp_path):
    assert run("predict", model, fruit, "--id", "person", "-o", "new/labels.csv").out == ""
    written = (tmp_path / "new" / "labels.csv").read_text()
    assert written.splitlines()[0] == "person,cluster"
    ended = run("predict", model, fruit, "-o", "new/labels.csv")
    assert ended.code == 2
    assert "--force" in ended.err
    assert (tmp_path / "new" / "labels.csv").read_text() == written
    assert run("predict", model, fruit, "-o", "new/labels.csv", "--force").code == 0
    assert (tmp_path / "new" / "labels.csv").read_text() != written


def test_json_holds_labels_files_and_warnings(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("colour,shape,price\nteal,round,1.5\n")
    document = json.loads(run("predict", model, "new.csv", "--json").out)
    assert len(document["labels"]) == 1
    assert document["files"] == []
    assert "'teal'" in document["warnings"][0]
    assert json.loads(run("predict", model, "new.csv", "--json", "-o", "l.csv").out)["files"] == ["l.csv"]


def test_a_column_of_the_model_that_itself_is_the_id_is_used_and_kept(run, model, fruit):
    assert run("predict", model, fruit, "--id", "colour").out.splitlines()[1].startswith("red,")


def test_a_missing_column_is_named(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("colour,shape\nred,round\n")
    ended = run("predict", model, "new.csv")
    assert ended.code == 2
    assert "'price'" in ended.err


@pytest.mark.parametrize("content", ["", "{}", '{"catalpa_model": 1', '{"catalpa_model": 99}'])
def test_a_file_that_is_no_model_is_refused(run, fruit, tmp_path, content):
    (tmp_path / "model.json").write_text(content)
    ended = run("predict", "model.json", fruit)
    assert ended.code == 2
    assert ended.err.startswith("Error: ")
    assert "Traceback" not in ended.err


def test_an_output_that_is_a_folder_is_refused(run, model, fruit):
    ended = run("predict", model, fruit, "-o", "out")
    assert ended.code == 2
    assert "is a folder" in ended.err


def test_one_odd_cell_does_not_make_the_whole_column_unknown(run, tmp_path):
    (tmp_path / "fit.csv").write_text("grade,c\n" + "1,a\n2,b\n" * 10)
    assert run("cluster", "fit.csv", "-k", 2, "-o", "out").code == 0
    known = labels_of(run("predict", "out/model.json", "fit.csv").out)[:2]
    (tmp_path / "new.csv").write_text("grade,c\n1,a\n2,b\nodd,a\n,a\n")
    ended = run("predict", "out/model.json", "new.csv")
    assert labels_of(ended.out)[:2] == known
    assert "2 cells of column 'grade'" in ended.err
    assert "'odd'" in ended.err


def test_text_that_happens_to_look_like_numbers_stays_text(run, tmp_path):
    (tmp_path / "fit.csv").write_text("grade,c\n" + "1,a\nnone,b\n" * 10)
    assert run("cluster", "fit.csv", "-k", 2, "-o", "out").code == 0
    (tmp_path / "new.csv").write_text("grade,c\n1,a\n1,b\n")
    assert run("predict", "out/model.json", "new.csv").err == ""


def test_bins_are_not_taken_for_text(run, tmp_path):
    (tmp_path / "fit.csv").write_text("x,c\n" + "1.5,a\n2.5,b\n" * 10)
    assert run("cluster", "fit.csv", "-k", 2, "-m", "kmodes", "--bins", 2, "-o", "out").code == 0
    assert run("predict", "out/model.json", "fit.csv").err == ""


def test_probabilities_are_given_beside_the_labels(run, fruit, tmp_path):
    assert run("cluster", fruit, "-k", 2, "--id", "person", "-o", "out").code == 0
    assert run("predict", "out/model.json", fruit, "--id", "person", "--proba", "-o", "labels.csv").code == 0
    found = pd.read_csv(tmp_path / "labels.csv")
    told = ["person", "cluster", "probability_0", "probability_1", "border", "outlier_score"]
    assert found.columns.tolist() == told
    shares = found[["probability_0", "probability_1"]].to_numpy()
    assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert shares.argmax(axis=1).tolist() == found["cluster"].tolist()
    told = json.loads(run("predict", "out/model.json", fruit, "--proba", "--json").out)
    assert told["probabilities"] == shares.tolist()


def test_a_method_without_probabilities_says_so(run, fruit):
    assert run("cluster", fruit, "-k", 2, "-m", "kmodes", "--drop", "person,price", "-o", "out").code == 0
    ended = run("predict", "out/model.json", fruit, "--proba")
    assert (ended.code, "has no probabilities" in " ".join(ended.err.split())) == (2, True)
