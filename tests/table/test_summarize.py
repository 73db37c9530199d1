"""What batches of rows say of columns adds up, and what looks odd in text is found."""

from __future__ import annotations

import pandas as pd
import pytest

from catalpa.table import infer_batches
from catalpa.table.schema import TableSettings
from catalpa.table.summarize import digest, fractions_as_text, same_spelling

SETTINGS = TableSettings()


def test_the_values_of_two_batches_are_those_of_both():
    summed = digest([["a", 1.5]], SETTINGS) + digest([["b", 2.5]], SETTINGS)
    assert [sorted(summary.tally or ()) for summary in summed.summaries] == [
        [("text", "a"), ("text", "b")],
        [],
    ]


def test_texts_that_differ_in_capitals_and_spaces_only_are_found():
    (found,) = digest([["Plus"], ["plus "], ["basic"]], SETTINGS).summaries
    assert same_spelling(found) == ("Plus", "plus ")


def test_fractions_are_found_by_their_sign_where_all_texts_are_numbers():
    table = [["1,5", "a,5", "0,5"], ["2", "1,5", "1.234"]]
    found = [fractions_as_text(summary) for summary in digest(table, SETTINGS).summaries]
    assert found == [{",": "1,5"}, {}, {",": "0,5", ".": "1.234"}]


@pytest.mark.parametrize("first", [True, False])
def test_a_batch_may_declare_categories_and_another_not(first):
    batches = [pd.DataFrame({"c": pd.Categorical(["a", "b"])}), pd.DataFrame({"c": ["a", "c"]})]
    schema = infer_batches(batches if first else batches[::-1])
    assert schema.columns[0].categories == ("a", "b", "c")
