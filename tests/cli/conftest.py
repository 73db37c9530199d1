"""The command as a user runs it: in this process for speed, or as a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.offline import python_path

from catalpa.cli.main import app

SOURCE = Path(__file__).resolve().parents[2] / "src"

FRUIT = """\
person,colour,shape,price
p1,red,round,1.5
p2,red,round,1.25
p3,red,oval,1.75
p4,blue,square,8.5
p5,blue,square,9.25
p6,blue,oval,8.75
"""


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys) -> Run:
    """Run the command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CATALPA_DEBUG", raising=False)

    def run_here(*arguments: object) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            app([str(argument) for argument in arguments], prog_name="catalpa")
        said = capsys.readouterr()
        return Ended(int(ended.value.code or 0), said.out, said.err)

    return run_here


@pytest.fixture
def fruit(tmp_path) -> Path:
    """A CSV file of six rows in two plain clusters."""
    path = tmp_path / "fruit.csv"
    path.write_text(FRUIT, encoding="utf-8")
    return path


@pytest.fixture
def source_folder() -> Path:
    """Where the package is, for programs that are started."""
    return SOURCE


def hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def program(tmp_path) -> Callable[..., subprocess.Popen[str]]:
    """Start the command as a program of its own."""

    def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": python_path(SOURCE)}
        environment.pop("CATALPA_DEBUG", None)
        return subprocess.Popen(
            [sys.executable, "-m", "catalpa", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            # Background jobs of a shell ignore Ctrl-C, and so would what they start.
            preexec_fn=hear_interrupts if os.name == "posix" else None,
            **options,
        )

    return start
