"""Cut, merged and split models: they are ordinary models, and hold what they were made of."""

import json

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa import Grove
from catalpa.errors import NoStructureWarning, ParameterError, UnknownCluster
from catalpa.metrics import adjusted_rand


def nested(n=60, seed=0):
    """Three broad groups, the first and second of two halves each, which differ in fewer columns."""
    rng = np.random.default_rng(seed)
    halves = np.repeat(np.arange(5), n)
    broad = np.array([0, 0, 1, 1, 2])[halves]
    own = np.concatenate(
        [np.repeat(broad[:, None], 8, axis=1), np.repeat(halves[:, None], 5, axis=1)], axis=1
    )
    codes = np.where(rng.random(own.shape) < 0.9, own, rng.integers(0, 5, own.shape))
    table = pd.DataFrame(np.array(list("abcde"))[codes], columns=[f"q{at}" for at in range(13)])
    return table, broad, halves


@pytest.fixture(scope="module")
def table():
    return nested()


@pytest.fixture(scope="module")
def model(table):
    return Grove(5, random_state=0).fit(table[0])


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(4), 80)
    frame = pd.DataFrame(
        {
            "kind": np.array(list("wxyz"))[np.where(rng.random(320) < 0.9, groups, rng.integers(0, 4, 320))],
            "size": rng.normal(groups * 5.0, 1.0),
            "place": np.array(list("nsew"))[np.where(rng.random(320) < 0.9, groups, rng.integers(0, 4, 320))],
        }
    )
    frame["copy"] = frame["place"].str.upper()
    frame.loc[::7, "size"] = np.nan
    return frame


def test_the_tree_nests_halves_in_broad_groups(table, model):
    rows, broad, _ = table
    assert adjusted_rand(broad, model.cut(3, rows).labels_) > 0.95


def test_a_cut_model_does_all_that_a_fitted_one_does(table, model, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    rows, _, _ = table
    cut = model.cut(3, rows)
    assert (cut.labels_ == cut.predict(rows)).all()
    assert (cut.labels_ == cut.predict_proba(rows).argmax(axis=1)).all()
    assert cut.cluster_sizes_.tolist() == np.bincount(cut.labels_).tolist()
    cut.save(tmp_path / "cut.json")
    again = catalpa.load(tmp_path / "cut.json")
    assert (again.predict(rows) == cut.labels_).all()
    assert again.tree_.losses.tolist() == cut.tree_.losses.tolist()
    connection = duckdb.connect()
    connection.register("rows", rows)
    found = connection.execute(cut.to_sql(table="rows", keep=[])).df()
    assert found["cluster"].tolist() == cut.labels_.tolist()
    assert cut.scorer().predict(rows).tolist() == cut.labels_.tolist()
    assert len(cut.reasons()) > 0


def test_onnx_of_a_cut_model_labels_as_predict(table, model):
    onnxruntime = pytest.importorskip("onnxruntime")
    rows, _, _ = table
    cut = model.cut(3)
    session = onnxruntime.InferenceSession(cut.to_onnx().SerializeToString())
    (labels,) = session.run(None, cut.onnx_inputs(rows))
    assert labels.tolist() == cut.predict(rows).tolist()


def test_a_cut_without_rows_gives_the_same_labels(table, model):
    rows, _, _ = table
    bare, with_rows = model.cut(3), model.cut(3, rows)
    assert (bare.predict(rows) == with_rows.labels_).all()
    assert not hasattr(bare, "labels_")
    assert np.isnan([bare.gain_, bare.evidence_, bare.certainty_]).all()
    assert bare.cluster_sizes_.sum() == len(rows)
    assert bare.density_low_ == pytest.approx(with_rows.density_low_, abs=0.6)
    assert bare.density_low_ != model.density_low_


def test_probabilities_are_near_the_sums_of_the_parts(table, model):
    rows, _, _ = table
    parts = model.predict_proba(rows)
    for k in (4, 3, 2):
        summed = np.stack([parts[:, list(group)].sum(axis=1) for group in model.tree_.groups(k)], axis=1)
        assert np.abs(model.cut(k).predict_proba(rows) - summed).mean() < 0.02


def test_figures_on_the_rows_are_those_of_a_fit(table, model):
    rows, _, _ = table
    same = model.cut(5, rows)
    assert same.gain_ == pytest.approx(model.gain_, rel=1e-3)
    assert same.evidence_ == pytest.approx(model.evidence_, rel=1e-3)
    assert same.certainty_ == pytest.approx(model.certainty_, abs=1e-3)
    assert same.density_high_ == pytest.approx(model.density_high_, abs=0.01)
    assert model.cut(2, rows).gain_ < model.cut(3, rows).gain_ < model.gain_ + 0.2


def test_the_model_that_was_cut_stays_as_it_is(table, model):
    rows, _, _ = table
    before = model.labels_.copy(), model.cost_, model.n_clusters_, model.get_params()["n_clusters"]
    model.cut(2, rows)
    assert (model.labels_ == before[0]).all()
    assert (model.cost_, model.n_clusters_, model.get_params()["n_clusters"]) == before[1:]


def test_mixed_tables_tied_columns_and_weights(mixed):
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.5], len(mixed))
    model = Grove(4, random_state=0).fit(mixed, sample_weight=weights)
    assert len(model.tied_columns_) >= 1
    cut = model.cut(2, mixed, sample_weight=weights)
    assert cut.cluster_sizes_.sum() == pytest.approx(weights.sum())
    assert cut.labels_.tolist() == model.cut(2).predict(mixed).tolist()
    assert np.isfinite(cut.gain_)
    numbers = cut.profiles_.query("column == 'size'")
    assert numbers["median"].notna().all()
    assert model.cut(2).profiles_.query("column == 'size'")["median"].isna().any()
    assert list(cut.tied_columns_["column"]) == list(model.tied_columns_["column"])


def test_weight_two_is_the_row_twice(table):
    rows, _, _ = table
    twice = Grove(4, random_state=0).fit(pd.concat([rows, rows], ignore_index=True))
    weighted = Grove(4, random_state=0).fit(rows, sample_weight=np.full(len(rows), 2.0))
    assert twice.tree_.losses.tolist() == pytest.approx(weighted.tree_.losses.tolist())
    assert twice.cut(2).predict(rows).tolist() == weighted.cut(2).predict(rows).tolist()


def test_chosen_clusters_are_merged_and_the_others_keep_their_names(table):
    rows, _, _ = table
    named = Grove(5, random_state=0).fit(rows)
    named.name_clusters({1: "one", 3: "three", 4: "four"})
    merged = named.merge([1, "four"], rows)
    assert merged.cluster_names_ == ["0", "one + four", "2", "three"]
    moved = np.array([0, 1, 2, 3, 1])[named.labels_]
    assert (merged.labels_ == moved).mean() > 0.97
    assert named.merge([0, 1]).cluster_names_ == ["0", "1", "three", "four"]
    for given in ([1], [1, 1], 3, "one", [], [1, 9], [1, True], [1, "nobody"]):
        with pytest.raises((ParameterError, UnknownCluster)):
            named.merge(given)


def test_a_name_that_has_become_the_number_of_another_cluster_goes(model):
    renamed = model.cut(5)
    renamed.name_clusters({0: "2", 2: "two"})
    assert renamed.merge([1, 2]).cluster_names_ == ["0", "1", "2", "3"]


def test_a_split_finds_the_halves_of_a_cluster(table):
    rows, _, halves = table
    coarse = Grove(3, ties=None, random_state=0).fit(rows)  # ties would stand for the halves
    for cluster in range(3):
        inside = halves[coarse.labels_ == cluster]
        if len(set(inside.tolist())) == 1 or np.bincount(inside).max() > 0.9 * len(inside):
            continue
        fine = coarse.split(cluster, rows)
        assert fine.n_clusters_ == 4
        assert fine.cluster_names_ == [
            f"{cluster}a" if at == cluster else f"{cluster}b" if at == 3 else str(at) for at in range(4)
        ]
        assert adjusted_rand(inside, fine.labels_[coarse.labels_ == cluster]) > 0.9
        assert fine.gain_ > coarse.gain_
        whole = fine.predict_proba(rows)[:, [cluster, 3]].sum(axis=1)
        assert np.abs(whole - coarse.predict_proba(rows)[:, cluster]).mean() < 0.02
        assert (fine.merge([cluster, 3], rows).labels_ == coarse.labels_).mean() > 0.99


def test_a_split_of_one_kind_of_rows_says_so():
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (400, 6)).astype(str)).add_prefix("q")
    model = Grove(1).fit(rows)
    with pytest.warns(NoStructureWarning):
        assert model.split(0, rows).n_clusters_ == 1


def test_a_split_model_of_named_clusters_is_saved(table, tmp_path):
    rows, _, _ = table
    model = Grove(3, random_state=0).fit(rows).name_clusters({0: "fish"})
    fine = model.split("fish", rows, 2)
    assert fine.cluster_names_ == ["fish a", "1", "2", "fish b"]
    fine.save(tmp_path / "fine.json")
    again = catalpa.load(tmp_path / "fine.json")
    assert again.cluster_names_ == fine.cluster_names_
    assert (again.predict(rows) == fine.labels_).all()
    assert json.loads((tmp_path / "fine.json").read_text())["names"] == {"0": "fish a", "3": "fish b"}


def test_labels_of_levels_do_not_depend_on_threads(table):
    rows, _, _ = table
    one, four = (Grove(4, random_state=0, n_jobs=jobs).fit(rows) for jobs in (1, 4))
    assert one.tree_.losses.tolist() == four.tree_.losses.tolist()
    assert (one.cut(2, rows).labels_ == four.cut(2, rows).labels_).all()
    assert (one.split(0, rows, 2).labels_ == four.split(0, rows, 2).labels_).all()


def test_wrong_arguments_are_told(table, model):
    rows, _, _ = table
    for k in (0, 6, "3", 2.5, None):
        with pytest.raises(ParameterError, match="k"):
            model.cut(k)
    with pytest.raises(UnknownCluster, match="0 to 4"):
        model.split(5, rows)
    with pytest.raises(ParameterError, match="n_clusters"):
        model.split(0, rows, 1)
    with pytest.raises(ParameterError, match="fewer"):
        model.split(0, rows, 100)


def test_cut_and_split_read_tables_that_are_not_in_memory(table, model, tmp_path):
    rows, _, _ = table
    rows.to_parquet(tmp_path / "rows.parquet")
    scan = catalpa.scan(tmp_path / "rows.parquet")
    assert list(model.cut(3, scan).labels_) == model.cut(3, rows).labels_.tolist()
    assert list(model.split(0, scan, 2).labels_) == model.split(0, rows, 2).labels_.tolist()
    with pytest.raises(ParameterError, match="not in memory"):
        model.cut(3, scan, sample_weight=np.ones(len(rows)))
