"""Dask clusters whose processes die, close or run short of memory: the labels of memory, or one sentence."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import psutil
import pytest
from tests.optional import OptionalPackage

from catalpa import Grove, KModes
from catalpa.errors import CatalpaWarning, EngineStopped

dask = OptionalPackage("dask")
distributed = OptionalPackage("distributed")
dd = OptionalPackage("dask.dataframe")

pytestmark = [pytest.mark.process, pytest.mark.dask]

# More rows than Grove's search looks at, so that it visits all rows on the cluster too.
ROWS = 21_000
METHODS = {
    "kmodes": lambda **settings: KModes(3, n_init=1, random_state=0, **settings),
    "grove": lambda **settings: Grove(
        3, n_init=1, prior=1.0, sizes="equal", random_state=0, n_jobs=1, **settings
    ),
}
both = pytest.mark.parametrize("method", list(METHODS))
WORDS = np.array(["low", "mid", "high", "other"], dtype=object)
DRIVER_GROWTH = 150 << 20  # bytes that the driver may grow by during a fit, whatever the size of the table


def planted(n: int, seed: int = 0, words: np.ndarray = WORDS) -> pd.DataFrame:
    """Three noisy groups of rows."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    drawn = (np.where(rng.random(n) < 0.7, group, rng.integers(4, size=n)) for _ in range(5))
    return pd.DataFrame({f"c{at}": words[codes] for at, codes in enumerate(drawn)})


@pytest.fixture(scope="module")
def frame():
    return planted(ROWS)


@pytest.fixture(scope="module")
def known(frame):
    """The labels of memory."""
    return {name: make().fit(frame).labels_ for name, make in METHODS.items()}


def cluster_of(workers: int, **settings):
    settings = {"memory_limit": 0, "dashboard_address": ":0"} | settings
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, **settings)


@pytest.fixture(scope="module")
def workers():
    """A worker process."""
    with cluster_of(1) as started:
        yield started


def once_on_the_cluster(act):
    """A callback that acts once, after a pass over the rows that the cluster holds."""
    acted = []

    def callback(event) -> None:
        # Grove's search is here; what it found is then taken over all rows, there.
        if not acted and event.step != "search" and event.step != "start":
            acted.append(event)
            act()

    return callback, acted


@both
def test_a_killed_worker_does_not_change_the_labels(method, frame, known):
    with cluster_of(2) as losing, distributed.Client(losing) as client:
        callback, acted = once_on_the_cluster(
            lambda: os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        )
        model = METHODS[method](callback=callback).fit(dd.from_pandas(frame, npartitions=4))
        assert acted
        np.testing.assert_array_equal(np.asarray(model.labels_), known[method])


def test_blocks_that_are_spilled_to_disk_do_not_change_the_labels(frame, known):
    # A worker may keep 40 kB in memory, less than one block: all others are on disk.
    memory = {"target": 1e-4, "spill": False, "pause": False, "terminate": False}
    limits = {f"distributed.worker.memory.{name}": value for name, value in memory.items()}
    with (
        dask.config.set(limits),
        cluster_of(1, memory_limit=400_000_000) as workers,
        distributed.Client(workers) as client,
    ):
        for method, make in METHODS.items():
            on_disk = []
            callback, _ = once_on_the_cluster(lambda seen=on_disk: seen.extend(client.run(spilled).values()))
            model = make(callback=callback).fit(dd.from_pandas(frame, npartitions=4))
            assert on_disk[0] > 0
            np.testing.assert_array_equal(np.asarray(model.labels_), known[method])


def spilled(dask_worker) -> int:
    return len(dask_worker.data.slow)


STOPPED = "^The Dask cluster was closed, or the client lost its connection"


@both
def test_a_client_that_is_closed_during_a_fit_is_one_sentence(method, workers, frame):
    with distributed.Client(workers) as client:
        callback, acted = once_on_the_cluster(client.close)
        with pytest.raises(EngineStopped, match=STOPPED):
            METHODS[method](callback=callback).fit(dd.from_pandas(frame, npartitions=2))
        assert acted


@both
def test_a_cluster_that_is_closed_during_a_fit_is_one_sentence(method, frame):
    with cluster_of(1) as closing, distributed.Client(closing):
        callback, acted = once_on_the_cluster(closing.close)
        with pytest.raises(EngineStopped, match=STOPPED):
            METHODS[method](callback=callback).fit(dd.from_pandas(frame, npartitions=2))
        assert acted


@pytest.mark.parametrize("knows", ["client", "scheduler"])
def test_a_cluster_without_workers_is_not_waited_for_for_ever(knows, frame):
    patience = {"distributed.scheduler.no-workers-timeout": "2s"}
    before, after = (patience, {}) if knows == "scheduler" else ({}, patience)
    with dask.config.set(before), cluster_of(1) as losing, distributed.Client(losing) as client:

        def lose_all_workers() -> None:
            losing.scale(0)
            while client.nthreads():
                time.sleep(0.1)

        callback, acted = once_on_the_cluster(lose_all_workers)
        with (
            dask.config.set(after),
            pytest.raises(EngineStopped, match=r"^The Dask cluster had no workers for \d+ seconds, so"),
        ):
            METHODS["kmodes"](callback=callback).fit(dd.from_pandas(frame, npartitions=2))
        assert acted


def test_a_fit_waits_for_workers_that_are_still_starting(monkeypatch, frame, known):
    monkeypatch.setattr("catalpa.engines.dask.WARN_AFTER", 1.5)
    with cluster_of(0) as starting, distributed.Client(starting):
        later = threading.Timer(4.0, starting.scale, [1])
        later.start()
        with pytest.warns(CatalpaWarning, match="has no workers, so nothing is computed"):
            model = METHODS["kmodes"]().fit(dd.from_pandas(frame, npartitions=2))
        later.join()
        np.testing.assert_array_equal(np.asarray(model.labels_), known["kmodes"])


def sleep_for_long(block) -> int:
    time.sleep(3600)
    return len(block)


def test_a_cluster_that_closes_during_a_pass_is_not_waited_for(frame):
    with cluster_of(1) as closing, distributed.Client(closing) as client:
        engine = METHODS["kmodes"]()._open_problem(dd.from_pandas(frame, npartitions=2)).engine
        errors = []

        def wait_for_the_pass() -> None:
            try:
                engine.total(sleep_for_long)
            except EngineStopped as error:
                errors.append(error)

        waiting = threading.Thread(target=wait_for_the_pass, daemon=True)
        waiting.start()
        while not any(client.processing().values()):
            time.sleep(0.1)
        closing.close()
        waiting.join(120)  # the pass itself would take an hour
        assert not waiting.is_alive()
        assert len(errors) == 1


def long_texts(seed: int) -> pd.DataFrame:
    return planted(20_000, seed, np.array([f"{word} {'x' * 300}" for word in WORDS], dtype=object))


@both
def test_the_driver_does_not_grow_with_the_table(method, workers):
    """A table of 600 MB that workers make and hold; the driver sees sums of it."""
    with distributed.Client(workers):
        warm = dd.from_map(long_texts, range(1), meta=long_texts(0).iloc[:0])
        METHODS[method]().fit(warm)  # what is imported and compiled on the way is not the table's
        parts = 20
        table = dd.from_map(long_texts, range(parts), meta=long_texts(0).iloc[:0])
        with peak_growth() as grown:
            model = METHODS[method]().fit(table)
    assert int(model.cluster_sizes_.sum()) == 20_000 * parts
    assert 20_000 * parts * 5 * 300 > 3 * DRIVER_GROWTH
    assert grown[0] < DRIVER_GROWTH


class peak_growth:  # noqa: N801 - reads as a word of the language
    """How much this process grew at most, looked at every few milliseconds."""

    def __enter__(self) -> list[int]:
        self.process, self.done, self.grown = psutil.Process(), threading.Event(), [0]
        self.before = self.process.memory_info().rss
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        return self.grown

    def _look(self) -> None:
        while not self.done.wait(0.02):
            self.grown[0] = max(self.grown[0], self.process.memory_info().rss - self.before)

    def __exit__(self, *_) -> None:
        self.done.set()
        self.thread.join()
