"""Encoded rows and memories of blocks, in files of a temporary folder that removes itself."""

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
LARGE = 1 << 12  # bytes from which an array has its own file: one page, the smallest unit of mapping


class Folder:
    """A temporary folder that is removed with the last object that uses it, or at exit, also after an error.

    The folder of a killed program is removed by the next program that creates one.
    """

    def __init__(self) -> None:
        _remove_ownerless()
        with _room():
            self.path = Path(mkdtemp(prefix=PREFIX))
            lock = lock_at(self.path / LOCK)
            finalize(self, _remove, self.path, lock)
            if lock is not None and lock.is_locked:
                # Created last, so that no other program sees a folder with an owner but without a lock.
                (self.path / OWNER).write_text(platform.node(), encoding="utf-8")


def _remove_ownerless() -> None:
    """Remove folders of killed programs, whose locks are free."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            # Only folders of this user and machine: some file systems ignore locks of other machines.
            here = (folder / OWNER).read_text(encoding="utf-8") == platform.node()
            if here and (sys.platform == "win32" or folder.lstat().st_uid == os.getuid()):
                lock = lock_at(folder / LOCK)
                if lock is not None and lock.is_locked:
                    _remove(folder, lock)


def _remove(folder: Path, lock: BaseFileLock | None) -> None:
    (folder / OWNER).unlink(missing_ok=True)  # first: no other program removes a folder without an owner
    if lock is not None:
        lock.release()  # Windows does not remove open files
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
        """Append rows."""
        with _room(), self.path.open("ab") as stream:
            stream.write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.n_rows += len(rows)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows as a memory-mapped array; changes to it do not change the file."""
        shape = (stop - start, *self.width)
        row_bytes = self.dtype.itemsize * int(np.prod(self.width))
        if start == stop or row_bytes == 0:  # nothing cannot be mapped
            return np.zeros(shape, dtype=self.dtype)
        with _readable(self.path):
            # Copy on write: a step may change its input, but not the file.
            return np.memmap(self.path, self.dtype, "c", start * row_bytes, shape)


class BlockFiles:
    """The encoded rows of a table, read in blocks of equal size."""

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
        """Append the rows of a block."""
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
    """Stores one object per place; its large arrays are in memory-mapped files.

    Only this program reads what it wrote itself, so pickle is safe here.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._kept: dict[int, tuple[bytes, list[Path]]] = {}  # the object, and the files of its arrays
        self._mapped: dict[int, dict[int, Path]] = {}  # by address
        self._written = 0

    def get(self, at: int) -> Any:
        """The object at a place, or None."""
        if at not in self._kept:
            return None
        head, files = self._kept[at]
        maps = [_map(path) for path in files]
        self._mapped[at] = {_address(one): path for one, path in zip(maps, files, strict=True)}
        return pickle.loads(head, buffers=maps)

    def put(self, at: int, value: Any) -> None:
        """Store an object at a place.

        The object returned by ``get`` must still be alive: arrays shared by both are not written again.
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
    """Raise an error that names the temporary folder if it is full."""
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
