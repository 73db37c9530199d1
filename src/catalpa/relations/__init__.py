"""What counts say about categories: distances, trees and profiles, per cluster and column."""

from catalpa.relations.profiles import (
    Distinction,
    TellingColumn,
    distinctive,
    profile_columns,
    sentence,
    telling_columns,
    typical_categories,
)
from catalpa.relations.relations import Relation, Relations
from catalpa.relations.tree import Tree, line_tree, spanning_tree

__all__ = [
    "Distinction",
    "Relation",
    "Relations",
    "TellingColumn",
    "Tree",
    "distinctive",
    "line_tree",
    "profile_columns",
    "sentence",
    "spanning_tree",
    "telling_columns",
    "typical_categories",
]
