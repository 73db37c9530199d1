"""Export a fitted model as an ONNX graph with the labels of ``predict``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import catalpa
from catalpa.model.onnx_inputs import (
    CERTAINTY,
    LABEL,
    OUTLIER_SCORE,
    PROBABILITIES,
    InputType,
    OnnxInput,
    onnx_inputs,
)
from catalpa.model.scoring import Scoring
from catalpa.table.blocks import FARTHEST, SPECIAL_PLACES, TICK_BITS
from catalpa.table.schema import Column

# Old enough for current runtimes, new enough for all operations on doubles and 64-bit integers.
OPSET, ML_OPSET, IR = 17, 3, 8
REFUSED = -1  # label of a row for which predict raises an error
OUTLIER = -1  # label of an outlier, if outliers are labelled
TENSOR_TYPES = {
    InputType.STRING: TensorProto.STRING,
    InputType.DOUBLE: TensorProto.DOUBLE,
    InputType.INT64: TensorProto.INT64,
}
_Output: TypeAlias = tuple[str, str, int, list[Any]]  # its name, the node, the type and the shape
# Operators that are wrong or missing in some runtime for inputs of this type; no graph contains them. On
# processors with AVX-512, onnxruntime 1.23 to 1.31 returns wrong minima and maxima of 64-bit integers from
# 2**31 on. onnxruntime 1.31 sums them in double precision. Older versions lack ArgMax and ArgMin for them.
UNSOUND = {
    (operator, TensorProto.INT64)
    for operator in ("Min", "Max", "ReduceMin", "ReduceMax", "ReduceSum", "ReduceMean", "ArgMin", "ArgMax")
}


def onnx_model(
    scoring: Scoring, *, missing_text: str, probabilities: bool, method: str, names: Sequence[str]
) -> onnx.ModelProto:
    """The graph: one look-up per column, the sums, and the nearest cluster; see ``Clusterer.to_onnx``."""
    inputs = onnx_inputs(scoring, missing_text)
    graph = _Graph(scoring, inputs, missing_text)
    outputs = graph.outputs(probabilities=probabilities)
    model = helper.make_model(
        helper.make_graph(graph.nodes, "catalpa", graph.input_infos, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR,
        producer_name="catalpa",
        producer_version=catalpa.__version__,
    )
    notes = {
        "method": method,
        "cluster_names": json.dumps(list(names)),
        "inputs": json.dumps({entry.column.name: entry.name for entry in inputs}),
        "missing_text": missing_text,
    }
    helper.set_model_props(model, notes)
    onnx.checker.check_model(model)
    return model


class _Graph:
    """The steps from the columns to the outputs, in the order of ``steps.reference``.

    The costs of a row are a sum of terms (rows, k), one per categorical column and one for all numbers. A
    term is computed from inputs and ``codes``, which may be requested several times.
    """

    def __init__(self, scoring: Scoring, inputs: Sequence[OnnxInput], missing_text: str) -> None:
        self.scoring = scoring
        self.inputs = {entry.column.name: entry for entry in inputs}
        self.missing_text = missing_text
        self.input_infos = [
            helper.make_tensor_value_info(entry.name, TENSOR_TYPES[entry.type], ["rows", 1])
            for entry in inputs
        ]
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.refused: list[str] = []  # per column, a mask (rows, 1) of cells that predict rejects
        self._codes: dict[str, str] = {}
        # No input name begins with it, so names inside the graph cannot clash with inputs.
        self.prefix = "catalpa/"
        while any(entry.name.startswith(self.prefix) for entry in inputs):
            self.prefix = f"_{self.prefix}"

    def op(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output. An input is a name or a constant value."""
        name = f"{self.prefix}{kind}_{len(self.nodes)}"
        named = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.nodes.append(helper.make_node(kind, named, [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, values: Any) -> str:
        """A constant of 64-bit integers, doubles or Booleans, by the type of the values."""
        name, array = f"{self.prefix}constant_{len(self.constants)}", np.asarray(values)
        array = array.astype(np.int64) if array.dtype.kind == "i" else array
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def outputs(self, *, probabilities: bool) -> list[Any]:
        """Add all nodes and return the outputs."""
        total = self.total()
        smallest = self._row_minimum(total)
        soft = self._soft(total, smallest) if probabilities or self.scoring.outliers_above is not None else []
        label = self._label(total, smallest)
        if self.scoring.outliers_above is not None:
            score = soft[-1][1]  # NaN in rows that predict refuses, whose label is -1 anyway
            label = self.op("Where", self.op("Greater", score, self.scoring.outliers_above), OUTLIER, label)
        outputs: list[_Output] = [
            (LABEL, label, TensorProto.INT64, ["rows"]),
            *(soft if probabilities else ()),
        ]
        for name, node, _, _ in outputs:
            self.nodes.append(helper.make_node("Identity", [node], [name], name=f"{self.prefix}{name}"))
        return [helper.make_tensor_value_info(name, kind, shape) for name, _, kind, shape in outputs]

    def total(self) -> str:  # (rows, k) int64
        """Cost of each row in each cluster, in quanta."""
        fixed, total = self.scoring.fixed, self.constant(self.scoring.fixed.anchor[None, :])
        for (column, costs), parent in zip(self.scoring.parts, self.scoring.parents, strict=True):
            # One more entry with cost 0, for rejected cells.
            table = np.vstack([costs, np.zeros((1, fixed.k), dtype=np.int64)])
            codes = self.codes(column) if parent is None else self._pair_codes(column, parent)
            total = self.op("Add", total, self.op("Gather", table, self.op("Reshape", codes, [-1])))
        return self.op("Add", total, self._number_part()) if fixed.n_numeric else total

    def _pair_codes(self, column: Column, parent: Column) -> str:  # (rows, 1) int64
        """Codes of a tied column together with those of its parent."""
        child, above = self._unrefused(column), self._unrefused(parent)
        return self.op("Add", self.op("Mul", above, column.size + SPECIAL_PLACES), child)

    def _unrefused(self, column: Column) -> str:
        """Codes of a column; 0 for rejected cells, because the label of their row is replaced anyway."""
        codes = self.codes(column)
        refused = self.op("Equal", codes, self.scoring.refused_place(column))
        return self.op("Where", refused, 0, codes)

    def _row_minimum(self, total: str) -> str:  # (rows, 1) int64
        """Smallest entry of each row, by comparing halves: minima of 64-bit integers are UNSOUND."""
        width = self.scoring.fixed.k
        while width > 1:
            half = (width + 1) // 2  # for odd widths both halves contain the middle entry
            left = self.op("Slice", total, [0], [half], [1])
            right = self.op("Slice", total, [width - half], [width], [1])
            total, width = self.op("Where", self.op("Less", left, right), left, right), half
        return total

    def _label(self, total: str, smallest: str) -> str:  # (rows,) int64
        within = self.op("LessOrEqual", total, self.op("Add", smallest, self.scoring.fixed.tie))
        nearest = self.op("ArgMax", self.op("Cast", within, to=TensorProto.INT32), axis=1, keepdims=0)
        return self._unless_refused(nearest, REFUSED)

    def _soft(self, total: str, smallest: str) -> list[_Output]:
        """Membership probabilities, the largest of them, and the outlier score."""
        density, minus_quantum = self.scoring.density_scale, -self.scoring.fixed.quantum
        assert density is not None  # the estimator rejects methods without probabilities
        # Relative to the smallest cost, so that one of the exponentials is 1.
        behind = self.op("Cast", self.op("Sub", total, smallest), to=TensorProto.DOUBLE)
        odds = self.op("Exp", self.op("Mul", behind, minus_quantum))
        odds_sum = self.op("ReduceSum", odds, [1], keepdims=1)
        shares = self.op("Div", odds, odds_sum)
        certainty = self.op("Reshape", self.op("ReduceMax", shares, axes=[1], keepdims=1), [-1])
        nearest = self.op("Mul", self.op("Cast", smallest, to=TensorProto.DOUBLE), minus_quantum)
        log_density = self.op("Add", nearest, self.op("Log", odds_sum))
        below = self.op("Max", self.op("Sub", density.low, log_density), 0.0)
        score = self.op("Reshape", self.op("Div", below, density.spread), [-1])
        return [
            (
                PROBABILITIES,
                self._unless_refused(shares, np.nan, by_row=True),
                TensorProto.DOUBLE,
                ["rows", self.scoring.fixed.k],
            ),
            (CERTAINTY, self._unless_refused(certainty, np.nan), TensorProto.DOUBLE, ["rows"]),
            (OUTLIER_SCORE, self._unless_refused(score, np.nan), TensorProto.DOUBLE, ["rows"]),
        ]

    def _unless_refused(self, values: str, instead: float, *, by_row: bool = False) -> str:
        """Values (rows,), or (rows, k) with ``by_row``; ``instead`` in rows that predict rejects."""
        for mask in self.refused:
            values = self.op("Where", mask if by_row else self.op("Reshape", mask, [-1]), instead, values)
        return values

    def codes(self, column: Column) -> str:  # (rows, 1) int64
        """Index of every cell in its column's part of the table."""
        if column.name not in self._codes:
            self._codes[column.name] = self._new_codes(column)
        return self._codes[column.name]

    def _new_codes(self, column: Column) -> str:
        entry = self.inputs[column.name]
        if column.binned:
            codes = self._bins(column, entry.name)
        elif entry.type is InputType.DOUBLE:
            codes = self._numbers_that_name(column, entry.name)
        else:
            places: dict[Any, int] = {value: at for at, value in enumerate(column.known)}
            keys = "keys_int64s"
            if entry.type is InputType.STRING:
                keys, places[self.missing_text] = "keys_strings", self.scoring.missing_place(column)
            codes = self._looked_up(column, entry.name, keys, places)
        refused = self.scoring.refused_place(column)
        if refused in (self.scoring.missing_place(column), self.scoring.unseen_place(column)):
            self.refused.append(self.op("Equal", codes, refused))
        return codes

    def _looked_up(self, column: Column, cells: str, keys: str, places: Mapping[Any, int]) -> str:
        words = {keys: list(places), "values_int64s": list(places.values())}
        unseen = self.scoring.unseen_place(column)
        return self.op("LabelEncoder", cells, domain="ai.onnx.ml", **words, default_int64=unseen)

    def _numbers_that_name(self, column: Column, cells: str) -> str:
        """Codes of categories that are numbers or booleans, given as doubles."""
        codes = self.constant(self.scoring.unseen_place(column))
        if column.known:
            hits = self.op("Equal", cells, np.array([column.known], dtype=np.float64))
            place = self._exact_sum(hits, np.arange(1, len(column.known) + 1))  # 0 without a match
            known_cell = self.op("Greater", place, 0)
            codes = self.op("Where", known_cell, self.op("Sub", place, 1), codes)
        return self._or_missing(column, cells, codes)

    def _bins(self, column: Column, cells: str) -> str:
        """Codes of bins; a number on an edge belongs to the bin above it."""
        edges = np.array([column.edges or ()], dtype=np.float64)
        if not edges.size:
            return self._or_missing(column, cells, self.constant(0))
        above = self.op("GreaterOrEqual", cells, edges)
        return self._or_missing(column, cells, self._exact_sum(above, np.ones(edges.size)))

    def _exact_sum(self, flags: str, values: Any) -> str:  # (rows, 1) int64
        """Sum of the values whose flags (rows, values) are set, in doubles, which are exact here."""
        ones = self.op("Cast", flags, to=TensorProto.DOUBLE)
        added = self.op("MatMul", ones, np.asarray(values, dtype=np.float64)[:, None])
        return self.op("Cast", added, to=TensorProto.INT64)

    def _or_missing(self, column: Column, cells: str, codes: str) -> str:
        missing = self.constant(self.scoring.missing_place(column))
        return self.op("Where", self._seen(cells), codes, missing)

    def _seen(self, cells: str) -> str:
        """True where a number is finite: only a finite number minus itself is 0."""
        return self.op("Equal", self.op("Sub", cells, cells), 0.0)

    def _number_part(self) -> str:  # (rows, k) int64
        fixed, parts = self.scoring.fixed, []
        for at, column in enumerate(self.scoring.schema.numeric):
            number, seen = self._scaled(at, column)
            if self.scoring.schema.missing_of(column) == "error":
                self.refused.append(self.op("Not", seen))
            means, scale, level = (values[None, :, at] for values in (fixed.means, fixed.scale, fixed.level))
            there = ~np.isnan(means)  # a cluster without this number has no distance
            away = self.op("Abs", self.op("Sub", number, np.where(there, means, 0.0)))
            measured = self.op("Mul", away, away) if fixed.power == 2 else away
            term = self.op("Add", level, self.op("Mul", scale, measured))
            parts.append(self.op("Where", self.op("And", seen, there), term, 0.0))
        total = reduce(partial(self.op, "Add"), parts)
        capped = self.op("Min", total, float(fixed.number_limit))
        quanta = self.op("Round", self.op("Mul", capped, 2.0**fixed.shift))
        return self.op("Cast", quanta, to=TensorProto.INT64)

    def _scaled(self, at: int, column: Column) -> tuple[str, str]:
        """A number in ticks of its range, as in ``Scaling.apply``, and whether it is finite."""
        scaling, cells = self.scoring.schema.scaling, self.inputs[column.name].name
        seen, low = self._seen(cells), float(scaling.low[at])
        half = self.op("Div", self.op("Where", seen, cells, low), 2.0)
        unit = self.op("Div", self.op("Sub", half, low / 2), float(scaling.half_span[at]))
        lowest, highest = (0.0, 1.0) if scaling.clipped[at] else (-FARTHEST, FARTHEST)
        unit = self.op("Clip", unit, lowest, highest)
        ticks = self.op("Round", self.op("Mul", unit, 2.0**TICK_BITS))
        return self.op("Div", ticks, 2.0**TICK_BITS), seen
