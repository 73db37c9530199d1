"""What decides the labels of a fitted model, in one value."""

from __future__ import annotations

from dataclasses import dataclass

from catalpa.steps.scores import FixedScores
from catalpa.table.scaling import Scaling
from catalpa.table.schema import Schema

__all__ = ["Scoring"]


@dataclass(frozen=True, eq=False)
class Scoring:
    """What decides the labels of a fitted model.

    Attributes
    ----------
    schema : Schema
    scaling : Scaling
    fixed : FixedScores
        On the schema's axis with holes.
    handle_unknown : {"ignore", "warn", "error"}
    """

    schema: Schema
    scaling: Scaling
    fixed: FixedScores
    handle_unknown: str
