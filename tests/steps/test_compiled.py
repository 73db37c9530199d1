"""Which core runs, and how it lays out a block."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from catalpa.errors import ParameterError, SlowCoreWarning
from catalpa.steps import compiled
from catalpa.steps.assign import Memory, assign_and_count, label_rows
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import Axis, Block


def block(n: int, axis: Axis) -> Block:
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, width, n) for width in axis.widths], axis=1)
    return Block(codes.astype(axis.dtype), np.zeros((n, 0)))


def test_the_fastest_instruction_set_is_used_unless_another_is_named(levels, core):
    with core(""):
        assert compiled.description() == f"C++ core ({levels[0]})"
    with core("BASELINE"):
        assert compiled.description() == "C++ core (baseline)"


def test_the_reference_runs_on_request_and_in_silence(core, monkeypatch):
    monkeypatch.setattr(compiled, "_core", None)
    with core("numpy"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled.description() == "NumPy reference"


def test_a_missing_core_is_said_once(core, monkeypatch):
    monkeypatch.setattr(compiled, "_core", None)
    compiled._warn_slow.cache_clear()
    with core(""):
        with pytest.warns(SlowCoreWarning, match="reinstall catalpa"):
            assert not compiled.available()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not compiled.available()


@pytest.mark.usefixtures("levels")
def test_an_unknown_core_is_refused_with_the_ones_there_are(core):
    with core("abacus"), pytest.raises(ParameterError, match=r"'abacus'.*numpy.*baseline"):
        compiled.description()


@pytest.mark.usefixtures("levels")
def test_twenty_columns_of_five_take_seven_bytes_a_row():
    axis = Axis((5,) * 20)
    packed = compiled.pack(block(80_000, axis), axis, 5)
    assert packed.fused.nbytes == 7 * 80_000
    assert packed.present is None


@pytest.mark.usefixtures("levels")
def test_what_the_core_prepared_of_a_block_does_not_travel():
    axis = Axis((2, 3))
    memory = Memory(packed=compiled.pack(block(120, axis), axis, 2))
    assert memory.packed.groups == ((0, 1),)
    assert len(memory.packed.fused) == 120
    assert pickle.loads(pickle.dumps(memory)).packed is None


@pytest.mark.usefixtures("levels")
@pytest.mark.parametrize("column", [0, 1])
def test_codes_beyond_their_column_are_refused(column):
    axis = Axis((2, 300))
    rows = block(200, axis)
    rows.codes[150, column] = axis.sizes[column]
    with pytest.raises(ParameterError, match="beyond the categories"):
        compiled.pack(rows, axis, 2)


def test_rows_that_are_no_contiguous_array_are_read_right(levels, core):
    axis = Axis((3, 4))
    rng = np.random.default_rng(1)
    wide = rng.integers(0, 3, (60, 4)).astype(np.uint8)
    strided = Block(wide[::2, ::2], rng.random((60, 2))[::2], np.arange(60)[::2])
    fixed = to_fixed_point(Scores.of(rng.random((7, 3)), means=rng.random((3, 2))), axis)
    with core("numpy"):
        expected, _ = assign_and_count(strided, None, fixed)
    with core(levels[0]):
        found, _ = assign_and_count(strided, None, fixed)
    assert (found.cost, found.by_category.tolist()) == (expected.cost, expected.by_category.tolist())


def test_fused_tables_stay_here_when_scores_travel(levels, core):
    axis = Axis((3, 4))
    fixed = to_fixed_point(Scores.of(np.random.default_rng(2).random((7, 3))), axis)
    rows = block(50, axis)
    with core(levels[0]):
        labels = label_rows(rows, fixed)
        assert fixed.prepared
        travelled = pickle.loads(pickle.dumps(fixed))
        assert travelled.prepared == {}
        np.testing.assert_array_equal(label_rows(rows, travelled), labels)


def test_labels_take_one_byte_up_to_256_clusters(levels, core):
    axis = Axis((3,))
    rows = block(9, axis)
    for k, kind in ((256, np.uint8), (257, np.uint16)):
        with core(levels[0]):
            _, memory = assign_and_count(rows, None, to_fixed_point(Scores.of(np.eye(3, k)), axis))
        assert memory.labels.dtype == kind
