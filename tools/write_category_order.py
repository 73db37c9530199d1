"""Write the order of the authors' category codes for the bundled data sets.

It is read from paper/codes.json of a data folder. The order decides ties: it is part of the published runs.

    CATALPA_DATA=folder python tools/write_category_order.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from catalpa.datasets import list_datasets, load

TARGET = Path(__file__).parents[1] / "src" / "catalpa" / "lab" / "published" / "category_order.json"


def main() -> None:
    """Read the codes, write the order."""
    codes = json.loads(Path(os.environ["CATALPA_DATA"], "paper", "codes.json").read_text("utf-8"))
    known = list_datasets()
    orders = {}
    for alias in known.loc[known["bundled"], "alias"]:
        columns = load(alias).frame.columns
        orders[alias] = {name: sorted(codes[alias][name], key=codes[alias][name].get) for name in columns}
    # One line per column: a changed order is then one line of a diff.
    texts = []
    for alias, columns in orders.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(order)}" for name, order in columns.items()]
        texts.append(f" {json.dumps(alias)}: {{\n" + ",\n".join(lines) + "\n }")
    TARGET.write_text("{\n" + ",\n".join(texts) + "\n}\n", "utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
