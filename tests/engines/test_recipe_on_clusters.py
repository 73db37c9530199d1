"""A recipe is applied to the parts of a table where they are."""

from __future__ import annotations

import pytest
from tests.engines.test_weight_column import KINDS, labels_of
from tests.inspection.test_recipe_everywhere import RECIPE, models, raw

import catalpa

pytestmark = pytest.mark.filterwarnings("ignore::catalpa.errors.LopsidedClustersWarning")


@pytest.mark.parametrize("kind", ["dask", "spark"])
def test_a_cluster_gives_the_labels_of_memory(kind, request):
    """The parts of a table are prepared where they are, at fit and at predict."""
    table, known_model = KINDS[kind](raw(), request), models()[0]
    model = catalpa.Grove(3, random_state=0, n_init=1, recipe=RECIPE).fit(table)
    assert model.schema_.names == known_model.schema_.names
    assert labels_of(model.labels_) == known_model.labels_.tolist()
    assert labels_of(model.predict(table)) == known_model.predict(raw()).tolist()
