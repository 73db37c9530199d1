"""SigDT: a tree of significant splits."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.sigdt import sigdt

from catalpa import SigDT, load
from catalpa.costs.sigdt import SplitTest
from catalpa.datasets import load as load_data
from catalpa.engines.local import LocalEngine
from catalpa.errors import MissingDependency, ParameterError, UnseenCategoryWarning
from catalpa.metrics import adjusted_rand, clustering_accuracy
from catalpa.steps.branches import count_branch, first_seen
from catalpa.table import encode, infer

TWO = [["a", "p", "x"]] * 10 + [["b", "q", "y"]] * 10
tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(st.sampled_from("abc"), min_size=d, max_size=d), min_size=2, max_size=40)
)


def test_two_groups_become_two_leaves():
    model = SigDT().fit(TWO)
    assert model.labels_.tolist() == [0] * 10 + [1] * 10
    assert model.clusterable_
    assert model.tree_.p_value(0) == pytest.approx(1.4761e-07, rel=1e-4)
    assert model.rules_["rule"].tolist() == ["x0 is a", "x0 is not a"]
    assert model.rules_["rows"].tolist() == [10, 10]
    assert str(model.tree_).splitlines()[0] == "x0 is a? 20 rows, p = 1.5e-07"
    assert repr(model.tree_) == "<SplitTree of 2 clusters, depth 1>"


def test_independent_columns_are_split_only_by_force():
    rows = [[a, b] for a in "st" for b in "uv"] * 6
    model = SigDT().fit(rows)
    assert not model.clusterable_
    assert model.tree_.p_value(0) == 1
    assert model.cluster_sizes_.tolist() == [12, 12]
    assert model.rules_["rule"].tolist() == ["x0 is s", "x0 is not s"]
    whole = SigDT(force_root_split=False).fit(rows)
    assert whole.n_clusters_ == 1
    assert whole.rules_["rule"].tolist() == ["every row"]


def test_noise_in_one_column_leaves_the_split():
    rows = [["a", "p", "x"]] * 9 + [["a", "p", "y"]] + [["b", "q", "y"]] * 8 + [["b", "q", "x"]] * 2
    model = SigDT().fit(rows)
    assert model.labels_.tolist() == [0] * 10 + [1] * 10
    assert model.tree_.p_value(0) == pytest.approx(1.4761e-07, rel=1e-4)


@given(tables, st.integers(1, 6))
def test_labels_follow_the_paper(rows, least):
    assert SigDT(min_leaf=least).fit(rows).labels_.tolist() == sigdt(rows, min_leaf=least)


@given(tables)
def test_a_lenient_level_follows_the_paper(rows):
    assert SigDT(alpha=0.3, min_leaf=1).fit(rows).labels_.tolist() == sigdt(rows, 0.3, 1)


ALL = {
    "CA": (0.5336, -0.0678, 2),
    "SB": (0.5301, 0.3811, 7),
    "NU": (0.4020, 0.0310, 2),
    "CC": (0.3374, 0.0231, 5),
    "AP": (0.5132, 0.0470, 3),
    "DT": (0.8855, 0.8355, 7),
    "AV": (0.6383, 0.0752, 4),
    "OB": (0.3813, 0.1674, 4),
    "TA": (0.4172, 0.0197, 2),
    "BM": (0.2492, -0.0177, 12),
    "CV": (0.5816, 0.3651, 6),
    "ZO": (0.7228, 0.5920, 6),
}


@pytest.mark.parametrize("name", ALL)
def test_results_on_the_published_tables(data_home, name):
    accuracy, rand, leaves = ALL[name]
    codes = json.loads((data_home / "paper" / "codes.json").read_text(encoding="utf-8"))[name]
    table = pd.read_csv(next((data_home / "paper").glob(f"{name}.csv*")), dtype=str, keep_default_na=False)
    coded = table.apply(lambda column: column.map(codes[column.name]).astype(int))
    features = coded.drop(columns="class")
    model = SigDT(categorical_features=list(features)).fit(features)
    assert round(clustering_accuracy(coded["class"], model.labels_), 4) == accuracy
    assert round(adjusted_rand(coded["class"], model.labels_), 4) == rand
    assert model.n_clusters_ == leaves


def test_a_saved_tree_predicts_and_reads_the_same(tmp_path):
    zoo = load_data("zoo").frame
    model = SigDT().fit(zoo)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.predict(zoo).tolist() == model.labels_.tolist()
    assert str(again.tree_) == str(model.tree_)
    assert again.rules_.equals(model.rules_)
    assert again.clusterable_ is model.clusterable_ is True


def test_every_row_meets_one_rule_and_only_one():
    zoo = load_data("zoo").frame
    model = SigDT().fit(zoo)
    broken = model.transform(zoo)
    assert ((broken == 0).sum(axis=1) == 1).all()
    assert broken.argmin(axis=1).tolist() == model.labels_.tolist()
    assert model.score(zoo) == 0
    assert model.cost_ == 0


def test_an_unseen_category_equals_no_category():
    model = SigDT().fit(TWO)
    with pytest.warns(UnseenCategoryWarning):
        assert model.predict([["new", "p", "x"]]).tolist() == [1]


def test_left_out_cells_equal_no_category():
    rows = [*TWO, [None, "p", "x"], [None, "q", "y"]]
    model = SigDT(missing="ignore").fit(rows)
    assert model.labels_.tolist() == model.predict(rows).tolist()
    assert model.cluster_sizes_.sum() == 22
    assert set(model.labels_[20:]) <= set(model.labels_[10:20])


def test_weight_two_equals_the_row_twice():
    zoo = load_data("zoo").frame
    weights = np.arange(len(zoo)) % 3
    weighed = SigDT().fit(zoo, sample_weight=weights)
    repeated = SigDT().fit(zoo.loc[zoo.index.repeat(weights)])
    assert str(weighed.tree_) == str(repeated.tree_)
    halves = SigDT(min_leaf=3).fit(zoo, sample_weight=weights * 0.5)
    assert halves.cluster_sizes_.sum() == pytest.approx(weights.sum() / 2)


def test_counts_do_not_depend_on_blocks():
    votes = load_data("votes").frame
    rows = encode(votes, infer(votes)).rows
    whole, cut = LocalEngine(rows), LocalEngine(rows, 2, rows_per_block=50)
    conditions = ((0, True), (int(rows.axis.base.offsets[1]), False))
    one, other = (engine.total(count_branch, rows.axis, conditions) for engine in (whole, cut))
    assert one.size == other.size
    assert (one.together == other.together).all()
    one, other = (engine.each(first_seen, rows.axis).min(axis=0) for engine in (whole, cut))
    assert (one == other).all()


def test_the_tree_becomes_a_graph():
    graph = SigDT().fit(load_data("zoo").frame).tree_.to_networkx()
    assert graph.number_of_nodes() == 11
    assert graph.nodes[0]["column"] == "legs"
    assert graph.nodes[0]["category"] == "4"
    assert {graph.nodes[n]["cluster"] for n in graph if not graph.out_degree(n)} == set(range(6))
    assert graph.edges[0, 1]["holds"]


def test_a_graph_without_networkx_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependency, match="pip install networkx"):
        SigDT().fit(TWO).tree_.to_networkx()


def test_constant_columns_count_but_are_never_split():
    rows = [[*row, "same"] for row in TWO]
    model = SigDT().fit(rows)
    assert model.labels_.tolist() == [0] * 10 + [1] * 10
    assert model.tree_.p_value(0) > SigDT().fit(TWO).tree_.p_value(0)
    assert SigDT().fit([["same"]] * 20).n_clusters_ == 1


def test_declared_categories_that_never_occur_do_not_count():
    frame = pd.DataFrame(TWO, columns=["one", "two", "three"])
    declared = frame.assign(one=pd.Categorical(frame["one"], categories=["b", "a", "never"]))
    assert SigDT().fit(declared).tree_.p_value(0) == SigDT().fit(frame).tree_.p_value(0)


def test_p_values_smaller_than_any_number_are_said_by_their_exponent():
    rows = [["a"] * 400] * 50 + [["b"] * 400] * 50
    model = SigDT().fit(rows)
    assert "e-1591" in str(model.tree_).splitlines()[0]
    assert model.tree_.p_value(0) == 0


def test_the_chance_of_significant_tests_is_the_binomial_tail():
    tails = np.exp(SplitTest(np.zeros(6, int), np.arange(6), 0.01, 6, 6).log_tails)
    assert tails[0] == pytest.approx(1)
    assert tails[4] == pytest.approx(1.4761e-07, rel=1e-4)


def test_a_level_that_is_no_chance_is_refused():
    with pytest.raises(ParameterError, match="between 0 and 1"):
        SigDT(alpha=1).fit(TWO)
    with pytest.raises(ParameterError, match="alpha"):
        SigDT(alpha="low").fit(TWO)
