"""A fitted model as an ONNX graph whose labels are those of ``predict``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    graph = _Graph()
    labels = _Labels(graph, scoring, missing_text).label()
    output = helper.make_tensor_value_info("label", TensorProto.INT64, ["rows"])
    graph.nodes.append(helper.make_node("Identity", [labels], ["label"]))
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


class _Graph:
    """Nodes under names that count up; what a node is called, nobody needs to know."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node; gives the name of its output."""
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, values: Any, dtype: type[np.generic] = np.float64) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=dtype), name))
        return name

    def whole(self, values: Any) -> str:
        return self.constant(values, np.int64)

    def column(self, name: str, kind: int) -> str:
        """An input of one column of the table, (rows, 1)."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["rows", 1]))
        return name


@dataclass(frozen=True, eq=False)
class _Labels:
    """The steps from the columns to the label, in the order of ``steps.reference``."""

    graph: _Graph
    scoring: Scoring
    missing_text: str
    # One mask (rows, 1) per column that has cells which predict refuses.
    refused: list[str] = field(default_factory=list)

    def label(self) -> str:  # (rows,)
        graph, fixed = self.graph, self.scoring.fixed
        total = graph.whole(fixed.anchor[None, :])
        for column, costs in self.scoring.parts:
            # A further place without costs, for cells that are refused.
            table = np.vstack([costs, np.zeros((1, fixed.k), dtype=np.int64)])
            rows = graph.op("Reshape", self._codes(column), graph.whole([-1]))
            total = graph.op("Add", total, graph.op("Gather", graph.whole(table), rows))
        if fixed.n_numeric:
            total = graph.op("Add", total, self._number_part())
        smallest = graph.op("ReduceMin", total, axes=[1], keepdims=1)
        within = graph.op("LessOrEqual", total, graph.op("Add", smallest, graph.whole(fixed.tie)))
        nearest = graph.op("ArgMax", graph.op("Cast", within, to=TensorProto.INT32), axis=1, keepdims=0)
        for mask in self.refused:
            flat = graph.op("Reshape", mask, graph.whole([-1]))
            nearest = graph.op("Where", flat, graph.whole(REFUSED), nearest)
        return nearest

    def _codes(self, column: Column) -> str:  # (rows, 1)
        """The place of every cell in its column's part of the table."""
        types = _types(column)
        if column.binned:
            codes = self._bins(column)
        elif types == {"text"}:
            codes = self._texts(column)
        elif types == {"boolean"} and _without_gaps(column, "bool"):
            flags = self.graph.column(column.name, TensorProto.BOOL)
            numbers = self.graph.op("Cast", flags, to=TensorProto.INT64)
            places = {int(bool(value)): at for at, value in enumerate(column.known)}
            codes = self._looked_up(column, numbers, "keys_int64s", places)
        elif _without_gaps(column, "int") and all(isinstance(one, int) for one in column.known):
            # One of doubles may meet fractions and gaps later.
            cells = self.graph.column(column.name, TensorProto.INT64)
            codes = self._looked_up(column, cells, "keys_int64s", _places(column))
        else:
            codes = self._numbers_that_name(column)
        refused = self.scoring.refused_place(column)
        if refused in (self.scoring.missing_place(column), self.scoring.unseen_place(column)):
            self.refused.append(self.graph.op("Equal", codes, self.graph.whole(refused)))
        return codes

    def _texts(self, column: Column) -> str:
        if self.missing_text in column.known:
            raise OnnxError(
                f"Column {column.name!r} has the category {self.missing_text!r}, which would stand for a "
                "missing cell. Name a text that no column holds by missing_text."
            )
        cells = self.graph.column(column.name, TensorProto.STRING)
        places = {**_places(column), self.missing_text: self.scoring.missing_place(column)}
        return self._looked_up(column, cells, "keys_strings", places)

    def _looked_up(self, column: Column, cells: str, keys: str, places: Mapping[Any, int]) -> str:
        words = {keys: list(places), "values_int64s": list(places.values())}
        unseen = self.scoring.unseen_place(column)
        return self.graph.op("LabelEncoder", cells, domain="ai.onnx.ml", **words, default_int64=unseen)

    def _numbers_that_name(self, column: Column) -> str:
        """Codes of categories that are numbers: missing ones, and fractions, take doubles."""
        graph = self.graph
        cells = graph.column(column.name, TensorProto.DOUBLE)
        hits = graph.op("Equal", cells, graph.constant(_doubles(column)))
        at = graph.op("Where", hits, graph.whole([range(len(column.known))]), graph.whole(-1))
        codes = graph.op("ReduceMax", at, axes=[1], keepdims=1)
        known_cell = graph.op("GreaterOrEqual", codes, graph.whole(0))
        codes = graph.op("Where", known_cell, codes, graph.whole(self.scoring.unseen_place(column)))
        return self._or_missing(column, cells, codes)

    def _or_missing(self, column: Column, cells: str, codes: str) -> str:
        missing = self.graph.whole(self.scoring.missing_place(column))
        return self.graph.op("Where", self._seen(cells), codes, missing)

    def _bins(self, column: Column) -> str:
        """A number on a border belongs to the bin above it."""
        graph = self.graph
        cells = graph.column(column.name, TensorProto.DOUBLE)
        above = graph.op("GreaterOrEqual", cells, graph.constant([column.edges or ()]))
        ones = graph.op("Cast", above, to=TensorProto.INT64)
        return self._or_missing(column, cells, graph.op("ReduceSum", ones, graph.whole([1]), keepdims=1))

    def _seen(self, cells: str) -> str:
        """Whether a number is there: only a finite one minus itself is 0."""
        return self.graph.op("Equal", self.graph.op("Sub", cells, cells), self.graph.constant(0.0))

    def _number_part(self) -> str:  # (rows, k)
        graph, fixed = self.graph, self.scoring.fixed
        parts = []
        for at, column in enumerate(self.scoring.schema.numeric):
            number, seen = self._scaled(at, column)
            if self.scoring.schema.missing == "error":
                self.refused.append(graph.op("Not", seen))
            means, scale, level = (values[:, at] for values in (fixed.means, fixed.scale, fixed.level))
            there = ~np.isnan(means)  # of a cluster without such numbers there is nothing to measure
            middle = graph.constant(np.where(there, means, 0.0)[None, :])
            away = graph.op("Abs", graph.op("Sub", number, middle))
            measured = graph.op("Mul", away, away) if fixed.power == 2 else away
            term = graph.op("Mul", graph.constant(scale[None, :]), measured)
            term = graph.op("Add", graph.constant(level[None, :]), term)
            counts = graph.op("And", seen, graph.constant(there[None, :], np.bool_))
            parts.append(graph.op("Where", counts, term, graph.constant(0.0)))
        total = parts[0]
        for part in parts[1:]:
            total = graph.op("Add", total, part)
        capped = graph.op("Min", total, graph.constant(fixed.number_limit))
        quanta = graph.op("Round", graph.op("Mul", capped, graph.constant(2.0**fixed.shift)))
        return graph.op("Cast", quanta, to=TensorProto.INT64)

    def _scaled(self, at: int, column: Column) -> tuple[str, str]:
        """A number in ticks of its range, as ``Scaling.apply`` has it, and whether it is there."""
        graph, scaling = self.graph, self.scoring.schema.scaling
        cells = graph.column(column.name, TensorProto.DOUBLE)
        seen = self._seen(cells)
        low = float(scaling.low[at])
        half = graph.op("Div", graph.op("Where", seen, cells, graph.constant(low)), graph.constant(2.0))
        unit = graph.op("Sub", half, graph.constant(low / 2))
        unit = graph.op("Div", unit, graph.constant(float(scaling.half_span[at])))
        lowest, highest = (0.0, 1.0) if scaling.clipped[at] else (-FARTHEST, FARTHEST)
        unit = graph.op("Clip", unit, graph.constant(lowest), graph.constant(highest))
        ticks = graph.op("Round", graph.op("Mul", unit, graph.constant(2.0**TICK_BITS)))
        return graph.op("Div", ticks, graph.constant(2.0**TICK_BITS)), seen


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


def _doubles(column: Column) -> list[list[float]]:
    """Categories as doubles (1, categories), if they are the same numbers then."""
    doubles = [float(value) for value in column.known if value is not None]
    if doubles != list(column.known):
        raise OnnxError(
            f"Column {column.name!r} has whole numbers above 2**53 and is not of integers: doubles, which "
            "hold missing cells too, skip some of them. Convert it to text and fit again."
        )
    return [doubles]
