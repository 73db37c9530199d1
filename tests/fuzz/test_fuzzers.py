"""A few steady cases of every fuzzer; `make fuzz` looks for new ones."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.fuzz.__main__ import kind_of_fault
from tests.fuzz.fuzzers import FUZZERS, foreign_errors, one_case

CASES = {
    "models": 100,
    "tables": 30,
    "files": 40,
    "engines": 25,
    "texts": 60,
    "uses": 20,
    "onnx": 60,
    "sql": 20,
}


@pytest.mark.parametrize("fuzzer", FUZZERS)
def test_every_case_is_used_or_refused_with_a_sentence(fuzzer, tmp_path):
    met = {one_case(fuzzer, seed, tmp_path) for seed in range(CASES[fuzzer])}
    assert len(met) > 1  # a fuzzer of which all is refused, or nothing, tests little


def test_the_long_run_counts_what_it_met():
    command = [sys.executable, "-m", "tests.fuzz", "--fuzzer", "models", "--seed", "0", "--cases", "2"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1"]


def test_a_fault_is_a_crash_a_foreign_error_or_a_wrong_answer(monkeypatch, tmp_path):
    def wrong(_rng, _folder):
        assert [1] == [2]

    monkeypatch.setattr(
        "tests.fuzz.fuzzers.FUZZERS", {"wrong": wrong, "foreign": lambda _rng, _folder: 1 / 0}
    )
    said = [foreign_errors(name, 0, tmp_path).replace("\n", "\\n") for name in ("wrong", "foreign")]
    found = [kind_of_fault(what) for what in ("", *said, "refused")]
    assert found == ["crashes", "wrong answers", "foreign errors", None]
