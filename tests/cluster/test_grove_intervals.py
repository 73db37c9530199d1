"""Bootstrap intervals: known standard errors, the same for any threads, honest about weak clusters."""

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa import Grove
from catalpa.errors import ParameterError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    groups = rng.choice(2, 400, p=[0.7, 0.3])
    frame = pd.DataFrame({f"q{at}": np.array(list("ab"))[groups] for at in range(6)})
    frame["coin"] = np.array(list("hn"))[(rng.random(400) < np.where(groups == 0, 0.8, 0.4)).astype(int)]
    frame["size"] = rng.normal(groups * 1.0, 1.0)
    return frame


@pytest.fixture(scope="module")
def model(table):
    return Grove(2, ties=None, random_state=0).fit(table)


@pytest.fixture(scope="module")
def found(model, table):
    return model.intervals(table, n_boot=300)


def test_errors_of_certain_clusters_are_those_of_the_binomial(model, found):
    share = model.cluster_sizes_ / 400
    assert found.sizes["share"].tolist() == share.tolist()
    assert found.sizes["se"].tolist() == pytest.approx(np.sqrt(share * (1 - share) / 400).tolist(), rel=0.15)
    assert found.sizes["kept"].min() > 0.97
    coins = found.profiles.query("column == 'coin'")
    errors = np.sqrt(coins["share"] * (1 - coins["share"]) / coins["size"])
    assert coins["se"].tolist() == pytest.approx(errors.tolist(), rel=0.15)
    numbers = found.profiles.query("column == 'size'")
    assert len(numbers) == 2
    assert numbers["se"].tolist() == pytest.approx(
        (numbers["sd"] / np.sqrt(numbers["size"])).tolist(), rel=0.2
    )


def test_intervals_are_about_two_errors_wide_on_both_sides(found):
    sizes = found.sizes
    assert (sizes["low"] < sizes["share"]).all()
    assert (sizes["high"] > sizes["share"]).all()
    assert ((sizes["high"] - sizes["low"]) / sizes["se"]).tolist() == pytest.approx([3.9, 3.9], abs=0.5)
    numbers = found.profiles.query("column == 'size'")
    assert (numbers["low"] < numbers["mean"]).all()
    assert (numbers["high"] > numbers["mean"]).all()


def test_a_lower_level_is_narrower(table, model, found):
    narrow = model.intervals(table, n_boot=300, level=0.5).sizes
    assert (narrow["high"] - narrow["low"] < 0.6 * (found.sizes["high"] - found.sizes["low"])).all()


def test_the_same_seed_gives_the_same_for_any_threads(table, model):
    four = Grove(2, ties=None, random_state=0, n_jobs=4).fit(table)
    one, other = (each.intervals(table, n_boot=20).profiles for each in (model, four))
    assert one.equals(other)
    assert not model.intervals(table, n_boot=20, random_state=1).profiles.equals(one)


def test_the_profile_is_that_of_the_model_with_three_columns_more(model, found):
    columns = list(model.profiles_.columns)
    assert list(found.profiles.columns) == [*columns, "se", "low", "high"]
    assert found.profiles[columns].equals(model.profiles_)


def test_equal_weights_change_nothing(table, model):
    plain = model.intervals(table, n_boot=20).sizes
    weighted = model.intervals(table, n_boot=20, sample_weight=np.full(400, 2.0)).sizes
    assert weighted.drop(columns="kept").equals(plain.drop(columns="kept"))


def test_unequal_weights_make_errors_larger(table):
    weights = np.where(np.arange(400) % 10 == 0, 10.0, 0.5)
    model = Grove(2, ties=None, random_state=0).fit(table, sample_weight=weights)
    sizes = model.intervals(table, n_boot=100, sample_weight=weights).sizes
    share = sizes["share"]
    assert (sizes["se"] > 1.8 * np.sqrt(share * (1 - share) / 400)).all()


def test_a_larger_table_than_is_resampled_has_smaller_errors(table, model, monkeypatch):
    monkeypatch.setattr("catalpa.cluster.grove.intervals.BOOTSTRAP_ROWS", 100)
    sizes = model.intervals(table, n_boot=200).sizes
    share = sizes["share"]
    assert sizes["se"].tolist() == pytest.approx(np.sqrt(share * (1 - share) / 400).tolist(), rel=0.3)


def test_clusters_of_noise_are_hardly_kept():
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (300, 6)).astype(str)).add_prefix("q")
    with pytest.warns(catalpa.errors.NoStructureWarning):
        model = Grove(3, random_state=0).fit(rows)
    assert model.intervals(rows, n_boot=20).sizes["kept"].min() < 0.8


def test_names_and_tied_columns_and_files(table, tmp_path):
    copied = table.assign(again=table["coin"].str.upper())
    model = Grove(2, random_state=0).fit(copied).name_clusters({0: "first"})
    assert len(model.tied_columns_) > 0
    expected = model.intervals(copied, n_boot=10)
    assert expected.sizes["name"].fillna("").tolist() == ["first", ""]
    copied.to_parquet(tmp_path / "rows.parquet")
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json").intervals(
        catalpa.scan(tmp_path / "rows.parquet"), n_boot=10
    )
    assert again.sizes["se"].tolist() == expected.sizes["se"].tolist()


def test_wrong_settings_are_told(table, model):
    for wrong in ({"n_boot": 1}, {"level": 1.0}, {"level": 95}, {"random_state": None}):
        with pytest.raises(ParameterError):
            model.intervals(table, **wrong)
