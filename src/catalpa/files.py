"""Atomic file writes, and locks that are released when a program is killed."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import secrets
import stat
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

from catalpa.errors import CatalpaError, ParameterError

if TYPE_CHECKING:
    from filelock import BaseFileLock


def check_path(path: object) -> None:
    """Raise an error for what is not the name of a file.

    Examples
    --------
    >>> check_path("model.json")
    >>> check_path(5)
    Traceback (most recent call last):
    ...
    catalpa.errors.ParameterError: path=5 is not valid: pass the name of a file, as a string or a Path.
    """
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(
            f"path={path!r:.60} is not valid: pass the name of a file, as a string or a Path."
        )


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write ``content`` to ``path`` atomically: readers see the old file or the new one, never a part.

    The bytes are written to a hidden file in the same folder and flushed to disk; then that file replaces the
    old one. Symbolic links are followed, and the permissions of a replaced file are kept. Devices and pipes
    are written to directly.
    """
    with open_atomically(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def reraise_as(refused: type[CatalpaError], what: str, cure: str = "") -> Iterator[None]:
    """Turn an ``OSError`` into an error for users: what failed, why, and how to fix it."""
    try:
        yield
    except CatalpaError:
        raise  # some are OSErrors too, and already have a message for users
    except OSError as error:
        raise refused(f"{what}: {error.strerror}. {cure}".rstrip()) from error


@contextlib.contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces ``path`` if the ``with`` block succeeds."""
    if _takes_bytes_as_they_come(path):
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    # In the same folder, because a rename is atomic only within one file system.
    draft = target.with_name(f"{_drafts_here()}{os.getpid()}-{secrets.token_hex(8)}.tmp")
    _sweep(target.parent)
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # otherwise a power cut may keep the new name and lose the bytes
        with contextlib.suppress(FileNotFoundError):
            draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    except BaseException:  # also when the user interrupts
        draft.unlink(missing_ok=True)
        raise
    _settle_folder(target.parent)


def _drafts_here() -> str:
    """Prefix of temporary files of this machine: only here can we tell which processes are alive."""
    return f".catalpa-{zlib.crc32(platform.node().encode()):08x}-"


@cache
def _sweep(folder: Path) -> None:
    """Remove temporary files of killed processes; once per folder, because a folder may hold many files."""
    for draft in folder.glob(f"{_drafts_here()}*.tmp"):
        owner = draft.name.split("-")[2]
        if owner.isdigit() and not _runs(int(owner)):
            with contextlib.suppress(OSError):  # owned by another user, or already deleted
                draft.unlink()


def _runs(program: int) -> bool:
    """True if the process is alive, or if that is unknown."""
    if os.name != "posix":  # os.kill would terminate it
        return True
    try:
        os.kill(program, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # owned by another user
    return True


def _takes_bytes_as_they_come(path: str | os.PathLike[str]) -> bool:
    """True for a device or a pipe, which must not be replaced by a file."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False  # does not exist yet
    except ValueError as error:  # a name with a NUL or a lone surrogate
        raise OSError(errno.EINVAL, f"no file can have that name, {error}") from error
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _settle_folder(folder: Path) -> None:
    """Flush the folder's entries to disk, if the system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock_at(path: str | os.PathLike[str]) -> BaseFileLock | None:
    """A lock held until it is released or the process ends; None if another process holds it.

    On file systems without locks the lock is returned unlocked, and callers continue without one.
    """
    from filelock import FileLock, Timeout  # imports asyncio, which few programs need

    # Not thread-local: any thread may release it during garbage collection.
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    except (OSError, NotImplementedError):  # some network file systems have no locks
        pass
    return lock
