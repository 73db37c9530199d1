"""What the README and the front page promise to those who use another program is in stored results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.quality_page import RESULTS, read_results, scores, standings

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", "docs/index.md"]
STEPMIX, LARGE = ["grove-1e4", "grove-1e5"], ["fit-1e5", "fit-1e6"]


def said(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def ratios(program: str, *keys: str) -> list[float]:
    lines = json.loads((ROOT / "results" / "performance.json").read_text(encoding="utf-8"))["lines"]
    found = [line["ratio"] for line in lines if line["program"] == program and line["key"].startswith(keys)]
    assert len(found) >= len(keys)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_agreement_with_classes_is_that_of_the_stored_runs(page):
    means = scores(read_results(RESULTS), "ari").loc["real"]
    real = standings(means)["mean"]
    text = said(page)
    assert f"{len(means)} real tables" in text
    assert f"{real['Grove']:.3f} for **Grove** and {real['KModes']:.3f} for k-modes" in text
    assert f"({real['Grove']:.3f} and {real['latent classes']:.3f})" in text
    assert f"({real['Grove']:.3f} and {real['one-hot KMeans']:.3f})" in text


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("claim", "program", "least", "keys"),
    [
        (
            "each k-modes iteration over 100,000 rows is more than 1,000 times faster",
            "kmodes",
            1000,
            ["pass-"],
        ),
        ("From 10,000 rows on, a whole fit takes less than a fifth", "StepMix, 1 start", 5, STEPMIX),
        ("From 100,000 rows on, `KModes` takes less than an eighth", "one-hot KMeans", 8, LARGE),
    ],
)
def test_it_is_as_quick_as_it_says(page, claim, program, least, keys):
    assert claim in said(page)
    assert min(ratios(program, *keys)) > least
