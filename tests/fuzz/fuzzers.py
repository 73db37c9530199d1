"""The fuzzers by name: each makes a case from a seed, uses it, and says what became of it.

A case may be used or refused with an error of ours. Anything else (a foreign error, a label that is no
cluster, two engines that differ) is a fault, and its seed becomes a test.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from tests.fuzz import engines, files, models, onnx_graphs, sql_queries, tables, texts, uses

FUZZERS: Mapping[str, Callable[[Random, Path], str]] = {
    "models": models.fuzz,
    "tables": tables.fuzz,
    "files": files.fuzz,
    "engines": engines.fuzz,
    "texts": texts.fuzz,
    "uses": uses.fuzz,
    "onnx": onnx_graphs.fuzz,
    "sql": sql_queries.fuzz,
}


def one_case(fuzzer: str, seed: int, folder: Path) -> str:
    """What became of the case of a seed; raises where it is a fault."""
    return FUZZERS[fuzzer](Random(seed), folder)


def foreign_errors(fuzzer: str, seed: int, folder: Path) -> str:
    """The same, with the fault as text."""
    try:
        return one_case(fuzzer, seed, folder)
    except Exception:
        return f"FOREIGN {traceback.format_exc()}"
