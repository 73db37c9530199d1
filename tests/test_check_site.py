"""The look through the built site finds dead links, and loads from the network."""

from __future__ import annotations

import pytest
from tools.check_site import complaints, main

GOOD = '<a href="sub/two.html#here">two</a> <a href="https://example.org">out</a> <img src="a%20b.svg">'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "one.html").write_text(GOOD)
    (tmp_path / "sub" / "two.html").write_text('<h1 id="here">Two</h1> <a href="../one.html">back</a>')
    (tmp_path / "a b.svg").write_text("<svg/>")
    return tmp_path


def test_a_site_whose_links_lead_somewhere_passes(site, capsys):
    assert main(str(site)) == 0
    assert "leads somewhere" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ('<a href="three.html">', "one.html leads to three.html, which is not there"),
        ('<a href="#nowhere">', "one.html leads to #nowhere, a place that one.html does not have"),
        (
            '<a href="sub/two.html#x">',
            "one.html leads to sub/two.html#x, a place that two.html does not have",
        ),
        ('<img src="missing.png">', "one.html leads to missing.png, which is not there"),
        ('<script src="//cdn.example/x.js">', "one.html loads //cdn.example/x.js from the network"),
        (
            '<link rel="stylesheet" href="https://cdn.example/x.css">',
            "one.html loads https://cdn.example/x.css from the network",
        ),
        (
            '<p style="background: url(https://cdn.example/x.png)">',
            "one.html loads https://cdn.example/x.png from the network",
        ),
    ],
)
def test_what_is_wrong_is_said(site, added, complaint):
    (site / "one.html").write_text(GOOD + added)
    assert list(complaints(site)) == [complaint]
    assert main(str(site)) == 1


def test_a_link_that_only_says_where_a_page_lives_loads_nothing(site):
    (site / "one.html").write_text('<link rel="canonical" href="https://example.org/one.html">')
    assert list(complaints(site)) == []


def test_a_style_sheet_that_asks_the_network_is_found(site):
    (site / "style.css").write_text('@import "https://fonts.example/font.css";')
    assert list(complaints(site)) == ["style.css loads https://fonts.example/font.css from the network"]
