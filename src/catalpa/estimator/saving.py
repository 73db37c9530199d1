"""A fitted estimator as the document of a model file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

import catalpa
from catalpa.errors import ParameterError
from catalpa.estimator.fitted import Fitted
from catalpa.estimator.parameters import WATCHING
from catalpa.model.codecs import array_to_json, counts_to_json, scores_to_json
from catalpa.model.file import FORMAT
from catalpa.table.schema import Schema

__all__ = ["identity", "model_document"]


def model_document(method: str, parameters: Mapping[str, Any], fitted: Fitted) -> dict[str, Any]:
    """What a model file holds of a fit with these settings."""
    outcome = fitted.outcome
    return {
        "catalpa_model": FORMAT,
        "catalpa_version": catalpa.__version__,
        "method": method,
        "parameters": _plain_parameters(parameters),
        "schema": fitted.schema.to_dict(),
        "scores": scores_to_json(outcome.scores),
        "counts": counts_to_json(outcome.counts),
        "soft_counts": None if outcome.soft is None else counts_to_json(outcome.soft),
        "centers": array_to_json(outcome.centers),
        "names": {str(cluster): name for cluster, name in fitted.names.items()},
        "extra": {
            "learned": {name: array_to_json(array) for name, array in outcome.learned.items()},
            "shared": {name: array_to_json(array) for name, array in outcome.shared.items()},
            "ragged": {name: [*map(array_to_json, arrays)] for name, arrays in outcome.ragged.items()},
            "facts": {name: _known(fact) for name, fact in outcome.facts.items()},
        },
        "fit": {
            "rows": fitted.rows,
            "cost": _known(outcome.cost),
            "converged": outcome.converged,
            "units_per_weight": fitted.units_per_weight,
            "history": [asdict(event) for event in outcome.history],
            "batches": [asdict(batch) for batch in fitted.batches],
        },
    }


def _known(number: float) -> float | None:
    """A number for a file; None where it is not known, which is nan here."""
    return None if math.isnan(number) else number


def _plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that JSON can hold; the others (a table of centres, a generator) only matter at fit."""
    plain = {}
    for name, value in parameters.items():
        if name in WATCHING:
            continue
        value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        try:  # by trying: what JSON holds inside lists and dictionaries is for JSON to say
            json.dumps(value)
        except (TypeError, ValueError):
            continue
        plain[name] = value
    return plain


def identity(method: str, parameters: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """What makes two fits the same fit, given the same rows, as JSON values."""
    settings = _plain_parameters(parameters)
    seed = settings.get("random_state")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ParameterError(
            f"checkpoint needs random_state to be a whole number, not {parameters['random_state']!r}: "
            "otherwise a fit that continues would draw other rows."
        )
    free = ("checkpoint", "n_jobs")  # they do not change the result
    return {
        "version": catalpa.__version__,
        "method": method,
        **{name: value for name, value in settings.items() if name not in free},
        "columns": schema.to_dict(),
    }
