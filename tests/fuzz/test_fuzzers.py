"""A few steady cases of every fuzzer; `make fuzz` looks for new ones."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.fuzz.fuzzers import FUZZERS, one_case

CASES = {"models": 100, "tables": 30, "files": 40, "engines": 25, "texts": 60, "uses": 20}


@pytest.mark.parametrize("fuzzer", FUZZERS)
def test_every_case_is_used_or_refused_with_a_sentence(fuzzer, tmp_path):
    met = {one_case(fuzzer, seed, tmp_path) for seed in range(CASES[fuzzer])}
    assert len(met) > 1  # a fuzzer of which all is refused, or nothing, tests little


def test_the_long_run_counts_what_it_met():
    command = [sys.executable, "-m", "tests.fuzz", "--fuzzer", "models", "--seed", "0", "--cases", "2"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1"]
