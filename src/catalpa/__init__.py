"""Catalpa clusters tables made of categories and shows why rows belong together."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from catalpa.cluster.registry import METHODS

# For type checkers and editors, which do not run __getattr__; a test holds this to the registry.
if TYPE_CHECKING:
    from catalpa import datasets as datasets
    from catalpa import metrics as metrics
    from catalpa import plot as plot
    from catalpa.cluster.cbdm import CBDM as CBDM
    from catalpa.cluster.cdcdr import CDCDR as CDCDR
    from catalpa.cluster.choose_k import choose_k as choose_k
    from catalpa.cluster.coforest import CoForest as CoForest
    from catalpa.cluster.cure import CURE as CURE
    from catalpa.cluster.disc import DISC as DISC
    from catalpa.cluster.grove import Grove as Grove
    from catalpa.cluster.harr import HARR as HARR
    from catalpa.cluster.hdc import HDC as HDC
    from catalpa.cluster.kmodes import KModes as KModes
    from catalpa.cluster.kprototypes import KPrototypes as KPrototypes
    from catalpa.cluster.mcdc import MCDC as MCDC
    from catalpa.cluster.registry import load as load
    from catalpa.cluster.sigdt import SigDT as SigDT
    from catalpa.cluster.wocil import WOCIL as WOCIL
    from catalpa.inspection.look import look as look
    from catalpa.loop.progress import Progress as Progress
    from catalpa.report.compare_page import compare as compare
    from catalpa.report.drift_page import drift as drift
    from catalpa.report.explore_page import explore as explore
    from catalpa.report.history_page import history as history
    from catalpa.report.short_form_page import short_form as short_form
    from catalpa.table.files.scan import scan as scan

__version__ = "0.1.0"

_HOMES = {
    **{entry.class_name: entry.module for entry in METHODS.values()},
    "Progress": "catalpa.loop.progress",
    "choose_k": "catalpa.cluster.choose_k",
    "compare": "catalpa.report.compare_page",
    "drift": "catalpa.report.drift_page",
    "explore": "catalpa.report.explore_page",
    "history": "catalpa.report.history_page",
    "load": "catalpa.cluster.registry",
    "look": "catalpa.inspection.look",
    "scan": "catalpa.table.files.scan",
    "short_form": "catalpa.report.short_form_page",
}
_ROOMS = ("datasets", "metrics", "plot")

__all__ = ["__version__", *_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    # Names are imported when first used, so that `import catalpa` costs next to nothing.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"catalpa.{name}")
    raise AttributeError(f"module 'catalpa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
