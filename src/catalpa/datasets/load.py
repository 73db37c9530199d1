"""Data sets by name: bundled, in a folder of the user, in the cache, or from UCI."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pandas as pd

from catalpa.datasets.fetch import cache_folder, check, fetch
from catalpa.datasets.registry import UCI, Facts, Variant, facts_of, registry, table_path
from catalpa.errors import DatasetError, ParameterError

COUNTED = ("name", "alias", "title", "rows", "columns", "clusters")  # facts that a list of data sets shows


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with known classes, and where it comes from.

    Attributes
    ----------
    name : str
        Name in :func:`list_datasets`.
    frame : pandas.DataFrame
        The rows in the order of the source. Categorical columns have the dtype ``category`` (unordered),
        numeric ones ``float64``; missing cells are missing.
    target : pandas.Series
        The known class of each row.
    n_clusters : int
        Number of classes.
    title, description, citation, licence, source : str
        What to say about the data, and to cite when using it.
    """

    name: str
    frame: pd.DataFrame
    target: pd.Series
    n_clusters: int
    title: str
    description: str
    citation: str
    licence: str
    source: str

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        return f"Dataset({self.name!r}: {rows} rows, {columns} columns, {self.n_clusters} classes)"


def load(
    name: str,
    *,
    variant: Variant = "paper",
    data_home: str | os.PathLike[str] | None = None,
    base_url: str = UCI,
) -> Dataset:
    """Load a data set by its name (``"zoo"``) or abbreviation (``"ZO"``).

    Five data sets are bundled. The others are looked for in `data_home`, in the folder named by the
    environment variable ``CATALPA_DATA`` and in the cache (``CATALPA_CACHE``), and else downloaded from the
    UCI Machine Learning Repository. Whatever the way, the content must have the known checksum.

    Parameters
    ----------
    name : str
        Name or abbreviation, in any case; see :func:`list_datasets`.
    variant : {"paper", "mixed"}
        The categorical columns only, or with the numeric columns after them.
    data_home : path, optional
        A folder that holds ``paper/ZO.csv``, ``paper_mixed/DT.csv`` and so on, also as ``.csv.gz``.
    base_url : str
        Address of the repository, or of a mirror with the same paths.

    Returns
    -------
    Dataset

    Raises
    ------
    ParameterError
        No data set or variant has this name.
    DatasetError
        The data set is not here and cannot be fetched, or its content is not the known one.

    Examples
    --------
    >>> zoo = load("zoo")
    >>> zoo
    Dataset('zoo': 101 rows, 16 columns, 7 classes)
    >>> zoo.target.value_counts().index[0]
    'mammal'
    """
    facts = facts_of(name)
    path = _find(facts, variant, data_home)
    if path is None:
        content = fetch(facts, variant, base_url)
    else:
        content = path.read_bytes()  # whole, as the checksum needs all of it
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        check(content, facts.sha256[variant], str(path))
    return _dataset(facts, variant, content)


def list_datasets(*, data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """One row per data set: its size, and whether it can be loaded without a network.

    Parameters
    ----------
    data_home : path, optional
        As in :func:`load`.

    Returns
    -------
    pandas.DataFrame
        Columns ``name``, ``alias``, ``title``, ``rows``, ``columns``, ``clusters``, ``mixed`` (a variant with
        numbers exists), ``bundled`` and ``available``.

    Examples
    --------
    >>> list_datasets().query("bundled")["name"].tolist()
    ['zoo', 'votes', 'car', 'dermatology', 'teaching']
    """
    return pd.DataFrame(
        {
            **{name: getattr(facts, name) for name in COUNTED},
            "mixed": "mixed" in facts.sha256,
            "bundled": facts.bundled_from is not None,
            "available": _find(facts, "paper", data_home) is not None,
        }
        for facts in registry().values()
    )


def is_here(name: str, *, variant: Variant = "paper") -> bool:
    """Whether a data set can be loaded without a network.

    Examples
    --------
    >>> is_here("zoo")
    True
    """
    return _find(facts_of(name), variant, None) is not None


def _find(facts: Facts, variant: Variant, data_home: str | os.PathLike[str] | None) -> Path | None:
    relative = table_path(facts, variant)
    bundled = Path(str(files("catalpa.datasets"))) / "files" / f"{facts.name}.csv"
    # The bundled files have no numeric columns.
    candidates = [bundled] if variant == "paper" else []
    for folder in data_folders(data_home):
        candidates += [folder / relative, folder / f"{relative}.gz"]
    return next((path for path in candidates if path.is_file()), None)


def data_folders(data_home: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Folders that are searched for data sets: `data_home`, that of ``CATALPA_DATA``, and the cache."""
    named = {"data_home": data_home, "CATALPA_DATA": os.environ.get("CATALPA_DATA")}
    for origin, folder in named.items():
        if folder is None or (isinstance(folder, str) and not folder):
            continue
        if not isinstance(folder, str | os.PathLike):
            raise ParameterError(f"{origin}={folder!r} cannot be used: it is the path of a folder, or None.")
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise DatasetError(
                f"{origin} names {path}, which is not a folder. "
                "Name the folder that holds paper/ and paper_mixed/, or leave it out."
            )
        yield path
    yield cache_folder()


def _dataset(facts: Facts, variant: Variant, content: bytes) -> Dataset:
    # Only an empty field is missing: "none", "NA" and the like are categories.
    table = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, na_values=[""])
    numbers = facts.recipe.numbers if variant == "mixed" else ()
    table = table.astype({name: "float64" if name in numbers else "category" for name in table.columns})
    origin = f"; file built from {facts.bundled_from}" if facts.bundled_from and variant == "paper" else ""
    return Dataset(
        name=facts.name,
        frame=table.drop(columns="class"),
        target=table["class"],
        n_clusters=facts.clusters,
        title=facts.title,
        description=facts.description,
        citation=facts.citation,
        licence=facts.licence,
        source=f"UCI Machine Learning Repository, {facts.page}{origin}",
    )
