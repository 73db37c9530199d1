"""A row of weight 2 is told as two rows would be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import ParameterError
from catalpa.plot.category_map import category_map_of
from catalpa.plot.view import make_view

WEIGHTS = np.array([3, 1, 2, 1, 4, 2, 1, 1])


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "colour": ["red", "red", "red", "blue", "blue", "blue", "green", "blue"],
            "shape": ["round", "round", "oval", "square", "square", "oval", "square", None],
            "price": [1.0, 1.5, np.nan, 9.1, 8.5, 9.5, 7.5, 2.0],
        }
    )


def both(scale=1.0):
    """Reports of weighted rows and of the same rows repeated."""
    # Four times over, since a reason needs rows.
    frame, weights = pd.concat([table()] * 4, ignore_index=True), np.tile(WEIGHTS, 4)
    repeated = frame.loc[np.repeat(np.arange(32), weights)].reset_index(drop=True)
    model = catalpa.KPrototypes(2, random_state=0).fit(frame, sample_weight=weights * scale)
    twin = catalpa.KPrototypes(2, random_state=0).fit(repeated)
    return model.report(frame, sample_weight=weights * scale).summary, twin.report(repeated).summary


def told(cluster):
    return [(reason["kind"], reason["column"], reason.get("category")) for reason in cluster["reasons"]]


@pytest.mark.parametrize("scale", [1.0, 1 / 8, 1 / 128], ids=["whole", "fractional", "below-one-in-sum"])
def test_a_report_weighs_sizes_shares_means_and_reasons(scale):
    weighted, repeated = both(scale)
    by_size = [sorted(summary["clusters"], key=lambda one: one["size"]) for summary in (weighted, repeated)]
    for one, twin in zip(*by_size, strict=True):
        assert one["size"] == pytest.approx(scale * twin["size"], rel=1e-5)
        assert one["share"] == pytest.approx(twin["share"], rel=1e-5)
        # Not by their words: weights are counted in whole units, which may show in a last digit.
        assert told(one) == told(twin)
    for found, twin in zip(weighted["columns"], repeated["columns"], strict=True):
        assert found["column"] == twin["column"]
        if scale == 1.0:
            assert found["bits"] == pytest.approx(twin["bits"], rel=1e-5)
        else:  # of fewer rows, more is due to chance
            assert 0.9 * twin["bits"] < found["bits"] <= twin["bits"]
    for found, twin in zip(weighted["profile"], repeated["profile"], strict=True):
        assert [row["overall"] for row in found["categories"]] == pytest.approx(
            [row["overall"] for row in twin["categories"]], rel=1e-5
        )


def test_the_rows_of_a_weighted_fit_are_known_again_by_their_weights():
    frame, weights = table(), WEIGHTS / 3
    model = catalpa.KPrototypes(2, random_state=0).fit(frame, sample_weight=weights)
    weighted, plain = model.report(frame, sample_weight=weights), model.report(frame)
    assert weighted.summary["fit"]["same_table"]
    assert weighted.summary["table"]["weight"] == pytest.approx(5)
    assert any("count by their weights" in note for note in weighted.summary["fit"]["notes"])
    assert "weighted (sum of weights 5)" in weighted.html
    # Without the weights the page describes other rows than the fit's, and says which cure there is.
    assert not plain.summary["fit"]["same_table"]
    assert any("give sample_weight" in note for note in plain.summary["fit"]["notes"])


def test_a_map_of_categories_weighs_rows():
    frame, repeated = table(), table().loc[np.repeat(np.arange(8), WEIGHTS)].reset_index(drop=True)
    model = catalpa.KPrototypes(2, random_state=0).fit(frame, sample_weight=WEIGHTS)
    found = category_map_of(make_view(model, frame, sample_weight=WEIGHTS))
    assert found.coordinates == pytest.approx(category_map_of(make_view(model, repeated)).coordinates)
    assert catalpa.plot.category_map(model, frame, sample_weight=WEIGHTS) is not None


def test_weights_that_do_not_fit_the_rows_are_refused():
    model = catalpa.KPrototypes(2, random_state=0).fit(table())
    with pytest.raises(ParameterError, match="one weight per row"):
        model.report(table(), sample_weight=[1, 2])
