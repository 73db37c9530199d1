"""A report shows the intervals that it is given."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

import catalpa
from catalpa.datasets import make_categorical
from catalpa.errors import ParameterError

TABLE = make_categorical(200, columns=5, categories=3, clusters=2, noise=0.3, seed=0).frame.assign(
    size=[float(at % 7) for at in range(200)]
)


@pytest.fixture(scope="module")
def model():
    return catalpa.Grove(2, random_state=0).fit(TABLE)


@pytest.fixture(scope="module")
def intervals(model):
    return model.intervals(TABLE, n_boot=10, level=0.8)


def test_intervals_stand_beside_sizes_and_shares(model, intervals):
    report = model.report(TABLE, intervals=intervals)
    assert report.summary["intervals"] == {"level": 0.8, "n_boot": 10}
    sizes = [one["interval"] for one in report.summary["clusters"]]
    assert sizes == intervals.sizes[["low", "high"]].values.tolist()
    known = intervals.profiles.dropna(subset="category").set_index(["cluster", "column", "category"])
    shown = 0
    for column in report.summary["profile"]:
        for row in column["categories"]:
            for cluster, bounds in enumerate(row["intervals"]):
                expected = known.loc[(cluster, column["column"], row["category"])]
                assert bounds == [expected["low"], expected["high"]]
                shown += 1
    assert "80 % intervals from 10 resamples" in report.html
    assert len(re.findall('<small class="range">', report.html)) == shown > 0


def test_a_report_without_intervals_shows_none(model):
    report = model.report(TABLE)
    assert "intervals" not in report.summary
    assert 'class="range"' not in report.html


def test_other_things_than_intervals_of_this_model_are_refused(model, intervals):
    with pytest.raises(ParameterError, match=r"give what Grove.intervals\(X\) returns"):
        model.report(TABLE, intervals=200)
    fewer = replace(intervals, sizes=pd.DataFrame(intervals.sizes.head(1)))
    with pytest.raises(ParameterError, match="of 1 clusters, but the model has 2"):
        model.report(TABLE, intervals=fewer)
