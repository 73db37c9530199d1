"""Data sets that are not bundled: download from UCI, verify, convert, cache.

They are cached as canonical CSV: UTF-8, line feeds, a header, every value as text, the class in the last
column called ``class``, and an empty field for a missing value.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import sys
import urllib.error
import urllib.request
import zipfile
from http.client import HTTPException
from pathlib import Path

import pandas as pd

from catalpa.datasets.registry import UCI, DatasetInfo, DownloadRecipe, Variant, table_path
from catalpa.errors import DatasetError
from catalpa.files import write_atomically

_MISSING = "?"  # as UCI writes it
_TIMEOUT_SECONDS = 60.0  # without a response; a download in progress may take longer


def cache_folder() -> Path:
    """Folder of downloaded data sets: ``CATALPA_CACHE``, or the cache folder of the operating system."""
    if chosen := os.environ.get("CATALPA_CACHE"):
        return Path(chosen).expanduser()
    home = Path.home()
    by_system = {
        "win32": Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")),
        "darwin": home / "Library" / "Caches",
    }
    return by_system.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))) / "catalpa"


def fetch(facts: DatasetInfo, variant: Variant, base_url: str = UCI) -> bytes:
    """The canonical CSV of a data set, downloaded, verified and put into the cache."""
    url = f"{base_url.rstrip('/')}/{facts.archive}"
    member = _member(_download(facts, url), facts)
    # Both ends are checked, to distinguish a changed source from a changed conversion.
    if facts.raw_sha256 is not None:
        check(member, facts.raw_sha256, f"{facts.member[-1]} inside {url}")
    table = canonical_csv(member, facts.recipe, variant)
    check(table, facts.sha256[variant], f"{facts.name} as converted from {url}")
    path = cache_folder() / table_path(facts, variant)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, table)
    except OSError as error:
        raise DatasetError(
            f"The downloaded data set could not be saved in {path.parent} ({error}). "
            "Set the environment variable CATALPA_CACHE to a writable folder."
        ) from error
    return table


def check(content: bytes, sha256: str, what: str) -> None:
    """Raise an error if the checksum is not the expected one."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise DatasetError(
            f"The checksum of {what} is not the expected one "
            f"(sha256 {digest[:12]}..., expected {sha256[:12]}...). "
            "The file is damaged or has changed. Delete or replace it, and try again."
        )


def _download(facts: DatasetInfo, url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
            content: bytes = response.read()
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise DatasetError(
            f"The data set {facts.name!r} is not bundled and could not be downloaded from {url} ({reason}). "
            f"Try again with a network connection, or put {facts.alias}.csv into the folder paper/ (or "
            "paper_mixed/) of a data folder and pass that folder as data_home= or in the environment "
            "variable CATALPA_DATA."
        ) from error
    return content


def _member(archive: bytes, facts: DatasetInfo) -> bytes:
    """The file inside the archive, which may be nested in further archives."""
    content = archive
    for name in facts.member:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as zip_file:
                content = zip_file.read(name)
        except (zipfile.BadZipFile, KeyError) as error:
            raise DatasetError(
                f"The archive downloaded for {facts.name!r} is damaged or has no file {name}. "
                f"Try again, or look at {facts.page}."
            ) from error
    return content


def canonical_csv(raw: bytes, recipe: DownloadRecipe, variant: Variant) -> bytes:
    r"""Convert the published file to the canonical CSV of a variant.

    Examples
    --------
    >>> recipe = DownloadRecipe(fields=("class", "size"), keep=("size",), values={"size": {"1": "big"}})
    >>> canonical_csv(b"yes,1\nno,?\n", recipe, "paper")
    b'size,class\nbig,yes\n,no\n'
    """
    table = _published(raw, recipe)
    columns = [*recipe.keep, *(recipe.numbers if variant == "mixed" else ()), recipe.target]
    missing = [name for name in (*columns, *recipe.complete) if name not in table]
    if missing:
        raise DatasetError(
            f"The published file has no column {', '.join(missing)}; it has {', '.join(table.columns)}. "
            "It has changed since Catalpa was released."
        )
    complete = (table[list(recipe.complete)] != "").all(axis=1)
    named = table.loc[complete, columns].replace(recipe.values)  # codes are replaced by UCI's descriptions
    return named.rename(columns={recipe.target: "class"}).to_csv(index=False, lineterminator="\n").encode()


def _published(raw: bytes, recipe: DownloadRecipe) -> pd.DataFrame:
    """The published file as text, with empty strings for missing values."""
    text = io.StringIO(raw.decode("utf-8-sig"))
    lines = [row for row in csv.reader(text, delimiter=recipe.delimiter) if row]
    fields, start = list(recipe.fields), 0
    if not fields:
        fields, start = [name.strip() for name in lines[recipe.header]], recipe.header + 1
    rows = [["" if cell.strip() == _MISSING else cell.strip() for cell in row] for row in lines[start:]]
    if any(len(row) != len(fields) for row in rows):
        raise DatasetError(
            f"The published file has rows without {len(fields)} fields. It has changed since Catalpa was "
            "released, or it is damaged."
        )
    return pd.DataFrame(rows, columns=fields, dtype=str)
