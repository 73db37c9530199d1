"""Dask: the labels of memory, whatever the partitions, the scheduler, and the fate of a worker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.optional import OptionalPackage

from catalpa import CURE, DISC, MCDC, KModes, KPrototypes, datasets
from catalpa.errors import (
    ColumnMismatch,
    ParameterError,
    TableError,
    UnseenCategories,
    UnsupportedTable,
)
from catalpa.steps.assign import assign_and_count
from catalpa.steps.scores import to_fixed_point

dask, distributed = OptionalPackage("dask"), OptionalPackage("distributed")
dd, da = OptionalPackage("dask.dataframe"), OptionalPackage("dask.array")


def planted(n: int, seed: int = 0) -> pd.DataFrame:
    """Three noisy groups of rows with text, a few missing cells, and a number."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    columns = {}
    for at in range(5):
        drawn = np.where(rng.random(n) < 0.7, group, rng.integers(4, size=n))
        columns[f"c{at}"] = np.array(["low", "mid", "high", "other"], dtype=object)[drawn]
    columns["c4"][rng.random(n) < 0.02] = None
    return pd.DataFrame(columns | {"price": np.round(group + rng.normal(size=n), 3)})


def same_fit(one, other) -> None:
    np.testing.assert_array_equal(np.asarray(one.labels_), np.asarray(other.labels_))
    assert one.cost_ == other.cost_
    pd.testing.assert_frame_equal(one.history_, other.history_)
    np.testing.assert_array_equal(one.cluster_sizes_, other.cluster_sizes_)


@pytest.fixture
def here():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("partitions", [1, 3, 20])
def test_partitions_do_not_change_a_fit(partitions, missing):
    frame = planted(600)
    make = KPrototypes(3, random_state=1, missing=missing, n_init=2)
    spread = KPrototypes(3, random_state=1, missing=missing, n_init=2)
    same_fit(make.fit(frame), spread.fit(dd.from_pandas(frame, npartitions=partitions)))


@pytest.mark.usefixtures("here")
def test_long_fits_keep_their_history(monkeypatch):
    """The memory is made afresh every few sweeps, which must not show."""
    monkeypatch.setattr("catalpa.engines.dask.LONGEST_CHAIN", 2)
    frame = planted(400)
    known = DISC(4, random_state=0, n_init=2).fit(frame)
    assert len(known.history_) > 4
    same_fit(known, DISC(4, random_state=0, n_init=2).fit(dd.from_pandas(frame, npartitions=3)))


@pytest.mark.usefixtures("here")
def test_an_array_in_chunks_of_rows_and_columns_fits_as_one_array():
    array = np.random.default_rng(3).integers(3, size=(90, 6))
    chunked = da.from_array(array, chunks=(40, 4))
    known, spread = KModes(3, random_state=0).fit(array), KModes(3, random_state=0).fit(chunked)
    assert isinstance(spread.labels_, da.Array)
    assert spread.labels_.shape == (90,)
    same_fit(known, spread)
    np.testing.assert_array_equal(spread.transform(chunked), known.transform(array))


@pytest.mark.usefixtures("here")
def test_partitions_without_rows_are_nothing():
    frame = planted(300)
    spread = dd.from_pandas(frame, npartitions=6)
    some = spread.map_partitions(lambda part: part[part.index >= 100], meta=frame.iloc[:0])
    known = KModes(3, random_state=0).fit(frame.loc[100:].drop(columns="price"))
    fitted = KModes(3, random_state=0).fit(some.drop(columns="price"))
    same_fit(known, fitted)
    assert fitted.transform(some.drop(columns="price")).compute().shape == (200, 3)


@pytest.mark.usefixtures("here")
def test_answers_are_lazy_and_keep_the_index():
    frame = planted(120).drop(columns="price").set_index(pd.Index(np.arange(120) * 2 + 7, name="customer"))
    spread = dd.from_pandas(frame, npartitions=4)
    model = KModes(3, random_state=0).fit(spread)
    labels = model.predict(spread)
    assert isinstance(labels, dd.Series)
    assert labels.name == "cluster"
    assert labels.divisions == spread.divisions
    assert labels.compute().index.equals(frame.index)
    assert labels.compute().dtype == labels.dtype == np.int32
    costs = model.transform(spread)
    assert isinstance(costs, da.Array)
    np.testing.assert_array_equal(costs.compute(), model.transform(frame))


@pytest.mark.usefixtures("here")
def test_fits_and_labels_are_made_inside_delayed_functions():
    frame = planted(120).drop(columns="price")
    spread = dd.from_pandas(frame, npartitions=3)
    model = KModes(3, random_state=0).fit(frame)

    @dask.delayed
    def fitted(rows: pd.DataFrame) -> float:
        return KModes(3, random_state=0).fit(rows).cost_

    @dask.delayed
    def fitted_to_partitions() -> list[int]:
        return np.asarray(KModes(3, random_state=0).fit(spread).labels_).tolist()

    labels = [dask.delayed(model.predict)(part) for part in spread.to_delayed()]
    cost, inside, *parts = dask.compute(fitted(frame), fitted_to_partitions(), *labels)
    assert cost == model.cost_
    assert inside == np.concatenate(parts).tolist() == model.labels_.tolist()


@pytest.mark.usefixtures("here")
def test_predict_computes_nothing_until_asked():
    frame = planted(60).drop(columns="price")
    model = KModes(2, random_state=0).fit(frame)

    def unreadable() -> pd.DataFrame:
        raise OSError("read too early")

    lazy = dd.from_delayed([dask.delayed(unreadable)()], meta=frame.iloc[:0], verify_meta=False)
    labels = model.predict(lazy)
    with pytest.raises(OSError, match="read too early"):
        labels.compute()


@pytest.mark.usefixtures("here")
def test_new_categories_follow_the_rule_of_the_model():
    frame = planted(90).drop(columns="price")
    strange = frame.copy()
    strange.loc[5, "c0"] = "never seen"
    model = KModes(3, random_state=0, handle_unknown="ignore").fit(frame)
    spread = dd.from_pandas(strange, npartitions=3)
    np.testing.assert_array_equal(model.predict(spread), model.predict(strange))
    strict = KModes(3, random_state=0, handle_unknown="error").fit(frame)
    with pytest.raises(UnseenCategories, match="c0"):
        strict.predict(spread).compute()


@pytest.mark.usefixtures("here")
def test_a_method_that_visits_rows_in_order_says_why_it_refuses():
    with pytest.raises(UnsupportedTable, match="MCDC visits the rows one by one"):
        MCDC(2).fit(dd.from_pandas(planted(30).drop(columns="price"), npartitions=2))


@pytest.mark.usefixtures("here")
def test_what_dask_cannot_give_is_refused_in_words():
    frame = dd.from_pandas(planted(30).drop(columns="price"), npartitions=2)
    with pytest.raises(ParameterError, match="sample_weight is an array, but the rows"):
        KModes(2).fit(frame, sample_weight=np.ones(30))
    with pytest.raises(UnsupportedTable, match="dask Series is not a table"):
        KModes(2).fit(frame["c0"])
    with pytest.raises(UnsupportedTable, match=r"dask Array of shape \(3,\) is not a table"):
        KModes(2).fit(da.ones(3))
    with pytest.raises(TableError, match="no rows"):
        KModes(2).fit(frame[frame["c0"] == "nothing is like this"])
    with pytest.raises(UnsupportedTable, match="by strings"):
        KModes(2).fit(dd.from_pandas(pd.DataFrame([["a", "b"]] * 4), npartitions=1))
    model = KModes(2, random_state=0).fit(frame)
    with pytest.raises(ColumnMismatch, match="in a different order than at fit"):
        model.predict(frame[["c1", "c0", "c2", "c3", "c4"]])


@pytest.mark.usefixtures("here")
def test_an_engine_for_new_rows_counts_them_when_asked():
    frame = planted(50).drop(columns="price")
    model = KModes(2, random_state=0).fit(frame)
    engine, _ = model._opened(dd.from_pandas(frame, npartitions=3))
    assert engine.n_rows == 50
    assert model.score(dd.from_pandas(frame, npartitions=3)) == model.score(frame)


@pytest.fixture(scope="module")
def cluster():
    """Three worker processes."""
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.mark.usefixtures("cluster")
def test_worker_processes_give_the_labels_of_memory():
    frame = planted(3000)
    known = DISC(3, random_state=5, n_init=1).fit(frame)
    same_fit(known, DISC(3, random_state=5, n_init=1).fit(dd.from_pandas(frame, npartitions=7)))


@pytest.mark.usefixtures("cluster")
def test_embedding_methods_give_the_labels_of_memory_on_workers():
    frame = datasets.load("zoo").frame
    same_fit(
        CURE(5, random_state=0).fit(frame), CURE(5, random_state=0).fit(dd.from_pandas(frame, npartitions=4))
    )


def test_a_fit_survives_the_death_of_a_worker(cluster):
    frame = planted(3000, seed=2)
    known = KPrototypes(4, random_state=5, n_init=1).fit(frame)
    assert len(known.history_) >= 4
    killed = []

    def kill_one(event) -> None:
        if not killed and event.moved < len(frame):
            killed.extend(cluster.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    survivor = KPrototypes(4, random_state=5, n_init=1, callback=kill_one)
    survivor.fit(dd.from_pandas(frame, npartitions=6))
    assert killed
    same_fit(known, survivor)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_scheduler_and_workers_started_by_command_serve_a_fit(tmp_path):
    address = f"tcp://127.0.0.1:{free_port()}"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "dask"]
    scheduler = ["scheduler", "--host", address, "--no-dashboard", "--no-show"]
    worker = [
        "worker",
        address,
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
        "--local-directory",
        str(tmp_path),
    ]
    started = [
        subprocess.Popen([*command, *rest], env=environment, stderr=subprocess.DEVNULL)
        for rest in (scheduler, worker, worker)
    ]
    try:
        with distributed.Client(address, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            frame = planted(1000)
            spread = KPrototypes(3, n_init=1, random_state=0).fit(dd.from_pandas(frame, npartitions=4))
            same_fit(KPrototypes(3, n_init=1, random_state=0).fit(frame), spread)
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait(30)


def bytes_of_five_sweeps(n: int, monkeypatch) -> int:
    """Bytes that scheduler, workers and client write to each other during five sweeps."""
    frame = planted(n).drop(columns="price")
    model = KModes(3, random_state=0)
    problem = model._open_problem(dd.from_pandas(frame, npartitions=4))
    fixed = to_fixed_point(
        KModes(3, random_state=0).fit(frame.head(500))._fitted.outcome.scores, problem.engine.axis
    )
    problem.engine.sweep(assign_and_count, fixed)
    written = []
    write = distributed.comm.tcp.TCP.write

    async def counted(self, *args, **settings):
        written.append(await write(self, *args, **settings))
        return written[-1]

    with monkeypatch.context() as patched:
        patched.setattr(distributed.comm.tcp.TCP, "write", counted)
        for _ in range(5):
            problem.engine.sweep(assign_and_count, fixed)
    return sum(written)


def test_what_travels_in_a_pass_does_not_grow_with_the_rows(monkeypatch):
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
        ) as workers,
        distributed.Client(workers),
    ):
        few = bytes_of_five_sweeps(15_000, monkeypatch)
        many = bytes_of_five_sweeps(150_000, monkeypatch)
    assert 0 < many < 1.3 * few
