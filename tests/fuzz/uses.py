"""What is done with a model of an odd table: rows one by one, other programs, pages, batches, charts."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
from tests.fuzz.engines import new_model
from tests.fuzz.files import stop_after
from tests.fuzz.tables import CELLS, PLAIN

import catalpa
from catalpa import plot
from catalpa.errors import CatalpaError


def fuzz(rng: Random, folder: Path) -> str:
    """Fit a table, and do one thing with the model: refused with a sentence, or right."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        frame, use = table(rng), rng.choice(USES)
        try:
            model = new_model(rng).fit(frame)
        except CatalpaError:
            return "refused at fit"
        try:
            use(model, frame, rng, folder)
        except CatalpaError:
            return f"{use.__name__} refused"
        return use.__name__


def table(rng: Random, n: int | None = None) -> pd.DataFrame:
    """A frame whose columns have the types that pandas finds for them, some of the newer ones."""
    n = n or rng.choice((2, 5, 30, 200))
    columns = {}
    for at in range(rng.randint(1, 4)):
        cell = CELLS[rng.choice(PLAIN if rng.random() < 0.9 else sorted(CELLS))]
        special_places = rng.choice((0, 0, 0.2))
        columns[f"c{at}"] = _typed([None if rng.random() < special_places else cell(rng) for _ in range(n)])
    frame = pd.DataFrame(columns)
    return frame.convert_dtypes() if rng.random() < 0.2 else frame


def _typed(cells: list[Any]) -> pd.Series:
    try:
        return pd.Series(cells)
    except (OverflowError, ValueError):  # durations that pandas' own type cannot hold
        return pd.Series(cells, dtype=object)


def odd_rows(frame: pd.DataFrame, rng: Random) -> pd.DataFrame:
    """Rows of the table with cells of others, missing ones and such that fit never saw."""
    rows = frame.sample(min(len(frame), 12), random_state=rng.randrange(100)).astype(object)
    for name in frame.columns:
        for at in rows.index:
            if rng.random() < 0.2:
                rows.loc[at, name] = rng.choice((None, rng.choice(list(frame[name]))))
    return rows.reset_index(drop=True)


def row_by_row(model: Any, frame: pd.DataFrame, rng: Random, _folder: Path) -> None:
    scorer, rows = pickle.loads(pickle.dumps(model.scorer())), odd_rows(frame, rng).to_dict("records")
    assert [scorer.predict_one(row) for row in rows] == scorer.predict(rows).tolist()
    assert [scorer.predict_one(list(row.values())) for row in rows] == scorer.predict(rows).tolist()
    if hasattr(model, "predict_proba"):
        shares = scorer.predict_proba(rows)
        assert np.array_equal(np.stack([scorer.predict_proba_one(row) for row in rows]), shares)
        assert np.allclose(shares.sum(axis=1), 1)


def in_onnx(model: Any, frame: pd.DataFrame, rng: Random, _folder: Path) -> None:
    soft = hasattr(model, "predict_proba")
    graph = model.to_onnx(missing_text="(none)", probabilities=soft).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    for rows in (frame, odd_rows(frame, rng)):
        labels, *more = session.run(None, model.onnx_inputs(rows, missing_text="(none)"))
        assert labels.tolist() == np.asarray(model.predict(rows)).tolist()
        if soft:
            assert np.allclose(more[0], model.predict_proba(rows), atol=1e-6, rtol=0)


def compared(model: Any, frame: pd.DataFrame, rng: Random, folder: Path) -> None:
    other = new_model(rng).fit(frame)
    weights = rng.choice((None, [rng.choice((0, 1, 2.5)) for _ in range(len(frame))]))
    found = catalpa.compare(model, other, frame, sample_weight=weights)
    assert 0 <= found.crosstab.staying <= 1
    repr(found), found.to_frame()
    found.save(folder / "page.html")


def drifted(model: Any, frame: pd.DataFrame, rng: Random, folder: Path) -> None:
    found = catalpa.drift(model, frame)
    assert not found.changed, found.changed  # of the rows that it was fitted on
    found = catalpa.drift(model, odd_rows(frame, rng))
    repr(found), found.to_json()
    found.save(folder / "page.html")


def chosen(model: Any, frame: pd.DataFrame, rng: Random, folder: Path) -> None:
    weights = rng.choice((None, [rng.choice((1, 2.5)) for _ in range(len(frame))]))
    choice = catalpa.choose_k(
        frame, range(1, 4), method=model, repeats=rng.choice((0, 2)), random_state=0, sample_weight=weights
    )
    repr(choice), choice._repr_html_(), choice.rows, choice.records
    choice.report().save(folder / "page.html")


def in_batches(model: Any, frame: pd.DataFrame, rng: Random, _folder: Path) -> None:
    if not hasattr(model, "partial_fit"):
        raise catalpa.errors.ParameterError("It takes no batches.")
    for _ in range(3):
        model.partial_fit(odd_rows(frame, rng))
    labels = np.asarray(model.predict(frame))
    assert ((labels >= 0) & (labels < model.n_clusters_)).all()
    repr(model.profiles_)


def named(model: Any, frame: pd.DataFrame, rng: Random, folder: Path) -> None:
    name = rng.choice(("sea mammals", "", "=1+1", "'; DROP", "\ud800", "a\x00b", "🌳", 7))
    model.name_clusters({rng.randrange(model.n_clusters_): name})
    model.save(folder / "named.json")
    again = catalpa.load(folder / "named.json")
    assert again.cluster_names_ == model.cluster_names_
    assert again.predict(frame).tolist() == model.predict(frame).tolist()
    again.to_sql()
    again.report(frame).to_json()


def drawn(model: Any, frame: pd.DataFrame, rng: Random, _folder: Path) -> None:
    draw = rng.choice(
        (
            lambda: plot.profile_map(model),
            lambda: plot.cost_per_pass(model),
            lambda: plot.cluster_sizes(model),
            lambda: plot.relation_grid(model),
            lambda: plot.category_map(model, frame),
            lambda: plot.row_map(model, frame),
            lambda: plot.silhouettes(model, frame),
            lambda: plot.number_boxes(model, frame),
        )
    )
    model.reasons(2)
    draw().to_json()


def resumed(model: Any, frame: pd.DataFrame, rng: Random, folder: Path) -> None:
    """A fit that was stopped after some passes goes on to the labels of one that was not."""
    if "checkpoint" not in model.get_params():
        raise catalpa.errors.ParameterError("It keeps no passes.")
    whole = np.asarray(model.labels_).tolist()
    model.set_params(checkpoint=str(folder / f"kept-{rng.randrange(2**60)}"))
    stop_after(rng.randint(1, 5), model, frame)
    assert np.asarray(model.set_params(callback=None).fit(frame).labels_).tolist() == whole


USES: tuple[Callable[[Any, pd.DataFrame, Random, Path], None], ...] = (
    row_by_row,
    in_onnx,
    compared,
    drifted,
    chosen,
    in_batches,
    named,
    drawn,
    resumed,
)
