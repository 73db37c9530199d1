"""``catalpa cluster``: what it reads, prints, writes and refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import catalpa
from catalpa.cli.cluster import new_model
from catalpa.cli.main import app
from catalpa.cluster.registry import METHODS, MethodEntry, find_method
from catalpa.cluster.sigdt import SigDT
from catalpa.errors import ParameterError

TWO_HALVES = [0, 0, 0, 1, 1, 1]


def halves(labels):
    """The labels with the first row's cluster called 0."""
    return [int(label != labels[0]) for label in labels]


WITHOUT_PAGES = """
import sys
for name in ("altair", "jinja2", "vl_convert"):
    sys.modules[name] = None  # as if it were not installed
from catalpa.__main__ import main
sys.exit(main())
"""


def test_clusters_are_told_where_packages_of_pages_are_not_installed(fruit):
    asked = [sys.executable, "-c", WITHOUT_PAGES, "cluster", str(fruit), "-k", "2", "--against", "person"]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("cluster\tsize\tshare\ttypical of the cluster")


def test_a_table_of_clusters_is_printed_and_nothing_is_written_without_an_output(run, fruit, tmp_path):
    ended = run("cluster", fruit, "-k", 2, "--drop", "person")
    assert ended.code == 0
    head, *lines, numbers, price = ended.out.splitlines()
    assert head.split("\t") == ["cluster", "size", "share", "typical of the cluster"]
    assert [line.split("\t")[:3] for line in lines] == [["0", "3", "50 %"], ["1", "3", "50 %"]]
    assert numbers.startswith("number\tmean ± standard deviation in each cluster")
    assert price.startswith("price\t0: ")
    assert "colour=red (nowhere else)" in ended.out
    assert list(tmp_path.iterdir()) == [fruit]


def test_the_verdict_is_the_first_line(run, tmp_path):
    table = catalpa.datasets.make_categorical(200, columns=6, clusters=2, noise=0.2, seed=0).frame
    path = tmp_path / "numbered.csv"
    table.assign(number=[f"r{at:04}" for at in range(200)]).to_csv(path, index=False)
    for command in (("cluster", path), ("choose-k", path, "--max", 3, "--repeats", 0)):
        lines = run(*command).err.splitlines()
        assert lines[0].startswith("2 clusters (clear): ")
        assert any("'number' is (almost) unique per row" in line for line in lines[1:])
    # Lines that wait for the verdict are printed if there is none.
    refused = run("cluster", path, "-k", 201).err
    assert "'number' is (almost) unique per row" in refused
    assert "n_clusters" in refused.splitlines()[-1]


def test_broad_groups_are_shown_if_columns_that_depend_on_each_other_explain_the_table(run, tmp_path):
    rng = np.random.default_rng(0)
    city = rng.integers(6, size=600)
    path = tmp_path / "cities.csv"
    table = {"city": city, "zip": city + 10, "region": city // 2, "x": rng.integers(3, size=600)}
    pd.DataFrame(table).astype(str).to_csv(path, index=False)
    ended = run("cluster", path, "--as-is")
    assert "1 cluster: columns that depend on each other (" in ended.err
    assert "Broad groups with all columns independent:" in ended.err
    first, _, second = ended.out.partition("cluster\tsize\tshare")[2].partition("cluster\tsize\tshare")
    assert "nothing distinctive" in first
    groups = second.splitlines()[1:]
    assert len(groups) > 1
    told = json.loads(run("cluster", path, "--as-is", "--json").out)
    assert told["verdict"]["broad_groups"] == len(told["broad_groups"]) == len(groups)
    assert len(told["clusters"]) == 1
    planted = catalpa.datasets.make_categorical(200, columns=6, clusters=2, noise=0.2, seed=0)
    planted.frame.to_csv(path, index=False)
    assert "Broad groups" not in run("cluster", path).err


def test_labels_model_and_profiles_are_written_in_the_order_of_the_rows(run, fruit, tmp_path):
    ended = run("cluster", fruit, "-k", 2, "--id", "person", "-o", "deep/out")
    assert ended.code == 0
    out = tmp_path / "deep" / "out"
    assert sorted(path.name for path in out.iterdir()) == ["labels.csv", "model.json", "profiles.csv"]
    labels = pd.read_csv(out / "labels.csv")
    assert labels.columns.tolist() == ["person", "cluster"]
    assert labels["person"].tolist() == ["p1", "p2", "p3", "p4", "p5", "p6"]
    assert halves(labels["cluster"]) == TWO_HALVES
    model = catalpa.load(out / "model.json")
    assert list(model.schema_.names) == ["colour", "shape", "price"]
    profiles = pd.read_csv(out / "profiles.csv")
    categories = profiles[profiles["category"].notna()]
    assert set(categories["column"]) == {"colour", "shape"}
    assert categories.groupby(["cluster", "column"])["share"].sum().tolist() == pytest.approx([1.0] * 4)
    numbers = profiles[profiles["category"].isna()]
    assert set(numbers["column"]) == {"price"}
    assert sorted(numbers["mean"]) == pytest.approx([1.5, 8.8333], abs=1e-3)
    assert f"wrote {'deep/out/labels.csv'}" in ended.err


def test_without_an_id_labels_have_one_column(run, fruit, tmp_path):
    assert run("cluster", fruit, "-k", 2, "--drop", "person", "-o", "out").code == 0
    assert (tmp_path / "out" / "labels.csv").read_text().splitlines()[0] == "cluster"


def test_an_id_keeps_its_leading_zeros_and_its_gaps(run, tmp_path):
    (tmp_path / "t.csv").write_text("id,n,c\n007,1,a\n008,,b\n009,3,a\n")
    assert run("cluster", "t.csv", "-k", 2, "--id", "id", "--drop", "n", "-o", "text").code == 0
    assert (tmp_path / "text" / "labels.csv").read_text().splitlines()[1].startswith("007,")
    assert run("cluster", "t.csv", "-k", 2, "--id", "n", "--drop", "id", "-o", "whole").code == 0
    assert [line.split(",")[0] for line in (tmp_path / "whole" / "labels.csv").read_text().splitlines()] == [
        "n",
        "1",
        "",
        "3",
    ]


def test_an_id_is_read_whatever_columns_and_drop_say(run, fruit, tmp_path):
    ended = run(
        "cluster",
        fruit,
        "-k",
        2,
        "--columns",
        "colour,shape",
        "--id",
        "person",
        "--drop",
        "person",
        "-o",
        "o",
    )
    assert ended.code == 0
    assert catalpa.load(tmp_path / "o" / "model.json").schema_.names == ("colour", "shape")


def test_an_unknown_id_is_an_error_that_lists_the_columns(run, fruit):
    ended = run("cluster", fruit, "-k", 2, "--id", "who")
    assert ended.code == 2
    assert "'who'" in ended.err
    assert "'person'" in ended.err
    assert run("cluster", fruit, "-k", 2, "--columns", "colour", "--id", "who").code == 2


def test_json_is_one_object_with_sizes_sentences_files_cost_and_warnings(run, fruit):
    ended = run("cluster", fruit, "-k", 2, "--drop", "person", "--json", "-o", "out")
    document = json.loads(ended.out)
    assert document["method"] == "Grove"
    assert document["rows"] == 6
    assert [one["size"] for one in document["clusters"]] == [3, 3]
    assert "colour=" in document["clusters"][0]["sets_apart"]
    assert document["files"] == ["out/labels.csv", "out/model.json", "out/profiles.csv"]
    assert document["cost"] >= 0
    assert document["n_iter"] >= 1
    assert document["warnings"] == []


def test_a_warning_is_one_line_on_standard_error_and_in_the_json(run, tmp_path):
    (tmp_path / "same.csv").write_text("a,b\n" + "x,y\n" * 6 + "z,y\n")
    ended = run("cluster", "same.csv", "-k", 4, "--json")
    assert ended.code == 0
    (warning,) = json.loads(ended.out)["warnings"]
    assert "Only 2 of 4 clusters" in warning
    assert f"warning: {warning}" in ended.err.splitlines()


def test_column_decisions_are_said_on_standard_error(run, tmp_path):
    (tmp_path / "t.csv").write_text("flag,c\n" + "0,a\n1,b\n" * 10)
    ended = run("cluster", "t.csv", "-k", 2)
    assert [line for line in ended.err.splitlines() if "'flag'" in line]
    assert "'flag'" not in ended.out


def test_quiet_prints_nothing_and_still_writes(run, tmp_path):
    (tmp_path / "same.csv").write_text("flag,b\n" + "0,y\n" * 6 + "1,y\n")
    ended = run("cluster", "same.csv", "-k", 4, "--quiet", "-o", "out")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert (tmp_path / "out" / "model.json").is_file()


def test_quiet_json_prints_the_object_alone(run, tmp_path):
    (tmp_path / "same.csv").write_text("flag,b\n" + "0,y\n" * 6 + "1,y\n")
    ended = run("cluster", "same.csv", "-k", 4, "--quiet", "--json")
    assert ended.err == ""
    assert json.loads(ended.out)["warnings"]


def test_the_same_seed_gives_the_same_labels(run, tmp_path):
    assert run("datasets", "zoo", "-o", "zoo.csv").code == 0
    for folder in ("one", "two"):
        assert (
            run(
                "cluster", "zoo.csv", "-k", 7, "--seed", 3, "--n-init", 2, "--drop", "class", "-o", folder
            ).code
            == 0
        )
    one, two = ((tmp_path / folder / "labels.csv").read_bytes() for folder in ("one", "two"))
    assert one == two


def test_numbers_are_said_in_words_where_means_lie_apart(run, fruit):
    out = run("cluster", fruit, "-k", 2, "--columns", "colour,price").out
    assert "price 7.33 below the rest (mean 1.5)" in out
    assert "price 7.33 above the rest (mean 8.83)" in out


def numbers_alone(path):
    path.write_text("x,y\n" + "1.5,0.5\n1.25,0.5\n8.5,0.5\n8.75,0.5\n" * 3)


def test_a_table_of_numbers_alone_is_described_by_its_means(run, tmp_path):
    numbers_alone(tmp_path / "t.csv")
    out = run("cluster", "t.csv", "-k", 2, "--method", "kprototypes", "--as-is").out
    assert "\tx 7.25 below the rest (mean 1.38)" in out
    assert "y 0" not in out.split("number\t")[0]
    assert ": 1.38 ± 0.125 (1.25 to 1.5)" in out
    assert "\ny\t0: 0.5 ± 0 (0.5 to 0.5); 1: 0.5 ± 0 (0.5 to 0.5)\n" in out


def test_gaps_in_a_number_are_left_out_of_its_means(run, tmp_path):
    (tmp_path / "t.csv").write_text("c,x\n" + "red,1.5\nred,\nblue,8.5\nblue,9.5\n" * 5)
    ended = run("cluster", "t.csv", "-k", 2, "--method", "kprototypes")
    assert ended.code == 0
    assert "x 7.5 below the rest (mean 1.5)" in ended.out
    assert "1.5 ± 0 (1.5 to 1.5), 50 % missing" in ended.out


def test_a_cluster_without_numbers_says_so(run, tmp_path):
    (tmp_path / "t.csv").write_text("c,d,e,x\n" + "a,a,a,\na,a,a,\nb,b,b,8.5\nb,b,b,8.75\n" * 5)
    assert ": none" in run("cluster", "t.csv", "-k", 2, "--method", "kprototypes", "--n-init", 5).out


def test_many_columns_of_numbers_are_counted_and_listed_in_json(run, tmp_path):
    names = [f"x{at}" for at in range(14)]
    rows = [[group * 9 + at * 0.01 + 0.5 for at in range(14)] for group in (0, 1) for _ in range(6)]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "t.csv", index=False)
    ended = run("cluster", "t.csv", "-k", 2, "--method", "kprototypes")
    assert "and 2 more columns of numbers: --json lists them" in ended.err
    found = json.loads(run("cluster", "t.csv", "-k", 2, "--method", "kprototypes", "--json").out)
    assert sorted(record["column"] for record in found["numbers"]) == sorted(names)


def test_terminal_json_card_and_page_give_the_same_reasons(run, tmp_path):
    table = pd.DataFrame(
        {
            "job": ["clerk"] * 20 + ["cook"] * 18 + ["none"] * 2,
            "town": ["A", "B"] * 20,
            "age": [*np.linspace(20, 30, 20), *np.linspace(50, 61, 20)],
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    common = ("cluster", "t.csv", "-k", 2, "--method", "kprototypes")
    found = json.loads(run(*common, "--json", "-o", "out").out)
    sentences = [one["sets_apart"] for one in found["clusters"]]
    assert any(text.startswith("100 % job=clerk (nowhere else)") for text in sentences)
    assert all("age 30.5" in text for text in sentences)
    printed = run(*common).out
    model = catalpa.load(tmp_path / "out" / "model.json")
    page = model.report(table).summary["clusters"]
    for one, shown in zip(found["clusters"], page, strict=True):
        assert one["sets_apart"] in printed
        assert one["sets_apart"] in model._repr_html_()
        assert one["sets_apart"] == shown["sets_apart"]
    texts = model.reasons()["text"].tolist()  # pandas, as for every file
    assert texts == [reason["text"] for one in found["clusters"] for reason in one["reasons"]]
    (first,) = {
        len(one["reasons"]) for one in json.loads(run(*common, "--json", "--reasons", 1).out)["clusters"]
    }
    assert first == 1


@pytest.mark.parametrize("text", ["person;colour;shape;price\n", "person\tcolour\tshape\tprice\n"])
def test_the_delimiter_is_found(run, fruit, tmp_path, text):
    delimiter = ";" if ";" in text else "\t"
    (tmp_path / "other.csv").write_text(fruit.read_text().replace(",", delimiter))
    assert "colour=red" in run("cluster", "other.csv", "-k", 2, "--drop", "person").out


@pytest.mark.parametrize("spelling", ["\\t", "tab", "\t"])
def test_a_tab_can_be_typed(run, fruit, tmp_path, spelling):
    (tmp_path / "other.csv").write_text(fruit.read_text().replace(",", "\t"))
    assert run("cluster", "other.csv", "-k", 2, "--delimiter", spelling, "--drop", "person").code == 0


def test_a_latin_1_file_is_read_with_its_letters(run, tmp_path):
    rows = "klein,grün\ngroß,rot\nklein,grün\n" * 3
    (tmp_path / "t.csv").write_bytes(f"größe,farbe\n{rows}".encode("latin-1"))
    for options in ((), ("--encoding", "latin-1")):
        assert "farbe=grün" in run("cluster", "t.csv", "-k", 2, *options).out


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".xlsx", ".tsv"])
def test_other_formats_give_the_same_labels_as_csv(run, fruit, tmp_path, suffix):
    frame = pd.read_csv(fruit)
    path = tmp_path / f"fruit{suffix}"
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif suffix == ".tsv":
        frame.to_csv(path, sep="\t", index=False)
    else:
        table = pa.Table.from_pandas(frame)
        {".parquet": pa.parquet.write_table, ".feather": pa.feather.write_feather}[suffix](table, path)
    assert run("cluster", path, "-k", 2, "--drop", "person", "-o", "out").code == 0
    assert halves(pd.read_csv(tmp_path / "out" / "labels.csv")["cluster"]) == TWO_HALVES


def test_standard_input_is_a_table_too(fruit):
    result = CliRunner().invoke(
        app, ["cluster", "-", "-k", "2", "--drop", "person"], input=fruit.read_bytes()
    )
    assert result.exit_code == 0
    assert "colour=red" in result.output


def test_existing_files_are_kept_without_force(run, fruit, tmp_path):
    (tmp_path / "out").mkdir()
    kept = tmp_path / "out" / "labels.csv"
    kept.write_text("mine")
    ended = run("cluster", fruit, "-k", 2, "-o", "out")
    assert ended.code == 2
    assert "--force" in ended.err
    assert kept.read_text() == "mine"
    assert list((tmp_path / "out").iterdir()) == [kept]
    assert run("cluster", fruit, "-k", 2, "-o", "out", "--force").code == 0
    assert kept.read_text().startswith("cluster")


def test_existing_files_are_noticed_before_the_table_is_read(run, tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    ended = run("cluster", "absent.csv", "-k", 2, "-o", ".")
    assert "Already there" in ended.err
    assert "absent.csv" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.csv", "-k", 2], "no file absent.csv"),
        (["fruit.csv", "--method", "kmodes"], "-k 4"),
        (["fruit.csv", "-k", 0], "greater than or equal"),
        (["fruit.csv", "-k", 7], "at most one cluster per row"),
        (["fruit.csv", "-k", 7], "n_clusters is -k"),
        (["fruit.csv", "-k", 2, "--method", "kmods"], "Did you mean 'kmodes'?"),
        (["fruit.csv", "-k", 2, "--bins", 3], "no setting for --bins"),
        (["fruit.csv", "-k", 2, "--columns", "colour,size"], "'size'"),
        (["fruit.csv", "-k", 2, "--drop", "size"], "'size'"),
        (["fruit.csv", "-k", 2, "--missing", "often"], "often"),
        (["fruit.csv", "-k", 2, "--method", "kmodes"], "bins is --bins"),
        (["fruit.csv", "-k", 2, "-o", "fruit.csv"], "is a file, not a folder"),
        (["ragged.csv", "-k", 2], "Line 3"),
        (["empty.csv", "-k", 2], "empty.csv is empty"),
        (["gap.csv", "-k", 2, "--missing", "error"], "missing"),
        (["fruit.csv", "-k", 2, "--nonsense"], "--nonsense"),
    ],
)
@pytest.mark.usefixtures("fruit")
def test_what_cannot_work_is_one_readable_message_and_exit_code_2(run, tmp_path, arguments, said):
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "gap.csv").write_text("a,b\nx,\ny,z\n")
    ended = run("cluster", *arguments)
    assert ended.code == 2
    assert said in " ".join(ended.err.replace("│", " ").split())
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_numbers_are_binned_when_asked_for(run, fruit):
    ended = run("cluster", fruit, "-k", 2, "--method", "kmodes", "--bins", 2, "--drop", "person")
    assert ended.code == 0
    assert "price=8.5 or more" in ended.out


def test_columns_can_be_declared_categorical(run, fruit):
    ended = run(
        "cluster",
        fruit,
        "-k",
        2,
        "-m",
        "kmodes",
        "--drop",
        "person",
        "--categorical",
        "colour,shape",
        "--categorical",
        "price",
    )
    assert ended.code == 0


def test_missing_cells_can_be_ignored(run, tmp_path):
    (tmp_path / "gap.csv").write_text("a,b\n" + "x,\ny,z\n" * 4 + "y,w\n")
    assert "b missing" in run("cluster", "gap.csv", "-k", 2).out
    assert "b missing" not in run("cluster", "gap.csv", "-k", 2, "--missing", "ignore").out


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_asked_for(run, fruit, method):
    settings = () if METHODS[method].estimator is SigDT else ("-k", "2")
    ended = run("cluster", fruit, "--method", method, "--columns", "colour,shape", *settings)
    assert ended.code == 0
    assert len(ended.out.splitlines()) >= 2


def test_an_option_that_a_method_does_not_have_is_named_as_it_is_typed(run, fruit):
    ended = run("cluster", fruit, "--method", "sigdt", "-k", 2, "--jobs", 2)
    assert ended.code == 2
    assert "has no setting for -k" in ended.err


def test_of_many_decisions_on_columns_the_first_are_said(run, tmp_path):
    names = [f"c{at}" for at in range(14)]
    rows = [",".join(str(row % (at + 2)) for at in range(14)) for row in range(60)]
    (tmp_path / "whole.csv").write_text("\n".join([",".join(names), *rows]))
    ended = run("cluster", "whole.csv", "-k", 2, "--json")
    assert ended.err.count("taken as categories") == 10
    assert "and 4 more decisions on columns" in ended.err
    assert len(json.loads(ended.out)["decisions"]) == 14


def test_columns_that_were_decided_on_alike_are_said_together(run, tmp_path):
    names = [f"c{at}" for at in range(8)]
    rows = [",".join([*(["01"[row % 2]] * 8), str(row % 3)]) for row in range(8)]
    (tmp_path / "whole.csv").write_text("\n".join([",".join([*names, "other"]), *rows]))
    said = run("cluster", "whole.csv", "-k", 2, "--as-is").err.splitlines()
    assert said[1].startswith("columns 'c0', 'c1', 'c2', 'c3', 'c4', 'c5' and 2 more hold 2 different whole")
    assert said[2].startswith("column 'other' holds 3 different whole numbers")


def test_a_method_that_finds_the_number_of_clusters_needs_none():
    assert new_model(find_method("grove"), {"n_clusters": None}).n_clusters == "auto"
    assert new_model(find_method("wocil"), {"n_clusters": None}).n_clusters is None
    assert "n_clusters" not in new_model(find_method("sigdt"), {"n_clusters": None}).get_params()
    with pytest.raises(ParameterError, match="how many clusters"):
        new_model(MethodEntry("KModes", ""), {"n_clusters": None})
    with pytest.raises(ParameterError, match="how many clusters disc should make"):
        new_model(find_method("disc"), {"n_clusters": None})


def test_an_identifier_given_twice_is_refused(run, fruit):
    ended = run("cluster", fruit, "-k", 2, "--id", "person", "--id", "colour")
    assert ended.code == 2
    assert "--id is given 2 times: person, colour" in ended.err


def test_decimal_commas_are_read_where_asked_for(run, tmp_path):
    (tmp_path / "t.csv").write_text("price;kind\n" + "".join(f"{at},5;{'ab'[at % 2]}\n" for at in range(12)))
    assert "--decimal ," in run("cluster", "t.csv", "-k", 2, "--as-is").err
    assert "'price' holds numbers written like 10,5: read as numbers" in run("cluster", "t.csv", "-k", 2).err
    ended = run("cluster", "t.csv", "-k", 2, "--decimal", ",", "-o", "out")
    assert ended.code == 0
    assert "decimal" not in ended.err
    assert run("predict", "out/model.json", "t.csv", "--decimal", ",").code == 0
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text() + "1.2;a\n")
    for more in ([], ["--stream"]):
        asked = ("--decimal", ",", "--as-is", *more)
        told = " ".join(run("cluster", "t.csv", "-k", 2, *asked).err.split())
        assert "a decimal comma ('0,5') and with a dot ('1.2')" in told


def test_texts_that_stand_for_missing_cells_are_named_with_an_option(run, tmp_path):
    lines = "".join(f"{at},5;{'ab'[at % 2]}\n-;?\n" for at in range(25))
    (tmp_path / "t.csv").write_text("paid;kind\n" + lines)
    assert "numbers except for '-' in 'paid'" in run("cluster", "t.csv", "-k", 2, "--as-is").err
    asked = ("--decimal", ",", "--na", "-,?")
    assert run("cluster", "t.csv", "-k", 2, *asked, "-o", "out").err.count("warning") == 0
    schema = catalpa.load("out/model.json").schema_
    assert [str(column.kind) for column in schema.columns] == ["numeric", "nominal"]
    assert schema.columns[1].categories == ("a", "b", None)
    assert run("predict", "out/model.json", "t.csv", *asked).code == 0
    assert run("report", "out/model.json", "t.csv", *asked, "-o", "page.html").code == 0
    assert run("choose-k", "t.csv", "--max", 2, "--repeats", 0, *asked).code == 0


def test_like_an_earlier_model(run, fruit, tmp_path):
    assert run("cluster", fruit, "-k", 2, "--id", "person", "--method", "kprototypes", "-o", "may").code == 0
    assert run("name", "may/model.json", "0=first", "1=second").code == 0
    turned = [fruit.read_text().splitlines()[0], *reversed(fruit.read_text().splitlines()[1:])]
    (tmp_path / "june.csv").write_text("\n".join(turned))
    ended = run(
        "cluster", "june.csv", "--id", "person", "--like", "may/model.json", "--seed", 3, "-o", "june"
    )
    assert ended.code == 0
    assert "Cluster 0 continues 'first': 100 % of its rows stay." in ended.err

    def labels(folder):
        lines = (tmp_path / folder / "labels.csv").read_text().splitlines()
        return sorted(line.split(",")[:2] for line in lines)  # the first table had no names yet

    assert labels("may") == labels("june")
    assert json.loads((tmp_path / "june" / "model.json").read_text())["method"] == "KPrototypes"
    told = json.loads(run("cluster", "june.csv", "--id", "person", "--like", "may/model.json", "--json").out)
    assert [one["stays"] for one in told["matched"]] == [1.0, 1.0]
    assert [one["name"] for one in told["clusters"]] == ["first", "second"]
    refused = run("cluster", "june.csv", "--like", "may/model.json", "--method", "disc")
    assert refused.code == 2
    assert "--like takes the method of the earlier model, kprototypes." in refused.err


def test_suggested_names_leave_those_of_an_earlier_model(run, fruit):
    run("cluster", fruit, "-k", 2, "--id", "person", "-o", "may")
    run("name", "may/model.json", "0=first")
    arguments = (
        "cluster",
        fruit,
        "--id",
        "person",
        "--like",
        "may/model.json",
        "--suggested-names",
        "--json",
    )
    names = [one["name"] for one in json.loads(run(*arguments).out)["clusters"]]
    assert names[0] == "first"
    assert names[1] not in ("1", None)
