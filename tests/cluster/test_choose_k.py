"""Choosing the number of clusters: what is chosen, why, and in what form it is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from catalpa import Grove, KModes, KPrototypes, SigDT, choose_k
from catalpa.datasets import load, make_categorical
from catalpa.errors import ParameterError

PLANTED = make_categorical(400, columns=10, categories=4, clusters=3, noise=0.3, seed=0)
QUICK = Grove(n_init=1, prior=1.0, sizes="equal")  # where it does not matter how the search is made


def shuffled(frame):
    rng = np.random.default_rng(0)
    return frame.apply(lambda column: rng.permutation(column.to_numpy()))


METHODS = ["grove", "kmodes", KModes(n_init=2), Grove(prior=2.5), Grove(sizes="equal")]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_planted_clusters_are_found_and_the_reason_says_why(method):
    choice = choose_k(PLANTED.frame, range(1, 6), method=method, repeats=2, random_state=0)
    assert (choice.k, choice.structure, choice.verdict.level) == (3, True, "clear")
    assert choice.reason.startswith("3 ")
    assert choice.verdict.agreement == choice.table["agreement"][2] > 0.9


def test_evidence_does_not_depend_on_the_range_above_it_or_on_holes_in_it():
    wide = choose_k(PLANTED.frame, range(1, 6), repeats=0, random_state=0, method=QUICK).table
    narrow = choose_k(PLANTED.frame, [5, 2, 3], repeats=0, random_state=0, method=QUICK).table
    assert narrow["k"].tolist() == [2, 3, 5]
    assert narrow["cost"].tolist() == wide["cost"][[1, 2, 4]].tolist()
    assert narrow["gain"].tolist() == wide["gain"][[1, 2, 4]].tolist()


def test_the_gain_is_in_nats_per_row_and_agreement_is_complete_on_clear_clusters():
    table = choose_k(PLANTED.frame, [1, 3], repeats=2, random_state=0, method=QUICK).table
    assert table["gain"][1] == pytest.approx((table["cost"][0] - table["cost"][1]) / 400)
    assert table["restarts"][1] == 1.0
    assert table["agreement"][1] > 0.9
    assert table["adds"][1] == pytest.approx(table["gain"][1] / 2)
    assert table["silhouette"][1] > 0.2
    assert table[["restarts", "agreement", "adds", "silhouette"]].iloc[0].isna().all()


def test_shuffled_columns_have_no_structure():
    choice = choose_k(shuffled(PLANTED.frame), range(1, 5), repeats=0, random_state=0, method=QUICK)
    assert (choice.k, choice.structure) == (1, False)
    assert choice.levels == (1, 1, 1)
    assert "No cluster structure found" in str(choice)
    without_one = choose_k(shuffled(PLANTED.frame), range(2, 4), repeats=0, random_state=0, method=QUICK)
    assert not without_one.structure
    unstable = choose_k(shuffled(PLANTED.frame), range(1, 5), method="kmodes", repeats=2, random_state=0)
    assert not unstable.structure
    assert "do not agree" in unstable.verdict.sentence


def test_the_number_is_that_of_auto():
    zoo = load("zoo").frame
    method = Grove("auto", n_init=1, random_state=0)
    choice = choose_k(zoo, range(1, 21), method=method, repeats=0)
    model = method.fit(zoo)
    assert choice.k == model.n_clusters_
    assert choice.verdict == model.verdict_


def test_a_number_that_was_not_to_be_tried_is_not_taken():
    choice = choose_k(PLANTED.frame, [1, 2, 5], repeats=0, random_state=0, method=QUICK)
    assert choice.k == 2
    assert "3 clusters would be taken" in choice.reason
    assert choose_k(PLANTED.frame, [4, 5], repeats=0, random_state=0, method=QUICK).k == 4


def test_the_largest_number_tried_is_called_so_only_if_it_decides():
    four = make_categorical(400, columns=10, categories=4, clusters=4, noise=0.3, seed=0).frame
    choice = choose_k(four, range(1, 4), repeats=0, random_state=0, method=QUICK)
    assert choice.k == 3
    assert "the largest that was tried" in choice.reason
    more = choose_k(four, range(1, 6), repeats=0, random_state=0, method=QUICK)
    assert "tried" not in more.reason


def test_the_table_is_a_frame_of_the_users_library():
    rows = PLANTED.frame.astype("str")
    for make, kind in ((pl.from_pandas, pl.DataFrame), (pa.Table.from_pandas, pa.Table)):
        choice = choose_k(make(rows), [1, 2], repeats=1, random_state=0, method=QUICK)
        assert isinstance(choice.table, kind)
    listed = choose_k(rows.to_numpy().tolist(), [1, 2], repeats=1, random_state=0, method=QUICK)
    assert isinstance(listed.table, pd.DataFrame)
    array = choose_k(rows.to_numpy(), [1, 2], repeats=1, random_state=0, method=QUICK)
    pd.testing.assert_frame_equal(array.table, listed.table)


def test_text_and_page_tell_the_reason_and_every_number():
    choice = choose_k(PLANTED.frame, range(1, 4), repeats=0, random_state=0, method=QUICK)
    said = str(choice).splitlines()
    assert said[:3] == [choice.verdict.sentence, choice.reason, f"Levels: {choice.levels_in_words}."]
    assert len(said) == 8
    page = choice._repr_html_()
    assert page.count("<tr>") == 4
    assert "<th>3</th>" in page
    assert repr(choice) == "KChoice(k=3, verdict='clear')"


def test_mixed_tables_are_chosen_by_evidence_or_by_silhouette():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 300)
    frame = pd.DataFrame(
        {
            "height": rng.normal(5.0 * kinds, 0.5),
            "a": np.array(list("xyz"))[kinds],
            "b": np.array(list("uvw"))[kinds],
        }
    )
    assert choose_k(frame, range(1, 6), repeats=0, random_state=0, method=QUICK).k == 3
    prototypes = choose_k(frame, range(1, 6), method=KPrototypes(scale="zscore"), repeats=2, random_state=0)
    assert (prototypes.k, prototypes.structure) == (3, True)
    numbers = choose_k(frame[["height"]], range(1, 5), method="kprototypes", repeats=2, random_state=0)
    assert "3 has the largest silhouette" in numbers.reason


def test_a_silhouette_counts_the_numbers():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 200)
    frame = pd.DataFrame({"x": kinds * 100.0 + rng.normal(size=200), "noise": rng.choice(list("abcd"), 200)})
    choice = choose_k(frame, [3], method=KPrototypes(gamma=0.01), repeats=0, random_state=0)
    assert choice.table["silhouette"].iloc[0] > 0.25  # on the noise alone it is below 0


def test_without_repeats_stability_is_said_to_be_unknown():
    choice = choose_k(PLANTED.frame, [2, 3], method="kmodes", repeats=0, random_state=0)
    assert choice.verdict.level == "unchecked"
    alone = choose_k(PLANTED.frame, [1], method="kmodes", repeats=0, random_state=0)
    assert (alone.k, alone.structure) == (1, False)


def test_agreement_of_large_tables_is_measured_on_some_of_their_rows(monkeypatch):
    monkeypatch.setattr("catalpa.cluster.choose_k.fits.CHECK_ROWS", 200)
    choice = choose_k(PLANTED.frame, [3], repeats=2, random_state=0, method=QUICK)
    assert choice.table["agreement"][0] > 0.8


def test_criteria_are_those_of_the_fitted_mixture():
    frame = PLANTED.frame
    table = choose_k(frame, [1, 3], repeats=0, random_state=0, method=QUICK).table.set_index("k")
    model = Grove(3, n_init=1, prior=1.0, sizes="equal", random_state=0).fit(frame)
    probabilities = model.predict_proba(frame)
    likelihood, doubt = model.score_samples(frame).sum(), -(probabilities * np.log(probabilities)).sum()
    free = 3 * sum(frame[column].nunique() - 1 for column in frame)
    line = table.loc[3]
    assert line["parameters"] == free
    assert line["log_likelihood"] == pytest.approx(likelihood)
    assert line["aic"] == pytest.approx(-2 * likelihood + 2 * free)
    assert line["bic"] == pytest.approx(-2 * likelihood + free * np.log(400))
    assert line["icl"] == pytest.approx(line["bic"] + 2 * doubt)
    assert line["entropy"] == pytest.approx(1 - doubt / (400 * np.log(3)))
    assert table.loc[1, "icl"] == table.loc[1, "bic"]
    assert np.isnan(table.loc[1, "entropy"])


def test_parameters_count_free_sizes_normal_numbers_and_their_gaps():
    rng = np.random.default_rng(0)
    frame = PLANTED.frame.assign(x=rng.normal(size=400), y=rng.normal(size=400))
    frame.loc[frame.index[:100], "y"] = np.nan
    free = choose_k(
        frame, [2], repeats=0, random_state=0, method=Grove(n_init=1, prior=1.0, sizes="free", ties=None)
    )
    categories = sum(PLANTED.frame[column].nunique() - 1 for column in PLANTED.frame)
    assert free.table["parameters"].tolist() == [2 * (categories + 2 + 2 + 1) + 1]
    # One cluster is a normal distribution of each number, known up to a tenth of the variance.
    x = choose_k(frame[["x"]], [1], repeats=0, random_state=0, method=QUICK).table["log_likelihood"][0]
    assert x == pytest.approx(-200 * (np.log(2 * np.pi * 1.1) + 1), rel=0.001)


def test_methods_without_a_likelihood_have_no_criteria():
    choice = choose_k(PLANTED.frame, [2], repeats=0, random_state=0, method="kmodes")
    assert list(choice.table) == ["k", "cost", "gain", "adds", "agreement", "restarts", "silhouette"]


def test_crossings_tell_how_clusters_split():
    choice = choose_k(PLANTED.frame, [1, 3, 4], repeats=0, random_state=0, method=QUICK)
    assert [crossing.counts.shape for crossing in choice.crosstabs] == [(1, 3), (3, 4)]
    assert all(crossing.counts.sum() == 400 for crossing in choice.crosstabs)
    doubled = choose_k(
        PLANTED.frame, [1, 3], repeats=0, random_state=0, method=QUICK, sample_weight=np.full(400, 2.0)
    )
    assert doubled.crosstabs[0].counts.sum() == 800
    assert doubled.table["bic"].notna().all()


def test_numbers_above_the_distinct_rows_are_left_out():
    few = [["a", "x"]] * 9 + [["b", "y"]] * 9
    assert choose_k(few, range(1, 5), repeats=1, random_state=0, method=QUICK).table["k"].tolist() == [1, 2]
    assert choose_k(few, range(1, 5), method="kmodes", repeats=1, random_state=0).table["k"].tolist() == [
        1,
        2,
    ]
    with pytest.raises(ParameterError, match="fewer than 3 distinct rows"):
        choose_k(few, [3], repeats=0, random_state=0, method=QUICK)


def test_what_cannot_be_tried_is_refused_in_plain_words():
    with pytest.raises(ParameterError, match="k_range holds nothing"):
        choose_k([["a"], ["b"]], [])
    with pytest.raises(ParameterError, match=r"k_range holds \[0, 1\]"):
        choose_k([["a"], ["b"]], [0, 1])
    with pytest.raises(ParameterError, match="the table has only 2 rows"):
        choose_k([["a"], ["b"]], [3])
    with pytest.raises(ParameterError, match="SigDT determines the number of clusters itself"):
        choose_k([["a"], ["b"]], method=SigDT())


@pytest.mark.parametrize("method", [QUICK, KModes(n_init=1)], ids=str)
def test_a_row_of_weight_two_counts_as_two_rows(method):
    frame = PLANTED.frame.head(80)
    weights = np.where(np.arange(80) % 3 == 0, 2, 1)
    repeated = frame.loc[np.repeat(np.arange(80), weights)]
    found = choose_k(frame, [1, 3], method=method, repeats=0, random_state=0, sample_weight=weights)
    twin = choose_k(repeated, [1, 3], method=method, repeats=0, random_state=0)
    assert found.table["cost"][0] == pytest.approx(twin.table["cost"][0])
    assert found.table["gain"][1] == pytest.approx(twin.table["gain"][1], rel=0.05)
    again = choose_k(frame, [3], method=method, repeats=2, random_state=0, sample_weight=weights)
    assert again.table["agreement"].notna().all()


def test_a_large_table_is_measured_on_some_rows_with_their_weights(monkeypatch):
    monkeypatch.setattr("catalpa.cluster.choose_k.where.SAMPLE_ROWS", 200)
    ones = np.ones(len(PLANTED.frame))
    weighted = choose_k(PLANTED.frame, [3], method="kmodes", repeats=2, random_state=0, sample_weight=ones)
    plain = choose_k(PLANTED.frame, [3], method="kmodes", repeats=2, random_state=0)
    assert weighted.table.equals(plain.table)
