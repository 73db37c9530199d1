"""Detect columns of survey weights."""

from __future__ import annotations

import re

import numpy as np

from catalpa.inspection.columns import ColumnView
from catalpa.inspection.findings import Judgement, Kind

# Names that surveys use for weights only.
SURE = re.compile(
    r"fnlwgt|(?:final|sample|sampling|survey|design|person|case|post.?strat\w*|pop\w*|gewichtungs?)[ _.-]?"
    r"(?:weight|wgt|wt|gewicht|faktor)s?|wtss\w*|[pd]spwght|pspwght|dweight|pweight|anweight|pweight|"
    r"wt_?(?:final|comb|sample)\w*|hochrechnungsfaktor|hrf",
    re.I,
)
LIKELY = re.compile(r"(?:.*[ _.-])?(?:weights?|wgt|wt|gewicht|gewichtung)(?:[ _.-]?\d*)?", re.I)
MEAN = (0.8, 1.25)
LARGEST = 60
FRACTIONS = 0.5  # share of the weights that are not whole


def weight(view: ColumnView) -> Judgement | None:
    """Weights by name; for ambiguous names, such as that of a body weight, only if the mean is around 1."""
    if view.numbers is None or view.different < 3:
        return None
    mean = float((view.numbers * view.counts).sum() / view.present)
    if not SURE.fullmatch(view.name.strip()):
        fractions = float(view.counts[view.numbers != np.floor(view.numbers)].sum()) / view.present
        usual = MEAN[0] <= mean <= MEAN[1] and float(view.numbers.max()) < LARGEST
        named = LIKELY.fullmatch(view.name.strip()) is not None
        if not (named and usual and fractions > FRACTIONS and float(view.numbers.min()) >= 0):
            return None
    return Judgement(Kind.WEIGHT, view.name, safe=True, changes={"role": "weight"}, facts={"mean": mean})
