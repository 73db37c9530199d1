"""Run the fuzzers for some minutes, each in a process of its own, and print what they met.

``python -m tests.fuzz --minutes 30`` tries new cases; ``--fuzzer models --seed 17`` runs one case again.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.fuzz.fuzzers import FUZZERS, foreign_errors, one_case

FIRST = 1_000_000  # beyond the seeds that `make test` runs
FAULTS = CRASHES, FOREIGN, WRONG = "crashes", "foreign errors", "wrong answers"
BATCH = 50  # cases of one process: few enough that a crash is found, many enough to pay for its start


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--fuzzer", choices=FUZZERS)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--cases", type=int, help="run this many cases from the seed in this process")
    asked = parser.parse_args()
    if asked.cases is not None:
        return run_cases(asked.fuzzer, asked.seed, asked.cases)
    if asked.seed is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(one_case(asked.fuzzer, asked.seed, Path(folder)))
        return 0
    return run_for(asked.minutes, [asked.fuzzer] if asked.fuzzer else list(FUZZERS))


def run_cases(fuzzer: str, first: int, cases: int) -> int:
    """Some cases in this process: one line per case, which is begun before the case is."""
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + cases):
            print(f"{seed}", end=" ", flush=True)
            met = foreign_errors(fuzzer, seed, Path(folder))
            print(met.replace("\n", "\\n"), flush=True)
    return 0


def run_for(minutes: float, names: list[str]) -> int:
    """Take turns between the fuzzers until the time is over; 1 where a case was neither used nor refused."""
    end, seeds = time.monotonic() + 60 * minutes, dict.fromkeys(names, FIRST + Random().randrange(10**9))
    met = {name: Counter[str]() for name in names}
    while time.monotonic() < end:
        for name in names:
            one_batch(name, seeds[name], met[name])
            seeds[name] += BATCH
    for name, counted in met.items():
        said = ", ".join(f"{times:,} {what}" for what, times in sorted(counted.items()))
        print(f"{name}: {counted.total():,} cases; {said}")
    all_met = sum(met.values(), Counter[str]())
    told = ", ".join(f"{all_met[fault]} {fault}" for fault in FAULTS)
    print(f"all: {all_met.total():,} cases; {told}")
    return int(any(all_met[fault] for fault in FAULTS))


def kind_of_fault(what: str) -> str | None:
    """Which kind of fault became of a case, by what its process said of it; None where it is none."""
    if not what:
        return CRASHES  # the process ended in the middle of it
    if not what.startswith("FOREIGN"):
        return None
    # Fuzzers assert what has to be true of an answer.
    return WRONG if "\\nAssertionError" in what else FOREIGN


def one_batch(name: str, first: int, met: Counter[str]) -> None:
    """Run some cases in a process of their own; faults are printed with their seeds."""
    command = [sys.executable, "-m", "tests.fuzz", "--fuzzer", name, f"--seed={first}", f"--cases={BATCH}"]
    limit = {"timeout": 600, "env": {**os.environ, "PYTHONPATH": f"src{os.pathsep}."}}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **limit)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, out, err = "no end", (error.stdout or b"").decode(), ""
    for line in out.splitlines():
        seed, _, what = line.partition(" ")
        fault = kind_of_fault(what)
        if fault:
            told = what.replace("\\n", "\n") or f"ended with {code} {err}"
            print(f"{fault}: {name} --seed {seed}: {told}"[:3000])
        met[fault or what] += 1


if __name__ == "__main__":
    sys.exit(main())
