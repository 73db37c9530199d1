"""A model file is refused with a sentence unless all its parts belong together; nothing in it is run."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.errors import ModelFileError

ROWS = pd.DataFrame({"a": list("xyxyxz"), "b": list("ppqqpp"), "n": [0.5, 1.5, 0.25, 9.5, 3.5, 2.25]})


def document_of(model, folder):
    model.save(folder / "model.json")
    return json.loads((folder / "model.json").read_text())


@pytest.fixture
def documents(tmp_path):
    kmodes = catalpa.KModes(2, random_state=0).fit(ROWS[["a", "b"]])
    sigdt = catalpa.SigDT(min_leaf=1).fit(ROWS[["a", "b"]])
    return {
        "KModes": document_of(kmodes, tmp_path),
        "SigDT": document_of(sigdt, tmp_path),
        "DISC": document_of(catalpa.DISC(2, random_state=0).fit(ROWS), tmp_path),
        "Grove": document_of(catalpa.Grove(2, random_state=0).fit(ROWS), tmp_path),
        "MCDC": document_of(catalpa.MCDC(2, random_state=0).fit(ROWS[["a", "b"]]), tmp_path),
        "CoForest": document_of(catalpa.CoForest(2, random_state=0).fit(ROWS[["a", "b"]]), tmp_path),
    }


def array(values, dtype="float64"):
    values = np.asarray(values, dtype=object)
    return {"dtype": dtype, "shape": list(values.shape), "values": values.tolist()}


def put(document, field, value):
    *way, last = field.split(".")
    for step in way:
        document = document[int(step) if isinstance(document, list) else step]
    document[int(last) if isinstance(document, list) else last] = value


def loaded(document, folder):
    path = folder / "changed.json"
    path.write_text(json.dumps(document))
    return catalpa.load(path)


WIDE = {f"scores.{name}": array(np.zeros((2, 7))) for name in ("means", "scale", "level")}
CASES = [
    # Each let the core read memory that is none of the model's, or loop, or gave a foreign error.
    ("KModes", WIDE, "'scores.means' has 7 numbers, but 0 fit"),
    ("KModes", {"scores.table": array(np.zeros((4, 2)))}, "'scores.table' has 4 places, but 5 fit"),
    ("KModes", {"scores.anchor": array(np.zeros(3))}, "'scores.anchor' has 3 clusters, but 2 fit"),
    ("KModes", {"scores.level": array(np.zeros((4, 0)))}, "'scores.level' has 4 clusters, but 2 fit"),
    (
        "KModes",
        {"counts.by_category": array(np.zeros((3, 5), int), "int64")},
        "'counts.by_category' has 3 clusters, but 2 fit",
    ),
    (
        "KModes",
        {"counts.seen": array(np.zeros((2, 2), int), "int64")},
        "'counts.seen' has 2 numbers, but 0 fit",
    ),
    ("KModes", {"centers": array([[0, 3], [0, 0]], "int64")}, "'centers' names categories"),
    ("KModes", {"centers": array([[0, -1], [0, 0]], "int64")}, "'centers' names categories"),
    ("KModes", {"centers": array([[0, 0.0], [0, 0]])}, "'centers' has the dtype float64"),
    ("KModes", {"counts.sizes": array([6, -1], "int64")}, "'counts' has negative counts"),
    ("KModes", {"counts.sizes": array([6, 0], "int64")}, "'counts.sizes' has a cluster without rows"),
    ("KModes", {"counts.sizes": array([6, 2**63 - 1], "int64")}, "'counts' has counts that are too large"),
    ("KModes", {"counts.sizes": array([6.0, 1.0])}, "'counts.sizes' has the dtype float64"),
    ("KModes", {"scores.anchor": array([0, 1], "int64")}, "'scores.anchor' has the dtype int64"),
    ("KModes", {"scores.anchor": array([0.0, "nan"])}, "'scores.anchor' has numbers that are not finite"),
    (
        "KModes",
        {"extra.facts": {"__class__": 3.0}},
        "'extra.facts' has ['__class__'], but this method stores",
    ),
    ("KModes", {"extra.facts": {"predict": 3.0}}, "'extra.facts' has ['predict']"),
    ("KModes", {"extra": {"learned": {}}}, "'extra.shared' is missing"),
    ("KModes", {"extra.learned": []}, "'extra.learned' is [], not an object"),
    ("KModes", {"soft_counts": 3}, "'soft_counts' is not an object"),
    ("KModes", {"fit.rows": "many"}, "'fit.rows' is 'many', not a whole number"),
    ("KModes", {"fit.rows": 0}, "0 rows"),
    ("KModes", {"fit.units_per_weight": 0.0}, "0 units per weight"),
    ("KModes", {"fit.rows": 10**400}, "rows and 1 units per weight"),
    ("KModes", {"fit.units_per_weight": "x"}, "'fit.units_per_weight' is 'x', not a finite number"),
    ("KModes", {"fit.cost": 10**400}, "'fit.cost' is 1000"),
    ("KModes", {"fit.history": [3]}, "'fit.history[0]' is not an object with phase, cost"),
    ("KModes", {"fit.history": [{"phase": "a"}]}, "'fit.history[0].cost' is missing"),
    ("KModes", {"fit.batches": {}}, "'fit.batches' is not a list"),
    ("KModes", {"parameters.n_clusters": "three"}, "n_clusters='three' is not valid"),
    ("KModes", {"parameters.colour": "red"}, "unexpected keyword argument 'colour'"),
    ("KModes", {"schema.missing": "perhaps"}, "missing is 'perhaps'"),
    ("DISC", {"scores.means": array([["inf"], [0.5]])}, "'scores.means' has numbers that are not finite"),
    (
        "DISC",
        {"scores.means": array([[1e200], [0.5]])},
        "'scores.means' has a mean farther than 256 ranges",
    ),
    ("DISC", {"fit.quartiles": array(np.zeros((2, 1)))}, "'fit.quartiles' has 2 dimensions; 3 are expected"),
    ("DISC", {"fit.quartiles": array(np.zeros((2, 2, 3)))}, "'fit.quartiles' has 2 numbers, but 1 fit"),
    ("DISC", {"fit.quartiles": array(np.zeros((3, 1, 3)))}, "'fit.quartiles' has 3 clusters, but 2 fit"),
    ("DISC", {"fit.quartiles": array(np.zeros((2, 1, 5)))}, "'fit.quartiles' has 5 quartiles, but 3 fit"),
    ("DISC", {"fit.quartiles": array(np.zeros((2, 1, 3), int), "int64")}, "quartiles' has the dtype int64"),
    ("DISC", {"fit.quartiles.values.0.0.1": "nan"}, "'fit.quartiles' has numbers that are not finite"),
    ("DISC", {"fit.quartiles.values.1.0.2": "inf"}, "'fit.quartiles' has numbers that are not finite"),
    ("DISC", {"fit.quartiles.values.0.0": [0.2, 0.3, 0.1]}, "quartiles' has a quartile that is above the"),
    ("DISC", {"fit.quartiles.values.0.0": [0.2, 0.3, 300.0]}, "has a quartile farther than 256 ranges"),
    ("DISC", {"fit.quartiles": None}, "'fit.quartiles' is None, not an object"),
    ("KModes", {"fit": {"rows": 6, "units_per_weight": 1.0}}, "'fit.quartiles' is missing"),
    ("DISC", {"extra.facts.gamma": None}, "'extra.facts.gamma' is not a finite number"),
    ("DISC", {"extra.learned.positions": array([1.0])}, "'extra.learned.positions' has 1 dimensions"),
    ("Grove", {"extra.facts.prior": -1.0}, "'extra.facts.prior' is -1"),
    ("Grove", {"extra.facts.density_low": 1.0, "extra.facts.density_high": 0.0}, "density_low' is above"),
    ("Grove", {"soft_counts": None}, "'soft_counts' is missing"),
    ("Grove", {"soft_counts.sizes": 3}, "field 'soft_counts.sizes'"),
    ("Grove", {"soft_counts.sizes": array([6.0, 1.0])}, "field 'soft_counts.sizes' has the dtype float64"),
    ("Grove", {"soft_counts.cost": 1.5}, "field 'soft_counts.cost' is 1.5, not a whole number"),
    ("Grove", {"soft_counts": {}}, "field 'soft_counts.by_category' is missing"),
    ("MCDC", {"extra.learned.modes": array([[0.0], [1.0]])}, "modes' has the dtype float64"),
    ("MCDC", {"extra.ragged.granules.0": array(np.zeros((5, 0)))}, "'extra.ragged.granules[0]' is empty"),
    ("CoForest", {"extra.ragged.distances": []}, "'extra.ragged.distances' has 0 arrays, but 2 fit"),
    (
        "CoForest",
        {"extra.ragged.distances.1": array(np.zeros((3, 3)))},
        "distances[1]' has 3 categories, but 2",
    ),
    ("SigDT", {"extra.shared.yes.values.0": 0}, "branches that are no tree"),
    ("SigDT", {"extra.shared.no.values.0": 1}, "branches that are no tree"),
    ("SigDT", {"extra.shared.labels.values.1": 7}, "branches that are no tree"),
    ("SigDT", {"extra.shared.places.values.0": 99}, "branches that are no tree"),
    ("SigDT", {"extra.shared.clusterable": array([], "bool")}, "branches that are no tree"),
]


@pytest.mark.parametrize(("method", "changes", "said"), CASES)
def test_a_file_whose_parts_do_not_belong_together_is_refused(documents, tmp_path, method, changes, said):
    document = copy.deepcopy(documents[method])
    for field, value in changes.items():
        put(document, field, value)
    with pytest.raises(ModelFileError, match=re.escape(said)):
        loaded(document, tmp_path)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_reads_what_it_wrote(method, tmp_path):
    estimator, frame = METHODS[method].estimator(), ROWS if METHODS[method].mixed else ROWS[["a", "b"]]
    settings = {"n_clusters": 2, "random_state": 0}
    estimator.set_params(**{name: value for name, value in settings.items() if hasattr(estimator, name)})
    model = estimator.fit(frame)
    again = loaded(document_of(model, tmp_path), tmp_path)
    assert again.predict(frame).tolist() == model.predict(frame).tolist()
    assert again.transform(frame).tolist() == model.transform(frame).tolist()


def test_costs_near_the_largest_number_still_name_a_cluster(documents, tmp_path):
    document = documents["KModes"]
    document["scores"]["table"] = array(np.full((5, 2), 1.7e308))
    assert set(loaded(document, tmp_path).predict(ROWS[["a", "b"]]).tolist()) <= {0, 1}
