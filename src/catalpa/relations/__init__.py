"""What counts say about categories: distances, trees, profiles and reasons, per cluster and column."""

from catalpa.relations.category_map import CategoryMap, map_categories
from catalpa.relations.numbers import NumberProfile, profile_numbers
from catalpa.relations.profiles import TellingColumn, profile_columns, telling_columns
from catalpa.relations.reasons import CategoryReason, NumberReason, reasons, sentence
from catalpa.relations.relation import Relation
from catalpa.relations.relations import Relations
from catalpa.relations.tree import Tree, line_tree, spanning_tree

__all__ = [
    "CategoryMap",
    "CategoryReason",
    "NumberProfile",
    "NumberReason",
    "Relation",
    "Relations",
    "TellingColumn",
    "Tree",
    "line_tree",
    "map_categories",
    "profile_columns",
    "profile_numbers",
    "reasons",
    "sentence",
    "spanning_tree",
    "telling_columns",
]
