"""The start of the published runs: generator, random rows, and the authors' codes."""

import numpy as np
import pytest

from catalpa.datasets import list_datasets, load
from catalpa.errors import DatasetError, ParameterError
from catalpa.lab.as_published import (
    Matlab4Generator,
    category_order,
    coded,
    codes_of,
    distinct_rows,
    randperm_rows,
)

BUNDLED = [alias for alias, here in list_datasets()[["alias", "bundled"]].itertuples(index=False) if here]


def test_the_generator_gives_the_numbers_that_matlab_prints() -> None:
    generator = Matlab4Generator(1)
    assert [f"{generator.random():.4f}" for _ in range(5)] == [
        "0.5129",
        "0.4605",
        "0.3504",
        "0.0950",
        "0.4337",
    ]


@pytest.mark.parametrize("seed", [0, -3, 2**31 - 1])
def test_seeds_that_the_generator_cannot_take_are_refused(seed: int) -> None:
    with pytest.raises(ParameterError, match="old generator takes 1 to"):
        Matlab4Generator(seed)


def test_a_row_is_the_floor_of_n_times_a_draw() -> None:
    floats, whole = Matlab4Generator(267), Matlab4Generator(267)
    for n in [2, 101, 1728, 12960, 45211] * 200:
        assert whole.below(n) == int(np.floor(n * floats.random()))


def test_equal_rows_are_drawn_again_and_use_up_their_draw() -> None:
    # Seed 1 draws the positions 5, 4, 3, 0, 4 of ten.
    rows = np.arange(10).reshape(-1, 1)
    assert distinct_rows(Matlab4Generator(1), rows, 3).tolist() == [5, 4, 3]
    rows[4] = rows[5]
    generator = Matlab4Generator(1)
    assert distinct_rows(generator, rows, 3).tolist() == [5, 3, 0]
    assert generator.below(10) == 4


def test_more_starts_than_distinct_rows_are_refused() -> None:
    with pytest.raises(ParameterError, match="fewer than 3 distinct rows"):
        distinct_rows(Matlab4Generator(1), np.array([[1], [2], [1]]), 3)


def test_randperm_puts_the_last_position_where_one_was_taken() -> None:
    # Draws .5129 of 5, .4605 of 4, .3504 of 3, .0950 of 2, .4337 of 1.
    assert randperm_rows(Matlab4Generator(1), 5, 5).tolist() == [2, 1, 3, 0, 4]


def test_randperm_of_all_positions_is_a_permutation() -> None:
    assert sorted(randperm_rows(Matlab4Generator(70), 50, 50).tolist()) == list(range(50))


def test_more_positions_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(ParameterError, match="6 different positions"):
        randperm_rows(Matlab4Generator(1), 5, 6)


@pytest.mark.parametrize("alias", BUNDLED)
def test_the_order_of_codes_of_bundled_data_needs_no_folder(
    alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CATALPA_DATA", raising=False)
    data = load(alias)
    order = category_order(alias)
    table = coded(data)
    codes = codes_of(table)
    for at, name in enumerate(data.frame.columns):
        back = [order[name][code] for code in codes[:, at]]
        assert back == data.frame[name].astype("object").fillna("").tolist()


def test_a_missing_value_that_has_a_code_becomes_a_category() -> None:
    assert category_order("CV")["crime"][-1] == ""
    assert not coded(load("CV")).isna().any().any()


def test_a_category_without_a_code_is_refused() -> None:
    data = load("CA")
    with pytest.raises(DatasetError, match=r"'buying' lack the categories \['vhigh'\]"):
        coded(data, {**category_order("CA"), "buying": ["low", "med", "high"]})


def test_the_order_of_other_data_sets_is_asked_from_a_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setenv("CATALPA_DATA", str(tmp_path))
    monkeypatch.setenv("CATALPA_CACHE", str(tmp_path))
    with pytest.raises(DatasetError, match=r"not known for AP.*codes\.json"):
        category_order("AP")
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "codes.json").write_text('{"AP": {"cap-shape": {"x": 2, "b": 1}}}', "utf-8")
    assert category_order("AP") == {"cap-shape": ["b", "x"]}
