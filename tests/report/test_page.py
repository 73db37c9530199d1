"""The page is one file that needs no network, and text from the data stays text."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.errors import MissingDependency, OutputError
from catalpa.report.document import needs_packages
from catalpa.report.report_page import script_json
from catalpa.report.summary import importance_text

ATTACK = "<script>window.hacked = true</script>"


@pytest.fixture(scope="module")
def attacked():
    table = pd.DataFrame({ATTACK: [ATTACK, "</script><b>", "b&b", '"quoted"'] * 5, "plain": ["x", "y"] * 10})
    model = catalpa.DISC(2, random_state=0).fit(table)
    return model.report(table, title=ATTACK).html


def test_the_page_asks_no_network_for_anything(report):
    places = re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)["']""", report.html)
    assert all(place.startswith(("#", "data:")) for place in places)
    assert "@import" not in report.html
    assert "default-src 'none'" in report.html


def test_the_page_is_small(report):
    assert len(report.html.encode()) < 4_000_000


def test_the_page_has_a_part_for_every_question(report):
    for part in ("clusters", "apart", "columns", "relations", "map", "rows", "fit", "reuse"):
        assert f'<section id="{part}">' in report.html
        assert f'href="#{part}"' in report.html


def test_a_method_without_relations_has_no_part_for_them(zoo):
    html = catalpa.KModes(3, random_state=0).fit(zoo).report(zoo).html
    assert '<section id="relations">' not in html
    assert 'href="#relations"' not in html


def test_a_table_of_numbers_alone_becomes_a_page_too():
    table = pd.DataFrame({"x": [0.5, 0.25, 9.5, 9.25] * 3, "y": [1.5, 1.25, 0.5, 0.25] * 3})
    html = catalpa.KPrototypes(2, random_state=0).fit(table).report(table).html
    assert "Silhouette" in html
    assert "x 9 below the rest (mean 0.375)" in html


def test_numbers_are_drawn_as_boxes_on_one_scale_and_gaps_are_told():
    price = [*np.linspace(0, 10, 11), *np.linspace(90, 100, 10), np.nan]
    table = pd.DataFrame({"kind": ["a"] * 11 + ["b"] * 11, "price": price, "same": [2.5] * 22})
    table["none"] = [1.5] * 11 + [np.nan] * 11
    model = catalpa.KPrototypes(2, random_state=0).fit(table)
    html = model.report(table).html
    assert re.search(r"<h4 title=.price.>price <small>0\.5 to 99\.5</small>", html)
    assert '<i style="left: 2.02%; width: 5.05%">' in html  # from 2.5 to 7.5 between 0.5 and 99.5
    assert "95 ± 3.19 · 2.0 sd above the rest · 9 % missing" in html
    assert "no numbers" in html
    assert '<u style="left: 50.0%">' in html  # a column that does not vary


def test_more_reasons_are_folded_away():
    columns = {f"q{at}": ["x"] * 20 + ["y"] * 20 for at in range(15)}
    table = pd.DataFrame(columns)
    model = catalpa.KModes(2, random_state=0).fit(table)
    report = model.report(table)
    first = report.summary["clusters"][0]
    assert (len(first["reasons"]), len(first["more_reasons"])) == (3, 10)
    assert "<summary>10 more reasons</summary>" in report.html


def test_long_names_break_after_underscores_and_stay_text():
    table = pd.DataFrame({"a_<b>": ["x"] * 3 + ["y"] * 3, "c": ["p"] * 3 + ["q"] * 3})
    html = catalpa.KModes(2, random_state=0).fit(table).report(table).html
    assert '<span class="name" title="a_&lt;b&gt;">a_<wbr>&lt;b&gt;</span>' in html


def test_very_long_names_are_cut_and_kept_whole_in_titles():
    column, category = "c" * 300, "k" * 300
    table = pd.DataFrame({column: [category] * 3 + ["y"] * 3})
    html = catalpa.KModes(2, random_state=0).fit(table).report(table).html
    shown = re.sub(r"<script.*?</script>|<[^>]*>", "", html, flags=re.DOTALL)
    assert f"{'c' * 44}\u2026{'c' * 15}" in shown
    assert "c" * 61 not in shown
    assert f'title="{column} = {category}"' in html


def test_one_row_is_not_called_rows():
    table = pd.DataFrame({"a": ["x"]})
    html = catalpa.KModes(1).fit(table).report(table).html
    assert "1 row, 1 column clustered with KModes" in html
    assert "1 pass, converged" in html
    assert not re.search(r"\b1 (rows|columns|clusters|passes)\b", html)


def test_a_tree_of_splits_is_on_the_page(zoo):
    html = catalpa.SigDT().fit(zoo).report(zoo).html
    part = html[html.index('<section id="splits">') : html.index('<section id="categories">')]
    assert 'href="#splits"' in html
    assert part.count("<li") == 11
    assert "<bdi>legs is 4</bdi>?" in part
    assert "legs is not 4 and toothed is 1 and hair is not 1" in part


def test_weights_are_on_the_page_for_every_column_and_cluster(zoo):
    html = catalpa.WOCIL(7, random_state=0).fit(zoo).report(zoo).html
    part = html[html.index('<section id="weights">') : html.index('<section id="map">')]
    assert 'href="#weights"' in html
    assert part.count("<td style") == 7 * 16


def test_of_many_weighed_columns_the_heaviest_are_shown():
    table = pd.DataFrame({f"c{at}": ["x", "y"] * 4 for at in range(33)})
    html = catalpa.WOCIL(2, random_state=0).fit(table).report(table).html
    assert "and 3 columns with less weight" in html


@pytest.mark.parametrize("part", ["splits", "weights"])
def test_a_method_without_splits_or_weights_has_no_part_for_them(report, part):
    assert f'<section id="{part}">' not in report.html
    assert f'href="#{part}"' not in report.html


@pytest.mark.parametrize("method", [catalpa.SigDT(), catalpa.WOCIL(2, random_state=0)])
def test_text_in_splits_and_weights_stays_text(method):
    table = pd.DataFrame({ATTACK: [ATTACK] * 20 + ["b"] * 20, "other": ["x"] * 20 + ["y"] * 20})
    html = method.fit(table).report(table).html
    assert ATTACK not in html
    assert html.count("<script") == 2


def test_a_cost_that_never_changes_is_not_drawn(zoo):
    html = catalpa.SigDT().fit(zoo).report(zoo).html
    assert "Cost after every pass" not in html


def test_every_reason_is_on_the_page_and_said_once(report):
    shown = re.sub(r"<script.*?</script>|<[^>]*>", "", report.html, flags=re.DOTALL)
    part = shown[shown.index("What is typical of each cluster?") : shown.index("Which columns matter?")]
    for one in report.summary["clusters"]:
        for reason in one["reasons"]:
            told = reason["text"].replace(" %", "\u00a0%")
            assert told in part
    assert 'class="why"' not in report.html


def test_text_from_the_data_is_escaped_everywhere(attacked):
    assert ATTACK not in attacked
    assert "</script><b>" not in attacked
    assert "&lt;script&gt;window.hacked" in attacked
    assert attacked.count("<script") == 2
    assert attacked.count("</script>") == 2


def test_the_script_reads_the_same_categories_that_the_table_has(attacked):
    text = re.search(r'id="report-data">(.*?)</script>', attacked, re.DOTALL)[1]
    data = json.loads(text)
    trees = [tree for of_cluster in data["relations"]["trees"] for tree in of_cluster]
    drawn = [row[0] for tree in trees for row in tree["rows"]]
    assert any(ATTACK in name for name in drawn)


def test_script_json_hides_what_could_end_the_script():
    assert not set("<>&") & set(script_json(["</script>", "<!--", "a&b"]))
    assert json.loads(script_json(["</script>", "\u2028"])) == ["</script>", "\u2028"]


def test_save_writes_the_page_or_the_summary(report, tmp_path):
    report.save(tmp_path / "report.html")
    report.save(tmp_path / "report.json")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["title"] == "Animals"


def test_a_place_that_cannot_be_written_is_said(report, tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        report.save(tmp_path / "nowhere" / "report.html")


def test_a_notebook_shows_the_page_in_a_frame(report):
    shown = report._repr_html_()
    assert shown.startswith("<iframe")
    assert "<section" not in shown
    assert repr(report) == "Report('Animals': 101 rows in 7 clusters; .save('report.html') writes the page)"


@pytest.mark.parametrize("package", ["altair", "jinja2", "vl_convert"])
def test_a_missing_package_is_named_with_the_command_to_run(package, model, zoo, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=r'pip install "catalpa\[report\]"'):
        _ = model.report(zoo).html


@pytest.mark.skipif(sys.platform == "win32", reason="limits of this kind are not for Windows")
def test_a_limit_that_would_end_the_drawing_program_is_said_before(model, zoo, monkeypatch):
    import resource

    limits = {resource.RLIMIT_AS: (8 << 30, 8 << 30)}
    monkeypatch.setattr(resource, "getrlimit", lambda what: limits[what])
    with pytest.raises(OutputError, match=r"64 GB of addresses.*may use only 8\.0 GB.*ulimit -v unlimited"):
        _ = model.report(zoo).html
    limits[resource.RLIMIT_AS] = (64 << 30, resource.RLIM_INFINITY)
    needs_packages()


@pytest.mark.parametrize(
    ("bits", "told"),
    [
        ([], "No column"),
        ([0.0, 0.0], "No column"),
        ([3.0, 1.0], "c0 alone carries half"),
        ([1.0, 1.0, 0.5, 0.0], "c0 and c1 carry half"),
        ([1.0] * 20, "10 of 20 columns"),
    ],
)
def test_the_columns_that_do_most_are_named(bits, told):
    columns = [{"column": f"c{at}", "bits": value} for at, value in enumerate(bits)]
    assert told in importance_text(columns)


def test_a_fitted_model_shows_a_card_in_notebooks(zoo):
    model = catalpa.KModes(14, random_state=0)
    assert ">typical<" not in model._repr_mimebundle_()["text/html"]
    model.fit(zoo)
    for shown in (model._repr_mimebundle_()["text/html"], model._repr_html_()):
        assert "KModes: 14 clusters, 2 not shown" in shown
        assert "sk-" in shown
    assert ">typical<" in model._repr_mimebundle_()["text/html"]


def test_the_card_is_not_shown_where_text_is_wanted(zoo):
    import sklearn

    model = catalpa.KModes(2, random_state=0).fit(zoo)
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_categories_on_the_card_stay_text():
    model = catalpa.KModes(2, random_state=0).fit([[ATTACK]] * 3 + [["b"]] * 3)
    assert ATTACK not in model._repr_mimebundle_()["text/html"]


def luminance(colour):
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.asarray(colour) / 255]
    return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def of_hex(text):
    return np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)], dtype=float)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_shares_can_be_read_on_their_shade_in_both_themes(report, theme):
    css = report.html.split("<style")[1].split("</style>")[0]
    own = css if theme == "light" else css[css.index("prefers-color-scheme: dark") :]
    paper, ink = (of_hex(re.search(rf"--{name}: (#\w{{6}})", own)[1]) for name in ("paper", "ink"))
    heat = np.array(re.search(r"--heat: ([\d, ]+)", own)[1].split(","), dtype=float)
    strength = float(re.search(r"--strength: ([\d.]+)", own)[1])
    shades = [float(shade) for shade in re.findall(r"--a: ([\d.]+)", report.html)]
    assert max(shades) == 1.0
    for shade in shades:
        behind = paper + (heat - paper) * shade * strength
        assert contrast(behind, ink) >= 4.5
