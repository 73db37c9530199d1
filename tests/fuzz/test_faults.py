"""Every open, write, sync and rename fails once: the old file or the new one is left, and a sentence."""

from __future__ import annotations

import errno
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
OPERATIONS = ("open", "write", "fsync", "replace")


class Failing(io.BufferedWriter):
    """A file whose writes are counted."""

    def __init__(self, stream, count):
        super().__init__(stream.detach())
        self.count = count

    def write(self, content):
        self.count("write")
        return super().write(content)


@contextmanager
def failing(operation, number, folder):
    """Let the operation of that number fail, of those on files in the folder; gives how many there were."""
    seen = []

    def count(name):
        if name == operation:
            seen.append(name)
            if len(seen) == number:
                raise OSError(errno.EIO, "Input/output error")

    opened, synced, replaced = io.open, os.fsync, os.replace

    def open_counted(file, mode="r", *args, **kwargs):
        inside = str(file).startswith(str(folder)) and set(mode) & set("wxa+")
        if inside:
            count("open")
        stream = opened(file, mode, *args, **kwargs)
        return Failing(stream, count) if inside and "b" in mode else stream

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", open_counted)
        patch.setattr(os, "fsync", lambda handle: (count("fsync"), synced(handle))[1])
        patch.setattr(os, "replace", lambda *way: (count("replace"), replaced(*way))[1])
        yield seen


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


def checkpoint(folder):
    model = catalpa.KModes(3, n_init=2, random_state=0, checkpoint=str(folder / "passes")).fit(ROWS)
    assert model.labels_.tolist() == catalpa.KModes(3, n_init=2, random_state=0).fit(ROWS).labels_.tolist()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("work", [save, report, labels, gather, checkpoint])
def test_a_fault_leaves_the_old_file_or_the_new_one(tmp_path, work, operation):
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    work(fresh)
    new = {path.name: path.read_bytes() for path in fresh.glob("kept*")}
    for number in range(1, 100):
        folder = tmp_path / str(number)
        folder.mkdir()
        old = {name: content for name, content in new.items() if name != "kept.parquet"}
        for name in old:
            (folder / name).write_bytes(b"old")
        with failing(operation, number, folder) as seen:
            try:
                work(folder)
            except CatalpaError:
                assert len(seen) == number
        for name in old:
            assert (folder / name).read_bytes() in (b"old", new[name])
        assert not list(folder.rglob(".catalpa-*"))
        if work in (gather, checkpoint):
            work(folder)  # and what was kept is gone on with
        if len(seen) < number:
            break
    assert number > 1 or operation not in ("write", "fsync")


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
    monkeypatch.setattr("catalpa.files.os.name", "nt")
    assert _runs(gone.pid)
