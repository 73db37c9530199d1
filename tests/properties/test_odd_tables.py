"""Odd tables go through everything and meet no error but those that Catalpa raises on purpose."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import pandas as pd
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import catalpa
from catalpa.errors import CatalpaError
from catalpa.table import encode, infer

NAMES = st.sampled_from(["a", "b", "", " ", "größe", "a,b", "\n", "=1+1", "0", "cluster", "column\x00"])
WORDS = st.sampled_from(
    ["", " ", "x", "X", "é", "e\u0301", "nan", "None", "1", "1.0", "\x00", "🌳", "\u202e"]
)
CELLS = st.one_of(
    WORDS,
    st.text(max_size=3),
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
)
COLUMNS = st.sampled_from(
    [CELLS, WORDS, st.none(), st.integers(0, 3), st.floats(-1e300, 1e300), st.booleans(), st.uuids().map(str)]
)


@st.composite
def odd_frames(draw):
    n = draw(st.integers(1, 8))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=draw(st.integers(0, 9)) > 0))
    columns = [draw(st.lists(draw(COLUMNS), min_size=n, max_size=n)) for _ in names]
    frame = pd.concat([pd.Series(cells, dtype=object) for cells in columns], axis=1)
    frame.columns = names
    return frame if draw(st.booleans()) else frame.infer_objects()


def through_everything(frame, estimator, missing, k):
    """Encode, fit, predict, save and load; the loaded model must predict the same labels."""
    schema = infer(frame, missing=missing, numbers="keep")
    assert len(encode(frame, schema).rows) == len(frame)
    model = estimator(k, n_init=1, missing=missing, random_state=0).fit(frame)
    labels = model.predict(frame)
    assert len(labels) == len(model.labels_) == len(frame)
    assert model.cluster_sizes_.sum() == len(frame)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        assert catalpa.load(path).predict(frame).tolist() == labels.tolist()


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    frame=odd_frames(),
    estimator=st.sampled_from([catalpa.KModes, catalpa.DISC, catalpa.Grove]),
    missing=st.sampled_from(["category", "ignore", "error"]),
    k=st.integers(1, 3),
)
def test_an_odd_table_is_clustered_or_refused_with_an_error_of_ours(frame, estimator, missing, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            through_everything(frame, estimator, missing, k)
        except CatalpaError as refused:
            event(f"refused: {type(refused).__name__}")
        else:
            event("clustered")
