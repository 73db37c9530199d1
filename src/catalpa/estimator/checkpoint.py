"""Fits that continue where they were stopped: every pass is kept, and played back instead of run again.

A fit is the same sequence of passes every time, and all that a pass gives the iteration are counts. So a fit
that begins again takes the counts that an earlier run kept, arrives where that run was stopped, and goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import catalpa
from catalpa.engines.base import Engine, Step, Sweep
from catalpa.errors import CheckpointError, ParameterError
from catalpa.estimator.parameters import plain_parameters
from catalpa.files import write_atomically
from catalpa.model.codecs import counts_from_json, counts_to_json
from catalpa.steps.counts import Counts, SharedCounts
from catalpa.table.blocks import Axis, Block, IntArray
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer

FIT = "fit.json"
CHECKSUM = "checksum"
SEED = 20_260_101  # of the fixed random factors of the checksum of a table
NO_MATTER = ("checkpoint", "n_jobs")  # settings that do not change the result
SHARED = ("log", "gap", "change")
REMOVE = "Continue that fit, or remove the folder to begin anew."


def checkpointed(engine: Engine, folder: Path, model: Clusterer, schema: Schema) -> CheckpointedEngine:
    """An engine that keeps the counts of its passes in ``folder``, and plays back those it finds there."""
    settings = plain_parameters(model.get_params(deep=False))
    seed = settings.get("random_state")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ParameterError(
            f"checkpoint needs random_state to be a whole number, not {model.random_state!r}: "
            "otherwise a fit that continues would draw other rows."
        )
    # What makes two fits the same fit, in the words of the error that names what differs.
    fit = {
        "version": catalpa.__version__,
        "method": type(model).__name__,
        **{name: value for name, value in settings.items() if name not in NO_MATTER},
        "columns": schema.to_dict(),
    }
    # One pass more, against a fit that goes on with the counts of other rows.
    table = f"{int(engine.total(checksum)[0]):016x}"
    # Through JSON, which makes lists of tuples, so that like is compared with like.
    came = json.loads(json.dumps({**fit, "rows": engine.n_rows, "table": table}))
    _write(folder / FIT, came)  # first, so that no pass lies there without its fit
    kept = _read(folder / FIT)
    other = [name for name in came if kept.get(name) != came[name]]
    if other:
        differ = f"these differ: {', '.join(other)}. {REMOVE}"
        raise CheckpointError(f"The checkpoint {str(folder)!r} belongs to another fit; {differ}")
    return CheckpointedEngine(engine, folder)


class CheckpointedEngine:
    """Another engine, with its passes kept: a file for each in a folder, beside one that names the fit."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.axis: Axis = engine.axis
        self.n_rows: int = engine.n_rows
        self.inner = engine
        self._folder = folder
        self._passes = 0
        self._played: tuple[Any, ...] | None = None

    # Sums and labels are not kept: they are few, and the seeds of a run follow from its random_state.
    def total(self, step: Step[Any], *args: Any) -> Any:
        return self.inner.total(step, *args)

    def sweep(self, step: Sweep[Any], *args: Any) -> Any:
        self._passes += 1
        path, asked = self._folder / f"pass-{self._passes:06}.json", _fingerprint(args)
        if path.exists():
            kept = _read(path)
            if kept.get("asked") != asked:
                way = f"took another way than this fit in pass {self._passes}"
                raise CheckpointError(f"The checkpoint {str(self._folder)!r} {way}. {REMOVE}")
            self._played = (step, *args)
            return _counts_from(kept)
        if self._played is not None:
            # The blocks must remember the pass before, which was not run here, to say which rows moved.
            self.inner.sweep(*self._played)
            self._played = None
        counts = self.inner.sweep(step, *args)
        _write(path, {"asked": asked, **_counts_to(counts)})
        return counts

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        return self.inner.each(step, *args)

    def answer(self, step: Step[NDArray[Any]], *args: Any) -> Any:
        return self.inner.answer(step, *args)

    def finished(self) -> None:
        """Remove what was kept, as the fit has its result, and the folder if nothing else is in it."""
        # The fit's own file last: a removal that is cut short leaves a checkpoint, not loose passes.
        for path in (*self._folder.glob("pass-*.json"), self._folder / FIT):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the user may keep other files there
            self._folder.rmdir()


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """Keep a document where none is kept; it is there completely or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_atomically(path, _bytes(document))
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise CheckpointError(f"The checkpoint {str(path.parent)!r} cannot be written: {error}.") from error


def _bytes(document: Mapping[str, Any]) -> bytes:
    return json.dumps({**document, CHECKSUM: _checksum(document)}).encode("utf-8")


def _checksum(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode("utf-8")).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise CheckpointError(f"The checkpoint file {str(path)!r} cannot be read. {REMOVE}") from error
    if not isinstance(document, dict):
        raise CheckpointError(f"The checkpoint file {str(path)!r} holds something else. {REMOVE}")
    # A count that was altered would lead to other clusters, and nothing would look wrong.
    if document.pop(CHECKSUM, None) != _checksum(document):
        raise CheckpointError(f"The checkpoint file {str(path)!r} was changed after it was written. {REMOVE}")
    return document


def _counts_to(counts: Counts | SharedCounts) -> dict[str, Any]:
    if isinstance(counts, Counts):
        return {"counts": counts_to_json(counts)}
    rest = {name: int(getattr(counts, name)) for name in SHARED}
    return {"counts": counts_to_json(counts.counts), "led": counts.led.tolist(), **rest}


def _counts_from(kept: Mapping[str, Any]) -> Counts | SharedCounts:
    counts = counts_from_json(kept["counts"])
    if "led" not in kept:
        return counts
    log, gap, change = (int(kept[name]) for name in SHARED)
    return SharedCounts(counts, log, gap, np.asarray(kept["led"], dtype=np.int64), change)


def _fingerprint(asked: Sequence[Any]) -> str:
    """The arguments of a pass in a few characters."""
    digest = hashlib.sha256()
    for one in asked:
        for name, value in (vars(one) if is_dataclass(one) else {"": one}).items():
            if isinstance(value, np.ndarray):
                digest.update(repr((name, value.shape)).encode() + value.tobytes())
            elif name != "prepared":  # what a core made of the scores says nothing new
                digest.update(repr((name, value)).encode())
    return digest.hexdigest()


def checksum(block: Block) -> IntArray:  # (1,) uint64
    """A number that tells tables apart, however they are cut into blocks.

    It is the sum over rows of the row's own number times its place in the table, modulo 2**64.
    """
    n_columns, n_numeric = block.held.shape[1], block.numbers.shape[1]
    # Odd factors keep every bit of what they multiply.
    factors = (
        np.random.default_rng(SEED).integers(2**63, size=n_columns + n_numeric + 2, dtype=np.uint64) * 2 + 1
    )
    rows = np.full(len(block), factors[-1], dtype=np.uint64)
    for column in range(n_columns):
        rows += (block.column(column).astype(np.uint64) + factors[-2]) * factors[column]
        rows ^= rows >> np.uint64(29)
    for column in range(n_numeric):
        number = np.ascontiguousarray(block.numbers[:, column]).view(np.uint64)
        rows += (number ^ (number >> np.uint64(31))) * factors[n_columns + column]
        rows ^= rows >> np.uint64(29)
    if block.weights is not None:
        rows *= block.weights.astype(np.uint64) * np.uint64(2) + np.uint64(1)
    places = np.arange(block.start + 1, block.start + 1 + len(block), dtype=np.uint64)
    return np.asarray((rows * (places * np.uint64(2) + np.uint64(1))).sum(keepdims=True))
