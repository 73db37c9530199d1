"""A plan on paper for very many rows: machines, passes, seconds and bytes, from figures measured here.

Run ``python benchmarks/plan.py --rows 1e9 1e10``. Grove with tied columns is fitted to a table in memory, and
the number of clusters is chosen, with an engine that notes every pass over the rows: what goes out to the
blocks of rows, what comes back from them (both pickled and weighed), and the processor time. Dask's scheduler
is timed with tasks that do nothing. The rest is arithmetic: rows divide evenly over cores, a sum is made in
steps of eight, and the network and the store deliver what ``--network`` and ``--store`` say. Parsing the
store's files is not in it. What the driver does between the passes (the search on a sample) does not depend
on the number of rows, and is taken as measured here.
"""

from __future__ import annotations

import argparse
import math
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import distributed
import numpy as np
import pyarrow as pa

import catalpa
from catalpa.engines.local import LocalEngine
from catalpa.table import encode, infer
from catalpa.table.blocks import Rows

FAN_IN = 8  # sums added by one task
BLOCKS = 8  # of the measured table
BLOCKS_PER_CORE = 2
GB = 1e9


@dataclass(frozen=True)
class Visit:
    """One pass over the rows."""

    step: str
    out: int  # bytes that a block gets
    back: tuple[int, ...]  # bytes that come back from each block
    seconds: float  # on one core, all rows


@dataclass
class Work:
    """All passes of a call, and what the driver does between them."""

    title: str
    rows: int
    visits: list[Visit] = field(default_factory=list)
    held_bytes: float = 0.0  # per row, encoded and remembered
    between_seconds: float = 0.0

    def by_step(self) -> dict[str, list[Visit]]:
        """The passes of each kind, in the order of their first."""
        found: dict[str, list[Visit]] = {}
        for visit in self.visits:
            found.setdefault(visit.step, []).append(visit)
        return found

    @property
    def driver_bytes(self) -> int:
        """Most that comes back to the driver in a pass: sums of the size of one block's, or sampled rows."""
        return max(self.returned(visit) for visit in self.visits)

    @staticmethod
    def returned(visit: Visit) -> int:
        """Bytes that reach the driver: a sum is as large as its parts, gathered rows are not added up."""
        return sum(visit.back) if visit.step.startswith("gather") else max(visit.back)


class NotingEngine(LocalEngine):
    """Blocks in this process, with a note of every pass."""

    def __init__(self, rows: Rows, work: Work) -> None:
        super().__init__(rows, rows_per_block=-(-len(rows) // BLOCKS))
        self.work = work

    def total(self, step: Callable[..., Any], *args: Any) -> Any:
        return reduce(add, self._noted(step, args, lambda block, _: (step(block, *args), None)))

    def sweep(self, step: Callable[..., Any], *args: Any) -> Any:
        return reduce(add, self._noted(step, args, lambda block, memory: step(block, memory, *args)))

    def each(self, step: Callable[..., Any], *args: Any) -> Any:
        return np.concatenate(self._noted(step, args, lambda block, _: (step(block, *args), None)))

    def _noted(self, step: Any, args: Any, visit: Callable[[Any, Any], tuple[Any, Any]]) -> list[Any]:
        results, began = [], time.process_time()
        for at, block in enumerate(self.blocks):
            result, memory = visit(block, self._memories[at])
            if memory is not None:
                self._memories[at] = memory
            results.append(result)
        seconds = time.process_time() - began
        name = getattr(step, "__name__", type(step).__name__).strip("_").replace("_", " ")
        back = tuple(len(pickle.dumps(result)) for result in results)
        self.work.visits.append(Visit(name, len(pickle.dumps((step, args))), back, seconds))
        held = sum(map(_array_bytes, self.blocks)) + sum(map(_array_bytes, self._memories))
        self.work.held_bytes = max(self.work.held_bytes, held / self.n_rows)
        return results


@contextmanager
def noting(work: Work) -> Iterator[None]:
    """Inside, Grove's passes over its table are noted."""
    opened = catalpa.Grove._open_problem

    def with_notes(model: Any, X: Any, sample_weight: Any = None) -> Any:
        problem = opened(model, X, sample_weight)
        if problem.engine.n_rows < work.rows:  # a fit to a sample of the rows, on the driver
            return problem
        return replace(problem, engine=NotingEngine(problem.engine.rows, work))

    catalpa.Grove._open_problem = with_notes  # type: ignore[method-assign]
    try:
        yield
    finally:
        catalpa.Grove._open_problem = opened  # type: ignore[method-assign]


def planted(rows: int, columns: int, categories: int, clusters: int) -> pa.Table:
    """Clusters in which every second column depends on the one before it, so that Grove ties them."""
    rng = np.random.default_rng(0)
    centres = rng.integers(categories, size=(clusters, columns))
    drawn = rng.integers(categories, size=(rows, columns))
    codes = np.where(rng.random((rows, columns)) < 0.5, centres[rng.integers(clusters, size=rows)], drawn)
    codes[:, 1::2] = np.where(
        rng.random(codes[:, 1::2].shape) < 0.6, codes[:, : columns // 2 * 2 : 2], codes[:, 1::2]
    )
    words = np.array([f"c{code}" for code in range(categories)])
    return pa.table({f"column_{at}": pa.array(words[codes[:, at]]) for at in range(columns)})


def measured(title: str, table: pa.Table, call: Callable[[], Any], encode_seconds: float) -> tuple[Work, Any]:
    """The passes of a call; the time between them is what is left of the call's."""
    work = Work(title, len(table))
    began = time.process_time()
    with noting(work), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = call()
    seconds = time.process_time() - began
    passes = sum(visit.seconds for visit in work.visits)
    work.between_seconds = max(seconds - passes - encode_seconds * len(table), 0.0)
    return work, result


def encode_seconds_per_row(table: pa.Table) -> float:
    """The digest for the schema included."""
    began = time.process_time()
    _ = encode(table, infer(table)).rows
    return (time.process_time() - began) / len(table)


def task_seconds(tasks: int = 1000) -> float:
    """What a task costs the scheduler."""
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as workers,
        distributed.Client(workers) as client,
    ):
        began = time.process_time()
        client.gather(client.map(abs, range(tasks)))
        return (time.process_time() - began) / tasks


def _array_bytes(thing: Any) -> int:
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    return sum(_array_bytes(getattr(thing, one.name)) for one in fields(thing)) if is_dataclass(thing) else 0


@dataclass(frozen=True)
class Machines:
    """What a cluster is made of."""

    number: int
    cores: int
    memory: float  # bytes each
    network: float  # bytes per second each
    store: float  # bytes per second each can read
    task_seconds: float  # of the scheduler, per task

    @property
    def blocks(self) -> int:
        return self.number * self.cores * BLOCKS_PER_CORE

    def pass_seconds(self, rows: float, visit: Visit, measured_rows: int) -> float:
        """Rows on the cores, the way out and back, and the tasks of a sweep with its sum."""
        levels = math.ceil(math.log(max(self.number * self.cores, 2), FAN_IN))
        # What goes out reaches every machine, machine from machine; sums meet in steps of eight.
        travel = math.log2(self.number + 1) * visit.out + levels * FAN_IN * max(visit.back)
        # A sweep, its result, and the sums on the way: a little more than two tasks for every block.
        scheduling = self.blocks * (2 + 1 / (FAN_IN - 1)) * self.task_seconds
        cores = rows / (self.number * self.cores) * visit.seconds / measured_rows
        return cores + travel / self.network + scheduling

    def moved(self, visit: Visit) -> float:
        """Bytes to and from all machines in a pass; gathered rows come once, whatever the blocks."""
        gathered = visit.step.startswith("gather")
        return self.number * visit.out + (sum(visit.back) if gathered else self.blocks * max(visit.back))


def show_passes(work: Work, title: str) -> None:
    """One line for every kind of pass."""
    print(f"\n{title}")
    print(f"{'pass':28}{'times':>6}{'ns a row':>10}{'bytes out':>12}{'bytes back, a block':>21}")
    for step, visits in work.by_step().items():
        nanoseconds = 1e9 * sum(visit.seconds for visit in visits) / len(visits) / work.rows
        out, back = max(visit.out for visit in visits), max(max(visit.back) for visit in visits)
        print(f"{step:28}{len(visits):>6}{nanoseconds:>10.1f}{out:>12,}{back:>21,}")
    print(f"most that reaches the driver in a pass: {work.driver_bytes:,} bytes")


def plan(
    rows: float, works: Sequence[Work], there: Machines, encode_seconds: float, row_bytes: float
) -> dict[str, str]:
    """What so many rows ask of so many machines."""
    held = rows * max(work.held_bytes for work in works) / there.number
    reading = 2 * rows * row_bytes / there.number / there.store
    encoding = rows / (there.number * there.cores) * encode_seconds
    lines = {
        "machines": f"{there.number} with {there.cores} cores",
        "encoded rows on each machine": f"{held / GB:.1f} GB of {there.memory / GB:.0f}",
        "read the store twice": f"{reading:,.0f} s",
        "encode": f"{encoding:,.0f} s",
    }
    for work in works:
        seconds = [there.pass_seconds(rows, visit, work.rows) for visit in work.visits]
        moved = np.mean([there.moved(one) for one in work.visits])
        minutes = (reading + encoding + sum(seconds) + work.between_seconds) / 60
        lines |= {
            f"{work.title}: passes": f"{len(seconds)}",
            f"{work.title}: mean pass": f"{np.mean(seconds):.1f} s",
            f"{work.title}: longest pass": f"{max(seconds):.1f} s",
            f"{work.title}: bytes moved in a pass": f"{moved:,.0f}",
            f"{work.title}: on the driver": f"{work.between_seconds:,.0f} s",
            f"{work.title}: in all": f"{minutes:.1f} min",
        }
    return lines


def main() -> None:
    """Measure, plan and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e9, 1e10])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--categories", type=int, default=5)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--most", type=int, default=10, help="clusters that choose_k tries")
    parser.add_argument("--row-bytes", type=float, default=10.0, help="bytes of a row in the store")
    parser.add_argument("--machines", type=int, default=16)
    parser.add_argument("--cores", type=int, default=16, help="of each machine")
    parser.add_argument("--memory", type=float, default=64.0, help="GB of each machine")
    parser.add_argument("--network", type=float, default=1.0, help="GB per second of each machine")
    parser.add_argument("--store", type=float, default=0.5, help="GB per second that each machine can read")
    parser.add_argument("--measured-rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    table = planted(asked.measured_rows, asked.columns, asked.categories, asked.clusters)
    encode_seconds, tasks = encode_seconds_per_row(table), task_seconds()
    grove = catalpa.Grove(asked.clusters, random_state=0)
    fit, model = measured("fit", table, lambda: grove.fit(table), encode_seconds)
    choice, _ = measured(
        "choose_k",
        table,
        lambda: catalpa.choose_k(table, range(1, asked.most + 1), random_state=0),
        encode_seconds,
    )
    print(
        f"measured on one core, {asked.measured_rows:,} rows: encode {encode_seconds * 1e9:.0f} ns a row, "
        f"{fit.held_bytes:.1f} bytes a row held, {tasks * 1e3:.2f} ms a task"
    )
    tied = len(model.tied_columns_)
    show_passes(fit, f"Grove({asked.clusters}).fit, {tied} pairs of columns tied")
    show_passes(choice, f"choose_k of 1 to {asked.most} clusters")
    there = Machines(
        asked.machines, asked.cores, asked.memory * GB, asked.network * GB, asked.store * GB, tasks
    )
    plans = [plan(rows, (fit, choice), there, encode_seconds, asked.row_bytes) for rows in asked.rows]
    print(f"\n{'rows':45}" + "".join(f"{f'{rows:.0e}':>20}" for rows in asked.rows))
    for name in plans[0]:
        print(f"{name:45}" + "".join(f"{one[name]:>20}" for one in plans))


if __name__ == "__main__":
    main()
