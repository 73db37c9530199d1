"""Files as people have them, from the command: what is found is said, and options change it."""

import pytest

SURVEY = "id,How old are you?,,Which tools?,\n,Response,,Hammer,Saw\n" + "".join(
    f"{at},{'young' if at % 3 else 'old'},x,{'Hammer' if at % 2 else ''},{'' if at % 5 else 'Saw'}\n"
    for at in range(30)
)


def test_what_was_found_in_a_file_is_said(run, tmp_path):
    (tmp_path / "t.csv").write_text("Survey of 2024\n\n" + SURVEY)
    ended = run("cluster", "t.csv", "-k", 2, "--id", "id", "-o", "out")
    assert ended.code == 0
    assert 'Skipped 1 line above the column names ("Survey of 2024").' in ended.err
    assert "Line 4 continues the column names and was merged with them." in ended.err
    told = run("predict", "out/model.json", "t.csv")
    assert told.code == 0
    assert len(told.out.splitlines()) == 31


def test_the_names_and_the_rows_to_leave_out_can_be_given(run, tmp_path):
    (tmp_path / "t.csv").write_text("a;b\nunit;unit\n" + "x;1\ny;2\n" * 10 + "all;30\n")
    given = run("cluster", "t.csv", "-k", 2, "--json", "--header", "1", "--skip-rows", "2,23")
    assert '"rows": 20' in given.out
    nameless = run("cluster", "t.csv", "-k", 2, "--json", "--header", "none", "--skip-rows", "1-2")
    assert '"column 1"' in nameless.out
    assert "--skip-rows is 'x'" in run("cluster", "t.csv", "-k", 2, "--skip-rows", "x").err
    assert "--header is '0'" in run("cluster", "t.csv", "-k", 2, "--header", "0").err
    both = run("cluster", "t.csv", "-k", 2, "--header", "1", "--skip-rows", "1").err
    assert "Row 1 is in header and in skip_rows" in " ".join(both.split())


def test_a_codebook_gives_labels_and_their_order(run, tmp_path):
    (tmp_path / "t.csv").write_text("q1,q2\n" + "1,1\n2,1\n3,2\n9,2\n" * 8)
    (tmp_path / "codes.csv").write_text(
        "column,code,label,order\nq1,,Age,\nq1,1,young,1\nq1,2,grown,2\nq1,3,old,3\nq1,9,refused,missing\n"
    )
    ended = run("cluster", "t.csv", "-k", 2, "--codebook", "codes.csv", "-o", "out")
    assert ended.code == 0
    profiles = (tmp_path / "out" / "profiles.csv").read_text()
    assert "grown" in profiles
    assert "refused" not in profiles
    assert run("predict", "out/model.json", "t.csv", "--codebook", "codes.csv").code == 0
    refused = run("cluster", "t.csv", "-k", 2, "--codebook", "codes.csv", "--stream")
    assert "--codebook needs the rows in memory together" in refused.err
    (tmp_path / "codes.csv").write_text("column,code,label\nother,1,a\nother,2,b\n")
    assert "none of which is a column" in run("cluster", "t.csv", "-k", 2, "--codebook", "codes.csv").err


def test_a_sheet_can_be_picked(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in [["a", "b"], *[["x", "y"], ["z", "w"]] * 5]:
        book.active.append(row)
    second = book.create_sheet("second")
    for row in [["c", "d"], *[["x", "y"], ["z", "w"]] * 8]:
        second.append(row)
    book.save(tmp_path / "t.xlsx")
    longest = run("cluster", "t.xlsx", "-k", 2, "--json")
    assert '"rows": 16' in longest.out
    assert 'reading "second" (16 rows)' in longest.err
    assert '"rows": 10' in run("cluster", "t.xlsx", "-k", 2, "--json", "--sheet", "Sheet").out
    assert "no sheet 'third'" in run("cluster", "t.xlsx", "-k", 2, "--sheet", "third").err
