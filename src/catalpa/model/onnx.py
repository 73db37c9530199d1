"""A fitted model as an ONNX graph whose labels are those of ``predict``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import catalpa
from catalpa.errors import OnnxError
from catalpa.model.scoring import Scoring, holds_moments, types_of
from catalpa.table.blocks import FARTHEST, TICK_BITS
from catalpa.table.schema import Column

# Old enough for the runtimes that are about, new enough for every operation on doubles and 64-bit integers.
OPSET, ML_OPSET, IR = 17, 3, 8
REFUSED = -1  # the label of a row that predict refuses


def onnx_model(scoring: Scoring, *, missing_text: str, method: str, names: Sequence[str]) -> onnx.ModelProto:
    """The graph of one look-up per column, the sums, and the nearest cluster; see ``Clusterer.to_onnx``."""
    if scoring.derived:
        raise OnnxError(
            f"The columns {scoring.derived} were taken by parts of dates or items of lists, which ONNX does "
            "not have. Make columns of them in the table, and fit again."
        )
    graph = _LabelGraph(scoring, missing_text)
    graph.nodes.append(helper.make_node("Identity", [graph.label()], ["label"]))
    output = helper.make_tensor_value_info("label", TensorProto.INT64, ["rows"])
    made = helper.make_graph(graph.nodes, "catalpa", graph.inputs, [output], graph.constants)
    model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR,
        producer_name="catalpa",
        producer_version=catalpa.__version__,
    )
    helper.set_model_props(model, {"method": method, "cluster_names": json.dumps(list(names))})
    onnx.checker.check_model(model)
    return model


class _LabelGraph:
    """The steps from the columns to the label, in the order of ``steps.reference``.

    Nodes have names that count up; what a node is called, nobody needs to know.
    """

    def __init__(self, scoring: Scoring, missing_text: str) -> None:
        self.scoring = scoring
        self.missing_text = missing_text
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []
        self.refused: list[str] = []  # a mask (rows, 1) per column that has cells which predict refuses

    def op(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node; gives the name of its output. An input is a name, or a value: a constant."""
        name = f"{kind}_{len(self.nodes)}"
        named = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.nodes.append(helper.make_node(kind, named, [name], domain=domain, **attributes))
        return name

    def constant(self, values: Any) -> str:
        """Whole numbers of 64 bits, doubles or Booleans, by the type of the values."""
        name, array = f"constant_{len(self.constants)}", np.asarray(values)
        array = array.astype(np.int64) if array.dtype.kind == "i" else array
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def column(self, name: str, kind: int) -> str:
        """An input of one column of the table, (rows, 1)."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["rows", 1]))
        return name

    def label(self) -> str:  # (rows,)
        fixed = self.scoring.fixed
        total = self.constant(fixed.anchor[None, :])
        for column, costs in self.scoring.parts:
            # A further place without costs, for cells that are refused.
            table = np.vstack([costs, np.zeros((1, fixed.k), dtype=np.int64)])
            rows = self.op("Reshape", self._codes(column), [-1])
            total = self.op("Add", total, self.op("Gather", table, rows))
        if fixed.n_numeric:
            total = self.op("Add", total, self._number_part())
        smallest = self.op("ReduceMin", total, axes=[1], keepdims=1)
        within = self.op("LessOrEqual", total, self.op("Add", smallest, fixed.tie))
        nearest = self.op("ArgMax", self.op("Cast", within, to=TensorProto.INT32), axis=1, keepdims=0)
        for mask in self.refused:
            nearest = self.op("Where", self.op("Reshape", mask, [-1]), REFUSED, nearest)
        return nearest

    def _codes(self, column: Column) -> str:  # (rows, 1)
        """The place of every cell in its column's part of the table."""
        types = _types(column)
        if column.binned:
            codes = self._bins(column)
        elif types == {"text"}:
            codes = self._texts(column)
        elif types == {"boolean"} and _without_gaps(column, "bool"):
            flags = self.column(column.name, TensorProto.BOOL)
            numbers = self.op("Cast", flags, to=TensorProto.INT64)
            places = {int(bool(value)): at for at, value in enumerate(column.known)}
            codes = self._looked_up(column, numbers, "keys_int64s", places)
        elif _without_gaps(column, "int") and all(_is_int64(one) for one in column.known):
            # One of doubles may meet fractions and gaps later.
            cells = self.column(column.name, TensorProto.INT64)
            codes = self._looked_up(column, cells, "keys_int64s", _places(column))
        else:
            codes = self._numbers_that_name(column)
        refused = self.scoring.refused_place(column)
        if refused in (self.scoring.missing_place(column), self.scoring.unseen_place(column)):
            self.refused.append(self.op("Equal", codes, refused))
        return codes

    def _texts(self, column: Column) -> str:
        if self.missing_text in column.known:
            raise OnnxError(
                f"Column {column.name!r} has the category {self.missing_text!r}, which would stand for a "
                "missing cell. Name a text that no column holds by missing_text."
            )
        cells = self.column(column.name, TensorProto.STRING)
        places = {**_places(column), self.missing_text: self.scoring.missing_place(column)}
        return self._looked_up(column, cells, "keys_strings", places)

    def _looked_up(self, column: Column, cells: str, keys: str, places: Mapping[Any, int]) -> str:
        words = {keys: list(places), "values_int64s": list(places.values())}
        unseen = self.scoring.unseen_place(column)
        return self.op("LabelEncoder", cells, domain="ai.onnx.ml", **words, default_int64=unseen)

    def _numbers_that_name(self, column: Column) -> str:
        """Codes of categories that are numbers: missing ones, and fractions, take doubles."""
        cells = self.column(column.name, TensorProto.DOUBLE)
        hits = self.op("Equal", cells, _doubles(column))
        places = self.op("Where", hits, np.arange(len(column.known))[None, :], -1)
        codes = self.op("ReduceMax", places, axes=[1], keepdims=1)
        known_cell = self.op("GreaterOrEqual", codes, 0)
        codes = self.op("Where", known_cell, codes, self.scoring.unseen_place(column))
        return self._or_missing(column, cells, codes)

    def _bins(self, column: Column) -> str:
        """A number on a border belongs to the bin above it."""
        cells = self.column(column.name, TensorProto.DOUBLE)
        above = self.op("GreaterOrEqual", cells, np.array([column.edges or ()], dtype=np.float64))
        ones = self.op("Cast", above, to=TensorProto.INT64)
        return self._or_missing(column, cells, self.op("ReduceSum", ones, [1], keepdims=1))

    def _or_missing(self, column: Column, cells: str, codes: str) -> str:
        missing = self.constant(self.scoring.missing_place(column))
        return self.op("Where", self._seen(cells), codes, missing)

    def _seen(self, cells: str) -> str:
        """Whether a number is there: only a finite one minus itself is 0."""
        return self.op("Equal", self.op("Sub", cells, cells), 0.0)

    def _number_part(self) -> str:  # (rows, k)
        fixed, parts = self.scoring.fixed, []
        for at, column in enumerate(self.scoring.schema.numeric):
            number, seen = self._scaled(at, column)
            if self.scoring.schema.missing == "error":
                self.refused.append(self.op("Not", seen))
            means, scale, level = (values[None, :, at] for values in (fixed.means, fixed.scale, fixed.level))
            there = ~np.isnan(means)  # of a cluster without such numbers there is nothing to measure
            away = self.op("Abs", self.op("Sub", number, np.where(there, means, 0.0)))
            measured = self.op("Mul", away, away) if fixed.power == 2 else away
            term = self.op("Add", level, self.op("Mul", scale, measured))
            parts.append(self.op("Where", self.op("And", seen, there), term, 0.0))
        total = reduce(partial(self.op, "Add"), parts)
        capped = self.op("Min", total, float(fixed.number_limit))
        quanta = self.op("Round", self.op("Mul", capped, 2.0**fixed.shift))
        return self.op("Cast", quanta, to=TensorProto.INT64)

    def _scaled(self, at: int, column: Column) -> tuple[str, str]:
        """A number in ticks of its range, as ``Scaling.apply`` has it, and whether it is there."""
        scaling = self.scoring.schema.scaling
        cells = self.column(column.name, TensorProto.DOUBLE)
        seen, low = self._seen(cells), float(scaling.low[at])
        half = self.op("Div", self.op("Where", seen, cells, low), 2.0)
        unit = self.op("Div", self.op("Sub", half, low / 2), float(scaling.half_span[at]))
        lowest, highest = (0.0, 1.0) if scaling.clipped[at] else (-FARTHEST, FARTHEST)
        unit = self.op("Clip", unit, lowest, highest)
        ticks = self.op("Round", self.op("Mul", unit, 2.0**TICK_BITS))
        return self.op("Div", ticks, 2.0**TICK_BITS), seen


def _types(column: Column) -> set[str]:
    """The type of the categories, if there are any, which ONNX has to have."""
    types = types_of(column, OnnxError, "an input of ONNX")
    if holds_moments(column):
        raise OnnxError(
            f"Column {column.name!r} holds dates or times, which ONNX does not have. Convert it to text and "
            "fit again."
        )
    return types


def _places(column: Column) -> dict[Any, int]:
    return {value: at for at, value in enumerate(column.known)}


def _without_gaps(column: Column, kind: str) -> bool:
    """Whether the column is of this type and had no missing cell: an input of it then holds any cell."""
    return column.dtype.name.lower().lstrip("u").startswith(kind) and column.missing_code is None


def _is_int64(value: object) -> bool:
    return isinstance(value, int) and -(2**63) <= value < 2**63


def _doubles(column: Column) -> list[list[float]]:
    """Categories as doubles (1, categories), if they are the same numbers then."""
    doubles = [float(value) for value in column.known if value is not None]
    if doubles != list(column.known):
        raise OnnxError(
            f"Column {column.name!r} has whole numbers above 2**53 and is not of integers: doubles, which "
            "hold missing cells too, skip some of them. Convert it to text and fit again."
        )
    return [doubles]
