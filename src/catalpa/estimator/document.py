"""A fitted estimator as the document of a model file, and back: every value read is checked before use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import numpy as np

import catalpa
from catalpa.errors import ModelFileError, ParameterError, TableError
from catalpa.estimator.contents import check_contents
from catalpa.estimator.naming import named
from catalpa.estimator.parameters import check_parameters, plain_parameters
from catalpa.estimator.problem import Fitted, Outcome
from catalpa.loop.history import Batch, Pass
from catalpa.model.codecs import (
    array_from_json,
    array_to_json,
    counts_from_json,
    counts_to_json,
    damaged,
    scores_from_json,
    scores_to_json,
    value_of,
)
from catalpa.model.file import FORMAT
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

Record = TypeVar("Record")


def model_document(model: Any) -> dict[str, Any]:
    """What the model file of a fitted estimator holds, as JSON values."""
    fitted, outcome = model._fitted, model._fitted.outcome
    return {
        "catalpa_model": FORMAT,
        "catalpa_version": catalpa.__version__,
        "method": type(model).__name__,
        "parameters": plain_parameters(model.get_params(deep=False)),
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
            "quartiles": array_to_json(fitted.quartiles),
        },
    }


def _known(number: float) -> float | None:
    """A number for a file; None where it is not known, which is nan here."""
    return None if math.isnan(number) else number


def restored(document: Mapping[str, Any], kind: type[Clusterer]) -> Clusterer:
    """The estimator of class ``kind`` that a document describes, fitted but without labels."""
    try:
        model = kind(**document["parameters"])
        check_parameters(kind.__name__, model.get_params(deep=False), kind._rules)
        schema = Schema.from_dict(document["schema"])
    # All that a value of another kind can raise here; a file is data, and never the reader's fault.
    except (TypeError, AttributeError, TableError, ParameterError) as error:
        raise ModelFileError(f"The model file is damaged ({error}). Save the model again.") from error
    fitted = _fitted(document, schema)
    check_contents(fitted, kind._contents)
    model._check_read(fitted)
    model.n_features_in_ = len(schema.inputs)
    model._publish(fitted)
    return model


def _fitted(document: Mapping[str, Any], schema: Schema) -> Fitted:
    fit = document["fit"]
    units, rows = value_of(fit, "fit", "units_per_weight", float), value_of(fit, "fit", "rows", int)
    if units <= 0 or not 1 <= rows < 2**63:  # more are no numbers that anything here is divided by
        raise damaged("fit", f"has {rows!r:.20} rows and {units:g} units per weight; both are above 0")
    batches = _records(fit.get("batches", []), "fit.batches", Batch)
    quartiles = array_from_json(value_of(fit, "fit", "quartiles", dict), "fit.quartiles", ndim=3)
    outcome = _outcome(document)
    names = _names(document.get("names", {}), outcome.k)
    return Fitted(schema, outcome, units, rows, quartiles, batches, names)


def _names(entry: object, k: int) -> dict[int, str]:
    """Names of clusters; a file without any was written before there were names."""
    if type(entry) is not dict:
        raise damaged("names", "is not an object")
    clusters = {str(cluster): cluster for cluster in range(k)}
    try:
        return named({}, {clusters.get(number, -1): name for number, name in entry.items()}, k)
    except ParameterError as error:
        raise damaged("names", f"cannot be read ({error})") from error


def _outcome(document: Mapping[str, Any]) -> Outcome:
    extra, fit, soft = document["extra"], document["fit"], document.get("soft_counts")
    parts = {name: value_of(extra, "extra", name, dict) for name in ("learned", "shared", "facts", "ragged")}
    centers = array_from_json(document["centers"], "centers", ndim=2)
    if centers.dtype.kind not in "iu":
        raise damaged("centers", f"has the dtype {centers.dtype}; codes of categories are whole numbers")
    if soft is not None and type(soft) is not dict:
        raise damaged("soft_counts", "is not an object")
    return Outcome(
        scores_from_json(document["scores"]),
        counts_from_json(document["counts"]),
        centers.astype(np.int64),
        math.nan if fit.get("cost", 0) is None else value_of(fit, "fit", "cost", float),
        _records(value_of(fit, "fit", "history", list), "fit.history", Pass),
        value_of(fit, "fit", "converged", bool),
        {name: array_from_json(entry, f"extra.learned.{name}") for name, entry in parts["learned"].items()},
        {name: array_from_json(entry, f"extra.shared.{name}") for name, entry in parts["shared"].items()},
        {
            name: math.nan if value is None else value_of(parts["facts"], "extra.facts", name, float)
            for name, value in parts["facts"].items()
        },
        {
            name: tuple(
                array_from_json(entry, f"extra.ragged.{name}[{at}]")
                for at, entry in enumerate(value_of(parts["ragged"], "extra.ragged", name, list))
            )
            for name in parts["ragged"]
        },
        soft=None if soft is None else counts_from_json(soft, "soft_counts"),
    )


def _records(entries: object, field: str, kind: type[Record]) -> tuple[Record, ...]:
    """Lines of the history, each with exactly the values that its class declares."""
    if type(entries) is not list:
        raise damaged(field, "is not a list")
    types = get_type_hints(kind)
    made = []
    for at, entry in enumerate(entries):
        owner = f"{field}[{at}]"
        if type(entry) is not dict or not entry.keys() <= types.keys():
            raise damaged(owner, f"is not an object with {', '.join(types)}")
        made.append(kind(**{name: value_of(entry, owner, name, own) for name, own in types.items()}))
    return tuple(made)
