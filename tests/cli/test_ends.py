"""How a command ends: interrupted, cut off, with an error of ours or one that nobody foresaw."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.offline import python_path
from typer.testing import CliRunner

import catalpa
from catalpa import KModes, Progress
from catalpa.__main__ import main as run_program
from catalpa.cli import outputs
from catalpa.cli.cluster import style_of
from catalpa.cli.cluster_table import describe, show
from catalpa.cli.main import app
from catalpa.cli.terminal import Terminal
from catalpa.datasets import make_categorical
from catalpa.errors import NoStructureWarning, OutputError


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are not for Windows")
def test_an_interrupt_during_a_long_fit_leaves_no_file_and_ends_with_130(program, tmp_path):
    rows = make_categorical(20_000, columns=12, categories=6, clusters=20, noise=0.9, seed=0).frame
    rows.to_csv(tmp_path / "long.csv", index=False)
    with program("cluster", "long.csv", "-k", 60, "--n-init", 100_000, "-o", "out") as running:
        time.sleep(4)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert out == ""
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.rglob("*")] == ["long.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are not for Windows")
def test_an_interrupt_while_libraries_are_loaded_is_a_sentence_too(program, tmp_path):
    slow = "import sys, time\nprint('loading', flush=True)\ntime.sleep(60)\n"
    (tmp_path / "typer.py").write_text(slow)  # stands before the real one: the program runs in this folder
    with program("methods") as running:
        assert running.stdout.readline() == "loading\n"
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "Interrupted. No half-written file is left.\n")


def test_an_interrupt_that_no_command_met_ends_the_program_all_the_same(monkeypatch, capsys):
    monkeypatch.setattr("catalpa.cli.main.main", raises(KeyboardInterrupt))
    with pytest.raises(SystemExit) as ended:
        run_program()
    assert (ended.value.code, capsys.readouterr().err.split(".")[0]) == (130, "Interrupted")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are not for Windows")
def test_a_program_that_the_system_ends_leaves_no_file_and_no_folder(program, tmp_path):
    rows = make_categorical(20_000, columns=12, categories=6, clusters=20, noise=0.9, seed=0).frame
    rows.to_csv(tmp_path / "long.csv", index=False)
    (tmp_path / "tmp").mkdir()
    asked = (
        "cluster",
        "long.csv",
        "-k",
        60,
        "--n-init",
        100_000,
        "--stream",
        "-o",
        "out",
        "--method",
        "kmodes",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path / "tmp"))
        running = program(*asked)
    with running:
        for _ in range(200):
            if list((tmp_path / "tmp").glob("catalpa-*/codes")):
                break
            time.sleep(0.2)
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 143
    assert (out, err) == ("", "Stopped by the system. No half-written file is left.\n")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["long.csv", "tmp"]


def test_too_little_memory_is_said(run, fruit, monkeypatch):
    monkeypatch.setattr("catalpa.cli.tables.read_file", raises(MemoryError))
    done = run("cluster", fruit, "-k", 2)
    assert done.code == 1
    assert "not enough memory" in done.err
    assert "--stream" in done.err


def raises(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.skipif(os.name != "posix", reason="a shell that closes streams")
@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), (">&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 2)])
def test_closed_streams_are_empty_ones(fruit, tmp_path, closed, code):
    source = "-" if "<" in closed else str(fruit)
    command = f"exec {sys.executable} -m catalpa cluster {source} -k 2 -o {tmp_path / 'out'} {closed}"
    environment = {**os.environ, "PYTHONPATH": python_path(Path(catalpa.__file__).parents[1])}
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="a terminal of its own")
@pytest.mark.parametrize(("rows", "amount"), [(70_000, "reading many.csv (1 MB)"), (300, "reading many.csv")])
def test_a_terminal_shows_what_is_read_and_how_much(tmp_path, rows, amount):
    path = tmp_path / "many.csv"
    path.write_text("colour,size\n" + "dark blue,very large\nred,small\n" * (rows // 2))
    ours, theirs = os.openpty()
    environment = {
        **os.environ,
        "PYTHONPATH": python_path(Path(catalpa.__file__).parents[1]),
        "COLUMNS": "100",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "catalpa", "look", str(path)],
        env=environment | {"TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as running:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux ends a terminal whose program is gone by an error
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    assert running.returncode == 0
    assert amount in shown.decode()
    assert ("MB" in shown.decode()) == ("MB" in amount)


def test_a_reader_that_has_seen_enough_is_no_error(program):
    with program("datasets", "zoo", "--quiet") as running:
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 1


def test_a_pipe_gets_plain_lines_and_no_colours(program, fruit):
    with program("cluster", "-", "-k", 2, "--drop", "person,price") as running:
        out, err = running.communicate(fruit.read_text())
    assert running.returncode == 0
    assert "\x1b" not in out + err
    assert len(out.splitlines()) == 3
    (verdict,) = err.splitlines()
    assert verdict.startswith("2 clusters, but 6 rows are too few to tell (at least 100)")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no disk that is always full")
def test_a_full_disk_is_no_mistake_of_the_program(run, monkeypatch):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        ended = run("datasets", "zoo", "--quiet")
    assert ended.code == 2
    assert ended.err == "Error: The output cannot be written: No space left on device.\n"


def ended_on_a_full_disk(*asked, stream):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        return subprocess.run(
            [sys.executable, "-m", "catalpa", *asked],
            env={**os.environ, "PYTHONPATH": python_path(Path(catalpa.__file__).parents[1])},
            text=True,
            check=False,
            **{**streams, stream: full},
        )


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no disk that is always full")
@pytest.mark.parametrize("asked", [["--version"], ["--help"], ["cluster", "--help"]])
def test_help_on_a_full_disk_is_a_sentence_too(asked):
    ended = ended_on_a_full_disk(*asked, stream="stdout")
    assert ended.returncode == 2
    assert ended.stderr == "Error: The output cannot be written: No space left on device.\n"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no disk that is always full")
def test_an_error_that_nobody_can_be_told_keeps_its_exit_code():
    assert ended_on_a_full_disk("cluster", "absent.csv", "-k", "2", stream="stderr").returncode == 2


@pytest.mark.parametrize(
    "error",
    [
        ImportError("x.so: failed to map segment from shared object"),
        OSError("Failed to launch worker thread: Resource temporarily unavailable"),
        RuntimeError("can't start new thread"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_a_library_that_lacks_memory_is_no_mistake_of_the_program(run, fruit, monkeypatch, error):
    monkeypatch.setattr("catalpa.cli.tables.read_file", raises(error))
    done = run("cluster", fruit, "-k", 2)
    assert done.code == 1
    assert done.err.startswith("Error: There is not enough memory for this.")


class Broken:
    """A stream that fails in a way no stream should."""

    def isatty(self):
        return False

    def write(self, _):
        raise ZeroDivisionError("odd")


def test_an_error_nobody_foresaw_is_a_sentence_that_asks_for_a_report(run, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Broken())
    ended = run("methods")
    assert ended.code == 1
    assert "ZeroDivisionError: odd" in ended.err
    assert "report" in ended.err
    assert "Traceback" not in ended.err
    ended = run("--debug", "methods")
    assert ended.code == 1
    assert "Traceback" in ended.err


def test_debug_shows_where_an_error_of_ours_came_from(run, monkeypatch):
    assert "Traceback" in run("--debug", "cluster", "absent.csv", "-k", 2).err
    monkeypatch.setenv("CATALPA_DEBUG", "1")
    ended = run("cluster", "absent.csv", "-k", 2)
    assert ended.code == 2
    assert "Traceback" in ended.err


def test_a_disk_that_refuses_a_file_is_an_error_of_ours(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made"):
        outputs.make_folder(tmp_path / "file" / "folder")
    with pytest.raises(OutputError, match="cannot be written"):
        outputs.write_text(tmp_path, "x")


def test_what_fails_while_labels_are_made_is_not_told_as_an_error_of_writing(tmp_path):
    def pieces():
        yield "cluster\n"
        raise OSError(errno.EIO, "a disk of rows is broken")

    with pytest.raises(OSError, match="a disk of rows is broken") as failed:
        outputs.write_texts(tmp_path / "labels.csv", pieces())
    assert not isinstance(failed.value, OutputError)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_file_is_made_with_it(tmp_path):
    outputs.write_text(tmp_path / "absent" / "file", "x")
    assert (tmp_path / "absent" / "file").read_text() == "x"


@pytest.fixture
def of_another_user():
    """A folder that this user may look into but not write, and one that may not even be looked into."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    for name in ("seen", "hidden"):
        (place / name).mkdir()
    (place / "seen").chmod(0o555)
    (place / "hidden").chmod(0o000)
    is_root = os.geteuid() == 0
    if is_root:  # who may write everywhere
        os.seteuid(65534)
    yield place
    if is_root:
        os.seteuid(0)
    (place / "hidden").chmod(0o700)
    shutil.rmtree(place)


@pytest.mark.skipif(sys.platform == "win32", reason="users and rights are those of POSIX")
def test_a_folder_of_another_user_is_said_before_the_work_begins(of_another_user):
    with pytest.raises(OutputError, match="seen' is not yours to write"):
        outputs.check_free(of_another_user / "seen" / "new", force=False)
    with pytest.raises(OutputError, match=r"cannot be written: Permission denied\."):
        outputs.check_free(of_another_user / "hidden" / "deep" / "new", force=False)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are those of POSIX")
def test_a_pipe_needs_no_force_and_gets_the_labels(run, fruit, tmp_path):
    assert run("cluster", fruit, "-k", "2", "--drop", "price", "--id", "person", "-o", "out").code == 0
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        ended = run("predict", "out/model.json", fruit, "-o", "pipe")
        assert (ended.code, os.read(reader, 1000).decode().split()[0]) == (0, "cluster")
    finally:
        os.close(reader)


class Screen:
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_terminal_gets_a_drawn_table_with_numbers_to_the_right(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "60")
    Terminal().table(("size", "words"), [("5", "[red]a[/red]"), ("12", "b")])
    lines = [line for line in plain(screen.text).splitlines() if line.strip()]
    assert re.match(r"\s+5\s+\[red\]a\[/red\]", lines[2])
    assert re.match(r"\s+12\s+b", lines[3])


def drawn(monkeypatch, width, *arguments, **options):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(width))
    Terminal().table(*arguments, **options)
    return plain(screen.text)


def test_a_terminal_gets_a_bar_for_every_share(monkeypatch):
    rows = [("0", "long words"), ("1", "b")]
    lines = drawn(monkeypatch, 80, ("cluster", "words"), rows, bars=[0.8, 0.2]).splitlines()
    lengths = [line.count("\u2588") for line in lines if line.strip() and line.split()[0] in "01"]
    assert lengths == [8, 2]
    assert "\u2588" not in drawn(monkeypatch, 60, ("cluster", "words"), rows, bars=[0.8, 0.2])


def test_clusters_that_are_no_finding_are_grey(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    noise = np.random.default_rng(0).integers(3, size=(200, 6)).astype(str)
    planted = make_categorical(200, columns=6, clusters=2, noise=0.1, seed=0).frame
    grey = "\x1b[90m"
    for rows, expected in ((noise, True), (planted, False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoStructureWarning)
            model = catalpa.Grove(2, random_state=0).fit(rows)
        screen = Screen()
        monkeypatch.setattr(sys, "stdout", screen)
        show(Terminal(), describe(model), style=style_of(model))
        monkeypatch.undo()
        assert (grey in screen.text) == expected


def test_a_narrow_terminal_cuts_no_name_and_no_word(monkeypatch):
    name, words = "a-name-that-is-needed-whole", "unbreakablewordsthatareverylongindeed"
    text = drawn(monkeypatch, 50, ("name", "words"), [(name, words)])
    assert name in text
    assert "\u2026" not in text
    assert words in "".join(text.split())


def test_no_color_takes_the_colours_out(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    Terminal().table(("size",), [("5",)])
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", screen.text)


def test_a_terminal_sees_progress_pass_by_pass(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    model = KModes(2)
    with Terminal().progress(model):
        model.callback(Progress("learn", 2, 2, 1, 10, 1, 100, 10.0, 5, 0.5, None))
        time.sleep(0.3)  # the line is drawn a few times a second
    assert "pass 1/100: cost 10, 5 rows moved" in plain(screen.text)
    assert model.callback is None


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=80) | st.text(alphabet='a1,;\t"\n\r .-é', max_size=60), k=st.integers(1, 4))
@example(text="a\n\n", k=1)
@example(text="\n0", k=1)
@example(text="\n0\n1", k=1)
@example(text='a,"b\nc', k=1)
@example(text="a,a\n1,2\n", k=1)
@example(text="\x00,\x00\n", k=1)
@example(text="a,b\n1e999,inf\n2,3\n", k=2)
def test_no_csv_text_gives_a_traceback(text, k):
    content = text.encode("utf-8", "surrogatepass")
    result = CliRunner().invoke(app, ["cluster", "-", "-k", str(k), "--n-init", "1"], input=content)
    assert result.exit_code in (0, 2), result.output
    assert "something went wrong" not in result.output
    assert "Traceback" not in result.output
