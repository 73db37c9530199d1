"""A declared order is kept in what is shown, used by the methods that can, and told of by the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa import plot

ANSWERS = ["never", "rarely", "sometimes", "often", "always"]


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 60)
    codes = np.clip(rng.poisson(1 + 2 * kinds), 0, 4)
    return pd.DataFrame(
        {
            "smokes": pd.Categorical.from_codes(codes, ANSWERS, ordered=True),
            "years": [str(year) for year in rng.choice([8, 9, 10, 12, 16], 120) + 0 * kinds],
            "group": np.array(["a", "b"])[kinds],
        }
    )


@pytest.mark.parametrize("method", [catalpa.Grove, catalpa.KModes])
def test_profiles_page_and_charts_keep_the_order(method, survey):
    model = method(2, random_state=0).fit(survey)
    profile = model.profiles_
    for cluster in (0, 1):
        own = profile[profile["cluster"] == cluster]
        assert own[own["column"] == "smokes"]["category"].tolist() == ANSWERS
        assert own[own["column"] == "years"]["category"].tolist() == ["8", "9", "10", "12", "16"]
    shown = {one["column"]: one["categories"] for one in model.report(survey).summary["profile"]}
    assert [row["category"] for row in shown["smokes"]] == ANSWERS
    assert [row["category"] for row in shown["years"]] == ["8", "9", "10", "12", "16"]
    drawn = plot.profile_map(model, ["smokes"]).to_json()
    places = [drawn.index(f'"category": "{answer}"') for answer in ANSWERS]
    assert places == sorted(places)


def test_a_method_that_uses_no_order_says_so_once(survey):
    told = [
        line for line in catalpa.KModes(2, random_state=0).fit(survey).schema_.decisions if "order" in line
    ]
    assert len(told) == 1
    assert told[0].startswith("KModes does not use the declared order of 'smokes'")
    for method in (catalpa.Grove, catalpa.HDC, catalpa.HARR):
        decisions = method(2, random_state=0).fit(survey).schema_.decisions
        assert not any("does not use" in line for line in decisions)
    plain = survey.drop(columns="smokes")
    assert not any("order" in line for line in catalpa.KModes(2, random_state=0).fit(plain).schema_.decisions)


def test_many_ordered_columns_are_counted():
    column = pd.Categorical(["a", "b", "c"] * 5, ordered=True)
    table = pd.DataFrame({f"q{at}": column for at in range(7)})
    (told,) = [
        line for line in catalpa.KModes(2, random_state=0).fit(table).schema_.decisions if "order" in line
    ]
    assert "'q4' and 2 more:" in told


def test_grove_uses_a_declared_order(survey):
    """Section 5 of its description: neighbours of what a cluster says are likelier there."""
    ordered = catalpa.Grove(2, random_state=0).fit(survey)
    as_text = survey.assign(smokes=survey["smokes"].astype(str))
    plain = catalpa.Grove(2, random_state=0).fit(as_text)
    assert not np.allclose(ordered.predict_proba(survey), plain.predict_proba(as_text))
    shuffled = survey["smokes"].cat.reorder_categories(["always", "never", "often", "rarely", "sometimes"])
    other = survey.assign(smokes=shuffled)
    wrong = catalpa.Grove(2, random_state=0).fit(other)
    assert not np.allclose(ordered.predict_proba(survey), wrong.predict_proba(other))
