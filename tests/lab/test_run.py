"""Runs are measured, kept, continued, and never lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import adjusted_rand_score
from tests.offline import python_path

import catalpa
from catalpa.errors import OutputError, ParameterError
from catalpa.lab import Entry, Job, read_protocol, read_results, run
from catalpa.lab import journal as journal_module
from catalpa.lab.journal import COLUMNS, KEY, ResultJournal
from catalpa.lab.measure import run_job

SOURCE = Path(__file__).resolve().parents[2] / "src"
STEADY = [name for name in COLUMNS if name not in ("seconds", "versions")]
ROW = {"method": "m", "variant": "v", "dataset": "ZO", "columns": "categorical", "seed": 0}


class Halves(ClusterMixin, BaseEstimator):
    """A clusterer of another package: the first half and the second."""

    def fit(self, X, y=None):
        self.labels_ = (np.arange(len(X)) >= len(X) // 2).astype(int)
        return self


def one(method, dataset="ZO", seed=0, **parameters):
    return Job(Entry(method, "own", parameters), dataset, "categorical", seed)


def test_a_row_says_what_fitting_by_hand_says():
    zoo = catalpa.datasets.load("zoo")
    model = catalpa.KModes(7, n_init=1, random_state=3).fit(zoo.frame)
    row = run_job(one("kmodes", seed=3, n_init=1))
    assert row["ARI"] == pytest.approx(adjusted_rand_score(zoo.target, model.labels_))
    assert row["cost"] == model.cost_
    assert row["passes"] == model.n_iter_
    assert row["clusters_left"] == row["clusters_asked"] == 7
    assert row["largest_share"] == np.bincount(model.labels_).max() / 101
    assert row["one_cluster"] == 41 / 101
    assert row["error"] == ""
    assert f"catalpa {catalpa.__version__}" in row["versions"]


def test_every_row_has_every_column(results):
    assert list(results.columns) == list(COLUMNS)
    assert not results.duplicated(KEY).any()


def test_a_method_that_is_undefined_on_a_table_leaves_a_row_that_says_so(results):
    rows = results[(results["method"] == "cbdm") & (results["dataset"] == "CA")]
    assert len(rows) == 2
    assert rows["error"].str.contains("UndefinedMetric: CBDM is not defined").all()
    assert rows["ACC"].isna().all()


def test_a_method_without_chance_is_run_once(results):
    assert results.loc[results["method"] == "sigdt", "seed"].tolist() == [0, 0]


def test_a_data_set_that_is_not_there_leaves_a_row_that_says_so():
    row = run_job(one("kmodes", dataset="NOPE"))
    assert "no data set called 'NOPE'" in row["error"]


def test_compactness_averages_over_the_clusters_asked_for_or_found():
    zoo = catalpa.datasets.load("zoo")
    labels = (np.arange(101) >= 50).astype(int)
    row = run_job(one(f"{__name__}:Halves"))
    # Halves has no n_clusters, so its two clusters are all there are.
    assert row["CMP"] == pytest.approx(catalpa.metrics.compactness(zoo.frame, labels))


def test_a_second_run_repeats_nothing(tiny, tiny_results, tmp_path):
    path = tmp_path / "results.parquet"
    part = tiny.restricted(repeats=1)
    first = run(part, path)
    counted = []
    both = run(tiny, path, watch=counted.append)
    assert len(counted) == len(tiny_results) - len(first)
    assert counted[-1].finished == counted[-1].total == len(tiny_results)
    assert counted[-1].seconds_left == 0
    pd.testing.assert_frame_equal(both[STEADY], tiny_results[STEADY])
    assert run(tiny, path, watch=counted.append).equals(both)
    assert len(counted) == len(tiny_results) - len(first)


def test_processes_beside_each_other_give_the_same_rows(tiny, tiny_results, tmp_path):
    beside = run(tiny, tmp_path / "results.parquet", jobs=2)
    pd.testing.assert_frame_equal(beside[STEADY], tiny_results[STEADY])


def test_a_process_that_dies_is_recorded_and_stops_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # which started processes are given, too
    (tmp_path / "deadly.py").write_text(
        "import os\nfrom sklearn.base import BaseEstimator\n"
        "class Dies(BaseEstimator):\n    def fit(self, X, y=None):\n        os._exit(3)\n",
        encoding="utf-8",
    )
    protocol = read_protocol().restricted(methods=["kmodes"], datasets=["ZO"], repeats=1)
    rows = run(protocol.with_method("deadly:Dies"), tmp_path / "results.parquet", jobs=2)
    died = rows[rows["method"] == "deadly:Dies"]
    assert died["error"].str.startswith("ChildProcessError").tolist() == [True]
    assert rows.loc[rows["method"] == "kmodes", "error"].tolist() == [""]


def test_failed_runs_are_run_again_when_asked(tiny, tiny_results, tmp_path):
    path = tmp_path / "results.parquet"
    run(tiny, path)
    ResultJournal(path).forget_failures({job.key for job in tiny.restricted(methods=["kmodes"]).jobs()})
    assert len(read_results(path)) == len(tiny_results)  # no planned run had failed
    ResultJournal(path).forget_failures({job.key for job in tiny.jobs()})
    assert len(read_results(path)) == len(tiny_results) - 2
    assert len(run(tiny, path)) == len(tiny_results)


def test_a_run_killed_at_any_moment_loses_and_repeats_nothing(small, results, tmp_path):
    path = tmp_path / "results.parquet"
    code = (
        "from catalpa.lab import read_protocol, run\n"
        "if __name__ == '__main__':\n"
        "    p = read_protocol().restricted(methods=['kmodes', 'cbdm', 'disc', 'sigdt'],"
        " datasets=['CA', 'ZO'], repeats=2)\n"
        f"    run(p, {str(path)!r})\n"
    )
    environment = {**os.environ, "PYTHONPATH": python_path(SOURCE)}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    while process.poll() is None and len(_lines(path)) < 4:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = [json.loads(line) for line in _lines(path) if line.endswith("}")]
    seconds = {tuple(row[name] for name in KEY): row["seconds"] for row in kept}
    assert len(seconds) == len(kept) >= 4
    rows = run(small, path)
    pd.testing.assert_frame_equal(rows[STEADY], results[STEADY])
    # The rows from before the kill are still the same runs.
    again = {tuple(row[name] for name in KEY): row["seconds"] for row in rows.to_dict("records")}
    assert {key: again[key] for key in seconds} == seconds


def _lines(path):
    lines = path.with_suffix(".jsonl")
    return lines.read_text("utf-8").splitlines() if lines.exists() else []


def test_workers_end_with_the_process_that_hands_out_work(tmp_path):
    pytest.importorskip("psutil")
    import psutil

    code = (
        "from catalpa.lab import read_protocol, run\n"
        "if __name__ == '__main__':\n"
        f"    run(read_protocol().quick(), {str(tmp_path / 'results.parquet')!r}, jobs=2)\n"
    )
    script = tmp_path / "go.py"
    script.write_text(code, encoding="utf-8")
    process = psutil.Popen([sys.executable, script], env={**os.environ, "PYTHONPATH": python_path(SOURCE)})
    while not _lines(tmp_path / "results.parquet"):
        time.sleep(0.02)
    workers = process.children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert workers
    assert not alive


def test_a_torn_line_is_passed_over_and_the_next_row_is_whole(tmp_path):
    journal = ResultJournal(tmp_path / "results.parquet")
    journal.append(ROW)
    with journal.lines.open("a", encoding="utf-8") as stream:
        stream.write('{"method": "m", "variant": "v", "da')
    journal.append({**ROW, "seed": 1, "ACC": 0.25})
    assert journal.rows()["seed"].tolist() == [0, 1]
    journal.gather()
    assert not journal.lines.exists()
    assert read_results(journal.path)["ACC"].tolist()[1] == 0.25


def test_a_line_cut_inside_a_letter_of_several_bytes_is_passed_over(tmp_path):
    journal = ResultJournal(tmp_path / "results.parquet")
    journal.append({**ROW, "error": "naïve"})
    whole = journal.lines.read_bytes()
    journal.lines.write_bytes(whole + whole[: whole.index("ï".encode()) + 1])
    assert len(journal.rows()) == 1


def test_rows_gathered_twice_are_there_once(tmp_path):
    journal = ResultJournal(tmp_path / "results.parquet")
    journal.append(ROW)
    lines = journal.lines.read_bytes()
    journal.gather()
    journal.lines.write_bytes(lines)  # as after a kill between writing the one and removing the other
    assert len(journal.rows()) == 1


def test_results_go_into_parquet_only(tmp_path):
    with pytest.raises(ParameterError, match=r"\.parquet file"):
        ResultJournal(tmp_path / "results.csv")


def test_reading_results_that_are_not_there_says_how_to_make_them(tmp_path):
    with pytest.raises(ParameterError, match="catalpa lab run"):
        read_results(tmp_path / "results.parquet")


def test_no_process_is_too_few(tiny, tmp_path):
    with pytest.raises(ParameterError, match="at least one process"):
        run(tiny, tmp_path / "results.parquet", jobs=0)


def test_two_runs_do_not_write_to_the_same_results(tiny, tmp_path):
    path = tmp_path / "results.parquet"
    with ResultJournal(path).locked():
        with pytest.raises(OutputError, match="Another run is writing"):
            run(tiny, path)
        with pytest.raises(OutputError, match="Another run is writing"):
            ResultJournal(path).forget_failures({job.key for job in tiny.jobs()})
    assert list(tmp_path.iterdir()) == []
    assert len(run(tiny.restricted(repeats=1), path)) > 0


def test_results_that_cannot_be_kept_are_refused_before_the_first_run(tiny, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder.parquet").mkdir()
    seen = []
    with pytest.raises(OutputError, match=r"Results cannot be kept at .*results.parquet"):
        run(tiny, tmp_path / "file" / "results.parquet", watch=seen.append)
    with pytest.raises(OutputError, match="is a folder"):
        run(tiny, tmp_path / "folder.parquet", watch=seen.append)
    assert seen == []


def test_a_row_that_finds_no_room_says_so(tmp_path):
    journal = ResultJournal(tmp_path / "file" / "results.parquet")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="Results cannot be kept"):
        journal.append(ROW)
    with pytest.raises(OutputError, match="Results cannot be kept"):
        journal.gather()


def test_a_damaged_file_of_results_says_so(tiny, tmp_path):
    damaged, other = tmp_path / "damaged.parquet", tmp_path / "other.parquet"
    damaged.write_bytes(b"no parquet")
    pd.DataFrame({"method": ["m"], "seed": [1]}).to_parquet(other)
    with pytest.raises(ParameterError, match=r"damaged.parquet' cannot be read"):
        run(tiny, damaged)
    assert damaged.read_bytes() == b"no parquet"
    with pytest.raises(ParameterError, match="lacks the columns variant, dataset, columns"):
        read_results(other)


@pytest.mark.parametrize("wrong", [{"seed": "one"}, {"seed": None}, {"dataset": 3}, {"ACC": "high"}])
def test_a_damaged_line_is_passed_over(tmp_path, wrong):
    journal = ResultJournal(tmp_path / "results.parquet")
    journal.append({**ROW, "ACC": 0.5, "passes": None})
    journal.append({**ROW, **wrong})
    assert journal.rows()["ACC"].tolist() == [0.5]


def test_rows_gathered_while_they_are_read_are_not_missed(tmp_path, monkeypatch):
    journal = ResultJournal(tmp_path / "results.parquet")
    journal.append(ROW)
    read = journal_module.whole_lines

    def read_and_gather(path):
        rows = read(path)
        monkeypatch.setattr(journal_module, "whole_lines", read)
        journal.gather()
        return rows

    monkeypatch.setattr(journal_module, "whole_lines", read_and_gather)
    assert len(journal.rows()) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_run_ends_at_once_without_a_word_from_its_processes(tmp_path, jobs):
    path = tmp_path / "results.parquet"
    script = tmp_path / "go.py"
    script.write_text(
        "import signal, sys\n"
        "from catalpa.lab import read_protocol, run\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    try:\n"
        f"        run(read_protocol().quick(), {str(path)!r}, jobs={jobs})\n"
        "    except KeyboardInterrupt:\n"
        "        sys.exit(130)\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": python_path(SOURCE)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while process.poll() is None and not _lines(path):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of its processes
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == b""
    assert len(ResultJournal(path).rows()) == len(_lines(path)) > 0
