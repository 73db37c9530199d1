"""Evaluation of labels: against known classes, from the table alone, and over many data sets."""

from catalpa.metrics.external import (
    adjusted_mutual_information,
    adjusted_rand,
    clustering_accuracy,
    normalized_mutual_information,
    purity,
)
from catalpa.metrics.internal import categorical_silhouette, categorical_silhouette_samples, compactness
from catalpa.metrics.ranks import (
    Friedman,
    PairTest,
    average_ranks,
    bonferroni_dunn_difference,
    friedman,
    holm,
    nemenyi_difference,
    rank_groups,
    wilcoxon_holm,
)

__all__ = [
    "Friedman",
    "PairTest",
    "adjusted_mutual_information",
    "adjusted_rand",
    "average_ranks",
    "bonferroni_dunn_difference",
    "categorical_silhouette",
    "categorical_silhouette_samples",
    "clustering_accuracy",
    "compactness",
    "friedman",
    "holm",
    "nemenyi_difference",
    "normalized_mutual_information",
    "purity",
    "rank_groups",
    "wilcoxon_holm",
]
