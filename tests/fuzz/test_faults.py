"""Every open, read, write, sync and rename fails once: the old file or the new one stays, and a sentence."""

from __future__ import annotations

import errno
import gc
import io
import os
import subprocess
import sys
from contextlib import contextmanager

import pandas as pd
import pytest

import catalpa
from catalpa.cli.outputs import write_texts
from catalpa.errors import CatalpaError
from catalpa.files import _drafts_here, _runs, write_atomically
from catalpa.lab.journal import ResultJournal

ROWS = pd.DataFrame({"a": list("xyxyxz"), "b": list("ppqqpp")})
ROW = {
    "method": "kmodes",
    "variant": "paper",
    "dataset": "ZO",
    "columns": "categorical",
    "seed": 0,
    "ACC": 0.5,
}
FITTED = catalpa.KModes(2, n_init=1, random_state=0).fit(ROWS)
OPERATIONS = ("open", "read", "write", "fsync", "replace")


class FailingReader(io.BufferedReader):
    """A file whose reads are counted."""

    def __init__(self, stream, count):
        super().__init__(stream.detach())
        self.count = count

    def read(self, *size):
        self.count("read")
        return super().read(*size)

    def readinto(self, buffer):
        self.count("read")
        return super().readinto(buffer)


class FailingWriter(io.BufferedWriter):
    """A file whose writes are counted."""

    def __init__(self, stream, count):
        super().__init__(stream.detach())
        self.count = count

    def write(self, content):
        self.count("write")
        return super().write(content)


class Faults:
    """Counts what is done with files in a folder, and lets the operation of one kind and number fail."""

    def __init__(self, operation, number, folder):
        self.operation, self.number, self.folder = operation, number, str(folder)
        self.seen = 0
        self.handles = set()  # of files in the folder, for what is done without a stream

    def count(self, operation):
        self.seen += operation == self.operation
        if operation == self.operation and self.seen == self.number:
            raise OSError(errno.EIO, "Input/output error")

    def open(self, file, mode="r", *args, **kwargs):
        if not str(file).startswith(self.folder):
            return TRUE["io.open"](file, mode, *args, **kwargs)
        writes = set(mode) & set("wxa+")
        self.count("open" if writes else "read")
        stream = TRUE["io.open"](file, mode, *args, **kwargs)
        if "b" not in mode:
            return stream
        return FailingWriter(stream, self.count) if writes else FailingReader(stream, self.count)

    def os_open(self, path, flags, *args, **kwargs):
        # Not of folders, which are opened to be removed.
        inside = str(path).startswith(self.folder) and bool(flags & (os.O_WRONLY | os.O_RDWR))
        if inside:
            self.count("open")
        handle = TRUE["os.open"](path, flags, *args, **kwargs)
        self.handles |= {handle} if inside else set()
        return handle

    def counted(self, name, operation):
        def act(handle, *args):
            if handle in self.handles or operation in ("fsync", "replace"):
                self.count(operation)
            return TRUE[name](handle, *args)

        return act


TRUE = {"io.open": io.open, "os.open": os.open, "os.write": os.write, "os.read": os.read}
TRUE |= {"os.fsync": os.fsync, "os.replace": os.replace}


@contextmanager
def failing(operation, number, folder):
    """Let the operation of that number fail, of those on files in the folder."""
    faults = Faults(operation, number, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", faults.open)
        patch.setattr("builtins.open", faults.open)  # NumPy's maps
        patch.setattr(os, "open", faults.os_open)
        for name, kind in (("write", "write"), ("read", "read"), ("fsync", "fsync"), ("replace", "replace")):
            patch.setattr(os, name, faults.counted(f"os.{name}", kind))
        patch.setattr("tempfile.tempdir", str(folder))
        yield faults


def save(folder):
    catalpa.KModes(2, random_state=0).fit(ROWS).save(folder / "kept")


def report(folder):
    catalpa.KModes(2, random_state=0).fit(ROWS).report(ROWS).save(folder / "kept.json")


def labels(folder):
    write_texts(folder / "kept", ["cluster\n", "0\n", "1\n"])


def gather(folder):
    journal = ResultJournal(folder / "kept.parquet")
    journal.append(ROW)
    journal.gather()


def load(folder):
    assert catalpa.load(folder / "model").predict(ROWS).tolist() == FITTED.labels_.tolist()


def stream(folder):
    rows = catalpa.scan(folder / "rows.csv", memory="1MB")
    model = catalpa.KModes(2, n_init=1, random_state=0).fit(rows)  # every start reads the same way
    assert model.labels_.tolist() == FITTED.labels_.tolist()


def checkpoint(folder):
    model = catalpa.KModes(3, n_init=2, random_state=0, checkpoint=str(folder / "passes")).fit(ROWS)
    assert model.labels_.tolist() == catalpa.KModes(3, n_init=2, random_state=0).fit(ROWS).labels_.tolist()


def given(folder):
    """A folder with what is read."""
    folder.mkdir()
    FITTED.save(folder / "model")
    ROWS.to_csv(folder / "rows.csv", index=False)
    return folder


# Operations that a work is known to do: were they no longer counted, their faults would not be tried.
WORKS = {
    save: "open write fsync replace",
    report: "open write fsync replace",
    labels: "open write fsync replace",
    load: "read",
    stream: "open read write",
    gather: "open read write fsync replace",
    checkpoint: "open read write fsync replace",
}


@pytest.fixture
def little_to_collect():
    """What is there already is left out when garbage is collected, which takes most of the time otherwise."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("little_to_collect")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("work", WORKS)
def test_a_fault_leaves_the_old_file_or_the_new_one(tmp_path, work, operation):
    fresh = given(tmp_path / "fresh")
    work(fresh)
    new = {path.name: path.read_bytes() for path in fresh.glob("kept*")}
    for number in range(1, 100):
        folder = given(tmp_path / str(number))
        old = {name: content for name, content in new.items() if name != "kept.parquet"}
        for name in old:
            (folder / name).write_bytes(b"old")
        with failing(operation, number, folder) as faults:
            try:
                work(folder)
            except CatalpaError:
                assert faults.seen == number
        for name in old:
            assert (folder / name).read_bytes() in (b"old", new[name])
        assert not list(folder.rglob(".catalpa-*"))
        gc.collect()  # what an error held of a stream
        assert not list(folder.glob("catalpa-*"))
        if work in (gather, checkpoint):
            work(folder)  # and what was kept is gone on with
        if faults.seen < number:
            break
    assert (number > 1) == (operation in WORKS[work].split())


@pytest.mark.skipif(os.name != "posix", reason="elsewhere nobody can tell whether a program still runs")
def test_drafts_of_killed_programs_are_swept(tmp_path, monkeypatch):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    drafts = {
        owner: tmp_path / f"{_drafts_here()}{owner}-0123.tmp" for owner in (gone.pid, os.getpid(), 1, "x")
    }
    for draft in drafts.values():
        draft.touch()
    write_atomically(tmp_path / "kept", b"new")
    assert [owner for owner, draft in drafts.items() if not draft.exists()] == [gone.pid]
    monkeypatch.setattr(os, "kill", lambda *_: (_ for _ in ()).throw(PermissionError))
    assert _runs(1)
    with monkeypatch.context() as elsewhere:  # nobody else shall make paths meanwhile
        elsewhere.setattr("catalpa.files.os.name", "nt")
        assert _runs(gone.pid)
