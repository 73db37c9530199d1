"""The data that an explorer page holds."""

from __future__ import annotations

import base64
import json

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.datasets import load, make_categorical
from catalpa.errors import ParameterError
from catalpa.report import explore_data, explore_page
from catalpa.report.explore_data import coded_columns


@pytest.fixture(scope="module")
def votes():
    frame = load("votes").frame
    models = [catalpa.Grove(k, random_state=0).fit(frame) for k in (2, 3, 4)]
    return frame, models


def codes_of(entry):
    return np.frombuffer(base64.b64decode(entry["base64"]), dtype=f"<u{entry['bytes']}")


def test_codes_and_labels_are_those_of_the_table(votes):
    frame, models = votes
    page = catalpa.explore(models[-1], frame, others=models[:-1]).summary
    for column, codes in zip(page["columns"], page["codes"], strict=True):
        told = np.array(column["categories"])[codes_of(codes)]
        expected = frame[column["name"]].astype(object).where(frame[column["name"]].notna(), "(missing)")
        assert told.tolist() == expected.astype(str).tolist()
    assert [one["k"] for one in page["partitions"]] == [2, 3, 4]
    for model, one in zip(models, page["partitions"], strict=True):
        assert codes_of(one["labels"]).tolist() == model.labels_.tolist()
    assert page["model"] == 2


def test_without_rows_the_page_holds_their_counts_only(votes):
    frame, models = votes
    page = catalpa.explore(models[0], frame, rows=False).summary
    assert page["codes"] is None
    assert page["weights"] is None
    (one,) = page["partitions"]
    assert one["labels"] is None
    assert one["sizes"] == models[0].cluster_sizes_.tolist()
    name = page["columns"][0]["name"]
    expected = pd.crosstab(models[0].labels_, frame[name].astype(object).fillna("(missing)").astype(str))
    assert one["counts"][0] == expected[page["columns"][0]["categories"]].to_numpy().tolist()


def test_counts_of_a_large_table_are_of_all_rows(votes, monkeypatch):
    frame, models = votes
    monkeypatch.setattr(explore_page, "MOST_ROWS", 100)
    page = catalpa.explore(models[1], frame, others=[models[0]]).summary
    assert page["rows"] == len(frame)
    assert page["shown"] == len(codes_of(page["codes"][0])) == 100
    assert sum(page["partitions"][1]["sizes"]) == len(frame)
    assert np.sum(page["partitions"][1]["counts"][0]) == len(frame)
    assert np.sum(page["flows"][0]) == len(frame)


def test_weights_count(votes):
    frame, models = votes
    weights = np.arange(len(frame)) % 3 + 0.5
    page = catalpa.explore(models[0], frame, sample_weight=weights, rows=False).summary
    expected = np.bincount(models[0].predict(frame), weights)
    assert np.allclose(page["partitions"][0]["sizes"], expected)
    assert page["weighted"]


def test_numbers_are_cut_into_ranges_that_count_their_rows():
    frame = pd.DataFrame(
        {"age": [float(at) for at in range(18, 78)] + [None], "sex": ["f", "m"] * 30 + ["f"]}
    )
    model = catalpa.Grove(2, random_state=0).fit(frame)
    age = coded_columns(frame, model.schema_)[0]
    assert age.kind == "numbers"
    assert age.categories[0] == "below 28"
    assert age.categories[-1] == "(missing)"
    assert np.bincount(age.codes).tolist() == [10, 10, 10, 10, 10, 10, 1]


def test_outliers_are_labelled_and_counted_in_their_nearest_cluster():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.r_[rng.normal(0, 1, 200), 90, 95], "y": [*"ab" * 100, "a", "b"]})
    model = catalpa.Grove(2, outliers="label", random_state=0).fit(frame)
    far = np.flatnonzero(model.labels_ == -1).tolist()
    assert {200, 201} <= set(far)
    of_model = catalpa.explore(model, frame)
    summary = of_model.summary
    assert summary["partitions"][summary["model"]]["outliers"] == far
    assert sum(summary["partitions"][summary["model"]]["sizes"]) == len(frame)
    sentence = f"{len(far)} rows are outliers with the label -1"
    assert sentence in of_model.html
    report = model.report(frame)
    assert sentence in report.html
    assert sum(one["size"] for one in report.summary["clusters"]) == len(frame)
    assert sentence in str(catalpa.report.markdown(model, frame))
    plain = catalpa.Grove(2, random_state=0).fit(frame)
    assert "with the label -1" not in plain.report(frame).html + catalpa.explore(plain, frame).html


def test_rare_categories_are_counted_together(monkeypatch):
    monkeypatch.setattr(explore_data, "MOST_CATEGORIES", 3)
    frame = pd.DataFrame({"x": ["a"] * 5 + ["b"] * 4 + ["c", "d", "e"], "y": ["u", "v"] * 6})
    model = catalpa.KModes(2, random_state=0).fit(frame)
    column = coded_columns(frame, model.schema_)[0]
    assert column.categories == ("a", "b", "(other)")
    assert np.bincount(column.codes).tolist() == [5, 4, 3]


def test_columns_that_were_not_clustered_can_be_crossed(votes):
    frame, models = votes
    party = np.where(np.arange(len(frame)) % 2, "left", "right")
    page = catalpa.explore(models[0], frame.assign(party=party, age=np.arange(len(frame)) % 50)).summary
    party, age = page["columns"][-2:]
    assert (party["categories"], party["clustered"]) == (["right", "left"], False)
    assert (age["kind"], age["clustered"]) == ("numbers", False)


def test_clusters_that_continue_each_other_share_a_strand():
    table = make_categorical(300, columns=8, clusters=4, noise=0.1, seed=3).frame
    models = [catalpa.Grove(k, random_state=0).fit(table) for k in (3, 4)]
    three, four = catalpa.explore(models[1], table, others=models[:1]).summary["partitions"]
    assert four["strands"] == [0, 1, 2, 3]
    crossed = pd.crosstab(models[0].labels_, models[1].labels_).to_numpy()
    for cluster, strand in enumerate(three["strands"]):
        assert crossed[cluster].argmax() == strand or crossed[:, strand].argmax() == cluster


def test_models_of_other_columns_are_refused(votes):
    frame, models = votes
    other = catalpa.KModes(3, random_state=0).fit(frame.iloc[:, :5])
    with pytest.raises(ParameterError, match="same columns"):
        catalpa.explore(models[0], frame, others=[other])


def test_text_of_the_table_cannot_leave_the_script():
    attack = "</script><script>window.hacked = true</script>"
    frame = pd.DataFrame({attack: [attack, "x"] * 10, "y": ["u", "v"] * 10})
    model = catalpa.KModes(2, random_state=0).fit(frame).name_clusters({0: attack})
    page = catalpa.explore(model, frame, title=attack)
    assert "<script>window" not in page.html
    assert attack in json.loads(page.to_json())["columns"][0]["categories"]


def test_a_model_of_dates_says_why_no_row_can_be_tried():
    days = pd.date_range("2024-01-01", periods=60, freq="17D")
    frame = pd.DataFrame({"day": days, "kind": ["a", "b", "c"] * 20})
    model = catalpa.KModes(2, random_state=0).fit(frame)
    assert "'day'" in catalpa.explore(model, frame).summary["scoring"]["refused"]
