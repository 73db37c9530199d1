"""Build the core with the compiler's sanitizers, and run its tests on it.

``python tools/sanitize.py`` does so for addresses and undefined behaviour (tests/steps), and for threads
(fits with several jobs). Reports go to files, as pytest would hide them; any report makes this fail.
Needs g++ with its sanitizers, and nanobind in the environment.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "sanitize"
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
KINDS = {
    "address": ("address,undefined", "libasan.so", ["-m", "pytest", "-q", "-p", "no:xdist", "tests/steps"]),
    "thread": ("thread", "libtsan.so", ["-W", "ignore", "-c", THREADS]),
}


def main() -> int:
    """Run the kinds that were named, or all."""
    asked = sys.argv[1:] or list(KINDS)
    return max(sanitized(kind) for kind in asked)


def sanitized(kind: str) -> int:
    """Build, run, and print what the sanitizer found; 1 where it found anything or a test failed."""
    flags, runtime, command = KINDS[kind]
    folder = BUILD / kind
    core = built(folder, flags)
    (folder / "sitecustomize.py").write_text(PRELOAD.format(core=str(core)), encoding="utf-8")
    for old in folder.glob("report.*"):
        old.unlink()
    log = f"log_path={folder / 'report'}"
    # The C++ library too: a sanitizer that comes first must find there what it watches exceptions by.
    preloaded = [output("g++", f"-print-file-name={name}") for name in (runtime, "libstdc++.so.6")]
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(preloaded),
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src"), str(ROOT)]),
        # Python itself leaves memory to the end of the program, and NumPy's BLAS has threads of its own.
        "ASAN_OPTIONS": f"detect_leaks=0:{log}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
        "TSAN_OPTIONS": f"{log}:ignore_noninstrumented_modules=1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    code = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=False).returncode
    reports = sorted(folder.glob("report.*"))
    for report in reports:
        print(f"== {report}\n{report.read_text(encoding='utf-8', errors='replace')[:4000]}")
    print(f"{kind}: {len(reports)} reports, the run ended with {code}")
    return int(bool(reports) or code != 0)


def built(folder: Path, flags: str) -> Path:
    """The core, compiled with these sanitizers; not by CMake, whose -O3 takes them many minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    (nanobind,) = importlib.util.find_spec("nanobind").submodule_search_locations
    sources = [
        *sorted((ROOT / "src/catalpa/steps/core").glob("*.cpp")),
        Path(nanobind, "src/nb_combined.cpp"),
    ]
    include = [sysconfig.get_path("include"), f"{nanobind}/include", f"{nanobind}/ext/robin_map/include"]
    compiler = ["g++", "-std=c++17", "-O1", "-g1", "-fPIC", f"-fsanitize={flags}", "-fno-sanitize-recover"]
    compiler += ["-fwrapv", "-ffp-contract=off", "-fvisibility=hidden", *(f"-I{place}" for place in include)]
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
