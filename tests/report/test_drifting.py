"""A new table beside the fitted one: what changed is named, what did not is not."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import catalpa
from catalpa.estimator.problem import fitted_of
from catalpa.report.drift_page import chi_square, t_test
from catalpa.report.table_counts import TableCounts, read_part, read_table


def made(rows: int, seed: int, red: float = 0.5, mean: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "colour": np.where(rng.random(rows) < red, "red", "blue"),
            "size": rng.choice(["s", "m", "l"], rows),
            "age": rng.normal(mean, 2.0, rows),
        }
    )


@pytest.fixture(scope="module")
def model() -> catalpa.Grove:
    return catalpa.Grove(2, random_state=0).fit(made(2000, 0))


def test_more_of_the_same_has_not_changed(model: catalpa.Grove) -> None:
    found = catalpa.drift(model, made(1500, 1))
    assert [one["column"] for one in found.summary["columns"] if one["changed"]] == []
    assert found.summary["rows"] == 1500
    assert found.summary["rows_at_fit"] == 2000


def test_a_category_that_rose_is_named_with_its_shares(model: catalpa.Grove) -> None:
    found = catalpa.drift(model, made(1500, 1, red=0.7))
    first = found.summary["columns"][0]
    assert (first["column"], first["changed"], first["rose"]["category"]) == ("colour", True, "red")
    assert first["distance"] == pytest.approx(0.2, abs=0.04)
    assert "colour" in repr(found)
    assert "red: 5" in found.html


def test_a_column_says_the_same_things_whether_it_changed_or_not(model: catalpa.Grove) -> None:
    columns = catalpa.drift(model, made(1500, 1, red=0.7)).summary["columns"]
    assert {one["changed"] for one in columns} == {True, False}
    common = {
        "column",
        "kind",
        "distance",
        "p_value",
        "changed",
        "missing_at_fit",
        "missing",
        "absent",
        "problem",
    }
    of_kind = {
        "categories": {"rose", "fell", "unseen", "new"},
        "numbers": {"mean_at_fit", "mean", "sd_at_fit", "sd", "shift"},
    }
    for kind, own in of_kind.items():
        told = [one.keys() for one in columns if one["kind"] == kind]
        assert told
        assert all(keys == common | own for keys in told)


def test_weights_of_new_rows_count(model: catalpa.Grove) -> None:
    table = made(1500, 1)
    weights = np.where(table["colour"] == "red", 3.0, 1.0)
    for given in (weights, weights / weights.sum()):  # chance is a matter of rows, whatever weights add up to
        found = catalpa.drift(model, table, sample_weight=given)
        first = found.summary["columns"][0]
        share = weights[table["colour"] == "red"].sum() / weights.sum()
        assert (first["column"], first["changed"], first["rose"]["category"]) == ("colour", True, "red")
        assert first["rose"]["share"] == pytest.approx(share, abs=1e-6)
    assert not any(one["changed"] for one in catalpa.drift(model, table).summary["columns"])


def test_names_of_clusters_stand_beside_their_numbers() -> None:
    named = catalpa.Grove(2, random_state=0).fit(made(200, 0)).name_clusters({1: "the <old>"})
    found = catalpa.drift(named, made(100, 1))
    assert [one["name"] for one in found.summary["clusters"]] == [None, "the <old>"]
    assert "<bdi>the &lt;old&gt;</bdi>" in found.html


def test_a_shift_of_a_number_is_in_standard_deviations(model: catalpa.Grove) -> None:
    found = catalpa.drift(model, made(1500, 1, mean=1.0))
    age = next(one for one in found.summary["columns"] if one["column"] == "age")
    assert age["changed"]
    assert age["shift"] == pytest.approx(0.5, abs=0.08)
    assert age["mean_at_fit"] == pytest.approx(made(2000, 0)["age"].mean(), abs=1e-3)


def test_a_new_category_is_a_change_and_is_named(model: catalpa.Grove) -> None:
    table = made(1500, 1)
    table.loc[:299, "colour"] = ["green"] * 200 + ["teal"] * 100
    found = catalpa.drift(model, table)
    colour = found.summary["columns"][0]
    assert found.changed == ["colour"]
    assert (colour["column"], colour["unseen"], colour["distance"]) == ("colour", 0.2, pytest.approx(0.2))
    assert [(one["category"], one["share"]) for one in colour["new"]] == [
        ("green", pytest.approx(200 / 1500)),
        ("teal", pytest.approx(100 / 1500)),
    ]
    assert found.summary["unseen"] == {"colour": 300}
    assert found.summary["missing"] == {}
    assert "300 cells of colour (20 %)" in found.html
    assert "green (13 %), teal (7 %)" in found.html


def test_new_missing_values_are_a_change_and_no_new_category(model: catalpa.Grove) -> None:
    table = made(1500, 1)
    table.loc[:149, "colour"] = None
    table.loc[100:399, "age"] = np.nan
    found = catalpa.drift(model, table)
    records = {one["column"]: one for one in found.summary["columns"]}
    assert sorted(found.changed) == ["age", "colour"]
    assert (records["colour"]["missing_at_fit"], records["colour"]["missing"]) == (0, pytest.approx(0.1))
    assert (records["age"]["missing_at_fit"], records["age"]["missing"]) == (0, pytest.approx(0.2))
    assert abs(records["age"]["shift"]) < 0.2
    assert found.summary["missing"] == {"colour": 150, "age": 300}
    assert found.summary["unseen"] == {}
    assert "10 % of the values of colour are missing" in found.html


@pytest.mark.parametrize("policy", ["category", "ignore", "error"])
def test_missing_values_are_compared_whatever_the_model_makes_of_them(policy: str) -> None:
    table, later = made(1000, 0), made(1000, 1)
    if policy != "error":
        table.loc[::5, "size"] = None
    later.loc[::2, "size"] = None
    found = catalpa.drift(catalpa.Grove(2, random_state=0, missing=policy).fit(table), later)
    size = found.summary["columns"][0]
    assert found.changed == ["size"]
    assert size["missing_at_fit"] == pytest.approx(0.2 if policy != "error" else 0)
    assert size["missing"] == pytest.approx(0.5)
    assert size["rose"] == {"category": "(missing)", "share_at_fit": size["missing_at_fit"], "share": 0.5}


def test_a_column_of_which_nothing_is_known_has_changed(model: catalpa.Grove) -> None:
    table = made(100, 1).assign(colour="green")
    with (
        pytest.warns(catalpa.errors.UnseenCategoryWarning),
        pytest.raises(catalpa.errors.UnseenCategories),
    ):
        model.predict(table)
    found = catalpa.drift(model, table)
    assert "colour" in found.changed
    assert found.summary["columns"][0]["distance"] == 1
    assert found.summary["unseen"] == {"colour": 100}


def test_a_column_that_is_not_there_has_changed_and_counts_as_missing(model: catalpa.Grove) -> None:
    table = made(500, 1).drop(columns=["colour", "age"]).assign(shop="north")
    found = catalpa.drift(model, table)
    records = {one["column"]: one for one in found.summary["columns"]}
    assert found.summary["absent"] == ["colour", "age"]
    assert found.summary["extra"] == ["shop"]
    assert [records[name]["absent"] for name in ("colour", "size", "age")] == [True, False, True]
    assert {"colour", "age"} <= set(found.changed)
    assert records["colour"]["missing"] == records["age"]["missing"] == 1
    assert records["age"]["shift"] is None
    assert found.summary["numbers"] == {"age": None}
    assert "colour is not in the table" in found.html
    assert "no numbers now" in found.html


def test_one_row_without_a_column_has_changed(model: catalpa.Grove) -> None:
    assert catalpa.drift(model, made(1, 1).drop(columns="size")).changed == ["size"]


def test_a_column_that_became_something_else_has_changed_and_says_what(model: catalpa.Grove) -> None:
    table = made(200, 1)
    table["size"] = [1, 2] * 100
    table["age"] = "old"
    found = catalpa.drift(model, table)
    problems = {one["column"]: one["problem"] for one in found.summary["columns"]}
    assert {"size", "age"} <= set(found.changed)
    assert "holds numbers now" in problems["size"]
    assert "held numbers at fit" in problems["age"]
    assert problems["colour"] is None
    assert "held numbers at fit" in found.html


def test_columns_are_matched_by_name_and_refused_if_none_is_there(model: catalpa.Grove) -> None:
    table = made(800, 1)
    turned = catalpa.drift(model, table[["age", "size", "colour"]])
    assert turned.summary == catalpa.drift(model, table).summary
    with pytest.raises(catalpa.errors.ColumnMismatch, match="none of the columns"):
        catalpa.drift(model, table.rename(columns=str.upper))
    with pytest.raises(catalpa.errors.ColumnMismatch, match="2 columns"):
        catalpa.drift(model, table[["colour", "size"]].to_numpy())


def test_rows_have_the_clusters_that_predict_gives_them(model: catalpa.Grove) -> None:
    table = made(700, 1, red=0.6)
    table.loc[::7, "colour"] = "green"
    table.loc[::5, "size"] = None
    table.loc[::3, "age"] = np.nan
    with pytest.warns(catalpa.errors.UnseenCategoryWarning):
        labels, probabilities = model.predict(table), model.predict_proba(table)
    found = catalpa.drift(model, table).summary
    shares = np.bincount(labels, minlength=2) / 700
    assert [one["share"] for one in found["clusters"]] == pytest.approx(shares.tolist())
    assert found["certainty"]["now"] == pytest.approx(probabilities.max(axis=1).mean())


def test_a_column_that_changed_in_one_cluster_only_is_listed_with_it() -> None:
    rng = np.random.default_rng(0)

    def table(flags: tuple[str, str]) -> pd.DataFrame:
        side = rng.integers(0, 2, 4000)
        base = {f"c{at}": np.where(side, "x", "y") for at in range(6)}
        kept = rng.random(4000) < 0.5
        return pd.DataFrame(
            base | {"flag": np.where(kept, *(np.where(side, one, two) for one, two in (flags, flags[::-1])))}
        )

    model = catalpa.Grove(2, random_state=0).fit(table(("u", "v")))
    other = table(("u", "v"))
    left = other["c0"] == "x"
    other.loc[left, "flag"] = rng.choice(["u", "v"], left.sum(), p=[0.9, 0.1])
    other.loc[~left, "flag"] = rng.choice(["u", "v"], (~left).sum(), p=[0.1, 0.9])
    found = catalpa.drift(model, other)
    assert found.changed == ["flag in cluster 0", "flag in cluster 1"]
    inside = found.summary["clusters"][0]["columns"]
    assert [one["column"] for one in inside] == ["flag"]
    assert inside[0]["distance"] == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_frame_has_every_cluster_column_and_pair(library: str) -> None:
    module = pytest.importorskip(library)
    table = module.DataFrame({name: cells.tolist() for name, cells in made(400, 0).items()})
    model = catalpa.Grove(2, random_state=0).fit(table)
    frame = catalpa.drift(model, table).to_frame()
    assert isinstance(frame, module.DataFrame)
    rows = [tuple(row) for row in frame[["cluster", "column", "kind"]].to_numpy().tolist()]
    told = {(None if one != one else one, None if two != two else two, three) for one, two, three in rows}
    kinds = {"colour": "categories", "size": "categories", "age": "numbers"}
    assert told == {
        *((cluster, None, "cluster") for cluster in (0, 1)),
        *((cluster, column, kind) for cluster in (None, 0, 1) for column, kind in kinds.items()),
    }
    assert len(rows) == len(told)
    assert not frame["changed"].any()


def test_the_summary_has_the_keys_that_are_documented(model: catalpa.Grove) -> None:
    found = catalpa.drift(model, made(300, 1))
    documented = re.findall(r"``(\w+)``", type(found).__doc__.partition("records")[0])
    assert set(found.summary) <= set(documented)
    assert set(found.summary["thresholds"]) <= set(documented)
    assert {"numbers", "missing", "unseen", "absent", "extra"} <= set(found.summary)


def test_counts_of_parts_add_up_to_those_of_the_table(model: catalpa.Grove) -> None:
    table = made(900, 1, red=0.6)
    table.loc[::7, "colour"] = "green"
    table.loc[::5, "age"] = np.nan
    whole = read_part(table, model, None, None)
    parts = read_part(table[:400], model, None, None) + read_part(table[400:], model, None, None)
    assert (parts.rows, parts.certainty) == (900, whole.certainty)
    for name in ("sizes", "by_place", "seen", "sums", "squares"):
        assert getattr(parts.counts, name).tolist() == getattr(whole.counts, name).tolist()
    assert (parts.unseen, parts.missing) == (whole.unseen, whole.missing)


def test_counts_of_the_fit_are_those_of_its_table() -> None:
    table = made(300, 0)
    table.loc[::5, "age"] = np.nan
    table.loc[::3, "size"] = None
    for policy in ("category", "ignore"):
        model = catalpa.Grove(2, random_state=0, missing=policy).fit(table)
        then, now = TableCounts.of_fit(fitted_of(model)), read_table(model, table).counts
        assert then.sizes.tolist() == now.sizes.tolist()
        for at, column in enumerate(model.schema_.categorical):
            assert then.groups(at, column).tolist() == now.groups(at, column).tolist()
        assert then.seen.tolist() == now.seen.tolist()
        for name in ("sums", "squares"):
            np.testing.assert_allclose(getattr(then, name), getattr(now, name), atol=1e-5)


def test_new_items_of_lists_are_a_change() -> None:
    tags = pd.DataFrame({"tags": [["a", "b"], ["a"], ["b"], ["b", "a"]] * 50, "c": list("xy") * 100})
    model = catalpa.KModes(2, random_state=0).fit(tags)
    later = tags.copy()
    later["tags"] = [[*items, "z"] if at % 4 == 0 else items for at, items in enumerate(tags["tags"])]
    found = catalpa.drift(model, later)
    assert found.changed == ["tags"]
    first = found.summary["columns"][0]
    assert (first["column"], first["kind"], first["unseen"], first["changed"]) == (
        "tags",
        "items",
        0.25,
        True,
    )
    assert first["p_value"] == pytest.approx(
        3 * stats.chi2_contingency([[200, 0], [150, 50]], correction=False).pvalue
    )
    assert "lists hold new items" in found.html


# Thresholds: the smallest change that counts, and the next smaller one. Tables are large enough for every
# change to be significant, so that the size alone decides.


def two_categories(rows: int, first: int) -> pd.DataFrame:
    return pd.DataFrame({"a": ["x"] * first + ["y"] * (rows - first), "b": ["u", "v"] * (rows // 2)})


@pytest.fixture(scope="module")
def large() -> catalpa.KModes:
    return catalpa.KModes(2, n_init=1, random_state=0).fit(two_categories(50_000, 25_000))


@pytest.mark.parametrize(("moved", "changed"), [(1000, True), (999, False)])
def test_two_percent_of_the_rows_are_a_change_of_a_column(
    large: catalpa.KModes, moved: int, changed: bool
) -> None:
    records = catalpa.drift(large, two_categories(50_000, 25_000 + moved)).summary["columns"]
    column = next(one for one in records if one["column"] == "a")
    assert column["p_value"] < 1e-6
    assert column["changed"] == changed


@pytest.mark.parametrize(("moved", "changed"), [(1000, True), (999, False)])
def test_two_percent_of_the_rows_are_a_change_of_a_cluster(moved: int, changed: bool) -> None:
    def table(first: int) -> pd.DataFrame:
        return pd.DataFrame(dict.fromkeys("abc", ["x"] * first + ["y"] * (50_000 - first)))

    model = catalpa.KModes(2, n_init=1, random_state=0).fit(table(25_000))
    clusters = catalpa.drift(model, table(25_000 + moved)).summary["clusters"]
    assert [one["changed"] for one in clusters] == [changed, changed]


@pytest.mark.parametrize(("empty", "changed"), [(1000, True), (999, False)])
def test_two_percent_of_missing_numbers_are_a_change(empty: int, changed: bool) -> None:
    table = two_categories(50_000, 25_000).assign(number=np.resize([1.5, 2.0, 2.5, 3.25], 50_000))
    model = catalpa.KPrototypes(2, n_init=1, random_state=0).fit(table)
    table.loc[: empty - 1, "number"] = np.nan
    assert ("number" in catalpa.drift(model, table).changed) == changed


@pytest.mark.parametrize(("shift", "changed"), [(0.2001, True), (0.1999, False)])
def test_a_fifth_of_a_standard_deviation_is_a_change_of_a_number(shift: float, changed: bool) -> None:
    rng = np.random.default_rng(0)
    table = two_categories(50_000, 25_000).assign(number=rng.normal(3.0, 2.0, 50_000))
    model = catalpa.KPrototypes(2, n_init=1, random_state=0).fit(table)
    table["number"] += shift * table["number"].std(ddof=0)
    found = catalpa.drift(model, table)
    record = next(one for one in found.summary["columns"] if one["column"] == "number")
    assert record["shift"] == pytest.approx(shift, abs=1e-5)
    assert record["changed"] == changed


def test_thresholds_are_parameters(large: catalpa.KModes) -> None:
    table = two_categories(50_000, 25_500)  # one percent
    assert catalpa.drift(large, table).changed == []
    assert "a" in catalpa.drift(large, table, min_change=0.01).changed
    assert catalpa.drift(large, table, min_change=0.0101).changed == []
    few = two_categories(200, 140)
    record = next(one for one in catalpa.drift(large, few).summary["columns"] if one["column"] == "a")
    for alpha, changed in ((record["p_value"] * 0.999, False), (record["p_value"] * 1.001, True)):
        assert ("a" in catalpa.drift(large, few, alpha=alpha).changed) == changed
    assert catalpa.drift(large, few, alpha=0.5).summary["thresholds"] == {
        "alpha": 0.5,
        "min_change": 0.02,
        "min_shift": 0.2,
    }


def test_a_shift_is_measured_against_the_threshold_given(model: catalpa.Grove) -> None:
    table = made(1500, 1, mean=1.0)  # half a standard deviation
    assert "age" in catalpa.drift(model, table, min_shift=0.4).changed
    assert "age" not in catalpa.drift(model, table, min_shift=0.6).changed


@pytest.mark.parametrize(
    "given", [{"alpha": -0.1}, {"alpha": 1.1}, {"min_change": "2 %"}, {"min_shift": -1}, {"min_change": True}]
)
def test_thresholds_that_make_no_sense_are_refused(model: catalpa.Grove, given: dict[str, object]) -> None:
    (name,) = given
    with pytest.raises(catalpa.errors.ParameterError, match=f"{name} is "):
        catalpa.drift(model, made(50, 1), **given)


# The tests themselves, beside those of SciPy.


def test_the_t_test_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.normal(0, 2, 40), rng.normal(1, 3, 25)
    sizes, means = np.array([40, 25]), np.array([one.mean(), two.mean()])
    found = t_test(sizes, means, np.array([one.var(), two.var()]))
    assert found == pytest.approx(stats.ttest_ind(one, two).pvalue)
    assert t_test(np.array([5, 5]), np.array([1.0, 1.0]), np.zeros(2)) == 1
    assert t_test(np.array([5, 5]), np.array([1.0, 2.0]), np.zeros(2)) == 0
    assert t_test(np.array([1, 1]), np.array([1.0, 2.0]), np.zeros(2)) == 1


def test_the_p_value_of_a_number_is_the_t_test_times_the_number_of_tests(model: catalpa.Grove) -> None:
    before, after = made(2000, 0), made(300, 3)
    record = next(one for one in catalpa.drift(model, after).summary["columns"] if one["column"] == "age")
    p_value = stats.ttest_ind(before["age"], after["age"]).pvalue
    assert record["p_value"] == pytest.approx(min(4 * p_value, 1), rel=1e-3)  # two columns and twice a number


def test_rare_categories_are_pooled_for_the_chi_square_test() -> None:
    counts = np.array([[40.0, 60.0, 3.0, 0.0, 2.0], [45.0, 55.0, 0.0, 4.0, 1.0]])
    pooled = np.array([[40.0, 60.0, 5.0], [45.0, 55.0, 5.0]])
    expected = stats.chi2_contingency(pooled, correction=False).pvalue
    assert chi_square(counts) == pytest.approx(expected)
    kept = np.array([[40.0, 60.0, 10.0, 0.0], [45.0, 55.0, 0.0, 10.0]])  # an expected count of 5 is enough
    assert chi_square(kept) == pytest.approx(stats.chi2_contingency(kept, correction=False).pvalue)


def test_more_of_the_same_is_rarely_a_change() -> None:
    rng = np.random.default_rng(0)

    def table(rows: int) -> pd.DataFrame:
        return pd.DataFrame({f"c{at}": rng.choice(list("abcd"), rows) for at in range(5)})

    model = catalpa.KModes(3, n_init=1, random_state=0).fit(table(500))
    reports = sum(bool(catalpa.drift(model, table(300), min_change=0).changed) for _ in range(40))
    assert reports <= 4  # three families at one in a hundred: 1.2 expected


def test_clusters_that_grew_are_told_and_certainty_only_where_there_are_probabilities() -> None:
    table = pd.DataFrame({"a": list("xy") * 100, "b": list("uv") * 100})
    grown = pd.DataFrame({"a": list("xxxy") * 50, "b": list("uuuv") * 50})
    model = catalpa.KModes(2, random_state=0).fit(table)
    found = catalpa.drift(model, grown)
    assert sum(one["changed"] for one in found.summary["clusters"]) == 2
    assert found.summary["certainty"] is None
    soft = catalpa.drift(catalpa.Grove(2, random_state=0).fit(table), grown)
    assert soft.summary["certainty"]["now"] == pytest.approx(soft.summary["certainty"]["at_fit"], abs=0.01)
    assert "Mean membership probability" in soft.html


def test_a_column_that_is_all_one_cannot_change() -> None:
    table = pd.DataFrame({"a": list("xy") * 20, "b": ["u"] * 40, "c": [1.5] * 20 + [2.5] * 20})
    model = catalpa.KPrototypes(2, random_state=0).fit(table)
    found = catalpa.drift(model, table.assign(c=1.5))
    changed = {one["column"]: one["changed"] for one in found.summary["columns"]}
    assert changed == {"a": False, "b": False, "c": True}


def test_a_column_whose_cells_are_all_left_out_has_not_changed() -> None:
    frame = pd.DataFrame({"a": list("xy") * 20, "none": pd.Series([None] * 40, dtype=object)})
    with pytest.warns(catalpa.errors.ColumnWarning):
        model = catalpa.KModes(2, random_state=0, missing="ignore").fit(frame)
    assert catalpa.drift(model, frame).changed == []
    assert catalpa.drift(model, frame.assign(none="new")).changed == ["none"]


def test_clusters_have_the_chips_of_the_report() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(list("abcdef"), 300) for name in ("one", "two", "three")})
    model = catalpa.KModes(10, n_init=1, random_state=0).fit(table)
    drifted, reported = (
        re.findall(r'<span class="(chip[^"]*)" style="--c: (#\w+)">(\d)</span>', page)
        for page in (catalpa.drift(model, table).html, model.report(table).html)
    )
    assert [int(cluster) for _, _, cluster in drifted] == list(range(10))
    assert set(drifted) <= set(reported)
    assert drifted[1] == ("chip dark-ink", "#E69F00", "1")
    assert drifted[8][0] == "chip square"


def test_tables_that_scroll_can_be_reached_by_keys(model: catalpa.Grove) -> None:
    table = made(200, 1)
    pages = (
        catalpa.drift(model, table).html,
        catalpa.compare(model.predict(table), catalpa.Grove(3, random_state=0).fit(table), table).html,
    )
    for page, boxes in zip(pages, (3, 2), strict=True):
        assert page.count('<div class="scroll"') == boxes
        named = re.findall(r'<div class="scroll" tabindex="0" role="region" aria-label="([^"]+)">', page)
        assert len(set(named)) == boxes
