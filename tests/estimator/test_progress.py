"""What a callback and ``verbose`` tell of a fit."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import catalpa
from catalpa import Grove, KModes, Progress, datasets
from catalpa.cluster.registry import METHODS
from catalpa.errors import ParameterError
from catalpa.loop import progress as progress_module

every_method = pytest.mark.parametrize(
    "method", [entry.estimator for entry in METHODS.values()], ids=lambda method: method.__name__
)


@pytest.fixture
def rows() -> pd.DataFrame:
    return datasets.make_categorical(
        200, columns=5, categories=4, clusters=3, noise=0.5, seed=1
    ).frame.astype(str)


def made(method: Any, **settings: Any) -> Any:
    names = method().get_params()
    wanted = {"n_clusters": 3, "random_state": 0, **settings}
    return method(**{name: value for name, value in wanted.items() if name in names})


class Clock:
    """A clock that goes on by one second whenever it is read."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress_module.time, "monotonic", made)
    return made


@every_method
@pytest.mark.filterwarnings("ignore")
def test_a_callback_is_told_of_every_pass_that_led_to_the_clusters(method: Any, rows: pd.DataFrame) -> None:
    told: list[Progress] = []
    model = made(method, callback=told.append).fit(rows)
    assert all(isinstance(one, Progress) for one in told)
    passes = [(one.step, one.cost, one.moved, one.clusters) for one in told]
    history = model.history_[["phase", "cost", "moved", "clusters"]]
    assert set(history.itertuples(index=False, name=None)) <= set(passes)
    assert all(0 < one.number <= (one.at_most or one.number) and one.start <= one.starts for one in told)
    assert {one.k for one in told} == {getattr(model, "n_clusters", None)}


@every_method
@pytest.mark.filterwarnings("ignore")
def test_being_watched_changes_no_label(method: Any, rows: pd.DataFrame, capsys: Any) -> None:
    alone = made(method).fit(rows)
    assert capsys.readouterr().out == ""
    watched = made(method, callback=lambda _: True, verbose=2).fit(rows)
    assert watched.labels_.tolist() == alone.labels_.tolist()
    assert len(capsys.readouterr().out.splitlines()) >= len(watched.history_)


def test_costs_are_told_in_the_weights_of_the_user(rows: pd.DataFrame) -> None:
    told: list[Progress] = []
    weights = np.random.default_rng(0).uniform(0.1, 2.0, len(rows))
    model = KModes(3, random_state=0, callback=told.append).fit(rows, sample_weight=weights)
    assert set(model.history_["cost"]) <= {one.cost for one in told}


@pytest.mark.usefixtures("clock")
def test_time_left_is_known_once_a_start_is_finished(rows: pd.DataFrame) -> None:
    told: list[Progress] = []
    KModes(3, n_init=4, random_state=0, callback=told.append).fit(rows)
    assert {one.starts for one in told} == {4}
    first, later = [one for one in told if one.start == 1], [one for one in told if one.start > 1]
    assert [one.start for one in told] == sorted(one.start for one in told)
    assert all(one.seconds_left is None for one in first)
    # A quarter is done after the first start: three times as long as until now.
    at = {start: next(one for one in later if one.start == start) for start in (2, 3, 4)}
    assert at[2].seconds_left == pytest.approx(3 * at[2].seconds)
    assert at[3].seconds_left == pytest.approx(at[3].seconds)
    assert at[4].seconds_left == pytest.approx(at[4].seconds / 3)


def test_one_start_gives_no_guess_of_the_time_left(rows: pd.DataFrame) -> None:
    told: list[Progress] = []
    KModes(3, n_init=1, random_state=0, callback=told.append).fit(rows)
    assert {(one.start, one.starts, one.seconds_left) for one in told} == {(1, 1, None)}


def test_a_search_for_the_number_says_which_is_tried_and_guesses_no_time(rows: pd.DataFrame) -> None:
    told: list[Progress] = []
    model = Grove("auto", n_init=1, random_state=0, callback=told.append).fit(rows)
    tried = [one.k for one in told]
    assert tried[0] == 1
    assert set(range(1, model.n_clusters_ + 1)) < set(tried)
    assert {one.seconds_left for one in told} == {None}
    # Three prior strengths; then free sizes, from the best of them and from the start, and near rivals.
    assert {3} < {one.starts for one in told if one.step == "search"} <= {2, 3, 4}


def test_choose_k_tells_of_its_fits(rows: pd.DataFrame) -> None:
    for method in (Grove, KModes):
        told: list[Progress] = []
        model = method(n_init=1, random_state=0, callback=told.append)
        catalpa.choose_k(rows, range(1, 4), method=model, repeats=0)
        assert {one.k for one in told} == {1, 2, 3}


def test_what_a_callback_raises_ends_the_fit(rows: pd.DataFrame) -> None:
    def stop(_: Progress) -> None:
        raise TimeoutError("long enough")

    model = KModes(3, random_state=0, callback=stop)
    with pytest.raises(TimeoutError, match="long enough"):
        model.fit(rows)
    assert not hasattr(model, "labels_")
    told: list[Progress] = []
    KModes(3, random_state=0, callback=told.append).fit(rows)
    assert told[0].start == 1  # nothing of the fit that ended is left


def test_batches_are_told_one_by_one(rows: pd.DataFrame) -> None:
    told: list[Progress] = []
    model = KModes(3, n_init=1, random_state=0, callback=told.append).partial_fit(rows[:100])
    first = len(told)
    model.partial_fit(rows[100:150]).partial_fit(rows[150:])
    assert [(one.step, one.number, one.moved) for one in told[first:]] == [("batch", 2, 50), ("batch", 3, 50)]


def test_a_callback_goes_along_with_a_clone_but_not_with_a_pickle(rows: pd.DataFrame, tmp_path: Path) -> None:
    told: list[Progress] = []
    model = KModes(3, random_state=0, verbose=1, callback=lambda progress: told.append(progress)).fit(rows)
    assert clone(model).callback is model.callback
    again = pickle.loads(pickle.dumps(model))
    assert again.callback is None
    assert again.predict(rows).tolist() == model.labels_.tolist()
    assert model.callback is not None
    model.save(tmp_path / "model.json")
    kept = json.loads((tmp_path / "model.json").read_text())["parameters"]
    assert not {"verbose", "callback"} & set(kept)
    assert catalpa.load(tmp_path / "model.json").callback is None
    assert not {"verbose", "callback"} & set(model.report(rows).summary["made_by"]["settings"])


def test_a_checkpoint_may_be_watched_in_the_second_run_only(rows: pd.DataFrame, tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.start == 2:
            raise KeyboardInterrupt

    settings: dict[str, Any] = {"n_init": 3, "random_state": 0, "checkpoint": tmp_path / "kept"}
    with pytest.raises(KeyboardInterrupt):
        KModes(3, callback=stop, **settings).fit(rows)
    assert KModes(3, **settings).fit(rows).cost_ == KModes(3, n_init=3, random_state=0).fit(rows).cost_


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"verbose": -1}, "verbose=-1"), ({"verbose": "much"}, "an integer"), ({"callback": 3}, "a function")],
)
def test_settings_that_cannot_work_are_refused(settings: Any, told: str, rows: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match=told):
        KModes(3, **settings).fit(rows)


@pytest.mark.usefixtures("clock")
def test_verbose_writes_about_a_line_a_second_and_the_last_pass(
    rows: pd.DataFrame, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Progress] = []
    monkeypatch.setattr(progress_module, "BETWEEN_LINES", 3.0)  # the clock goes on by one second a pass
    KModes(3, n_init=2, random_state=0, verbose=True, callback=told.append).fit(rows)
    lines = capsys.readouterr().out.splitlines()
    wanted = [one for at, one in enumerate(told) if at % 3 == 0 or at == len(told) - 1]
    assert lines == [f"KModes: {one}" for one in wanted]


def test_a_fit_without_passes_writes_nothing(capsys: Any) -> None:
    Grove(1, verbose=1, random_state=0).fit([["a"], ["a"]])
    assert capsys.readouterr().out == ""


def test_a_line_says_what_is_known() -> None:
    one = Progress("split", None, 7, 1, 1, 3, None, 0.0, 1234, 75.2, None)
    assert str(one) == "7 clusters, split pass 3: cost 0, 1,234 rows moved, 1:15 min"
    assert str(replace(one, seconds=1.0, seconds_left=130.0)).endswith(", 1.0 s (2:10 min left)")
