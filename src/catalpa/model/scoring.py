"""What decides the labels of a fitted model, for those who write it down in another language."""

from __future__ import annotations

from dataclasses import dataclass

from catalpa.steps.scores import FixedScores
from catalpa.table.blocks import Scaling
from catalpa.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Scoring:
    """What decides the labels of a fitted model."""

    schema: Schema
    scaling: Scaling
    fixed: FixedScores  # on the schema's axis with holes
    handle_unknown: str

    @property
    def derived(self) -> list[str]:
        """Columns of the table that were taken by parts of them."""
        origins = [column.origin.column for column in self.schema.columns if column.origin is not None]
        return list(dict.fromkeys(origins))
