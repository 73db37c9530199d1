"""Write the results that tests/golden compares with; the only way they are written.

    python tools/write_golden.py            every method
    python tools/write_golden.py disc       only this one

Say in the commit why results changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.golden.runs import SEEDS, TABLES, golden_file, run

from catalpa.cluster.registry import METHODS


def main(methods: list[str]) -> None:
    """Write one file per method."""
    for method in methods or list(METHODS):
        results = [run(method, table, seed) for table in TABLES for seed in SEEDS]
        golden_file(method).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"{golden_file(method).name}: {len(results)} runs")


if __name__ == "__main__":
    main(sys.argv[1:])
