"""The summary says what is true of the model and the table."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.errors import UnseenCategoryWarning
from catalpa.plot.view import make_view
from catalpa.report.fit_section import split_records, weight_records
from catalpa.report.summary import summarise


def mixed_table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "colour": ["red", "red", "red", "blue", "blue", None],
            "shape": ["round", "round", "oval", "square", "square", "square"],
            "price": [1.0, 1.5, np.nan, 9.0, 8.5, 9.5],
        }
    )


def test_the_birds_can_be_told_from_the_zoo_report_alone(report):
    feathered = [
        one for one in report.summary["clusters"] if "feathers=1 (nowhere else)" in one["sets_apart"]
    ]
    assert len(feathered) == 1
    assert 19 <= feathered[0]["size"] <= 22
    assert "legs=2" in feathered[0]["sets_apart"]


def test_sizes_and_shares_add_up_to_the_table(report, model):
    sizes = [one["size"] for one in report.summary["clusters"]]
    assert sizes == model.cluster_sizes_.tolist()
    assert sum(one["share"] for one in report.summary["clusters"]) == pytest.approx(1.0)
    assert report.summary["table"]["rows"] == 101


def test_clarity_is_the_certainty_of_a_method_that_has_probabilities(report, model, zoo):
    clarity = report.summary["clarity"]
    sure = model.predict_proba(zoo).max(axis=1)
    assert clarity["measure"] == "certainty"
    assert clarity["mean"] == pytest.approx(sure.mean(), abs=1e-3)
    assert clarity["clear_rows"] == pytest.approx((sure > 0.9).mean(), abs=1e-3)
    assert "probability" in clarity["means"]
    own = sure[model.labels_ == 2].mean()
    assert report.summary["clusters"][2]["clarity"] == pytest.approx(own, abs=1e-3)
    assert clarity["values"][2] == sorted(clarity["values"][2], reverse=True)


def test_clarity_of_other_methods_is_a_silhouette_of_all_columns(zoo):
    model = catalpa.KModes(3, random_state=0).fit(zoo)
    clarity = model.report(zoo).summary["clarity"]
    values = catalpa.metrics.categorical_silhouette_samples(zoo, model.labels_)
    assert clarity["measure"] == "silhouette"
    assert clarity["mean"] == pytest.approx(values.mean())
    assert clarity["clear_rows"] == pytest.approx((values > 0).mean())


def test_numbers_that_part_the_rows_make_clusters_clear():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 300)
    noise = rng.choice(list("abcd"), 300)
    x, y = (kinds * side + rng.normal(size=300) for side in (100, -50))
    table = pd.DataFrame({"x": x, "y": y, "noise": noise})
    model = catalpa.Grove(3, random_state=0).fit(table)
    clarity = model.report(table).summary["clarity"]
    assert clarity["clear_rows"] > 0.95  # was 23 % of rows with a silhouette of -0.04
    prototypes = catalpa.KPrototypes(3, gamma=0.01, random_state=0).fit(table)
    assert prototypes.report(table).summary["clarity"]["clear_rows"] > 0.95


def test_the_profile_is_that_of_the_model(report, model):
    profile = model.profiles_.set_index(["cluster", "column", "category"])["share"]
    for column in report.summary["profile"]:
        for row in column["categories"]:
            for cluster, share in enumerate(row["shares"]):
                assert share == pytest.approx(profile[cluster, column["column"], row["category"]], abs=1e-4)


def test_columns_that_tell_most_come_first(report):
    bits = [one["bits"] for one in report.summary["columns"]]
    assert bits == sorted(bits, reverse=True)
    assert report.summary["telling"].startswith("legs, milk,")


def test_typical_rows_cost_least_and_odd_rows_most(report, model, zoo):
    costs = model.transform(zoo)
    for one in report.summary["clusters"]:
        own = costs[model.labels_ == one["cluster"], one["cluster"]]
        examples = one["examples"]
        assert examples["typical"][0]["cost"] == pytest.approx(own.min())
        if examples["odd"]:
            assert examples["odd"][0]["cost"] == pytest.approx(own.max())
        for row in [*examples["typical"], *examples["odd"]]:
            assert model.labels_[row["row"]] == one["cluster"]
            told = [str(zoo.loc[row["row"], name]) for name in examples["columns"]]
            assert [cell["text"] for cell in row["cells"]] == told


def test_cells_that_few_rows_of_the_cluster_share_are_surprising(report, model):
    shares = model.profiles_.set_index(["cluster", "column", "category"])["share"]
    for one in report.summary["clusters"]:
        for row in one["examples"]["odd"]:
            for name, cell in zip(one["examples"]["columns"], row["cells"], strict=True):
                assert cell["surprising"] == (shares[one["cluster"], name, cell["text"]] < 0.15)


def test_trees_are_those_of_the_relations(report, model):
    relations = report.summary["relations"]
    at = relations["columns"].index("legs")
    for cluster in range(7):
        tree, relation = relations["trees"][cluster][at], model.relations_[cluster, "legs"]
        held = [name not in tree["absent"] for name in relation.names]
        apart = relation.distances[np.ix_(held, held)].max()  # of categories that rows of the cluster hold
        assert max(row[2] for row in tree["rows"]) == pytest.approx(apart, abs=1e-4)
    assert not relations["shared"]


def test_splits_hold_the_rows_that_answer_their_questions(zoo):
    model = catalpa.SigDT().fit(zoo)
    branches = model.report(zoo).summary["splits"]
    assert [branch["rows"] for branch in branches] == [101, 38, 30, 8, 63, 26, 8, 18, 37, 31, 6]
    assert [branch["depth"] for branch in branches] == [0, 1, 2, 2, 1, 2, 3, 3, 2, 3, 3]
    for branch in branches:
        if branch["cluster"] is None:
            continue
        held = pd.Series(True, index=zoo.index)
        for condition in branch["rule"].split(" and "):
            column, negated, category = re.fullmatch(r"(\w+) is (not )?(\w+)", condition).groups()
            held &= (zoo[column].astype(str) == category) != bool(negated)
        assert (model.labels_[held] == branch["cluster"]).all()
        assert held.sum() == branch["rows"]


def test_a_split_asks_and_its_branches_answer():
    table = [["a", "p", "x"]] * 10 + [["b", "q", "y"]] * 10
    branches = split_records(make_view(catalpa.SigDT().fit(table), table))
    told = [[branch[name] for name in ("depth", "holds", "asks", "cluster", "rows")] for branch in branches]
    assert told == [[0, None, "x0 is a", None, 20], [1, True, None, 0, 10], [1, False, None, 1, 10]]


def test_columns_are_weighed_in_the_order_of_their_weights():
    table = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]] * 3
    records = weight_records(make_view(catalpa.WOCIL(2, random_state=0).fit(table), table))
    assert [record["column"] for record in records] == ["x0", "x1"]


def test_splits_count_the_rows_that_are_given(zoo):
    branches = catalpa.SigDT().fit(zoo).report(zoo[zoo["legs"].astype(str) == "4"]).summary["splits"]
    assert [branch["rows"] for branch in branches] == [38, 38, 30, 8, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("method", [catalpa.WOCIL, catalpa.HARR, catalpa.DISC])
def test_weights_are_those_of_the_model_the_heaviest_column_first(method, zoo):
    model = method(4, random_state=0).fit(zoo)
    records = model.report(zoo).summary["weights"]
    assert sorted(record["column"] for record in records) == sorted(zoo.columns)
    for record in records:
        assert record["weights"] == pytest.approx(model.weights_[record["column"]].tolist(), abs=1e-6)
    sums = [sum(record["weights"]) for record in records]
    assert sums == sorted(sums, reverse=True)


def test_weights_without_those_of_numbers_are_in_the_summary():
    table = pd.DataFrame({"colour": ["red", "red", "blue", "blue"], "price": [1.5, 1.25, 7.5, 7.75]})
    summary = catalpa.DISC(2, random_state=0).fit(table).report(table).summary
    assert [record["column"] for record in summary["weights"]] == ["colour"]


def test_weights_of_pairs_of_categories_are_no_weights_of_columns(zoo):
    model = catalpa.HDC(3, random_state=0).fit(zoo)
    assert hasattr(model, "weights_")
    assert model.report(zoo).summary["weights"] is None


def test_a_table_without_clusters_is_warned_of():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({f"c{at}": rng.integers(0, 3, 300).astype(str) for at in range(6)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = catalpa.Grove("auto", random_state=0).fit(noise).report(noise)
        given = catalpa.Grove(3, random_state=0).fit(noise).report(noise)
    split = catalpa.SigDT().fit(noise).report(noise).summary["fit"]["warnings"]
    assert report.summary["verdict"]["level"] == given.summary["verdict"]["level"] == "none"
    assert "all rows are in one cluster" in report.html
    assert "These differences are not evidence of groups" in given.html
    assert '<main class="doubtful">' in given.html
    # Apart from what was asked for, every part of the page is folded.
    parts = given.html.split("<section ")[2:]
    assert all('<details class="fold"><summary>' in part for part in parts)
    assert any("first split is no clearer than chance" in text for text in split)


@pytest.mark.parametrize("method", [catalpa.MCDC, catalpa.KModes])
def test_a_fit_that_did_not_come_to_rest_is_told_with_the_advice_of_its_warning(method, zoo):
    with pytest.warns(ConvergenceWarning) as warned:
        model = method(3, max_iter=1, random_state=0).fit(zoo)
    (said,) = (str(one.message) for one in warned if "Stopped after" in str(one.message))
    told = model.report(zoo).summary["fit"]["warnings"]
    assert said in told


def test_equal_rows_are_not_typical_and_odd_at_once():
    table = [["a", "x"]] * 5 + [["b", "y"]] * 5
    summary = catalpa.KModes(2, random_state=0).fit(table).report(table).summary
    assert [len(one["examples"]["typical"]) for one in summary["clusters"]] == [1, 1]
    assert [one["examples"]["odd"] for one in summary["clusters"]] == [[], []]


def test_rows_that_cost_the_same_are_typical_by_their_common_categories():
    table = [["a", "x"]] * 2 + [["b", "y"]] * 3 + [["b", "x"], ["c", "z"]]
    model = catalpa.SigDT(force_root_split=False).fit(table)
    assert (model.transform(table) == 0).all()
    examples = model.report(table).summary["clusters"][0]["examples"]
    assert [cell["text"] for cell in examples["typical"][0]["cells"]] in (["b", "y"], ["y", "b"])
    assert [cell["text"] for cell in examples["odd"][0]["cells"]] in (["c", "z"], ["z", "c"])


def test_rows_of_numbers_alone_have_several_examples():
    table = pd.DataFrame({"x": [0.5, 0.25, 0.125, 0.75, 0.625, 0.875, 90.5, 91.25]})
    summary = catalpa.KPrototypes(2, random_state=0).fit(table).report(table).summary
    largest = max(summary["clusters"], key=lambda one: one["size"])
    assert [len(largest["examples"][kind]) for kind in ("typical", "odd")] == [3, 3]


@pytest.mark.parametrize("start", [0.0, 1e9, 1e12])
def test_where_numbers_begin_does_not_change_what_clusters_explain(start):
    numbers = 0.25 + np.array([0, 1, 2, 3] * 5 + [10, 11, 12, 13] * 5)
    table = pd.DataFrame({"x": start + numbers, "a": ["p"] * 20 + ["q"] * 20})
    summary = catalpa.KPrototypes(2, random_state=0).fit(table).report(table).summary
    column = next(one for one in summary["columns"] if one["column"] == "x")
    assert column["explained"] == pytest.approx(25 / 26.25)


def test_numbers_near_the_limits_of_floats_become_json():
    table = pd.DataFrame({"x": [1e300, -1e300, 1e-300, 0.0] * 5, "a": list("pqrs") * 5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = catalpa.Grove(2, random_state=0).fit(table).report(table)
    assert json.loads(found.to_json())["columns"]


def test_a_category_without_letters_can_be_seen():
    table = pd.DataFrame({"a": [""] * 3 + ["y"] * 3})
    summary = catalpa.KModes(2, random_state=0).fit(table).report(table).summary
    assert any('a=""' in one["sets_apart"] for one in summary["clusters"])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_reported(name, zoo):
    entry = METHODS[name]
    offered = entry.estimator._get_param_names()
    settings = {"random_state": 0} if "random_state" in offered else {}
    settings |= {"n_clusters": 3} if "n_clusters" in offered else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = entry.estimator(**settings).fit(zoo.head(40))
    summary = summarise(make_view(model, zoo.head(40)), "Zoo")
    assert sum(one["size"] for one in summary["clusters"]) == 40
    assert (summary["relations"] is not None) == hasattr(model, "relations_")
    json.dumps(summary, allow_nan=False)


def test_numbers_have_means_and_missing_cells_are_told():
    table = mixed_table()
    summary = catalpa.KPrototypes(2, random_state=0).fit(table).report(table).summary
    (price,) = summary["numbers"]
    assert price["column"] == "price"
    assert sorted(one["mean"] for one in price["clusters"]) == pytest.approx([1.25, 9.0])
    assert sorted(one["missing"] for one in price["clusters"]) == pytest.approx([0.0, 1 / 3])
    assert summary["table"]["missing"] == {"colour": 1, "price": 1}
    told = "they count as a category of their own, in numbers (price) they are left out."
    assert f"Missing cells: colour (1), price (1); {told}" in summary["fit"]["notes"]
    price = next(one for one in summary["columns"] if one["column"] == "price")
    assert price["kind"] == "numeric"
    assert 0.9 < price["explained"] <= 1.0


@pytest.mark.parametrize(
    ("missing", "told"),
    [("category", "in numbers (price) they are left out."), ("ignore", "they add nothing to a row's cost.")],
)
def test_missing_numbers_alone_are_no_category(missing, told):
    table = mixed_table().fillna({"colour": "red"})
    notes = (
        catalpa.KPrototypes(2, random_state=0, missing=missing)
        .fit(table)
        .report(table)
        .summary["fit"]["notes"]
    )
    assert f"Missing cells: price (1); {told}" in notes


def test_the_explained_share_of_a_number_is_its_correlation_ratio():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"group": ["a"] * 50 + ["b"] * 50, "x": rng.normal(size=100) + np.repeat([0, 1], 50)}
    )
    model = catalpa.KPrototypes(2, random_state=0).fit(table)
    summary = model.report(table).summary
    groups = [part for _, part in table["x"].groupby(model.labels_)]
    between = sum(len(part) * (part.mean() - table["x"].mean()) ** 2 for part in groups)
    expected = between / ((table["x"] - table["x"].mean()) ** 2).sum()
    found = next(one for one in summary["columns"] if one["column"] == "x")
    assert found["explained"] == pytest.approx(expected)
    n, k = len(table), len(groups)
    assert found["bits"] == pytest.approx(-0.5 * np.log2((1 - expected) * (n - 1) / (n - k)))


def test_a_table_of_numbers_alone_has_a_silhouette_and_no_trees():
    table = pd.DataFrame({"x": [0.5, 0.25, 9.5, 9.25], "y": [1.5, 1.25, 0.5, 0.25]})
    summary = catalpa.KPrototypes(2, random_state=0).fit(table).report(table).summary
    assert summary["clarity"]["mean"] > 0.8
    assert summary["relations"] is None
    assert summary["profile"] == []


def test_a_constant_number_has_no_mean_worth_a_word():
    table = pd.DataFrame({"a": ["x"] * 3 + ["y"] * 3, "same": [1.5] * 6})
    summary = catalpa.KPrototypes(2, random_state=0).fit(table).report(table).summary
    assert all(reason["column"] == "a" for one in summary["clusters"] for reason in one["reasons"])
    assert next(one for one in summary["columns"] if one["column"] == "same")["bits"] == 0


def test_new_rows_are_described_as_they_are_and_unseen_categories_warned_of(model, zoo):
    rows = zoo.head(20).astype(object)
    rows.loc[0, "legs"] = 100
    with pytest.warns(UnseenCategoryWarning, match="100"):
        summary = model.report(rows).summary
    assert summary["table"]["rows"] == 20
    assert summary["table"]["unseen"] == {"legs": 1}
    assert not summary["fit"]["same_table"]
    assert "1 cell of legs with categories not seen at fit." in summary["fit"]["warnings"]
    assert any("not exactly those of the fit" in text for text in summary["fit"]["notes"])
    assert any("No row of this table falls into cluster" in text for text in summary["fit"]["warnings"])


def test_a_model_from_a_file_gives_the_same_report(model, zoo, report, tmp_path):
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json").report(zoo, title="Animals").summary
    assert again["fit"]["passes"] == report.summary["fit"]["passes"]
    assert again["columns"] == report.summary["columns"] or not again["fit"]["same_table"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_clusters_that_were_asked_for_and_not_found_are_warned_of():
    table = [["a", "x"]] * 5 + [["b", "y"]] * 5
    summary = catalpa.KModes(4, random_state=0).fit(table).report(table).summary
    assert any("Only 2 of 4 clusters have rows" in text for text in summary["fit"]["warnings"])


def test_clusters_joined_without_their_table_have_no_cost(zoo, tmp_path):
    catalpa.Grove(4, random_state=0).fit(zoo).save(tmp_path / "model.json")
    loaded = catalpa.load(tmp_path / "model.json")
    for joined in (loaded.cut(2), loaded.merge([0, 1])):
        page = joined.report(zoo)
        assert json.loads(page.to_json())["fit"]["cost"] is None
        assert "final cost" not in page.html
        assert not re.search(r"\bnan\b", page.html)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_was_cut_short_is_warned_of(zoo):
    summary = catalpa.KModes(7, max_iter=1, n_init=1, random_state=0).fit(zoo).report(zoo).summary
    assert not summary["fit"]["converged"]
    assert any("Stopped after" in text for text in summary["fit"]["warnings"])


def test_one_cluster_that_holds_nearly_all_is_warned_of():
    table = [["a", "x"]] * 40 + [["b", "y"]]
    summary = catalpa.KModes(2, random_state=0).fit(table).report(table).summary
    assert any("One cluster has 40 of 41 rows" in text for text in summary["fit"]["warnings"])


def test_settings_that_differ_from_the_defaults_are_told(report):
    assert report.summary["made_by"]["settings"] == {"n_clusters": 7, "random_state": 0}


def test_a_large_table_is_counted_whole_and_measured_in_part(model, zoo):
    many = pd.concat([zoo] * 250, ignore_index=True)
    summary = model.report(many).summary
    assert summary["table"]["rows"] == sum(one["size"] for one in summary["clusters"]) == 25_250
    assert summary["clarity"]["rows"] == 20_000
    assert (summary["map"]["rows"], summary["map"]["of"]) == (2_000, 25_250)


def test_a_model_must_be_fitted_before_it_is_reported(zoo):
    with pytest.raises(NotFittedError):
        catalpa.Grove(3).report(zoo)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_any_frame_library_gives_the_same_report(library, zoo):
    module = pytest.importorskip(library)
    texts = zoo.head(30).astype(str)
    table = (
        texts
        if library == "pandas"
        else (module.table if library == "pyarrow" else module.DataFrame)(
            {name: texts[name].tolist() for name in texts}
        )
    )
    summary = catalpa.KModes(3, random_state=0).fit(table).report(table).summary
    expected = catalpa.KModes(3, random_state=0).fit(texts).report(texts).summary
    assert summary["clusters"] == expected["clusters"]


def test_a_number_that_is_cut_into_bins_still_has_its_quartiles():
    spent = np.array([0.0] * 60 + list(np.linspace(1, 40, 40)))
    table = pd.DataFrame({"spent": spent, "kind": ["a"] * 60 + ["b"] * 40})
    model = catalpa.Grove(2, random_state=0).fit(table)
    assert model.schema_.categorical[0].binned
    (record,) = model.report(table).summary["numbers"]
    own = table["spent"].groupby(model.labels_)
    assert [one["quantiles"][2] for one in record["clusters"]] == own.median().tolist()
    assert [one["mean"] for one in record["clusters"]] == pytest.approx(own.mean().tolist(), abs=1e-4)
