"""Files that are there completely or not at all, and locks that a killed program lets go of."""

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

from catalpa.errors import CatalpaError

if TYPE_CHECKING:
    from filelock import BaseFileLock


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Put ``content`` at ``path`` in one step: a reader sees the old file or the new one, never a part.

    The bytes go to a hidden file in the same folder, to the disk, and then take the place of the old file.
    A link is followed, and the rights of a file that is replaced are kept. A device or a pipe is written to.
    """
    with open_atomically(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def told_as(refused: type[CatalpaError], what: str, cure: str = "") -> Iterator[None]:
    """Turn what the system says of a file into an error for users: what failed, its reason, and a cure."""
    try:
        yield
    except CatalpaError:
        raise  # some are errors of the system too, and say already what is wrong
    except OSError as error:
        raise refused(f"{what}: {error.strerror}. {cure}".rstrip()) from error


@contextlib.contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to be written that takes its place at ``path`` when the ``with`` block ends well."""
    if _takes_bytes_as_they_come(path):
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    # Beside its place, as only a rename inside one file system is one step.
    draft = target.with_name(f"{_drafts_here()}{os.getpid()}-{secrets.token_hex(8)}.tmp")
    _sweep(target.parent)
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # else a power cut may keep the new name and lose the bytes
        with contextlib.suppress(FileNotFoundError):
            draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    except BaseException:  # also when the user interrupts
        draft.unlink(missing_ok=True)
        raise
    _settle_folder(target.parent)


def _drafts_here() -> str:
    """How the names of this machine's drafts begin: who still runs is only known on the same machine."""
    return f".catalpa-{zlib.crc32(platform.node().encode()):08x}-"


@cache
def _sweep(folder: Path) -> None:
    """Remove the drafts of programs that were killed; once per folder, as a folder may hold many files."""
    for draft in folder.glob(f"{_drafts_here()}*.tmp"):
        owner = draft.name.split("-")[2]
        if owner.isdigit() and not _runs(int(owner)):
            with contextlib.suppress(OSError):  # of another user, or gone already
                draft.unlink()


def _runs(program: int) -> bool:
    """Whether a program with this number runs, or nobody can tell."""
    if os.name != "posix":  # where asking in this way would end it
        return True
    try:
        os.kill(program, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # of another user
    return True


def _takes_bytes_as_they_come(path: str | os.PathLike[str]) -> bool:
    """Whether this is a device or a pipe: to put a file in its place would destroy it."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False  # nothing is there yet
    except ValueError as error:  # a name with a NUL, or with half a character
        raise OSError(errno.EINVAL, f"no file can have that name, {error}") from error
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _settle_folder(folder: Path) -> None:
    """Bring the folder's new entry to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock_at(path: str | os.PathLike[str]) -> BaseFileLock | None:
    """A lock that this program holds until it releases it or ends; None where another one holds it.

    On a file system that knows no locks it comes back not locked: whoever asks goes on without.
    """
    from filelock import FileLock, Timeout  # it brings all of asyncio, which few programs need

    # Not of the thread: what is collected as garbage may be released by any of them.
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    except (OSError, NotImplementedError):  # some network folders know no locks
        pass
    return lock
