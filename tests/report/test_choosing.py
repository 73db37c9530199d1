"""The choice of k as a page: why this number, how clusters split, and every measure."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

import catalpa
from catalpa.explain.crosstab import crosstab
from catalpa.report.choice_page import HEIGHT, TOP, alluvial

QUICK = catalpa.Grove(n_init=1, prior=1.0, sizes="equal")


@pytest.fixture(scope="module")
def choice(zoo):
    return catalpa.choose_k(zoo, range(1, 5), method=QUICK, repeats=2, random_state=0)


@pytest.fixture(scope="module")
def page(choice):
    return choice.report(title="<b>Animals</b>")


def test_the_page_says_which_number_to_take_and_shows_every_measure(page, choice):
    assert choice.verdict.sentence in page.html
    assert choice.reason in page.html
    assert f"Levels of detail: {choice.levels_in_words}." in page.html
    assert "&lt;b&gt;Animals&lt;/b&gt;" in page.html
    assert page.html.count('<tr class="chosen">') == 2  # all measures, and the criteria
    for line in choice.records:
        assert f"{line['bic']:,.1f}" in page.html
    assert "BIC = -2 ln L + p ln n" in page.html
    assert "Agreement of samples and starts" in page.html
    assert "What each additional cluster adds" in page.html
    assert repr(page) == "ChoiceReport(4 clusters of 1 to 4; .save('choice.html') writes the page)"


def test_the_page_needs_no_network_and_no_script(page):
    assert "default-src 'none'" in page.html
    assert "<script" not in page.html
    assert all(place == "data:," for place in re.findall(r'(?:src|href)="([^"]*)"', page.html))


def test_the_summary_is_json_without_nan(page, tmp_path):
    page.save(tmp_path / "choice.json")
    told = json.loads((tmp_path / "choice.json").read_text(encoding="utf-8"))
    assert told["table"][0]["entropy"] is None
    assert [split["more"] for split in told["splits"]] == [2, 3, 4]
    assert (
        sum(source["rows"] for source in told["splits"][0]["new"][0]["from"])
        == (told["splits"][0]["new"][0]["rows"])
    )


def test_a_single_number_has_no_picture_of_splits_and_no_agreement(zoo):
    html = catalpa.choose_k(zoo, [2], method="kmodes", repeats=0, random_state=0).report().html
    assert "How do clusters split" not in html
    assert "Agreement of samples and starts" not in html
    assert "which KModes does not have" in html


def test_a_table_without_structure_is_called_so():
    rows = [[left, right] for left in "ab" for right in "xy"] * 20
    html = catalpa.choose_k(rows, [1, 2], method=QUICK, repeats=0, random_state=0).report().html
    assert "No cluster structure found" in html


def test_clusters_keep_their_colour_and_a_new_one_gets_its_own():
    before, after = np.array([0] * 6 + [1] * 4), np.array([1] * 6 + [0] * 3 + [2])
    drawn = alluvial([crosstab(before, after, (2, 3))])
    assert [one["strand"] for one in drawn["columns"][1]["clusters"]] == [1, 0, 2]
    assert [(one["source"], one["target"], one["rows"]) for one in drawn["ribbons"]] == [
        (0, 1, 6.0),
        (1, 0, 3.0),
        (1, 2, 1.0),
    ]


def test_boxes_stand_below_each_other_and_fill_the_picture(choice):
    drawn = alluvial(choice.crosstabs)
    for column in drawn["columns"]:
        boxes = sorted((one["y"], one["y"] + one["height"]) for one in column["clusters"])
        assert boxes[0][0] == TOP
        assert boxes[-1][1] <= TOP + HEIGHT + 1
        assert all(upper[1] < lower[0] for upper, lower in itertools.pairwise(boxes))
