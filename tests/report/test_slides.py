"""Slides, Markdown and charts of a model."""

from __future__ import annotations

import io
import sys

import pandas as pd
import pytest

import catalpa
from catalpa.errors import MissingDependency
from catalpa.report import markdown, slides
from catalpa.report.chart_files import FILES, chart_files
from catalpa.report.findings import findings

pptx = pytest.importorskip("pptx")


@pytest.fixture(scope="module")
def table():
    """Two groups of 60 with a number, and two columns that take no part."""
    half = 60
    return pd.DataFrame(
        {
            "drink": ["tea|x"] * half + ["coffee"] * half,
            "milk": ["yes"] * half + ["no"] * half,
            "age": [20.5 + at % 7 for at in range(half)] + [60.5 + at % 9 for at in range(half)],
            "party": (["red"] * 50 + ["blue"] * 10) + (["red"] * 10 + ["blue"] * 50),
            "pay": [1000.5 + at for at in range(half)] + [3000.5 + at for at in range(half)],
        }
    )


@pytest.fixture(scope="module")
def model(table):
    fitted = catalpa.Grove(2, random_state=0).fit(table[["drink", "milk", "age"]])
    tea = int(fitted.labels_[0])
    return fitted.name_clusters({tea: "tea people", 1 - tea: "coffee people"})


@pytest.fixture(scope="module")
def deck(model, table):
    made = slides(model, table, against=["party", "pay"], title="Drinks")
    return pptx.Presentation(io.BytesIO(made.to_bytes()))


def charts_of(deck):
    return [shape.chart for slide in deck.slides for shape in slide.shapes if shape.has_chart]


def titles_of(deck):
    return [slide.shapes.title.text_frame.text for slide in deck.slides]


def test_there_is_a_slide_for_every_cluster_and_column(deck):
    titles = titles_of(deck)
    assert titles[0] == "Drinks"
    assert set(titles[2:4]) == {"Tea people: 50 % (60 rows)", "Coffee people: 50 % (60 rows)"}
    assert titles[4:] == ["party in the clusters", "Mean pay in the clusters"]


def test_the_first_slide_has_the_verdict(deck, model):
    texts = [shape.text_frame.text for shape in deck.slides[0].shapes if shape.has_text_frame]
    assert model.verdict_.sentence in texts


def test_charts_are_native_and_hold_their_numbers(deck, table):
    sizes, *clusters, party, pay = charts_of(deck)
    assert list(sizes.plots[0].series[0].values) == [0.5, 0.5]
    assert all(
        sorted(one.name for one in chart.series) == ["elsewhere", "in this cluster"] for chart in clusters
    )
    shares = {one.name: list(one.values) for one in party.series}
    assert sorted(shares["red"]) == pytest.approx([10 / 60, 0.5, 50 / 60])
    assert list(party.plots[0].categories)[-1] == "all rows"
    assert sorted(pay.series[0].values)[0] == pytest.approx(table["pay"][:60].mean())


def test_a_column_of_many_categories_has_the_rarer_ones_in_one_part(model, table):
    frame = table.assign(street=[f"street {at % 20}" for at in range(len(table))])
    made = slides(model, frame, against="street").to_bytes()
    *_, street = charts_of(pptx.Presentation(io.BytesIO(made)))
    names = [one.name for one in street.series]
    assert len(names) == 8
    assert names[-1] == "(other)"
    totals = [sum(values) for values in zip(*(one.values for one in street.series), strict=True)]
    assert totals == pytest.approx([1.0, 1.0, 1.0])


def test_markdown_reads_and_marks(model, table, tmp_path):
    path = tmp_path / "drinks.md"
    markdown(model, table, against=["party", "pay"], title="Drinks *now*").save(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Drinks \\*now\\*\n")
    assert "## Tea people: 50 % (60 rows)" in text
    assert "| drink = tea\\|x |" in text
    assert "83 % ▲" in text
    assert "## By pay" in text
    tables = [line for line in text.splitlines() if line.startswith("| drink")]
    assert tables[0].replace("\\|", "").count("|") == 5


def test_charts_are_files_of_both_formats(model, table):
    pytest.importorskip("vl_convert")
    made = dict(chart_files(findings(model, table)))
    assert {"sizes.svg", "sizes.png", "profiles.svg", "numbers.svg", "map.png"} <= set(made)
    assert set(made) <= set(FILES)
    assert made["sizes.svg"].startswith(b"<svg")
    assert made["sizes.png"].startswith(b"\x89PNG")


def test_a_missing_package_is_named(model, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pptx", None)
    with pytest.raises(MissingDependency, match=r'pip install "catalpa\[office\]"'):
        slides(model, table)
