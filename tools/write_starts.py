"""Write the table of starts on the page about DISC from the stored results.

Run from the root of the repository::

    python tools/write_starts.py
"""

from __future__ import annotations

from pathlib import Path

from catalpa.lab.journal import read_results
from catalpa.lab.protocol import read_protocol
from catalpa.lab.starts import starts_text

PAGE = Path("docs/disc.md")
RESULTS = Path("results/protocol.parquet")
BEGIN, END = "<!-- starts: made by tools/write_starts.py -->\n", "\n<!-- end of starts -->"
SHOWN = {"equations": ("disc", "equations"), "program": ("disc", "program")}


def written(page: str) -> str:
    """The page with the table made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = starts_text(read_results(RESULTS), SHOWN, read_protocol().categorical)
    return before + BEGIN + "\n" + table + "\n" + END + after


def main() -> None:
    """Write the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
