"""The methods, one file each, as scikit-learn estimators."""

from catalpa.cluster.cbdm import CBDM
from catalpa.cluster.cdcdr import CDCDR
from catalpa.cluster.coforest import CoForest
from catalpa.cluster.cure import CURE
from catalpa.cluster.disc import DISC
from catalpa.cluster.grove import Grove
from catalpa.cluster.harr import HARR
from catalpa.cluster.hdc import HDC
from catalpa.cluster.kmodes import KModes
from catalpa.cluster.kprototypes import KPrototypes
from catalpa.cluster.mcdc import MCDC
from catalpa.cluster.registry import METHODS, MethodEntry, find_method, load
from catalpa.cluster.sigdt import SigDT
from catalpa.cluster.wocil import WOCIL

__all__ = [
    "CBDM",
    "CDCDR",
    "CURE",
    "DISC",
    "HARR",
    "HDC",
    "MCDC",
    "METHODS",
    "WOCIL",
    "CoForest",
    "Grove",
    "KModes",
    "KPrototypes",
    "MethodEntry",
    "SigDT",
    "find_method",
    "load",
]
