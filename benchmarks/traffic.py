"""What moves between the driver and the workers of Dask and Spark, and the memory that the driver needs.

Run from the root of the repository::

    python benchmarks/traffic.py --rows 1e6 1e7 --engines dask spark
    python benchmarks/traffic.py --rows 1e6 1e7 --store results/traffic.csv
    python benchmarks/traffic.py --page  # the table of docs/guides/scale.md from stored figures

Worker processes with ``--memory`` each (Dask: ``LocalCluster``, Spark: ``local-cluster[2,1,...]``) fit Grove,
choose the number of clusters, report, and look for drift on a generated table in ``PARTS`` Parquet files,
which is written once per size. Every engine and size is measured in a process of its own. The number of
partitions is the same for every size, so what grows with the rows shows.

Dask: bytes that the scheduler writes to workers and reads from them, and what workers pass to each other.
Spark: the functions that Python sends, once per worker, and the sizes of the tasks' results in Spark's event
log; what workers pass to each other is not measured. The driver's memory is that of the Python process.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import catalpa
from catalpa.datasets import iter_categorical

PARTS, WORKERS, COLUMNS, CATEGORIES, CLUSTERS, MOST = 32, 2, 8, 5, 4, 3
CALLS = ("fit", "choose_k", "report", "drift")
STORED, PAGE = Path("results/traffic.csv"), Path("docs/guides/scale.md")
BEGIN, END = "<!-- traffic -->", "<!-- end of traffic -->"
WORDS = pa.array([f"a category of {code} letters" for code in range(CATEGORIES)])


def generate(folder: Path, rows: int) -> int:
    """Write planted clusters as text, a file per partition; bytes of the table in memory."""
    blocks = iter_categorical(
        rows,
        columns=COLUMNS,
        categories=CATEGORIES,
        clusters=CLUSTERS,
        noise=0.6,
        block_rows=math.ceil(rows / PARTS),
    )
    size = 0
    for at, block in enumerate(blocks):
        table = pa.table({f"column_{j}": WORDS.take(pa.array(of)) for j, of in enumerate(block.codes.T)})
        pq.write_table(table, folder / f"part-{at:03}.parquet")
        size += table.nbytes
    return size


class Meter:
    """Bytes and passes so far."""

    def __init__(self) -> None:
        self.sums: Counter[str] = Counter()

    def note(self, name: str, amount: int = 1) -> None:
        self.sums[name] += amount


def passed_on(dask_worker: Any) -> int:
    """Bytes that a worker has sent to others."""
    return int(dask_worker.transfer_outgoing_bytes_total)


@contextmanager
def on_dask(folder: Path, memory: str, meter: Meter) -> Iterator[tuple[Any, Callable[[str], None]]]:
    """A Dask frame on worker processes; the call after it reads what workers passed on."""
    import dask
    import dask.dataframe as dd
    import distributed
    from distributed.comm import tcp

    from catalpa.engines import dask as engine

    ends: set[str] = set()  # of the client, which is in the scheduler's process
    scheduler = ""

    def between(comm: Any) -> bool:
        """Whether a connection is one of the scheduler and a worker."""
        if comm.peer_address == scheduler:
            ends.add(comm.local_address)
        return comm.peer_address != scheduler and comm.peer_address not in ends

    read, write, frames_of, computed = tcp.TCP.read, tcp.TCP.write, tcp.from_frames, engine._computed
    last = [0]

    async def counted_frames(frames: Any, *args: Any, **settings: Any) -> Any:
        size = sum(getattr(frame, "nbytes", None) or len(frame) for frame in frames)
        message = await frames_of(frames, *args, **settings)
        last[0] = 0 if isinstance(message, dict) and message.get("op") == "heartbeat_worker" else size
        return message

    async def counted_read(self: Any, *args: Any, **settings: Any) -> Any:
        message = await read(self, *args, **settings)
        if between(self):
            meter.note("bytes from workers", last[0])
        return message

    async def counted_write(self: Any, *args: Any, **settings: Any) -> Any:
        size = await write(self, *args, **settings)
        if between(self):
            meter.note("bytes to workers", size)
        return size

    def counted_pass(*args: Any) -> Any:
        meter.note("passes")
        return computed(*args)

    tcp.from_frames, tcp.TCP.read, tcp.TCP.write = counted_frames, counted_read, counted_write
    engine._computed = counted_pass
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory,
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        scheduler = cluster.scheduler_address

        def look(_: str) -> None:
            meter.sums["bytes between workers"] = sum(client.run(passed_on).values())
            peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            meter.sums["largest worker, MB"] = max(peaks.values()) // 1024

        yield dd.read_parquet(str(folder)), look


@contextmanager
def on_spark(folder: Path, memory: str, meter: Meter) -> Iterator[tuple[Any, Callable[[str], None]]]:
    """A Spark frame on executor processes; the call after it reads the event log."""
    from pyspark import serializers
    from pyspark.sql import SparkSession

    dumps = serializers.CloudPickleSerializer.dumps

    def counted(self: Any, thing: Any) -> Any:
        text = dumps(self, thing)
        meter.note("bytes to workers", len(text) * WORKERS)  # each executor fetches it once
        return text

    serializers.CloudPickleSerializer.dumps = counted
    os.environ["PYSPARK_PYTHON"] = sys.executable  # executors need the packages of this process
    megabytes = int(float(memory.removesuffix("GB")) * 1024)
    with tempfile.TemporaryDirectory() as log:
        session = (
            SparkSession.builder.master(f"local-cluster[{WORKERS},1,{megabytes}]")
            .config("spark.executor.memory", f"{megabytes}m")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.eventLog.enabled", "true")
            .config("spark.eventLog.dir", Path(log).as_uri())
            .config("spark.eventLog.compress", "false")
            .config("spark.sql.files.openCostInBytes", str(1 << 27))  # a partition for every file
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
            .config("spark.executorEnv.PYTHONPATH", ":".join(path for path in sys.path if path))
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )

        def look(_: str) -> None:
            time.sleep(2.0)  # events are written a moment later
            lines = [line for file in Path(log).rglob("*") if file.is_file() for line in file.open()]
            events = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}\n")]
            ended = [one for one in events if one["Event"] == "SparkListenerTaskEnd"]
            meter.sums["passes"] = sum(one["Event"] == "SparkListenerJobEnd" for one in events)
            meter.sums["bytes from workers"] = sum(one["Task Metrics"]["Result Size"] for one in ended)

        yield session.read.parquet(str(folder)), look
        session.stop()


ENGINES = {"dask": on_dask, "spark": on_spark}


def run(call: str, X: Any, model: Any) -> Any:
    """One of the calls on a table elsewhere."""
    if call == "fit":
        return catalpa.Grove(CLUSTERS, random_state=0).fit(X)
    if call == "choose_k":
        catalpa.choose_k(X, range(1, MOST + 1), repeats=0, random_state=0)
    elif call == "report":
        _ = model.report(X).html
    else:
        catalpa.drift(model, X)
    return model


def measured(
    engine: str, folder: Path, rows: int, memory: str, calls: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Calls on one engine; in a process of its own."""
    warnings.simplefilter("ignore")
    meter, model = Meter(), None
    with ENGINES[engine](folder, memory, meter) as (X, look):
        look("start")
        for call in calls:
            before, began = Counter(meter.sums), time.perf_counter()
            model = run(call, X, model)
            seconds = time.perf_counter() - began
            look(call)
            moved = {
                name: meter.sums[name] - before[name] if name in meter.sums else None
                for name in ("passes", *BYTES)
            }
            yield {
                "engine": engine,
                "rows": rows,
                "call": call,
                "seconds": round(seconds, 1),
                **moved,
                "driver, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "largest worker, MB": meter.sums["largest worker, MB"] or None,
            }


BYTES = ("bytes to workers", "bytes from workers", "bytes between workers")


def section(stored: pd.DataFrame) -> str:
    """The table of the page: a line per engine, call and size."""
    heads = [
        "engine",
        "call",
        "rows",
        "passes",
        *(name.replace("bytes", "MB") for name in BYTES),
        "driver, MB",
    ]
    lines = [f"| {' | '.join(heads)} |", f"|---|---|{'---:|' * (len(heads) - 2)}"]
    for one in stored.sort_values(["engine", "call", "rows"]).to_dict("records"):
        moved = ["-" if pd.isna(one[name]) else f"{one[name] / 1e6:.2f}" for name in BYTES]
        size = [f"{one['rows']:.0e}", one["passes"], *moved, one["driver, MB"]]
        lines.append(f"| {one['engine']} | `{one['call']}` | {' | '.join(map(str, size))} |")
    if missing := not_measured(stored):
        lines += ["", f"Not measured: {'; '.join(missing)}."]
    return "\n".join(lines)


def not_measured(stored: pd.DataFrame) -> list[str]:
    """Calls that were not measured, as text per engine and size."""
    texts = []
    for engine in ENGINES:
        for rows in sorted(stored["rows"].unique()):
            of = stored[(stored["engine"] == engine) & (stored["rows"] == rows)]
            calls = [f"`{call}`" for call in CALLS if call not in set(of["call"])]
            if calls:
                texts.append(f"{', '.join(calls)} on {engine} with {rows:.0e} rows")
    return texts


def write_page() -> None:
    """Put the stored figures on the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    table = section(pd.read_csv(STORED))
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def store(file: Path, measurement: dict[str, Any]) -> None:
    """Add a line to the stored ones; one of the same engine, size and call is replaced."""
    table = pd.DataFrame([measurement])
    if file.exists():
        stored = pd.read_csv(file)
        key = ["engine", "rows", "call"]
        replaced = stored.set_index(key).index.isin(table.set_index(key).index)
        table = pd.concat([stored[~replaced], table])
    # Not measured on Spark.
    table = table.astype({"bytes between workers": "Int64", "largest worker, MB": "Int64"})
    table.sort_values(["engine", "rows"], kind="stable").to_csv(file, index=False)


def measure_apart(engine: str, folder: Path, rows: int, size: int, asked: argparse.Namespace) -> int:
    """Print and store every call as soon as it is measured in a process of its own; its exit code."""
    again = [sys.executable, __file__, "--memory", asked.memory, "--calls", *asked.calls]
    again += ["--one", engine, str(folder), str(rows)]
    with subprocess.Popen(again, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                print(line, end="", flush=True)
                if asked.store:
                    store(asked.store, json.loads(line) | {"table, GB": round(size / 1e9, 2)})
    return process.returncode


def main() -> None:
    """Print one line per engine, size and call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--calls", nargs="+", default=list(CALLS), choices=CALLS, help="fit, then others")
    parser.add_argument("--memory", default="1GB", help="of each worker")
    parser.add_argument("--store", type=Path, help="a CSV file for every line")
    parser.add_argument("--page", action="store_true", help="write the page from stored figures")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.calls[0] != "fit":
        parser.error("--calls starts with fit, whose model the others need")
    if asked.page:
        write_page()
        return
    if asked.one:
        engine, folder, rows = asked.one
        for line in measured(engine, Path(folder), int(float(rows)), asked.memory, asked.calls):
            print(json.dumps(line), flush=True)
        return
    failed: list[str] = []
    for rows in map(int, asked.rows):
        with tempfile.TemporaryDirectory() as folder:
            size = generate(Path(folder), rows)
            print(f"{rows:,} rows: {size / 1e9:.2f} GB in memory, workers of {asked.memory}", flush=True)
            for engine in asked.engines:
                code = measure_apart(engine, Path(folder), rows, size, asked)
                if code:
                    failed.append(f"{engine}, {rows:,} rows: exit code {code}")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
