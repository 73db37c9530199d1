"""BIC, AIC and ICL of a fitted Grove: those of choose_k, weighted, from any engine."""

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa import Grove, choose_k, datasets


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    planted = datasets.make_categorical(300, columns=6, clusters=3, noise=0.2, seed=1)
    frame = planted.frame.copy()
    frame["size"] = rng.normal(np.asarray(planted.target) * 1.5, 1.0)
    frame.loc[::5, "size"] = np.nan
    return frame


def test_they_are_those_of_choose_k(table):
    model = Grove("auto", random_state=3).fit(table)
    choice = choose_k(table, [2, 3, 4], method=Grove(random_state=3), repeats=0, random_state=0)
    told = choice.table.set_index("k").loc[model.n_clusters_]
    for name in ("aic", "bic", "icl"):
        assert getattr(model, name)(table) == pytest.approx(told[name], rel=1e-12)


def test_the_criteria_by_hand():
    rows = [["a", "x"]] * 3 + [["b", "y"]] * 4 + [["a", "y"]]
    model = Grove(2, random_state=0, sizes="free").fit(rows)
    likelihood, probabilities = model.score_samples(rows).sum(), model.predict_proba(rows)
    parameters = 2 * (1 + 1) + 1
    entropy = -(probabilities * np.log(probabilities)).sum()
    assert model.aic(rows) == pytest.approx(-2 * likelihood + 2 * parameters)
    assert model.bic(rows) == pytest.approx(-2 * likelihood + parameters * np.log(8))
    assert model.icl(rows) == pytest.approx(model.bic(rows) + 2 * entropy)


def test_numbers_have_a_mean_and_a_variance_each_and_the_density_its_constant(table):
    model = Grove(3, random_state=0).fit(table)
    assert len(model.tied_columns_) == 0
    categories = sum(column.size - 1 for column in model.schema_.categorical)
    assert [column.name for column in model.schema_.numeric] == ["size"]
    # With a share of missing numbers, since a fifth is missing.
    parameters = 3 * (categories + 2 + 1) + (2 if model.sizes_ == "free" else 0)
    likelihood = model.score_samples(table).sum() - 0.5 * np.log(2 * np.pi) * table["size"].notna().sum()
    assert model.bic(table) == pytest.approx(-2 * likelihood + parameters * np.log(len(table)))


def test_weight_two_is_the_row_twice(table):
    model = Grove(3, random_state=0).fit(table)
    twice = pd.concat([table, table], ignore_index=True)
    for name in ("aic", "bic", "icl"):
        criterion = getattr(model, name)
        assert criterion(table, sample_weight=np.full(len(table), 2.0)) == pytest.approx(criterion(twice))
        halves = criterion(twice, sample_weight=np.full(len(twice), 0.5))
        assert halves == pytest.approx(criterion(table))


def test_files_and_saved_models_give_the_same(table, tmp_path):
    model = Grove(3, random_state=0).fit(table)
    table.to_parquet(tmp_path / "rows.parquet")
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.bic(catalpa.scan(tmp_path / "rows.parquet")) == pytest.approx(model.bic(table))
