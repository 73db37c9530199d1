"""The document of a model file as a fitted estimator, every value of it checked before it is used."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import numpy as np

from catalpa.errors import ModelFileError, ParameterError, TableError
from catalpa.estimator.fitted import Fitted, Outcome
from catalpa.estimator.kept import check_kept
from catalpa.estimator.naming import named
from catalpa.estimator.parameters import check_parameters
from catalpa.loop.history import Batch, Pass
from catalpa.model.codecs import array_from_json, counts_from_json, damaged, scores_from_json, value_of
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

Record = TypeVar("Record")


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
    check_kept(fitted, kind._kept)
    model._check_read(fitted)
    model.n_features_in_ = len(schema.inputs)
    model._publish(fitted)
    return model


def _fitted(document: Mapping[str, Any], schema: Schema) -> Fitted:
    fit = document["fit"]
    units, rows = _number(fit, "fit", "units_per_weight"), value_of(fit, "fit", "rows", int)
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
        math.nan if fit.get("cost", 0) is None else _number(fit, "fit", "cost"),
        _records(value_of(fit, "fit", "history", list), "fit.history", Pass),
        value_of(fit, "fit", "converged", bool),
        {name: array_from_json(entry, f"extra.learned.{name}") for name, entry in parts["learned"].items()},
        {name: array_from_json(entry, f"extra.shared.{name}") for name, entry in parts["shared"].items()},
        {
            name: math.nan if value is None else _number(parts["facts"], "extra.facts", name)
            for name, value in parts["facts"].items()
        },
        {
            name: tuple(
                array_from_json(entry, f"extra.ragged.{name}[{at}]")
                for at, entry in enumerate(value_of(parts["ragged"], "extra.ragged", name, list))
            )
            for name in parts["ragged"]
        },
        soft=None if soft is None else counts_from_json(soft),
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
        values = {
            name: _number(entry, owner, name) if own is float else value_of(entry, owner, name, own)
            for name, own in types.items()
        }
        made.append(kind(**values))
    return tuple(made)


def _number(entry: Mapping[str, Any], owner: str, name: str) -> float:
    value = value_of(entry, owner, name)
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise damaged(f"{owner}.{name}", f"is {value!r:.60}, not a finite number")
    return float(value)
