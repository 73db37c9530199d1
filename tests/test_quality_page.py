"""The page on quality says what its stored runs say, and claims no more."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tools import quality_page
from tools.quality_page import (
    COLUMNS,
    PAGE,
    RESULTS,
    in_order,
    read_results,
    scores,
    standings,
    summary,
)

ROOT = Path(__file__).resolve().parents[1]
TABLES = [("real", "", f"r{at}") for at in range(8)]
TABLES += [("planted", family, f"p{at}_{family}") for at in range(3) for family in ("plain", "sizes")]


def made(ari, seeds=(0, 1)):
    """Results whose ARI is said by a function of method, (group, family, table), place and seed."""
    lines = []
    for method in ("latent classes", "KModes", "Grove"):
        for place, key in enumerate(TABLES):
            for seed in seeds:
                value = ari(method, key, place, seed)
                lines.append((*key, method, seed, value, (1 + value) / 2, 0.1, 3, 3, 0.5, "stepmix"))
    return pd.DataFrame(lines, columns=list(COLUMNS))


def usual(method, key, place, seed):
    """Grove is ahead of KModes by little more on every table, and level with latent classes on real ones."""
    score = 0.5 + 0.01 * place + 0.002 * seed
    if method == "KModes":
        return score - 0.1 - 0.003 * place
    if method == "latent classes":
        if key[1] == "sizes":
            return score + 0.05
        return score + 0.001 * place * (-1) ** place
    return score


def test_scores_are_means_over_seeds_of_the_tables_that_every_method_has():
    means = scores(made(usual), "ari")
    assert list(means.columns) == ["Grove", "KModes", "latent classes"]
    assert len(means) == len(TABLES)
    assert means.loc[("real", "", "r0"), "Grove"] == pytest.approx(0.501)
    missing = made(usual).query("not (method == 'KModes' and table == 'r0')")
    assert len(scores(missing, "ari")) == len(TABLES) - 1


def test_the_page_claims_what_the_tests_allow_and_names_where_others_are_ahead():
    text = page(made(usual))
    # By hand, over 14 tables: 0.501 + 0.01 * 6.5 for Grove, 0.1 + 0.003 * 6.5 less for KModes, and for latent
    # classes 0.001 * (-4 + 8 + 10 + 12) / 14 + 0.05 * 3 / 14 more.
    assert (
        "14 tables with known classes (8 real tables and 6 planted tables), 3 methods, 2 seeds: 84 runs."
        in text
    )
    claims, rest = text.split("## Claims that are not supported")
    claims = claims.split("## Supported claims")[1]
    assert "On all 14 tables Grove has not the highest mean ARI (0.566; latent classes 0.579)" in claims
    assert "It is ahead of KModes (0.447, p = 0.00024)." in claims
    # Six differences of one sign have p = .031, and .062 after Holm: nothing is said of KModes there.
    assert (
        "On the 6 planted tables Grove has not the highest mean ARI (0.606; latent classes 0.636)" in claims
    )
    assert claims.count("It is ahead of KModes") == 2
    no_claims, rest = rest.split("## Where others are ahead")
    real = next(line for line in no_claims.splitlines() if "the 8 real tables" in line)
    assert real.startswith(
        "- that Grove is better on the 8 real tables than latent classes (0.536 against 0.53"
    )
    weak = rest.split("## All methods")[0]
    assert "- planted tables, unequal sizes: latent classes 0.661, Grove 0.611 (means of 3);" in weak
    assert "Grove has not the highest mean ARI (0.536; latent classes 0.536) and the best mean rank" in claims
    assert "p2_sizes (latent classes 0.681, Grove 0.631)" in weak


def test_a_better_result_makes_a_better_page():
    best = page(made(lambda method, *rest: usual("KModes" if method != "Grove" else method, *rest)))
    assert "Grove has the highest mean ARI (0.566; KModes 0.447) and the best mean rank (1.00 of 3;" in best
    assert "- single tables, the farthest behind first: none." in best
    assert page(made(usual)) != best


def test_a_method_that_is_behind_is_not_said_to_be_ahead():
    worst = page(made(lambda method, *rest: usual(method, *rest) - 0.3 * (method == "Grove")))
    assert "It is ahead of" not in worst
    assert "- that Grove is better on all 14 tables than KModes (0.266 against 0.447, behind, p" in worst


def page(results):
    """The page, with two generated tables."""
    return quality_page.page(results, generated())


def generated():
    """Runs with and without ties."""
    fields = ("family", "seed", "ties", "ari", "certainty", "accuracy", "tied", "used", "columns")
    lines = [("copied", 1, "auto", 0.8, 0.9, 0.8, 5, 18, 18), ("copied", 1, "none", 0.2, 0.9, 0.3, 0, 18, 18)]
    lines += [
        ("copied", 2, "auto", 0.6, 0.8, 0.8, 4, 18, 18),
        ("copied", 2, "none", 0.4, 0.9, 0.4, 0, 18, 18),
    ]
    return pd.DataFrame(lines, columns=fields)


def test_generated_tables_are_averaged_by_kind():
    row = (
        "| a column and five copies of it | 2 | **0.700** | <u>0.300</u> | +0.050 | +0.550 | 4.5 | 18 of 18 |"
    )
    assert row in page(made(usual))


def test_lost_clusters_and_very_large_ones_are_counted():
    results = made(usual)
    lost = results["method"].eq("KModes") & results["table"].isin(["r0", "r1"])
    results.loc[lost, "clusters"] = 2
    results.loc[lost & results["seed"].eq(1), "largest"] = 0.96
    assert "| KModes | 28 | 4 | 2 |" in page(results)
    assert "| Grove | 28 | 0 | 0 |" in page(results)


def test_latent_class_analysis_names_the_tables_of_each_program():
    results = made(usual)
    assert "StepMix on all 14 tables" in page(results)
    results.loc[results["table"] == "r3", "program"] = "own EM"
    assert "StepMix on 13 tables, and on the 1 where that takes too long (r3) an EM" in " ".join(
        page(results).split()
    )


def test_the_summary_needs_no_runs_of_grove():
    without = made(usual).query("method != 'Grove'")
    text = summary(without)
    assert "real tables: 8" in text
    assert "Grove   " not in text


def test_no_page_is_written_without_runs_of_grove(tmp_path, monkeypatch):
    made(usual).query("method != 'Grove'").to_csv(tmp_path / "quality.csv", index=False)
    monkeypatch.setattr(quality_page, "RESULTS", tmp_path / "quality.csv")
    monkeypatch.setattr(quality_page, "PAGE", tmp_path / "quality.md")
    with pytest.raises(SystemExit, match="no runs of Grove"):
        quality_page.main()
    assert not (tmp_path / "quality.md").exists()


@pytest.mark.skipif(not RESULTS.exists(), reason="results are not here")
def test_the_stored_results_are_in_order_and_each_is_there_once():
    results = read_results(RESULTS)
    pd.testing.assert_frame_equal(results, in_order(results))
    assert not results.duplicated(["group", "table", "method", "seed"]).any()


@pytest.mark.skipif(not PAGE.exists(), reason="the page is not here")
def test_the_page_in_the_docs_is_made_from_the_stored_results():
    assert PAGE.read_text("utf-8") == quality_page.page(read_results(RESULTS), pd.read_csv(quality_page.TIES))


def test_the_readme_has_its_figures_from_the_stored_results():
    means = scores(read_results(RESULTS), "ari")
    whole, planted, real = (standings(own) for own in (means, means.loc["planted"], means.loc["real"]))
    score, rank = whole["mean"].nlargest(2), whole["rank"].nsmallest(2)
    latent = real.loc["latent classes"]
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert score.index[0] == rank.index[0] == planted["mean"].idxmax() == "Grove"
    assert f"On {len(means)} tables with known classes" in said
    assert f"({score.iloc[0]:.3f}; next: {score.iloc[1]:.3f})" in said
    assert f"({rank.iloc[0]:.2f}; next: {rank.iloc[1]:.2f})" in said
    assert "planted tables ({:.3f}; next: {:.3f})".format(*planted["mean"].nlargest(2)) in said
    assert f"{len(means.loc['real'])} real ones" in said
    assert f"({real.loc['Grove', 'mean']:.3f} and {latent['mean']:.3f}, p = {latent['holm']:.2f})" in said
