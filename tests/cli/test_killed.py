"""A command that is killed while it writes leaves no labels without the model that gave them."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.offline import python_path

from catalpa import load
from catalpa.cli.outputs import write_together
from catalpa.errors import OutputError

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are copied with fork"),
]

# Each copy of this program runs the command and is killed before one operation on the folder, the next copy
# before the next one, until one comes through.
KILLED = """
import json, os, shutil, signal, sys
from pathlib import Path

from catalpa.cli import cluster_table, tables  # imported once, before the copies are made
from catalpa.cli.main import app

command, before, kept = json.loads(sys.argv[1]), Path("before"), Path("kept")

def kill_at(moment):
    folder, seen = str(Path("out").absolute()), 0

    def count(event, arguments):
        nonlocal seen
        if any(folder in os.path.abspath(one) for one in arguments if isinstance(one, str)):
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)

moment, code = 0, None
while code != 0:
    moment += 1
    shutil.rmtree("out", ignore_errors=True)
    if before.exists():
        shutil.copytree(before, "out")
    child = os.fork()
    if child == 0:
        kill_at(moment)
        try:
            app(command, prog_name="catalpa")
        except SystemExit as end:
            os._exit(end.code or 0)
        os._exit(1)
    code = os.waitpid(child, 0)[1]
    assert code in (0, signal.SIGKILL), code
    if Path("out").exists():
        shutil.copytree("out", kept / f"{moment:03}")
print(moment)
"""


def command_of(k: int, *more: str) -> list[str]:
    return [
        "cluster",
        "fruit.csv",
        "-k",
        str(k),
        "--method",
        "kmodes",
        "--drop",
        "person,price",
        "-o",
        "out",
        *more,
    ]


def killed_at_every_moment(folder: Path, command: list[str]) -> list[Path]:
    """What the folder held each time."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, json.dumps(command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": python_path(*sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) > 10
    return sorted((folder / "kept").iterdir())


def clusters_in(path: Path) -> set[int]:
    with path.open(encoding="utf-8", newline="") as file:
        return {int(row["cluster"]) for row in csv.DictReader(file)}


def whole(folder: Path) -> set[str]:
    """Names of the files in a folder, each of which is complete and belongs to the model beside it."""
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    if names - {"model.json"}:
        model = load(folder / "model.json")
        for name in names - {"model.json"}:
            assert clusters_in(folder / name) == set(range(model.n_clusters_)), (folder, name)
    return names


def test_a_new_folder_has_labels_only_beside_their_model(fruit):
    left = [whole(folder) for folder in killed_at_every_moment(fruit.parent, command_of(2))]
    assert all("model.json" in names or not names for names in left)
    assert left[0] == set()
    assert left[-1] == {"labels.csv", "model.json", "profiles.csv"}


def test_files_of_an_earlier_run_never_stand_beside_a_model_of_another(fruit, program):
    with program(*command_of(2)) as running:
        running.communicate(timeout=120)
    (fruit.parent / "out").rename(fruit.parent / "before")
    folders = killed_at_every_moment(fruit.parent, command_of(3, "--force"))
    left = [whole(folder) for folder in folders]
    assert all("model.json" in names for names in left)
    assert clusters_in(folders[0] / "labels.csv") == {0, 1}
    assert clusters_in(folders[-1] / "labels.csv") == {0, 1, 2}


def test_links_and_rights_of_replaced_files_are_kept(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b").write_text("old")
    (tmp_path / "elsewhere" / "b").chmod(0o640)
    (tmp_path / "b").symlink_to(tmp_path / "elsewhere" / "b")
    write_together(tmp_path, [("a", ["1"]), ("b", ["2", "3"])])
    assert (tmp_path / "b").is_symlink()
    assert (tmp_path / "elsewhere" / "b").read_text() == "23"
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o640


def test_what_is_there_stays_if_the_files_cannot_be_made(tmp_path):
    def broken():
        yield "new"
        raise OutputError("a disk of rows is broken")

    write_together(tmp_path, [("a", ["old"]), ("b", ["old"])])
    with pytest.raises(OutputError, match="a disk of rows is broken"):
        write_together(tmp_path, [("a", broken()), ("b", ["new"])])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old", "b": "old"}
