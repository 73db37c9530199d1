"""``catalpa sql``: a model as a query."""

from __future__ import annotations

import pytest

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def model(run, fruit):
    assert run("cluster", fruit, "-k", 2, "--drop", "person", "-o", "out").code == 0
    return "out/model.json"


def test_the_query_gives_the_labels_of_the_fit(run, model, fruit, tmp_path):
    ended = run("sql", model, "--table", fruit, "--keep", "person")
    assert ended.code == 0
    with duckdb.connect() as database:
        found = sorted(database.execute(ended.out).fetchall())
    labels = (tmp_path / "out" / "labels.csv").read_text().split()[1:]
    assert [str(label) for _, label in found] == labels


def test_schema_dialect_and_label_are_in_the_query(run, model):
    query = run("sql", model, "--dialect", "postgres", "--schema", "shop", "--label", "kind").out
    assert 'FROM "shop"."rows"' in query
    assert query.rstrip().endswith('AS "kind"\nFROM catalpa_smallest')


def test_a_file_is_written_on_request_and_not_overwritten(run, model, tmp_path):
    ended = run("sql", model, "-o", "new/label.sql")
    assert (ended.code, ended.out) == (0, "")
    assert (tmp_path / "new" / "label.sql").read_text() == run("sql", model).out
    assert run("sql", model, "-o", "new/label.sql").code == 2
    assert run("sql", model, "-o", "new/label.sql", "--force", "-q").code == 0


def test_probabilities_are_in_the_query_on_request(run, model, fruit):
    query = run("sql", model, "--table", fruit, "--keep", "person", "--probabilities").out
    with duckdb.connect() as database:
        found = sorted(database.execute(query).fetchall())
    assert all(abs(row[2] + row[3] - 1) < 1e-9 and row[4] == max(row[2:4]) for row in found)


def test_a_method_without_probabilities_is_told_in_one_paragraph(run, fruit):
    assert (
        run("cluster", fruit, "-k", 2, "--drop", "person", "--method", "kprototypes", "-o", "hard").code == 0
    )
    ended = run("sql", "hard/model.json", "--probabilities")
    assert ended.code == 2
    assert "KPrototypes assigns every row to one cluster" in " ".join(ended.err.split())


def test_an_unknown_dialect_is_one_paragraph_and_exit_code_2(run, model):
    ended = run("sql", model, "--dialect", "latin")
    assert ended.code == 2
    assert "duckdb" in ended.err
    assert "Traceback" not in ended.err
