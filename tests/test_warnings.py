"""Every warning names the line of the user, however deep in the package it is given."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import catalpa
from catalpa import errors
from catalpa.errors import CatalpaWarning, ColumnWarning, UnseenCategoryWarning, warn_user
from catalpa.steps import compiled
from catalpa.table import encode, infer, infer_batches

SMALL = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["p", "q"] * 10})
NEW = pd.DataFrame({"a": ["x", "new"], "b": ["p", "q"]})
IDS = pd.DataFrame({"id": [f"n{at}" for at in range(40)], "b": ["p", "q"] * 20})
NOISE = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (150, 4)).astype(str), columns=list("abcd"))
THREE = catalpa.datasets.make_categorical(300, columns=8, clusters=3, noise=0.2, seed=0).frame
CRUMBS = pd.DataFrame({f"q{at}": ["a"] * 196 + ["b"] * 4 for at in range(6)})
WIDE = {"wide": np.arange(40.0) * 1e6, "narrow": np.tile([0.25, 0.5], 20), "b": ["p", "q"] * 20}
NUMBERS = pd.DataFrame(WIDE)


@cache
def fitted() -> catalpa.Grove:
    return catalpa.Grove(2, random_state=0).fit(SMALL)


def without_core() -> Any:
    compiled._warn_slow.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "_core", None)
        patch.delenv(compiled.CHOICE, raising=False)
        try:
            return catalpa.KModes(2, random_state=0).fit(SMALL)  # the user's line
        finally:
            compiled._warn_slow.cache_clear()


# Each calls what warns in its last line, which is the line of the user.
GIVEN: dict[type[Warning], list[Callable[[], Any]]] = {
    errors.ColumnWarning: [
        lambda: infer(IDS),
        lambda: infer_batches([IDS, IDS.assign(id=IDS["id"] + "b")]),
        lambda: catalpa.KModes(2, random_state=0).fit(IDS),
        lambda: catalpa.KModes(2, random_state=0).fit_predict(IDS),
        lambda: catalpa.KModes(2, random_state=0).fit_transform(IDS),
        lambda: catalpa.Grove(2, random_state=0).fit(IDS.to_dict("records")),
        lambda: catalpa.KPrototypes(2, scale=None, random_state=0).fit(NUMBERS),
        lambda: make_pipeline(FunctionTransformer(), catalpa.KModes(2, random_state=0)).fit(IDS),
        lambda: catalpa.KModes(2, random_state=0).partial_fit(IDS),
        lambda: GridSearchCV(catalpa.KModes(random_state=0), {"n_clusters": [2]}, cv=2).fit(IDS),
    ],
    errors.LopsidedClustersWarning: [lambda: catalpa.Grove(2, random_state=0).fit(CRUMBS)],
    errors.NoStructureWarning: [
        lambda: catalpa.Grove("auto", n_init=1, random_state=0).fit(NOISE),
        lambda: catalpa.Grove(3, n_init=1, random_state=0).fit(NOISE),
    ],
    errors.MostClustersWarning: [
        lambda: catalpa.Grove("auto", max_clusters=3, n_init=1, random_state=0).fit(THREE),
    ],
    errors.UnseenCategoryWarning: [
        lambda: encode(NEW, fitted().schema_),
        lambda: fitted().predict(NEW),
        lambda: fitted().predict(NEW.to_dict("records")),
        lambda: fitted().transform(NEW),
        lambda: fitted().score(NEW),
        lambda: fitted().predict_proba(NEW),
        lambda: fitted().scorer().predict(NEW),
        lambda: fitted().scorer().predict_one({"a": "new", "b": "p"}),
        lambda: make_pipeline(FunctionTransformer(), fitted()).predict(NEW),
        lambda: make_pipeline(FunctionTransformer(), fitted()).transform(NEW),
    ],
    errors.SlowCoreWarning: [without_core],
    ConvergenceWarning: [lambda: catalpa.KModes(4, random_state=0).fit(SMALL)],
}
CASES = [(kind, call) for kind, calls in GIVEN.items() for call in calls]


def lines_of(call: Callable[[], Any]) -> range:
    source, start = inspect.getsourcelines(call)
    return range(start, start + len(source))


@pytest.mark.parametrize(("kind", "call"), CASES)
def test_a_warning_names_the_line_of_the_user(kind, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    ours = [one for one in caught if issubclass(one.category, kind)]
    assert ours
    assert {(one.filename, one.lineno in lines_of(call)) for one in ours} == {(__file__, True)}


def every_warning(kind: type[Warning]) -> set[type[Warning]]:
    return {below for one in kind.__subclasses__() for below in (one, *every_warning(one))}


def test_every_warning_of_the_package_is_looked_at():
    ours = {kind for kind in every_warning(CatalpaWarning) if kind.__module__.startswith("catalpa")}
    assert ours <= set(GIVEN)


def test_a_query_and_a_file_warn_at_the_line_of_the_user(tmp_path):
    IDS.to_csv(tmp_path / "rows.csv", index=False)
    NEW.to_csv(tmp_path / "new.csv", index=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        catalpa.KModes(2, random_state=0).fit(catalpa.scan(tmp_path / "rows.csv"))
        fitted().predict(catalpa.scan(tmp_path / "new.csv"))
    assert {one.category for one in caught} >= {ColumnWarning, UnseenCategoryWarning}
    assert {one.filename for one in caught if issubclass(one.category, CatalpaWarning)} == {__file__}


def test_a_callback_that_predicts_is_warned_at_its_own_line():
    lines = []

    def callback(_progress: Any) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted().predict(NEW)
        lines.append((caught[0].filename, inspect.getsourcelines(callback)[1] + 3 == caught[0].lineno))

    catalpa.KModes(2, random_state=0, callback=callback).fit(SMALL)
    assert set(lines) == {(__file__, True)}


def test_a_warning_of_a_thread_of_ours_is_given_all_the_same():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(1) as pool:
            list(pool.map(partial(warn_user, category=ColumnWarning), ["from a thread"]))
    assert [str(one.message) for one in caught] == ["from a thread"]


@pytest.mark.process
def test_a_warning_is_shown_once_for_each_line(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from catalpa.table import infer\n"
        "rows = [[f'n{at}', 'p'] for at in range(40)]\n"
        "for _ in range(3):\n"
        "    infer(rows)\n"
        "infer(rows)\n"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    shown = [line for line in run.stderr.splitlines() if "ColumnWarning" in line]
    assert [line.partition(": ")[0] for line in shown] == [f"{script}:4", f"{script}:5"]
    assert "  infer(rows)" in run.stderr  # the source line, as Python shows it
