"""Fits on Spark while its processes die, as a program of its own: prints what came of them as JSON.

A Python process has one Spark context at a time, and this one is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from pyspark.sql import SparkSession, functions

from catalpa import Grove, KModes
from catalpa.errors import EngineStopped

ROWS = 21_000  # more than Grove's search looks at, so that it visits all rows in Spark too
PARTS, LONG_ROWS = 8, 400_000
METHODS = {
    "kmodes": lambda **settings: KModes(3, n_init=1, random_state=0, **settings),
    "grove": lambda **settings: Grove(
        3, n_init=1, prior=1.0, sizes="equal", random_state=0, n_jobs=1, **settings
    ),
}


def session(master: str) -> SparkSession:
    """Spark with less memory in the driver than the long table has."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "450m",
        "spark.executor.memory": "1g",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
    }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def planted() -> pd.DataFrame:
    """Three noisy groups of rows."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=ROWS)
    words = np.array(["low", "mid", "high", "other"], dtype=object)
    drawn = (np.where(rng.random(ROWS) < 0.7, group, rng.integers(4, size=ROWS)) for _ in range(5))
    return pd.DataFrame({f"c{at}": words[codes] for at, codes in enumerate(drawn)})


def in_spark(spark: SparkSession, frame: pd.DataFrame) -> Any:
    return spark.createDataFrame(pa.table({name: frame[name].tolist() for name in frame}))


def once_in_spark(act: Any) -> Any:
    """A callback that acts once, after a pass over the rows that Spark holds."""
    acted = []

    def callback(event: Any) -> None:
        if not acted and event.step not in ("search", "start"):
            acted.append(event)
            act()

    return callback


def kill_an_executor() -> None:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.ZombieProcess):
            if "CoarseGrainedExecutorBackend" in " ".join(child.cmdline()):
                child.kill()
                return
    raise RuntimeError("There is no executor to kill.")


def labels_with_a_killed_executor(table: Any, method: str) -> list[int]:
    model = METHODS[method](callback=once_in_spark(kill_an_executor)).fit(table)
    return [row.cluster for row in model.labels_.select("cluster").collect()]


def driver_growth(spark: SparkSession, method: str) -> int:
    """Bytes by which this process grows at most during a fit of a table that executors make."""
    number = functions.col("id")
    texts = [
        functions.concat(functions.lit(f"{'x' * 300} "), (functions.hash(number, functions.lit(at)) % 3))
        for at in range(5)
    ]
    table = spark.range(0, LONG_ROWS, numPartitions=PARTS).select(
        *(text.alias(f"c{at}") for at, text in enumerate(texts))
    )
    process, done, grown = psutil.Process(), threading.Event(), [0]
    before = process.memory_info().rss

    def look() -> None:
        while not done.wait(0.02):
            grown[0] = max(grown[0], process.memory_info().rss - before)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    model = METHODS[method]().fit(table)
    done.set()
    looking.join()
    assert int(model.cluster_sizes_.sum()) == LONG_ROWS
    return grown[0]


def sentence(table: Any, method: str, act: Any) -> str:
    """The error of a fit whose session ends on the way."""
    try:
        METHODS[method](callback=once_in_spark(act)).fit(table)
    except EngineStopped as error:
        return str(error)
    return "no error"


def main() -> None:
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    frame, results = planted(), dict[str, Any]()
    spark = session("local-cluster[2,1,1024]")
    table = in_spark(spark, frame)
    for method in METHODS:
        results[f"killed executor, {method}"] = labels_with_a_killed_executor(table, method)
    for method in METHODS:
        results[f"driver growth, {method}"] = driver_growth(spark, method)
    results["stopped, kmodes"] = sentence(table, "kmodes", spark.stop)
    spark = session("local[2]")
    results["stopped, grove"] = sentence(in_spark(spark, frame), "grove", spark.stop)
    spark = session("local[2]")
    gateway = spark.sparkContext._gateway.proc
    kill = lambda: os.kill(gateway.pid, signal.SIGKILL)  # noqa: E731
    results["killed driver, kmodes"] = sentence(in_spark(spark, frame), "kmodes", kill)
    sys.stdout.write(f"{json.dumps(results)}\n")
    sys.stdout.flush()
    os._exit(0)  # what Spark does at the end of Python it would ask of a process that is gone


if __name__ == "__main__":
    main()
