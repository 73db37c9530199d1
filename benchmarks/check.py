"""Set Catalpa beside other programs and hold it to its bars: every ratio is measured in one run, in turns.

    python benchmarks/check.py [--only fit-1e4 pass] [--store results/performance.json]

Times are processor time on one thread, encoding included, the best of several; only the row of two threads
is by the clock, and left out where the machine is not idle. Beside every time stands how well the labels
agree with the planted clusters: a fast wrong answer does not count. The program ends with 1 where a bar is
not met. ``tools/performance_page.py`` makes the page of the docs from what ``--store`` wrote.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import catalpa
import peers
import programs
from catalpa.metrics import adjusted_rand
from catalpa.steps import compiled
from timing import Run, Timed, in_turns, two_cores_are_free

WORSE = 0.02  # of the adjusted Rand index, beyond which an answer is another one
PACKAGES = ("catalpa", "scikit-learn", "kmodes", "FasterKModes", "stepmix", "prince", "polars", "pandas")
STEPMIX_PASSES = (
    40  # of large tables, where its own limit of 1000 may take longer than all other rows together
)
ONE_ROW_CALLS = 50


@dataclass(frozen=True)
class Bar:
    """A program to be compared with, how it is run, and how many times its time has to be ours."""

    program: str
    run: Run
    at_least: float
    note: str = ""


@dataclass(frozen=True)
class Line:
    """One comparison, as it is stored."""

    key: str
    work: str
    ours: str
    program: str
    ours_seconds: float
    program_seconds: float
    ratio: float
    bar: float
    met: bool
    ours_agreement: float | None
    program_agreement: float | None
    note: str


def contest(
    key: str,
    work: str,
    ours: dict[str, Run],
    bars: list[Bar],
    target: Any = None,
    *,
    seconds: float = 1.5,
    calls: int = 1,
) -> Iterator[Line]:
    """Lines of one table: all programs in turns; of several settings of a program the quicker counts."""
    timed = in_turns({**ours, **{str(at): bar.run for at, bar in enumerate(bars)}}, seconds=seconds)
    quickest: dict[str, tuple[Bar, Timed]] = {}
    for at, bar in enumerate(bars):
        own = timed[str(at)]
        if bar.program not in quickest or own.seconds < quickest[bar.program][1].seconds:
            quickest[bar.program] = bar, own
    for name, (bar, own) in product(ours, quickest.values()):
        mine = timed[name]
        agree = [_agreement(target, one.result) for one in (mine, own)]
        ratio = own.seconds / mine.seconds
        right = agree[0] is None or agree[1] is None or agree[0] >= agree[1] - WORSE
        met = ratio >= bar.at_least and right
        times = (mine.seconds / calls, own.seconds / calls, ratio)
        yield Line(key, work, name, bar.program, *times, bar.at_least, met, *agree, bar.note)


def _agreement(target: Any, labels: Any) -> float | None:
    return None if target is None or labels is None else float(adjusted_rand(target, labels))


def passes(categories: int, k: int, bars: dict[str, float]) -> Iterator[Line]:
    """One more pass over 1e5 rows."""
    codes = peers.planted_codes(100_000, categories, k)
    runs = {"KModes": peers.ours(codes, categories, k), "one-hot KMeans": peers.one_hot_k_means(codes, k)}
    if "kmodes" in bars:
        runs["kmodes"] = peers.peer_k_modes(codes, k)
        runs["FasterKModes"] = peers.faster_k_modes(codes, k)
    found = peers.pass_seconds(runs)
    mine = found["KModes"]
    key, work = f"pass-{categories}-k{k}", f"iteration, 1e5 x 20 of {categories} categories, k={k}"
    for name, bar in bars.items():
        ratio = found[name] / mine
        yield Line(key, work, "KModes", name, mine, found[name], ratio, bar, ratio >= bar, None, None, "")


def whole_fits(rows: int, k: int, bar: float) -> Iterator[Line]:
    """KModes as it comes beside k-means as it comes."""
    made = programs.planted(rows, k)
    frame = programs.in_words(made)
    # Sparse is the quicker of the two on every table of 1e5 rows or more.
    kinds = (True, False) if rows < 1_000_000 else (True,)
    bars = [
        Bar("one-hot KMeans", partial(programs.one_hot_k_means, frame, k, sparse=sparse), bar)
        for sparse in kinds
    ]
    ours = {"KModes": partial(programs.k_modes, frame, k)}
    yield from contest(f"fit-{_power(rows)}-k{k}", _whole(rows, k), ours, bars, made.clusters)


def grove_fits(rows: int, k: int, ten: float, one: float, mca: float | None) -> Iterator[Line]:
    """Grove as it comes beside latent class analysis, and beside k-means on leading axes."""
    made = programs.planted(rows, k)
    frame = programs.in_words(made)
    cut = rows >= 100_000
    stopped = f"limited to {STEPMIX_PASSES} iterations" if cut else ""
    limit = STEPMIX_PASSES if cut else 1000
    single = partial(programs.latent_classes, frame, k, n_init=1, max_iter=limit)
    tenfold = f"ten times one start{', ' + stopped if stopped else ''}"
    bars = [Bar("StepMix, 1 start", single, one, note=stopped)]
    if rows <= 1_000:
        bars.append(Bar("StepMix, 10 starts", partial(programs.latent_classes, frame, k, n_init=10), ten))
    if mca is not None:
        bars.append(Bar("MCA + KMeans", partial(programs.mca_k_means, frame, k), mca))
    ours = {"Grove": partial(programs.grove, frame, k)}
    for line in contest(f"grove-{_power(rows)}-k{k}", _whole(rows, k), ours, bars, made.clusters):
        yield line
        if line.program == "StepMix, 1 start" and rows > 1_000:
            yield _tenfold(line, ten, tenfold)


def _tenfold(line: Line, bar: float, note: str) -> Line:
    ratio = 10 * line.ratio
    changed = {
        "program": "StepMix, 10 starts",
        "program_seconds": 10 * line.program_seconds,
        "ratio": ratio,
        "bar": bar,
        "met": ratio >= bar,
        "program_agreement": None,
        "note": note,
    }
    return Line(**{**asdict(line), **changed})


def mixed_fits() -> Iterator[Line]:
    """15 columns of categories and 5 of numbers."""
    frame, target = programs.mixed(100_000, 5)
    hot = "one-hot + scaled KMeans, 10 starts"
    bars = [
        Bar(hot, partial(programs.one_hot_k_means, frame, 5, sparse=sparse, n_init=10), 3.0)
        for sparse in (True, False)
    ]
    bars.append(Bar("kmodes' KPrototypes, 1 start", partial(programs.peer_k_prototypes, frame, 5), 100.0))
    ours = {
        "KPrototypes": partial(programs.k_prototypes, frame, 5),
        "Grove": partial(programs.grove, frame, 5),
    }
    work = "whole fit, 1e5 x (15 categorical + 5 numeric), k=5"
    yield from contest("mixed", work, ours, bars, target)


def mixed_likelihoods() -> Iterator[Line]:
    """Grove beside the mixture models for the same columns."""
    frame, target = programs.mixed(10_000, 5)
    bars = [Bar("StepMix, mixed, 1 start", partial(programs.mixed_latent_classes, frame, 5), 1.0)]
    ours = {"Grove": partial(programs.grove, frame, 5)}
    work = "whole fit, 1e4 x (15 categorical + 5 numeric), k=5"
    yield from contest("mixture-mixed", work, ours, bars, target)
    frame, target = programs.numeric(20_000, 5)
    bars = [Bar("GaussianMixture, diagonal, 10 starts", partial(programs.gaussian_mixture, frame, 5), 1.0)]
    ours = {"Grove": partial(programs.grove, frame, 5)}
    yield from contest("mixture-numeric", "whole fit, 2e4 x 20 numeric, k=5", ours, bars, target)


def reading() -> Iterator[Line]:
    """Files of 1e6 rows become integer codes."""
    import pyarrow as pa

    made = programs.planted(1_000_000, 5)
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        for form in ("parquet", "csv"):
            path = str(Path(folder) / f"rows.{form}")
            getattr(made.frame, f"to_{form}")(path, index=False)
            bars = [Bar("polars, Categorical", partial(programs.polars_categorical, path), 1 / 1.5)]
            ours = {"read and encode": partial(programs.read_and_encode, path)}
            yield from contest(f"read-{form}", f"read and encode 1e6 x 20, {form}", ours, bars, seconds=8.0)


def threads(k: int, bar: float) -> Iterator[Line]:
    """One more pass over 1e6 rows on two threads and on one, by the clock."""
    if not two_cores_are_free():
        print(f"threads-k{k}: left out, as the machine is not idle and two threads would share a core.")
        return
    codes = peers.planted_codes(1_000_000, 5, k)
    runs = {jobs: peers.ours(codes, 5, k, jobs) for jobs in (1, 2)}
    found = peers.marginal(runs, 1, {1: 8, 2: 8}, repeats=40, clock=time.perf_counter)
    ratio = found[1] / found[2]
    work = f"iteration, 1e6 x 20 of 5 categories, k={k}, wall time"
    yield Line(
        f"threads-k{k}",
        work,
        "2 threads",
        "1 thread",
        found[2],
        found[1],
        ratio,
        bar,
        ratio >= bar,
        None,
        None,
        "",
    )


def one_row() -> Iterator[Line]:
    """The cluster of a single new row."""
    made = programs.planted(10_000, 5)
    frame = programs.in_words(made)
    model = catalpa.KModes(5, random_state=0).fit(frame)
    pipeline = programs.one_hot_pipeline(frame, 5)
    row = frame.iloc[[7]]

    def many(call: Callable[[Any], Any]) -> Run:
        return lambda: [call(row) for _ in range(ONE_ROW_CALLS)]

    bars = [Bar("OneHotEncoder + KMeans", many(pipeline.predict), 10)]
    work = "predict one row of a pandas frame, 20 columns"
    yield from contest("predict", work, {"KModes": many(model.predict)}, bars, calls=ONE_ROW_CALLS)


def _whole(rows: int, k: int) -> str:
    return f"whole fit, {_power(rows)} x 20 strings, k={k}"


def _power(rows: int) -> str:
    return f"1e{len(str(rows)) - 1}"


def everything() -> dict[str, Callable[[], Iterator[Line]]]:
    """Every measurement by its key, quick ones first."""
    made: dict[str, Callable[[], Iterator[Line]]] = {"predict": one_row}
    near = {"one-hot KMeans": 8.0, "kmodes": 1000.0, "FasterKModes": 10.0}
    made["pass-5-k5"] = partial(passes, 5, 5, near)
    made["pass-5-k20"] = partial(passes, 5, 20, {"one-hot KMeans": 8.0})
    made["pass-5-k100"] = partial(passes, 5, 100, {"one-hot KMeans": 5.0})
    made["pass-2-k5"] = partial(passes, 2, 5, {"one-hot KMeans": 6.0})
    for rows, bar in ((1_000, 1.5), (10_000, 3.0), (100_000, 8.0), (1_000_000, 8.0)):
        for k in (5, 20):
            made[f"fit-{_power(rows)}-k{k}"] = partial(whole_fits, rows, k, bar)
    for rows, ten, one, mca in (
        (1_000, 10.0, 1.0, None),
        (10_000, 20.0, 2.0, 1.0),
        (100_000, 100.0, 20.0, 3.0),
    ):
        for k in (5, 20):
            made[f"grove-{_power(rows)}-k{k}"] = partial(grove_fits, rows, k, ten, one, mca)
    made["mixed"] = mixed_fits
    made["mixture"] = mixed_likelihoods
    made["read"] = reading
    made.update({f"threads-k{k}": partial(threads, k, bar) for k, bar in ((5, 1.7), (20, 1.8), (100, 1.9))})
    return made


def told(line: Line) -> str:
    """One line for a terminal."""
    agree = [
        f"{one:.3f}" if one is not None else "-" for one in (line.ours_agreement, line.program_agreement)
    ]
    verdict = "met" if line.met else "MISSED"
    times = f"{_time(line.ours_seconds):>9}{_time(line.program_seconds):>9}{line.ratio:>9.2f}x"
    return (
        f"{line.key:15}{line.program:36}{times}  at least {line.bar:<6.4g}"
        f" ARI {agree[0]:>5} / {agree[1]:<5} {verdict}"
    )


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def machine() -> dict[str, Any]:
    """Where and with what the figures were made."""
    model = platform.processor() or platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        names = [
            one.partition(":")[2].strip() for one in facts.read_text().splitlines() if "model name" in one
        ]
        model = f"{names[0]}, {len(names)} cores" if names else model
    return {
        "processor": model,
        "core": compiled.description(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "day": datetime.now(UTC).date().isoformat(),
    }


def main() -> int:
    """Measure, print, and store; 1 where a bar is not met."""
    rows = everything()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="*", help=f"keys, or how they begin: {', '.join(rows)}")
    parser.add_argument("--store", type=Path, help="a JSON file that keeps lines of other keys")
    asked = parser.parse_args()
    chosen = [key for key in rows if not asked.only or key.startswith(tuple(asked.only))]
    warnings.simplefilter("ignore")
    found: list[Line] = []
    with threadpool_limits(1):
        for key in chosen:
            for line in rows[key]():
                found.append(line)
                print(told(line), flush=True)
            if asked.store is not None:
                store(asked.store, found, list(rows))
    missed = sum(not line.met for line in found)
    print(f"{len(found)} bars, {missed} missed")
    return int(missed > 0)


def store(path: Path, found: list[Line], order: list[str]) -> None:
    """Write the lines in place of those with the same keys, in the order of the measurements."""
    fresh = {line.key for line in found}
    before = json.loads(path.read_text("utf-8"))["lines"] if path.exists() else []
    lines = [one for one in before if one["key"] not in fresh] + [asdict(line) for line in found]
    places = {key: at for at, key in enumerate(order)}
    lines.sort(key=lambda one: places.get(one["key"], places.get(one["key"].partition("-")[0], len(places))))
    path.write_text(json.dumps({"machine": machine(), "lines": lines}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
