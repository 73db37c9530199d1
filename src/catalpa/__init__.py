"""Catalpa clusters tables made of categories and shows why rows belong together."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catalpa import datasets, metrics, plot
    from catalpa.cluster.cbdm import CBDM
    from catalpa.cluster.cdcdr import CDCDR
    from catalpa.cluster.choose_k import choose_k
    from catalpa.cluster.coforest import CoForest
    from catalpa.cluster.cure import CURE
    from catalpa.cluster.disc import DISC
    from catalpa.cluster.grove import Grove
    from catalpa.cluster.harr import HARR
    from catalpa.cluster.hdc import HDC
    from catalpa.cluster.kmodes import KModes
    from catalpa.cluster.kprototypes import KPrototypes
    from catalpa.cluster.mcdc import MCDC
    from catalpa.cluster.registry import load
    from catalpa.cluster.sigdt import SigDT
    from catalpa.cluster.wocil import WOCIL
    from catalpa.table.files.scan import scan

__version__ = "0.1.0"

__all__ = [
    "CBDM",
    "CDCDR",
    "CURE",
    "DISC",
    "HARR",
    "HDC",
    "MCDC",
    "WOCIL",
    "CoForest",
    "Grove",
    "KModes",
    "KPrototypes",
    "SigDT",
    "__version__",
    "choose_k",
    "datasets",
    "load",
    "metrics",
    "plot",
    "scan",
]

_HOMES = {
    "CBDM": "catalpa.cluster.cbdm",
    "CDCDR": "catalpa.cluster.cdcdr",
    "CURE": "catalpa.cluster.cure",
    "DISC": "catalpa.cluster.disc",
    "Grove": "catalpa.cluster.grove",
    "KModes": "catalpa.cluster.kmodes",
    "KPrototypes": "catalpa.cluster.kprototypes",
    "HDC": "catalpa.cluster.hdc",
    "CoForest": "catalpa.cluster.coforest",
    "WOCIL": "catalpa.cluster.wocil",
    "MCDC": "catalpa.cluster.mcdc",
    "HARR": "catalpa.cluster.harr",
    "SigDT": "catalpa.cluster.sigdt",
    "choose_k": "catalpa.cluster.choose_k",
    "load": "catalpa.cluster.registry",
    "scan": "catalpa.table.files.scan",
}
_ROOMS = ("datasets", "metrics", "plot")


def __getattr__(name: str) -> Any:
    # Names are imported when first used, so that `import catalpa` costs next to nothing.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"catalpa.{name}")
    raise AttributeError(f"module 'catalpa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
