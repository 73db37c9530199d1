"""The methods by name, imported lazily, and models loaded from files.

This is the only list of methods: the names in ``catalpa``, the command line, the laboratory, the table in the
documentation and the scikit-learn checks are derived from it.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalpa.errors import ModelFileError, ParameterError

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer


@dataclass(frozen=True)
class MethodEntry:
    """Registry entry of a method."""

    class_name: str  # of the estimator, in its file and in ``catalpa``
    summary: str  # one line for people
    aliases: tuple[str, ...] = ()
    mixed: bool = False  # supports numeric columns
    ordinal: bool = False  # uses the order of ordered categories
    learns_k: bool = False  # can determine the number of clusters
    streams: bool = True  # supports out-of-core and distributed tables
    k_to_find: str | None = None  # value of ``n_clusters`` for which the method determines the number

    @property
    def name(self) -> str:
        """Name on the command line, and of the module in ``catalpa.cluster``."""
        return self.class_name.lower()

    @property
    def module(self) -> str:
        """The file that defines the estimator."""
        return f"catalpa.cluster.{self.name}"

    @property
    def estimator(self) -> type[Clusterer]:
        """The estimator class, imported on first use."""
        estimator_class: type[Clusterer] = getattr(importlib.import_module(self.module), self.class_name)
        return estimator_class


METHODS: Mapping[str, MethodEntry] = {
    entry.name: entry
    for entry in (
        MethodEntry(
            "Grove",
            "soft clusters with shrunk relations; may find the number of clusters",
            mixed=True,
            ordinal=True,
            learns_k=True,
            k_to_find="auto",
        ),
        MethodEntry(
            "DISC", "every cluster learns its own relations between categories, as published", mixed=True
        ),
        MethodEntry("KModes", "most frequent categories as centres", aliases=("k-modes", "kmd")),
        MethodEntry(
            "KPrototypes",
            "means of numbers and most frequent categories as centres",
            aliases=("k-prototypes", "kpt"),
            mixed=True,
        ),
        MethodEntry("CBDM", "distances of categories from their context", aliases=("dilca",)),
        MethodEntry("CURE", "vectors of categories from groups at many sizes", aliases=("cde",)),
        MethodEntry(
            "CDCDR", "vectors of categories from the graph of their rows", aliases=("cdc_dr", "cdc-dr")
        ),
        MethodEntry(
            "HDC",
            "nominal and ordered categories on one scale, weights learned per pair",
            aliases=("hd-ndw", "hdndw"),
            ordinal=True,
        ),
        MethodEntry(
            "CoForest",
            "a tree of categories per column, shared by all clusters",
            aliases=("co-forest", "cof"),
        ),
        MethodEntry(
            "WOCIL",
            "every cluster weighs the columns for itself; may find the number of clusters",
            aliases=("ocil",),
            mixed=True,
            learns_k=True,
            streams=False,  # updates clusters after every row, in the order of the table; MCDC too
        ),
        MethodEntry(
            "MCDC",
            "clusters compete at several granularities; may find the number of clusters",
            aliases=("mgcpl",),
            learns_k=True,
            streams=False,
        ),
        MethodEntry(
            "HARR",
            "columns of all kinds as axes with learned weights",
            aliases=("het2hom", "harr-m"),
            mixed=True,
            ordinal=True,
        ),
        MethodEntry(
            "SigDT",
            "a tree of significant splits with a rule per cluster; finds the number of clusters",
            learns_k=True,
        ),
    )
}


def find_method(name: str) -> MethodEntry:
    """The method with this name or alias, case-insensitive.

    Examples
    --------
    >>> find_method("K-Modes").class_name
    'KModes'
    """
    wanted = name.strip().lower()  # case and spaces are typos on a command line
    for entry in METHODS.values():
        if wanted in (entry.name, *entry.aliases):
            return entry
    near = difflib.get_close_matches(wanted, METHODS, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ParameterError(f"There is no method {name!r}. The methods are {', '.join(METHODS)}.{hint}")


def load(path: str | Path) -> Clusterer:
    """Load a model written by ``model.save``; no code in the file is executed.

    Examples
    --------
    >>> import tempfile, pathlib, catalpa
    >>> model = catalpa.KModes(2, random_state=0).fit([["a"], ["a"], ["b"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "model.json")
    ...     again = catalpa.load(pathlib.Path(folder) / "model.json")
    >>> again.predict([["a"], ["b"]]).tolist() == model.predict([["a"], ["b"]]).tolist()
    True
    """
    # Imported here, because importing catalpa must stay cheap.
    from catalpa.model.file import read

    return model_from(read(path), repr(str(path)))


def model_from(document: Mapping[str, Any], name: str) -> Clusterer:
    """The model of a checked document; ``name`` is the name of the file in errors."""
    from catalpa.estimator.model_json import restored

    for entry in METHODS.values():
        if entry.class_name == document["method"]:
            return restored(document, entry.estimator)
    raise ModelFileError(
        f"{name} holds a model of method {document['method']!r}, which this Catalpa does not have."
    )
