"""A fitted model as an ONNX graph whose labels are those of ``predict``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import catalpa
from catalpa.errors import OnnxError
from catalpa.model.scoring import Scoring
from catalpa.table.blocks import FARTHEST, IGNORED, TICK_BITS, UNSEEN
from catalpa.table.schema import Category, Column, category_key

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


class _Labels:
    """The steps from the columns to the label, in the order of ``steps.reference``."""

    def __init__(self, graph: _Graph, scoring: Scoring, missing_text: str) -> None:
        self.graph = graph
        self.scoring = scoring
        self.missing_text = missing_text
        self.refused: list[str] = []  # one mask (rows, 1) per column that has cells which predict refuses

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
        known = _known(column)
        types = {category_key(value)[0] for value in known}
        if column.binned:
            codes = self._bins(column)
        elif types == {"text"}:
            codes = self._texts(column, known)
        elif types == {"boolean"} and _without_gaps(column, "bool"):
            flags = self.graph.op(
                "Cast", self.graph.column(column.name, TensorProto.BOOL), to=TensorProto.INT64
            )
            codes = self._looked_up(
                column, flags, keys_int64s=[int(value) for value in known if value is not None]
            )
        elif _whole(column, known):
            cells = self.graph.column(column.name, TensorProto.INT64)
            codes = self._looked_up(column, cells, keys_int64s=list(known))
        else:
            codes = self._numbers_that_name(column, known)
        if self._refusal(column) in (self._missing_place(column), self._unseen_place(column)):
            self.refused.append(self.graph.op("Equal", codes, self.graph.whole(self._refusal(column))))
        return codes

    def _refusal(self, column: Column) -> int:
        return column.size + 1 + max(IGNORED, UNSEEN)

    def _unseen_place(self, column: Column) -> int:
        place = self.scoring.unseen_place(column)
        return self._refusal(column) if place is None else place

    def _missing_place(self, column: Column) -> int:
        place = self.scoring.missing_place(column)
        return self._refusal(column) if place is None else place

    def _texts(self, column: Column, known: Sequence[Category]) -> str:
        if self.missing_text in known:
            raise OnnxError(
                f"Column {column.name!r} has the category {self.missing_text!r}, which would stand for a "
                "missing cell. Name a text that no column holds by missing_text."
            )
        cells = self.graph.column(column.name, TensorProto.STRING)
        places = [*range(len(known)), self._missing_place(column)]
        return self._looked_up(column, cells, places, keys_strings=[*known, self.missing_text])

    def _looked_up(self, column: Column, cells: str, places: Sequence[int] | None = None, **keys: Any) -> str:
        ((_, listed),) = keys.items()
        places = range(len(listed)) if places is None else places
        words = {"values_int64s": list(places), "default_int64": self._unseen_place(column)}
        return self.graph.op("LabelEncoder", cells, domain="ai.onnx.ml", **keys, **words)

    def _numbers_that_name(self, column: Column, known: Sequence[Category]) -> str:
        """Codes of categories that are numbers: missing ones, and fractions, take doubles."""
        graph = self.graph
        cells = graph.column(column.name, TensorProto.DOUBLE)
        hits = graph.op("Equal", cells, graph.constant(_doubles(column, known)))
        at = graph.op("Where", hits, graph.whole(np.arange(len(known))[None, :]), graph.whole(-1))
        codes = graph.op("ReduceMax", at, axes=[1], keepdims=1)
        known_cell = graph.op("GreaterOrEqual", codes, graph.whole(0))
        codes = graph.op("Where", known_cell, codes, graph.whole(self._unseen_place(column)))
        return graph.op("Where", self._seen(cells), codes, graph.whole(self._missing_place(column)))

    def _bins(self, column: Column) -> str:
        """A number on a border belongs to the bin above it."""
        graph = self.graph
        cells = graph.column(column.name, TensorProto.DOUBLE)
        above = graph.op("GreaterOrEqual", cells, graph.constant([column.edges or ()]))
        codes = graph.op(
            "ReduceSum", graph.op("Cast", above, to=TensorProto.INT64), graph.whole([1]), keepdims=1
        )
        return graph.op("Where", self._seen(cells), codes, graph.whole(self._missing_place(column)))

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
            away = graph.op(
                "Abs", graph.op("Sub", number, graph.constant(np.where(there, means, 0.0)[None, :]))
            )
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
        graph, scaling = self.graph, self.scoring.scaling
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


def _known(column: Column) -> tuple[Category, ...]:
    """The categories that are not the missing one, all of one type that ONNX has."""
    known = tuple(value for value in column.categories if value is not None)
    types = sorted({category_key(value)[0] for value in known})
    told = f"{column.dtype.name} {column.dtype.inner}".lower()
    if len(types) > 1 or types == ["list"]:
        raise OnnxError(
            f"Column {column.name!r} holds {' and '.join(types)} categories, and an input of ONNX holds "
            "values of one type. Convert it to text and fit again."
        )
    if not column.binned and ("date" in told or "time" in told):
        raise OnnxError(
            f"Column {column.name!r} holds dates or times, which ONNX does not have. Convert it to text and "
            "fit again."
        )
    return known


def _whole(column: Column, known: Sequence[Category]) -> bool:
    """Whether the column is of integers without gaps; one of doubles may meet fractions and gaps later."""
    return _without_gaps(column, "int") and all(isinstance(one, int) for one in known)


def _without_gaps(column: Column, kind: str) -> bool:
    """Whether the column is of this type and had no missing cell: an input of it then holds any cell."""
    return column.dtype.name.lower().lstrip("u").startswith(kind) and column.missing_code is None


def _doubles(column: Column, known: Sequence[Category]) -> list[list[float]]:
    """Categories as doubles (1, categories), if they are the same numbers then."""
    doubles = [float(value) for value in known if value is not None]
    if doubles != list(known):
        raise OnnxError(
            f"Column {column.name!r} has whole numbers above 2**53 and is not of integers: doubles, which "
            "hold missing cells too, skip some of them. Convert it to text and fit again."
        )
    return [doubles]
