"""Results that follow from the published data alone: Cao's start leaves nothing to chance."""

from __future__ import annotations

import json
import warnings

import pandas as pd
import pytest

from catalpa import KModes
from catalpa.metrics import adjusted_rand, clustering_accuracy

# Accuracy and adjusted Rand index of batch k-modes from Cao's rows. Ties between categories go to the
# lowest code, so the tables are read in the authors' own codes, as integers.
CAO = {
    "CA": (4, 0.4936, 0.1331),
    "SB": (15, 0.5301, 0.3206),
    "NU": (5, 0.3673, 0.0649),
    "CC": (3, 0.3564, -0.0134),
    "AP": (2, 0.5503, 0.0033),
    "DT": (6, 0.5670, 0.4040),
    "AV": (2, 0.6035, -0.0121),
    "OB": (7, 0.2681, 0.0381),
    "TA": (3, 0.3907, 0.0112),
    "BM": (2, 0.6964, 0.0582),
    "CV": (2, 0.8644, 0.5298),
    "ZO": (7, 0.6733, 0.5884),
}


@pytest.mark.parametrize("name", CAO)
def test_k_modes_from_caos_rows(data_home, name):
    k, accuracy, rand = CAO[name]
    codes = json.loads((data_home / "paper" / "codes.json").read_text(encoding="utf-8"))[name]
    path = next((data_home / "paper").glob(f"{name}.csv*"))
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    coded = table.apply(lambda column: column.map(codes[column.name]).astype(int))
    features = coded.drop(columns="class")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KModes(k, init="cao", empty_clusters="keep", categorical_features=list(features)).fit(
            features
        )
    assert round(clustering_accuracy(coded["class"], model.labels_), 4) == accuracy
    assert round(adjusted_rand(coded["class"], model.labels_), 4) == rand
