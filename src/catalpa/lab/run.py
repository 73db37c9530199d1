"""All runs of a protocol: over processes, resumable at any moment, each run once."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from catalpa.datasets.load import is_here
from catalpa.datasets.registry import dataset_info
from catalpa.errors import ParameterError
from catalpa.lab.journal import ResultJournal
from catalpa.lab.measure import run_job
from catalpa.lab.protocol import Job, Protocol

FinishedRun: TypeAlias = tuple[Job, dict[str, Any]]  # with its row


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    # finished, total: runs that have a row, also from before, and all runs.
    finished: int
    total: int
    failed: int  # failed runs since the start
    seconds_left: float  # guessed from the sizes of the tables that are still to come


def run(
    protocol: Protocol,
    results: str | Path,
    *,
    jobs: int = 1,
    data_home: str | None = None,
    watch: Callable[[RunProgress], None] | None = None,
) -> pd.DataFrame:
    """Run what has no row yet and give all rows.

    Parameters
    ----------
    protocol : Protocol
    results : path
        The ``.parquet`` file that results are kept in. Runs with a row there are not repeated, so the same
        call continues after an interruption of any kind.
    jobs : int
        Processes.
    data_home : path, optional
        Folder of data sets, as in :func:`catalpa.datasets.load`.
    watch : callable, optional
        Called with a ``RunProgress`` after every run.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from catalpa.lab import read_protocol
    >>> small = read_protocol().restricted(methods=["kmodes"], datasets=["ZO"], repeats=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = run(small, pathlib.Path(folder, "results.parquet"))
    >>> rows[["dataset", "seed", "clusters_left"]].values.tolist()
    [['ZO', 0, 7], ['ZO', 1, 7]]
    """
    if jobs < 1:
        raise ParameterError(f"jobs={jobs}, but at least one process is needed.")
    journal = ResultJournal(results)
    planned = list(protocol.jobs())
    with journal.locked():
        done = journal.done()
        todo = [job for job in planned if job.key not in done]
        here = ((job, run_job(job, data_home)) for job in todo)
        finishing = here if jobs == 1 else _in_processes(todo, data_home, jobs)
        began, failed, through, left = time.monotonic(), 0, 0, sum(map(_cells, todo))
        for finished, (job, row) in enumerate(finishing, start=len(planned) - len(todo) + 1):
            journal.append(row)
            # A run on a table takes as long as the table has cells.
            failed, through = failed + (row["error"] != ""), through + _cells(job)
            pace = (time.monotonic() - began) / through
            if watch is not None:
                watch(RunProgress(finished, len(planned), failed, pace * (left - through)))
        # Only at the end: meanwhile rows are safe as lines, and the file is written once.
        journal.gather()
        return journal.rows()


def available(protocol: Protocol) -> tuple[Protocol, list[str]]:
    """The protocol on those of its data sets that are on this computer, and what is left out."""
    categorical = tuple(name for name in protocol.categorical if is_here(name))
    mixed = tuple(name for name in protocol.mixed if is_here(name, variant="mixed"))
    missing = [name for name in protocol.categorical if name not in categorical]
    # The same data set may be there as categories and lack its numbers.
    missing += [f"{name} with numbers" for name in protocol.mixed if name not in mixed]
    return replace(protocol, categorical=categorical, mixed=mixed), missing


def _in_processes(todo: Sequence[Job], data_home: str | None, jobs: int) -> Iterator[FinishedRun]:
    """Runs in processes; when one of them dies, its jobs are run again, each alone."""
    waiting = iter(todo)
    suspects: list[Job] = []
    while lost := (yield from _in_pool(waiting, data_home, jobs)):
        suspects += lost
    # Any of the jobs under way may have killed the process: alone, each answers for itself.
    for job in suspects:
        if (yield from _in_pool(iter([job]), data_home, 1)):
            error = "ChildProcessError: the process of this run ended by itself, perhaps for want of memory"
            yield job, job.identity | {"error": error}


def _in_pool(
    waiting: Iterator[Job], data_home: str | None, jobs: int
) -> Generator[FinishedRun, None, list[Job]]:
    """Runs in one pool of processes; returns the jobs that were under way when one of these died."""
    under_way: dict[Future[dict[str, Any]], Job] = {}
    # A forked process would inherit the locks of threads that it does not have.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_prepare_worker) as pool, _processes_ended_on_error():
        while True:
            with _interrupts_blocked():
                # One job waits for every process: none is idle, and a death costs few of them.
                for job in itertools.islice(waiting, 2 * jobs - len(under_way)):
                    under_way[pool.submit(run_job, job, data_home)] = job
            if not under_way:
                return []
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                try:
                    row = future.result()
                except BrokenProcessPool:
                    return list(under_way.values())
                yield under_way.pop(future), row


@contextmanager
def _processes_ended_on_error() -> Iterator[None]:
    """On Ctrl-C, or when rows cannot be kept: end the processes, whose runs are begun again next time."""
    before = set(multiprocessing.active_children())
    try:
        yield
    except BaseException:
        # Only those of this pool; the caller may have processes of its own.
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes started here leave Ctrl-C to the one that hands out work, which hears it a moment later."""
    if sys.platform == "win32":
        yield
        return
    # Blocked, not ignored: what is pressed meanwhile waits, and the mask goes to the processes.
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)


def _prepare_worker() -> None:
    """In a worker: one thread, and an end when the process that hands out work is killed."""
    # Several processes with as many threads as cores each would wait for each other.
    threadpool_limits(1)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        # Not sys.exit, which would end this thread only.
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _cells(job: Job) -> int:
    facts = dataset_info(job.dataset)
    return facts.rows * facts.columns
