"""``--against COLUMN``: a column is kept out of the clusters and crossed with them."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def table(tmp_path):
    rows = [f"red,round,{at / 2},a{at}" for at in range(8)] + [
        f"blue,square,{9 + at / 2},a{at}" for at in range(14)
    ]
    (tmp_path / "table.csv").write_text("colour,shape,price,code\n" + "\n".join(rows) + "\n")
    return "table.csv"


def test_a_cross_table_is_printed_and_given_as_json(run, table):
    ended = run("cluster", table, "-k", 2, "--drop", "code,price", "--against", "shape")
    assert ended.code == 0
    assert "cluster\tround\tsquare" in ended.out
    assert "adjusted Rand index 1.00, association 1.00" in ended.err
    told = json.loads(run("cluster", table, "-k", 2, "--drop", "code", "--against", "shape", "--json").out)
    assert (told["columns"], told["against"]["kind"]) == (["colour", "price"], "categories")


def test_numbers_and_wide_columns_are_told_shortly(run, table):
    ended = run("cluster", table, "-k", 2, "--drop", "code", "--against", "price")
    assert "cluster\tmean price" in ended.out
    assert "of the variance of price" in ended.err
    wide = run("cluster", table, "-k", 2, "--drop", "price", "--against", "code")
    assert "and 2 more categories: --json lists them" in wide.err


def test_pages_have_the_table_and_a_clustered_column_is_refused(run, table, tmp_path):
    kept = ("cluster", table, "-k", 2, "--drop", "code", "--against", "shape", "-o", "out")
    assert run(*kept, "--report", "page.html").code == 0
    assert '<section id="against">' in (tmp_path / "page.html").read_text()
    told = json.loads(run("report", "out/model.json", table, "--against", "shape", "--json").out)
    assert told["against"]["column"] == "shape"
    refused = run("report", "out/model.json", table, "--against", "colour")
    assert (refused.code, "which was clustered" in refused.err) == (2, True)
