"""Load data sets by name: bundled, from a folder, from the cache, or from UCI."""

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
from catalpa.datasets.registry import UCI, DatasetInfo, Variant, dataset_info, registry, table_path
from catalpa.errors import DatasetError, ParameterError

COUNTED = ("name", "alias", "title", "rows", "columns", "clusters")  # columns of the list of data sets


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with known classes and its source.

    Attributes
    ----------
    name : str
        Name in :func:`list_datasets`.
    frame : pandas.DataFrame
        The rows in the order of the source. Categorical columns have the dtype ``category`` (unordered),
        numeric ones ``float64``; missing values are NaN.
    target : pandas.Series
        The known class of each row.
    n_clusters : int
        Number of classes.
    title, description, citation, licence, source : str
        Title, description, citation, licence and source of the data.
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

    Five data sets are bundled. The others are searched for in `data_home`, in the folder named by the
    environment variable ``CATALPA_DATA`` and in the cache (``CATALPA_CACHE``), and otherwise downloaded from
    the UCI Machine Learning Repository. The checksum is verified in every case.

    Parameters
    ----------
    name : str
        Name or abbreviation, in any case; see :func:`list_datasets`.
    variant : {"paper", "mixed"}
        Categorical columns only, or categorical columns followed by numeric ones.
    data_home : path, optional
        A folder with ``paper/ZO.csv``, ``paper_mixed/DT.csv`` and so on, optionally as ``.csv.gz``.
    base_url : str
        URL of the repository, or of a mirror with the same paths.

    Returns
    -------
    Dataset

    Raises
    ------
    ParameterError
        No data set or variant has this name.
    DatasetError
        The data set was not found and cannot be downloaded, or its checksum is wrong.

    Examples
    --------
    >>> zoo = load("zoo")
    >>> zoo
    Dataset('zoo': 101 rows, 16 columns, 7 classes)
    >>> zoo.target.value_counts().index[0]
    'mammal'
    """
    facts = dataset_info(name)
    path = _find(facts, variant, data_home)
    if path is None:
        content = fetch(facts, variant, base_url)
    else:
        content = path.read_bytes()  # all of it, for the checksum
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        check(content, facts.sha256[variant], str(path))
    return _dataset(facts, variant, content)


def list_datasets(*, data_home: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """List the data sets, their sizes, and whether they can be loaded offline.

    Parameters
    ----------
    data_home : path, optional
        As in :func:`load`.

    Returns
    -------
    pandas.DataFrame
        One row per data set, with the columns ``name``, ``alias``, ``title``, ``rows``, ``columns``,
        ``clusters``, ``mixed`` (has a variant with numbers), ``bundled`` and ``available``.

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
    """True if a data set can be loaded offline.

    Examples
    --------
    >>> is_here("zoo")
    True
    """
    return _find(dataset_info(name), variant, None) is not None


def _find(facts: DatasetInfo, variant: Variant, data_home: str | os.PathLike[str] | None) -> Path | None:
    relative = table_path(facts, variant)
    bundled = Path(str(files("catalpa.datasets"))) / "files" / f"{facts.name}.csv"
    # The bundled files have no numeric columns.
    candidates = [bundled] if variant == "paper" else []
    for folder in data_folders(data_home):
        candidates += [folder / relative, folder / f"{relative}.gz"]
    return next((path for path in candidates if path.is_file()), None)


def data_folders(data_home: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Folders that are searched for data sets: `data_home`, ``CATALPA_DATA`` and the cache."""
    named = {"data_home": data_home, "CATALPA_DATA": os.environ.get("CATALPA_DATA")}
    for origin, folder in named.items():
        if folder is None or (isinstance(folder, str) and not folder):
            continue
        if not isinstance(folder, str | os.PathLike):
            raise ParameterError(f"{origin}={folder!r} is not valid: pass the path of a folder, or None.")
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise DatasetError(
                f"{origin} names {path}, which is not a folder. "
                "Pass the folder that contains paper/ and paper_mixed/, or leave it out."
            )
        yield path
    yield cache_folder()


def _dataset(facts: DatasetInfo, variant: Variant, content: bytes) -> Dataset:
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
