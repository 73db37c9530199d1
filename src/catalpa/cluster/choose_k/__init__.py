"""How many clusters: every number tried, measured in several ways, and one chosen with its reason."""

from catalpa.cluster.choose_k.choice import KChoice
from catalpa.cluster.choose_k.fits import choose_k

__all__ = ["KChoice", "choose_k"]
