"""Scores and counts as JSON: every part comes back, and what does not fit the rest is named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from catalpa.errors import ModelFileError
from catalpa.model.codecs import scores_from_json, scores_to_json
from catalpa.steps.scores import Scores


def levelled() -> Scores:
    rng = np.random.default_rng(0)
    numbers = {name: rng.normal(size=(2, 3)) for name in ("means", "scale", "level")}
    return Scores.of(rng.random((4, 2)), anchor=np.array([-1.5, 0.1]), **numbers, power=1, root=True)


def test_scores_with_levels_come_back_bit_for_bit():
    scores = levelled()
    again = scores_from_json(json.loads(json.dumps(scores_to_json(scores))))
    assert again.same_as(scores)
    assert (again.level.tolist(), again.power, again.root) == (scores.level.tolist(), 1, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda entry: entry.pop("level"), "'scores.level' is missing"),
        (lambda entry: entry.update(level=entry["table"]), r"'scores.level' has shape \(4, 2\)"),
    ],
)
def test_levels_that_do_not_fit_are_named(change, words):
    entry = scores_to_json(levelled())
    change(entry)
    with pytest.raises(ModelFileError, match=words):
        scores_from_json(entry)
