"""A run of the tests reaches no other machine, and needs no data folder that a test did not ask for."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest
from tests.offline import NetworkRefused

import catalpa
from catalpa.errors import DatasetError

# Addresses that are kept for documentation: nobody answers, should the block be gone.
ELSEWHERE = ("192.0.2.1", 9)
ELSEWHERE_6 = ("2001:db8::1", 9)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_connection_to_another_machine_is_refused(refused_connections):
    with socket.socket() as tcp, pytest.raises(NetworkRefused, match=r"'192\.0\.2\.1'"):
        tcp.connect(ELSEWHERE)
    with socket.socket() as tcp, pytest.raises(NetworkRefused):
        tcp.connect_ex(ELSEWHERE)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, pytest.raises(NetworkRefused):
        udp.sendto(b"x", ELSEWHERE)
    with pytest.raises(NetworkRefused, match=r"a\.invalid"):
        socket.getaddrinfo("a.invalid", 80)
    with pytest.raises(urllib.error.URLError, match=r"a\.invalid"):
        urllib.request.urlopen("http://a.invalid")
    assert len(refused_connections) == 5


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6 here")
def test_so_is_one_by_the_newer_protocol(refused_connections):
    with socket.socket(socket.AF_INET6) as tcp, pytest.raises(NetworkRefused):
        tcp.connect(ELSEWHERE_6)
    assert refused_connections == ["socket.connect 2001:db8::1"]


def test_loopback_is_open():
    with socket.create_server(("127.0.0.1", 0)) as server:
        for host in ("127.0.0.1", "localhost"):
            socket.create_connection((host, server.getsockname()[1])).close()


def test_an_attempt_that_code_catches_is_counted_all_the_same(refused_connections):
    def quietly():
        with socket.socket() as tcp, contextlib.suppress(OSError):
            tcp.connect(ELSEWHERE)

    thread = threading.Thread(target=quietly)
    thread.start()
    thread.join()
    assert refused_connections == ["socket.connect 192.0.2.1"]


def test_data_that_is_not_bundled_is_not_fetched(refused_connections, tmp_path, monkeypatch):
    monkeypatch.setenv("CATALPA_CACHE", str(tmp_path))
    with pytest.raises(DatasetError, match="could not be downloaded"):
        catalpa.datasets.load("soybean")
    assert refused_connections


@pytest.mark.process
def test_programs_that_tests_start_are_offline_too():
    script = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=1)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "NetworkRefused: socket.connect: tests open no connection to other machines" in done.stderr


def test_the_data_folder_is_hidden_from_tests_that_do_not_ask_for_it():
    assert "CATALPA_DATA" not in os.environ


COLLECT = """
import sys
import pytest

class Imported:
    def pytest_collection_finish(self, session):
        assert len(session.items) > 5000
        names = sorted({"dask", "distributed", "mlflow", "pyspark"} & set(sys.modules))
        print("imported:", names, file=sys.__stdout__)

assert pytest.main(["--collect-only", "-qq", *sys.argv[1:]], plugins=[Imported()]) == 0
"""


@pytest.mark.process
@pytest.mark.parametrize("options", [[], ["--cov", "--cov-report="]], ids=["plain", "covered"])
def test_collecting_the_tests_imports_no_engine(options, tmp_path):
    root = __file__.rpartition("tests")[0]
    environment = {**os.environ, "COVERAGE_FILE": str(tmp_path / "coverage")}
    command = [sys.executable, "-c", COLLECT, "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "imported: []" in done.stdout


ENDS = ("PASSED", "FAILED", "ERROR")
OUTSIDE = """
import catalpa.datasets
import socket, subprocess, sys
import pytest

def test_starts_python():
    subprocess.run([sys.executable, "-c", "pass"], check=True)

def test_imports_an_engine():
    import dask

@pytest.mark.parametrize("engine", ["dask"])
def test_names_an_engine(engine):
    import dask

def test_catches_the_refusal():
    with socket.socket() as tcp:
        try:
            tcp.connect(("192.0.2.1", 9))
        except OSError:
            pass

def test_needs_data(data_home):
    assert data_home.is_dir()
"""


@pytest.mark.process
def test_what_a_test_needs_is_known_before_it_runs(tmp_path):
    """A run of pytest over tests that break the rules, with the conftest of these tests."""
    root = __file__.rpartition("tests")[0]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_outside.py").write_text(OUTSIDE, encoding="utf-8")
    environment = {**os.environ, "CATALPA_DATA": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--confcutdir", root]
    command += ["-c", f"{root}pyproject.toml", "--rootdir", root, "-p", "tests.conftest"]

    def outcomes(*options: str) -> dict[str, str]:
        done = subprocess.run(
            [*command, *options, str(tmp_path / "tests" / "test_outside.py")],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        ends = [line.split() for line in done.stdout.splitlines() if "::test_" in line]
        found = [(line[1].rpartition("::")[2], line[0]) for line in ends if line[0] in ENDS]
        # A test that passes and fails at its end is listed twice.
        return dict(sorted(found, key=lambda end: end[1] == "ERROR"))

    plain = outcomes()
    assert plain.pop("test_catches_the_refusal") == "ERROR"
    assert set(plain.values()) == {"PASSED"}
    assert len(plain) == 4
    # A quick run leaves out what it knows of, and fails where a mark is missing.
    assert outcomes("--quick") == {
        "test_starts_python": "FAILED",
        "test_imports_an_engine": "FAILED",
        "test_catches_the_refusal": "ERROR",
    }
    assert outcomes("-m", "data") == {"test_needs_data": "PASSED"}
