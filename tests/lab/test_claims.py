"""Claims are counted as the page says, and the summary says what the numbers are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from catalpa.lab import read_protocol
from catalpa.lab.claims import _rises, _rows, _ties
from catalpa.lab.conclusions import mixed_gain
from catalpa.lab.tables import table
from catalpa.loop.history import Pass
from catalpa.table.blocks import Axis


class Rest:
    """Where a run came to rest, with these costs."""

    def __init__(self, *events):
        self.history = tuple(
            Pass(phase, cost, moved=0, relearned=again, clusters=2) for phase, cost, again in events
        )


def test_a_rise_is_a_higher_objective_at_an_update_of_the_trees():
    # The first trees have no objective before them, whatever the start cost; passes between updates do not
    # count.
    rest = Rest(
        ("start", 1.0, False),
        ("learn", 9.0, True),
        ("learn", 9.5, False),
        ("learn", 9.6, True),
        ("learn", 8.0, True),
    )
    assert _rises(rest) == {"relearnings": 2, "rises": 1}


def test_pairs_at_distance_zero_are_counted_with_and_without_absent_categories():
    axis = Axis((3, 2))
    # One cluster. Column 1: shares 1/2, 1/2, 0: one tie of three pairs. Column 2: 1, 0: none of one.
    shares = np.array([[0.5, 0.5, 0.0, 1.0, 0.0]])
    found = _ties(shares, shares, axis)
    assert found == {"pairs": 4, "pairs_at_0": 1, "present_pairs": 1, "present_pairs_at_0": 1}


def test_the_letter_of_the_algorithm_stops_no_sooner_than_the_partition():
    program = next(entry for entry in read_protocol().entries if entry.variant == "program")
    rows = _rows("ZO", program, 3)
    assert (rows["stops"] | ~rows["literal_stops"]).all()
    assert rows["seed"].tolist() == [0, 1, 2]


def test_the_gain_by_numbers_is_that_of_the_best_settings():
    scores = {
        ("equations", "categorical"): 0.5,
        ("program", "categorical"): 0.6,
        ("equations", "mixed"): 0.55,
        ("program, gamma = 1", "mixed"): 0.58,
    }
    keys = ["method", "variant", "columns", "dataset", "seed", "error"]
    rows = pd.DataFrame(
        [
            dict(zip(keys, ("disc", variant, columns, "CC", 0, ""), strict=True)) | {"ACC": score}
            for (variant, columns), score in scores.items()
        ]
    ).assign(clusters_left=3, clusters_asked=3, largest_share=0.5, one_cluster=0.4)
    gains = mixed_gain(table(rows, read_protocol(), "4"))
    assert gains["mean"].to_dict() == {"CC": pytest.approx(-0.02)}
    assert gains["printed"].to_dict() == {"CC": pytest.approx(0.4494 - 0.4432)}
