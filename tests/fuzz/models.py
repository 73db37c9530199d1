"""Model files that were changed, and are then used: refused with a sentence, or as good as a model."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import catalpa
from catalpa.cluster.registry import METHODS

ODD_NUMBERS = (0, 1, -1, 2, 7, 255, 100_000, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**400)
ODD_FLOATS = (0.5, -0.0, 1e-320, 1e300, -1e300, 1.7e308, 3.0)
ODD_WORDS = ("", "nan", "inf", "-inf", "x", "\ud800", "a\x00b", "__class__", "predict", "category", "int64")
ODD_OTHERS = (None, True, False, [], {}, [[]], [None], {"a": 1}, ["a", 1], [[1], [2, 3]])
DTYPES = ("bool", "int8", "int64", "uint64", "float16", "float32", "float64", "object", "str")


def table() -> pd.DataFrame:
    """Rows with categories of several types and numbers of several shapes."""
    rng = np.random.default_rng(0)
    n = 40
    return pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", None], n),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), categories=["s", "m", "l"], ordered=True),
            "on": rng.random(n) < 0.4,
            "rank": rng.integers(0, 4, n),
            "price": rng.random(n),
            "skewed": rng.random(n) ** 8,
        }
    )


def rows_for(method: str) -> pd.DataFrame:
    rows = table()
    return rows if METHODS[method].mixed else rows.drop(columns=["price", "skewed"])


@cache
def documents(folder: Path) -> Mapping[str, Any]:
    """A model file of every method."""
    made = {}
    for name, entry in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = entry.estimator()
            wanted = {"n_clusters": 3, "random_state": 0, "n_init": 1, "min_leaf": 2}
            model.set_params(**{key: wanted[key] for key in wanted if key in model.get_params()})
            model.fit(rows_for(name)).save(folder / f"{name}.json")
        made[name] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return made


def fuzz(rng: Random, folder: Path) -> str:
    """Change a model file, load it and use it in every way."""
    originals = documents(folder)
    method = rng.choice(sorted(originals))
    document = copy.deepcopy(originals[method])
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        change(document, rng, originals)
    path = folder / "changed.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return use(path, rows_for(method))


def use(path: Path, rows: pd.DataFrame) -> str:
    """Load a model and ask it for everything that it has."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = catalpa.load(path)
        except catalpa.errors.ModelFileError:
            return "refused at load"
        refused = [refused_by(ask, model, rows) for ask in questions(model)]
    return "refused later" if any(refused) else "used"


def refused_by(ask: Callable[[Any, pd.DataFrame], None], model: Any, rows: pd.DataFrame) -> bool:
    try:
        ask(model, rows)
    except catalpa.errors.CatalpaError:
        return True
    return False


def questions(model: Any) -> Iterator[Callable[[Any, pd.DataFrame], None]]:
    """Everything that a fitted model answers; what changes it comes last."""
    yield ask_labels
    yield lambda model, rows: (model.transform(rows), model.score(rows))
    for name in sorted(attributes(type(model))):
        yield lambda model, _, name=name: repr(getattr(model, name))
    yield lambda model, _: (repr(model), model._repr_html_(), model.get_feature_names_out())
    yield lambda model, _: model.to_sql()
    yield lambda model, rows: model.report(rows).summary
    if hasattr(model, "partial_fit"):
        yield lambda model, rows: model.partial_fit(rows)


def ask_labels(model: Any, rows: pd.DataFrame) -> None:
    labels = np.asarray(model.predict(rows))
    assert len(labels) == len(rows)
    assert ((labels >= 0) & (labels < model.n_clusters_)).all(), labels


def attributes(kind: type) -> set[str]:
    found = {name for name in dir(kind) if name.endswith("_") and not name.endswith("__")}
    return found - set(kind._unavailable)  # names that a method says it has no meaning for


def change(document: Any, rng: Random, originals: Mapping[str, Any]) -> None:
    """One change somewhere in a document, in place."""
    place = pick(document, rng, rng.randint(1, 6))
    if place is None:
        return
    holder, key = place
    value = holder[key]
    if isinstance(value, dict) and {"dtype", "shape", "values"} <= value.keys() and rng.random() < 0.7:
        reshape(value, rng)
    elif rng.random() < 0.1:
        del holder[key]
    elif rng.random() < 0.1 and isinstance(holder, dict):
        holder[rng.choice(ODD_WORDS)] = value
    elif rng.random() < 0.1:
        other = pick(originals[rng.choice(sorted(originals))], rng, rng.randint(1, 6))
        holder[key] = copy.deepcopy(other[0][other[1]]) if other else None
    else:
        holder[key] = changed(value, rng)


def pick(document: Any, rng: Random, depth: int) -> tuple[Any, Any] | None:
    """A holder and a key in it, some levels down."""
    found = None
    while depth and isinstance(document, (dict, list)) and document:
        key = rng.choice(sorted(document)) if isinstance(document, dict) else rng.randrange(len(document))
        found, document, depth = (document, key), document[key], depth - 1
    return found


def changed(value: Any, rng: Random) -> Any:
    """Another value, of the same kind or of any."""
    if isinstance(value, list) and value and rng.random() < 0.5:
        return rng.choice((value[:-1], value + value[-1:], value[::-1], value * 2, [value]))
    if isinstance(value, (int, float)) and rng.random() < 0.7:
        return rng.choice(
            (value + 1, value - 1, -value, value * 1000, *ODD_NUMBERS, *ODD_FLOATS, "nan", "inf")
        )
    return rng.choice((*ODD_NUMBERS, *ODD_FLOATS, *ODD_WORDS, *ODD_OTHERS))


def reshape(entry: dict[str, Any], rng: Random) -> None:
    """An array that is in order, but of another shape or type, or with other values."""
    shape = entry["shape"]
    if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 1000 for size in shape):
        return  # an earlier change was here
    if rng.random() < 0.3:
        entry["dtype"] = rng.choice(DTYPES)
    elif shape and rng.random() < 0.6:
        shape = list(shape)
        at = rng.randrange(len(shape))
        shape[at] = max(0, rng.choice((0, shape[at] - 1, shape[at] + 1, 7, 200)))
        filler = rng.choice((0, 1, 2))
        entry["shape"], entry["values"] = shape, np.full(shape, filler).tolist()
    else:
        flat = np.array(entry["values"], dtype=object)
        if flat.size:
            at = rng.randrange(flat.size)
            flat.flat[at] = changed(flat.flat[at], rng)
        entry["values"] = flat.tolist()
