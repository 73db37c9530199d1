"""A fitted estimator as the document of a model file, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import catalpa
from catalpa.errors import ModelFileError, ParameterError, TableError
from catalpa.estimator.fitted import Fitted, Outcome
from catalpa.loop.history import Batch, Pass
from catalpa.model.codecs import (
    array_from_json,
    array_to_json,
    counts_from_json,
    counts_to_json,
    scores_from_json,
    scores_to_json,
)
from catalpa.model.file import FORMAT
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

__all__ = ["identity", "model_document", "restored"]


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


def _read_number(number: float | None) -> float:
    return math.nan if number is None else float(number)


def _plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that JSON can hold; the others (a table of centres, a generator) only matter at fit."""
    plain = {}
    for name, value in parameters.items():
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


def restored(document: Mapping[str, Any], kind: type[Clusterer]) -> Clusterer:
    """The estimator of class ``kind`` that a document describes, fitted but without labels."""
    try:
        model = kind(**document["parameters"])
        schema = Schema.from_dict(document["schema"])
        outcome = _outcome(document)
        fit = document["fit"]
        # Parts that are each in order may still not belong together, and a look-up would read beyond.
        if outcome.scores.table.shape[0] != schema.axis.length:
            raise ModelFileError(
                "The model file is damaged: its cost table does not fit its columns. Save the model again."
            )
        model.n_features_in_ = len(schema.columns)
        batches = tuple(Batch(**batch) for batch in fit.get("batches", []))
        units, rows = float(fit["units_per_weight"]), int(fit["rows"])
        model._publish(Fitted(schema, outcome, units, rows, batches))
    # All that a value of another kind can raise here; a file is data, and never the reader's fault.
    except (KeyError, TypeError, AttributeError, TableError, ParameterError) as error:
        raise ModelFileError(
            f"The model file is damaged ({type(error).__name__}: {error}). Save the model again."
        ) from error
    return model


def _outcome(document: Mapping[str, Any]) -> Outcome:
    extra, fit = document["extra"], document["fit"]
    return Outcome(
        scores_from_json(document["scores"]),
        counts_from_json(document["counts"]),
        array_from_json(document["centers"], "centers", ndim=2),
        _read_number(fit["cost"]),
        tuple(Pass(**event) for event in fit["history"]),
        bool(fit["converged"]),
        {name: array_from_json(entry, f"extra.learned.{name}") for name, entry in extra["learned"].items()},
        {name: array_from_json(entry, f"extra.shared.{name}") for name, entry in extra["shared"].items()},
        {name: _read_number(value) for name, value in extra["facts"].items()},
        {
            name: tuple(array_from_json(entry, f"extra.ragged.{name}") for entry in entries)
            for name, entries in extra["ragged"].items()
        },
        soft=None if (soft := document.get("soft_counts")) is None else counts_from_json(soft),
    )
