"""Build the core in another way than an install does, and run its tests on it.

``python tools/check_core.py address thread`` takes the sanitizers of the compiler: addresses and undefined
behaviour (tests/steps), and threads (fits with several jobs). Their reports go to files, as pytest would hide
them; any report makes this fail. ``plain`` takes the path for compilers without vectors and 128-bit integers,
``clang`` the other compiler, ``clang-plain`` both. Needs g++ with its sanitizers or clang++, and nanobind in
the environment.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "core"
# The core that was just built takes the place of the installed one, in every process of the tests.
PRELOAD = """
import importlib.machinery, importlib.util, sys
name, path = "catalpa.steps._core", {core!r}
spec = importlib.util.spec_from_file_location(name, path)
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
sys.modules[name] = core
"""
THREADS = """
import numpy as np, pandas as pd
from catalpa import KModes, Grove
frame = pd.DataFrame(np.random.default_rng(0).integers(0, 4, (150_000, 5)).astype(str))
for method in (KModes, Grove):
    model = method(3, n_init=1, max_iter=3, random_state=0, n_jobs=4) if method is KModes else method(
        3, random_state=0, n_jobs=4)
    model.fit(frame).predict(frame)
"""
STEPS = ("-m", "pytest", "-q", "-p", "no:xdist", "tests/steps")
SANITIZED = ("-O1", "-g1", "-fno-sanitize-recover")
PLAIN = "-DCATALPA_PLAIN=1"


@dataclass(frozen=True)
class ColumnKind:
    """A way to build the core, and what is run on it."""

    compiler: str
    flags: Sequence[str]
    command: Sequence[str] = STEPS
    preloaded: Sequence[str] = ()


KINDS = {
    # The C++ library too: a sanitizer that comes first must find there what it watches exceptions by.
    "address": ColumnKind(
        "g++", [*SANITIZED, "-fsanitize=address,undefined"], STEPS, ["libasan.so", "libstdc++.so.6"]
    ),
    "thread": ColumnKind(
        "g++",
        [*SANITIZED, "-fsanitize=thread"],
        ["-W", "ignore", "-c", THREADS],
        ["libtsan.so", "libstdc++.so.6"],
    ),
    "plain": ColumnKind("g++", ["-O2", PLAIN]),
    "clang": ColumnKind("clang++", ["-O2"]),
    "clang-plain": ColumnKind("clang++", ["-O2", PLAIN]),
}


def main() -> int:
    """Check the kinds that were named, or all."""
    return max([checked(name, KINDS[name]) for name in sys.argv[1:] or KINDS])


def checked(name: str, kind: ColumnKind) -> int:
    """Build, run, and print what a sanitizer found; 1 where it found anything or a test failed."""
    begin, folder = time.monotonic(), BUILD / name
    core = built(folder, kind)
    (folder / "sitecustomize.py").write_text(PRELOAD.format(core=str(core)), encoding="utf-8")
    for old in folder.glob("report.*"):
        old.unlink()
    code = subprocess.run(
        [sys.executable, *kind.command], cwd=ROOT, env=environment(folder, kind), check=False
    ).returncode
    reports = sorted(folder.glob("report.*"))
    for report in reports:
        print(f"== {report}\n{report.read_text(encoding='utf-8', errors='replace')[:4000]}")
    taken = f"{time.monotonic() - begin:.0f} s"
    print(f"{name}: {len(reports)} reports, the run ended with {code} ({taken})", flush=True)
    return int(bool(reports) or code != 0)


def environment(folder: Path, kind: ColumnKind) -> dict[str, str]:
    """What the tests are run with."""
    log = f"log_path={folder / 'report'}"
    found = [output(kind.compiler, f"-print-file-name={library}") for library in kind.preloaded]
    return {
        **os.environ,
        **({"LD_PRELOAD": " ".join(found)} if found else {}),
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src"), str(ROOT)]),
        # Python itself leaves memory to the end of the program, and NumPy's BLAS has threads of its own.
        "ASAN_OPTIONS": f"detect_leaks=0:{log}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
        "TSAN_OPTIONS": f"{log}:ignore_noninstrumented_modules=1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def built(folder: Path, kind: ColumnKind) -> Path:
    """The core, compiled in this way; not by CMake, whose -O3 takes the sanitizers many minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    (nanobind,) = importlib.util.find_spec("nanobind").submodule_search_locations
    sources = [
        *sorted((ROOT / "src/catalpa/steps/core").rglob("*.cpp")),
        Path(nanobind, "src/nb_combined.cpp"),
    ]
    include = [sysconfig.get_path("include"), f"{nanobind}/include", f"{nanobind}/ext/robin_map/include"]
    compiler = [kind.compiler, "-std=c++17", "-fPIC", "-fwrapv", "-ffp-contract=off", "-fvisibility=hidden"]
    compiler += [*kind.flags, *(f"-I{place}" for place in include)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: compiled(compiler, source, folder), sources))
    core = folder / "_core.so"
    subprocess.run([*compiler, "-shared", *objects, "-o", core], check=True)
    return core


def compiled(compiler: list[str], source: Path, folder: Path) -> Path:
    """The object of one source."""
    target = folder / f"{source.stem}.o"
    subprocess.run([*compiler, "-c", source, "-o", target], check=True)
    return target


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
