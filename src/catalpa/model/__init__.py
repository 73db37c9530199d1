"""A fitted model as a file: JSON in and out, no pickle."""

from catalpa.files import write_atomically
from catalpa.model.codecs import (
    array_from_json,
    array_to_json,
    counts_from_json,
    counts_to_json,
    number_from_json,
    number_to_json,
    scores_from_json,
    scores_to_json,
)
from catalpa.model.file import FORMAT, read, write

__all__ = [
    "FORMAT",
    "array_from_json",
    "array_to_json",
    "counts_from_json",
    "counts_to_json",
    "number_from_json",
    "number_to_json",
    "read",
    "scores_from_json",
    "scores_to_json",
    "write",
    "write_atomically",
]
