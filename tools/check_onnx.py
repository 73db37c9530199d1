"""Run the graphs of many models on the oldest and the newest onnxruntime, and compare their labels.

Models, tables and answers are made here, by the generator of the fuzzer. Each runtime is installed into a
folder of its own and runs the graphs in a process of its own, since two versions cannot be loaded together.
Run from the root of the repository::

    python tools/check_onnx.py --models 600
    python tools/check_onnx.py --models 600 --runtime 1.23.2

The oldest runtime is the one that pyproject.toml declares. It ends with an error if a label differs from that
of predict, or a probability by more than 1e-6.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
CLOSE = 1e-6
LAST_NUMPY_1 = (1, 18)  # runtimes up to this one are built for NumPy 1


def main() -> int:
    """Make the cases, run them on every runtime and print one line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=600, help="graphs to compare (600)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first model (0)")
    parser.add_argument(
        "--runtime", action="append", help="a version, or 'newest'; oldest and newest if not given"
    )
    parser.add_argument("--folder", type=Path, help="keep installed runtimes here")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)  # what the process of a runtime does
    asked = parser.parse_args()
    if asked.run is not None:
        print(json.dumps(compare(asked.run)))
        return 0
    with tempfile.TemporaryDirectory(prefix="catalpa-onnx-") as name:
        cases, folder = Path(name) / "cases", asked.folder or Path(name)
        cases.mkdir()
        write_cases(cases, asked.models, asked.seed)
        results = [run(install(version, folder), cases) for version in asked.runtime or (floor(), "newest")]
    for result in results:
        print(
            f"onnxruntime {result['version']}: {result['models']:,} models (k = {result['clusters']}; "
            f"{result['tied']:,} with tied columns, {result['outliers']:,} with outliers), "
            f"{result['rows']:,} rows; labels different: {result['labels']}; {result['soft']:,} models with "
            f"probabilities, largest difference {result['share']:.1e}, of scores {result['score']:.1e}"
        )
    close = all(result["share"] <= CLOSE and result["score"] <= CLOSE for result in results)
    return int(not close or any(result["labels"] for result in results))


def floor() -> str:
    """The oldest runtime that is declared."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    (declared,) = [line for line in extras["test"] if line.startswith("onnxruntime")]
    least = declared.partition(">=")[2]
    return least if least.count(".") == 2 else f"{least}.0"


def write_cases(folder: Path, models: int, seed: int) -> None:
    """Write this many graphs with their inputs and the answers of predict; refused tables do not count."""
    sys.path.insert(0, str(ROOT))
    from random import Random

    from tests.fuzz.onnx_graphs import made

    written = 0
    while written < models:
        case = made(Random(seed))
        seed += 1
        if isinstance(case, str):
            continue
        # Plain lists of texts: a pickled array of NumPy 2 does not load in NumPy 1.
        feeds = [
            {name: (str(cells.dtype), cells.tolist()) for name, cells in feed.items()} for feed in case.feeds
        ]
        soft = (
            None
            if case.probabilities is None
            else (case.probabilities.tolist(), case.outlier_scores.tolist())
        )
        kept = (case.graph, feeds, case.labels.tolist(), soft, case.tied, case.outliers)
        (folder / f"{written}.pickle").write_bytes(pickle.dumps(kept))
        written += 1


def install(version: str, folder: Path) -> Path:
    """A folder with this version of the runtime, installed unless it is there."""
    place = folder / f"onnxruntime-{version}"
    if not place.exists():
        wanted = "onnxruntime" if version == "newest" else f"onnxruntime=={version}"
        numbers = re.findall(r"\d+", version)
        old = version != "newest" and tuple(map(int, numbers[:2])) <= LAST_NUMPY_1
        command = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        command += ["--target", str(place), wanted, *(["numpy<2"] if old else [])]
        # What is installed here already is of no interest to a folder of its own.
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return place


def run(runtime: Path, cases: Path) -> dict[str, object]:
    """What came out of the cases on a runtime, in a process that finds it first."""
    env = {**os.environ, "PYTHONPATH": str(runtime)}
    command = [sys.executable, __file__, "--run", str(cases)]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, object] = json.loads(done.stdout)
    return result


def compare(folder: Path) -> dict[str, object]:
    """Run the cases of a folder on the runtime of this process."""
    import onnxruntime

    rows = labels_different = soft_models = tied_models = outlier_models = 0
    shares_away, scores_away = [], []
    clusters: set[int] = set()
    paths = sorted(folder.glob("*.pickle"))
    for path in paths:
        graph, feeds, expected, soft, tied, outliers = pickle.loads(path.read_bytes())
        session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
        labels = np.array(expected)
        clusters.add(int(labels.max()) + 1)
        for feed in feeds:
            arrays = {name: np.array(cells, dtype=kind) for name, (kind, cells) in feed.items()}
            answer, *more = session.run(None, arrays)
            rows += len(labels)
            labels_different += int((answer != labels).sum())
            if soft is not None:
                kept = ~np.isnan(soft[1])  # not those that predict refuses
                shares, scores = (np.array(values)[kept] for values in soft)
                shares_away += [more[0][kept] - shares, more[1][kept] - shares.max(axis=1)]
                scores_away += [(more[2][kept] - scores) / np.maximum(scores, 1.0)]
        soft_models += soft is not None
        tied_models += tied
        outlier_models += outliers
    return {
        "version": onnxruntime.__version__,
        "models": len(paths),
        "clusters": f"{min(clusters)} to {max(clusters)}",
        "rows": rows,
        "labels": labels_different,
        "soft": soft_models,
        "tied": tied_models,
        "outliers": outlier_models,
        "share": farthest(shares_away),
        "score": farthest(scores_away),
    }


def farthest(differences: list[Any]) -> float:
    """Largest difference from zero; NaN if one is, which is no small difference."""
    return float(np.abs(np.concatenate([np.zeros(1), *(np.ravel(each) for each in differences)])).max())


if __name__ == "__main__":
    sys.exit(main())
