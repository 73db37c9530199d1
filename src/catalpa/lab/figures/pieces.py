"""A figure's data, measured piece by piece and kept, so that an interrupted figure goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from catalpa.lab.journal import append_line, whole_lines


@dataclass(frozen=True)
class Piece:
    """Rows of a figure that are measured in one go."""

    name: str  # tells the piece from all others of any settings of the figure
    measure: Callable[[], pd.DataFrame]  # makes the rows


def kept_pieces(pieces: Sequence[Piece], kept: Path) -> dict[str, pd.DataFrame]:
    """Those of the pieces that an earlier run has left at ``kept``."""
    wanted = {piece.name for piece in pieces}
    # Pieces of other settings of the figure may lie in the same file.
    lines = [line for line in whole_lines(kept) if line.get("piece") in wanted]
    return {line["piece"]: pd.DataFrame(line["rows"]) for line in lines}


def collected(
    pieces: Sequence[Piece], kept: Path, watch: Callable[[int, int], None] | None = None
) -> pd.DataFrame:
    """Rows of all pieces in their order; each is written to ``kept`` when it is measured.

    Pieces that are there already are not measured again.
    """
    done = kept_pieces(pieces, kept)
    missing = [piece for piece in pieces if piece.name not in done]
    for finished, piece in enumerate(missing, start=1):
        rows = piece.measure()
        # Before the next one is begun: an interruption costs one piece.
        append_line(kept, {"piece": piece.name, "rows": rows.to_dict("records")})
        done[piece.name] = rows
        if watch is not None:
            watch(finished, len(missing))
    return pd.concat([done[piece.name] for piece in pieces], ignore_index=True)
