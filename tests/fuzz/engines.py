"""Odd tables fitted in memory and on threads, from files in pieces or by Dask: one clustering."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from tests.fuzz.tables import CELLS
from tests.optional import OptionalPackage

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.errors import CatalpaError

dask, dd = OptionalPackage("dask"), OptionalPackage("dask.dataframe")
KINDS = ("letters", "words", "codes", "smooth", "spiked", "truths", "floats", "missing")
TAKE_WEIGHTS = ("polars", "threads")  # the others have their rows elsewhere
OFTEN = ("letters", "letters", "codes", "smooth", "truths")


def fuzz(rng: Random, folder: Path) -> str:
    """Fit a table in memory and in another way, and hold the two against each other."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), dask.config.set(scheduler="sync"):
        warnings.simplefilter("ignore")
        table, (name, way) = made(rng), rng.choice(sorted(WAYS.items()))
        model = new_model(rng)
        weights = None
        if name in TAKE_WEIGHTS and rng.random() < 0.5:
            weights = [rng.choice((0, 1, 2, 0.5)) for _ in range(table.num_rows)]
        here = fitted(model, table.to_pandas() if name == "dask" else table, weights)
        if name == "threads":
            model = model.set_params(n_jobs=2)
        there = fitted(model, way(table, rng, folder), weights)
    assert here == there, f"{name} {model}"
    return "refused" if here is None else f"the same by {name}"


def made(rng: Random) -> pa.Table:
    """Rows that mostly follow one of three groups, so that there is something to find."""
    groups = [rng.randrange(3) for _ in range(rng.choice((2, 9, 60, 300)))]
    columns = {}
    for at in range(rng.randint(1, 5)):
        cell = CELLS[rng.choice(OFTEN if rng.random() < 0.8 else KINDS)]
        usual, special_places, follows = [cell(rng) for _ in range(3)], rng.choice((0, 0, 0.1)), rng.random()
        columns[f"c{at}"] = [
            None if rng.random() < special_places else usual[group] if rng.random() < follows else cell(rng)
            for group in groups
        ]
    return pa.table(columns)


def new_model(rng: Random) -> Any:
    """A method that runs on blocks of rows, with settings of any kind."""
    entry = rng.choice([entry for entry in METHODS.values() if entry.streams])
    model = entry.estimator()
    wanted = {
        "n_clusters": rng.choice((1, 2, 3)),
        "random_state": rng.randrange(5),
        "n_init": rng.choice((1, 2)),
        "missing": rng.choice(("category", "ignore")),
        "bins": rng.choice((None, 3)) if entry.mixed else 3,
    }
    return model.set_params(**{key: wanted[key] for key in wanted if key in model.get_params()})


def fitted(model: Any, rows: Any, weights: list[float] | None) -> tuple[Any, ...] | None:
    """What was found, to the bit; nothing where the table is refused."""
    try:
        model.fit(rows, sample_weight=weights)
    except CatalpaError:
        return None
    # Frames of pandas have NaN, where those of Arrow and polars have a null beside a NaN.
    profiles = nw.from_native(model.profiles_).to_pandas().astype(object)
    profiles = profiles.where(profiles.notna(), None).to_dict("list")
    return np.asarray(model.labels_).tolist(), model.cost_, model.cluster_sizes_.tolist(), str(profiles)


def parquet(table: pa.Table, rng: Random, folder: Path) -> catalpa.Scan:
    pq.write_table(table, folder / "rows.parquet", row_group_size=rng.randint(1, table.num_rows))
    return catalpa.scan(folder / "rows.parquet", memory="4MB")


def several_files(table: pa.Table, rng: Random, folder: Path) -> catalpa.Scan:
    cut = rng.randint(1, table.num_rows - 1)
    for at, part in enumerate((table[:cut], table[cut:])):
        pa.feather.write_feather(part, folder / f"part{at}.arrow", compression="uncompressed")
    return catalpa.scan([folder / "part0.arrow", folder / "part1.arrow"])


def in_dask(table: pa.Table, rng: Random, _folder: Path) -> Any:
    return dd.from_pandas(table.to_pandas(), npartitions=rng.randint(1, 4))


WAYS: Mapping[str, Callable[[pa.Table, Random, Path], Any]] = {
    "threads": lambda table, _rng, _folder: table,
    "polars": lambda table, _rng, _folder: pl.from_arrow(table),
    "parquet": parquet,
    "several files": several_files,
    "dask": in_dask,
}
