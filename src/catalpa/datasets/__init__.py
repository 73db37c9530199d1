"""Data sets by name, and synthetic tables with planted clusters."""

from catalpa.datasets.load import Dataset, list_datasets, load
from catalpa.datasets.synthetic import Planted, iter_categorical, make_categorical

__all__ = ["Dataset", "Planted", "iter_categorical", "list_datasets", "load", "make_categorical"]
