"""Every method's mean ACC and ARI over unpicked starts, beside the paper's and those of independent checks.

Reads the stored results that ``catalpa lab run`` makes; ``method_checks.csv`` holds the means of
transcriptions of each method that share no code with this library, from starts of their own: 30 to 100 on
most tables, as few as 5 on BM and 10 on NU, one where nothing is left to chance.

    python benchmarks/methods.py [--results results/protocol.parquet]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from catalpa.lab.journal import read_results
from catalpa.lab.protocol import read_protocol
from catalpa.lab.published import printed

NEAR = 0.03
PLACE = ["method", "variant", "dataset", "columns"]


def ours(path: Path) -> pd.DataFrame:
    """Mean, spread and number of starts per method, variant and data set."""
    groups = read_results(path).dropna(subset=["ACC"]).groupby(PLACE)
    means = groups[["ACC", "ARI"]].mean()
    return means.assign(sd=groups["ACC"].std(), starts=groups.size()).reset_index()


def labels() -> dict[tuple[str, str], str]:
    """The paper's name for every method and variant of its second table."""
    return {
        (entry.method, entry.variant): shown.label
        for entry in read_protocol().entries
        for shown in entry.shown
        if shown.table == "2"
    }


def main() -> None:
    """Print one line per method, variant and data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results/protocol.parquet"))
    means = ours(parser.parse_args().results)
    checks = pd.read_csv(Path(__file__).with_name("method_checks.csv"))
    table = means.merge(checks, on=PLACE)
    names = labels()
    paper = {m: printed("2", m).set_index(["dataset", "label"])["mean"] for m in ("ACC", "ARI")}
    print("method, variant, data: ACC ours ± sd | check | paper; ARI ours | check | paper")
    far = []
    for row in table.itertuples():
        place = (row.dataset, names.get((row.method, row.variant), ""))
        said = [f"{paper[m].get(place, float('nan')):7.3f}" for m in ("ACC", "ARI")]
        apart = max(abs(row.ACC - row.accuracy), abs(row.ARI - row.adjusted_rand))
        mark = "  <- more than .03 from the check" if apart > NEAR else ""
        if mark:
            far.append((row.method, row.variant, row.dataset))
        name = f"{row.method}, {row.variant}, {row.dataset}"
        print(
            f"{name:<38}{row.ACC:7.3f} ± {row.sd:.2f} |{row.accuracy:7.3f} |{said[0]};"
            f"{row.ARI:7.3f} |{row.adjusted_rand:7.3f} |{said[1]}{mark}"
        )
    print(f"{len(table)} places, {len(far)} of them more than {NEAR} from the check in ACC or ARI")


if __name__ == "__main__":
    main()
