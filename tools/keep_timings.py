"""Keep the stored timings of Figure 3, so that ``catalpa lab figure 3`` measures only what is new.

Run from the root of the repository, after a method was added to the protocol::

    python tools/keep_timings.py
    catalpa lab figure 3 --force

The first command writes the parts that ``results/figures/figure3.csv`` holds to ``figure3.jsonl`` beside it;
the second goes on from there. Timings of methods that the protocol no longer has are left behind.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from catalpa.lab.figures.experiments import seconds
from catalpa.lab.journal import append_line
from catalpa.lab.protocol import Protocol, read_protocol

STORED = Path("results/figures/figure3.csv")


def timed_before(protocol: Protocol, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The pieces of Figure 3 that stored data have already, so that only the others are measured."""
    facts = ["against", "method", "rows", "columns"]
    stored = dict(iter(frame.groupby(facts, sort=False)))
    found = {}
    for name in seconds(protocol):
        method, n, columns, *_, against = name.split(", ")
        key = against, method, int(n.split()[0]), int(columns.split()[0])
        if key in stored:
            found[name] = stored[key]
    return found


def main() -> None:
    """Write a line for every part that is stored."""
    protocol = read_protocol()
    kept = STORED.with_suffix(".jsonl")
    kept.unlink(missing_ok=True)
    found = timed_before(protocol, pd.read_csv(STORED, keep_default_na=False, na_values={"seconds": [""]}))
    for name, rows in found.items():
        append_line(kept, {"piece": name, "rows": rows.to_dict("records")})
    print(f"kept {len(found)} of {len(seconds(protocol))} timings in {kept}")


if __name__ == "__main__":
    main()
