"""Bytes of memory that a fit needs on top of its table, per row: each program in a process of its own.

    python benchmarks/memory.py [--rows 1000000]

The peak of the process less what it held with the table made and all packages imported. Linux only: there a
process can forget the peak of what came before, and give back what is free.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import programs

CLUSTERS = 5
TABLES: dict[str, Callable[[int], Any]] = {
    "categories": lambda rows: programs.planted(rows, CLUSTERS).frame,
    "strings": lambda rows: programs.in_words(programs.planted(rows, CLUSTERS)),
}
PROGRAMS: dict[str, Callable[[Any, int], Any]] = {
    "KModes": programs.k_modes,
    "Grove": programs.grove,
    "one-hot KMeans, sparse": partial(programs.one_hot_k_means, sparse=True),
}


def status(name: str) -> int:
    """Bytes of this process: "VmRSS" held now, "VmHWM" at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024


def added(table: str, program: str, rows: int) -> float:
    """Bytes per row."""
    warnings.simplefilter("ignore")
    PROGRAMS[program](TABLES[table](1_000), CLUSTERS)
    frame = TABLES[table](rows)
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)  # what making the table set free would be used again, and not be seen
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    PROGRAMS[program](frame, CLUSTERS)
    return (status("VmHWM") - before) / rows


def main() -> None:
    """Print one line per table and program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(added(*asked.one, asked.rows))
        return
    for table in TABLES:
        for program in PROGRAMS:
            command = [sys.executable, __file__, "--rows", str(asked.rows), "--one", table, program]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"{table:12}{program:26}{float(done.stdout):>10.0f} bytes a row", flush=True)


if __name__ == "__main__":
    main()
