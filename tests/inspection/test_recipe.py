"""The recipe: written and read without loss, refused in clear words, and applied alike to every table."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import catalpa
from catalpa.errors import ParameterError, TableError, UnknownColumn, UnseenCategoryWarning
from catalpa.inspection.recipe import Recipe, read_recipe

FULL = {
    "dialect": {"delimiter": ";", "headerRows": [1, 2], "sheetName": "Data"},
    "schema": {
        "missingValues": ["", "-"],
        "fields": [
            {"name": "id", "type": "integer", "catalpa": {"role": "id"}},
            {
                "name": "Age",
                "type": "string",
                "title": "Age group",
                "categories": ["18-29", "30-44", "> 60"],
                "categoriesOrdered": True,
                "missingValues": [{"value": "-1", "label": "refused"}],
            },
            {"name": "price", "type": "number", "decimalChar": ",", "groupChar": ".", "bareNumber": False},
            {"name": "day", "type": "date", "format": "%d.%m.%Y"},
            {"name": "tools", "type": "list", "delimiter": ";", "catalpa": {"items": ["Python", "R"]}},
            {"name": "ticked", "catalpa": {"empty": "no"}},
            {
                "name": "answer",
                "type": "integer",
                "categories": [{"value": 1, "label": "Well"}, {"value": 2, "label": "Badly"}],
                "categoriesOrdered": True,
            },
        ],
    },
    "catalpa": {
        "weight": "w",
        "skipRows": [7],
        "blocks": [["a", "b", "c"], [["d", "e"], ["f"]]],
        "drop": ["city"],
        "proposed": {"sentinel": {"pdays": ["-1"]}},
    },
}


def rows():
    return pd.DataFrame(
        {
            "id": [11, 12, 13, 14],
            "Age": ["30-44", "18-29", "-1", "> 60"],
            "price": ["1.234,50 €", "2,25 €", None, "3,00 €"],
            "day": ["31.01.2024", "29.02.2024", "-", "01.03.2024"],
            "tools": ["Python;R", "R", None, "Python"],
            "ticked": ["Soccer", None, "Soccer", None],
            "answer": [1, 2, 2, 1],
            "city": ["a", "b", "a", "b"],
            "w": [1.0, 2.0, 1.0, 1.0],
            "other": ["x", "y", "x", "y"],
            "a": ["p", "q", "p", "q"],
            "b": ["p", "q", "p", "q"],
            "c": ["p", "q", "p", "q"],
        }
    )


def applied():
    return Recipe.from_dict({**FULL, "catalpa": {"drop": ["city"]}}).apply(rows())


@pytest.mark.parametrize("name", ["recipe.json", "recipe.toml"])
def test_a_recipe_is_written_and_read_without_loss(tmp_path, name):
    recipe = Recipe.from_dict(FULL)
    recipe.save(tmp_path / name)
    assert read_recipe(tmp_path / name) == recipe
    assert read_recipe(str(tmp_path / name)).to_dict() == recipe.to_dict()


def test_a_recipe_is_a_resource_descriptor_with_ours_under_one_key():
    made = Recipe.from_dict(FULL).to_dict()
    assert set(made) == {"dialect", "schema", "catalpa"}
    assert made["schema"]["fields"][1]["categories"] == ["18-29", "30-44", "> 60"]
    assert made["schema"]["fields"][1]["missingValues"] == [{"value": "-1", "label": "refused"}]
    assert made["schema"]["fields"][0]["catalpa"] == {"role": "id"}
    json.dumps(made)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"schma": {}}, "unknown key 'schma'. Did you mean 'schema'?"),
        ({"schema": {"fields": [{"nmae": "x"}]}}, "has no name"),
        ({"schema": {"fields": [{"name": "x", "role": "id"}]}}, "unknown key 'role'"),
        ({"schema": {"fields": [{"name": "x", "type": "dat"}]}}, "Did you mean 'date'?"),
        ({"schema": {"fields": [{"name": "x", "catalpa": {"role": "ids"}}]}}, "Did you mean 'id'?"),
        (
            {"schema": {"fields": [{"name": "x", "type": "date", "format": "%Q"}]}},
            "write it as strptime does",
        ),
        ({"schema": {"fields": [{"name": "x", "categories": ["a", "a"]}]}}, "contains 'a' twice"),
        ({"schema": {"fields": [{"name": "x"}, {"name": "x"}]}}, "several fields with the same name"),
        ({"schema": {"fields": [{"name": "x", "decimalChar": ";"}]}}, "it can be '.' or ','"),
        ({"catalpa": {"skipRows": ["7"]}}, "line numbers from 1"),
        ({"catalpa": {"drop": "city"}}, "must be a list of texts"),
        ({"catalpa": {"proposed": {"sentinl": {}}}}, "Did you mean 'sentinel'?"),
        ({"dialect": {"delimeter": ";"}}, "Did you mean 'delimiter'?"),
        ([], "must be an object"),
    ],
)
def test_what_a_recipe_cannot_mean_is_refused_in_clear_words(document, message):
    with pytest.raises(ParameterError) as raised:
        Recipe.from_dict(document)
    assert message in str(raised.value)


def test_a_recipe_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="There is no recipe file"):
        read_recipe(tmp_path / "none.json")
    (tmp_path / "odd.json").write_text("{")
    with pytest.raises(ParameterError, match="is not JSON"):
        read_recipe(tmp_path / "odd.json")
    (tmp_path / "odd.toml").write_text("[")
    with pytest.raises(ParameterError, match="is not TOML"):
        read_recipe(tmp_path / "odd.toml")
    with pytest.raises(ParameterError, match=r"give catalpa.look\(X\).recipe"):
        read_recipe(3)


def test_a_column_that_the_table_lacks_is_named_with_the_one_that_was_meant():
    recipe = Recipe.from_dict({"schema": {"fields": [{"name": "agee", "catalpa": {"role": "id"}}]}})
    with pytest.raises(UnknownColumn, match=r"the column 'agee'.*Did you mean 'age'"):
        recipe.apply(pd.DataFrame({"age": [1, 2]}))
    with pytest.raises(UnknownColumn, match="Did you mean 'age'"):
        catalpa.KModes(2, recipe=recipe).fit(pd.DataFrame({"age": ["a", "b"]}))


def test_every_part_of_a_recipe_is_applied():
    table = applied()
    assert list(table) == ["Age", "price", "day", "tools", "ticked", "answer", "w", "other", "a", "b", "c"]
    assert table["Age"].cat.ordered
    assert list(table["Age"].cat.categories) == ["18-29", "30-44", "> 60"]
    assert table["Age"].isna().tolist() == [False, False, True, False]
    assert table["price"].tolist()[:2] == [1234.5, 2.25]
    assert np.isnan(table["price"][2])
    assert [str(day) for day in table["day"]] == ["2024-01-31", "2024-02-29", "<NA>", "2024-03-01"]
    assert table["tools"].tolist()[0] == ["Python", "R"]
    assert table["ticked"].tolist() == ["Soccer", "no", "Soccer", "no"]
    assert table["answer"].tolist() == ["Well", "Badly", "Badly", "Well"]


def test_a_tick_box_says_yes_if_its_value_is_a_number_or_in_its_name():
    fields = [{"name": name, "catalpa": {"empty": "no"}} for name in ("Sports: Soccer", "sport", "chess")]
    table = pd.DataFrame({"Sports: Soccer": ["Soccer", None], "sport": ["Golf", None], "chess": [1.0, None]})
    ticked = Recipe.from_dict({"schema": {"fields": fields}}).apply(table)
    assert ticked.to_numpy().tolist() == [["yes", "Golf", "yes"], ["no", "no", "no"]]


@pytest.mark.parametrize("library", ["polars", "arrow", "pandas"])
def test_every_library_gives_the_same_clusters(library):
    table = pd.concat([rows()] * 10, ignore_index=True)
    same = {"polars": pl.from_pandas, "arrow": pa.Table.from_pandas, "pandas": lambda frame: frame}[library](
        table
    )
    recipe = {**FULL, "catalpa": {"drop": ["city", "w"]}}
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(same)
    other = catalpa.Grove(2, random_state=0).fit(Recipe.from_dict(recipe).apply(table))
    assert model.schema_.names == other.schema_.names
    assert np.array_equal(model.labels_, other.labels_)
    assert np.array_equal(model.predict(same), model.labels_)
    assert type(model.cluster_centers_).__module__.split(".")[0] == type(same).__module__.split(".")[0]


def test_batches_give_what_the_whole_table_gives(tmp_path):
    table = pd.concat([rows()] * 300, ignore_index=True)
    table.to_csv(tmp_path / "rows.csv", index=False)
    recipe = {**FULL, "catalpa": {"drop": ["city", "w"]}}
    scan = catalpa.scan(tmp_path / "rows.csv", memory=300_000)
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(scan)
    whole = catalpa.Grove(2, random_state=0, recipe=recipe).fit(table)
    assert model.schema_.names == whole.schema_.names
    assert np.array_equal(model.labels_, whole.labels_)
    assert np.array_equal(model.predict(scan), model.labels_)


def test_a_lazy_frame_is_prepared_as_it_is_read():
    table = pl.from_pandas(pd.concat([rows()] * 10, ignore_index=True))
    recipe = {**FULL, "catalpa": {"drop": ["city", "w"]}}
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(table.lazy())
    assert np.array_equal(model.labels_, catalpa.Grove(2, random_state=0, recipe=recipe).fit(table).labels_)


def test_an_array_is_matched_by_position():
    cells = np.array([["a", "?"], ["b", "x"], ["a", "x"], ["b", "y"]] * 5, dtype=object)
    recipe = {"schema": {"missingValues": ["?"]}, "catalpa": {"drop": ["x0"]}}
    model = catalpa.KModes(2, random_state=0, recipe=recipe).fit(cells)
    assert model.schema_.names == ("x1",)
    assert model.schema_.columns[0].categories == ("x", "y", None)
    assert np.array_equal(model.predict(cells), model.labels_)


def test_a_level_that_the_order_lacks_is_refused_at_fit_and_reported_at_predict():
    recipe = {
        "schema": {
            "fields": [{"name": "size", "categories": ["small", "mid", "big"], "categoriesOrdered": True}]
        }
    }
    table = pd.DataFrame({"size": ["small", "big", "mid"] * 5, "colour": ["red", "blue", "red"] * 5})
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(table)
    wider = table.assign(size=["huge", *table["size"][1:]])
    with pytest.raises(TableError, match="has 'huge', not in the recipe's order: small < mid < big"):
        catalpa.Grove(2, recipe=recipe).fit(wider)
    with pytest.warns(UnseenCategoryWarning, match="huge"):
        model.predict(wider)


def test_cells_that_cannot_be_read_are_reported():
    recipe = {"schema": {"fields": [{"name": "price", "type": "number", "decimalChar": ","}]}}
    table = pd.DataFrame({"price": ["1,5", "cheap", "2,5"], "colour": ["red", "blue", "red"]})
    with pytest.warns(UnseenCategoryWarning, match="not numbers, as its recipe requires, such as 'cheap'"):
        prepared = Recipe.from_dict(recipe).apply(table)
    assert prepared["price"].isna().tolist() == [False, True, False]


def test_the_recipe_stays_with_the_model(tmp_path):
    table = pd.concat([rows()] * 10, ignore_index=True)
    recipe = Recipe.from_dict({**FULL, "catalpa": {"drop": ["city", "w"]}})
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(table)
    model.save(tmp_path / "model.json")
    loaded = catalpa.load(tmp_path / "model.json")
    assert loaded.recipe_ == model.recipe_ == recipe
    assert np.array_equal(loaded.predict(table), model.labels_)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(table), model.labels_)
    assert model.scorer().predict_one(table.astype(object).iloc[0].to_dict()) == model.labels_[0]
    assert clone(model).recipe == recipe


def test_a_model_without_a_recipe_keeps_none(tmp_path):
    model = catalpa.KModes(2, random_state=0).fit([["a"], ["b"]])
    model.save(tmp_path / "model.json")
    assert "recipe" not in json.loads((tmp_path / "model.json").read_text())
    assert not hasattr(model, "recipe_")


def test_auto_looks_at_the_table():
    table = pd.DataFrame(
        {"id": np.arange(60) + 1, "colour": ["red", "blue", "red"] * 20, "shape": ["o", "x"] * 30}
    )
    model = catalpa.KModes(2, random_state=0, recipe="auto").fit(table)
    assert model.schema_.names == ("colour", "shape")
    assert model.recipe_["id"].role == "id"
    assert catalpa.choose_k(table, range(1, 3), method=model, repeats=0).k >= 1


def test_weights_of_a_recipe_weight_the_rows():
    table = pd.DataFrame({"colour": ["red", "red", "blue", "blue"] * 3, "w": [1.0, 3.0, 1.0, 1.0] * 3})
    recipe = {
        "schema": {"fields": [{"name": "w", "catalpa": {"role": "weight"}}]},
        "catalpa": {"weight": "w"},
    }
    model = catalpa.KModes(2, random_state=0, recipe=recipe).fit(table)
    assert sorted(model.cluster_sizes_.tolist()) == [6.0, 12.0]


def test_reports_and_drift_prepare_their_tables():
    table = pd.concat([rows()] * 20, ignore_index=True)
    recipe = {**FULL, "catalpa": {"drop": ["city", "w"]}}
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(table)
    summary = model.report(table).summary
    assert summary["table"]["rows"] == 80
    assert catalpa.drift(model, table).changed == []
    assert "price" in catalpa.drift(model, table.assign(price="9,00 €")).changed


def test_a_setting_that_is_no_recipe_is_refused():
    with pytest.raises(ParameterError, match="recipe of KModes must be None, 'auto'"):
        catalpa.KModes(2, recipe=3).fit([["a"], ["b"]])
