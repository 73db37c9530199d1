"""Grove on mixed tables with missing numbers, beside its transcription in plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.oracle import grove, grove_numbers

import catalpa

# So many columns tell the two kinds of rows apart that every row is wholly in its cluster: what a cluster
# counts is known without a single pass.
SURE_COLUMNS = 12
# Nats: soft passes add numbers up in 2**-13 of their range.
SUMS = 5e-4


def mixed_table(
    rows: int, seed: int, missing: tuple[float, float], questions: int = SURE_COLUMNS, noise: float = 0.0
) -> pd.DataFrame:
    """Two kinds of rows with a number that is missing in another share of each."""
    rng = np.random.default_rng(seed)
    kind = np.arange(rows) % 5 < 2
    columns = {f"q{at}": np.where(kind ^ (rng.random(rows) < noise), "a", "b") for at in range(questions)}
    columns["colour"] = np.where(rng.random(rows) < np.where(kind, 0.7, 0.4), "red", "blue")
    number = rng.normal(np.where(kind, -0.7, 0.5), 1.0)
    number[rng.random(rows) < np.where(kind, *missing)] = np.nan
    return pd.DataFrame(columns | {"number": number})


def oracle_table(frame: pd.DataFrame) -> grove.Table:
    """The table of the transcription: categories, the standardised number, and whether it is missing."""
    values = [None if np.isnan(value) else float(value) for value in frame["number"]]
    number = grove_numbers.look(values)
    assert number.kind == "number"
    categories = [frame[name].tolist() for name in frame.columns[:-1]]
    kinds, columns = ["category"] * len(categories) + ["number"], [*categories, number.cells]
    if (gaps := grove_numbers.gap_column(values)) is not None:
        kinds, columns = [*kinds, "category"], [*columns, gaps]
    return grove.table_of(list(zip(*columns, strict=True)), kinds=kinds)


def hard_shares(labels: np.ndarray, k: int) -> grove.Shares:
    return [[float(j == label) for j in range(k)] for label in labels]


@pytest.mark.parametrize("prior", [1.0, 2.5, 6.0])
@pytest.mark.parametrize("sizes", ["equal", "free"])
@pytest.mark.parametrize("missing", [(0.5, 0.1), (0.0, 0.3), (0.02, 0.04)])
def test_costs_and_evidence_of_sure_clusters(prior: float, sizes: str, missing: tuple[float, float]) -> None:
    frame = mixed_table(150, 3, missing)
    model = catalpa.Grove(2, prior=prior, sizes=sizes, ties=None, random_state=0).fit(frame)
    table, mode = oracle_table(frame), "equal" if sizes == "equal" else "released"
    assert len(table.columns) == SURE_COLUMNS + 3
    shares = hard_shares(model.labels_, 2)
    counts = grove.count(table, shares)
    table = grove.centred(table, counts, prior)
    scores = grove.scores(table, counts, prior, mode)
    expected = -np.array([scores.of(row) for row in table.rows])
    np.testing.assert_allclose(model.transform(frame), expected, atol=SUMS)
    assert model.evidence_ == pytest.approx(grove.evidence(table, shares, prior, mode), abs=1e-2)


def test_the_balance_is_the_gain_of_each_kind_of_column() -> None:
    frame = mixed_table(150, 3, (0.3, 0.1), questions=3)
    model = catalpa.Grove(2, prior=1.0, sizes="equal", ties=None, random_state=0).fit(frame)
    table = oracle_table(frame)
    apart = grove.count(table, hard_shares(model.labels_, 2))
    together = grove.count(table, [[1.0]] * len(table.rows))

    def evidence(counts: grove.Counts, number: bool) -> float:
        columns = grove.centred(table, counts, 1.0).columns
        parts = [
            grove.number_evidence(held, 1.0)
            if column.kind == "number"
            else grove.category_evidence(column, held, 1.0)
            for own in counts.cells
            # The last two columns are the number and whether it is missing.
            for column, held in list(zip(columns, own, strict=True))[slice(-2, None) if number else slice(-2)]
        ]
        return sum(parts)

    gains = [evidence(apart, number) - evidence(together, number) for number in (False, True)]
    assert min(gains) > 0
    assert model.balance_["categorical"] == pytest.approx(gains[0] / sum(gains), abs=1e-3)
    assert model.balance_["numeric"] == pytest.approx(gains[1] / sum(gains), abs=1e-3)


@pytest.mark.parametrize(("rows", "counts"), [(100, True), (101, False)])
def test_missing_numbers_count_from_one_percent_of_the_rows_on(rows: int, counts: bool) -> None:
    frame = mixed_table(rows, 0, (0.0, 0.0))
    frame.loc[0, "number"] = np.nan
    model = catalpa.Grove(2, prior=1.0, sizes="equal", ties=None, random_state=0).fit(frame)
    table = oracle_table(frame)
    assert len(table.columns) == SURE_COLUMNS + 2 + counts
    hard = grove.count(table, hard_shares(model.labels_, 2))
    scores = grove.scores(grove.centred(table, hard, 1.0), hard, 1.0, "equal")
    expected = -np.array([scores.of(row) for row in table.rows])
    np.testing.assert_allclose(model.transform(frame), expected, atol=SUMS)


@pytest.mark.parametrize("seed", range(4))
def test_labels_and_probabilities_of_rows_in_doubt(seed: int) -> None:
    frame = mixed_table(300, seed, (0.6, 0.2), questions=5, noise=0.2)
    model = catalpa.Grove(2, prior=2.5, sizes="equal", ties=None, random_state=0).fit(frame)
    assert model.certainty_ < 0.97
    table, start = oracle_table(frame), np.asarray(model.predict_proba(frame)).tolist()
    table = grove.centred(table, grove.count(table, start), 2.5)
    # The fit has come to rest: a pass of the transcription leaves the probabilities where they are.
    states = grove.passes(table, start, a=2.5, at_most=1)
    assert states[-1].change < 1e-3
    assert grove.labels(table, states[0].counts, 2.5, "equal") == model.labels_.tolist()
