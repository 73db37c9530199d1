"""A recipe outside Python: SQL does what it can and names what it cannot, ONNX takes prepared cells."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import SqlError

RECIPE = {
    "schema": {
        "missingValues": ["?"],
        "fields": [
            {"name": "id", "catalpa": {"role": "id"}},
            {"name": "size", "categories": ["small", "mid", "big"], "categoriesOrdered": True},
            {"name": "job", "missingValues": ["unknown"]},
            {"name": "days", "missingValues": [-1]},
            {"name": "soccer", "catalpa": {"empty": "no"}},
            {"name": "chess", "catalpa": {"empty": "no"}},
        ],
    }
}


def table():
    generator = np.random.default_rng(0)
    n = 200
    group = generator.integers(0, 2, n)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "size": np.array(["small", "mid", "big"])[np.minimum(group + generator.integers(0, 2, n), 2)],
            "job": np.where(generator.random(n) < 0.2, "unknown", np.array(["baker", "smith"])[group]),
            "kind": np.where(generator.random(n) < 0.1, "?", np.array(["a", "b"])[group]),
            "days": np.where(generator.random(n) < 0.2, -1, 100 * group + generator.integers(0, 90, n)),
            "soccer": np.where(generator.random(n) < 0.5, None, "Soccer"),
            "chess": np.where(generator.random(n) < 0.5, np.nan, 1.0),
        }
    )


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_a_query_labels_rows_as_predict_does(missing):
    rows = table()
    model = catalpa.Grove(2, random_state=0, recipe=RECIPE, missing=missing).fit(rows)
    query = model.to_sql(table="rows", keep=["id"])
    made = duckdb.sql(query).df().sort_values("id")
    assert np.array_equal(made["cluster"].to_numpy(), model.predict(rows))


def test_a_step_that_sql_cannot_do_is_named():
    rows = table().assign(price=[f"{at},5 €" for at in range(200)])
    fields = [*RECIPE["schema"]["fields"], {"name": "price", "type": "number", "decimalChar": ","}]
    model = catalpa.Grove(2, random_state=0, recipe={"schema": {"fields": fields}}).fit(rows)
    with pytest.raises(
        SqlError, match="does not support this step of the recipe: 'price' is read as numbers"
    ):
        model.to_sql()


def test_the_inputs_of_onnx_are_prepared():
    runtime = pytest.importorskip("onnxruntime")
    rows = table()
    model = catalpa.Grove(2, random_state=0, recipe=RECIPE).fit(rows)
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    (labels,) = session.run(["label"], model.onnx_inputs(rows))
    assert np.array_equal(labels, model.predict(rows))
