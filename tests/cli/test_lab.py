"""``catalpa lab`` as a user runs it."""

from __future__ import annotations

import io
import re
import sys
import time
from importlib.resources import files

import pandas as pd
import pytest

import catalpa
from catalpa.cli.terminal import Terminal, counted
from catalpa.lab.journal import whole_lines
from catalpa.lab.peers import PEERS
from catalpa.lab.run import RunProgress

QUICK = ("lab", "run", "--quick", "--datasets", "ZO,TA", "--methods", "kmodes,sigdt", "--seeds", 2)


@pytest.fixture
def zoo(tmp_path):
    """The zoo with its kinds in the last column."""
    data = catalpa.datasets.load("zoo")
    path = tmp_path / "zoo.csv"
    data.frame.assign(kind=data.target).to_csv(path, index=False)
    return path


def test_a_run_leaves_results_and_says_how_many(run, tmp_path):
    ended = run(*QUICK)
    assert ended.code == 0
    assert "6 runs in results/quick.parquet, 0 of them without a result." in ended.err
    assert "Table 2: categorical tables, ACC: ours minus printed" in ended.out
    assert "0.6970" in ended.out  # k-modes on the zoo, as printed
    assert run(*QUICK, "--quiet").out == ""
    assert len(pd.read_parquet(tmp_path / "results/quick.parquet")) == 6


def test_failed_runs_are_named_and_run_again_when_asked(run):
    command = ("lab", "run", "--quick", "-d", "CA", "-m", "cbdm", "--seeds", 1)
    first = run(*command)
    assert first.code == 0
    assert "1 of them without a result" in first.err
    assert "cbdm on CA (1): UndefinedMetric" in first.err
    assert "1 of them without a result" in run(*command, "--retry-failed").err


def test_what_is_not_here_is_left_out_and_said(run, monkeypatch, tmp_path):
    monkeypatch.delenv("CATALPA_DATA", raising=False)
    monkeypatch.setenv("CATALPA_CACHE", str(tmp_path / "none"))
    ended = run("lab", "run", "-d", "ZO,BM", "-m", "kmodes", "--seeds", 1)
    assert ended.code == 0
    assert "left out, not on this computer: BM, BM with numbers." in ended.err
    nothing = run("lab", "run", "-d", "BM", "-m", "kmodes", "--seeds", 1)
    assert nothing.code == 2
    assert "nothing to run" in nothing.err


def test_a_class_of_another_package_appears_in_the_table(run, tmp_path, monkeypatch):
    (tmp_path / "theirs.py").write_text(
        "from catalpa import KModes\nclass Theirs(KModes):\n    pass\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run(*QUICK)
    assert run("lab", "run", "--quick", "-d", "ZO", "-m", "theirs:Theirs", "--seeds", 1).code == 0
    ended = run("lab", "table", "2", "--results", "results/quick.parquet")
    assert ended.code == 0
    assert [line for line in ended.out.splitlines() if line.startswith("Theirs ")]


def test_a_table_comes_in_every_format(run, tmp_path):
    run(*QUICK)
    command = ("lab", "table", "2", "--results", "results/quick.parquet")
    assert "Table 2: categorical tables, ACC: ours minus printed" in run(*command).out
    assert "| KMD |" in run(*command, "--format", "markdown", "--measure", "ari").out
    assert run(*command, "--format", "latex", "-o", "out/table.tex").code == 0
    assert r"\toprule" in (tmp_path / "out/table.tex").read_text("utf-8")
    assert run(*command, "--format", "latex", "-o", "out/table.tex").code == 2
    cells = run(*command, "--format", "csv").out
    assert cells.startswith("dataset,label,variant,column,ranked,mean,low,high,runs,failed")


def test_the_tests_are_printed_and_drawn(run, tmp_path):
    run("lab", "run", "--quick", "-d", "ZO,TA", "--seeds", 1, "-q")
    ended = run("lab", "significance", "--results", "results/quick.parquet", "--chart", "ranks.svg")
    assert ended.code == 0
    assert "On 2 data sets with a score of all 12 methods" in ended.out
    assert "| HARR |" in ended.out
    assert (tmp_path / "ranks.svg").exists()


def test_a_figure_is_drawn_and_drawn_again_from_its_data(run, tmp_path):
    assert run("lab", "figure", 2, "--quick").code == 0
    folder = tmp_path / "results" / "figures"
    assert {path.name for path in folder.iterdir()} == {"figure2.csv", "figure2.svg", "figure2.png"}
    drawn = (folder / "figure2.svg").read_bytes()
    assert run("lab", "figure", 2).code == 2
    again = run("lab", "figure", 2, "--data", folder / "figure2.csv", "--force", "-q")
    assert again.code == 0
    assert (folder / "figure2.svg").read_bytes() == drawn


def test_a_figure_from_data_elsewhere_writes_every_file_that_it_names(run, tmp_path):
    assert run("lab", "figure", 2, "--quick", "-o", "first").code == 0
    ended = run("lab", "figure", 2, "--data", "first/figure2.csv", "-o", "second")
    assert ended.code == 0
    named = re.findall(r"wrote (\S+)", ended.err)
    assert [name.rpartition("/")[2] for name in named] == ["figure2.csv", "figure2.svg", "figure2.png"]
    assert all((tmp_path / name).is_file() for name in named)
    assert (tmp_path / "second/figure2.csv").read_bytes() == (tmp_path / "first/figure2.csv").read_bytes()
    # Drawn from where it would be written: the data stay, and are not said to be written.
    ended = run("lab", "figure", 2, "--data", "second/figure2.csv", "-o", "second", "--force")
    assert "figure2.csv" not in ended.err


def test_data_of_a_figure_that_cannot_be_read_are_refused(run):
    ended = run("lab", "figure", 2, "--data", "nowhere.csv")
    assert ended.code == 2
    assert "'nowhere.csv' cannot be read as the CSV file of a figure" in ended.err


def test_the_printed_runs_are_made_and_shown_beside_the_print(run):
    ended = run("lab", "run", "--as-published", "--datasets", "CV")
    assert ended.code == 0
    assert "30 runs in results/as_published.parquet, 0 of them without a result." in ended.err
    line = next(line for line in ended.out.splitlines() if line.startswith("CV"))
    # Printed, from the script's seed, the difference, no unpicked seeds, and k-modes from the same rows.
    assert line.split() == ["CV", "0.8759±0.00", "0.8759±0.00", "+0.0000", "-", "-", "0.8609", "-0.0019"]
    words = " ".join(ended.err.split())
    assert "No runs from unpicked seeds at results/protocol.parquet. Make them with: catalpa lab run" in words
    shown = run("lab", "table", 3, "--as-published", "--format", "csv")
    assert shown.code == 0
    once = pd.read_csv(io.StringIO(shown.out)).query("label == 'DISC-I' and dataset == 'CV'").iloc[0]
    assert once["equal"]
    assert run("lab", "table", 4, "--as-published").code == 2


def test_a_table_as_published_says_which_command_makes_its_runs(run):
    ended = run("lab", "table", 2, "--as-published")
    assert ended.code == 2
    words = " ".join(ended.err.split())
    assert "catalpa lab run --as-published --results results/as_published.parquet" in words


def test_claims_are_counted_into_a_file(run, tmp_path):
    own = tmp_path / "own.toml"
    text = files("catalpa.lab").joinpath("protocol.toml").read_text("utf-8")
    own.write_text(re.sub(r"claims = .*", 'claims = { data = ["ZO"], starts = 2 }', text), "utf-8")
    assert run("lab", "claims", "--protocol", own).code == 0
    rows = pd.read_csv(tmp_path / "results" / "claims.csv")
    assert len(rows) == 2 * 2
    assert (rows["rises"] <= rows["relearnings"]).all()
    assert (rows["present_pairs_at_0"] <= rows["pairs_at_0"]).all()
    assert rows["stops"].all()


def test_a_figure_without_its_packages_is_said_before_it_is_measured(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    ended = run("lab", "figure", 2, "--quick")
    assert (ended.code, "catalpa[report]" in ended.err) == (1, True)


def test_a_figure_that_was_killed_goes_on_where_it_was(run, program, tmp_path):
    kept = tmp_path / "results" / "figures" / "figure3.jsonl"
    with program("lab", "figure", 3, "--quick", "-q") as killed:
        while killed.poll() is None and len(whole_lines(kept)) < 3:
            time.sleep(0.02)
        killed.kill()
    before = [line["rows"][0] for line in whole_lines(kept)]
    assert len(before) >= 3
    ended = run("lab", "figure", 3, "--quick")
    assert ended.code == 0
    assert f"{len(before)} of 48 parts are in" in ended.err
    assert not kept.exists()
    rows = pd.read_csv(tmp_path / "results" / "figures" / "figure3.csv")
    assert len(rows) == len(rows[["against", "method", "rows", "columns"]].drop_duplicates()) == 48
    assert rows["seconds"].tolist()[: len(before)] == [row["seconds"] for row in before]


def test_a_figure_says_which_data_sets_it_leaves_out(run, monkeypatch, tmp_path):
    monkeypatch.delenv("CATALPA_DATA", raising=False)
    monkeypatch.setenv("CATALPA_CACHE", str(tmp_path / "none"))
    ended = run("lab", "figure", 2)
    assert ended.code == 0
    assert "left out, not on this computer: SB, NU" in ended.err


def test_methods_are_compared_on_a_table_of_ones_own(run, zoo, tmp_path):
    command = ("lab", "compare", zoo, "--target", "kind", "--methods", "kmodes,sigdt", "--seeds", 2)
    ended = run(*command, "-o", "runs.csv")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0].startswith("method\tACC\tARI")
    assert {line.split("\t")[0] for line in lines[1:]} == {"kmodes", "sigdt"}
    assert "All rows in one cluster would score ACC 0.406 and ARI 0." in ended.err
    assert pd.read_csv(tmp_path / "runs.csv")["method"].tolist() == ["kmodes", "kmodes", "sigdt"]


def test_a_method_that_fails_in_a_comparison_is_said(run, zoo):
    ended = run("lab", "compare", zoo, "--target", "kind", "-m", "kmodes", "-k", 500, "--seeds", 1)
    assert ended.code == 0
    assert "without a result: kmodes: ParameterError: n_clusters=500" in ended.err
    line = ended.out.splitlines()[1]
    assert "nan" not in line
    assert line.endswith("\t0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "nothing", "-m", "kmodes"), "target='nothing' is not a column"),
        (("--target", "kind", "-m", "no_such"), "There is no method 'no_such'"),
    ],
)
def test_a_comparison_that_cannot_be_made_says_why(run, zoo, options, message):
    ended = run("lab", "compare", zoo, *options)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())


def test_missing_classes_are_refused(run, zoo):
    frame = pd.read_csv(zoo)
    frame.loc[3, "kind"] = None
    frame.to_csv(zoo, index=False)
    ended = run("lab", "compare", zoo, "--target", "kind", "-m", "kmodes")
    assert ended.code == 2
    assert "missing classes in 1 rows" in " ".join(ended.err.split())


def test_the_page_is_written_once_and_again_only_by_force(run, tmp_path):
    run(*QUICK)
    command = ("lab", "page", "--results", "results/quick.parquet", "-o", "results.md")
    assert run(*command).code == 0
    assert (tmp_path / "results.md").read_text("utf-8").startswith("# Results")
    assert run(*command).code == 2
    assert run(*command, "--force").code == 0


def test_a_page_of_no_results_says_how_to_make_them(run):
    ended = run("lab", "page")
    assert ended.code == 2
    assert "catalpa lab run" in ended.err


def test_progress_is_silent_where_nobody_watches():
    assert counted(None) is None


def test_progress_counts_runs_and_guesses_the_rest():
    seen: list[RunProgress] = []
    tell = counted(seen.append)
    assert tell is not None
    tell(1, 2)
    tell(2, 2)
    assert [(one.finished, one.total) for one in seen] == [(1, 2), (2, 2)]
    assert seen[1].seconds_left == 0


def test_a_terminal_shows_how_far_a_run_is(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Terminal(quiet=False).runs() as watch:
        assert watch is not None
        watch(RunProgress(3, 10, 1, 75.4))
    with Terminal(quiet=True).runs() as watch:
        assert watch is None


def test_the_help_names_the_outside_programs(run):
    said = " ".join(run("lab", "compare", "--help").out.replace("│", " ").split())
    assert set(PEERS) <= set(re.findall(r"[\w-]+", said))


def test_a_table_that_shows_nothing_says_how_to_show_something(run, tmp_path):
    (tmp_path / "own.toml").write_text(
        '[seeds]\nrepeats = 1\n[data]\ncategorical = ["ZO"]\n[[methods]]\nmethod = "kmodes"\nvariant = "v"\n',
        encoding="utf-8",
    )
    assert run("lab", "run", "--protocol", "own.toml").code == 0
    ended = run("lab", "table", 2, "--protocol", "own.toml")
    assert ended.code == 2
    assert "shows no method in Table 2" in ended.err


def test_a_class_without_a_seed_is_run_once(run, tmp_path, monkeypatch):
    (tmp_path / "thirds.py").write_text(
        "from sklearn.base import BaseEstimator\nclass Thirds(BaseEstimator):\n"
        "    def fit(self, X, y=None):\n        self.labels_ = [row % 3 for row in range(len(X))]\n"
        "        return self\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    ended = run("lab", "run", "--quick", "-d", "ZO,TA", "-m", "thirds:Thirds")
    assert "2 runs in" in ended.err


def test_the_best_method_is_the_control_where_disc_is_not_among_them(run, tmp_path):
    method = (
        '[[methods]]\nmethod = "{0}"\nvariant = "v"\n'
        'shown = [{{ table = "2", label = "{0}", ranked = true }}]\n'
    )
    (tmp_path / "own.toml").write_text(
        '[seeds]\nrepeats = 1\n[data]\ncategorical = ["ZO", "TA"]\n'
        + method.format("kmodes")
        + method.format("sigdt"),
        encoding="utf-8",
    )
    assert run("lab", "run", "--protocol", "own.toml", "-q").code == 0
    ended = run("lab", "significance", "--protocol", "own.toml", "--measure", "nmi")
    assert ended.code == 0
    assert "| method | average rank | from kmodes |" in ended.out
    assert run("lab", "page", "--protocol", "own.toml", "-o", "page.md").code == 0
