"""A fit that was killed continues from its checkpoint and ends where it would have ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalpa
from catalpa import DISC, Grove, KModes, KPrototypes, datasets
from catalpa.errors import CheckpointError, ParameterError
from catalpa.estimator.checkpoint import _bytes, checksum
from catalpa.table.blocks import Block

SETTINGS = {
    "KModes": 'KModes(4, n_init=3, random_state=1, checkpoint="kept")',
    "KPrototypes": 'KPrototypes(4, n_init=3, random_state=1, checkpoint="kept")',
    "Grove": 'Grove(4, n_init=1, random_state=1, checkpoint="kept")',
    "DISC": 'DISC(4, random_state=1, checkpoint="kept")',
}
KILLED = """
    import os, signal, sys, warnings
    warnings.simplefilter("ignore")
    import catalpa
    from catalpa import DISC, Grove, KModes, KPrototypes

    left = int(sys.argv[1])

    def kill(event):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    {model}.set_params(callback=kill).fit(catalpa.scan("rows.csv"))
"""


@pytest.fixture(autouse=True)
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A mixed table, in a folder of its own that is the current one."""
    monkeypatch.chdir(tmp_path)
    made = datasets.make_categorical(600, columns=6, categories=4, clusters=4, noise=0.7, seed=4)
    frame = made.frame.astype(str)
    frame["size"] = np.round(np.random.default_rng(1).normal(made.clusters), 2)
    frame.to_csv("rows.csv", index=False)
    return frame


def made(model: str) -> Any:
    return eval(model, {"KModes": KModes, "KPrototypes": KPrototypes, "DISC": DISC, "Grove": Grove})


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["KModes", "DISC"])
def test_a_killed_fit_continues_with_the_same_result(name: str, rows: pd.DataFrame) -> None:
    if name == "KModes":
        rows.drop(columns="size").to_csv("rows.csv", index=False)
    script = textwrap.dedent(KILLED).format(model=SETTINGS[name])
    killed = subprocess.run([sys.executable, "-c", script, "4"], check=False, env=_environment())
    assert killed.returncode == -signal.SIGKILL
    assert len(list(Path("kept").glob("pass-*.json"))) == 4
    continues(SETTINGS[name], catalpa.scan("rows.csv"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["KPrototypes"])
def test_an_interrupted_fit_continues_with_the_same_result(name: str, rows: pd.DataFrame) -> None:
    stopped_after(3, made(SETTINGS[name]), rows)
    continues(SETTINGS[name], rows)


@pytest.mark.filterwarnings("ignore::catalpa.errors.NoStructureWarning")
@pytest.mark.parametrize("passes", [1, 3, 5])
def test_grove_continues_in_its_passes_over_all_rows(
    passes: int, categories: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catalpa.cluster.grove.estimator.SEARCH_ROWS", 100)
    monkeypatch.setattr("catalpa.cluster.grove.estimator.ROWS_PER_CLUSTER", 1)
    stopped_after(passes, made(SETTINGS["Grove"]), categories, phase="all rows")
    assert len(list(Path("kept").glob("pass-*.json"))) == passes
    continues(SETTINGS["Grove"], categories)


@pytest.mark.filterwarnings("ignore::catalpa.errors.NoStructureWarning")
def test_grove_begins_its_search_again(categories: pd.DataFrame) -> None:
    stopped_after(3, made(SETTINGS["Grove"]), categories, phase="search")
    assert [path.name for path in Path("kept").iterdir()] == ["fit.json"]
    continues(SETTINGS["Grove"], categories)


def continues(model: str, X: Any) -> None:
    """Fit from the checkpoint and without one; both must come to the same end."""
    continued = made(model).fit(X)
    whole = made(model).set_params(checkpoint=None).fit(X)
    np.testing.assert_array_equal(continued.labels_, whole.labels_)
    assert continued.cost_ == whole.cost_
    assert continued.history_.equals(whole.history_)
    assert not Path("kept").exists()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def stopped_after(passes: int, model: Any, X: Any, phase: str | None = None) -> None:
    """Fit, and stop in the middle."""

    def stop(event: Any) -> None:
        nonlocal passes
        passes -= phase is None or event.step == phase
        if passes == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=stop).fit(X)


def kmodes(**settings: Any) -> KModes:
    return KModes(**{"n_clusters": 3, "n_init": 2, "random_state": 0, "checkpoint": Path("kept"), **settings})


@pytest.fixture
def categories(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.drop(columns="size")


def test_passes_that_were_kept_are_not_run_again(categories: pd.DataFrame) -> None:
    stopped_after(2, kmodes(), categories)
    first = Path("kept/pass-000001.json")
    kept = json.loads(first.read_text())
    kept["counts"]["cost"] += 2**40  # a change that only a pass that is played back can show
    kept.pop("checksum")
    first.write_bytes(_bytes(kept))
    seen: list[float] = []
    kmodes(callback=lambda event: seen.append(event.cost)).fit(categories)
    plain: list[float] = []
    kmodes(checkpoint=None, callback=lambda event: plain.append(event.cost)).fit(categories)
    assert seen[0] > plain[0]
    assert seen[1:] == plain[1:]


def test_threads_may_change_between_the_runs(categories: pd.DataFrame) -> None:
    stopped_after(2, kmodes(), categories)
    continued = kmodes(n_jobs=2).fit(categories)
    np.testing.assert_array_equal(continued.labels_, kmodes(checkpoint=None).fit(categories).labels_)


def test_a_fit_that_is_done_leaves_what_else_is_in_the_folder(categories: pd.DataFrame) -> None:
    Path("kept").mkdir()
    Path("kept/notes.txt").write_text("mine")
    kmodes().fit(categories)
    assert [path.name for path in Path("kept").iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("change", "differs"),
    [({"n_clusters": 4}, "n_clusters"), ({"random_state": 1}, "random_state"), ({"init": "huang"}, "init")],
)
def test_a_checkpoint_of_other_settings_is_refused(
    categories: pd.DataFrame, change: dict[str, Any], differs: str
) -> None:
    stopped_after(2, kmodes(), categories)
    with pytest.raises(CheckpointError, match=f"another fit; these differ: {differs}\\. Continue"):
        kmodes(**change).fit(categories)


def test_a_checkpoint_of_another_table_is_refused(categories: pd.DataFrame) -> None:
    stopped_after(2, kmodes(), categories)
    swapped = categories.copy()
    swapped.iloc[[0, 1]] = swapped.iloc[[1, 0]].to_numpy()
    with pytest.raises(CheckpointError, match="these differ: table"):
        kmodes().fit(swapped)


def test_another_start_than_the_one_kept_is_refused(categories: pd.DataFrame) -> None:
    centres = categories.iloc[[0, 10, 20]]
    stopped_after(2, kmodes(init=centres), categories)
    with pytest.raises(CheckpointError, match="differs from this fit in pass 1"):
        kmodes(init=categories.iloc[[1, 11, 22]]).fit(categories)


@pytest.mark.parametrize("content", ["", "[]"])
@pytest.mark.parametrize("file", ["fit.json", "pass-000001.json"])
def test_a_damaged_checkpoint_is_refused(categories: pd.DataFrame, file: str, content: str) -> None:
    stopped_after(2, kmodes(), categories)
    Path("kept", file).write_text(content)
    with pytest.raises(CheckpointError, match=file):
        kmodes().fit(categories)


def test_a_count_that_was_altered_is_noticed(categories: pd.DataFrame) -> None:
    stopped_after(2, kmodes(), categories)
    path = Path("kept", "pass-000001.json")
    kept = json.loads(path.read_text())
    for change in ("altered", "gone"):
        if change == "altered":
            kept["counts"]["sizes"]["values"][0] += 1
        else:
            del kept["counts"]
        path.write_text(json.dumps(kept))
        with pytest.raises(CheckpointError, match=r"pass-000001.json' was changed after it was written"):
            kmodes().fit(categories)


def test_a_folder_that_no_system_can_name_is_said(categories: pd.DataFrame) -> None:
    with pytest.raises(CheckpointError, match="cannot be written: embedded null byte"):
        kmodes(checkpoint="a\0b").fit(categories)


def test_a_checkpoint_that_cannot_be_written_is_said(categories: pd.DataFrame) -> None:
    Path("file").touch()
    with pytest.raises(CheckpointError, match="cannot be written"):
        kmodes(checkpoint="file/kept").fit(categories)
    Path("kept/pass-000002.json").mkdir(parents=True)
    Path("kept/pass-000002.json/in").mkdir()
    with pytest.raises(CheckpointError, match="cannot be"):
        kmodes().fit(categories)


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_a_checkpoint_needs_a_seed(categories: pd.DataFrame, seed: Any) -> None:
    with pytest.raises(ParameterError, match="checkpoint requires an integer random_state"):
        kmodes(random_state=seed).fit(categories)


def test_a_checkpoint_is_a_path(categories: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match="checkpoint of KModes must be None or the path of a folder"):
        kmodes(checkpoint=3).fit(categories)


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12)


@given(codes, st.integers(1, 5), st.booleans(), st.data())
def test_a_checksum_adds_over_any_blocks_and_sees_any_change(
    cells: list[tuple[int, int]], size: int, weighted: bool, data: st.DataObject
) -> None:
    array = np.array(cells, dtype=np.uint8)
    numbers = np.linspace(0, 1, len(cells))[:, None]
    weights = np.arange(1, len(cells) + 1) if weighted else None
    block = Block(array, numbers, weights)
    whole = checksum(block)
    assert sum(checksum(part) for part in block.cut(size))[0] == whole[0]
    row = data.draw(st.integers(0, len(cells) - 1))
    changed, other = array.copy(), numbers.copy()
    changed[row, 0] += 1
    other[row, 0] = np.nan
    assert checksum(Block(changed, numbers, weights))[0] != whole[0]
    assert checksum(Block(array, other, weights))[0] != whole[0]
    assert checksum(Block(array[::-1].copy(), numbers[::-1].copy(), weights))[0] != whole[0]
