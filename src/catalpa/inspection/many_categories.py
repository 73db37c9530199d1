"""Columns of words with very many categories."""

from __future__ import annotations

import numpy as np

from catalpa.inspection.columns import ColumnView, Form
from catalpa.inspection.findings import Judgement, Kind

MANY = 40
RARE = 0.01  # share of the cells below which categories can be grouped


def many_categories(view: ColumnView) -> Judgement | None:
    """Too many categories to interpret; proposes to group the rare ones."""
    if view.form is not Form.TEXT or view.different <= MANY:
        return None
    frequent = np.flatnonzero(view.counts >= RARE * view.present)
    frequent = frequent[np.argsort(-view.counts[frequent], kind="stable")]
    facts = {"different": view.different, "frequent": [view.values[at] for at in frequent.tolist()]}
    return Judgement(Kind.MANY, view.name, False, {}, facts)
