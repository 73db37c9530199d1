"""Files with flipped bits, cut, or changed between two readings: read, or refused with a sentence."""

from __future__ import annotations

import contextlib
import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import catalpa
from catalpa.errors import CatalpaError
from catalpa.table import read_table

WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "rows.csv": lambda table, path: table.to_pandas().to_csv(path, index=False),
    "rows.csv.gz": lambda table, path: table.to_pandas().to_csv(path, index=False),
    "rows.parquet": lambda table, path: pq.write_table(table, path, write_page_checksum=True),
    "plain.parquet": lambda table, path: pq.write_table(table, path, compression="none"),
    "rows.arrow": lambda table, path: pa.feather.write_feather(table, path, compression="uncompressed"),
    "packed.arrow": lambda table, path: pa.feather.write_feather(table, path, compression="lz4"),
}


def fuzz(rng: Random, folder: Path) -> str:
    """One of the three kinds of damage."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rng.choice((damaged, damaged, damaged, changed_between, checkpoint))(rng, folder)


def table(rng: Random, n: int) -> pa.Table:
    words = np.array(["red", "blue", "green", "größe", ""])
    seed = np.random.default_rng(rng.randrange(2**32))
    return pa.table(
        {
            "a": words[seed.integers(0, 5, n)],
            "b": pa.array(words[seed.integers(0, 3, n)]).dictionary_encode(),
            "n": seed.random(n),
            "w": seed.integers(0, 4, n),
        }
    )


def damaged(rng: Random, folder: Path) -> str:
    """Flip, cut, repeat or move bytes of a file, and cluster what it holds."""
    name = rng.choice(sorted(WRITERS))
    path = folder / name
    WRITERS[name](table(rng, rng.choice((3, 200, 2000))), path)
    content = bytearray(path.read_bytes())
    if rng.random() < 0.2:
        content = content[: rng.randrange(len(content))]
    else:
        for _ in range(rng.choice((1, 1, 5, 50))):
            at = rng.randrange(len(content))
            content[at] = rng.choice((content[at] ^ (1 << rng.randrange(8)), 0, 255, rng.randrange(256)))
    path.write_bytes(content)
    try:
        rows = catalpa.scan(path) if rng.random() < 0.5 else read_table(path)
        model = catalpa.KPrototypes(2, n_init=1, max_iter=3, random_state=0).fit(rows)
        repr(model.cluster_centers_)
    except CatalpaError:
        return "damage refused"
    return "damage read"


def changed_between(rng: Random, folder: Path) -> str:
    """Write other rows to a file between two of its readings: refused, unless the bytes are the same."""
    name = rng.choice(sorted(WRITERS))
    path, before, after = folder / name, table(rng, 300), table(rng, rng.choice((299, 300, 301)))
    WRITERS[name](before, path)
    files = catalpa.scan(path)
    if rng.random() < 0.5:
        list(files.batches())
    else:
        next(files.batches())
    old = path.read_bytes()
    WRITERS[name](after, path)
    try:
        catalpa.KPrototypes(2, n_init=1, max_iter=3, random_state=0).fit(files)
    except CatalpaError:
        return "change refused"
    assert unpacked(path.read_bytes()) == unpacked(old), "other rows were clustered"
    return "no change"


def unpacked(content: bytes) -> bytes:
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


class Stop(Exception):
    """The fit is stopped here."""


def checkpoint(rng: Random, folder: Path) -> str:
    """Change a file of a checkpoint and go on: refused, or the labels of a fit that was never stopped."""
    rows = pd.DataFrame(np.random.default_rng(rng.randrange(2**32)).integers(0, 3, (60, 4)).astype(str))
    kept = folder / f"kept-{rng.randrange(2**60)}"
    model = catalpa.KModes(3, n_init=2, random_state=0, checkpoint=str(kept))
    whole = catalpa.KModes(3, n_init=2, random_state=0).fit(rows).labels_.tolist()
    stop_after(rng.randint(1, 4), model, rows)
    passes = sorted(kept.glob("*.json"))
    if not passes:
        return "checkpoint finished"
    path = rng.choice(passes)
    document = json.loads(path.read_text())
    if rng.random() < 0.5:
        del document[rng.choice(sorted(document))]
    else:
        document[rng.choice(sorted(document))] = rng.choice((None, 3, "x", [], {}))
    path.write_text(json.dumps(document))
    try:
        labels = model.fit(rows).labels_.tolist()
    except CatalpaError:
        return "checkpoint refused"
    assert labels == whole
    return "checkpoint played"


def stop_after(passes: int, model: catalpa.KModes, rows: pd.DataFrame) -> None:
    left = [passes]

    def count(_: object) -> None:
        left[0] -= 1
        if not left[0]:
            raise Stop

    with contextlib.suppress(Stop):
        model.set_params(callback=count).fit(rows)
