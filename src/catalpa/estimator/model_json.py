"""Conversion of fitted estimators to and from model documents; every value read is validated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import numpy as np

import catalpa
from catalpa.errors import ModelFileError, ParameterError, TableError
from catalpa.estimator.model_shapes import check_contents
from catalpa.estimator.naming import named
from catalpa.estimator.parameters import check_parameters, plain_parameters
from catalpa.estimator.problem import Checks, Fitted, Outcome
from catalpa.inspection.recipe import Recipe
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
    """The model document of a fitted estimator, as JSON values."""
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
        **({} if fitted.recipe is None else {"recipe": fitted.recipe.to_dict()}),
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
            "checks": asdict(outcome.checks),
            **({} if fitted.weight_column is None else {"weight_column": fitted.weight_column}),
        },
    }


def _known(number: float) -> float | None:
    """A number for a file; NaN becomes None."""
    return None if math.isnan(number) else number


def restored(document: Mapping[str, Any], kind: type[Clusterer]) -> Clusterer:
    """The estimator of class ``kind`` of a document, fitted but without labels."""
    try:
        model = kind(**document["parameters"])
        check_parameters(kind.__name__, model.get_params(deep=False), kind._rules)
        schema = Schema.from_dict(document["schema"])
        fitted = _fitted(document, schema)
    # Any error that an invalid value can raise here means that the file is damaged.
    except (TypeError, AttributeError, TableError, ParameterError) as error:
        raise ModelFileError(f"The model file is damaged ({error}). Save the model again.") from error
    check_contents(fitted, kind._contents)
    model._check_read(fitted)
    model.recipe = fitted.recipe
    model.n_features_in_ = len(schema.inputs)
    model._publish(fitted)
    return model


def _fitted(document: Mapping[str, Any], schema: Schema) -> Fitted:
    fit = document["fit"]
    units, rows = value_of(fit, "fit", "units_per_weight", float), value_of(fit, "fit", "rows", int)
    if units <= 0 or not 1 <= rows < 2**63:  # both are divisors, and rows must fit 64 bits
        raise damaged("fit", f"has {rows!r:.20} rows and {units:g} units per weight; both are above 0")
    batches = _records(fit.get("batches", []), "fit.batches", Batch)
    quartiles = array_from_json(value_of(fit, "fit", "quartiles", dict), "fit.quartiles", ndim=3)
    outcome = _outcome(document)
    names = _names(document.get("names", {}), outcome.k)
    weight = value_of(fit, "fit", "weight_column", str) if "weight_column" in fit else None
    recipe = None if (entry := document.get("recipe")) is None else Recipe.from_dict(entry, "its recipe")
    return Fitted(
        schema, outcome, units, rows, quartiles, batches, names, weight_column=weight, recipe=recipe
    )


def _names(entry: object, k: int) -> dict[int, str]:
    """Names of clusters; older files have none."""
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
        checks=_checks(fit.get("checks", {})),
    )


def _checks(entry: object) -> Checks:
    """Measurements of a clustering; absent from files written before anything was measured."""
    if type(entry) is not dict or not entry.keys() <= Checks.__dataclass_fields__.keys():
        raise damaged("fit.checks", f"is not an object with {', '.join(Checks.__dataclass_fields__)}")
    known = {name: value for name, value in entry.items() if value is not None}
    for name in known.keys() & {"agreement", "silhouette"}:
        known[name] = value_of(known, "fit.checks", name, float)
    levels = known.get("levels", [])
    if type(levels) is not list or len(levels) not in (0, 3):
        raise damaged("fit.checks.levels", "is not a list of three whole numbers")
    for number in (*levels, known.get("untied", 1)):
        if type(number) is not int or number < 1:
            raise damaged("fit.checks", f"has {number!r:.20}; a number of clusters is a whole number above 0")
    return Checks(**{**known, "levels": tuple(levels) or None})


def _records(entries: object, field: str, kind: type[Record]) -> tuple[Record, ...]:
    """Rows of the history, each with exactly the fields of its class."""
    if type(entries) is not list:
        raise damaged(field, "is not a list")
    types = get_type_hints(kind)
    records = []
    for at, entry in enumerate(entries):
        owner = f"{field}[{at}]"
        if type(entry) is not dict or not entry.keys() <= types.keys():
            raise damaged(owner, f"is not an object with {', '.join(types)}")
        records.append(kind(**{name: value_of(entry, owner, name, hint) for name, hint in types.items()}))
    return tuple(records)
