"""What counts say about categories: distances, trees and profiles, per cluster and column."""

from catalpa.relations.category_map import CategoryMap, map_categories
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
    "CategoryMap",
    "Distinction",
    "Relation",
    "Relations",
    "TellingColumn",
    "Tree",
    "distinctive",
    "line_tree",
    "map_categories",
    "profile_columns",
    "sentence",
    "spanning_tree",
    "telling_columns",
    "typical_categories",
]
