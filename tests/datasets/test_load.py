"""Data sets by name: bundled, from a folder, and what is said when they are not there."""

from __future__ import annotations

import gzip
import hashlib
from importlib.resources import files

import pandas as pd
import pytest

from catalpa.datasets import Dataset, list_datasets, load
from catalpa.datasets.registry import dataset_info, registry
from catalpa.errors import DatasetError, ParameterError

BUNDLED = ["zoo", "votes", "car", "dermatology", "teaching"]
ALIASES = {
    "car": "CA",
    "soybean": "SB",
    "nursery": "NU",
    "contraceptive": "CC",
    "amphibians": "AP",
    "dermatology": "DT",
    "auction": "AV",
    "obesity": "OB",
    "teaching": "TA",
    "bank": "BM",
    "votes": "CV",
    "zoo": "ZO",
}
NOWHERE = "http://127.0.0.1:9/"


def bundled_bytes(name: str) -> bytes:
    return files("catalpa.datasets").joinpath(f"files/{name}.csv").read_bytes()


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_files_are_the_canonical_ones(name):
    assert hashlib.sha256(bundled_bytes(name)).hexdigest() == dataset_info(name).sha256["paper"]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_have_the_known_size_and_classes(name):
    facts = dataset_info(name)
    data = load(name)
    assert data.frame.shape == (facts.rows, facts.columns)
    assert data.frame.columns.tolist() == list(dataset_info(name).recipe.keep)
    assert data.target.nunique() == data.n_clusters == facts.clusters
    assert data.frame.index.equals(data.target.index)
    assert all(isinstance(dtype, pd.CategoricalDtype) and not dtype.ordered for dtype in data.frame.dtypes)


def test_every_data_set_of_the_paper_is_known_by_name_and_alias():
    assert {facts.name: facts.alias for facts in registry().values()} == ALIASES


def test_an_alias_in_any_case_gives_the_same_rows():
    frame = load("zoo").frame
    assert all(load(name).frame.equals(frame) for name in ("ZO", "zo", "Zoo"))


def test_rows_keep_the_order_of_the_source():
    car = load("car")
    assert car.frame.iloc[0].tolist() == ["vhigh", "vhigh", "2", "2", "small", "low"]
    assert car.frame.iloc[-1].tolist() == ["low", "low", "5more", "more", "big", "high"]
    assert car.target.iloc[-1] == "vgood"
    assert load("zoo").target.iloc[:3].tolist() == ["mammal", "mammal", "fish"]


def test_missing_votes_stay_missing():
    votes = load("votes").frame
    assert int(votes.isna().sum().sum()) == 392
    assert set(votes.stack().dropna()) == {"y", "n"}


def test_a_data_set_says_where_it_comes_from():
    zoo = load("zoo")
    assert isinstance(zoo, Dataset)
    assert zoo.title == "Zoo"
    assert "Forsyth" in zoo.citation
    assert "10.24432/C5R59V" in zoo.citation
    assert "CC BY 4.0" in zoo.licence
    assert "Orange3" in zoo.source
    assert "Animals" in zoo.description
    assert repr(zoo) == "Dataset('zoo': 101 rows, 16 columns, 7 classes)"


@pytest.mark.parametrize("name", ["car", "nursery", "amphibians", "votes"])
def test_licences_that_were_not_confirmed_are_not_claimed(name):
    assert "CC BY" not in dataset_info(name).licence
    assert f"https://archive.ics.uci.edu/dataset/{dataset_info(name).uci_id}" in dataset_info(name).licence


def test_unknown_names_get_the_list_and_the_closest_one():
    with pytest.raises(ParameterError, match=r"'dermatolgy'\. Did you mean 'dermatology'\? .*zoo \(ZO\)"):
        load("dermatolgy")
    with pytest.raises(ParameterError, match=r"'iris'\. The data sets are"):
        load("iris")


def test_variants_that_do_not_exist_are_refused_with_those_that_do():
    with pytest.raises(ParameterError, match=r"zoo has no variant with numeric columns.*dermatology.*bank"):
        load("zoo", variant="mixed")
    with pytest.raises(ParameterError, match="variant='full' is not known"):
        load("zoo", variant="full")


def test_the_list_shows_sizes_and_what_is_available():
    table = list_datasets().set_index("name")
    assert table.loc["zoo", ["alias", "rows", "columns", "clusters"]].tolist() == ["ZO", 101, 16, 7]
    assert table.index[table["bundled"]].tolist() == BUNDLED
    assert table.index[table["available"]].tolist() == BUNDLED
    assert sorted(table.index[table["mixed"]]) == [
        "amphibians",
        "auction",
        "bank",
        "contraceptive",
        "dermatology",
    ]


def test_the_list_knows_files_in_a_folder(tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "BM.csv.gz").touch()
    table = list_datasets(data_home=tmp_path).set_index("name")
    assert table.index[table["available"]].tolist() == [*BUNDLED, "bank"]


@pytest.mark.parametrize("name", ["BM.csv", "BM.csv.gz"])
def test_a_file_in_the_folder_with_other_content_is_refused(tmp_path, name):
    (tmp_path / "paper").mkdir()
    content = b"job,class\nclerk,no\n"
    (tmp_path / "paper" / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(DatasetError, match=rf"checksum of .*{name} is not the expected one"):
        load("bank", data_home=tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match=r"data_home names .*absent, which is not a folder"):
        load("bank", data_home=tmp_path / "absent")
    monkeypatch.setenv("CATALPA_DATA", str(tmp_path / "gone"))
    with pytest.raises(DatasetError, match=r"CATALPA_DATA names .*gone, which is not a folder"):
        load("bank")


def test_without_file_and_network_the_error_says_what_to_do():
    with pytest.raises(DatasetError, match=r"'bank' is not bundled.*BM\.csv.*data_home=.*CATALPA_DATA"):
        load("bank", base_url=NOWHERE)


def test_bundled_sets_need_no_network():
    assert [len(load(name, base_url=NOWHERE).frame) for name in BUNDLED] == [101, 435, 1728, 358, 151]


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_a_data_folder_gives_all_tables(data_home, name):
    facts = dataset_info(name)
    data = load(name, data_home=data_home)
    assert data.frame.shape == (facts.rows, facts.columns)
    assert data.target.nunique() == facts.clusters


@pytest.mark.parametrize(
    ("name", "n_numbers"),
    [("amphibians", 2), ("auction", 1), ("bank", 7), ("contraceptive", 2), ("dermatology", 1)],
)
def test_mixed_variants_add_numeric_columns(data_home, name, n_numbers, monkeypatch):
    monkeypatch.setenv("CATALPA_DATA", str(data_home))
    mixed, categories = load(name, variant="mixed"), load(name)
    numbers = mixed.frame.select_dtypes("float64")
    assert numbers.columns.tolist() == list(dataset_info(name).recipe.numbers)
    assert numbers.shape[1] == n_numbers
    assert not numbers.isna().any(axis=None)
    assert mixed.frame.drop(columns=numbers.columns).equals(categories.frame)
    assert mixed.target.equals(categories.target)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_files_equal_those_of_the_data_folder(data_home, name):
    assert bundled_bytes(name) == (data_home / "paper" / f"{ALIASES[name]}.csv").read_bytes()
