"""Frames of reasons and profiles show their text in full."""

import pandas as pd
import polars as pl
import pytest

from catalpa import KModes

QUESTION = "How often did you use public transport during the last twelve months?"
ROWS = [{QUESTION: "every working day", "ticket": "yearly"}] * 9 + [{QUESTION: "never", "ticket": "none"}] * 9


@pytest.fixture(scope="module")
def model():
    return KModes(2, random_state=0).fit(pd.DataFrame(ROWS))


def test_reasons_are_not_truncated_on_display(model):
    reasons = model.reasons()
    text = max(reasons["text"], key=len)
    assert len(text) > 60
    for shown in (reasons, reasons.head(4), reasons[["cluster", "text"]], reasons.sort_values("bits")):
        assert text in shown.to_string()
        assert text in shown._repr_html_()
    assert text in repr(reasons[["text"]])


def test_profiles_show_the_whole_question(model):
    assert QUESTION in model.profiles_._repr_html_()


def test_the_display_options_of_pandas_do_not_change(model):
    before = pd.get_option("display.max_colwidth")
    repr(model.reasons())
    assert pd.get_option("display.max_colwidth") == before


def test_frames_of_other_libraries_stay_as_they_are():
    reasons = KModes(2, random_state=0).fit(pl.DataFrame(ROWS)).reasons()
    assert type(reasons) is pl.DataFrame
