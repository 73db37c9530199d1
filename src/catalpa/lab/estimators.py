"""Estimators by name: the library's own, and those that other packages bring."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from catalpa.cluster.registry import METHODS, find_method
from catalpa.errors import ParameterError
from catalpa.lab.peers import PEERS, find_peer
from catalpa.lab.protocol import Entry
from catalpa.lab.published_disc import PublishedDISC

GROUP = "catalpa.methods"  # entry points of other packages
# Methods as published programs run them, where that differs from the estimators; for the laboratory alone.
READINGS: Mapping[str, type[Any]] = {"disc-as-published": PublishedDISC}


def find_estimator(name: str) -> type[Any]:
    """The class behind a name.

    That is the name or alias of a method, ``"stepmix"`` or ``"mca-kmeans"``, the name of an entry point in
    the group ``catalpa.methods``, or an import path such as ``"package.module:Class"``.
    """
    if ":" in name:
        module, _, attribute = name.partition(":")
        cure = f'Name one of {", ".join(METHODS)}, or "package.module:Class" of an installed package.'
        return _imported(name, "", lambda: getattr(importlib.import_module(module), attribute), cure)
    try:
        # First, so that no other package changes what the library's own names mean.
        return find_method(name).estimator
    except ParameterError as error:
        peer = READINGS.get(name) or find_peer(name)
        if peer is not None:
            return peer
        # Read only when no other name fits: to list them opens the records of every installed package.
        for point in entry_points(group=GROUP):
            if point.name == name:
                cure = "Install its package again, or name another method."
                return _imported(name, f"is the entry point {point.value!r}, which ", point.load, cure)
        raise ParameterError(
            f"{error} Other programs have the names {', '.join(PEERS)}; any class of another package is "
            'named by its path, as in "package.module:Class".'
        ) from error


def method_name(name: str) -> str:
    """The registry's own name where this is an alias of it; the name itself for classes of other packages."""
    # By its class: entry points and paths may lead to the same method.
    estimator = find_estimator(name)
    return next((entry.name for entry in METHODS.values() if entry.estimator is estimator), name)


def make(entry: Entry, n_clusters: int, seed: int, categorical_features: str | None = None) -> Any:
    """An estimator with the entry's settings, one thread, and the other settings where it takes them."""
    model = _instance(entry.method, entry.parameters)
    # SigDT and others find the number of clusters themselves and have no such setting.
    # One thread, because runs are spread over processes.
    wanted: dict[str, Any] = {"n_clusters": n_clusters, "random_state": seed, "n_jobs": 1}
    if categorical_features is not None:
        wanted["categorical_features"] = categorical_features
    # Any class of scikit-learn's kind may come: it is asked what it takes, and not told more.
    takes = model.get_params(deep=False)
    return model.set_params(**{key: value for key, value in wanted.items() if key in takes})


def fitted(
    entry: Entry, frame: Any, n_clusters: int, seed: int, categorical_features: str | None = None
) -> Any:
    """An estimator as :func:`make` gives it, fitted to a table without a warning."""
    with warnings.catch_warnings():
        # What a fit warns about is in the row of its run: clusters left, passes, the largest share.
        warnings.simplefilter("ignore")
        return make(entry, n_clusters, seed, categorical_features).fit(frame)


def is_by_chance(name: str) -> bool:
    """Whether an estimator takes a seed."""
    return "random_state" in _instance(name, {}).get_params(deep=False)


def _instance(name: str, parameters: Mapping[str, Any]) -> Any:
    try:
        return find_estimator(name)(**parameters)
    except TypeError as error:
        raise ParameterError(
            f"The method {name!r} cannot be made: {error}. An estimator of scikit-learn's kind has a default "
            "for each of its settings."
        ) from error


def _imported(name: str, what: str, load: Callable[[], Any], cure: str) -> type[Any]:
    """A class of another package, if it is a clusterer and can be imported."""
    try:
        estimator = load()
    # An empty name of a module is a ValueError.
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(f"The method {name!r} {what}cannot be imported: {error}. {cure}") from error
    if not (isinstance(estimator, type) and hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ParameterError(
            f"The method {name!r} is not a scikit-learn estimator, a class with fit and get_params."
        )
    return estimator
