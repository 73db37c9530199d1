"""Explanations of rows: contributions that add up, cells that are odd, the same from every door."""

import json

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import ColumnMismatch, ParameterError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 80)
    colours = np.where(rng.random(240) < 0.93, groups, rng.integers(0, 3, 240))
    frame = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"])[colours],
            "shape": np.array(["round", "square", "flat"])[groups],
            "size": rng.normal(groups * 6.0, 1.0),
        }
    )
    frame["code"] = frame["colour"].str[0]
    frame.loc[::9, "size"] = np.nan
    return frame


@pytest.fixture(scope="module")
def model(table):
    return catalpa.Grove(3, random_state=0).fit(table)


def test_contributions_and_sizes_add_up_to_the_logarithm_of_the_odds(table, model):
    assert len(model.tied_columns_) == 1
    for at, found in enumerate(model.explain_rows(table)):
        assert found.cluster == model.labels_[at]
        summed = sum(cell.contribution for cell in found.cells) + found.sizes
        assert found.margin == pytest.approx(summed, abs=1e-9)
        if found.next_probability > 1e-9:
            assert found.margin == pytest.approx(np.log(found.probability / found.next_probability), abs=1e-6)
        assert sorted(cell.column for cell in found.cells) == sorted(table.columns)
        assert [c.contribution for c in found.cells] == sorted(
            (c.contribution for c in found.cells), reverse=True
        )


def test_the_next_best_is_the_second_most_probable(table, model):
    order = np.argsort(-model.predict_proba(table), axis=1)
    assert [found.next for found in model.explain_rows(table)] == order[:, 1].tolist()


def test_a_row_may_be_given_as_a_dict_a_table_or_cells(table, model):
    expected = model.explain_rows(table)[4]
    assert model.explain(table.iloc[4:5]) == expected
    assert model.explain(table.iloc[4].to_dict()) == expected
    assert model.scorer().explain(table.iloc[4].to_dict()) == expected
    unnamed = catalpa.KModes(2, random_state=0).fit([["a", "x"], ["b", "y"]] * 5)
    assert unnamed.explain(["a", "x"]) == unnamed.explain([["a", "x"]])
    with pytest.raises(ParameterError, match="explain_rows"):
        model.explain(table)
    with pytest.raises(ColumnMismatch):
        model.scorer().explain({"colour": "red"})


def test_a_loaded_model_explains_as_the_one_that_was_saved(table, model, tmp_path):
    named = model.cut(3).name_clusters({0: "first"})
    named.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.explain_rows(table[:20]) == named.explain_rows(table[:20])
    assert "first" in {found.name for found in again.explain_rows(table)}


def test_unusual_cells_are_named(table, model):
    row = table.iloc[10].to_dict() | {"colour": "blue", "code": "b", "size": 1.0}
    found = model.explain(row)
    assert found.cluster == model.labels_[10]
    assert {cell.column for cell in found.odd_cells} == {"colour", "code"}
    far = model.explain(table.iloc[10].to_dict() | {"size": 5.0})
    assert "size" in {cell.column for cell in far.odd_cells}
    assert "Unusual in" in str(far)
    assert "size = 5" in str(far)


def test_cells_that_fit_did_not_see_are_told(table, model):
    with pytest.warns(catalpa.errors.UnseenCategoryWarning):
        found = model.explain(table.iloc[10].to_dict() | {"colour": "pink", "size": None})
    cells = {cell.column: cell for cell in found.cells}
    assert (cells["colour"].text, cells["colour"].here, cells["colour"].odd) == (
        "(not seen at fit)",
        None,
        True,
    )
    assert (cells["size"].text, cells["size"].here, cells["size"].odd) == ("(missing)", None, False)


def test_figures_are_shares_and_means_of_both_clusters(table, model):
    found = model.explain(table.iloc[1].to_dict())
    cells = {cell.column: cell for cell in found.cells}
    own, other = (table[model.labels_ == cluster] for cluster in (found.cluster, found.next))
    assert cells["shape"].here == pytest.approx((own["shape"] == cells["shape"].text).mean())
    assert cells["shape"].there == pytest.approx((other["shape"] == cells["shape"].text).mean())
    assert cells["size"].here == pytest.approx(own["size"].mean(), abs=1e-3)
    assert (cells["size"].number, cells["shape"].number) == (True, False)


def test_hard_methods_explain_by_their_distances(table):
    categories = table[["colour", "shape", "code"]]
    model = catalpa.KModes(3, random_state=0).fit(categories)
    costs = np.sort(model.transform(categories), axis=1)
    for at, found in enumerate(model.explain_rows(categories)):
        assert found.margin == pytest.approx(costs[at, 1] - costs[at, 0])
        assert (found.probability, found.outlier_score, found.unit) == (None, None, "distance")
    assert "rather than" in str(model.explain(categories[:1]))


def test_a_single_cluster_has_no_next_best(table):
    found = catalpa.Grove(1).fit(table).explain(table[:1])
    assert (found.next, found.margin, found.sizes, found.next_name) == (None, None, None, None)
    assert all(cell.contribution is None for cell in found.cells)
    assert "the only one" in str(found)


def test_a_method_whose_labels_are_no_sum_says_so(table):
    categories = table[["colour", "shape"]]
    model = catalpa.MCDC(2, random_state=0).fit(categories)
    with pytest.raises(ParameterError, match="not a sum over columns"):
        model.explain(categories[:1])


def test_an_explanation_is_json(model, table):
    found = model.explain(table[:1])
    document = json.loads(json.dumps(found.to_dict()))
    assert document["cluster"] == found.cluster
    assert document["cells"][0]["column"] == found.cells[0].column
    assert len(document["cells"]) == 4
