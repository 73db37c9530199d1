"""The methods, one file each, as scikit-learn estimators."""

from catalpa.cluster.disc import DISC
from catalpa.cluster.kmodes import KModes
from catalpa.cluster.kprototypes import KPrototypes
from catalpa.cluster.registry import METHODS, MethodEntry, find_method, load

__all__ = ["DISC", "METHODS", "KModes", "KPrototypes", "MethodEntry", "find_method", "load"]
