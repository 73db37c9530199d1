"""``--stream``: files that are read in batches give the files that a table in memory gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalpa import datasets


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A CSV file with numbers and identifiers, and the same rows in two Parquet files of a folder."""
    monkeypatch.setattr("catalpa.table.files.scan.FEWEST_ROWS", 100)
    made = datasets.make_categorical(700, columns=4, categories=3, clusters=3, noise=0.3, seed=3)
    frame = made.frame.astype(str)
    frame.insert(0, "person", [f"p{at}, {at % 7}" for at in range(700)])
    frame["price"] = made.clusters + [at % 10 / 10 for at in range(700)]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "parts").mkdir()
    frame.iloc[:300].to_parquet(tmp_path / "parts" / "1.parquet", index=False)
    frame.iloc[300:].to_parquet(tmp_path / "parts" / "2.parquet", index=False)
    return tmp_path / "rows.csv"


def written(folder):
    """The results of a command, the model's settings and history left out where they may differ."""
    return {name: Path(folder, name).read_text() for name in ("labels.csv", "profiles.csv")}


@pytest.mark.parametrize("source", ["rows.csv", "parts", "parts/*.parquet"])
@pytest.mark.parametrize("extra", [("--id", "person"), ("--drop", "person")])
def test_streamed_files_give_the_results_of_a_table_in_memory(run, planted, source, extra):
    common = ("-k", 3, "--method", "kprototypes", "--n-init", 2, *extra)
    whole = run("cluster", planted, *common, "-o", "whole")
    streamed = run("cluster", source, *common, "-o", "streamed", "--stream", "--memory", "10KB")
    assert (whole.code, streamed.code) == (0, 0), streamed.err
    assert streamed.out == whole.out
    assert "\nprice\t0: " in streamed.out
    assert written("streamed") == written("whole")


@pytest.mark.parametrize("extra", [(), ("--id", "person")])
def test_labels_of_streamed_rows_are_those_of_rows_in_memory(run, planted, extra):
    assert run("cluster", planted, "-k", 3, "--id", "person", "-o", "out").code == 0
    whole = run("predict", "out/model.json", planted, *extra)
    streamed = run("predict", "out/model.json", "parts", *extra, "--stream", "--memory", "10KB")
    assert streamed.code == 0, streamed.err
    assert streamed.out == whole.out
    assert len(streamed.out.splitlines()) == 701
    into_file = run("predict", "out/model.json", "parts", *extra, "--stream", "-o", "new/labels.csv")
    assert into_file.code == 0, into_file.err
    assert Path("new/labels.csv").read_text() == whole.out


def test_a_stream_that_breaks_off_leaves_no_file(run, planted):
    assert run("cluster", planted, "-k", 3, "--id", "person", "-o", "out").code == 0
    damaged = Path("parts/2.parquet").read_bytes()
    Path("parts/2.parquet").write_bytes(damaged[:4] + b"\xff" * 60 + damaged[64:])
    ended = run("predict", "out/model.json", "parts", "--id", "person", "--stream", "-o", "new/labels.csv")
    assert ended.code == 2
    assert "2.parquet cannot be read" in ended.err
    assert list(Path("new").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("cluster", "rows.csv", "-k", 3, "--memory", "1GB"), "--memory goes with --stream"),
        (("cluster", "rows.csv", "-k", 3, "--stream", "--memory", "lots"), "such as '500MB'"),
        (("cluster", "rows.csv", "-k", 3, "--stream", "-m", "mcdc"), "one by one in their order"),
        (("cluster", "rows.csv", "-k", 3, "--stream", "--id", "who"), "--id names 'who'"),
        (("cluster", "-", "-k", 3, "--stream"), "Standard input can be read only once"),
        (("cluster", "nowhere/", "-k", 3, "--stream"), "There is no file"),
    ],
)
@pytest.mark.usefixtures("planted")
def test_what_cannot_be_streamed_is_refused_in_words(run, arguments, says):
    ended = run(*arguments)
    assert ended.code == 2
    assert says in " ".join(ended.err.split())


def test_labels_in_json_are_not_streamed(run, planted):
    assert run("cluster", planted, "-k", 3, "--id", "person", "-o", "out").code == 0
    ended = run("predict", "out/model.json", "parts", "--stream", "--json")
    assert ended.code == 2
    assert "--json holds all labels at once" in " ".join(ended.err.split())
