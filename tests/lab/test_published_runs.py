"""The printed runs, made again from the script's seeds, give the printed numbers."""

import itertools

import numpy as np
import pandas as pd
import pytest

from catalpa import DISC, KModes, metrics
from catalpa.datasets import list_datasets, load
from catalpa.errors import ParameterError
from catalpa.lab import read_protocol, run
from catalpa.lab.as_published import coded, published_starts
from catalpa.lab.published_disc import PublishedDISC
from catalpa.lab.published_table import as_published_table

BUNDLED = {alias for alias, here in list_datasets()[["alias", "bundled"]].itertuples(index=False) if here}
EVERYWHERE = read_protocol().categorical
# Their runs hang on the last bit of a sum of floating-point numbers, and MATLAB may add in another order.
LAST_BIT = {"DT": 0.0015, "SB": 0.0015}
# Table 2 prints .3908 and .0761 on NU, Table 3 .3918, which is what the runs give.
MISPRINTED = {("NU", "ACC"): 0.3918, ("NU", "ARI"): 0.0759}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    """Runs from the script's seeds on the bundled data sets."""
    plan = read_protocol().published().restricted(datasets=sorted(BUNDLED))
    return run(plan, tmp_path_factory.mktemp("lab") / "published.parquet")


@pytest.fixture(scope="module")
def everywhere(data_home, tmp_path_factory):
    """Runs from the script's seeds on all data sets."""
    plan = read_protocol().published()
    return run(plan, tmp_path_factory.mktemp("lab") / "published.parquet", data_home=str(data_home))


def check(rows, dataset):
    """ACC and ARI to the last printed digit, or as close as the last bit allows; CMP within .0002."""
    for measure in ("ACC", "ARI", "CMP"):
        cells = as_published_table(rows, None, read_protocol(), "2", measure).cells
        cell = cells[(cells["label"] == "DISC") & (cells["dataset"] == dataset)].iloc[0]
        printed = MISPRINTED.get((dataset, measure), cell["printed"])
        away = abs(round(cell["script"], 4) - printed)
        allowed = 0.0002 if measure == "CMP" else LAST_BIT.get(dataset, 0.0)
        assert away <= allowed + 1e-9, f"{measure} on {dataset}: {cell['script']:.5f}, printed {printed}"


@pytest.mark.parametrize("dataset", sorted(BUNDLED))
def test_the_printed_column_comes_out_of_the_scripts_seeds(dataset, bundled):
    check(bundled, dataset)


@pytest.mark.parametrize("dataset", sorted(set(EVERYWHERE) - BUNDLED))
def test_the_printed_column_comes_out_on_data_that_is_not_bundled(dataset, everywhere):
    check(everywhere, dataset)


def test_the_printed_ablation_comes_out_on_all_but_two_data_sets(everywhere):
    cells = as_published_table(everywhere, None, read_protocol(), "3").cells
    once = cells[cells["label"] == "DISC-I"].set_index("dataset")
    assert set(once.index[~once["equal"]]) == {"SB", "OB"}


@pytest.mark.parametrize("dataset", sorted(BUNDLED - {"DT"}))
def test_the_estimator_agrees_with_the_program_but_for_the_last_bit(dataset):
    # DISC as it is, from the very rows: only DT hangs on the rounding among the bundled data sets.
    data = load(dataset)
    table = coded(data)
    starts = published_starts(read_protocol().as_published.start("distinct", dataset), table, data.n_clusters)
    reading = {"distance": "euclidean", "centers": "nearest", "empty_clusters": "keep"}
    for at in starts:
        exact = DISC(data.n_clusters, init=table.iloc[at], **reading).fit(table).labels_
        program = PublishedDISC(data.n_clusters, init=table.iloc[at]).fit(table).labels_
        assert metrics.adjusted_rand(exact, program) > 0.99


def test_kmodes_is_run_from_the_very_same_rows(bundled):
    data = load("ZO")
    table = coded(data)
    starts = published_starts(read_protocol().as_published.start("distinct", "ZO"), table, 7)
    stored = bundled[(bundled["method"] == "kmodes") & (bundled["dataset"] == "ZO")].set_index("seed")
    for number, at in enumerate(starts):
        model = KModes(7, init=table.iloc[at], n_init=1, empty_clusters="keep").fit(table)
        assert stored.loc[number, "ACC"] == metrics.clustering_accuracy(data.target, model.labels_)


@pytest.mark.parametrize(("number", "printed"), [("2", 0.6970), ("3", 0.6970)])
def test_kmodes_beside_disc_has_its_difference_from_its_own_print(number, printed, bundled):
    made = as_published_table(bundled, None, read_protocol(), number, "ACC")
    cells = made.cells[made.cells["dataset"] == "ZO"].set_index("label")
    away = round(cells.loc["DISC", "kmodes"], 4) - printed
    assert cells.loc["DISC", "kmodes_difference"] == pytest.approx(away, abs=1e-12)
    compared = [grid.title for grid in made.against_kmodes()]
    assert len(compared) == {"2": 1, "3": 2}[number]
    assert all("DISC (" in title or "DISC-I (" in title for title in compared)


def test_the_program_without_rows_to_start_from_is_refused():
    with pytest.raises(ParameterError, match="draws no rows itself"):
        PublishedDISC(2).fit(load("CV").frame)


def modes_of(rows, start):
    """Labels and centres of k-modes in batches, an empty cluster's centre kept."""
    labels, centres = np.full(len(rows), -1), rows[start].copy()
    while True:
        new = (rows[:, None, :] != centres).sum(axis=2).argmin(axis=1)
        if (new == labels).all():
            return labels, centres
        labels = new
        for j in set(labels):
            centres[j] = [np.bincount(column).argmax() for column in rows[labels == j].T]


def distances_in(cells, size):
    """Distances of a column's categories in one cluster, as the program divides."""
    shares = [sum(cells == u) / len(cells) if len(cells) else 0.0 for u in range(size)]
    line = [share / (sum(shares) + 1e-10) for share in shares]
    return [[abs(one - other) for other in line] for one in line]


def centre_of(cells, apart):
    """The category with the least sum, weighted by percentages over 100."""
    weights = [100 * sum(cells == u) / len(cells) / 100 for u in range(len(apart))]
    return int(np.argmin([sum(d * w for d, w in zip(line, weights, strict=True)) for line in apart]))


def by_the_program(rows, k, start):
    """The published program's arithmetic with loops: shares, distances and centres in floating point."""
    sizes = list(enumerate(rows.max(axis=0) + 1))
    learned_from, centres = modes_of(rows, start)
    labels = np.full(len(rows), -1)
    while True:
        apart = {(j, r): distances_in(rows[learned_from == j, r], o) for j in range(k) for r, o in sizes}
        moved = True
        while moved:
            sums = [
                [sum(apart[j, r][row[r]][centres[j, r]] ** 2 for r, _ in sizes) for j in range(k)]
                for row in rows
            ]
            new = np.sqrt(sums).argmin(axis=1)
            moved, labels = (labels != new).any(), new
            for j, (r, _) in itertools.product(set(new), sizes):
                centres[j, r] = centre_of(rows[labels == j, r], apart[j, r])
        if metrics.adjusted_rand(labels, learned_from) == 1:
            return labels
        learned_from = labels


# Seeds 16, 17, 19 hang on the percentages, 32, 52, 121 on when the program stops.
@pytest.mark.parametrize("seed", [0, 1, 16, 17, 19, 32, 52, 121])
def test_the_laboratorys_reading_is_the_programs_arithmetic(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [2, 3, 4, 3], size=(40, 4))
    rows[:4] = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 2, 2, 2], [1, 2, 3, 0]]
    table = pd.DataFrame(rows).rename(columns=str).astype(str).astype("category")
    start = [0, 1, 2]
    found = PublishedDISC(3, init=table.iloc[start]).fit(table).labels_
    assert found.tolist() == by_the_program(rows, 3, start).tolist()
