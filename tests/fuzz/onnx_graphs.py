"""Models of odd tables as ONNX graphs: labels equal to the bit, probabilities to 1e-6.

``python tools/check_onnx.py`` runs the same cases on the oldest and the newest runtime.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
from onnx import TensorProto

from catalpa.cluster.registry import METHODS
from catalpa.errors import CatalpaError, OnnxError

MISSING = "(none)"  # no column holds it
NAMES = (
    *("label", "probabilities", "certainty", "outlier_score", "LabelEncoder_0", "constant_0", "", " "),
    *("input_0", "input_1", "catalpa/", "catalpa/Add_3", "catalpa/constant_0", "_catalpa/", "rows", "größe"),
    *('a"b', "a\x00b", "x" * 300, "🌳", "Reshape_1", "Identity"),
)
TEXTS = (
    "",
    " ",
    "x",
    "X",
    "é",
    "e\u0301",
    "nan",
    "None",
    "1",
    "1.0",
    "🌳",
    "'; --",
    '"',
    "\\",
    "\n",
    "y" * 500,
)
COLUMNS: dict[str, Callable[[np.random.Generator, Any], pd.Series]] = {
    "letters": lambda rng, group: _mixed(rng, group, np.array(list("abcdefghijklm"), dtype=object)),
    "texts": lambda rng, group: _mixed(rng, group, np.array(TEXTS, dtype=object)),
    "wide": lambda rng, group: _mixed(rng, group, np.array([f"town {at}" for at in range(60)], dtype=object)),
    "codes": lambda rng, group: _mixed(rng, group, np.arange(-2, 12)),
    "nullable": lambda rng, group: _holed(rng, _mixed(rng, group, np.arange(14)).astype("Int64")),
    "large": lambda rng, group: _mixed(rng, group, 2**53 - 3 + np.arange(14)),
    "truths": lambda rng, group: _mixed(rng, group, np.array([False, True])),
    "nullable truths": lambda rng, group: _holed(
        rng, _mixed(rng, group, np.array([False, True])).astype("boolean")
    ),
    "halves": lambda rng, group: _holed(rng, _mixed(rng, group, np.arange(14) / 2)),
    "ordered": lambda rng, group: _holed(
        rng, pd.Series(pd.Categorical(_mixed(rng, group, np.array(list("smlx"))), list("smlx"), ordered=True))
    ),
    "normal": lambda rng, group: _holed(rng, pd.Series(group * 2.0 + rng.normal(size=len(group)))),
    "spiked": lambda rng, group: pd.Series(
        np.where(rng.random(len(group)) < 0.6, 0.0, rng.exponential(1 + group))
    ),
    "sizes": lambda rng, group: pd.Series(10.0 ** rng.integers(-300, 300, len(group))),
    "empty": lambda _, group: pd.Series([None] * len(group), dtype=object),
}
SUMS = [name for name in METHODS if name != "mcdc"]  # labels of MCDC are no sum over columns
OFTEN = ("grove",) * 6 + ("kmodes", "kprototypes", "disc", "harr")


@dataclass(frozen=True, eq=False)
class Case:
    """A graph, what it is given, and what it has to answer."""

    graph: bytes
    feeds: tuple[dict[str, Any], ...]  # the arrays of onnx_inputs, and the cells as another program has them
    labels: Any  # (rows,), -1 where predict refuses, or says that the row is an outlier
    probabilities: Any  # (rows, k), NaN where predict refuses, or None
    outlier_scores: Any  # (rows,), NaN where predict refuses, or None
    tied: bool  # whether a column is tied to another
    outliers: bool  # whether a row is labelled as an outlier


def fuzz(rng: Random, _folder: Path) -> str:
    """Fit a model with 2 to 12 clusters, write its graph and hold its answers against those of predict."""
    case = made(rng)
    if isinstance(case, str):
        return case
    session = onnxruntime.InferenceSession(case.graph, providers=["CPUExecutionProvider"])
    for feed in case.feeds:
        check(session.run(None, feed), case)
    if case.probabilities is None:
        return "hard"
    if case.outliers:
        return "outliers"
    return "tied" if case.tied else "soft"


def check(answers: list[Any], case: Case) -> None:
    labels, *soft = answers
    assert labels.tolist() == case.labels.tolist()
    if case.probabilities is not None:
        shares, certainty, scores = soft
        refused = np.isnan(case.outlier_scores)  # an outlier has the label -1 too, and probabilities
        kept = ~refused
        np.testing.assert_allclose(shares[kept], case.probabilities[kept], atol=1e-6, rtol=0)
        np.testing.assert_allclose(certainty[kept], case.probabilities[kept].max(axis=1), atol=1e-6, rtol=0)
        np.testing.assert_allclose(scores[kept], case.outlier_scores[kept], atol=1e-6, rtol=1e-9)
        assert np.isnan(shares[refused]).all()
        assert np.isnan(scores[refused]).all()


def made(rng: Random) -> Case | str:
    """A case, or how the table or its graph was refused."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        frame = table(rng)
        try:
            model = new_model(rng, frame).fit(frame, sample_weight=weights(rng, len(frame)))
        except CatalpaError:
            return "refused at fit"
        soft = hasattr(model, "predict_proba")
        try:
            graph = model.to_onnx(missing_text=MISSING, probabilities=soft)
        except OnnxError:
            return "refused by ONNX"
        given = {entry.name: entry.type.tensor_type.elem_type for entry in graph.graph.input}
        rows = odd_rows(frame, rng)
        for name, kind in zip(frame.columns, given.values(), strict=True):
            if kind == TensorProto.INT64:  # which has no missing value
                rows[name] = rows[name].where(rows[name].notna(), frame[name].iloc[0])
        labels, shares, scores = expected(model, rows, soft=soft)
        feeds = (raw_feed(rows, given), model.onnx_inputs(rows, missing_text=MISSING))
    tied = len(getattr(model, "tied_columns_", ())) > 0
    outliers = soft and bool(((labels < 0) & ~np.isnan(scores)).any())
    return Case(graph.SerializeToString(), feeds, labels, shares, scores, tied, outliers)


def table(rng: Random) -> pd.DataFrame:
    """Rows of several groups in columns of every type; some rows are there many times, some columns twice."""
    numpy_rng = np.random.default_rng(rng.randrange(2**32))
    rows = rng.choice((30, 80, 200, 400))
    if rng.random() < 0.3:
        return _chain(rng, numpy_rng, max(rows, 200))
    group = numpy_rng.integers(0, rng.randint(2, 12), rows)
    kinds = [rng.choice(sorted(COLUMNS)) for _ in range(rng.randint(1, 6))]
    names = rng.sample(NAMES, len(kinds)) if rng.random() < 0.5 else [f"c{at}" for at in range(len(kinds))]
    columns = dict[str, pd.Series]()
    for name, kind in zip(names, kinds, strict=True):
        again = columns and rng.random() < 0.4
        column = (
            _repeated(rng, numpy_rng, rng.choice(list(columns.values())))
            if again
            else COLUMNS[kind](numpy_rng, group)
        )
        columns[name] = column.rename(name)
    return pd.DataFrame(columns)


def _chain(rng: Random, numpy_rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Columns that each depend on the one before, in two groups: Grove ties them."""
    group = numpy_rng.integers(0, 2, rows)
    kinds = rng.sample(("letters", "codes", "nullable", "halves", "ordered"), rng.randint(2, 5))
    columns, above = dict[str, pd.Series](), numpy_rng.integers(0, 6, rows)
    for kind in kinds:
        chance = numpy_rng.random(rows) < rng.choice((0.1, 0.3))
        above = np.where(chance, numpy_rng.integers(0, 6, rows), above)
        columns[kind] = COLUMNS[kind](numpy_rng, above)
    columns["group"] = pd.Series(np.array(["a", "b"])[group])
    columns["number"] = pd.Series(group * 2.0 + numpy_rng.normal(size=rows))
    return pd.DataFrame(columns)


def _repeated(rng: Random, numpy_rng: np.random.Generator, column: pd.Series) -> pd.Series:
    """A column that says mostly what another one says, whichever group a row is in; Grove ties the two."""
    changed = numpy_rng.random(len(column)) < rng.choice((0.0, 0.05, 0.2))
    shuffled = column.iloc[numpy_rng.permutation(len(column))].reset_index(drop=True)
    return column.where(~changed, shuffled)


def _mixed(rng: np.random.Generator, group: Any, values: Any) -> pd.Series:
    """Each group mostly has one of the values."""
    own = rng.integers(0, len(values), group.max() + 1)[group]
    strength = rng.choice([0.4, 0.7, 1.0])
    chosen = np.where(rng.random(len(group)) < strength, own, rng.integers(0, len(values), len(group)))
    return pd.Series(values[chosen])


def _holed(rng: np.random.Generator, column: pd.Series) -> pd.Series:
    special_places = rng.random(len(column)) < rng.choice([0.0, 0.1, 0.4])
    return column.mask(special_places)


def weights(rng: Random, rows: int) -> list[float] | None:
    """None, whole weights, fractions, or weights that make ties of counts."""
    kinds = ((1, 2, 3), (0.5, 0.25), (1, 1, 2**30))
    return rng.choice((None, None, [rng.choice(rng.choice(kinds)) for _ in range(rows)]))


def new_model(rng: Random, frame: pd.DataFrame) -> Any:
    entry = METHODS[rng.choice(OFTEN if rng.random() < 0.7 else SUMS)]
    special_places = bool(frame.isna().to_numpy().any())
    wanted = {
        "n_clusters": rng.randint(2, 12),
        "random_state": rng.randrange(5),
        "n_init": 1,
        "missing": rng.choice(("category", "ignore") if special_places else ("category", "ignore", "error")),
        "handle_unknown": rng.choice(("ignore", "warn", "error")),
        "bins": rng.choice((None, 4)) if entry.mixed else 4,
        # As categories too: halves, and whole numbers that would be taken as numbers.
        "categorical_features": rng.choice((None, [frame.columns[0]])),
        "outliers": rng.choice((None, "label")),
    }
    model = entry.estimator()
    return model.set_params(**{name: wanted[name] for name in wanted if name in model.get_params()})


def odd_rows(frame: pd.DataFrame, rng: Random) -> pd.DataFrame:
    """The rows of the fit, and a few with cells of other rows, missing ones and such that fit never saw."""
    odd = frame.sample(min(len(frame), 15), random_state=rng.randrange(100)).astype(object)
    for name in frame.columns:
        cells = list(frame[name])
        for at in odd.index:
            if rng.random() < 0.3:
                odd.loc[at, name] = rng.choice((None, rng.choice(cells), _unseen(cells, rng)))
    return pd.concat([frame.astype(object), odd], ignore_index=True)


def _unseen(cells: list[Any], rng: Random) -> Any:
    """Something of the same type as the cells that is none of them; one of them where there is nothing."""
    (known, *_) = [cell for cell in cells if not pd.isna(cell)] or [None]
    if known is None or isinstance(known, bool | np.bool_):
        return known
    if isinstance(known, str):
        return rng.choice(("never seen", "A", "(unseen)", "1e5"))
    if isinstance(known, float):
        return rng.choice((1e300, -1e300, 0.123, -0.0, 5e-324, 2.0**60))
    return rng.choice((-7, 2**31, 2**53, 2**53 + 1, -(2**62)))


def expected(model: Any, rows: pd.DataFrame, *, soft: bool) -> tuple[Any, Any, Any]:
    """Labels, probabilities and outlier scores; a label of -1 where predict refuses a row."""
    parts = [rows]
    try:
        model.predict(rows)
    except CatalpaError:
        parts = [rows.iloc[[at]] for at in range(len(rows))]
    labels, shares, scores = [], [], []
    for part in parts:
        refused = False
        try:
            labels += [model.predict(part)]
        except CatalpaError:
            refused = True
            labels += [np.array([-1])]
        if soft:
            shares += [np.full((1, model.n_clusters_), np.nan) if refused else model.predict_proba(part)]
            scores += [np.array([np.nan]) if refused else model.outlier_scores(part)]
    whole = [np.concatenate(each) if each else None for each in (labels, shares, scores)]
    return whole[0], whole[1], whole[2]


def raw_feed(rows: pd.DataFrame, given: dict[str, int]) -> dict[str, Any]:
    """Cells as a program without Catalpa has them: inputs stand in the order of the columns."""
    feed = {}
    for at, (name, kind) in enumerate(given.items()):
        cells = rows.iloc[:, at]
        if kind == TensorProto.STRING:
            array = cells.where(cells.notna(), MISSING).to_numpy(dtype=object)
        elif kind == TensorProto.INT64:
            array = cells.to_numpy(dtype=object).astype(np.int64)
        else:
            array = np.array([np.nan if pd.isna(cell) else float(cell) for cell in cells])
        feed[name] = array[:, None]
    return feed
