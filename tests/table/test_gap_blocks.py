"""Missing policies by column, and columns whose missing values count once."""

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import MissingValues, ParameterError, TableError, UnknownColumn
from catalpa.table import encode, infer
from catalpa.table.blocks import IGNORED
from catalpa.table.schema import Schema

ANSWERS = pd.DataFrame(
    {
        "sex": ["f", "m", "f", "m"],
        "a": ["yes", None, "no", None],
        "b": [1.5, None, None, None],
        "c": ["x", None, "y", "x"],
    }
)
RECIPE = {"catalpa": {"blocks": [["a", "b"]]}}


def survey(n=300, block=("a", "b", "c"), share=0.25):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    skipped = rng.random(n) < share
    data = {"sex": np.where(group == 1, "f", "m")}
    for name in block:
        answer = np.where(rng.random(n) < 0.85, group, 1 - group).astype(str).astype(object)
        answer[skipped] = None
        data[name] = answer
    return pd.DataFrame(data), skipped


def test_a_policy_by_column_leaves_the_others_as_they_are():
    schema = infer(ANSWERS, missing={"a": "ignore"})
    sizes = {column.name: column.size for column in schema.categorical}
    assert sizes == {"sex": 2, "a": 2, "c": 3}  # without, and with, a category for what is missing
    codes = encode(ANSWERS, schema).rows.blocks[0].codes
    assert codes[:, 1].tolist() == [1, 2 + IGNORED, 0, 2 + IGNORED]
    assert codes[:, 2].tolist() == [0, 2, 1, 0]
    assert Schema.from_dict(schema.to_dict()) == schema


def test_a_policy_by_column_can_refuse_missing_values():
    assert infer(ANSWERS, missing={"sex": "error"}).missing == "category"
    with pytest.raises(MissingValues, match="'a' \\(2\\)"):
        infer(ANSWERS, missing={"a": "error"})
    schema = infer(ANSWERS.dropna(), missing={"c": "error"})
    with pytest.raises(MissingValues, match="'c'"):
        encode(ANSWERS, schema)


def test_a_policy_that_cannot_be_meant_is_refused():
    with pytest.raises(UnknownColumn, match="Did you mean 'sex'"):
        infer(ANSWERS, missing={"sexx": "ignore"})
    with pytest.raises(ParameterError, match="'skip'"):
        infer(ANSWERS, missing={"a": "skip"})
    with pytest.raises(ParameterError, match="missing"):
        catalpa.KModes(2, missing={"a": "skip"}).fit(ANSWERS[["sex", "a"]])


def test_grove_has_no_indicator_for_numbers_whose_missing_values_are_ignored():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=200), "y": rng.choice(["a", "b"], 200)})
    table.loc[::4, "x"] = np.nan
    own = catalpa.Grove(2, random_state=0, missing={"x": "ignore"}).fit(table)
    every = catalpa.Grove(2, random_state=0, missing="ignore").fit(table)
    assert own.evidence_ == every.evidence_
    assert own.evidence_ != catalpa.Grove(2, random_state=0).fit(table).evidence_


def test_a_block_is_one_column_in_place_of_its_missing_values():
    model = catalpa.Grove(2, random_state=0, recipe=RECIPE).fit(ANSWERS)
    assert model.schema_.names == ("sex", "a", "b", "c", "a and 1 more")
    assert model.schema_.inputs == ("sex", "a", "b", "c")
    codes = encode(ANSWERS, model.schema_).rows.blocks[0].codes
    assert codes[:, -1].tolist() == [0, 1, 0, 1]  # answered where any of the columns is
    assert [column.missing for column in model.schema_.columns] == [None, "ignore", "ignore", None, None]


def test_a_block_of_steps_says_how_far_a_row_came():
    recipe = {"catalpa": {"blocks": [[["a"], ["c"]]]}}
    model = catalpa.Grove(1, random_state=0, recipe=recipe).fit(ANSWERS)
    last = model.schema_.columns[-1]
    assert (last.name, last.kind, last.categories) == ("a to c: answered up to", "ordinal", ("a", "c", None))
    assert encode(ANSWERS, model.schema_).rows.blocks[0].codes[:, -1].tolist() == [1, 2, 1, 1]


def test_a_skipped_block_counts_once_without_a_model_of_ties():
    table, skipped = survey(block="abcdefgh", share=0.4)
    recipe = {"catalpa": {"blocks": [list("abcdefgh")]}}
    apart = catalpa.KModes(2, n_init=5, random_state=0).fit_predict(table)
    once = catalpa.KModes(2, n_init=5, random_state=0, recipe=recipe).fit_predict(table)

    def agreement(labels):  # of the rows that answered
        return pd.crosstab(labels[~skipped], table["sex"][~skipped]).max(axis=1).sum() / (~skipped).sum()

    # Eight missing values draw rows of one group to those that skipped; one does not.
    assert agreement(apart) < 0.95 < 0.98 < agreement(once)


def test_missing_answers_of_a_block_are_one_reason():
    table, skipped = survey()
    table["skipped"] = np.where(skipped, "x", "y")
    table = table.assign(s2=table["skipped"], s3=table["skipped"])  # so that the clusters are of skipped rows
    recipe = {"catalpa": {"blocks": [["a", "b", "c"]]}}

    def about_missing(model):
        reasons = model.fit(table).reasons(top=9)
        return int(reasons["text"].str.contains("missing|given").sum())

    assert about_missing(catalpa.KModes(2, n_init=5, random_state=0)) > 2
    assert about_missing(catalpa.KModes(2, n_init=5, random_state=0, recipe=recipe)) <= 2


@pytest.mark.parametrize("policy", ["ignore", {"a": "ignore", "b": "ignore"}])
def test_a_policy_of_ones_own_goes_before_a_block(policy):
    model = catalpa.Grove(1, random_state=0, recipe=RECIPE, missing=policy).fit(ANSWERS)
    assert "a and 1 more" not in model.schema_.names


def test_a_model_with_blocks_is_saved_predicts_and_describes_batches(tmp_path):
    table, _ = survey()
    path = tmp_path / "survey.csv"
    table.to_csv(path, index=False)
    recipe = {"catalpa": {"blocks": [["a", "b", "c"]]}}
    model = catalpa.Grove(2, random_state=0, recipe=recipe).fit(table)
    model.save(tmp_path / "model.json")
    again = catalpa.load(tmp_path / "model.json")
    assert again.schema_ == model.schema_
    assert np.array_equal(again.predict(table), model.labels_)
    assert np.array_equal(again.predict(table[:7]), model.labels_[:7])
    streamed = catalpa.Grove(2, random_state=0, recipe=recipe).fit(catalpa.scan(path))
    assert streamed.schema_.columns[-1] == model.schema_.columns[-1]
    assert not catalpa.drift(again, table).changed
    assert catalpa.drift(again, table.assign(a=None, b=None, c=None)).changed
    assert "a and 2 more" in model.report(table).html


def test_sql_asks_whether_a_block_was_answered():
    duckdb = pytest.importorskip("duckdb")
    table, _ = survey()
    model = catalpa.KModes(2, random_state=0, recipe={"catalpa": {"blocks": [["a", "b", "c"]]}}).fit(table)
    query = model.to_sql(table="survey_rows", keep=["sex"])
    with duckdb.connect() as connection:
        connection.register("survey_rows", table)
        labels = connection.execute(query).fetchnumpy()["cluster"]
    assert sorted(labels.tolist()) == sorted(model.labels_.tolist())


def test_a_block_is_refused_if_it_cannot_be_meant():
    for blocks in (["a", "b"], [[]], [[["a"], []]], [["a", "a"]]):
        with pytest.raises(ParameterError, match="blocks"):
            catalpa.KModes(2, recipe={"catalpa": {"blocks": blocks}}).fit(ANSWERS[["sex", "a"]])
    state = infer(ANSWERS).to_dict()
    state["columns"][0] |= {"origin": {"column": "a", "part": "answered", "item": None, "steps": [[]]}}
    with pytest.raises(TableError, match="steps"):
        Schema.from_dict(state)
