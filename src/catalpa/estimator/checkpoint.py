"""Checkpoints: the counts of every pass are saved, and replayed when an interrupted fit is restarted.

A fit is a deterministic sequence of passes, and a pass returns only counts. A restarted fit reads the saved
counts until it reaches the point of interruption, and continues from there.
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
SEED = 20_260_101  # of the random factors of the table's checksum
NO_MATTER = ("checkpoint", "n_jobs")  # parameters that do not change the result
SHARED = ("log", "gap", "change")
REMOVE = "Continue that fit, or remove the folder to start again."


def checkpointed(engine: Engine, folder: Path, model: Clusterer, schema: Schema) -> CheckpointedEngine:
    """An engine that saves the counts of its passes in ``folder``, and replays those it finds there."""
    settings = plain_parameters(model.get_params(deep=False))
    seed = settings.get("random_state")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ParameterError(
            f"checkpoint requires an integer random_state, not {model.random_state!r}: "
            "otherwise a restarted fit would draw different rows."
        )
    # What identifies a fit; the keys appear in the error message.
    fit = {
        "version": catalpa.__version__,
        "method": type(model).__name__,
        **{name: value for name, value in settings.items() if name not in NO_MATTER},
        "columns": schema.to_dict(),
    }
    # One additional pass, to detect a different table.
    table = f"{int(engine.total(checksum)[0]):016x}"
    # Through JSON, which turns tuples into lists, for a valid comparison.
    came = json.loads(json.dumps({**fit, "rows": engine.n_rows, "table": table}))
    _write(folder / FIT, came)  # first, so that no pass is stored without its fit
    saved = _read(folder / FIT)
    other = [name for name in came if saved.get(name) != came[name]]
    if other:
        differ = f"these differ: {', '.join(other)}. {REMOVE}"
        raise CheckpointError(f"The checkpoint {str(folder)!r} belongs to another fit; {differ}")
    return CheckpointedEngine(engine, folder)


class CheckpointedEngine:
    """Wrapper of an engine that saves every pass as a file, next to a file that identifies the fit."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.axis: Axis = engine.axis
        self.n_rows: int = engine.n_rows
        self.inner = engine
        self._folder = folder
        self._passes = 0
        self._played: tuple[Any, ...] | None = None

    def rows_in_memory(self) -> None:
        """None: methods that visit single rows have no checkpoints."""

    def placed(self) -> Engine:
        return self.inner.placed()

    # Totals and labels are not saved: there are few, and seeds follow from random_state.
    def total(self, step: Step[Any], *args: Any) -> Any:
        return self.inner.total(step, *args)

    def sweep(self, step: Sweep[Any], *args: Any) -> Any:
        self._passes += 1
        path, fingerprint = self._folder / f"pass-{self._passes:06}.json", _fingerprint(args)
        if path.exists():
            saved = _read(path)
            if saved.get("asked") != fingerprint:
                way = f"differs from this fit in pass {self._passes}"
                raise CheckpointError(f"The checkpoint {str(self._folder)!r} {way}. {REMOVE}")
            self._played = (step, *args)
            return _counts_from(saved)
        if self._played is not None:
            # The blocks need the labels of the previous pass, which was replayed, to count moved rows.
            self.inner.sweep(*self._played)
            self._played = None
        counts = self.inner.sweep(step, *args)
        _write(path, {"asked": fingerprint, **_counts_to(counts)})
        return counts

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        return self.inner.each(step, *args)

    def map_rows(self, step: Step[NDArray[Any]], *args: Any) -> Any:
        return self.inner.map_rows(step, *args)

    def finished(self) -> None:
        """Remove the checkpoint after the fit, and the folder if it is empty."""
        # The file of the fit last, so that an interrupted removal leaves a valid checkpoint.
        for path in (*self._folder.glob("pass-*.json"), self._folder / FIT):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the folder may contain other files
            self._folder.rmdir()


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """Write JSON atomically unless the file exists."""
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
        raise CheckpointError(f"The checkpoint file {str(path)!r} is not a checkpoint. {REMOVE}")
    # An altered count would silently lead to different clusters.
    if document.pop(CHECKSUM, None) != _checksum(document):
        raise CheckpointError(f"The checkpoint file {str(path)!r} was changed after it was written. {REMOVE}")
    return document


def _counts_to(counts: Counts | SharedCounts) -> dict[str, Any]:
    if isinstance(counts, Counts):
        return {"counts": counts_to_json(counts)}
    sums = {name: int(getattr(counts, name)) for name in SHARED}
    return {"counts": counts_to_json(counts.counts), "led": counts.led.tolist(), **sums}


def _counts_from(saved: Mapping[str, Any]) -> Counts | SharedCounts:
    counts = counts_from_json(saved["counts"])
    if "led" not in saved:
        return counts
    log, gap, change = (int(saved[name]) for name in SHARED)
    return SharedCounts(counts, log, gap, np.asarray(saved["led"], dtype=np.int64), change)


def _fingerprint(arguments: Sequence[Any]) -> str:
    """Hash of the arguments of a pass."""
    digest = hashlib.sha256()
    for one in arguments:
        for name, value in (vars(one) if is_dataclass(one) else {"": one}).items():
            if isinstance(value, np.ndarray):
                digest.update(repr((name, value.shape)).encode() + value.tobytes())
            elif name != "prepared":  # derived from the scores
                digest.update(repr((name, value)).encode())
    return digest.hexdigest()


def checksum(block: Block) -> IntArray:  # (1,) uint64
    """Checksum of a table that does not depend on its division into blocks.

    The sum over rows of the row's hash times its position in the table, modulo 2**64.
    """
    n_columns, n_numeric = block.storage.shape[1], block.numbers.shape[1]
    # Multiplication by odd factors is invertible modulo 2**64.
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
