"""Sums of 128 bits where a compiler has none: the same bits as those of a compiler that has them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "src" / "catalpa" / "steps" / "core"
PROGRAM = r"""
#include <cstdio>
#include <random>
#include "portable/plain_int128.hpp"

using catalpa::Int128;
using True = __int128;

bool same(Int128 plain, True wanted) {
    return static_cast<std::int64_t>(plain >> 64) == static_cast<std::int64_t>(wanted >> 64) &&
           static_cast<std::uint64_t>(plain) == static_cast<std::uint64_t>(wanted);
}

int main() {
    std::mt19937_64 any(0);
    const auto number = [&] { return static_cast<std::int64_t>(any()) >> any() % 64; };
    int wrong = 0;
    for (int time = 0; time < 200000; ++time) {
        const std::int64_t a = number(), b = number(), c = number(), d = number();
        const int by = static_cast<int>(any() % 128);
        const Int128 plain = Int128(a) * b, other = Int128(c) * d;
        const True wanted = True(a) * b, second = True(c) * d;
        Int128 sum = plain;
        sum += other;
        wrong += !same(plain, wanted) + !same(sum, wanted + second) + !same(-plain, -wanted) +
                 !same(plain * other, wanted * second) + !same(plain << by, wanted << by) +
                 !same(plain >> by, wanted >> by) + (static_cast<bool>(plain) != static_cast<bool>(wanted));
    }
    std::printf("%d", wrong);
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler with 128-bit integers")
def test_plain_sums_of_128_bits_are_those_of_the_compiler(tmp_path):
    (tmp_path / "program.cpp").write_text(PROGRAM)
    options = ["-std=c++17", "-O1", "-fwrapv", f"-I{CORE}"]
    subprocess.run(
        ["g++", *options, "program.cpp", "-o", "program"], check=True, cwd=tmp_path, capture_output=True
    )
    assert subprocess.run(["./program"], check=True, cwd=tmp_path, capture_output=True).stdout == b"0"


def test_kernels_take_what_compilers_differ_in_from_one_place():
    own = {"portable.hpp", "lanes.hpp", "each_level.hpp", "module.cpp"}
    for file in CORE.rglob("*.?pp"):
        text = file.read_text(encoding="utf-8")
        foreign = [word for word in ("__builtin_", "__int128", "_mm256_", "vector_size") if word in text]
        assert file.name in own or foreign == [], file.name
