"""Data of a figure measured piece by piece and kept, to go on after an interruption."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from catalpa.lab.journal import append_line, whole_lines

# Rows that are measured in one go, by a name that tells them from all others of any settings of the figure.
Pieces: TypeAlias = Mapping[str, Callable[[], pd.DataFrame]]


def stored_pieces(names: Collection[str], journal: Path) -> dict[str, pd.DataFrame]:
    """Those of the pieces that an earlier run has left at ``kept``."""
    # Pieces of other settings of the figure may lie in the same file.
    lines = [line for line in whole_lines(journal) if line.get("piece") in names]
    return {line["piece"]: pd.DataFrame(line["rows"]) for line in lines}


def collected(pieces: Pieces, journal: Path, watch: Callable[[int, int], None] | None = None) -> pd.DataFrame:
    """Rows of all pieces in their order; each is written to ``kept`` when it is measured.

    Pieces that are there already are not measured again.
    """
    done = stored_pieces(pieces, journal)
    missing = [name for name in pieces if name not in done]
    for finished, name in enumerate(missing, start=1):
        done[name] = pieces[name]()
        # Before the next one is begun: an interruption costs one piece.
        append_line(journal, {"piece": name, "rows": done[name].to_dict("records")})
        if watch is not None:
            watch(finished, len(missing))
    return pd.concat([done[name] for name in pieces], ignore_index=True)
