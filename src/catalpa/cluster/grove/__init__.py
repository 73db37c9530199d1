"""Grove: soft clusters with shrunk relations, the library's default."""

from catalpa.cluster.grove.estimator import Grove

__all__ = ["Grove"]
