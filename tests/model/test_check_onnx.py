"""The check of ONNX runtimes finds what differs, and the guide names the oldest one."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from tools.check_onnx import compare, farthest, floor, write_cases

ROOT = Path(__file__).resolve().parents[2]


def test_a_label_and_a_probability_that_differ_are_found(tmp_path):
    write_cases(tmp_path, models=8, seed=0)
    result = compare(tmp_path)
    assert (result["models"], result["labels"]) == (8, 0)
    assert result["soft"] > result["tied"] > 0
    assert result["outliers"] > 0
    assert result["share"] < 1e-6
    for path in tmp_path.iterdir():
        graph, feeds, labels, soft, *more = pickle.loads(path.read_bytes())
        labels[0] += 1
        if soft is not None:
            soft[0][1][0] += 0.5
        path.write_bytes(pickle.dumps((graph, feeds, labels, soft, *more)))
    result = compare(tmp_path)
    assert result["labels"] == 16  # one row of every model, each fed in two ways
    assert result["share"] > 0.4


def test_no_number_at_all_is_no_small_difference():
    assert farthest([]) == 0
    assert farthest([np.zeros((2, 2)), np.array([-3.0])]) == 3
    assert np.isnan(farthest([np.array([1.0, np.nan])]))


def test_the_guide_names_the_oldest_runtime_that_is_declared():
    guide = (ROOT / "docs" / "guides" / "elsewhere.md").read_text(encoding="utf-8")
    assert f"onnxruntime {floor().removesuffix('.0')} and later" in guide
