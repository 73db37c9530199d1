"""Encoded rows and what blocks remember, in files of a temporary folder that removes itself."""

from __future__ import annotations

import mmap
import os
import pickle
import platform
import sys
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from typing import Any
from weakref import finalize

import numpy as np
from filelock import BaseFileLock
from numpy.typing import NDArray

from catalpa.errors import OutputError
from catalpa.files import lock_at, reraise_as
from catalpa.table.blocks import Block

PREFIX, OWNER, LOCK = "catalpa-", "owner", "lock"
LARGE = 1 << 12  # bytes from which an array gets a file of its own: a page, the least that can be mapped


class Folder:
    """A temporary folder that goes with the last object that uses it, or with the program.

    That holds for errors and for Ctrl-C too. A program that is killed leaves it behind, and the next one
    that makes a folder removes it.
    """

    def __init__(self) -> None:
        _remove_ownerless()
        with _room():
            self.path = Path(mkdtemp(prefix=PREFIX))
            lock = lock_at(self.path / LOCK)
            finalize(self, _remove, self.path, lock)
            if lock is not None and lock.is_locked:
                # Only now, so that nobody meets a folder with an owner whose lock is free.
                (self.path / OWNER).write_text(platform.node(), encoding="utf-8")


def _remove_ownerless() -> None:
    """Remove our folders whose programs were killed: their owner's lock went with it."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            # Of this user and machine: not every file system knows the locks of other machines.
            here = (folder / OWNER).read_text(encoding="utf-8") == platform.node()
            if here and (sys.platform == "win32" or folder.lstat().st_uid == os.getuid()):
                lock = lock_at(folder / LOCK)
                if lock is not None and lock.is_locked:
                    _remove(folder, lock)


def _remove(folder: Path, lock: BaseFileLock | None) -> None:
    (folder / OWNER).unlink(missing_ok=True)  # first: a folder without owner is nobody else's to remove
    if lock is not None:
        lock.release()  # Windows removes no file that is open
    rmtree(folder, ignore_errors=True)


class ArrayFile:
    """Rows of one array, appended to a file and mapped when they are read."""

    def __init__(self, folder: Folder, name: str, like: NDArray[Any]) -> None:
        self.folder = folder
        self.path = folder.path / name
        self.width, self.dtype = like.shape[1:], like.dtype
        self.n_rows = 0
        with _room():
            self.path.touch()

    def append(self, rows: NDArray[Any]) -> None:
        """Put rows behind those that are there."""
        with _room(), self.path.open("ab") as stream:
            stream.write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.n_rows += len(rows)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows as an array that may be changed without changing the file; it reads what it is asked for."""
        shape = (stop - start, *self.width)
        row_bytes = self.dtype.itemsize * int(np.prod(self.width))
        if start == stop or row_bytes == 0:  # nothing cannot be mapped
            return np.zeros(shape, dtype=self.dtype)
        with _readable(self.path):
            # Copy on write: a step may change what it is given, the file stays.
            return np.memmap(self.path, self.dtype, "c", start * row_bytes, shape)


class BlockFiles:
    """The encoded rows of a table, read as blocks of equally many rows."""

    def __init__(self, folder: Folder, rows_per_block: int, first: Block) -> None:
        self.folder = folder
        self.rows_per_block = rows_per_block
        self._codes = ArrayFile(folder, "codes", first.codes)
        self._numbers = ArrayFile(folder, "numbers", first.numbers)
        self._weights = None if first.weights is None else ArrayFile(folder, "weights", first.weights)

    @property
    def n_rows(self) -> int:
        return self._codes.n_rows

    def append(self, block: Block) -> None:
        """Put a block's rows behind those that are there."""
        self._codes.append(block.codes)
        self._numbers.append(block.numbers)
        if self._weights is not None and block.weights is not None:
            self._weights.append(block.weights)

    def __len__(self) -> int:
        return -(-self.n_rows // self.rows_per_block)

    def __getitem__(self, at: int) -> Block:
        start = at * self.rows_per_block
        stop = min(start + self.rows_per_block, self.n_rows)
        codes, numbers = self._codes.read(start, stop), self._numbers.read(start, stop)
        weights = None if self._weights is None else self._weights.read(start, stop).view(np.ndarray)
        return Block(codes.view(np.ndarray), numbers.view(np.ndarray), weights, start)


class MemmapStore:
    """Objects put away one per place; their large arrays lie in files and are mapped, not read, to get them.

    Only this program reads what it wrote itself a moment ago, so pickle is safe here.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._kept: dict[int, tuple[bytes, list[Path]]] = {}  # the object, and the files of its arrays
        self._mapped: dict[int, dict[int, Path]] = {}  # by address
        self._written = 0

    def get(self, at: int) -> Any:
        """The object at a place, None where there is none."""
        if at not in self._kept:
            return None
        head, files = self._kept[at]
        maps = [_map(path) for path in files]
        self._mapped[at] = {_address(one): path for one, path in zip(maps, files, strict=True)}
        return pickle.loads(head, buffers=maps)

    def put(self, at: int, value: Any) -> None:
        """Put an object at a place.

        The object that ``get`` gave must still be alive: arrays that the two share are not written again.
        """
        buffers: list[pickle.PickleBuffer] = []

        def keep_small(buffer: pickle.PickleBuffer) -> bool:
            large = buffer.raw().nbytes >= LARGE
            if large:
                buffers.append(buffer)
            return not large

        head = pickle.dumps(value, protocol=5, buffer_callback=keep_small)
        known, (_, before) = self._mapped.pop(at, {}), self._kept.get(at, (b"", []))
        files = [known.get(_address(buffer)) or self._write(at, buffer) for buffer in buffers]
        for path in set(before) - set(files):
            path.unlink(missing_ok=True)  # arrays that the new object no longer has
        self._kept[at] = head, files

    def _write(self, at: int, buffer: pickle.PickleBuffer) -> Path:
        self._written += 1
        path = self.folder.path / f"memory-{at}-{self._written}"
        with _room():
            path.write_bytes(buffer.raw())
        return path


def _room() -> AbstractContextManager[None]:
    """Say in words that the temporary folder takes no more."""
    cure = (
        "Name a place with more room in the environment variable TMPDIR, or drop columns with very many "
        "categories."
    )
    return reraise_as(OutputError, f"The encoded rows do not fit into {gettempdir()!r}", cure)


def _readable(path: Path) -> AbstractContextManager[None]:
    return reraise_as(OutputError, f"The encoded rows in {str(path)!r} cannot be read")


def _map(path: Path) -> mmap.mmap:
    with _readable(path), path.open("rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)


def _address(buffer: Any) -> int:
    return int(np.frombuffer(buffer, dtype=np.uint8).ctypes.data)
