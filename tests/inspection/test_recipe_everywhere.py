"""A recipe is applied once, wherever the rows are: functions give what they give of the prepared table."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.engines import every_function
from tests.engines.every_function import FUNCTIONS, counted, sampling, values
from tests.engines.test_every_function import _plain
from tests.engines.test_weight_column import KINDS

import catalpa
from catalpa.errors import TableError, UnknownColumn, UnsupportedTable
from catalpa.inspection.apply import Preparation
from catalpa.inspection.recipe import Recipe
from catalpa.report.findings import findings

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::catalpa.errors.LopsidedClustersWarning"),
    pytest.mark.filterwarnings("ignore::catalpa.errors.UnseenCategoryWarning"),
]
RECIPE = Recipe.from_dict(
    {
        "schema": {
            "missingValues": ["", "?"],
            "fields": [
                {"name": "id", "catalpa": {"role": "id"}},
                {"name": "q2", "categories": ["d", "c", "b", "a"], "categoriesOrdered": True},
                {"name": "price", "type": "number", "decimalChar": ","},
                {"name": "city", "catalpa": {"role": "show"}},
                {"name": "w", "catalpa": {"role": "weight"}},
            ],
        },
        "catalpa": {"weight": "w"},
    }
)
EVERY_TABLE = ["predict", "predict_proba", "transform", "score", "report", "category_map", "drift", "compare"]
PAGES = ["plot.row_map", "plot.number_boxes", "plot.silhouettes", "explore"]
ELSEWHERE = ["streamed", "lazy", "duckdb", "dask"]


@cache
def raw() -> pd.DataFrame:
    """The rows of the other tests as a survey writes them: prices as text, a code for missing values."""
    frame, rng = every_function.rows(), np.random.default_rng(7)
    return frame.assign(
        id=np.arange(len(frame)),
        q1=frame["q1"].fillna("?"),
        price=[f"{price:.3f}".replace(".", ",") for price in frame["price"]],
        city=rng.choice(["Oslo", "?", "Rome"], len(frame)),
        w=rng.integers(0, 4, len(frame)) * 0.5,
    )[["id", "q0", "w", "q1", "price", "q2", "city", "q3"]]


@cache
def models() -> tuple[Any, Any]:
    """A model with the recipe, and one that has none and knows two of the columns."""
    with_recipe = catalpa.Grove(3, random_state=0, n_init=1, recipe=RECIPE).fit(raw())
    return with_recipe, catalpa.KModes(3, random_state=0, recipe=Recipe(drop=("id", "w", "price"))).fit(raw())


@cache
def known(name: str) -> Any:
    return result(name, raw())


def result(name: str, X: Any) -> Any:
    with sampling([]):
        return FUNCTIONS[name](*models(), X)


@pytest.mark.parametrize("name", ["predict", "predict_proba", "transform", "score", "drift", "report"])
def test_the_recipe_is_applied_once_in_memory(name):
    """A model without a recipe, fitted to the prepared table, gives the same of the prepared table."""
    prepared = RECIPE.apply(raw())
    plain = catalpa.Grove(3, random_state=0, n_init=1).fit(prepared, sample_weight=raw()["w"])
    assert plain.labels_.tolist() == models()[0].labels_.tolist()
    expected = FUNCTIONS[name](plain, plain, prepared)
    np.testing.assert_equal(_plain(known(name)), _plain(expected))


@pytest.mark.parametrize("name", ["predict", "drift", "report"])
def test_cells_of_a_table_are_read_once(name, monkeypatch):
    prepared, prepare = [], Preparation._column

    def noted(self, field, library, source):
        prepared.append(field.name)
        return prepare(self, field, library, source)

    model, table = models()[0], raw()
    monkeypatch.setattr(Preparation, "_column", noted)
    {"predict": model.predict, "drift": partial(catalpa.drift, model), "report": model.report}[name](table)
    assert sorted(prepared) == ["price", "q0", "q1", "q2", "q3"]


@pytest.mark.parametrize("name", EVERY_TABLE)
@pytest.mark.parametrize("kind", ELSEWHERE)
def test_functions_on_tables_elsewhere_give_the_results_of_memory(kind, name, request):
    found = result(name, KINDS[kind](raw(), request))
    np.testing.assert_equal(_plain(found), _plain(known(name)))


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("kind", ["pandas", "streamed"])
def test_pages_and_charts_are_made(kind, name, request):
    assert result(name, KINDS[kind](raw(), request))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", *ELSEWHERE])
def test_fits_weigh_by_the_column_that_the_recipe_names(kind, request):
    table = KINDS[kind](raw(), request)
    model, known_model = catalpa.Grove(3, random_state=0, n_init=1, recipe=RECIPE).fit(table), models()[0]
    assert model.schema_.names == ("q0", "q1", "price", "q2", "q3")
    assert list(model.labels_) == known_model.labels_.tolist()
    assert model.cluster_sizes_.tolist() == known_model.cluster_sizes_.tolist()
    assert float(model.cluster_sizes_.sum()) == raw()["w"].sum()
    assert values(model.predict(table)) == known_model.labels_.tolist()


def test_a_model_file_keeps_the_recipe_and_the_name_of_the_weights(tmp_path):
    models()[0].save(tmp_path / "model.json")
    loaded = catalpa.load(tmp_path / "model.json")
    assert (loaded._fitted.weight_column, loaded.recipe_) == ("w", RECIPE)
    assert loaded.predict(raw()).tolist() == models()[0].labels_.tolist()
    assert loaded.predict(raw().drop(columns=["w", "id", "city"])).tolist() == models()[0].labels_.tolist()


@pytest.mark.parametrize("kind", ["pandas", *ELSEWHERE])
def test_weights_are_named_beside_a_recipe(kind, request):
    """Also if the recipe leaves their column out."""
    model, table = models()[0], KINDS[kind](raw(), request)
    plain = raw().drop(columns="w")
    with sampling([]):
        summary = model.report(table, sample_weight="w", against="city").summary
        expected = model.report(plain, sample_weight=raw()["w"], against="city").summary
        drifted = catalpa.drift(model, table, sample_weight="w").summary
    np.testing.assert_equal(_plain(counted(summary)), _plain(counted(expected)))
    assert summary["against"]["categories"] == ["?", "Oslo", "Rome"]  # a column beside is as it came
    assert _plain(summary["against"]["counts"]) == _plain(expected["against"]["counts"])
    assert _plain(drifted["clusters"]) == _plain(
        catalpa.drift(model, plain, sample_weight=raw()["w"]).summary["clusters"]
    )
    with sampling([]):
        crossing = catalpa.compare(model, "city", table, sample_weight="w").crosstab
    assert crossing.counts.sum() == raw()["w"].sum()


@pytest.mark.parametrize("recipe", [RECIPE, "auto"])
@pytest.mark.parametrize("kind", ["pandas", "streamed", "dask"])
def test_choose_k_prepares_the_table(kind, recipe, request):
    frame, weights = raw(), raw()["w"]
    if recipe == "auto":
        frame, weights = frame.drop(columns="w"), None
    applied = catalpa.look(frame).recipe if recipe == "auto" else recipe
    plain, method = (catalpa.Grove(random_state=0, n_init=1, recipe=one) for one in (None, recipe))
    prepared = applied.apply(frame)
    expected = catalpa.choose_k(prepared, [2, 3], method=plain, repeats=0, sample_weight=weights)
    with sampling([]):
        found = catalpa.choose_k(KINDS[kind](frame, request), [2, 3], method=method, repeats=0)
    assert found.k == expected.k
    assert found.table["cost"].tolist() == pytest.approx(expected.table["cost"].tolist())


def test_choose_k_refuses_a_table_without_a_column_of_the_recipe():
    with pytest.raises(UnknownColumn, match="names the column 'price'"):
        catalpa.choose_k(raw().drop(columns="price"), [2], method=catalpa.Grove(recipe=RECIPE))


def test_a_table_on_a_cluster_is_looked_at(request):
    frame = raw().drop(columns="w")
    model = catalpa.KModes(3, random_state=0, recipe="auto").fit(KINDS["dask"](frame, request))
    assert model.recipe_ == catalpa.look(frame).recipe


def test_a_value_that_an_order_lacks_is_refused_where_the_rows_are(request):
    table = raw().assign(q2=["e", *raw()["q2"][1:]])
    with pytest.raises(TableError, match="not in the recipe's order"):
        catalpa.KModes(3, recipe=RECIPE).fit(KINDS["dask"](table, request))


def test_office_files_take_only_tables_in_hand(request):
    found = findings(models()[0], raw(), ["city"], "w")
    assert found.view.row_labels.tolist() == models()[0].labels_.tolist()
    assert found.crossings[0]["categories"] == ["?", "Oslo", "Rome"]
    assert "w" in found.table.columns
    with sampling([]), pytest.raises(UnsupportedTable, match="lists every row, and the 900 rows"):
        findings(models()[0], KINDS["streamed"](raw(), request))
